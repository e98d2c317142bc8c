//! Events into event files, as docs/event-file.md says: one file a process, chunks of one thread each.

use crate::kinds::{encode, Encoded};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tacho_events::layout::{ChunkHeader, FileHeader, CHUNK_SIZE, HEADER_SIZE};
use tacho_events::{Event, ProcessFacts, ProcessIndex, StreamIndex, Text, Texts};

/// Most payload words of a record.
const WORDS_MAX: usize = 63;
/// Most bytes of a text, as `TACHO_TEXT_MAX`.
const TEXT_MAX: usize = 4095;
const KIND_TEXT: u64 = 1;

/// Writes the event files of a run.
pub(crate) struct Writer {
    folder: PathBuf,
    files: HashMap<ProcessIndex, EventFile>,
    threads: HashMap<StreamIndex, Thread>,
    encoded: Encoded,
    record: Vec<u8>,
}

struct EventFile {
    path: PathBuf,
    chunks: u64,
}

/// A thread's chunk that is being filled.
struct Thread {
    process: ProcessIndex,
    pid: u32,
    tid: u32,
    sequence: u64,
    base: u64,
    chunk: Vec<u8>,
}

/// What could not be written, and why.
pub(crate) type Failed = (PathBuf, io::Error);

impl Writer {
    /// Into a folder that is there.
    pub fn new(folder: PathBuf) -> Writer {
        Writer { folder, files: HashMap::new(), threads: HashMap::new(), encoded: Encoded::default(), record: Vec::new() }
    }

    /// Adds the next event in the order of time, which is of process `pid`.
    pub fn write(&mut self, event: &Event, pid: u32, texts: &Texts) -> Result<(), Failed> {
        let ticks = event.time.as_ns() as u64;
        let fresh = || Thread { process: event.process, pid, tid: event.thread.0, sequence: 0, base: ticks, chunk: Vec::new() };
        let thread = self.threads.entry(event.stream).or_insert_with(fresh);
        self.encoded.words.clear();
        self.encoded.texts.clear();
        encode(&event.payload, &mut self.encoded);
        self.record.clear();
        let mut delta = ticks.wrapping_sub(thread.base);
        record(&mut self.record, delta, event.payload.kind().into(), &self.encoded, texts);
        if thread.chunk.len() + self.record.len() > CHUNK_SIZE || delta >> 48 != 0 {
            flush(&self.folder, &mut self.files, thread)?;
            (thread.base, thread.sequence, delta) = (ticks, thread.sequence + 1, 0);
            self.record.clear();
            record(&mut self.record, delta, event.payload.kind().into(), &self.encoded, texts);
        }
        if thread.chunk.is_empty() {
            let header = ChunkHeader { tid: thread.tid, sequence: thread.sequence, base_ticks: thread.base, dropped_before: 0 };
            thread.chunk.extend(header.write());
        }
        thread.chunk.extend(&self.record);
        Ok(())
    }

    /// Writes what is left, and the header of each file; `dropped` events are said of a process that stands alone.
    pub fn finish(mut self, processes: &[ProcessFacts], dropped: u64) -> Result<(), Failed> {
        let mut left: Vec<_> = self.threads.into_iter().collect();
        left.sort_by_key(|(stream, _)| *stream);
        for (_, thread) in &mut left {
            flush(&self.folder, &mut self.files, thread)?;
        }
        for (process, file) in &self.files {
            let Some(facts) = processes.get(process.0 as usize) else { continue };
            let header = FileHeader { dropped: if processes.len() == 1 { dropped } else { 0 }, ..facts.header.clone() };
            put(&file.path, 0, &header.write(file.chunks))?;
        }
        Ok(())
    }
}

/// Text records, then the event's own.
fn record(into: &mut Vec<u8>, delta: u64, kind: u64, encoded: &Encoded, texts: &Texts) {
    let mut add = |kind: u64, payload: &[u8]| {
        into.extend((delta << 16 | kind << 6 | payload.len().div_ceil(8) as u64).to_le_bytes());
        into.extend(payload);
        into.resize(into.len().next_multiple_of(8), 0);
    };
    if !encoded.texts.is_empty() {
        let joined: Vec<u8> = encoded.texts.iter().flat_map(|text| cut(texts, *text).into_iter().chain([0])).collect();
        joined.chunks(8 * WORDS_MAX).for_each(|part| add(KIND_TEXT, part));
    }
    let words: Vec<u8> = encoded.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    add(kind, &words);
}

fn cut(texts: &Texts, text: Text) -> Vec<u8> {
    let text = texts.get(text);
    if text.len() <= TEXT_MAX {
        return text.as_bytes().to_vec();
    }
    let end = (0..=TEXT_MAX - 3).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    [&text.as_bytes()[..end], b"..."].concat()
}

/// Appends a thread's chunk to the file of its process.
fn flush(folder: &Path, files: &mut HashMap<ProcessIndex, EventFile>, thread: &mut Thread) -> Result<(), Failed> {
    let file = files.entry(thread.process).or_insert_with(|| EventFile {
        // Numbered: two hosts may have processes of one id.
        path: folder.join(format!("{}-{}.events", thread.pid, thread.process.0)),
        chunks: 0,
    });
    thread.chunk.resize(CHUNK_SIZE, 0);
    put(&file.path, HEADER_SIZE as u64 + file.chunks * CHUNK_SIZE as u64, &thread.chunk)?;
    file.chunks += 1;
    thread.chunk.clear();
    Ok(())
}

/// Files are opened for each chunk: a large system has more processes than a program may have files open.
fn put(path: &Path, offset: u64, bytes: &[u8]) -> Result<(), Failed> {
    let open = || -> io::Result<File> { OpenOptions::new().create(true).truncate(false).write(true).open(path) };
    open().and_then(|file| file.write_all_at(bytes, offset)).map_err(|error| (path.to_path_buf(), error))
}
