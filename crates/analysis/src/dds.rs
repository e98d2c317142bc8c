//! Samples below rmw: when a writer handed one to its transport, when a process had received it whole, when a reader had it.
//!
//! A sample is its writer's gid and sequence number (DDSI-RTPS 2.5, section 8.3.5). Which publish call made it is told by the thread
//! that was inside that call when the DDS handed it over, else by writer and source timestamp.

use crate::observed::{Observed, PublicationSeen, INTERNAL};
use std::collections::hash_map::Entry;
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
    numbers: HashMap<(Gid, i64), u32>,
    samples: Vec<Sample>,
    /// Pieces of samples on their way, by sample and the process that receives them.
    partial: HashMap<(u32, u32), Pieces>,
    /// By publication; filled by [`Dds::link`].
    of_publication: HashMap<u32, u32>,
}

#[derive(Default)]
struct Sample {
    writer: Gid,
    publication: Option<u32>,
    source_timestamp: i64,
    /// First handed to a transport.
    sent_ns: Option<i64>,
    /// Process, and when it had the whole sample.
    received: Vec<(u32, i64)>,
    /// Reader, and when it had the sample.
    available: Vec<(Gid, i64)>,
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
                let sample = self.dds.sample(writer, sequence);
                sample.stamp(source_timestamp);
                sample.publication = sample.publication.or(publication);
                sample.sent_ns.get_or_insert(now);
            }
            Payload::DdsReceive { writer, sequence, source_timestamp, first_fragment, fragments, of_fragments, .. } => {
                let sample = self.dds.sample(writer, sequence);
                sample.stamp(source_timestamp);
                if !sample.received.iter().any(|r| r.0 == process)
                    && self.dds.whole(writer, sequence, process, first_fragment, fragments, of_fragments)
                {
                    self.dds.sample(writer, sequence).received.push((process, now));
                }
            }
            Payload::DdsDataAvailable { reader, writer, first_sequence, last_sequence } => {
                let last = last_sequence.min(first_sequence.saturating_add(NOTIFIED_MAX - 1));
                // Within the process it is the publish call itself that tells the reader, of that call's message.
                let publication = publication.filter(|p| first_sequence == last && self.wrote(*p, writer));
                for sequence in first_sequence..=last {
                    let sample = self.dds.sample(writer, sequence);
                    sample.publication = sample.publication.or(publication);
                    if !sample.available.iter().any(|known| known.0 == reader) {
                        sample.available.push((reader, now));
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

    fn sample(&mut self, writer: Gid, sequence: i64) -> &mut Sample {
        let next = self.samples.len() as u32;
        let number = match self.numbers.entry((writer, sequence)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.samples.push(Sample { writer, ..Sample::default() });
                *new.insert(next)
            }
        };
        &mut self.samples[number as usize]
    }

    /// Whether a process has all of a sample with these pieces of it.
    fn whole(&mut self, writer: Gid, sequence: i64, process: u32, first: u64, fragments: u64, of: u64) -> bool {
        if of == 0 || of > FRAGMENTS_MAX || first == 0 {
            return false;
        }
        if of == 1 {
            return true;
        }
        let key = (self.numbers[&(writer, sequence)], process);
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
        let Some(sample) = self.of_publication.get(&publication).map(|s| &self.samples[*s as usize]) else {
            return Passed::default();
        };
        let received_ns = sample.received.iter().find(|r| r.0 == to).map(|r| r.1);
        let available = sample.available.iter().find(|a| Some(a.0) == reader);
        // Handed over inside its process, it may have been sent to others: that is not its way.
        let sent_ns = sample.sent_ns.filter(|_| received_ns.is_some() || from != to);
        Passed { sent_ns, received_ns, available_ns: available.map(|a| a.1) }
    }
}

/// Ties every sample to its publication, and gives takes without an arrival the moment at which their reader had the message.
pub(crate) fn link(seen: &mut Observed) {
    if seen.dds.is_empty() {
        return;
    }
    let writers: HashMap<Gid, u32> =
        seen.endpoints.iter().enumerate().filter_map(|(index, e)| Some((e.gid?, index as u32))).collect();
    let stamped = stamped(&seen.publications);
    let mut of_publication = HashMap::new();
    for (number, sample) in seen.dds.samples.iter().enumerate() {
        let by_stamp = || {
            let writer = *writers.get(&sample.writer)?;
            let times = stamped.get(&writer).filter(|_| sample.source_timestamp != 0)?;
            nearest(times, sample.source_timestamp)
        };
        if let Some(publication) = sample.publication.or_else(by_stamp) {
            of_publication.entry(publication).or_insert(number as u32);
        }
    }
    seen.dds.of_publication = of_publication;
    for index in 0..seen.takes.len() {
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
fn stamped(publications: &[PublicationSeen]) -> HashMap<u32, Vec<(i64, u32)>> {
    let mut by_publisher: HashMap<u32, Vec<(i64, u32)>> = HashMap::new();
    for (index, publication) in publications.iter().enumerate() {
        if let (Some(endpoint), true) = (publication.endpoint, publication.source_timestamp != 0) {
            by_publisher.entry(endpoint).or_default().push((publication.source_timestamp, index as u32));
        }
    }
    by_publisher.values_mut().for_each(|times| times.sort_unstable());
    by_publisher
}

/// The one publication whose timestamp is this one but for the rounding.
fn nearest(times: &[(i64, u32)], stamp: i64) -> Option<u32> {
    let from = times.partition_point(|t| t.0 < stamp - ROUNDING_NS);
    let mut near = times[from..].iter().take_while(|t| t.0 <= stamp + ROUNDING_NS);
    let only = near.next()?;
    near.next().is_none().then_some(only.1)
}
