//! Samples below rmw: when a writer handed one to its transport, when a process had received it whole, when a reader
//! had it.
//!
//! A sample is its writer's gid and sequence number (DDSI-RTPS 2.5, section 8.3.5). Which publish call made it is told
//! by the thread that was inside that call when the DDS handed it over, else by writer and source timestamp.

use crate::observe::{PublicationSeen, Seen, INTERNAL};
use rustc_hash::FxHashMap as HashMap;
use tacho_events::{Gid, Payload};
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::Process;

/// Pieces of a sample that are kept track of; one in more pieces (of 64 KiB, 64 GiB) has no reception.
const FRAGMENTS_MAX: u64 = 1 << 20;
/// Sequence numbers of one notification.
const NOTIFIED_MAX: i64 = 4096;

/// All samples seen.
#[derive(Default)]
pub(crate) struct Dds {
    /// Numbers of writers.
    writers: HashMap<Gid, u32>,
    /// Of each writer: its samples' sequence numbers, ascending, and their numbers here.
    sequences: Vec<Vec<(i64, u32)>>,
    pub samples: Rows<Sample>,
    /// What came of each sample at processes and readers, each with the one before it.
    came: Rows<Came>,
    /// Numbers of readers.
    pub readers: HashMap<Gid, u32>,
    /// Pieces of samples on their way, by sample and the process that receives them.
    partial: HashMap<(u32, Row<Process>), Pieces>,
}

/// No row.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub writer: Gid,
    pub publication: Option<Row<PublicationSeen>>,
    pub source_timestamp: i64,
    /// First handed to a transport.
    pub sent_ns: Option<i64>,
    /// Last of the processes that had it whole, row of [`Dds::came`].
    pub received: u32,
    /// Last of the readers that had it, row of [`Dds::came`].
    pub available: u32,
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

/// An event of the DDS: where it happened, and the publish call that its thread is inside.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub process: Row<Process>,
    pub publication: Option<Row<PublicationSeen>>,
    pub now: i64,
}

/// Whether an event is one of the DDS below rmw.
pub(crate) fn is_below_rmw(payload: &Payload) -> bool {
    matches!(payload, Payload::DdsSend { .. } | Payload::DdsReceive { .. } | Payload::DdsDataAvailable { .. })
}

impl Seen {
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
            Payload::DdsReceive {
                writer, sequence, source_timestamp, first_fragment, fragments, of_fragments, ..
            } => {
                let number = self.dds.number(writer, sequence);
                let sample = &mut self.dds.samples[number as usize];
                sample.stamp(source_timestamp);
                let received = sample.received;
                if self.dds.came_to(received, process.number()).is_none()
                    && self.dds.whole(number, process, first_fragment, fragments, of_fragments)
                {
                    self.dds.samples[number as usize].received = self.dds.add(process.number(), now, received);
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

    /// Whether a publish call is one of this writer. That of a plain DDS program has no rmw to tell its gid: it is told
    /// here.
    fn wrote(&mut self, publication: Row<PublicationSeen>, writer: Gid) -> bool {
        let Some(endpoint) = self.publications[publication].endpoint.filter(|e| *e != INTERNAL) else {
            return false;
        };
        *self.endpoints[endpoint].gid.get_or_insert(writer) == writer
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
        self.samples.push(Sample {
            writer,
            publication: None,
            source_timestamp: 0,
            sent_ns: None,
            received: NONE,
            available: NONE,
        });
        number
    }

    /// When a sample came to a process or reader, from the last that it came to on.
    pub fn came_to(&self, mut last: u32, to: u32) -> Option<i64> {
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
    fn whole(&mut self, sample: u32, process: Row<Process>, first: u64, fragments: u64, of: u64) -> bool {
        if of == 0 || of > FRAGMENTS_MAX || first == 0 {
            return false;
        }
        if of == 1 {
            return true;
        }
        let key = (sample, process);
        let pieces =
            self.partial.entry(key).or_insert_with(|| Pieces { missing: of, came: vec![0; of.div_ceil(64) as usize] });
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
}
