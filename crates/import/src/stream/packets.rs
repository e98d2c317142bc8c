//! Opens files and packets in turn, and continues after damage.

use super::event::{event, Damage};
use super::{Shared, Stream};
use crate::decode::{Fault, Input};
use crate::gap::{Cause, Gap};
use crate::packet::{self, MAGIC};
use crate::trace::Trace;
use crate::window::{Window, EVENT_MAX};
use tacho_events::{Event, Payload};

/// Most bytes of a packet's header and context.
pub(crate) const HEADER_MAX: usize = 4096;

/// A packet that is being read.
pub(super) struct Open {
    pub start: u64,
    pub stream: usize,
    /// Bits of the file: the next event, and the end of the content that is there.
    pub at: u64,
    pub end: u64,
    pub ticks: u64,
    pub end_ticks: Option<u64>,
    pub cpu: Option<u32>,
    /// Whether events were lost in it, and how many of them no event has reported yet.
    pub lossy: bool,
    pub lost: u64,
    /// Whether the file lacks a part of it.
    pub cut: bool,
}

impl Stream {
    /// Moves on after an event that could not be read, or at the end of a packet or file. Returns false at the end of
    /// the stream.
    pub(super) fn go_on(&mut self, traces: &[Trace], shared: &mut Shared) -> bool {
        let Some((window, file)) = &mut self.file else { return self.open_file(traces, shared) };
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
            // The file became shorter after it was opened.
            (packet.end, packet.cut) = (8 * window.length(), true);
        }
        let limit = packet.end.min(8 * window.end()).saturating_sub(base);
        let input = Input { bytes: window.bytes(), origin: (8 * packet.start) as i64 - base as i64, limit };
        let at = packet.at.wrapping_sub(base);
        let layout = trace.layout.streams.get(packet.stream);
        let fault = layout.and_then(|layout| event(layout, input, at, packet.ticks, &mut self.captured).err());
        // More than this packet may be lost.
        let mut torn = None;
        let beyond = matches!(fault, Some(Damage::Decoding(Fault::Beyond)));
        if beyond && packet.end > 8 * window.end() {
            match window.advance(byte) {
                Ok(true) => return true,
                Ok(false) => {
                    let text =
                        || format!("an event of more than {EVENT_MAX} bytes; the rest of its packet is not read");
                    shared.problems.add("event-too-large", &file.path, byte, text);
                }
                Err(error) => shared.problems.add("unreadable", &file.path, byte, || error.to_string()),
            }
        } else if packet.cut && (beyond || packet.at >= packet.end) {
            torn = Some(packet.start);
            let (start, left) = (packet.start, (packet.end / 8).saturating_sub(packet.start));
            shared.problems.add("packet-truncated", &file.path, start, || {
                format!("the file ends {left} bytes into this packet; read up to its last whole event")
            });
        } else {
            let (name, text) = match fault {
                Some(Damage::UnknownEvent(id)) => (
                    "unknown-event",
                    format!(
                        "an event of id {id} in stream {}, which the metadata does not describe",
                        layout.map_or(0, |of| of.id)
                    ),
                ),
                Some(Damage::Decoding(Fault::NoOption(tag))) => {
                    ("bad-tag", format!("the tag {tag}, which chooses no option of a variant"))
                }
                Some(Damage::NoSize) => ("event-without-size", "an event that takes no bits".to_string()),
                _ => ("event-beyond-packet", "an event that goes on behind the end of its packet".to_string()),
            };
            shared.problems.add(name, &file.path, byte, || format!("{text}; the rest of its packet is not read"));
            if packet.cut {
                // A size that exceeds the file may be wrong, too.
                torn = Some(byte);
                self.next_packet = next_magic(window, byte + 1, trace.layout.big);
            }
        }
        let from = trace.time(packet.ticks);
        let to = packet.end_ticks.map_or(from, |end| trace.time(end).max(from));
        shared.gaps.add(Gap { cause: Cause::Damaged, events: None, from, to, stream: self.index });
        self.packet = None;
        if let Some(offset) = torn {
            self.step_over(offset, Cause::Damaged, trace);
        }
        true
    }

    fn open_file(&mut self, traces: &[Trace], shared: &mut Shared) -> bool {
        let Some(file) = self.files.get(self.next_file).cloned() else {
            self.end_unread(shared);
            return false;
        };
        self.next_file += 1;
        (self.next_packet, self.opened, self.next_is_again) = (0, None, false);
        match Window::open(&file.path, &file.bytes, self.together) {
            Ok(window) => self.file = Some((window, file)),
            Err(error) => {
                let trace = &traces[file.trace];
                shared.problems.add("unreadable", &file.path, 0, || error.to_string());
                self.step_over(0, Cause::Unreadable, trace);
                self.close_file(0, &file, trace, shared);
            }
        }
        true
    }

    fn open_packet(&mut self, traces: &[Trace], shared: &mut Shared) -> bool {
        let Some((window, file)) = &mut self.file else { return true };
        let start = self.next_packet;
        let trace = &traces[file.trace];
        if start >= window.length() {
            let (length, file) = (window.length(), file.clone());
            self.close_file(length, &file, trace, shared);
            return true;
        }
        let rest = window.length() - start;
        let found = window.show(start, HEADER_MAX).map(|()| {
            let bytes = &window.bytes()[(start - window.start()) as usize..];
            packet::read(&trace.layout, bytes, rest, &mut self.captured)
        });
        let packet = match found {
            Ok(Ok(packet)) => packet,
            Ok(Err(fault)) => {
                shared.problems.add(fault.name, &file.path, start, || fault.text.clone());
                let next =
                    fault.next.map_or_else(|| next_magic(window, start + 1, trace.layout.big), |bytes| start + bytes);
                shared.bytes += next.min(window.length()) - start;
                self.next_packet = next;
                self.step_over(start, Cause::Damaged, trace);
                return true;
            }
            Err(error) => {
                shared.problems.add("unreadable", &file.path, start, || error.to_string());
                let file = file.clone();
                let cause = if self.opened.is_some() { Cause::Damaged } else { Cause::Unreadable };
                self.step_over(start, cause, trace);
                self.close_file(start, &file, trace, shared);
                return true;
            }
        };
        let (bytes, cut) = (packet.size / 8, packet.content > 8 * rest);
        self.next_packet = start.saturating_add(bytes);
        self.opened = Some(start);
        shared.bytes += bytes.min(rest);
        let again =
            self.before.filter(|before| before.file != self.next_file && before.has(packet.sequence, packet.end));
        self.next_is_again = again.is_some_and(|before| before.is_behind(packet.sequence));
        if again.is_some() {
            shared.problems.add("packet-again", &file.path, start, || {
                "a packet of a file that was read before (a copy of the trace, snapshots that overlap); it is left out"
                    .into()
            });
            return true;
        }
        if let (Some(found), Some(expected)) = (packet.other_uuid, trace.layout.uuid) {
            shared.problems.add("packet-uuid-differs", &file.path, start, || {
                let (found, expected) = (hexadecimal(found), hexadecimal(expected));
                format!("uuid {found}; the metadata's is {expected}; it is read as the metadata says")
            });
        }
        let align = trace.layout.streams.get(packet.stream).map_or(1, |of| of.event_align);
        self.packet = Some(Open {
            start,
            stream: packet.stream,
            at: 8 * start + packet.events.next_multiple_of(align.into()),
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
}

fn hexadecimal(uuid: [u8; 16]) -> String {
    uuid.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Offset of the next packet's magic number at or after `from`; the file's length if there is none.
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
