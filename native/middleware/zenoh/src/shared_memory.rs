//! Shared memory of zenoh is made by one process of this user at a time.
//!
//! Zenoh makes a segment and locks it afterwards, and each process that begins or ends removes the segments that nobody has locked.
//! So where many processes start at once, a segment can be gone before its maker has locked it. The peer then cannot open it, and
//! falls back to TCP without a word: about one run in ten with 32 processes had such a pair. A lock around both leaves no such moment.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Once;
use std::time::{Duration, Instant};
use tacho_seam::{Error, Result, Say};
use zenoh::{Session, Wait};

/// A process that ends does not wait longer for one that holds the lock.
const PATIENCE: Duration = Duration::from_secs(2);

fn path() -> PathBuf {
    // The folder of the segments, since processes that see the same segments must see the same lock.
    // SAFETY: getuid() has no conditions.
    PathBuf::from(format!("/dev/shm/tacho_zenoh_{}.lock", unsafe { libc::getuid() }))
}

fn file() -> Result<File> {
    let path = path();
    File::options().write(true).create(true).truncate(false).open(&path).say(|| path.display().to_string())
}

/// Runs what makes segments while nobody removes any.
pub fn alone<T>(make: impl FnOnce() -> Result<T>) -> Result<T> {
    let file = file()?;
    lock(&file, libc::LOCK_EX).say(|| path().display().to_string())?;
    make() // closing the file unlocks it
}

fn lock(file: &File, how: i32) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;
    loop {
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), how) } == 0 {
            return Ok(());
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Lets the process end alone, too. Zenoh's own end is registered before, when its first session was opened, and so comes after.
pub fn end_alone() {
    static REGISTERED: Once = Once::new();
    // SAFETY: a function without conditions. Where it cannot be registered, the process ends as without it.
    REGISTERED.call_once(|| {
        unsafe { libc::atexit(hold) };
    });
}

extern "C" fn hold() {
    let Ok(file) = file() else { return };
    let begin = Instant::now();
    while lock(&file, libc::LOCK_EX | libc::LOCK_NB).is_err() && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::mem::forget(file); // until the process is gone
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
