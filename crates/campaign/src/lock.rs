//! The lock of a run directory: only one campaign or import writes it at a time.

use crate::error::Error;
use anyhow::Context;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Name of the lock file in the run directory.
pub const NAME: &str = "lock";

/// Holds `RUN/lock`, a file with the process id of its holder, locked by flock(2). The kernel releases the lock of a
/// killed process. Dropping it removes the file.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    _file: File,
}

impl RunLock {
    /// Takes the lock of a run directory. A refusal names the process that holds it. `what` is what a holder does, such
    /// as `runs this sweep`.
    pub fn take(run: &Path, what: &str) -> Result<RunLock, Error> {
        let path = run.join(NAME);
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .with_context(|| path.display().to_string())?;
            if !locked(&file).with_context(|| format!("{}: flock", path.display()))? {
                let mut holder = String::new();
                file.read_to_string(&mut holder).with_context(|| path.display().to_string())?;
                let holder =
                    if holder.is_empty() { "another process".to_owned() } else { format!("process {}", holder.trim()) };
                let expected = "expected that it has ended (wait, or end it with ^C), or another run directory";
                return Err(Error::Refused(format!("{}: {holder} {what}; {expected}", run.display())));
            }
            // The previous holder may have removed the file after we opened and before we locked it.
            if same_file(&file, &path).with_context(|| path.display().to_string())? {
                let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
                written.with_context(|| path.display().to_string())?;
                return Ok(RunLock { path, _file: file });
            }
        }
    }

    /// The locked run directory.
    pub fn directory(&self) -> &Path {
        self.path.parent().expect("made of a run directory and a name")
    }

    /// Whether a process holds the lock. Changes nothing.
    pub fn is_held(run: &Path) -> bool {
        File::open(run.join(NAME)).is_ok_and(|file| !locked(&file).unwrap_or(true))
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            eprintln!("tacho: {}: {error}; the lock is free nevertheless", self.path.display());
        }
    }
}

/// Tries to lock the file; returns false if another process has locked it.
fn locked(file: &File) -> std::io::Result<bool> {
    // SAFETY: the descriptor is open.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    match std::io::Error::last_os_error() {
        error if error.kind() == ErrorKind::WouldBlock => Ok(false),
        error => Err(error),
    }
}

fn same_file(file: &File, path: &Path) -> std::io::Result<bool> {
    let ours = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_had_once_and_names_who_has_it() {
        let run = tempfile::tempdir().unwrap();
        let first = RunLock::take(run.path(), "runs this sweep").unwrap();
        let Err(Error::Refused(text)) = RunLock::take(run.path(), "runs this sweep") else { panic!("locked twice") };
        assert!(text.contains(&format!("process {} ", std::process::id())), "{text}");
        assert!(RunLock::is_held(run.path()));
        drop(first);
        assert!(!run.path().join("lock").exists());
        assert!(!RunLock::is_held(run.path()));
        RunLock::take(run.path(), "runs this sweep").unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_no_lock() {
        let run = tempfile::tempdir().unwrap();
        std::fs::write(run.path().join("lock"), "123456789\n").unwrap();
        RunLock::take(run.path(), "runs this sweep").unwrap();
    }
}
