//! Locks of files and folders, which end with the process that has them.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Takes the exclusive lock of a folder, which ends with the returned file.
pub(super) fn lock_folder(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    // SAFETY: the descriptor is open.
    while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } != 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(file)
}

/// Tries to take the exclusive lock without waiting.
pub(super) fn try_lock(file: &File) -> bool {
    // SAFETY: the descriptor is open.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}
