//! Reads all events of one or more traces in the order of time.
//!
//! A trace has a stream for each CPU and channel, each in order; a heap merges the streams, as for event files. Memory
//! holds a window of each stream, whatever the traces' size.

use crate::described::{say_missing_contexts, trace};
use crate::find;
use crate::gap::{Cause, Gap};
use crate::index;
use crate::layout::{ClassName, TraceLayout};
use crate::packet;
use crate::process::Host;
use crate::stream::{Shared, Stream, StreamFile, HEADER_MAX};
use crate::trace::Trace;
use crate::window::{Bytes, Window};
use crate::{decode::Captured, metadata};
use std::cmp::Reverse;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use tacho_events::run::TraceSource;
use tacho_events::{Duration, Event, Problems, ProcessFacts, Progress, Texts, Time};

/// Why no trace could be read at all. Damage inside traces is no error: see [`Reader::problems`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder or file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The path that was read.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file that is neither a trace nor a bag.
    #[error(
        "{0}: a file that is neither a trace's \"metadata\" nor of a bag (.mcap, .db3); expected the folder of an \
         LTTng trace, or any above it"
    )]
    OtherFile(PathBuf),
    /// There is no trace.
    #[error(
        "{0}: no file named \"metadata\" in it or in any folder below, and no .mcap or .db3 file; expected an LTTng \
         trace (CTF 1.8), a bag in MCAP or SQLite files, or run directories of tacho record"
    )]
    NoTrace(PathBuf),
    /// The folder for the events already holds some.
    #[error("{0}: holds event files already; expected a new run directory")]
    Taken(PathBuf),
    /// A bag in a format that is not read.
    #[error(
        "{0}: expected a bag in MCAP or SQLite files; `mcap convert` makes one of ROS 1 bags, `zstd -d` of files that \
         were compressed as a whole"
    )]
    OtherBag(PathBuf),
    /// A file has the name of a bag's file but another content.
    #[error(
        "{0}: does not begin as an MCAP file does (\"\\x89MCAP0\\r\\n\"), nor, with the name .db3, as one of SQLite \
         (\"SQLite format 3\")"
    )]
    NotBag(PathBuf),
    /// Files of a bag in two formats.
    #[error("{0} and {1}: the files of one bag are all MCAP or all SQLite; expected one of the two")]
    TwoFormats(PathBuf, PathBuf),
    /// A bag and something else should become one run.
    #[error("{0}: no bag, beside one; expected traces alone, or the files of one bag")]
    BagAndOther(PathBuf),
    /// There is a trace, but its metadata does not describe its content.
    #[error("no trace could be read: {0}")]
    NoLayout(String),
}

/// Reads the events of traces in the order of time. Its methods are those of [`tacho_events::Reader`], except that
/// [`Reader::processes`] grows while reading meets further processes.
pub struct Reader {
    traces: Vec<Trace>,
    streams: Vec<Stream>,
    stream_names: Vec<PathBuf>,
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    /// The stream that is being read, and the heap's first entry, which it must not overtake.
    current: u32,
    until: (Time, u32),
    shared: Shared,
    classes: Vec<ClassName>,
    bytes_total: u64,
    events: u64,
}

/// No stream.
const NONE: u32 = u32::MAX;

/// Events between two reports of the progress.
pub(crate) const PROGRESS_EVERY: u64 = 1 << 16;

/// Most clocks of one trace that are distinguished.
const CLOCKS_MAX: usize = 64;

/// Unit of [`Progress::chunks`].
const PROGRESS_UNIT: u64 = 32 << 10;

impl Reader {
    /// Opens every trace at or below each path: a folder of LTTng, or any folder above such folders.
    pub fn open(paths: &[PathBuf]) -> Result<Reader, Error> {
        let mut opening = Opening::default();
        let mut seen = HashSet::new();
        for path in paths {
            let io = |source| Error::Io { path: path.clone(), source };
            if path.is_file() && path.file_name().is_none_or(|name| name != "metadata") {
                return Err(Error::OtherFile(path.clone()));
            }
            let folders = find::traces(path).map_err(io)?;
            if folders.is_empty() {
                return Err(Error::NoTrace(path.clone()));
            }
            for folder in folders {
                // The same folder may be below two paths.
                if seen.insert(folder.metadata.canonicalize().map_err(io)?) {
                    let metadata = tacho_events::regular::read(&folder.metadata)
                        .map_err(|source| Error::Io { path: folder.metadata.clone(), source })?;
                    let streams = folder.streams.into_iter().map(|path| (path, Bytes::Filed));
                    let lacking = folder.lacking.into_iter().map(|path| (path, Bytes::Lacking));
                    opening.add_trace(folder.metadata, &metadata, streams.chain(lacking).collect())?;
                }
            }
        }
        opening.finish()
    }

    /// Opens a trace whose metadata and streams are in memory; it reads no file.
    pub fn of_bytes(metadata: &[u8], streams: &[&[u8]]) -> Result<Reader, Error> {
        let mut opening = Opening::default();
        let named = streams
            .iter()
            .enumerate()
            .map(|(i, bytes)| (PathBuf::from(format!("stream_{i}")), Bytes::Held(Arc::from(*bytes))));
        opening.add_trace(PathBuf::from("metadata"), metadata, named.collect())?;
        opening.finish()
    }

    /// Returns the next event in the order of time.
    #[inline]
    pub fn next_event(&mut self) -> Option<Event> {
        let stream = self.turn()?;
        self.events += 1;
        self.streams.get_mut(stream)?.take().copied()
    }

    /// Passes every remaining event to `on_event`, with the processes met so far, and the progress to `on_progress` now
    /// and then.
    pub fn for_each(
        &mut self,
        mut on_event: impl FnMut(&Event, &Texts, &[ProcessFacts]),
        mut on_progress: impl FnMut(Progress),
    ) {
        let mut before = self.events;
        while let Some((events, texts, processes)) = self.next_events() {
            events.iter().for_each(|event| on_event(event, texts, processes));
            if self.events - before >= PROGRESS_EVERY {
                before = self.events;
                on_progress(self.progress());
            }
        }
        on_progress(self.progress());
    }

    /// Returns the next events in the order of time, as many as are in memory, with the texts and processes met so far.
    #[inline(always)]
    pub(crate) fn next_events(&mut self) -> Option<(&[Event], &Texts, &[ProcessFacts])> {
        let stream = self.turn()?;
        let events = self.streams.get_mut(stream)?.take_before(self.until, self.current);
        self.events += events.len() as u64;
        Some((events, &self.shared.names.texts, &self.shared.registry.processes))
    }

    /// The stream that has the next event.
    #[inline(always)]
    fn turn(&mut self) -> Option<usize> {
        // A stream is read until another one has an earlier event, so most events need no move in the heap.
        loop {
            let current = self.current;
            let time = match self.streams.get_mut(current as usize) {
                None => None,
                Some(stream) => match stream.next_time() {
                    Some(time) if (time, current) < self.until => return Some(current as usize),
                    None if stream.read(&self.traces, &mut self.shared) => continue,
                    time => time,
                },
            };
            let Reverse((_, next)) = match (time, self.heap.peek_mut()) {
                (Some(time), Some(mut first)) => std::mem::replace(&mut *first, Reverse((time, current))),
                (None, Some(first)) => PeekMut::pop(first),
                (_, None) => return None,
            };
            self.current = next;
            self.until = self.heap.peek().map_or((Time::from_monotonic_ns(i64::MAX), NONE), |Reverse(first)| *first);
        }
    }

    /// Puts a stream into the heap, by the time of its next event.
    fn queue(&mut self, index: u32) {
        let Some(stream) = self.streams.get_mut(index as usize) else { return };
        if stream.next_time().is_none() && !stream.read(&self.traces, &mut self.shared) {
            return;
        }
        if let Some(time) = stream.next_time() {
            self.heap.push(Reverse((time, index)));
        }
    }

    /// Processes met so far; they always include the process of the current event. A process's name may still change
    /// until all is read.
    pub fn processes(&self) -> &[ProcessFacts] {
        &self.shared.registry.processes
    }

    /// Threads met so far: [`Event::stream`] is below this.
    pub fn threads(&self) -> usize {
        self.shared.registry.threads()
    }

    /// Names and symbols of the events read so far.
    pub fn texts(&self) -> &Texts {
        &self.shared.names.texts
    }

    /// Damage found so far; complete after the last event.
    pub fn problems(&self) -> &Problems {
        &self.shared.problems
    }

    /// Gaps found so far; complete after the last event.
    pub fn gaps(&self) -> &[Gap] {
        &self.shared.gaps.found
    }

    /// First file of each stream that [`Gap::stream`] names.
    pub fn stream_names(&self) -> &[PathBuf] {
        &self.stream_names
    }

    /// Whether a stream that [`Gap::stream`] names holds events of processes, not only of the kernel.
    pub fn is_of_processes(&self, stream: usize) -> bool {
        let traces = self.streams.get(stream).into_iter().flat_map(|stream| stream.traces());
        traces.filter_map(|trace| self.traces.get(trace)).any(|trace| {
            let streams = &trace.layout.streams;
            // Events that damaged metadata does not describe may have belonged to processes.
            streams.iter().any(|of| of.is_of_processes())
                || !trace.described && !streams.iter().any(|of| of.is_of_kernel())
        })
    }

    /// Boot whose clock a stream's times refer to, for a stream that [`Gap::stream`] names.
    pub fn boot_id(&self, stream: usize) -> Option<&str> {
        let trace = self.streams.get(stream)?.traces().next()?;
        Some(&self.traces.get(trace)?.host.boot_id)
    }

    /// Counts of the events that were skipped so far because no kind matches them (events of the kernel, of other
    /// providers), by name. Events of CARET that repeat one of ros2_tracing count here too.
    pub fn skipped(&self) -> BTreeMap<&str, u64> {
        self.stepped_over(|_| true)
    }

    /// Counts of those skipped events of ROS whose name or layout is unknown.
    pub fn unknown(&self) -> BTreeMap<&str, u64> {
        self.stepped_over(|class| class.unknown)
    }

    fn stepped_over(&self, wanted: impl Fn(&ClassName) -> bool) -> BTreeMap<&str, u64> {
        let mut found = BTreeMap::new();
        let counts = self.classes.iter().zip(&self.shared.skipped);
        for (class, count) in counts.filter(|(class, count)| **count > 0 && wanted(class)) {
            *found.entry(&*class.name).or_insert(0) += count;
        }
        found
    }

    /// Bytes of all streams.
    pub fn bytes(&self) -> u64 {
        self.bytes_total
    }

    /// How far reading is, in chunks of 32 KiB of the stream files.
    pub fn progress(&self) -> Progress {
        let units = |bytes: u64| bytes.div_ceil(PROGRESS_UNIT);
        // Bytes after a damaged packet may count twice.
        Progress {
            chunks: units(self.shared.bytes.min(self.bytes_total)),
            chunks_total: units(self.bytes_total),
            events: self.events,
        }
    }

    /// Wall time minus the time of events, of the first host, whose clock is the clock of all times.
    pub fn realtime_offset_ns(&self) -> i64 {
        self.traces.first().map_or(0, |t| t.host.offset_ns)
    }

    /// The traces as their metadata describes them, one entry for each host and tracer.
    pub fn traces(&self) -> Vec<TraceSource> {
        let mut found: Vec<TraceSource> = Vec::new();
        for source in self.traces.iter().map(|trace| &trace.source) {
            // Each trace of a boot has a reading of its clocks; the offset of the first one counts.
            let of_first = TraceSource { realtime_offset_ns: None, ..source.clone() };
            if !found.iter().any(|known| TraceSource { realtime_offset_ns: None, ..known.clone() } == of_first) {
                found.push(source.clone());
            }
        }
        found
    }

    /// Hosts (boots) of the traces. If there is more than one, their wall clocks relate their times, with an error that
    /// no trace contains.
    pub fn hosts(&self) -> usize {
        self.traces.iter().map(|t| t.host_index as usize + 1).max().unwrap_or(0)
    }

    /// Greatest error of a time within one host: LTTng reads the clock for each event.
    pub fn clock_error(&self) -> Duration {
        Duration::ZERO
    }
}

/// Traces that are being opened.
#[derive(Default)]
struct Opening {
    traces: Vec<Trace>,
    shared: Shared,
    classes: Vec<ClassName>,
    bytes_total: u64,
    hosts: Vec<Host>,
    files: BTreeMap<Key, Vec<Opened>>,
}

/// A stream file with the facts of its first packet: when it begins, and its number within its stream.
struct Opened {
    begin: u64,
    sequence: Option<u64>,
    bytes: u64,
    file: StreamFile,
}

impl Opening {
    /// Adds a trace from its metadata, and the files beside it.
    fn add_trace(&mut self, path: PathBuf, metadata: &[u8], streams: Vec<(PathBuf, Bytes)>) -> Result<(), Error> {
        let problems = &mut self.shared.problems;
        let (description, faults) = metadata::read(metadata);
        faults.iter().for_each(|fault| problems.add(fault.name, &path, fault.offset, || fault.text.clone()));
        if !description.complete {
            problems.add("no-trace-block", &path, 0, || match metadata {
                [] => "it is empty, as that of a session that LTTng still records; expected its description: `lttng \
                       stop` or `lttng rotate` writes it"
                    .into(),
                _ => "no trace block could be read in it; the trace is left out".into(),
            });
            return Ok(());
        }
        let (layout, not_understood) = TraceLayout::new(&description, &mut self.classes);
        let described = faults.is_empty() && not_understood.is_empty();
        not_understood.iter().for_each(|fault| problems.add(fault.name, &path, 0, || fault.text.clone()));
        let layout = Arc::new(layout);
        let mut clocks: Vec<usize> = layout.streams.iter().map(|of| of.clock).collect();
        clocks.sort_unstable();
        clocks.dedup();
        clocks.truncate(CLOCKS_MAX);
        let index = self.traces.len();
        // One entry for each clock, because times refer to the clock that a stream names.
        for clock in if clocks.is_empty() { vec![0] } else { clocks } {
            let trace = trace(&path, &layout, &description, clock, &mut self.hosts, problems);
            self.traces.push(Trace { described, ..trace });
        }
        say_missing_contexts(&path, &self.traces[index], problems);
        for (path, bytes) in streams {
            // A file that cannot be read is reported at the place of its packets.
            let opened = Window::open(&path, &bytes, usize::MAX);
            let length = opened.as_ref().map_or(0, Window::length);
            let is_empty = opened.is_ok() && length == 0;
            self.bytes_total += length;
            let shown = opened.and_then(|mut window| window.show(0, HEADER_MAX).map(|()| window));
            let mut captured = Captured::new(layout.slots);
            let first = shown.ok().and_then(|window| packet::read(&layout, window.bytes(), length, &mut captured).ok());
            let clock = first.as_ref().and_then(|packet| layout.streams.get(packet.stream)).map(|of| of.clock);
            let mut of_metadata = index..self.traces.len();
            let trace = of_metadata.find(|trace| Some(self.traces[*trace].clock) == clock).unwrap_or(index);
            let (begin, sequence, stream) = match first.map(|packet| {
                (packet.begin, packet.sequence, packet.instance.map(|instance| (packet.stream_id, instance)))
            }) {
                Some(known) => known,
                None => match index::first(&path) {
                    // LTTng makes a file for every CPU. The file of a CPU on which nothing ran stays empty, and so does
                    // its index.
                    Ok(None) if is_empty => continue,
                    Ok(Some(packet)) => (
                        Some(packet.begin),
                        packet.sequence,
                        packet.instance.map(|instance| (packet.stream_id, instance)),
                    ),
                    // Faults of the index are reported at the end of the file.
                    Ok(None) | Err(_) => (None, None, None),
                },
            };
            let uuid = layout.uuid.unwrap_or_default();
            let key = match stream {
                Some(stream) => Key { uuid, stream: Some(stream), path: None },
                None => Key { uuid, stream: None, path: Some(path.clone()) },
            };
            let (begin, file) = (begin.unwrap_or(0), StreamFile { path, bytes, trace });
            self.files.entry(key).or_default().push(Opened { begin, sequence, bytes: length, file });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Reader, Error> {
        if self.traces.is_empty() {
            let all: Vec<String> = self.shared.problems.iter().map(|p| p.to_string()).collect();
            return Err(Error::NoLayout(all.join("; ")));
        }
        self.shared.skipped = vec![0; self.classes.len()];
        let caret = self.traces.iter().any(|t| t.layout.streams.iter().any(|s| s.has_caret()));
        self.shared.initialised = caret.then(HashSet::new);
        let together = self.files.len();
        let (mut streams, mut stream_names, mut uuids) = (Vec::new(), Vec::new(), Vec::new());
        let mut late = Vec::new();
        for (key, mut of_stream) in self.files {
            // The longest copy comes first: it has everything that another copy has.
            of_stream.sort_by(|a, b| (a.begin, b.bytes, &a.file.path).cmp(&(b.begin, a.bytes, &b.file.path)));
            if of_stream[0].sequence.is_some_and(|sequence| sequence > 0) {
                late.push((streams.len(), self.traces[of_stream[0].file.trace].time(of_stream[0].begin)));
            }
            uuids.push(key.uuid);
            let of_stream: Vec<StreamFile> = of_stream.into_iter().map(|opened| opened.file).collect();
            let slots = of_stream.iter().map(|f| self.traces[f.trace].layout.slots).max().unwrap_or(0);
            stream_names.push(of_stream[0].path.clone());
            streams.push(Stream::new(streams.len(), together, of_stream, slots));
        }
        let mut reader = Reader {
            traces: self.traces,
            streams,
            stream_names,
            heap: BinaryHeap::new(),
            current: NONE,
            until: (Time::from_monotonic_ns(i64::MAX), NONE),
            shared: self.shared,
            classes: self.classes,
            bytes_total: self.bytes_total,
            events: 0,
        };
        for stream in 0..reader.streams.len() as u32 {
            reader.queue(stream);
        }
        // Buffers that keep the last events (snapshots, overwrite mode, a limited number of files) reach back further
        // on an idle CPU.
        for (stream, to) in late {
            let together = reader.streams.iter().zip(&uuids).filter(|(_, uuid)| **uuid == uuids[stream]);
            if let Some(from) = together.filter_map(|(stream, _)| stream.next_time()).min().filter(|from| *from < to) {
                reader.shared.gaps.add(Gap { cause: Cause::PacketsMissing, events: None, from, to, stream });
            }
        }
        Ok(reader)
    }
}

/// What identifies the files of one stream: the trace's uuid and the tracer's number of the stream. Rotated and split
/// traces have one stream in many files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    uuid: [u8; 16],
    stream: Option<(u64, u64)>,
    path: Option<PathBuf>,
}
