//! Writes events into event files as docs/event-file.md describes: one file for each process, chunks of one thread
//! each.

use crate::kinds::{encode, Encoded, TEXTS};
use std::path::PathBuf;
use tacho_events::chunk::{joined, Chunk};
use tacho_events::files::EventFiles;
use tacho_events::layout::FileHeader;
use tacho_events::{Event, ProcessFacts, ProcessIndex, Texts};

pub(crate) use tacho_events::files::Failed;

/// Writes the event files of a run.
pub(crate) struct Writer {
    files: EventFiles<u32>,
    /// Threads by [`tacho_events::StreamIndex`].
    threads: Vec<Option<Thread>>,
    encoded: Encoded,
}

/// A thread, and the chunk that is being filled.
struct Thread {
    process: ProcessIndex,
    pid: u32,
    chunk: Chunk,
}

impl Writer {
    /// Writes into an existing folder.
    pub fn new(folder: PathBuf) -> Writer {
        Writer { files: EventFiles::new(folder), threads: Vec::new(), encoded: Encoded::new() }
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
            self.files.append(thread.process.0, thread.pid, &thread.chunk)?;
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
            self.files.append(thread.process.0, thread.pid, &thread.chunk)?;
        }
        self.files.finish(|process| {
            let facts = processes.get(*process as usize)?;
            let dropped = if processes.len() == 1 { dropped } else { 0 };
            Some(FileHeader { dropped, ..facts.header.clone() })
        })
    }
}
