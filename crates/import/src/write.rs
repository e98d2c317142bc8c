//! Writes events into event files as docs/event-file.md describes: one file for each process, chunks of one thread
//! each.

use crate::kinds::{encode, Encoded, TEXTS};
use std::collections::HashMap;
use std::path::PathBuf;
use tacho_events::chunk::{joined, Chunk};
use tacho_events::files::EventFiles;
use tacho_events::format::Format;
use tacho_events::layout::FileHeader;
use tacho_events::made::{makes, Made};
use tacho_events::{Event, ProcessFacts, ProcessIndex, Texts};

pub(crate) use tacho_events::files::Failed;

/// Writes the event files of a run.
pub(crate) struct Writer {
    files: EventFiles<u32>,
    /// Threads by [`tacho_events::StreamIndex`].
    threads: Vec<Option<Thread>>,
    encoded: Encoded,
    /// In the format of the files.
    format: Format,
    made: HashMap<ProcessIndex, Made>,
    alike: Vec<String>,
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
        Writer {
            files: EventFiles::new(folder),
            threads: Vec::new(),
            encoded: Encoded::new(),
            format: Format::default(),
            made: HashMap::new(),
            alike: Vec::new(),
        }
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
        if let Some(pointer) = self.encoded.words().first().copied().filter(|_| makes(kind)) {
            let made = self.made.entry(event.process).or_default();
            if let Some(before) = made.add(&self.format, kind, pointer) {
                let name = event.payload.name();
                let alike = format!(
                    "{name} of process {pid} made {before:#x} and {pointer:#x}, which later events of this run do not \
                     tell apart"
                );
                self.alike.push(alike);
            }
        }
        if !thread.chunk.put(ticks, kind, self.encoded.words(), &own) {
            self.files.append(thread.process.0, thread.pid, &thread.chunk)?;
            thread.chunk = thread.chunk.after(ticks);
            // No payload that `kinds` makes is larger than a chunk.
            thread.chunk.put(ticks, kind, self.encoded.words(), &own);
        }
        Ok(())
    }

    /// Things that later events do not tell apart, in words.
    pub fn alike(&mut self) -> Vec<String> {
        std::mem::take(&mut self.alike)
    }

    /// Writes the rest, and the header of each file. If there is only one process, its header says that `dropped`
    /// events are missing.
    pub fn finish(self, processes: &[ProcessFacts], dropped: u64) -> Result<(), Failed> {
        let last = self.threads.iter().flatten().map(|thread| (thread.process.0, thread.pid, &thread.chunk));
        self.files.finish(last, |process| {
            let facts = processes.get(*process as usize)?;
            let dropped = if processes.len() == 1 { dropped } else { 0 };
            Some(FileHeader { dropped, ..facts.header.clone() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::{Gid, Handle, Payload, StreamIndex, ThreadId, Time};

    #[test]
    fn two_things_whose_pointers_have_the_same_low_bytes_are_reported() {
        let folder = tempfile::tempdir().expect("folder");
        let mut writer = Writer::new(folder.path().to_path_buf());
        let mut make = |pointer: u64, ns: i64| {
            let payload = Payload::RmwPublisherInit { rmw_publisher: Handle(pointer), gid: Gid::default() };
            let (time, thread) = (Time::from_monotonic_ns(ns), ThreadId(7));
            let event = Event { time, process: ProcessIndex(0), thread, stream: StreamIndex(0), payload };
            writer.write(&event, 7, &Texts::default()).expect("written");
            writer.alike()
        };
        assert!(make(0x5500_0000_1230, 1).is_empty() && make(0x5500_0000_1230, 2).is_empty());
        assert!(make(0x5500_0000_1240, 3).is_empty());
        let alike = make(0x7f00_0000_1230, 4);
        assert!(alike.len() == 1 && alike[0].contains("0x550000001230 and 0x7f0000001230"), "{alike:?}");
    }
}
