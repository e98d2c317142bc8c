//! From packet to packet: files and packets opened in turn, what they count as lost, and going on behind damage.

use super::event::{event, Damage};
use super::{Shared, Stream, Trace};
use crate::decode::{Fault, Input};
use crate::gap::{Cause, Gap};
use crate::index;
use crate::packet::{self, Packet, MAGIC};
use crate::window::{Bytes, Window, EVENT_MAX};
use tacho_events::{Event, Payload};

/// Most bytes of a packet's header and context.
pub(crate) const HEADER_MAX: usize = 4096;

/// A packet that is being read.
pub(super) struct Open {
    pub start: u64,
    pub stream: usize,
    /// Bits of the file: next event, and end of the content that there is.
    pub at: u64,
    pub end: u64,
    pub ticks: u64,
    pub end_ticks: Option<u64>,
    pub cpu: Option<u32>,
    /// Whether events of it were lost, and how many of them no event tells of yet.
    pub lossy: bool,
    pub lost: u64,
    /// Whether the file has less of it than it should.
    pub cut: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Before {
    end: Option<u64>,
    discarded: Option<u64>,
    sequence: Option<u64>,
    /// Number of its file.
    file: usize,
}

impl Before {
    /// Whether a packet of a later file was read up to here already.
    fn has(&self, packet: &Packet) -> bool {
        let no_later = |one: Option<u64>, other: Option<u64>| one.zip(other).is_some_and(|(one, other)| one <= other);
        no_later(packet.sequence, self.sequence) && no_later(packet.end, self.end)
    }
}

impl Stream {
    /// After an event that could not be read, or the end of a packet or file: moves on. False at the end of all.
    pub(super) fn go_on(&mut self, traces: &[Trace], shared: &mut Shared) -> bool {
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
        (self.next_packet, self.opened) = (0, None);
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
            self.count_behind_the_end(traces, shared);
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
        self.opened = Some(start);
        shared.bytes += bytes.min(rest);
        if self.before.is_some_and(|before| before.file != self.next_file && before.has(&packet)) {
            shared.problems.add("packet-again", &file.path, start, || {
                "a packet of a file that was read before (a copy of the trace, snapshots that overlap); it is left out".into()
            });
            return true;
        }
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

    /// At the end of a file: the packets that its index knows behind the last one that was opened are not in the trace.
    fn count_behind_the_end(&mut self, traces: &[Trace], shared: &mut Shared) {
        let Some((window, file)) = self.file.as_ref().filter(|(_, file)| matches!(file.bytes, Bytes::Filed)) else { return };
        let mut lacking = match index::of(&file.path) {
            Ok(packets) => packets,
            Err(error) => return shared.problems.add("unreadable", &file.path, window.length(), || format!("its index: {error}")),
        };
        lacking.retain(|packet| self.opened.is_none_or(|opened| packet.offset > opened));
        let (Some(first), Some(last)) = (lacking.first(), lacking.last()) else { return };
        let trace = &traces[file.trace];
        let (from, to) = (trace.time(first.begin), trace.time(last.end.max(first.begin)));
        shared.gaps.add(Gap { cause: Cause::PacketsMissing, events: None, from, to, stream: self.index });
        let count = lacking.len();
        shared.problems.add("packets-missing", &file.path, window.length(), || match count {
            1 => "the file ends before the last packet that its index tells of".into(),
            _ => format!("the file ends before the last {count} packets that its index tells of"),
        });
        // The next file's first packet follows these.
        let known = self.before.unwrap_or(Before { end: None, discarded: None, sequence: None, file: self.next_file });
        self.before = Some(Before { sequence: last.sequence.or(known.sequence), ..known });
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
        self.before = Some(Before {
            end: packet.end,
            discarded: packet.discarded.map(|(count, _)| count),
            sequence: packet.sequence,
            file: self.next_file,
        });
        lost_here
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
