//! Reads one stream: the packets of a CPU and channel, file after file, and the events in them.

use crate::decode::{aligned, Captured, Input};
use crate::kernel::Kernel;
use crate::trace::Trace;
use crate::window::{Bytes, Window};
use std::collections::VecDeque;
use std::path::PathBuf;
use tacho_events::{Duration, Event, Payload, ProcessIndex, StreamIndex, ThreadId, Time};

mod event;
mod lacking;
mod packets;
mod place;
mod shared;
mod usual;

use event::{event, pairs, understood};
use lacking::{Before, Unread};
use packets::Open;
pub(crate) use packets::HEADER_MAX;
use place::Threads;
pub(crate) use shared::Shared;
use usual::Position;

/// A file of a stream.
#[derive(Debug, Clone)]
pub(crate) struct StreamFile {
    pub path: PathBuf,
    pub bytes: Bytes,
    pub trace: usize,
}

/// How far reading of a stream is.
pub(crate) struct Stream {
    index: usize,
    together: usize,
    files: Vec<StreamFile>,
    next_file: usize,
    file: Option<(Window, StreamFile)>,
    /// Offset of the next packet in the file.
    next_packet: u64,
    packet: Option<Open>,
    /// Offset of the last packet that was opened in the file.
    opened: Option<u64>,
    /// Counters of the packet before, in this or the previous file.
    before: Option<Before>,
    /// Whether the bytes after the last opened packet of the file were read before, too.
    next_is_again: bool,
    unread: Option<Unread>,
    captured: Captured,
    threads: Threads,
    kernel: Kernel,
    /// Further records of events that were read already, because an event may make several.
    more: VecDeque<Event>,
    time: Time,
    /// Events that were read, how many there are, and how many of them were passed on.
    ready: Box<[Event; AT_A_TIME]>,
    count: usize,
    taken: usize,
}

/// LTTng loses events as long as the next packet is not free: the events that no longer fit into the previous packet,
/// until the switch to the next. Hence they lie among the last events of the packet that counts them, within these
/// bits, which exceed any event of the kernel.
const NEARLY_FULL: u64 = 8 * 4096;

/// Events that are read at a time: few enough to stay in the fastest cache.
const AT_A_TIME: usize = 256;

/// Content of a place into which no event was read yet.
const NO_EVENT: Event = Event {
    time: Time::from_monotonic_ns(i64::MIN),
    process: ProcessIndex(0),
    thread: ThreadId(0),
    stream: StreamIndex(0),
    payload: Payload::RclcppExecutorGetNextReady {},
};

impl Stream {
    /// Makes stream `index` of `together` that are open at once.
    pub fn new(index: usize, together: usize, files: Vec<StreamFile>, slots: usize) -> Self {
        Stream {
            index,
            together,
            files,
            next_file: 0,
            file: None,
            next_packet: 0,
            packet: None,
            opened: None,
            before: None,
            next_is_again: false,
            unread: None,
            captured: Captured::new(slots),
            threads: Threads::default(),
            kernel: Kernel::default(),
            more: VecDeque::new(),
            time: Time::from_monotonic_ns(i64::MIN),
            ready: Box::new([NO_EVENT; AT_A_TIME]),
            count: 0,
            taken: 0,
        }
    }

    /// Indices of the traces that its files belong to.
    pub fn traces(&self) -> impl Iterator<Item = usize> + '_ {
        self.files.iter().map(|file| file.trace)
    }

    /// Passes on its events that were read already and lie before `until`; `own` is its rank among events of one time.
    #[inline(always)]
    pub fn take_before(&mut self, until: (Time, u32), own: u32) -> &[Event] {
        let ready = &self.ready[self.taken..self.count];
        let count = match ready.last() {
            // Mostly few events, because the streams of two CPUs alternate.
            Some(last) if (last.time, own) >= until => {
                ready.iter().take_while(|event| (event.time, own) < until).count()
            }
            _ => ready.len(),
        };
        self.taken += count;
        &ready[..count]
    }

    /// Time of its next event, if that was read already.
    #[inline(always)]
    pub fn next_time(&self) -> Option<Time> {
        self.ready[..self.count].get(self.taken).map(|event| event.time)
    }

    /// Its next event, if that was read already.
    #[inline(always)]
    pub fn take(&mut self) -> Option<&Event> {
        self.taken += 1;
        self.ready[..self.count].get(self.taken - 1)
    }

    /// Reads the next events that are understood; returns false at the end of the stream.
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

    /// Reads on in the open packet up to its end, the end of the window, damage, or the number of events that are read
    /// at a time.
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
            if self.more.is_empty() {
                let mut position = Position { at: (at / 8) as usize, ticks, time: self.time };
                let room = &mut self.ready[self.count..];
                let count = usual::read(
                    trace,
                    layout,
                    &self.threads,
                    window.padded(),
                    (limit / 8) as usize,
                    &mut position,
                    room,
                );
                if count > 0 {
                    (at, ticks, self.time) = (8 * position.at as u64, position.ticks, position.time);
                    self.count += count;
                    continue;
                }
            }
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
                false => self.threads.place(trace, input, &read, captured, shared),
            };
            let Some((process, stream, thread)) = placed else {
                shared.skipped[read.class.number] += 1;
                continue;
            };
            if !read.class.of_pairs
                && !understood(read.class, kind.number, process, captured, input, shared, &mut into.payload)
            {
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
}
