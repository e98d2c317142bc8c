//! Finds what a stream lacks, by the counters of its packets, by the index of its files, and by bytes that are no
//! packet.

use super::{Shared, Stream, StreamFile};
use crate::gap::{Cause, Gap};
use crate::index::{self, Indexed};
use crate::packet::Packet;
use crate::trace::Trace;
use crate::window::Bytes;
use std::io;
use std::path::Path;
use tacho_events::Time;

/// The last packet that was read, in this or the previous file.
#[derive(Clone, Copy)]
pub(super) struct Before {
    pub end: Option<u64>,
    discarded: Option<u64>,
    sequence: Option<u64>,
    /// Number of its file.
    pub file: usize,
}

impl Before {
    /// Whether a packet of this number and end was read already.
    pub fn has(&self, sequence: Option<u64>, end: Option<u64>) -> bool {
        let no_later = |one: Option<u64>, other: Option<u64>| one.zip(other).is_some_and(|(one, other)| one <= other);
        no_later(sequence, self.sequence) && no_later(end, self.end)
    }

    /// Whether it follows a packet of this number.
    pub fn is_behind(&self, sequence: Option<u64>) -> bool {
        sequence.zip(self.sequence).is_some_and(|(sequence, own)| sequence < own)
    }
}

/// Bytes that were skipped, because no readable packet begins there.
#[derive(Clone, Copy)]
pub(super) struct Unread {
    /// Events in them lie after this time.
    from: Time,
    /// Offset of the last of them, as far as known.
    offset: u64,
    cause: Cause,
}

/// What an index reports of a file.
#[derive(Default)]
struct Told {
    /// Packets that neither the file nor one before it holds: how many, the first and the last.
    lacking: Option<(u64, Indexed, Indexed)>,
    /// End of the last packet in the index.
    end: u64,
}

impl Stream {
    /// Notes that bytes at `offset` are no readable packet: their events lie between the packet before and the next.
    pub(super) fn step_over(&mut self, offset: u64, cause: Cause, trace: &Trace) {
        if self.next_is_again {
            return;
        }
        let after = || {
            self.before.and_then(|before| before.end).map_or(Time::from_monotonic_ns(i64::MIN), |end| trace.time(end))
        };
        let from = self.unread.map_or_else(after, |unread| unread.from);
        let cause = self.unread.map_or(cause, |unread| unread.cause);
        self.unread = Some(Unread { from, offset, cause });
    }

    /// At the end of the stream: the last skipped bytes may cover all of the remaining time.
    pub(super) fn end_unread(&mut self, shared: &mut Shared) {
        if let Some(Unread { from, cause, .. }) = self.unread.take() {
            let to = Time::from_monotonic_ns(i64::MAX);
            shared.gaps.add(Gap { cause, events: None, from, to, stream: self.index });
        }
    }

    /// At the end of a file, of which `length` bytes can be read: the index may know packets after the last one that
    /// was opened. They are not in the trace, unless a previous file had them.
    pub(super) fn close_file(&mut self, length: u64, file: &StreamFile, trace: &Trace, shared: &mut Shared) {
        self.file = None;
        if matches!(file.bytes, Bytes::Held(_)) {
            return;
        }
        let told = match self.told(&file.path, shared) {
            Ok(told) => told,
            Err(error) => {
                let path = index::path_of(&file.path).unwrap_or_else(|| file.path.clone());
                return shared.problems.add("unreadable", &path, 0, || error.to_string());
            }
        };
        // Bytes skipped within these packets are either lacking or not needed.
        self.unread = self.unread.filter(|unread| unread.offset >= told.end);
        let Some((count, first, last)) = told.lacking else { return };
        let known = if self.opened.is_some() { " that its index lists" } else { "" };
        let from = trace.time(first.begin);
        shared.gaps.add(Gap {
            cause: Cause::PacketsMissing,
            events: None,
            from,
            to: trace.time(last.end).max(from),
            stream: self.index,
        });
        let what = match self.opened {
            _ if matches!(file.bytes, Bytes::Lacking) => "there is no such file, but its index, which lists",
            None => "nothing of it could be read, and its index lists",
            Some(_) => "the file ends before",
        };
        shared.problems.add("packets-missing", &file.path, length, || match count {
            1 => format!("{what} a packet{known}"),
            _ => format!("{what} {count} packets{known}"),
        });
        // The next file's first packet follows these.
        let known = self.before.unwrap_or(Before { end: None, discarded: None, sequence: None, file: self.next_file });
        self.before = Some(Before { sequence: last.sequence.or(known.sequence), ..known });
    }

    fn told(&self, path: &Path, shared: &mut Shared) -> io::Result<Told> {
        let mut told = Told::default();
        let Some(mut index) = index::open(path)? else { return Ok(told) };
        while let Some(packet) = index.next_packet()? {
            told.end = packet.next;
            let opened = self.opened.is_some_and(|opened| packet.offset <= opened);
            if opened || self.before.is_some_and(|before| before.has(packet.sequence, Some(packet.end))) {
                continue;
            }
            let (count, first) = told.lacking.map_or((0, packet), |(count, first, _)| (count, first));
            told.lacking = Some((count + 1, first, packet));
        }
        if let Some(fault) = index.fault {
            let path = index::path_of(path).unwrap_or_else(|| path.to_path_buf());
            shared
                .problems
                .add("index-damaged", &path, fault.offset, || format!("{}; it is not read further", fault.text));
        }
        Ok(told)
    }

    /// Compares a packet's counters with those of the previous one; returns the events that were lost.
    pub(super) fn count_lost(
        &mut self,
        packet: &Packet,
        trace: &Trace,
        path: &Path,
        offset: u64,
        shared: &mut Shared,
    ) -> u64 {
        let mut lost_here = 0;
        let begin = packet.begin.unwrap_or(0);
        let to = trace.time(packet.end.unwrap_or(begin));
        let from = trace.time(self.before.and_then(|b| b.end).unwrap_or(begin)).min(to);
        let mut gap =
            |cause, from: Time, to| shared.gaps.add(Gap { cause, events: None, from, to, stream: self.index });
        let unread = self.unread.take();
        match packet.sequence.zip(self.before.map_or(Some(None), |before| before.sequence.map(Some))) {
            // Nothing is lacking before the first packet, nor between consecutive packets.
            Some((0, None)) => {}
            Some((sequence, Some(before))) if sequence <= before.wrapping_add(1) => {}
            Some((sequence, Some(before))) => {
                gap(Cause::PacketsMissing, from, trace.time(begin).max(from));
                shared
                    .problems
                    .add("packets-missing", path, offset, || format!("packet {sequence} follows packet {before}"));
            }
            // Without such a number, only skipped bytes show that packets are lacking, because a snapshot does not
            // begin with the first packet.
            Some((_, None)) | None => {
                if let Some(unread) = unread {
                    gap(unread.cause, unread.from, trace.time(begin).max(unread.from));
                }
            }
        }
        if let Some((count, bits)) = packet.discarded {
            // If the first packets of a stream are not in the trace (a snapshot), its earlier losses are unknown.
            let known = match self.before {
                Some(before) => before.discarded,
                None => (packet.sequence.unwrap_or(0) == 0).then_some(0),
            };
            let unused = 64 - bits.clamp(1, 64);
            match known.map(|known| count.wrapping_sub(known) << unused >> unused) {
                None | Some(0) => {}
                Some(lost) if lost > u64::MAX >> unused >> 1 => {
                    shared.problems.add("discard-count-turned-back", path, offset, || {
                        format!("{count} events, after {} in the packet before", known.unwrap_or(0))
                    })
                }
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
