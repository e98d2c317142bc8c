//! Describes where a trace lacks events.

use std::collections::HashMap;
use std::fmt;
use tacho_events::Time;

/// Why events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The tracer's buffers were full; it counted the lost events.
    Discarded,
    /// Whole packets are not in the trace.
    PacketsMissing,
    /// A packet could not be read completely.
    Damaged,
    /// Nothing of a file could be read.
    Unreadable,
}

/// A period in which events of one stream are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Why.
    pub cause: Cause,
    /// Number of events, if known.
    pub events: Option<u64>,
    /// They lie after this time: the end of the previous packet, or the start of the stream; the least possible time if
    /// neither is known.
    pub from: Time,
    /// They lie at or before this time; the greatest possible time if it is not known.
    pub to: Time,
    /// Index into [`crate::Reader::stream_names`].
    pub stream: usize,
}

/// All gaps. Adjacent gaps of a stream are joined.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    pub found: Vec<Gap>,
    /// The last one of each stream and cause.
    last: HashMap<(usize, Cause), usize>,
}

impl Gaps {
    pub fn add(&mut self, gap: Gap) {
        let key = (gap.stream, gap.cause);
        if let Some(last) = self.last.get(&key).and_then(|index| self.found.get_mut(*index)) {
            if last.to == gap.from {
                last.to = gap.to;
                last.events = last.events.zip(gap.events).map(|(a, b)| a.saturating_add(b));
                return;
            }
        }
        self.last.insert(key, self.found.len());
        self.found.push(gap);
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Discarded => "lost by the tracer, whose buffers were full",
            Cause::PacketsMissing => "in packets that are not in the trace",
            Cause::Damaged => "in a packet that could not be read to its end",
            Cause::Unreadable => "in a file that could not be read",
        })
    }
}
