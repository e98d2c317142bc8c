//! The event files of many processes. None is held open: a large system may have more processes than a program may have
//! open files.

use crate::chunk::Chunk;
use crate::layout::{FileHeader, CHUNK_SIZE, HEADER_SIZE};
use std::collections::HashMap;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::hash::Hash;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The file that could not be written, and why.
pub type Failed = (PathBuf, io::Error);

/// Event files by a number of their process.
pub struct EventFiles<K> {
    folder: PathBuf,
    files: HashMap<K, (PathBuf, u64)>,
}

impl<K: Copy + Eq + Hash + Display> EventFiles<K> {
    /// Writes into an existing folder.
    pub fn new(folder: PathBuf) -> Self {
        EventFiles { folder, files: HashMap::new() }
    }

    /// Appends a thread's chunk to the file of its process.
    pub fn append(&mut self, process: K, pid: u32, chunk: &Chunk) -> Result<(), Failed> {
        // The name has a number, because two hosts may have processes with the same id.
        let named = || (self.folder.join(format!("{pid}-{process}.events")), 0);
        let (path, chunks) = self.files.entry(process).or_insert_with(named);
        *chunks += 1;
        put(path, HEADER_SIZE as u64 + (*chunks - 1) * CHUNK_SIZE as u64, chunk.bytes(), None)
    }

    /// Writes the header of each file; a process without one keeps none.
    pub fn finish(self, header: impl Fn(&K) -> Option<FileHeader>) -> Result<(), Failed> {
        for (process, (path, chunks)) in &self.files {
            let Some(header) = header(process) else { continue };
            put(path, 0, &header.write(*chunks), Some(HEADER_SIZE as u64 + chunks * CHUNK_SIZE as u64))?;
        }
        Ok(())
    }
}

/// Writes into a file, which it creates if needed and extends to `length` bytes if that is given.
fn put(path: &Path, offset: u64, bytes: &[u8], length: Option<u64>) -> Result<(), Failed> {
    let write = || -> io::Result<()> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.write_all_at(bytes, offset)?;
        length.map_or(Ok(()), |length| file.set_len(length))
    };
    write().map_err(|error| (path.to_path_buf(), error))
}
