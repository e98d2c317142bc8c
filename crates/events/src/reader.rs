//! Reads all events of a run, in time order.
//!
//! Each thread of each process is a stream that is already in order. A heap merges the streams, so memory holds one
//! event of each stream and a window of its chunk. Events with equal times are ordered by stream, then by position, so
//! two readings of one run are identical.

mod clocks;
mod files;
mod streams;

use crate::clock::Clock;
use crate::format::Format;
use crate::layout::{FileHeader, CHUNK_SIZE, HEADER_SIZE};
use crate::payload::Payload;
use crate::problem::Problems;
use crate::record::{Cursor, Step};
use crate::run::RunDirectory;
use crate::text::Texts;
use crate::time::{Duration, Time};
use files::Files;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The bytes of the windows of all streams together, unless their minimum sizes need more.
const WINDOWS_BYTES: usize = 64 << 20;
/// Least window of a stream. If a record is longer, the rest of its chunk is read.
const LEAST_WINDOW: usize = 4096;

/// Index into [`Reader::processes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessIndex(pub u32);

/// A thread's stream of events. Two threads that had the same tid one after the other are two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamIndex(pub u32);

/// Thread id on its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// One event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// Process.
    pub process: ProcessIndex,
    /// Thread.
    pub thread: ThreadId,
    /// Stream of that thread.
    pub stream: StreamIndex,
    /// Its content.
    pub payload: Payload,
}

/// A process that wrote events.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessFacts {
    /// Its file.
    pub file: PathBuf,
    /// Its header.
    pub header: FileHeader,
}

/// The progress of reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Chunks begun.
    pub chunks: u64,
    /// Chunks in all.
    pub chunks_total: u64,
    /// Events read.
    pub events: u64,
}

impl Progress {
    /// From 0 to 1.
    pub fn part(&self) -> f64 {
        match self.chunks_total {
            0 => 1.0,
            total => self.chunks as f64 / total as f64,
        }
    }
}

/// Why a run could not be read at all. Damage inside files is no error: see [`Reader::problems`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory or a file in it cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Reads the events of a run in the order of time.
pub struct Reader {
    /// One file for each process in their order, then those with what rings kept.
    files: Files,
    /// Process of each file, and the format of its records.
    process_of: Vec<(u32, Format)>,
    processes: Vec<ProcessFacts>,
    clocks: Vec<Clock>,
    streams: Vec<Stream>,
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    /// Stream that is being read, and the heap entry it must not overtake.
    current: Option<u32>,
    texts: Texts,
    problems: Problems,
    progress: Progress,
    /// Bytes of a chunk that are read at once.
    window: usize,
}

struct Stream {
    file: u32,
    process: u32,
    tid: u32,
    /// For kept events: from these ticks on, the events are in the process's own file.
    until_ticks: u64,
    chunks: Vec<Chunk>,
    chunk: usize,
    cursor: Cursor,
    window: Window,
    time: Time,
    next: Option<Payload>,
}

/// A chunk of a stream.
struct Chunk {
    /// Number in its file.
    number: u64,
    base_ticks: u64,
}

impl Chunk {
    /// Returns where it begins in its file.
    fn start(&self) -> u64 {
        HEADER_SIZE as u64 + self.number * CHUNK_SIZE as u64
    }
}

/// The bytes of a chunk that are in memory.
struct Window {
    bytes: Vec<u8>,
    /// Where they begin in the chunk.
    from: usize,
    /// Whether the chunk continues after them.
    goes_on: bool,
}

impl Window {
    /// Nothing of a chunk that is there.
    fn none() -> Window {
        Window { bytes: Vec::new(), from: 0, goes_on: true }
    }
}

impl Reader {
    /// Opens every event file of `RUN/events`, and `clock.sync` beside them.
    pub fn open(run: &RunDirectory) -> Result<Reader, Error> {
        let folder = run.events();
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |source| Error::Io { path, source }
        };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(io(&folder))? {
            let path = entry.map_err(io(&folder))?.path();
            let is_events = path.extension().is_some_and(|extension| extension == "events");
            if is_events || path.is_file() && path.file_name().is_some_and(|n| n != "clock.sync") {
                paths.push(path);
            }
        }
        let sync = folder.join("clock.sync");
        Reader::open_files(paths, sync.symlink_metadata().is_ok().then_some(sync.as_path()))
    }

    /// Opens event files by path.
    pub fn open_files(mut paths: Vec<PathBuf>, clock_sync: Option<&Path>) -> Result<Reader, Error> {
        paths.sort();
        let mut problems = Problems::default();
        let (mut files, mut processes, mut page) = (Files::default(), Vec::new(), Vec::new());
        for path in paths {
            let io = |source| Error::Io { path: path.clone(), source };
            let number = files.add(&path).map_err(io)?;
            files.read(number, 0, HEADER_SIZE, &mut page, &mut problems);
            match FileHeader::read(&page) {
                Ok(header) => {
                    if header.storage_error != 0 {
                        let cause = std::io::Error::from_raw_os_error(header.storage_error as i32);
                        problems.add("storage-full", &path, 0, || format!("the file stopped growing: {cause}"));
                    }
                    processes.push(ProcessFacts { file: path, header });
                }
                Err(bad) => {
                    files.remove_last();
                    problems.add(bad.name, &path, bad.offset, || bad.text.clone());
                }
            }
        }
        let formats = processes.iter().map(|facts: &ProcessFacts| facts.header.format.clone());
        let mut process_of: Vec<(u32, Format)> = (0..).zip(formats).collect();
        for (process, facts) in processes.iter().enumerate().filter(|(_, facts)| facts.header.kept_from_ns.is_some()) {
            let Some(path) = crate::kept::path_of(&facts.file).filter(|path| path.symlink_metadata().is_ok()) else {
                continue;
            };
            let io = |source| Error::Io { path: path.clone(), source };
            let number = files.add(&path).map_err(io)?;
            files.read(number, 0, HEADER_SIZE, &mut page, &mut problems);
            match FileHeader::read(&page) {
                Ok(header) => process_of.push((process as u32, header.format)),
                Err(bad) => {
                    files.remove_last();
                    problems.add(bad.name, &path, bad.offset, || bad.text.clone());
                }
            }
        }
        let mut reader = Reader {
            files,
            process_of,
            processes,
            clocks: Vec::new(),
            streams: Vec::new(),
            heap: BinaryHeap::new(),
            current: None,
            texts: Texts::default(),
            problems,
            progress: Progress::default(),
            window: LEAST_WINDOW,
        };
        for file in 0..reader.files.count() {
            reader.find_streams(file);
        }
        reader.end_what_was_kept();
        reader.set_clocks(clock_sync)?;
        for stream in 0..reader.streams.len() as u32 {
            if reader.fill(stream) {
                reader.heap.push(Reverse((reader.streams[stream as usize].time, stream)));
            }
            // Empty until its turn comes: there may be very many threads that started and ended.
            reader.streams[stream as usize].window = Window::none();
        }
        reader.window = (WINDOWS_BYTES / reader.streams.len().max(1)).clamp(LEAST_WINDOW, CHUNK_SIZE);
        Ok(reader)
    }

    /// Returns the next event in time order.
    #[inline]
    pub fn next_event(&mut self) -> Option<Event> {
        // A stream is read until another one's turn comes, so most events need no move in the heap.
        let index = match self.current {
            Some(index) => index,
            None => {
                let Reverse((_, index)) = self.heap.pop()?;
                self.current = Some(index);
                index
            }
        };
        let stream = &mut self.streams[index as usize];
        let payload = stream.next.take()?;
        let event = Event {
            time: stream.time,
            process: ProcessIndex(stream.process),
            thread: ThreadId(stream.tid),
            stream: StreamIndex(index),
            payload,
        };
        self.progress.events += 1;
        if !self.fill(index) {
            self.current = None;
        } else {
            let mine = Reverse((self.streams[index as usize].time, index));
            if let Some(mut top) = self.heap.peek_mut() {
                // Reverse: the greater entry is the earlier event.
                if *top > mine {
                    let Reverse((_, other)) = std::mem::replace(&mut *top, mine);
                    self.current = Some(other);
                }
            }
        }
        Some(event)
    }

    /// Hands every event that is left to `on_event`, and the progress to `on_progress` now and then.
    pub fn for_each(&mut self, mut on_event: impl FnMut(&Event, &Texts), mut on_progress: impl FnMut(Progress)) {
        const EVERY: u64 = 1 << 16;
        while let Some(event) = self.next_event() {
            on_event(&event, &self.texts);
            if self.progress.events & (EVERY - 1) == 0 {
                on_progress(self.progress);
            }
        }
        on_progress(self.progress);
    }

    /// Returns the first event of each thread that has not been read at all. Only these show when a run began, because
    /// a process reads its clock at any time.
    pub fn first_events(&self) -> impl Iterator<Item = (ProcessIndex, Time)> + '_ {
        let unread = self.streams.iter().filter(|stream| stream.next.is_some());
        unread.map(|stream| (ProcessIndex(stream.process), stream.time))
    }

    /// Processes that wrote events, in the order of their files' names.
    pub fn processes(&self) -> &[ProcessFacts] {
        &self.processes
    }

    /// Names and symbols of the events read so far.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Damage met so far; complete once the last event was read.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// Returns the progress of reading.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Returns the clock of a process.
    pub fn clock(&self, process: ProcessIndex) -> &Clock {
        &self.clocks[process.0 as usize]
    }

    /// Greatest error of any time in this reading.
    pub fn clock_error(&self) -> Duration {
        self.clocks.iter().map(Clock::error).max().unwrap_or(Duration::ZERO)
    }

    /// Returns from when on all events of all processes are kept; `None`: none was released. Each call reads it again,
    /// because a ring may have continued.
    pub fn kept_from_ns(&self) -> Option<i64> {
        let of = |process: &ProcessFacts| FileHeader::read(&first_page(&process.file).ok()?).ok()?.kept_from_ns;
        self.processes.iter().filter_map(of).max()
    }

    /// Decodes a stream's next event into it; false at its end.
    #[inline(always)]
    fn fill(&mut self, index: u32) -> bool {
        let stream = &mut self.streams[index as usize];
        loop {
            let Some(chunk) = stream.chunks.get(stream.chunk) else {
                stream.window = Window::none();
                return false;
            };
            let start = chunk.start() as usize;
            let window = &mut stream.window;
            let Some(step) = stream.cursor.next_within(&window.bytes, window.from, window.goes_on, &mut self.texts)
            else {
                let is_longer = window.from == stream.cursor.offset() && !window.bytes.is_empty();
                window.from = stream.cursor.offset();
                let count = if is_longer { CHUNK_SIZE } else { self.window }.min(CHUNK_SIZE - window.from);
                self.files.read(
                    stream.file as usize,
                    (start + window.from) as u64,
                    count,
                    &mut window.bytes,
                    &mut self.problems,
                );
                window.goes_on = window.bytes.len() == count && window.from + count < CHUNK_SIZE;
                continue;
            };
            match step {
                Step::Event(ticks, _) if ticks >= stream.until_ticks => {
                    stream.window = Window::none();
                    return false;
                }
                Step::Event(ticks, payload) => {
                    let time = self.clocks[stream.process as usize].time(ticks);
                    if time < stream.time {
                        let (path, back) = (&self.processes[stream.process as usize].file, stream.time - time);
                        let offset = (start + stream.cursor.offset()) as u64;
                        self.problems.add("time-turned-back", path, offset, || {
                            format!("by {back}; the event is moved to the one before")
                        });
                    } else {
                        stream.time = time;
                    }
                    stream.next = Some(payload);
                    return true;
                }
                Step::Skipped(damage) => {
                    let path = &self.processes[stream.process as usize].file;
                    self.problems.add(damage.name, path, (start + damage.offset) as u64, || {
                        format!("a record of kind {} with {} bytes", damage.kind, damage.bytes)
                    });
                }
                Step::End(damage) => {
                    // A truncated file was already reported as such.
                    if let Some(damage) = damage.filter(|d| d.name != "file-truncated") {
                        let path = &self.processes[stream.process as usize].file;
                        self.problems.add(damage.name, path, (start + damage.offset) as u64, || {
                            format!(
                                "a record of kind {} with {} bytes; the rest of its chunk is not read",
                                damage.kind, damage.bytes
                            )
                        });
                    }
                    self.progress.chunks += 1;
                    stream.chunk += 1;
                    if let Some(next) = stream.chunks.get(stream.chunk) {
                        stream.cursor.restart(next.base_ticks);
                        stream.window.bytes.clear();
                        (stream.window.from, stream.window.goes_on) = (stream.cursor.offset(), true);
                    }
                }
            }
        }
    }
}

/// Reads the current header page of a file.
fn first_page(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    crate::regular::open(path)?.take(HEADER_SIZE as u64).read_to_end(&mut page)?;
    Ok(page)
}
