//! What a thread did while a message waited for it.

use crate::observe::Observed;
use crate::rows::far_apart;
use crate::rows::grouped::Grouped;

/// Outermost executions of each thread, so that the busy part of any interval is two look-ups.
pub(crate) struct Busy {
    /// Of each thread start and end of each execution, and the busy time before it.
    spans: Grouped<(i64, i64, i64)>,
}

/// The time from a publish call to the start of the callback, divided; the three add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// When the message was there, where the events tell.
    pub arrival: Option<i64>,
    /// How that is known.
    pub evidence: Arrival,
    pub transport: i64,
    pub alignment: i64,
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
                "arrival inferred: time in other callbacks is queueing, in the executor's wait transport, the rest alignment"
            }
            Arrival::Unknown => "arrival unknown: alignment is part of transport",
        }
    }
}

impl Busy {
    pub fn new(seen: &Observed) -> Busy {
        let threads = || (0..).zip(&seen.streams);
        Busy { spans: Grouped::new(seen.streams.len(), || threads().flat_map(|(index, stream)| spans(seen, index, &stream.executions))) }
    }

    /// Time that a thread spent inside callbacks between two instants.
    pub fn between(&self, stream: u32, from: i64, to: i64) -> i64 {
        let spans = self.spans.of(stream as usize);
        until(spans, to) - until(spans, from)
    }

    /// The outermost executions of a thread between two instants, each with its part of that time.
    pub fn executions(&self, seen: &Observed, stream: u32, from: i64, to: i64) -> Vec<(u32, i64, i64)> {
        let spans = self.spans.of(stream as usize);
        let first = spans.partition_point(|s| s.1 <= from);
        let rows = spans.iter().zip(&seen.streams[stream as usize].executions).skip(first);
        rows.take_while(|(span, _)| span.0 < to)
            .map(|(span, execution)| (*execution, span.0.max(from), span.1.min(to)))
            .collect()
    }
}

/// Spans of one thread with its number.
fn spans<'a>(seen: &'a Observed, stream: u32, executions: &'a [u32]) -> impl Iterator<Item = (u32, (i64, i64, i64))> + 'a {
    let mut before = 0i64;
    far_apart(executions.iter().enumerate()).map(move |(position, execution)| {
        let row = &seen.executions[*execution as usize];
        // One that never ended kept its thread until the next one began, or for good.
        let next = executions.get(position + 1).map(|n| seen.executions[*n as usize].start_ns);
        let end = row.end_ns.or(next).unwrap_or(i64::MAX).min(next.unwrap_or(i64::MAX));
        let span = (row.start_ns, end, before);
        before = before.saturating_add(end.saturating_sub(row.start_ns));
        (stream, span)
    })
}

/// Busy time of a thread before an instant.
fn until(spans: &[(i64, i64, i64)], instant: i64) -> i64 {
    match spans.partition_point(|s| s.0 <= instant).checked_sub(1) {
        Some(last) => {
            let (start, end, before) = spans[last];
            before + (instant.min(end) - start)
        }
        None => 0,
    }
}

/// A message on its way to a callback.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage {
    /// Thread of the callback, where there is one.
    pub stream: Option<u32>,
    pub published: i64,
    /// As recorded.
    pub arrival: Option<i64>,
    /// Whether arrivals of this subscription are recorded at all.
    pub records_arrivals: bool,
    pub taken: i64,
    /// Start of the callback.
    pub start: i64,
}

/// Divides the time from the publish call to the start of the callback.
pub(crate) fn split(seen: &Observed, busy: &Busy, passage: &Passage) -> Split {
    let Passage { stream, published, arrival, records_arrivals, taken, start } = *passage;
    let known = match arrival {
        Some(arrival) => Some((arrival, Arrival::Recorded)),
        None if records_arrivals => Some((taken, Arrival::AtTake)),
        None => stream.and_then(|s| woken(seen, s, published, start)).map(|wake| (wake, Arrival::Wake)),
    };
    let queueing = |from| stream.map_or(0, |s| busy.between(s, from, start));
    if let Some((arrival, evidence)) = known {
        let arrival = arrival.clamp(published, start);
        let queueing = queueing(arrival);
        let (transport, alignment) = (arrival - published, start - arrival - queueing);
        return Split { arrival: Some(arrival), evidence, transport, alignment, queueing };
    }
    let (whole, queueing) = (start - published, queueing(published));
    match stream.filter(|s| !seen.streams[*s as usize].waits.is_empty()) {
        Some(stream) => {
            let transport = waited(seen, stream, published, start);
            let alignment = whole - queueing - transport;
            Split { arrival: None, evidence: Arrival::Inferred, transport, alignment, queueing }
        }
        None => {
            Split { arrival: None, evidence: Arrival::Unknown, transport: whole - queueing, alignment: 0, queueing }
        }
    }
}

/// The end of the wait during which a message was published, if that was the last wait before its callback.
fn woken(seen: &Observed, stream: u32, published: i64, start: i64) -> Option<i64> {
    let waits = &seen.streams[stream as usize].waits;
    let (from, to) = *waits.get(waits.partition_point(|w| w.0 < start).checked_sub(1)?)?;
    (from <= published && published <= to && to <= start).then_some(to)
}

/// Time inside the executor's waits between two instants.
fn waited(seen: &Observed, stream: u32, from: i64, to: i64) -> i64 {
    let waits = &seen.streams[stream as usize].waits;
    let first = waits.partition_point(|w| w.1 <= from);
    waits[first..].iter().take_while(|w| w.0 < to).map(|w| w.1.min(to) - w.0.max(from)).sum()
}
