//! One stream: the packets of a CPU and channel, file after file, and the events in them.

use crate::decode::{aligned, body, head, process_name, Captured, Fault, Input};
use crate::gap::{Cause, Gap, Gaps};
use crate::kernel::Kernel;
use crate::kinds::{payload, Kind, TEXTS, WORDS};
use crate::layout::{word, EventClass, StreamLayout, TraceLayout};
use crate::names::Names;
use crate::packet::{self, Packet, MAGIC};
use crate::process::{Host, Origin, Registry};
use crate::window::{Bytes, Window, EVENT_MAX};
use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use tacho_events::{Duration, Event, Payload, Problems, ProcessIndex, StreamIndex, Text, ThreadId, Time};

/// A trace as the streams need it.
pub(crate) struct Trace {
    pub folder: PathBuf,
    pub layout: TraceLayout,
    pub host: Host,
    pub host_index: u32,
    pub frequency_hz: u64,
    /// Added to the ns of its clock: 0 but for traces of further hosts.
    pub shift_ns: i64,
    /// Process of all its events, where the trace is of one (`env.vpid`).
    pub pid: Option<u32>,
    pub process_name: String,
}

impl Trace {
    #[inline(always)]
    pub fn ns(&self, ticks: u64) -> i64 {
        let ns = match self.frequency_hz {
            1_000_000_000 => ticks as i64,
            frequency => (u128::from(ticks) * 1_000_000_000 / u128::from(frequency)) as i64,
        };
        ns.wrapping_add(self.shift_ns)
    }

    fn time(&self, ticks: u64) -> Time {
        Time::from_monotonic_ns(self.ns(ticks))
    }
}

/// What all streams share.
#[derive(Default)]
pub(crate) struct Shared {
    pub registry: Registry,
    pub names: Names,
    pub problems: Problems,
    pub gaps: Gaps,
    /// Events stepped over, by class.
    pub skipped: Vec<u64>,
    /// Bytes of stream files read.
    pub bytes: u64,
    /// What CARET need not repeat: process, kind, first word of the payload. Kept only where CARET's events may occur.
    pub initialised: Option<HashSet<(ProcessIndex, u16, u64)>>,
}

/// A file of a stream.
#[derive(Debug, Clone)]
pub(crate) struct StreamFile {
    pub path: PathBuf,
    pub bytes: Bytes,
    pub trace: usize,
}

/// Where reading of a stream stands.
pub(crate) struct Stream {
    index: usize,
    together: usize,
    files: Vec<StreamFile>,
    next_file: usize,
    file: Option<(Window, StreamFile)>,
    /// Offset of the next packet in the file.
    next_packet: u64,
    packet: Option<Open>,
    /// Of the packet before, in this or the file before.
    before: Option<Before>,
    captured: Captured,
    recent: Box<[Recent; RECENT]>,
    kernel: Kernel,
    /// Records that belong to events read already: an event may make several.
    more: VecDeque<Event>,
    time: Time,
    /// Events that were read, how many, and how many of them were taken.
    ready: Box<[Event; AT_A_TIME]>,
    count: usize,
    taken: usize,
}

/// A packet that is being read.
struct Open {
    start: u64,
    stream: usize,
    /// Bits of the file: next event, and end of the content that there is.
    at: u64,
    end: u64,
    ticks: u64,
    end_ticks: Option<u64>,
    cpu: Option<u32>,
    /// Whether events of it were lost, and how many of them no event tells of yet.
    lossy: bool,
    lost: u64,
    /// Whether the file has less of it than it should.
    cut: bool,
}

#[derive(Clone, Copy)]
struct Before {
    end: Option<u64>,
    discarded: Option<u64>,
    sequence: Option<u64>,
}

/// LTTng loses events once the next packet is not free: those that no longer fit the one before, until the switch to the next. So they
/// lie among the last events of the packet that counts them: in these bits, which is more than any event of the kernel takes.
const NEARLY_FULL: u64 = 8 * 4096;

/// Most pairs that one link annotation may make: no node has as many topics.
const PAIRS_MAX: usize = 1 << 16;

/// Events read at a time: few enough to stay in the nearest cache.
const AT_A_TIME: usize = 256;

/// What stands where no event was read yet.
const NO_EVENT: Event = Event {
    time: Time::from_monotonic_ns(i64::MIN),
    process: ProcessIndex(0),
    thread: ThreadId(0),
    stream: StreamIndex(0),
    payload: Payload::RclcppExecutorGetNextReady {},
};

/// A thread met before. The host is that of the stream.
#[derive(Clone, Copy)]
struct Recent {
    /// Process id and thread id.
    ids: u64,
    namespace: u64,
    process: ProcessIndex,
    stream: StreamIndex,
}

/// A place where no thread was met: there is no thread of that id.
const NOBODY: Recent = Recent { ids: u64::MAX, namespace: u64::MAX, process: ProcessIndex(0), stream: StreamIndex(0) };

/// Threads that a CPU switches between are found here without hashing; a power of two.
const RECENT: usize = 64;

impl Stream {
    /// Stream `index` of `together` that are read at once.
    pub fn new(index: usize, together: usize, files: Vec<StreamFile>, slots: usize) -> Self {
        Stream {
            index,
            together,
            files,
            next_file: 0,
            file: None,
            next_packet: 0,
            packet: None,
            before: None,
            captured: Captured::new(slots),
            recent: Box::new([NOBODY; RECENT]),
            kernel: Kernel::default(),
            more: VecDeque::new(),
            time: Time::from_monotonic_ns(i64::MIN),
            ready: Box::new([NO_EVENT; AT_A_TIME]),
            count: 0,
            taken: 0,
        }
    }

    /// Indices of the traces that its files are of.
    pub fn traces(&self) -> impl Iterator<Item = usize> + '_ {
        self.files.iter().map(|file| file.trace)
    }

    /// Time of its next event, if it was read already.
    #[inline(always)]
    pub fn next_time(&self) -> Option<Time> {
        self.ready[..self.count].get(self.taken).map(|event| event.time)
    }

    /// Its next event, if it was read already.
    #[inline(always)]
    pub fn take(&mut self) -> Option<&Event> {
        self.taken += 1;
        self.ready[..self.count].get(self.taken - 1)
    }

    /// Reads the next events that are understood; false at the end of all.
    #[inline(never)]
    pub fn read(&mut self, traces: &[Trace], shared: &mut Shared) -> bool {
        (self.count, self.taken) = (0, 0);
        loop {
            self.read_packet(traces, shared);
            if self.count > 0 {
                return true;
            }
            if !self.go_on(traces, shared) {
                return false;
            }
        }
    }

    /// Reads on in the open packet: up to its end, the end of what is in memory, damage, or as many events as are read at a time.
    fn read_packet(&mut self, traces: &[Trace], shared: &mut Shared) {
        let (Some(packet), Some((window, file))) = (&mut self.packet, &self.file) else { return };
        let trace = &traces[file.trace];
        let Some(layout) = trace.layout.streams.get(packet.stream) else { return };
        let base = 8 * window.start();
        let limit = packet.end.min(8 * window.end()).saturating_sub(base);
        let input = Input { bytes: window.bytes(), origin: (8 * packet.start) as i64 - base as i64, limit };
        let (mut at, mut ticks) = (packet.at.wrapping_sub(base), packet.ticks);
        let captured = &mut self.captured;
        while at < limit || !self.more.is_empty() {
            let Some(into) = self.ready.get_mut(self.count) else { break };
            if let Some(event) = self.more.pop_front() {
                *into = event;
                self.count += 1;
                continue;
            }
            let Ok(read) = event(layout, input, at, ticks, captured) else { break };
            (at, ticks) = (aligned(layout, input, read.end), read.ticks);
            let Some(kind) = read.class.kind else {
                shared.skipped[read.class.number] += 1;
                continue;
            };
            let placed = match read.class.of_kernel {
                true => packet.cpu.map(|cpu| self.kernel.place(cpu, trace, trace.ns(ticks), &mut shared.registry)),
                false => place(trace, layout, input, &read, captured, &mut self.recent, shared),
            };
            let Some((process, stream, thread)) = placed else {
                shared.skipped[read.class.number] += 1;
                continue;
            };
            if !read.class.of_pairs && !understood(read.class, kind.number, process, captured, input, shared, &mut into.payload) {
                shared.skipped[read.class.number] += 1;
                continue;
            }
            let time = trace.time(ticks);
            if time >= self.time {
                self.time = time;
            } else {
                let back = Duration::from_ns(self.time.as_ns().wrapping_sub(time.as_ns()));
                let text = || format!("by {back}; the event is moved to the one before");
                shared.problems.add("time-turned-back", &file.path, (base + at) / 8, text);
            }
            (into.time, into.process, into.thread, into.stream) = (self.time, process, thread, stream);
            if read.class.of_pairs {
                pairs(kind, captured, input, trace.layout.big, *into, &mut self.more);
                continue;
            }
            if read.class.of_kernel {
                if packet.lossy && packet.end.saturating_sub(base + at) < NEARLY_FULL {
                    self.kernel.forget();
                    self.kernel.complete(&mut into.payload);
                    self.more.push_back(*into);
                    into.payload = Payload::KernelEventsLost { count: std::mem::take(&mut packet.lost) };
                } else {
                    self.kernel.complete(&mut into.payload);
                }
            }
            self.count += 1;
        }
        (packet.at, packet.ticks) = (base.wrapping_add(at), ticks);
    }

    /// After an event that could not be read, or the end of a packet or file: moves on. False at the end of all.
    fn go_on(&mut self, traces: &[Trace], shared: &mut Shared) -> bool {
        let Some((window, file)) = &mut self.file else { return self.open_file(shared) };
        let trace = &traces[file.trace];
        let Some(packet) = &mut self.packet else {
            return self.open_packet(traces, shared);
        };
        if packet.at >= packet.end && !packet.cut {
            if let (true, Some((process, stream, thread))) = (packet.lossy, self.kernel.known()) {
                let time = self.time.max(packet.end_ticks.map_or(self.time, |ticks| trace.time(ticks)));
                let payload = Payload::KernelEventsLost { count: packet.lost };
                self.more.push_back(Event { time, process, thread, stream, payload });
                self.kernel.forget();
            }
            self.packet = None;
            return true;
        }
        let (base, byte) = (8 * window.start(), packet.at / 8);
        if packet.end > 8 * window.length() {
            // The file was cut since it was opened.
            (packet.end, packet.cut) = (8 * window.length(), true);
        }
        let limit = packet.end.min(8 * window.end()).saturating_sub(base);
        let input = Input { bytes: window.bytes(), origin: (8 * packet.start) as i64 - base as i64, limit };
        let at = packet.at.wrapping_sub(base);
        let layout = trace.layout.streams.get(packet.stream);
        let fault = layout.and_then(|layout| event(layout, input, at, packet.ticks, &mut self.captured).err());
        let beyond = matches!(fault, Some(Damage::Decoding(Fault::Beyond)));
        if beyond && packet.end > 8 * window.end() {
            match window.advance(byte) {
                Ok(true) => return true,
                Ok(false) => {
                    let text = || format!("an event of more than {EVENT_MAX} bytes; the rest of its packet is not read");
                    shared.problems.add("event-too-large", &file.path, byte, text);
                }
                Err(error) => shared.problems.add("unreadable", &file.path, byte, || error.to_string()),
            }
        } else if packet.cut && (beyond || packet.at >= packet.end) {
            let (start, left) = (packet.start, (packet.end / 8).saturating_sub(packet.start));
            shared.problems.add("packet-truncated", &file.path, start, || {
                format!("the file ends {left} bytes into this packet; read up to its last whole event")
            });
        } else {
            let (name, text) = match fault {
                Some(Damage::UnknownEvent(id)) => {
                    ("unknown-event", format!("an event of id {id} in stream {}, which the metadata does not describe", layout.map_or(0, |of| of.id)))
                }
                Some(Damage::Decoding(Fault::NoOption(tag))) => ("bad-tag", format!("the tag {tag}, which chooses no option of a variant")),
                Some(Damage::NoSize) => ("event-without-size", "an event that takes no bits".to_string()),
                _ => ("event-beyond-packet", "an event that goes on behind the end of its packet".to_string()),
            };
            shared.problems.add(name, &file.path, byte, || format!("{text}; the rest of its packet is not read"));
            if packet.cut {
                // A size that goes beyond the file is not to be believed either.
                self.next_packet = next_magic(window, byte + 1, trace.layout.big);
            }
        }
        let from = trace.time(packet.ticks);
        let to = packet.end_ticks.map_or(from, |end| trace.time(end).max(from));
        shared.gaps.add(Gap { cause: Cause::Damaged, events: None, from, to, stream: self.index });
        self.packet = None;
        true
    }

    fn open_file(&mut self, shared: &mut Shared) -> bool {
        let Some(file) = self.files.get(self.next_file) else { return false };
        self.next_file += 1;
        self.next_packet = 0;
        match Window::open(&file.path, &file.bytes, self.together) {
            Ok(window) => self.file = Some((window, file.clone())),
            Err(error) => shared.problems.add("unreadable", &file.path, 0, || error.to_string()),
        }
        true
    }

    fn open_packet(&mut self, traces: &[Trace], shared: &mut Shared) -> bool {
        let Some((window, file)) = &mut self.file else { return true };
        let start = self.next_packet;
        if start >= window.length() {
            self.file = None;
            return true;
        }
        let trace = &traces[file.trace];
        let rest = window.length() - start;
        let found = window.show(start, HEADER_MAX).map(|()| {
            let bytes = &window.bytes()[(start - window.start()) as usize..];
            packet::read(&trace.layout, bytes, rest, &mut self.captured)
        });
        let packet = match found {
            Ok(Ok(packet)) => packet,
            Ok(Err(fault)) => {
                shared.problems.add(fault.name, &file.path, start, || fault.text.clone());
                let next = fault.next.map_or_else(|| next_magic(window, start + 1, trace.layout.big), |bytes| start + bytes);
                shared.bytes += next.min(window.length()) - start;
                self.next_packet = next;
                return true;
            }
            Err(error) => {
                shared.problems.add("unreadable", &file.path, start, || error.to_string());
                self.file = None;
                return true;
            }
        };
        let (bytes, cut) = (packet.size / 8, packet.content > 8 * rest);
        self.next_packet = start.saturating_add(bytes);
        shared.bytes += bytes.min(rest);
        self.packet = Some(Open {
            start,
            stream: packet.stream,
            at: 8 * start + packet.events,
            end: 8 * start + packet.content.min(8 * rest),
            ticks: packet.begin.unwrap_or(0),
            end_ticks: packet.end,
            cpu: packet.cpu.map(|cpu| cpu as u32),
            lossy: false,
            lost: 0,
            cut,
        });
        let path = file.path.clone();
        let lost = self.count_lost(&packet, trace, &path, start, shared);
        if let Some(open) = &mut self.packet {
            (open.lossy, open.lost) = (lost > 0, lost);
        }
        true
    }

    /// Compares a packet's counters with those of the one before; gives the events that were lost.
    fn count_lost(&mut self, packet: &Packet, trace: &Trace, path: &std::path::Path, offset: u64, shared: &mut Shared) -> u64 {
        let mut lost_here = 0;
        let begin = packet.begin.unwrap_or(0);
        let to = trace.time(packet.end.unwrap_or(begin));
        let from = trace.time(self.before.and_then(|b| b.end).unwrap_or(begin)).min(to);
        let mut gap = |cause, events, to| shared.gaps.add(Gap { cause, events, from, to, stream: self.index });
        if let (Some(sequence), Some(before)) = (packet.sequence, self.before.and_then(|b| b.sequence)) {
            if sequence > before.wrapping_add(1) {
                gap(Cause::PacketsMissing, None, trace.time(begin).max(from));
                shared.problems.add("packets-missing", path, offset, || format!("packet {sequence} follows packet {before}"));
            }
        }
        if let Some((count, bits)) = packet.discarded {
            // A stream whose first packets are not in the trace (a snapshot) does not say what it lost before.
            let known = match self.before {
                Some(before) => before.discarded,
                None => (packet.sequence.unwrap_or(0) == 0).then_some(0),
            };
            let unused = 64 - bits.clamp(1, 64);
            match known.map(|known| count.wrapping_sub(known) << unused >> unused) {
                None | Some(0) => {}
                Some(lost) if lost > u64::MAX >> unused >> 1 => shared.problems.add("discard-count-turned-back", path, offset, || {
                    format!("{count} events, after {} in the packet before", known.unwrap_or(0))
                }),
                Some(lost) => {
                    lost_here = lost;
                    shared.gaps.add(Gap { cause: Cause::Discarded, events: Some(lost), from, to, stream: self.index });
                }
            }
        }
        self.before = Some(Before { end: packet.end, discarded: packet.discarded.map(|(count, _)| count), sequence: packet.sequence });
        lost_here
    }
}

/// Most bytes of a packet's header and context.
pub(crate) const HEADER_MAX: usize = 4096;

enum Damage {
    UnknownEvent(u64),
    /// An event that takes no bits: there would be no end of them.
    NoSize,
    Decoding(Fault),
}

/// An event that was read.
struct Read<'a> {
    class: &'a EventClass,
    ticks: u64,
    /// Bits at which its contexts begin and at which it ends.
    contexts: u64,
    end: u64,
}

/// Reads the event at bit `at`.
#[inline(always)]
fn event<'a>(layout: &'a StreamLayout, input: Input<'_>, at: u64, ticks: u64, captured: &mut Captured) -> Result<Read<'a>, Damage> {
    let head = head(&layout.event_header, input, at, captured).map_err(Damage::Decoding)?;
    let class = layout.class(head.id).ok_or(Damage::UnknownEvent(head.id))?;
    let end = body(class, input, head.end, captured).map_err(Damage::Decoding)?;
    if end <= at {
        return Err(Damage::NoSize);
    }
    let ticks = head.time.map_or(ticks, |(low, bits)| time_of(ticks, low, bits));
    Ok(Read { class, ticks, contexts: head.end, end })
}

/// A time of which only the low bits are written, at or after the one before. CTF 1.8, section 8.
#[inline(always)]
fn time_of(before: u64, low: u64, bits: u32) -> u64 {
    if bits >= 64 {
        return low;
    }
    let mask = (1u64 << bits) - 1;
    let time = before & !mask | low & mask;
    if time < before { time.wrapping_add(mask + 1) } else { time }
}

/// Process, stream and thread of the event that was just read. `None`: the trace does not say them.
#[inline(always)]
fn place(trace: &Trace, layout: &StreamLayout, input: Input<'_>, read: &Read<'_>, captured: &Captured, recent: &mut [Recent; RECENT],
    shared: &mut Shared) -> Option<(ProcessIndex, StreamIndex, ThreadId)> {
    let word = |word: u8| captured.words[word as usize];
    let pid = if layout.has_pid { word(word::PID) as u32 } else { trace.pid? };
    if !layout.has_tid {
        return None;
    }
    let tid = word(word::TID) as u32;
    let namespace = if layout.has_namespace { word(word::PID_NAMESPACE) } else { 0 };
    let ids = u64::from(pid) << 32 | u64::from(tid);
    let known = &mut recent[(tid ^ pid << 3) as usize % RECENT];
    if known.ids != ids || known.namespace != namespace {
        let name = if layout.has_name { process_name(read.class, input, read.contexts, captured) } else { trace.process_name.as_bytes() };
        let origin = Origin { host: trace.host_index, namespace, pid, tid };
        let (process, stream) = shared.registry.place(origin, &trace.host, &trace.folder, trace.ns(read.ticks), name);
        *known = Recent { ids, namespace, process, stream };
    }
    Some((known.process, known.stream, ThreadId(tid)))
}

/// Writes the payload of an event; false for one that CARET repeats.
#[inline(always)]
fn understood(class: &EventClass, number: u16, process: ProcessIndex, captured: &Captured, input: Input<'_>, shared: &mut Shared,
    into: &mut Payload) -> bool {
    let words: &[u64; WORDS] = captured.words.first_chunk().unwrap_or(&[0; WORDS]);
    let mut texts = [Text::EMPTY; TEXTS];
    if class.texts > 0 {
        for (text, (start, end)) in texts.iter_mut().zip(captured.spans).take(class.texts) {
            let bytes = input.bytes.get(start..end).unwrap_or_default();
            *text = shared.names.intern(&bytes[..memchr::memchr(0, bytes).unwrap_or(bytes.len())]);
        }
    }
    if class.initialises {
        if let Some(initialised) = &mut shared.initialised {
            if !initialised.insert((process, number, words[0])) && class.by_caret {
                return false;
            }
        }
    }
    payload(number, words, &texts, into)
}

/// One record for each pair of the two arrays of handles that were read last.
fn pairs(kind: &Kind, captured: &Captured, input: Input<'_>, big: bool, event: Event, into: &mut VecDeque<Event>) {
    let handles = |span: usize| {
        let (start, end) = captured.spans[span];
        let words = input.bytes.get(start..end).unwrap_or_default().chunks_exact(8);
        words.map(move |word| {
            let word = word.first_chunk().copied().unwrap_or_default();
            if big { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) }
        })
    };
    for subscription in handles(0) {
        for publisher in handles(1) {
            if into.len() == PAIRS_MAX {
                return;
            }
            let mut event = event;
            if payload(kind.number, &[subscription, publisher, 0, 0, 0, 0, 0, 0], &[Text::EMPTY; TEXTS], &mut event.payload) {
                into.push_back(event);
            }
        }
    }
}

/// Offset of the next packet's first bytes at or after `from`; the file's length where there is none.
fn next_magic(window: &mut Window, from: u64, big: bool) -> u64 {
    let magic = if big { MAGIC.to_be_bytes() } else { MAGIC.to_le_bytes() };
    let mut at = from;
    while at + 4 <= window.length() {
        if window.show(at, 4).is_err() {
            break;
        }
        let bytes = &window.bytes()[(at - window.start()) as usize..];
        if let Some(found) = bytes.windows(4).position(|w| w == magic) {
            return at + found as u64;
        }
        at += (bytes.len() as u64).saturating_sub(3).max(1);
    }
    window.length()
}
