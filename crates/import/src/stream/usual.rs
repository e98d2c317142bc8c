//! Reads events of the usual form one after the other; reading a trace spends nearly all of its time here.

use super::event::time_of;
use super::place::Threads;
use crate::kinds::{payload, Words};
use crate::layout::{Header, Place, StreamLayout, SEEN};
use crate::trace::Trace;
use tacho_events::{Event, Text, ThreadId, Time};

/// Position in a packet.
pub(super) struct Position {
    /// Byte of the next event.
    pub at: usize,
    /// Ticks of the previous event.
    pub ticks: u64,
    /// The latest time in the stream so far.
    pub time: Time,
}

/// Reads events and returns their number. It stops at the first event that is of another form, belongs to a thread that
/// did not occur lately, is earlier than the previous one, or does not end before byte `limit`, and if `into` is full.
pub(super) fn read(
    trace: &Trace,
    layout: &StreamLayout,
    threads: &Threads,
    bytes: &[u8],
    limit: usize,
    position: &mut Position,
    into: &mut [Event],
) -> usize {
    match layout.event_header {
        Header::Large => run::<16, 32>(trace, layout, threads, bytes, limit, position, into),
        Header::Compact => run::<5, 27>(trace, layout, threads, bytes, limit, position, into),
        _ => 0,
    }
}

/// Reads events whose header has `ID` bits of the id and `TIME` bits of the time.
#[inline(always)]
fn run<const ID: u32, const TIME: u32>(
    trace: &Trace,
    layout: &StreamLayout,
    threads: &Threads,
    bytes: &[u8],
    limit: usize,
    position: &mut Position,
    into: &mut [Event],
) -> usize {
    let Position { mut at, mut ticks, mut time } = *position;
    let mut count = 0;
    for into in into {
        let Some(event) = bytes.get(at..).and_then(|rest| rest.first_chunk::<SEEN>()) else { break };
        let head = u64::from_le_bytes([event[0], event[1], event[2], event[3], event[4], event[5], event[6], event[7]]);
        let (id, low) = (head & ((1 << ID) - 1), head >> ID & ((1 << TIME) - 1));
        let Some(usual) = layout.usual(id) else { break };
        let end = at + usize::from(usual.bytes);
        let Some(pid) = (if usual.has_pid { Some(usual.pid.read(event) as u32) } else { trace.pid }) else { break };
        let tid = usual.tid.read(event) as u32;
        let Some((process, stream)) = threads.met(pid, tid, usual.namespace.read(event)) else { break };
        let now = time_of(ticks, low, TIME);
        let own_time = trace.time(now);
        if end > limit || own_time < time {
            break;
        }
        payload(usual.kind, Fields { event, places: &usual.words, next: 0 }, &mut into.payload);
        (into.time, into.process, into.stream, into.thread) = (own_time, process, stream, ThreadId(tid));
        (at, ticks, time) = (end, now, own_time);
        count += 1;
    }
    *position = Position { at, ticks, time };
    count
}

/// Reads the integers of an event, in the order of its payload.
struct Fields<'a> {
    event: &'a [u8; SEEN],
    places: &'a [Place],
    next: usize,
}

impl Words for Fields<'_> {
    #[inline(always)]
    fn word(&mut self) -> u64 {
        self.next += 1;
        self.places.get(self.next - 1).map_or(0, |place| place.read(self.event))
    }

    /// Events of this form have no text.
    #[inline(always)]
    fn text(&mut self) -> Text {
        Text::EMPTY
    }
}
