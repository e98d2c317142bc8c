//! Samples of the DDS to publications: what happened below rmw to a message on its way.

use crate::observe::dds::Dds;
use crate::observe::{PublicationSeen, Seen, INTERNAL};
use rustc_hash::FxHashMap as HashMap;
use tacho_events::Gid;
use tacho_tables::row::{rows_of, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::{Endpoint, Process};

/// RTPS counts 2^-32 s: its times of a publish call and rmw's differ by the rounding.
const ROUNDING_NS: i64 = 2;
/// No row.
const NONE: u32 = u32::MAX;

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

/// All samples, each by the publication that it is of.
#[derive(Default)]
pub(crate) struct Samples {
    dds: Dds,
    /// By publication, [`NONE`] where there is none.
    of_publication: Rows<u32>,
}

impl Samples {
    /// What happened to a publication on its way to a reader, which may not be known, in a process.
    pub fn passed(
        &self,
        publication: Row<PublicationSeen>,
        from: Row<Process>,
        to: Row<Process>,
        reader: Option<Gid>,
    ) -> Passed {
        let Some(sample) = self.of_publication.get(publication.index()).filter(|s| **s != NONE) else {
            return Passed::default();
        };
        let sample = &self.dds.samples[*sample as usize];
        let received_ns = self.dds.came_to(sample.received, to.number());
        let available_ns =
            reader.and_then(|reader| self.dds.came_to(sample.available, *self.dds.readers.get(&reader)?));
        // Handed over inside its process, it may have been sent to others: that is not its way.
        let sent_ns = sample.sent_ns.filter(|_| received_ns.is_some() || from != to);
        Passed { sent_ns, received_ns, available_ns }
    }
}

/// Ties every sample to its publication, and gives takes without an arrival the moment at which their reader had the
/// message.
pub(super) fn link(seen: &mut Seen) -> Samples {
    let dds = std::mem::take(&mut seen.dds);
    if dds.is_empty() {
        return Samples::default();
    }
    let writers: HashMap<Gid, Row<Endpoint>> =
        seen.endpoints.numbered().filter_map(|(row, e)| Some((e.gid?, row))).collect();
    let stamped = stamped(seen);
    let mut of_publication: Rows<u32> = std::iter::repeat_n(NONE, seen.publications.len()).collect();
    for (number, sample) in dds.samples.iter().enumerate() {
        let by_stamp = || {
            let writer = *writers.get(&sample.writer)?;
            (sample.source_timestamp != 0).then(|| nearest(stamped.of(writer), sample.source_timestamp))?
        };
        if let Some(publication) = sample.publication.or_else(by_stamp) {
            let of = &mut of_publication[publication.index()];
            if *of == NONE {
                *of = number as u32;
            }
        }
    }
    let samples = Samples { dds, of_publication };
    for row in rows_of(&seen.takes) {
        let take = &seen.takes[row];
        let Some(publication) = take.publication.filter(|_| take.arrival.get().is_none()) else { continue };
        let from = seen.publications[publication].process;
        let endpoint = take.endpoint;
        let passed = samples.passed(publication, from, seen.process_of(endpoint), seen.endpoints[endpoint].gid);
        let published = seen.publications[publication].time;
        let taken = seen.takes[row].time;
        seen.takes[row].arrival = passed.available_ns.filter(|a| *a >= published && *a <= taken).into();
    }
    samples
}

/// Source timestamp and number of each publication, ascending, by publisher.
fn stamped(seen: &Seen) -> Grouped<Endpoint, (i64, Row<PublicationSeen>)> {
    let mut stamped = Grouped::new(seen.endpoints.len(), || {
        let with_stamp = seen.publications.numbered().filter(|(_, p)| p.source_timestamp != 0);
        with_stamp.filter_map(|(row, p)| Some((p.endpoint.filter(|e| *e != INTERNAL)?, (p.source_timestamp, row))))
    });
    seen.endpoints.rows().for_each(|publisher| stamped.of_mut(publisher).sort_unstable());
    stamped
}

/// The one publication whose timestamp is this one but for the rounding.
fn nearest(times: &[(i64, Row<PublicationSeen>)], stamp: i64) -> Option<Row<PublicationSeen>> {
    let from = times.partition_point(|t| t.0 < stamp - ROUNDING_NS);
    let mut near = times[from..].iter().take_while(|t| t.0 <= stamp + ROUNDING_NS);
    let only = near.next()?;
    near.next().is_none().then_some(only.1)
}
