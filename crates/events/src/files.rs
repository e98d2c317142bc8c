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
        let (path, chunks) = file(&self.folder, &mut self.files, process, pid);
        *chunks += 1;
        put(path, std::iter::once((place(*chunks - 1), chunk.bytes())), None)
    }

    /// Appends the last chunks of threads, each with its process and pid, and writes the header of each file; a process
    /// without one keeps none.
    pub fn finish<'c>(
        mut self,
        last: impl IntoIterator<Item = (K, u32, &'c Chunk)>,
        header: impl Fn(&K) -> Option<FileHeader>,
    ) -> Result<(), Failed> {
        let mut rest: HashMap<K, Vec<(u64, &Chunk)>> = HashMap::new();
        for (process, pid, chunk) in last {
            let (_, chunks) = file(&self.folder, &mut self.files, process, pid);
            rest.entry(process).or_default().push((*chunks, chunk));
            *chunks += 1;
        }
        // Opening is what takes long of small files: each is opened once. Threads would wait for each other, because a
        // file system makes one file of a folder at a time.
        for (process, (path, chunks)) in &self.files {
            let header = header(process).map(|header| header.write(*chunks));
            let parts = rest.get(process).into_iter().flatten().map(|(at, chunk)| (place(*at), chunk.bytes()));
            let length = header.is_some().then(|| place(*chunks));
            put(path, parts.chain(header.iter().map(|header| (0, header.as_slice()))), length)?;
        }
        Ok(())
    }
}

/// The file of a process, and how many chunks it has.
fn file<'f, K: Copy + Eq + Hash + Display>(
    folder: &Path,
    files: &'f mut HashMap<K, (PathBuf, u64)>,
    process: K,
    pid: u32,
) -> &'f mut (PathBuf, u64) {
    // The name has a number, because two hosts may have processes with the same id.
    files.entry(process).or_insert_with(|| (folder.join(format!("{pid}-{process}.events")), 0))
}

/// Where a chunk is in its file.
fn place(chunk: u64) -> u64 {
    HEADER_SIZE as u64 + chunk * CHUNK_SIZE as u64
}

/// Writes parts of a file, which it creates if needed and extends to `length` bytes if that is given.
fn put<'b>(path: &Path, mut parts: impl Iterator<Item = (u64, &'b [u8])>, length: Option<u64>) -> Result<(), Failed> {
    let mut write = || -> io::Result<()> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        parts.try_for_each(|(offset, bytes)| file.write_all_at(bytes, offset))?;
        length.map_or(Ok(()), |length| file.set_len(length))
    };
    write().map_err(|error| (path.to_path_buf(), error))
}
