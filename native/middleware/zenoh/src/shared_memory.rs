//! Lets one process at a time make shared memory of zenoh.
//!
//! Zenoh makes a segment and locks it afterwards, and each process that begins or ends removes the segments that
//! nobody has locked. If many processes start at once, one can remove a segment before its maker has locked it. The
//! peer then cannot open it, and falls back to TCP without a word: about one run in ten with 32 processes had such a
//! pair. A lock around both leaves no such moment.
//!
//! The lock is a file in this user's private folder. Users need no common lock: only the owner can remove a segment,
//! because /dev/shm is sticky. A lock that others may take, such as one of /dev/shm itself, would let any user delay
//! this one.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};
use tacho_seam::{Error, Result, Say};
use zenoh::{Session, Wait};

/// Longest that a beginning process waits: each before it takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest that an ending process waits. It then ends without the lock.
const PATIENCE_AT_END: Duration = Duration::from_secs(2);

fn path() -> io::Result<PathBuf> {
    Ok(tacho_private::folder()?.join("zenoh.starting"))
}

/// Takes the lock, which ends with the file. `None`: another process of this user has had it for all of `patience`.
fn locked(path: &Path, patience: Duration) -> io::Result<Option<File>> {
    let (file, begin) = (tacho_private::open(path)?, Instant::now());
    // SAFETY: the descriptor is open.
    while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        let error = io::Error::last_os_error();
        if !matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) {
            return Err(error);
        }
        if begin.elapsed() >= patience {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(Some(file))
}

/// Runs what makes segments while no other process removes any.
pub fn alone<T>(make: impl FnOnce() -> Result<T>) -> Result<T> {
    let path = path().say(|| "the lock of zenoh's shared memory".into())?;
    let lock = locked(&path, PATIENCE).say(|| format!("{}", path.display()))?;
    let _lock = lock.ok_or_else(|| held_too_long(&path, PATIENCE))?;
    make()
}

fn held_too_long(path: &Path, patience: Duration) -> Error {
    Error::new(format!(
        "another process has held {} for {} s; expected a few milliseconds: end it (fuser {0} names it)",
        path.display(),
        patience.as_secs()
    ))
}

/// Lets the process end alone, too. Zenoh registers its own end when its first session is opened, so earlier; exit
/// handlers run in reverse, so this one runs before it.
pub fn end_alone() {
    static REGISTERED: Once = Once::new();
    // SAFETY: a function without conditions. If it cannot be registered, the process ends without the lock.
    REGISTERED.call_once(|| {
        unsafe { libc::atexit(hold) };
    });
}

extern "C" fn hold() {
    if let Ok(lock) = path().and_then(|path| locked(&path, PATIENCE_AT_END)) {
        std::mem::forget(lock); // the kernel releases it with the process
    }
}

/// Refuses peers whose messages would go by TCP.
pub fn check(session: &Session) -> Result<()> {
    match session.info().transports().wait().find(|peer| !peer.is_shm()) {
        None => Ok(()),
        Some(peer) => Err(Error::new(format!(
            "no shared memory with peer {}: it has another transport, or another /dev/shm; give all nodes transport: \
             shm, on one host",
            peer.zid()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of one test, removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn of(test: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("tacho-{test}-{}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            Folder(path)
        }

        fn lock(&self) -> PathBuf {
            self.0.join("lock")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn a_lock_on_the_folder_of_segments_delays_nobody() {
        let segments = File::open("/dev/shm").unwrap();
        // SAFETY: the descriptor is open. If another process has this lock, it is taken, too.
        unsafe { libc::flock(segments.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
        assert!(path().unwrap().starts_with(tacho_private::folder().unwrap()));
        let folder = Folder::of("segments");
        assert!(locked(&folder.lock(), Duration::ZERO).unwrap().is_some());
    }

    #[test]
    fn a_lock_that_stays_taken_is_an_error_that_names_it() {
        let folder = Folder::of("taken");
        let path = folder.lock();
        let first = locked(&path, Duration::ZERO).unwrap().unwrap();
        assert!(locked(&path, Duration::from_millis(2)).unwrap().is_none());
        assert!(held_too_long(&path, PATIENCE).to_string().contains(path.to_str().unwrap()));
        drop(first);
        assert!(locked(&path, Duration::ZERO).unwrap().is_some());
    }
}
