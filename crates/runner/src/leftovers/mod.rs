//! Finds and removes what killed runs left: shared memory and sockets of their node processes, which the middleware
//! removes only at an orderly end.
//!
//! A run notes what its processes use ([`note`]) in a file that it keeps locked. A process that gets this lock knows
//! that the run is gone. It then removes each object of the note that is still the same one (device, inode, owner) and
//! that no visible process uses ([`held`]). In doubt, an object stays, with the reason.

mod held;
mod iceoryx;
mod leftover;
mod locks;
mod masters;
mod note;
mod noted;
mod object;
mod remains;
mod segments;

pub use leftover::{Leftover, Mode};
pub use note::Note;

use locks::lock_folder;
use noted::{Noted, NOTES};
use remains::remains;
use std::io;
use std::path::Path;

/// Lists or removes what this user's ended runs left.
pub fn leftovers(mode: Mode) -> io::Result<Vec<Leftover>> {
    let private = tacho_private::folder()?;
    let mut found = in_folder(&private, mode)?;
    found.extend(masters::leftovers(&private, mode)?);
    Ok(found)
}

fn in_folder(private: &Path, mode: Mode) -> io::Result<Vec<Leftover>> {
    let notes = private.join(NOTES);
    let mut found = iceoryx::leftovers(private, mode)?;
    if !notes.is_dir() {
        return Ok(found);
    }
    // Notes are made and locked under this lock, so a note that can be locked has no run.
    let _alone = lock_folder(&notes)?;
    for entry in notes.read_dir()? {
        let path = entry?.path();
        let Some(noted) = Noted::of_a_run_that_is_gone(&path)? else { continue };
        let of_run = remains(&noted, mode);
        if mode == Mode::Remove && of_run.iter().all(|leftover| leftover.stays.is_none()) {
            std::fs::remove_file(&path)?;
        }
        found.extend(of_run);
    }
    found.sort_by(|a, b| a.what.cmp(&b.what));
    found.dedup_by(|a, b| a.what == b.what);
    Ok(found)
}

/// Number of removed objects and their bytes.
pub fn removed(found: &[Leftover]) -> (usize, u64) {
    found
        .iter()
        .filter(|left| left.stays.is_none())
        .fold((0, 0), |(count, bytes), left| (count + 1, bytes + left.bytes))
}

/// Removes what earlier runs left, and reports it. `tacho doctor` reports what stays.
pub fn remove_before_a_run() {
    match tacho_private::folder().and_then(|private| in_folder(&private, Mode::Remove)) {
        Ok(found) => {
            if let Some(first) = found.iter().find(|leftover| leftover.stays.is_none()) {
                let (count, bytes) = removed(&found);
                let bytes = tacho_printing::size(bytes);
                eprintln!("tacho: removed {count} objects ({bytes}) that {}, left", first.run);
            }
        }
        Err(error) => eprintln!("tacho: cannot remove what earlier runs left: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::locks::try_lock;
    use super::object::shared_memory;
    use super::*;
    use std::fs::{self, File};
    use std::io;
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};

    /// A process that ends with its test, whether it passes or fails.
    struct Process(Child);

    impl Process {
        fn that_has(file: File) -> Process {
            Process(Command::new("sleep").arg("1000").stdin(Stdio::from(file)).spawn().unwrap())
        }

        /// One that creates the file itself. A process that another test starts would inherit a file that the tests
        /// have open.
        fn that_makes(path: &Path) -> Process {
            let script = "exec 3>\"$0\"; exec sleep 1000";
            let child = Command::new("sh").arg("-c").arg(script).arg(path).spawn().unwrap();
            let opened = format!("/proc/{}/fd", child.id());
            let is_open =
                |fd: io::Result<fs::DirEntry>| fd.and_then(|fd| fd.path().read_link()).is_ok_and(|of| of == path);
            while !fs::read_dir(&opened).unwrap().any(is_open) {
                std::thread::yield_now();
            }
            Process(child)
        }

        fn id(&self) -> u32 {
            self.0.id()
        }
    }

    impl Drop for Process {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    /// A process that has a file of shared memory open, and the note of its run in `folder`.
    fn noted(folder: &Path, name: &str) -> (Note, Process, PathBuf) {
        let mut note = Note::begin_in(folder).unwrap();
        let path = shared_memory().join(format!("tacho-test-{name}-{}", std::process::id()));
        let child = Process::that_makes(&path);
        note.started(child.id());
        note.look();
        (note, child, path)
    }

    /// The only object of a killed run. Waits, because a process that another test has just started inherits the run's
    /// lock until it executes its program.
    fn one_left(folder: &Path, mode: Mode) -> Leftover {
        loop {
            let mut found = in_folder(folder, mode).unwrap();
            if let Some(left) = found.pop() {
                assert_eq!(found, []);
                return left;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn of_a_killed_run_what_nobody_has_is_removed_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let (note, child, path) = noted(folder.path(), "killed");
        assert_eq!(in_folder(folder.path(), Mode::Remove).unwrap(), [], "the run lives");
        note.forget();
        let left = one_left(folder.path(), Mode::Remove);
        assert!(left.stays.as_ref().unwrap().contains(&format!("process {}", child.id())), "{left:?}");
        drop(child);
        one_left(folder.path(), Mode::List);
        assert!(path.exists(), "only listed");
        let removed = one_left(folder.path(), Mode::Remove);
        assert_eq!((removed.what.as_str(), &removed.stays), (path.to_str().unwrap(), &None));
        assert!(!path.exists() && in_folder(folder.path(), Mode::List).unwrap().is_empty());
    }

    #[test]
    fn what_another_process_has_or_has_locked_or_made_anew_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (note, child, path) = noted(folder.path(), "shared");
        note.forget();
        drop(child);
        let other = Process::that_has(File::open(&path).unwrap());
        let stays = one_left(folder.path(), Mode::Remove).stays.unwrap();
        assert!(stays.contains(&format!("process {}", other.id())), "{stays}");
        drop(other);
        let locked = File::open(&path).unwrap();
        assert!(try_lock(&locked));
        assert!(one_left(folder.path(), Mode::Remove).stays.is_some());
        drop(locked);
        let another = path.with_extension("new");
        std::fs::write(&another, "another's").unwrap();
        std::fs::rename(&another, &path).unwrap();
        assert_eq!(in_folder(folder.path(), Mode::Remove).unwrap(), []);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_run_that_ends_in_order_takes_away_what_a_process_of_it_left() {
        let folder = tempfile::tempdir().unwrap();
        let (note, child, path) = noted(folder.path(), "order");
        drop(child);
        drop(note);
        assert!(!path.exists() && folder.path().join(NOTES).read_dir().unwrap().next().is_none());
    }

    #[test]
    fn what_was_there_before_the_run_is_not_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = shared_memory().join(format!("tacho-test-before-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        let mut note = Note::begin_in(folder.path()).unwrap();
        let child = Process::that_has(file);
        note.started(child.id());
        note.look();
        drop(child);
        drop(note);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn sockets_go_with_their_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut note = Note::begin_in(folder.path()).unwrap();
        let path = folder.path().join("socket");
        let listens = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); print(flush=True); \
                       sys.stdin.read()";
        let mut command = Command::new("python3");
        command.args(["-c", listens]).arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = Process(command.spawn().unwrap());
        std::io::Read::read_exact(child.0.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        note.started(child.id());
        note.look();
        note.forget();
        assert!(one_left(folder.path(), Mode::Remove).stays.is_some());
        drop(child);
        assert_eq!(one_left(folder.path(), Mode::Remove).stays, None);
        assert!(!path.exists());
    }
}
