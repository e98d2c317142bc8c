//! What a thread did while a message waited for it.

use crate::chains::busy::Busy;
use crate::observe::Seen;
use tacho_tables::near::partition_near;
use tacho_tables::row::Row;
use tacho_tables::Callback;

/// The time from a publish call to the start of the callback, divided; the three add up to it, an absent one is part of
/// transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// When the message was there, where the events tell.
    pub arrival: Option<i64>,
    /// How that is known.
    pub evidence: Arrival,
    pub transport: i64,
    pub alignment: Option<i64>,
    pub queueing: i64,
}

/// How the arrival of a message is known, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Arrival {
    /// node_data_available, or the hand-over of an intra-process buffer.
    Recorded,
    /// Taken before its notification was recorded: there when it was taken.
    AtTake,
    /// The executor waited when it was published and woke for it.
    Wake,
    /// The executor did something else when it was published.
    Inferred,
    /// No events of an executor on that thread.
    Unknown,
}

impl Arrival {
    pub fn words(self) -> &'static str {
        match self {
            Arrival::Recorded | Arrival::AtTake => "arrival as recorded",
            Arrival::Wake => "arrival inferred: the executor's wake-up",
            Arrival::Inferred => {
                "arrival inferred: time in other callbacks is queueing, in the executor's wait transport, the rest \
                 alignment"
            }
            Arrival::Unknown => "arrival unknown: alignment is part of transport",
        }
    }
}

/// A message on its way to a callback.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage {
    /// Thread of the callback, where there is one.
    pub stream: Option<u32>,
    /// The callback that took it.
    pub callback: Option<Row<Callback>>,
    pub published: i64,
    /// As recorded.
    pub arrival: Option<i64>,
    /// Whether arrivals of this subscription are recorded at all.
    pub records_arrivals: bool,
    pub taken: i64,
    /// Start of the callback.
    pub start: i64,
}

/// Divides the time from the publish call to the start of the callback. `near`: where the look-up before ended in what
/// its thread ran; `near_waits`: in its waits.
pub(crate) fn split(seen: &Seen, busy: &Busy, passage: &Passage, near: &mut usize, near_waits: &mut usize) -> Split {
    let Passage { stream, callback, published, arrival, records_arrivals, taken, start } = *passage;
    let known = match arrival {
        Some(arrival) => Some((arrival, Arrival::Recorded)),
        None if records_arrivals => Some((taken, Arrival::AtTake)),
        None => stream.and_then(|s| woken(seen, s, (published, start), near_waits)).map(|wake| (wake, Arrival::Wake)),
    };
    let mut queueing = |from| stream.map_or(0, |s| busy.between(seen, (s, callback), (from, start), near));
    if let Some((arrival, evidence)) = known {
        let arrival = arrival.clamp(published, start);
        let queueing = queueing(arrival);
        let (transport, alignment) = (arrival - published, start - arrival - queueing);
        return Split { arrival: Some(arrival), evidence, transport, alignment: Some(alignment), queueing };
    }
    let (whole, queueing) = (start - published, queueing(published));
    match stream.filter(|s| !seen.streams[*s as usize].waits.is_empty()) {
        Some(stream) => {
            let transport = busy.waited(seen, stream, callback, published, start);
            let alignment = whole - queueing - transport;
            Split { arrival: None, evidence: Arrival::Inferred, transport, alignment: Some(alignment), queueing }
        }
        None => {
            Split { arrival: None, evidence: Arrival::Unknown, transport: whole - queueing, alignment: None, queueing }
        }
    }
}

/// The end of the wait during which a message was published, if that was the last wait before its callback.
fn woken(seen: &Seen, stream: u32, (published, start): (i64, i64), near: &mut usize) -> Option<i64> {
    let waits = &seen.streams[stream as usize].waits;
    let (from, to) = *waits.get(partition_near(waits, near, |w| w.0 < start).checked_sub(1)?)?;
    (from <= published && published <= to && to <= start).then_some(to)
}
