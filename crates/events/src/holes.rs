//! Finds where a file has storage: chunks that a ring released are holes.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Returns the first byte from `from` on that is in no hole, by lseek(SEEK_DATA); `None`: there is none. A file system
/// that does not track holes reports none.
pub fn next_data(file: &File, from: u64) -> io::Result<Option<u64>> {
    // SAFETY: the descriptor is open. Nobody depends on its position: event files are read at offsets.
    let found = unsafe { libc::lseek(file.as_raw_fd(), from as libc::off_t, libc::SEEK_DATA) };
    if found >= 0 {
        return Ok(Some(found as u64));
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        error if error.raw_os_error() == Some(libc::EINVAL) => Ok(Some(from)),
        error => Err(error),
    }
}

/// Gives the storage of a range of a file back. The range then reads as zeros, in existing mappings too. The file keeps
/// its length.
pub fn punch(file: &File, from: u64, bytes: u64) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    let done = unsafe {
        libc::fallocate(
            file.as_raw_fd(),
            libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
            from as libc::off_t,
            bytes as libc::off_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt};

    #[test]
    fn what_was_punched_takes_no_storage_and_is_stepped_over() {
        let file = tempfile::tempfile().expect("file");
        file.write_all_at(&[7; 1 << 16], 0).expect("write");
        punch(&file, 4096, 32768).expect("punch");
        let metadata = file.metadata().expect("metadata");
        assert_eq!((metadata.len(), metadata.blocks() * 512), (1 << 16, (1 << 16) - 32768));
        assert_eq!(next_data(&file, 0).expect("data"), Some(0));
        assert_eq!(next_data(&file, 8192).expect("data"), Some(4096 + 32768));
        assert_eq!(next_data(&file, 1 << 16).expect("data"), None);
    }
}
