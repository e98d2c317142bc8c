//! One stream: the packets of a CPU and channel, file after file, and the events in them.

use crate::decode::{aligned, body, head, Captured, Fault, Input};
use crate::gap::{Cause, Gap, Gaps};
use crate::kinds::{payload, TEXTS, WORDS};
use crate::layout::{span, word, EventClass, StreamLayout, TraceLayout};
use crate::names::Names;
use crate::packet::{self, Packet, MAGIC};
use crate::process::{Host, Origin, Registry};
use crate::window::{Window, EVENT_MAX};
use std::collections::HashSet;
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
    pub trace: usize,
}

/// Where reading of a stream stands.
pub(crate) struct Stream {
    index: usize,
    files: Vec<StreamFile>,
    next_file: usize,
    file: Option<(Window, StreamFile)>,
    /// Offset of the next packet in the file.
    next_packet: u64,
    packet: Option<Open>,
    /// Of the packet before, in this or the file before.
    before: Option<Before>,
    captured: Captured,
    recent: Box<[Option<(Origin, ProcessIndex, StreamIndex)>; RECENT]>,
    time: Time,
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
    /// Whether the file has less of it than it should.
    cut: bool,
}

#[derive(Clone, Copy)]
struct Before {
    end: Option<u64>,
    discarded: Option<u64>,
    sequence: Option<u64>,
}

/// Threads that a CPU switches between are found here without hashing; a power of two.
const RECENT: usize = 64;

impl Stream {
    pub fn new(index: usize, files: Vec<StreamFile>, slots: usize) -> Self {
        Stream {
            index,
            files,
            next_file: 0,
            file: None,
            next_packet: 0,
            packet: None,
            before: None,
            captured: Captured::new(slots),
            recent: Box::new([None; RECENT]),
            time: Time::from_monotonic_ns(i64::MIN),
        }
    }

    /// Puts its next event that is understood into `into`; false at its end.
    #[inline(always)]
    pub fn next(&mut self, traces: &[Trace], shared: &mut Shared, into: &mut Event) -> bool {
        loop {
            if let (Some(packet), Some((window, file))) = (&mut self.packet, &self.file) {
                let trace = &traces[file.trace];
                if let Some(layout) = trace.layout.streams.get(packet.stream) {
                    while packet.at < packet.end {
                        let base = 8 * window.start();
                        let limit = packet.end.min(8 * window.end()).saturating_sub(base);
                        let input = Input { bytes: window.bytes(), origin: (8 * packet.start) as i64 - base as i64, limit };
                        let at = packet.at.wrapping_sub(base);
                        let step = event(layout, input, at, packet.ticks, &mut self.captured);
                        let Ok((class, ticks, end)) = step else { break };
                        packet.at = base + aligned(layout, input, end);
                        packet.ticks = ticks;
                        match class.kind {
                            None => shared.skipped[class.number] += 1,
                            Some(kind) => {
                                let found = place(trace, layout, input, ticks, &mut self.captured, &mut self.recent[..], shared);
                                let Some((process, stream, tid)) = found else {
                                    shared.skipped[class.number] += 1;
                                    continue;
                                };
                                let Some(payload) = understood(class, kind.number, process, &self.captured, input, shared) else {
                                    shared.skipped[class.number] += 1;
                                    continue;
                                };
                                let time = trace.time(ticks);
                                if time < self.time {
                                    let back = Duration::from_ns(self.time.as_ns().wrapping_sub(time.as_ns()));
                                    let offset = packet.at / 8;
                                    shared.problems.add("time-turned-back", &file.path, offset, || {
                                        format!("by {back}; the event is moved to the one before")
                                    });
                                } else {
                                    self.time = time;
                                }
                                *into = Event { time: self.time, process, thread: ThreadId(tid), stream, payload };
                                return true;
                            }
                        }
                    }
                }
            }
            if !self.go_on(traces, shared) {
                return false;
            }
        }
    }

    /// After an event that could not be read, or the end of a packet or file: moves on. False at the end of all.
    #[cold]
    fn go_on(&mut self, traces: &[Trace], shared: &mut Shared) -> bool {
        let Some((window, file)) = &mut self.file else { return self.open_file(shared) };
        let trace = &traces[file.trace];
        let Some(packet) = &mut self.packet else {
            return self.open_packet(traces, shared);
        };
        if packet.at >= packet.end && !packet.cut {
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
        match Window::open(&file.path) {
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
            cut,
        });
        let path = file.path.clone();
        self.count_lost(&packet, trace, &path, start, shared);
        true
    }

    /// Compares a packet's counters with those of the one before.
    fn count_lost(&mut self, packet: &Packet, trace: &Trace, path: &std::path::Path, offset: u64, shared: &mut Shared) {
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
                Some(lost) => shared.gaps.add(Gap { cause: Cause::Discarded, events: Some(lost), from, to, stream: self.index }),
            }
        }
        self.before = Some(Before { end: packet.end, discarded: packet.discarded.map(|(count, _)| count), sequence: packet.sequence });
    }
}

/// Most bytes of a packet's header and context.
pub(crate) const HEADER_MAX: usize = 4096;

enum Damage {
    UnknownEvent(u64),
    Decoding(Fault),
}

/// Reads the event at bit `at`: its class, its time, and the bit behind it.
#[inline(always)]
fn event<'a>(layout: &'a StreamLayout, input: Input<'_>, at: u64, ticks: u64, captured: &mut Captured)
    -> Result<(&'a EventClass, u64, u64), Damage> {
    let head = head(&layout.event_header, input, at, captured).map_err(Damage::Decoding)?;
    let class = layout.class(head.id).ok_or(Damage::UnknownEvent(head.id))?;
    captured.words[..WORDS].fill(0);
    let end = body(class, input, head.end, captured).map_err(Damage::Decoding)?;
    let ticks = head.time.map_or(ticks, |(low, bits)| time_of(ticks, low, bits));
    Ok((class, ticks, end))
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
fn place(
    trace: &Trace, layout: &StreamLayout, input: Input<'_>, ticks: u64, captured: &mut Captured,
    recent: &mut [Option<(Origin, ProcessIndex, StreamIndex)>], shared: &mut Shared,
) -> Option<(ProcessIndex, StreamIndex, u32)> {
    let word = |word: u8| captured.words[word as usize];
    let pid = if layout.has_pid { word(word::PID) as u32 } else { trace.pid? };
    if !layout.has_tid {
        return None;
    }
    let namespace = if layout.has_namespace { word(word::PID_NAMESPACE) } else { 0 };
    let origin = Origin { host: trace.host_index, namespace, pid, tid: word(word::TID) as u32 };
    let slot = (origin.tid ^ origin.pid << 3) as usize % RECENT;
    if let Some((known, process, stream)) = recent[slot] {
        if known == origin {
            return Some((process, stream, origin.tid));
        }
    }
    let (start, end) = captured.spans[span::PROCESS_NAME as usize];
    let name = if layout.has_name { input.bytes.get(start..end).unwrap_or_default() } else { trace.process_name.as_bytes() };
    let (process, stream) = shared.registry.place(origin, &trace.host, &trace.folder, trace.ns(ticks), name);
    recent[slot] = Some((origin, process, stream));
    Some((process, stream, origin.tid))
}

/// The payload of an event; `None` for one that CARET repeats.
#[inline(always)]
fn understood(class: &EventClass, number: u16, process: ProcessIndex, captured: &Captured, input: Input<'_>, shared: &mut Shared)
    -> Option<Payload> {
    let words: &[u64; WORDS] = captured.words.first_chunk()?;
    let mut texts = [Text::EMPTY; TEXTS];
    let count = class.texts;
    for (text, (start, end)) in texts.iter_mut().zip(captured.spans).take(count) {
        let bytes = input.bytes.get(start..end).unwrap_or_default();
        *text = shared.names.intern(&bytes[..memchr::memchr(0, bytes).unwrap_or(bytes.len())]);
    }
    if let Some(initialised) = &mut shared.initialised {
        if class.by_caret && initialised.contains(&(process, number, words[0])) {
            return None;
        }
        if class.initialises {
            initialised.insert((process, number, words[0]));
        }
    }
    payload(number, words, &texts)
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
