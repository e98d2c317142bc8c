//! Samples below rmw: when a writer handed one to its transport, when a process had received it whole, when a reader had it.
//!
//! A sample is its writer's gid and sequence number (DDSI-RTPS 2.5, section 8.3.5). Which publish call made it is told by the thread
//! that was inside that call when the DDS handed it over, else by writer and source timestamp.

use crate::observe::{Observed, INTERNAL};
use crate::rows::{far_apart, Rows};
use crate::rows::grouped::Grouped;
use std::collections::HashMap;
use tacho_events::{Gid, Payload};

/// Pieces of a sample that are kept track of; one in more pieces (of 64 KiB, 64 GiB) has no reception.
const FRAGMENTS_MAX: u64 = 1 << 20;
/// Sequence numbers of one notification.
const NOTIFIED_MAX: i64 = 4096;
/// RTPS counts 2^-32 s: its times of a publish call and rmw's differ by the rounding.
const ROUNDING_NS: i64 = 2;

/// All samples seen.
#[derive(Default)]
pub(crate) struct Dds {
    /// Numbers of writers.
    writers: HashMap<Gid, u32>,
    /// Of each writer: its samples' sequence numbers, ascending, and their numbers here.
    sequences: Vec<Vec<(i64, u32)>>,
    samples: Rows<Sample>,
    /// What came of each sample at processes and readers, each with the one before it.
    came: Rows<Came>,
    /// Numbers of readers.
    readers: HashMap<Gid, u32>,
    /// Pieces of samples on their way, by sample and the process that receives them.
    partial: HashMap<(u32, u32), Pieces>,
    /// By publication, [`NONE`] where there is none; filled by [`link`].
    of_publication: Rows<u32>,
}

/// No row.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Sample {
    writer: Gid,
    publication: Option<u32>,
    source_timestamp: i64,
    /// First handed to a transport.
    sent_ns: Option<i64>,
    /// Last of the processes that had it whole, row of [`Dds::came`].
    received: u32,
    /// Last of the readers that had it, row of [`Dds::came`].
    available: u32,
}

/// A sample reached a process, or a reader by its number.
#[derive(Clone, Copy)]
struct Came {
    to: u32,
    ns: i64,
    before: u32,
}

/// Which pieces of a sample came.
struct Pieces {
    missing: u64,
    /// A bit a piece.
    came: Vec<u64>,
}

/// What the DDS did with one message on its way to one subscription.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// First handed to a transport, wherever to.
    pub sent_ns: Option<i64>,
    /// Received whole by the subscription's process.
    pub received_ns: Option<i64>,
    /// There for the subscription's reader.
    pub available_ns: Option<i64>,
}

/// An event of the DDS: where it happened, and the publish call that its thread is inside.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub process: u32,
    pub publication: Option<u32>,
    pub now: i64,
}

/// Whether an event is one of the DDS below rmw.
pub(crate) fn is_below_rmw(payload: &Payload) -> bool {
    matches!(payload, Payload::DdsSend { .. } | Payload::DdsReceive { .. } | Payload::DdsDataAvailable { .. })
}

impl Observed {
    /// Takes an event of the DDS below rmw.
    pub fn below_rmw(&mut self, context: Context, payload: &Payload) {
        let Context { process, publication, now } = context;
        match *payload {
            Payload::DdsSend { writer, sequence, source_timestamp, .. } => {
                let publication = publication.filter(|p| self.wrote(*p, writer));
                let number = self.dds.number(writer, sequence);
                let sample = &mut self.dds.samples[number as usize];
                sample.stamp(source_timestamp);
                sample.publication = sample.publication.or(publication);
                sample.sent_ns.get_or_insert(now);
            }
            Payload::DdsReceive { writer, sequence, source_timestamp, first_fragment, fragments, of_fragments, .. } => {
                let number = self.dds.number(writer, sequence);
                let sample = &mut self.dds.samples[number as usize];
                sample.stamp(source_timestamp);
                let received = sample.received;
                if self.dds.came_to(received, process).is_none()
                    && self.dds.whole(number, process, first_fragment, fragments, of_fragments)
                {
                    self.dds.samples[number as usize].received = self.dds.add(process, now, received);
                }
            }
            Payload::DdsDataAvailable { reader, writer, first_sequence, last_sequence } => {
                let last = last_sequence.min(first_sequence.saturating_add(NOTIFIED_MAX - 1));
                // Within the process it is the publish call itself that tells the reader, of that call's message.
                let publication = publication.filter(|p| first_sequence == last && self.wrote(*p, writer));
                let next = self.dds.readers.len() as u32;
                let reader = *self.dds.readers.entry(reader).or_insert(next);
                for sequence in first_sequence..=last {
                    let number = self.dds.number(writer, sequence) as usize;
                    let sample = &mut self.dds.samples[number];
                    sample.publication = sample.publication.or(publication);
                    let available = sample.available;
                    if self.dds.came_to(available, reader).is_none() {
                        self.dds.samples[number].available = self.dds.add(reader, now, available);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a publish call is one of this writer. That of a plain DDS program has no rmw to tell its gid: it is told here.
    fn wrote(&mut self, publication: u32, writer: Gid) -> bool {
        let Some(endpoint) = self.publications[publication as usize].endpoint.filter(|e| *e != INTERNAL) else { return false };
        *self.endpoints[endpoint as usize].gid.get_or_insert(writer) == writer
    }
}

impl Sample {
    fn stamp(&mut self, source_timestamp: i64) {
        if self.source_timestamp == 0 {
            self.source_timestamp = source_timestamp;
        }
    }
}

impl Dds {
    /// Whether anything below rmw was recorded.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// The row of a sample, a new one where it is the first that is heard of it.
    fn number(&mut self, writer: Gid, sequence: i64) -> u32 {
        let next = self.sequences.len() as u32;
        let of = *self.writers.entry(writer).or_insert(next);
        if of == next {
            self.sequences.push(Vec::new());
        }
        let known = &mut self.sequences[of as usize];
        // Mostly the newest.
        let place = match known.last() {
            Some(last) if last.0 >= sequence => known.partition_point(|k| k.0 < sequence),
            _ => known.len(),
        };
        if let Some((_, number)) = known.get(place).filter(|k| k.0 == sequence) {
            return *number;
        }
        let number = self.samples.len() as u32;
        known.insert(place, (sequence, number));
        self.samples.push(Sample { writer, publication: None, source_timestamp: 0, sent_ns: None, received: NONE, available: NONE });
        number
    }

    /// When a sample came to a process or reader, from the last that it came to on.
    fn came_to(&self, mut last: u32, to: u32) -> Option<i64> {
        while last != NONE {
            let row = &self.came[last as usize];
            if row.to == to {
                return Some(row.ns);
            }
            last = row.before;
        }
        None
    }

    fn add(&mut self, to: u32, ns: i64, before: u32) -> u32 {
        self.came.push(Came { to, ns, before });
        self.came.len() as u32 - 1
    }

    /// Whether a process has all of a sample with these pieces of it.
    fn whole(&mut self, sample: u32, process: u32, first: u64, fragments: u64, of: u64) -> bool {
        if of == 0 || of > FRAGMENTS_MAX || first == 0 {
            return false;
        }
        if of == 1 {
            return true;
        }
        let key = (sample, process);
        let pieces = self.partial.entry(key).or_insert_with(|| Pieces { missing: of, came: vec![0; of.div_ceil(64) as usize] });
        for fragment in first - 1..(first - 1).saturating_add(fragments).min(of) {
            let (word, bit) = ((fragment / 64) as usize, 1 << (fragment % 64));
            if pieces.came.get(word).is_some_and(|word| word & bit == 0) {
                pieces.came[word] |= bit;
                pieces.missing = pieces.missing.saturating_sub(1); // pieces that disagree on how many there are
            }
        }
        let whole = pieces.missing == 0;
        if whole {
            self.partial.remove(&key);
        }
        whole
    }

    /// What happened to a publication on its way to a reader, which may not be known, in a process.
    pub fn passed(&self, publication: u32, from: u32, to: u32, reader: Option<Gid>) -> Passed {
        let Some(sample) = self.of_publication.get(publication as usize).filter(|s| **s != NONE) else {
            return Passed::default();
        };
        let sample = &self.samples[*sample as usize];
        let received_ns = self.came_to(sample.received, to);
        let available_ns = reader.and_then(|reader| self.came_to(sample.available, *self.readers.get(&reader)?));
        // Handed over inside its process, it may have been sent to others: that is not its way.
        let sent_ns = sample.sent_ns.filter(|_| received_ns.is_some() || from != to);
        Passed { sent_ns, received_ns, available_ns }
    }
}

/// Ties every sample to its publication, and gives takes without an arrival the moment at which their reader had the message.
pub(crate) fn link(seen: &mut Observed) {
    if seen.dds.is_empty() {
        return;
    }
    let writers: HashMap<Gid, u32> =
        seen.endpoints.iter().enumerate().filter_map(|(index, e)| Some((e.gid?, index as u32))).collect();
    let stamped = stamped(seen);
    let mut of_publication: Rows<u32> = std::iter::repeat_n(NONE, seen.publications.len()).collect();
    for (number, sample) in far_apart(seen.dds.samples.iter().enumerate()) {
        let by_stamp = || {
            let writer = *writers.get(&sample.writer)?;
            (sample.source_timestamp != 0).then(|| nearest(stamped.of(writer as usize), sample.source_timestamp))?
        };
        if let Some(publication) = sample.publication.or_else(by_stamp) {
            let of = &mut of_publication[publication as usize];
            if *of == NONE {
                *of = number as u32;
            }
        }
    }
    seen.dds.of_publication = of_publication;
    for index in far_apart(0..seen.takes.len()) {
        let take = &seen.takes[index];
        let Some(publication) = take.publication.filter(|_| take.arrival.is_none()) else { continue };
        let from = seen.publications[publication as usize].process;
        let endpoint = take.endpoint;
        let passed = seen.dds.passed(publication, from, seen.process_of(endpoint), seen.endpoints[endpoint as usize].gid);
        let published = seen.publications[publication as usize].time;
        let taken = seen.takes[index].time;
        seen.takes[index].arrival = passed.available_ns.filter(|a| *a >= published && *a <= taken);
    }
}

/// Source timestamp and number of each publication, ascending, by publisher.
fn stamped(seen: &Observed) -> Grouped<(i64, u32)> {
    let mut stamped = Grouped::new(seen.endpoints.len(), || {
        let with_stamp = seen.publications.iter().zip(0u32..).filter(|(p, _)| p.source_timestamp != 0);
        with_stamp.filter_map(|(p, row)| Some((p.endpoint.filter(|e| *e != INTERNAL)?, (p.source_timestamp, row))))
    });
    (0..stamped.groups()).for_each(|publisher| stamped.of_mut(publisher).sort_unstable());
    stamped
}

/// The one publication whose timestamp is this one but for the rounding.
fn nearest(times: &[(i64, u32)], stamp: i64) -> Option<u32> {
    let from = times.partition_point(|t| t.0 < stamp - ROUNDING_NS);
    let mut near = times[from..].iter().take_while(|t| t.0 <= stamp + ROUNDING_NS);
    let only = near.next()?;
    near.next().is_none().then_some(only.1)
}
