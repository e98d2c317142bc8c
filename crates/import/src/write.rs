//! Writes events into event files as docs/event-file.md describes: one file for each process, chunks of one thread
//! each.

use crate::kinds::{encode, Encoded, TEXTS};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tacho_events::chunk::{joined, Chunk};
use tacho_events::layout::{FileHeader, CHUNK_SIZE, HEADER_SIZE};
use tacho_events::{Event, ProcessFacts, ProcessIndex, Texts};

/// Writes the event files of a run. Unlike [`tacho_events::writer::EventFile`], it holds no file open: a large system
/// may have more processes than a program may have open files.
pub(crate) struct Writer {
    folder: PathBuf,
    files: HashMap<ProcessIndex, EventFile>,
    /// Threads by [`tacho_events::StreamIndex`].
    threads: Vec<Option<Thread>>,
    encoded: Encoded,
}

struct EventFile {
    path: PathBuf,
    chunks: u64,
}

/// A thread, and the chunk that is being filled.
struct Thread {
    process: ProcessIndex,
    pid: u32,
    chunk: Chunk,
}

/// The file that could not be written, and why.
pub(crate) type Failed = (PathBuf, io::Error);

impl Writer {
    /// Writes into an existing folder.
    pub fn new(folder: PathBuf) -> Writer {
        Writer { folder, files: HashMap::new(), threads: Vec::new(), encoded: Encoded::new() }
    }

    /// Adds the next event in order of time, which belongs to process `pid`.
    pub fn write(&mut self, event: &Event, pid: u32, texts: &Texts) -> Result<(), Failed> {
        let ticks = event.time.as_ns() as u64;
        let index = event.stream.0 as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, || None);
        }
        let fresh = || Thread { process: event.process, pid, chunk: Chunk::first(event.thread.0, ticks) };
        let thread = self.threads[index].get_or_insert_with(fresh);
        encode(&event.payload, &mut self.encoded);
        let own = match self.encoded.texts() {
            // Nearly all events have no text.
            [] => Vec::new(),
            own => {
                let mut named = [""; TEXTS];
                named.iter_mut().zip(own).for_each(|(named, text)| *named = texts.get(*text));
                joined(&named[..own.len()])
            }
        };
        let kind = event.payload.kind();
        if !thread.chunk.put(ticks, kind, self.encoded.words(), &own) {
            flush(&self.folder, &mut self.files, thread)?;
            thread.chunk = thread.chunk.after(ticks);
            // No payload that `kinds` makes is larger than a chunk.
            thread.chunk.put(ticks, kind, self.encoded.words(), &own);
        }
        Ok(())
    }

    /// Writes the rest, and the header of each file. If there is only one process, its header says that `dropped`
    /// events are missing.
    pub fn finish(mut self, processes: &[ProcessFacts], dropped: u64) -> Result<(), Failed> {
        for thread in self.threads.iter().flatten() {
            flush(&self.folder, &mut self.files, thread)?;
        }
        for (process, file) in &self.files {
            let Some(facts) = processes.get(process.0 as usize) else { continue };
            let header = FileHeader { dropped: if processes.len() == 1 { dropped } else { 0 }, ..facts.header.clone() };
            put(&file.path, 0, &header.write(file.chunks), Some(HEADER_SIZE as u64 + file.chunks * CHUNK_SIZE as u64))?;
        }
        Ok(())
    }
}

/// Appends a thread's chunk to the file of its process.
fn flush(folder: &Path, files: &mut HashMap<ProcessIndex, EventFile>, thread: &Thread) -> Result<(), Failed> {
    let file = files.entry(thread.process).or_insert_with(|| EventFile {
        // The name has a number, because two hosts may have processes with the same id.
        path: folder.join(format!("{}-{}.events", thread.pid, thread.process.0)),
        chunks: 0,
    });
    file.chunks += 1;
    put(&file.path, HEADER_SIZE as u64 + (file.chunks - 1) * CHUNK_SIZE as u64, thread.chunk.bytes(), None)
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
