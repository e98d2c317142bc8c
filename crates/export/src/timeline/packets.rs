//! The packets of a trace.

use crate::protobuf::Message;
use std::io::{self, Write};
use tacho_tables::row::Row;

/// Of `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;
/// `TracePacket.SEQ_INCREMENTAL_STATE_CLEARED`: nothing before the first packet is missing.
const FROM_HERE_ON: u64 = 1;

/// Writes packets of one sequence.
pub struct Packets<W: Write> {
    out: W,
    is_first: bool,
}

impl<W: Write> Packets<W> {
    /// Packets of a new trace.
    pub fn to(out: W) -> Packets<W> {
        Packets { out, is_first: true }
    }

    /// The next packet.
    pub fn write(&mut self, packet: &Packet) -> io::Result<()> {
        let mut of_trace = Message::default().number(10, 1);
        if std::mem::take(&mut self.is_first) {
            of_trace = of_trace.number(13, FROM_HERE_ON);
        }
        let of_trace = match packet {
            Packet::Track(track) => of_trace.message(60, track),
            Packet::Event(ns, event) => of_trace.number(8, (*ns).max(0) as u64).message(11, event),
        };
        self.out.write_all(Message::default().message(1, &of_trace).as_bytes())
    }

    /// Where they were written.
    pub fn finish(self) -> io::Result<W> {
        Ok(self.out)
    }
}

/// A packet: the description of a track, or an event on one.
pub enum Packet {
    /// A description.
    Track(Message),
    /// An event at this time, ns.
    Event(i64, Message),
}

/// A process.
pub fn process_track(uuid: u64, pid: u32, name: &str, command: &str) -> Packet {
    let process = Message::default().number(1, u64::from(pid)).text(2, command).text(6, name);
    Packet::Track(Message::default().number(1, uuid).message(3, &process))
}

/// A thread; an empty name is left to Perfetto.
pub fn thread_track(uuid: u64, pid: u32, tid: u32, name: &str) -> Packet {
    let mut thread = Message::default().number(1, u64::from(pid)).number(2, u64::from(tid));
    if !name.is_empty() {
        thread = thread.text(5, name);
    }
    Packet::Track(Message::default().number(1, uuid).message(4, &thread))
}

/// Any other track; with a unit it is a counter.
pub fn track(uuid: u64, parent: Option<u64>, name: &str, unit: Option<&str>) -> Packet {
    let mut track = Message::default().number(1, uuid).text(2, name);
    if let Some(parent) = parent {
        track = track.number(5, parent);
    }
    if let Some(unit) = unit {
        track = track.message(8, &Message::default().text(6, unit));
    }
    Packet::Track(track)
}

/// The begin of a slice, at which these flows arrive.
pub fn slice_begin(
    track: u64,
    ns: i64,
    name: &str,
    flows: &[Row<tacho_tables::Message>],
    cpu_ms: Option<f64>,
) -> Packet {
    let mut event = with_flows(of(BEGIN, track).text(23, name), flows);
    if let Some(ms) = cpu_ms {
        event = event.message(4, &Message::default().double(5, ms).text(10, "cpu_ms"));
    }
    Packet::Event(ns, event)
}

/// The end of the slice that began last on this track.
pub fn slice_end(track: u64, ns: i64) -> Packet {
    Packet::Event(ns, of(END, track))
}

/// An instant, at which these flows begin, with notes.
pub fn instant(
    track: u64,
    ns: i64,
    name: &str,
    flows: &[Row<tacho_tables::Message>],
    notes: &[(&str, &str)],
) -> Packet {
    let event = with_flows(of(INSTANT, track).text(23, name), flows);
    let noted = |event: Message, (name, text): &(&str, &str)| {
        event.message(4, &Message::default().text(6, text).text(10, name))
    };
    Packet::Event(ns, notes.iter().fold(event, noted))
}

/// The value of a counter from now on.
pub fn counter(track: u64, ns: i64, value: f64) -> Packet {
    Packet::Event(ns, of(COUNTER, track).double(44, value))
}

fn of(kind: u64, track: u64) -> Message {
    Message::default().number(9, kind).number(11, track)
}

/// A message is a flow of its own; 0 is none to Perfetto.
fn with_flows(event: Message, messages: &[Row<tacho_tables::Message>]) -> Message {
    messages.iter().fold(event, |event, row| event.fixed(47, u64::from(row.number()) + 1))
}
