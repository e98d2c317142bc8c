//! Shared memory of zenoh is made by one process at a time.
//!
//! Zenoh makes a segment and locks it afterwards, and each process that begins or ends removes the segments that
//! nobody has locked. So where many processes start at once, a segment can be gone before its maker has locked it.
//! The peer then cannot open it, and falls back to TCP without a word: about one run in ten with 32 processes had
//! such a pair. A lock around both leaves no such moment.
//!
//! Locked is the folder of the segments itself: who sees the same segments sees the same lock, and no file is left
//! behind. Any user can lock it, so that nobody waits for it for ever.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Once;
use std::time::{Duration, Instant};
use tacho_seam::{Error, Result, Say};
use zenoh::{Session, Wait};

const FOLDER: &str = "/dev/shm";

/// For the lock, by one that begins: each of those before it takes some milliseconds. It goes on without; [`check`]
/// finds what became of that.
const PATIENCE: Duration = Duration::from_secs(20);

/// The same of one that ends.
const PATIENCE_AT_END: Duration = Duration::from_secs(2);

/// The lock, or without it when patience is over, once for all; it goes with the file.
fn locked(patience: Duration) -> std::io::Result<File> {
    static WITHOUT: AtomicBool = AtomicBool::new(false);
    let (file, begin) = (File::open(FOLDER)?, Instant::now());
    // SAFETY: the descriptor is open.
    while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        let error = std::io::Error::last_os_error();
        if !matches!(error.kind(), std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock) {
            return Err(error);
        }
        if WITHOUT.load(Ordering::Relaxed) || begin.elapsed() > patience {
            WITHOUT.store(true, Ordering::Relaxed);
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(file)
}

/// Runs what makes segments while nobody removes any.
pub fn alone<T>(make: impl FnOnce() -> Result<T>) -> Result<T> {
    let _lock = locked(PATIENCE).say(|| format!("the lock of {FOLDER}"))?;
    make()
}

/// Lets the process end alone, too. Zenoh's own end is registered before, when its first session was opened, and so
/// comes after.
pub fn end_alone() {
    static REGISTERED: Once = Once::new();
    // SAFETY: a function without conditions. Where it cannot be registered, the process ends as without it.
    REGISTERED.call_once(|| {
        unsafe { libc::atexit(hold) };
    });
}

extern "C" fn hold() {
    if let Ok(lock) = locked(PATIENCE_AT_END) {
        std::mem::forget(lock); // until the process is gone
    }
}

/// Refuses peers to which messages would go by TCP.
pub fn check(session: &Session) -> Result<()> {
    match session.info().transports().wait().find(|peer| !peer.is_shm()) {
        None => Ok(()),
        Some(peer) => Err(Error::new(format!(
            "no shared memory with peer {}: it has another transport, or another /dev/shm; give all nodes transport: shm, on one host",
            peer.zid()
        ))),
    }
}
