//! Real event files for tests, written line by line.
//!
//! ```
//! use tacho_events::{testing::FileBuilder, Reader};
//! let folder = std::env::temp_dir().join(format!("tacho-doc-{}", std::process::id()));
//! let run = FileBuilder::new()
//!     .process(100).thread(100)
//!     .at(1_000).rcl_node_init(0x10, 0x11, "talker", "/")
//!     .at(2_000).rcl_publish(0x20, 0x30)
//!     .write(&folder).unwrap();
//! let mut reader = Reader::open(&run).unwrap();
//! assert_eq!(reader.next_event().unwrap().payload.name(), "rcl_node_init");
//! assert_eq!(reader.next_event().unwrap().time.as_ns(), 2_000);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! ```

use crate::chunk::Chunk;
use crate::format::Format;
use crate::layout::{FileHeader, Sync, TickSource, CHUNK_SIZE};
use crate::number;
use crate::payload::{Field, Gid, Handle, MadeHandle};
use crate::run::{RunDirectory, RunInfo};
use crate::text::Text;
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// Writes a run directory with event files; see the module. Methods named after kinds write one event at the present
/// time.
pub struct FileBuilder {
    processes: Vec<ProcessFile>,
    current: usize,
    tid: u32,
    now_ns: i64,
    syncs: Vec<Sync>,
    info: RunInfo,
    ticks: TickSource,
    ticks_per_ns: u64,
}

struct ProcessFile {
    header: FileHeader,
    chunks: Vec<Chunk>,
    /// The chunk that each thread fills.
    threads: HashMap<u32, usize>,
}

impl Default for FileBuilder {
    fn default() -> Self {
        FileBuilder::new()
    }
}

impl FileBuilder {
    /// Makes an empty builder; ticks are ns of CLOCK_MONOTONIC.
    pub fn new() -> Self {
        FileBuilder {
            processes: Vec::new(),
            current: 0,
            tid: 0,
            now_ns: 0,
            syncs: Vec::new(),
            info: RunInfo { verb: "bench".into(), ..RunInfo::default() },
            ticks: TickSource::Monotonic,
            ticks_per_ns: 1,
        }
    }

    /// Processes from here on count `per_ns` ticks of the TSC a ns; their headers read the clock at time 0.
    pub fn tsc(mut self, per_ns: u64) -> Self {
        self.ticks = TickSource::Tsc;
        self.ticks_per_ns = per_ns;
        self
    }

    /// Adds a record of `clock.sync` at this time.
    pub fn clock_sync_record(mut self, monotonic_ns: i64, bound_ns: u64) -> Self {
        let ticks = monotonic_ns as u64 * self.ticks_per_ns;
        self.syncs.push(Sync { ticks, monotonic_ns, realtime_ns: monotonic_ns, bound_ns });
        self
    }

    /// Events from here on are of this process, on its main thread.
    pub fn process(mut self, pid: u32) -> Self {
        self.tid = pid;
        self.current = match self.processes.iter().position(|p| p.header.pid == pid) {
            Some(known) => known,
            None => {
                self.processes.push(ProcessFile {
                    header: FileHeader {
                        format: Format::default(),
                        ticks: self.ticks,
                        pid,
                        ppid: 1,
                        tracetools: Some((8, 6, 0)),
                        start: Sync { ticks: 0, monotonic_ns: 0, realtime_ns: 0, bound_ns: 50 },
                        dropped: 0,
                        dropped_nested: 0,
                        remarks: 0,
                        closed: Some(true),
                        storage_error: 0,
                        kept_from_ns: None,
                        boot_id: "3e0a7b52-test".into(),
                        host: "testhost".into(),
                        ros_distro: "kilted".into(),
                        rmw_implementation: "rmw_fastrtps_cpp".into(),
                        executable: format!("/bin/p{pid}"),
                        command: format!("p{pid} --test"),
                    },
                    chunks: Vec::new(),
                    threads: HashMap::new(),
                });
                self.processes.len() - 1
            }
        };
        self
    }

    /// Events from here on are of this thread.
    pub fn thread(mut self, tid: u32) -> Self {
        self.tid = tid;
        self
    }

    /// Adds a new thread with the id of one that ended.
    pub fn thread_reborn(mut self, tid: u32) -> Self {
        self.process_file().threads.remove(&tid);
        self.tid = tid;
        self
    }

    /// Events from here on happen at this time, ns of CLOCK_MONOTONIC.
    pub fn at(mut self, ns: i64) -> Self {
        self.now_ns = ns;
        self
    }

    /// The current process dropped this many events.
    pub fn dropped(mut self, events: u64) -> Self {
        self.process_file().header.dropped = events;
        self
    }

    /// The current process did not end in order.
    pub fn killed(mut self) -> Self {
        self.process_file().header.closed = Some(false);
        self
    }

    /// Changes the header of the present process.
    pub fn header(mut self, change: impl FnOnce(&mut FileHeader)) -> Self {
        change(&mut self.process_file().header);
        self
    }

    /// Changes `run.json`.
    pub fn info(mut self, change: impl FnOnce(&mut RunInfo)) -> Self {
        change(&mut self.info);
        self
    }

    /// Adds a record of any kind with any words, whether they make sense or not.
    pub fn raw(mut self, kind: u16, words: &[u64]) -> Self {
        self.append(kind, words, &[]);
        self
    }

    /// Continues with what `more` writes, for loops and for parts of a test that repeat.
    pub fn with(self, more: impl FnOnce(FileBuilder) -> FileBuilder) -> Self {
        more(self)
    }

    /// Returns the bytes of the event file of one process.
    pub fn bytes(&self, pid: u32) -> Vec<u8> {
        let Some(process) = self.processes.iter().find(|p| p.header.pid == pid) else {
            panic!("no process {pid} in this builder");
        };
        let mut bytes = process.header.write(process.chunks.len() as u64);
        for chunk in &process.chunks {
            bytes.extend(chunk.bytes());
            bytes.resize(bytes.len() + CHUNK_SIZE - chunk.bytes().len(), 0);
        }
        bytes
    }

    /// Writes `events/PID.events`, `events/clock.sync` if there are readings, and `run.json` below `folder`.
    pub fn write(&self, folder: &Path) -> io::Result<RunDirectory> {
        let run = RunDirectory::new(folder);
        std::fs::create_dir_all(run.events())?;
        for process in &self.processes {
            let pid = process.header.pid;
            std::fs::write(run.events().join(format!("{pid}.events")), self.bytes(pid))?;
        }
        if !self.syncs.is_empty() {
            let words =
                self.syncs.iter().flat_map(|s| [s.ticks, s.monotonic_ns as u64, s.realtime_ns as u64, s.bound_ns]);
            std::fs::write(run.events().join("clock.sync"), words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())?;
        }
        run.write_info(&self.info)?;
        Ok(run)
    }

    fn process_file(&mut self) -> &mut ProcessFile {
        assert!(!self.processes.is_empty(), "name a process() before its events");
        &mut self.processes[self.current]
    }

    fn append(&mut self, kind: u16, words: &[u64], text: &[u8]) {
        let ticks = self.now_ns as u64 * self.ticks_per_ns;
        let tid = self.tid;
        let ProcessFile { chunks, threads, .. } = self.process_file();
        let index = threads.entry(tid).or_insert_with(|| {
            chunks.push(Chunk::first(tid, ticks));
            chunks.len() - 1
        });
        if !chunks[*index].put(ticks, kind, words, text) {
            let mut next = chunks[*index].after(ticks);
            assert!(
                next.put(ticks, kind, words, text),
                "an event of {} words and {} bytes of text",
                words.len(),
                text.len()
            );
            *index = chunks.len();
            chunks.push(next);
        }
    }
}

macro_rules! builder_methods {
    ($($Kind:ident $name:ident ($Layer:ident, $Action:ident, $Entity:ident)
       { $($field:ident: $type:ty),* $(,)? }),* $(,)?) => {
        #[allow(missing_docs, clippy::too_many_arguments)]
        impl FileBuilder {
            $(pub fn $name(mut self $(, $field: <$type as Field>::Plain<'_>)*) -> Self {
                #[allow(unused_mut)]
                let (mut words, mut text) = (Vec::new(), Vec::new());
                $(<$type as Field>::write($field, &mut words, &mut text);)*
                self.append(number::$name, &words, &text);
                self
            })*
        }
    };
}
with_kinds!(builder_methods);
