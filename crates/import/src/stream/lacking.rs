//! What a stream lacks: by the counters of its packets, by the index of its files, by bytes that are no packet.

use super::{Shared, Stream, StreamFile};
use crate::gap::{Cause, Gap};
use crate::index::{self, Indexed};
use crate::packet::Packet;
use crate::trace::Trace;
use crate::window::Bytes;
use std::io;
use std::path::Path;
use tacho_events::Time;

/// The packet that was read last, in this or the file before.
#[derive(Clone, Copy)]
pub(super) struct Before {
    pub end: Option<u64>,
    discarded: Option<u64>,
    sequence: Option<u64>,
    /// Number of its file.
    pub file: usize,
}

impl Before {
    /// Whether a packet of this number and end was read up to here already.
    pub fn has(&self, sequence: Option<u64>, end: Option<u64>) -> bool {
        let no_later = |one: Option<u64>, other: Option<u64>| one.zip(other).is_some_and(|(one, other)| one <= other);
        no_later(sequence, self.sequence) && no_later(end, self.end)
    }

    /// Whether it comes after a packet of this number.
    pub fn is_behind(&self, sequence: Option<u64>) -> bool {
        sequence.zip(self.sequence).is_some_and(|(sequence, own)| sequence < own)
    }
}

/// Bytes that were stepped over, since no packet begins there that can be read.
#[derive(Clone, Copy)]
pub(super) struct Unread {
    /// What they may tell of lies after this.
    from: Time,
    /// Offset of the last of them that are known.
    offset: u64,
    cause: Cause,
}

/// What an index tells of a file.
#[derive(Default)]
struct Told {
    /// Packets that neither the file nor one before it holds: how many, the first and the last.
    lacking: Option<(u64, Indexed, Indexed)>,
    /// Where the last packet ends that it tells of.
    end: u64,
}

impl Stream {
    /// Bytes at `offset` could not be read as a packet: what they tell of lies between the packet before and the next.
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

    /// At the end of all: what was stepped over last may tell of all the time since.
    pub(super) fn end_unread(&mut self, shared: &mut Shared) {
        if let Some(Unread { from, cause, .. }) = self.unread.take() {
            let to = Time::from_monotonic_ns(i64::MAX);
            shared.gaps.add(Gap { cause, events: None, from, to, stream: self.index });
        }
    }

    /// At the end of a file, which has `length` bytes that can be read: the packets that its index knows behind the
    /// last one that was opened are not in the trace, unless a file had them that was read before.
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
        // What was stepped over within these packets is lacking, or not needed.
        self.unread = self.unread.filter(|unread| unread.offset >= told.end);
        let Some((count, first, last)) = told.lacking else { return };
        let known = if self.opened.is_some() { " that its index tells of" } else { "" };
        let from = trace.time(first.begin);
        shared.gaps.add(Gap {
            cause: Cause::PacketsMissing,
            events: None,
            from,
            to: trace.time(last.end).max(from),
            stream: self.index,
        });
        let what = match self.opened {
            _ if matches!(file.bytes, Bytes::Lacking) => "there is no such file, but its index, which tells of",
            None => "nothing of it could be read, and its index tells of",
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

    /// Compares a packet's counters with those of the one before; gives the events that were lost.
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
            // Nothing is lacking before the first, nor between one and the next.
            Some((0, None)) => {}
            Some((sequence, Some(before))) if sequence <= before.wrapping_add(1) => {}
            Some((sequence, Some(before))) => {
                gap(Cause::PacketsMissing, from, trace.time(begin).max(from));
                shared
                    .problems
                    .add("packets-missing", path, offset, || format!("packet {sequence} follows packet {before}"));
            }
            // Without such a number only what was stepped over tells that something is; a snapshot does not begin with
            // the first.
            Some((_, None)) | None => {
                if let Some(unread) = unread {
                    gap(unread.cause, unread.from, trace.time(begin).max(unread.from));
                }
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
