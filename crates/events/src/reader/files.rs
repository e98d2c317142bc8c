//! Reads event files at offsets into buffers.
//!
//! It does not map them: SIGBUS would end the reader if another process cuts a mapped file, or if a disk fails. Here
//! both are short reads, which it reports. A large system has more processes than a program may have open files, so
//! only some files are open at a time.

use crate::holes;
use crate::problem::Problems;
use crate::regular;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most files that are open at once.
const MOST_OPEN: usize = 256;

#[derive(Default)]
pub(super) struct Files {
    files: Vec<EventFile>,
    /// Numbers of the open files, and the position in this list of the next one to close.
    open: Vec<usize>,
    next_closed: usize,
}

struct EventFile {
    path: PathBuf,
    /// Device and inode, which differ if another file takes its place.
    identity: (u64, u64),
    length: u64,
    file: Option<File>,
}

impl Files {
    /// Adds a file and returns its number.
    pub fn add(&mut self, path: &Path) -> io::Result<usize> {
        let file = regular::open(path)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        self.files.push(EventFile { path: path.into(), identity, length: metadata.len(), file: None });
        let number = self.files.len() - 1;
        self.keep_open(number, file);
        Ok(number)
    }

    /// Removes the last file again.
    pub fn remove_last(&mut self) {
        self.files.pop();
        self.open.retain(|number| *number < self.files.len());
    }

    pub fn count(&self) -> usize {
        self.files.len()
    }

    pub fn path(&self, number: usize) -> &Path {
        &self.files[number].path
    }

    /// Its length in bytes when it was added.
    pub fn length(&self, number: usize) -> u64 {
        self.files[number].length
    }

    /// Fills `bytes` with `count` bytes from `at` on, or with fewer at the file's end. Reports a file that now ends
    /// earlier, or cannot be read there.
    pub fn read(&mut self, number: usize, at: u64, count: usize, bytes: &mut Vec<u8>, problems: &mut Problems) {
        bytes.resize(count, 0);
        let read = self.file(number).and_then(|file| regular::read_at(file, bytes, at));
        bytes.truncate(*read.as_ref().unwrap_or(&0));
        let of = &self.files[number];
        let end = at + bytes.len() as u64;
        match read {
            Err(error) => {
                problems.add("unreadable", &of.path, at, || format!("{error}; events from here on are missing"))
            }
            Ok(found) if found < count && end < of.length => problems.add("cut-while-read", &of.path, end, || {
                format!(
                    "ends here; expected {} bytes, as when reading began: the events after it are missing",
                    of.length
                )
            }),
            Ok(_) => {}
        }
    }

    /// The first byte from `from` on that has storage; `None` if nothing follows.
    pub fn next_data(&mut self, number: usize, from: u64) -> Option<u64> {
        // If the file system does not report holes, it goes byte by byte.
        self.file(number).and_then(|file| holes::next_data(file, from)).unwrap_or(Some(from))
    }

    fn file(&mut self, number: usize) -> io::Result<&File> {
        if self.files[number].file.is_none() {
            let file = regular::open(&self.files[number].path)?;
            let metadata = file.metadata()?;
            if (metadata.dev(), metadata.ino()) != self.files[number].identity {
                return Err(io::Error::other("another file took its place while it was read"));
            }
            self.keep_open(number, file);
        }
        self.files[number].file.as_ref().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn keep_open(&mut self, number: usize, file: File) {
        if self.open.len() < MOST_OPEN {
            self.open.push(number);
        } else {
            let closed = std::mem::replace(&mut self.open[self.next_closed], number);
            self.files[closed].file = None;
            self.next_closed = (self.next_closed + 1) % MOST_OPEN;
        }
        self.files[number].file = Some(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_files_than_are_open_at_once_are_read_and_one_in_the_place_of_another_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let (mut files, mut problems, mut bytes) = (Files::default(), Problems::default(), Vec::new());
        let path = |number: usize| folder.path().join(number.to_string());
        for number in 0..2 * MOST_OPEN {
            std::fs::write(path(number), number.to_string()).expect("file");
            assert_eq!(files.add(&path(number)).expect("file"), number);
        }
        for number in (0..2 * MOST_OPEN).rev().chain(0..2 * MOST_OPEN) {
            files.read(number, 0, 10, &mut bytes, &mut problems);
            assert_eq!(bytes, number.to_string().as_bytes());
            assert!(files.files.iter().filter(|of| of.file.is_some()).count() <= MOST_OPEN);
        }
        assert!(problems.is_empty(), "{problems:?}");
        std::fs::write(path(1000), "other").expect("file");
        std::fs::rename(path(1000), path(0)).expect("in its place");
        files.read(0, 0, 10, &mut bytes, &mut problems);
        assert_eq!((bytes.len(), problems.count("unreadable")), (0, 1), "{problems:?}");
    }
}
