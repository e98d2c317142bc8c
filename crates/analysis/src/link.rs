//! Publications to takes, over processes; arrivals to takes.

pub(crate) mod clock_offset;
pub(crate) mod clocks;
mod copies;
mod dds;
mod doubt;
mod due;
pub(crate) mod endpoints;
pub(crate) mod fate;
pub(crate) mod layers;
mod lost;
mod messages;
pub mod promise;
pub mod queue;
pub(crate) mod refused;
pub(crate) mod ros1;
pub(crate) mod start_up;
pub(crate) mod starved;
pub mod udpros;
mod unstamped;

pub(crate) use doubt::Doubts;
pub(crate) use messages::{messages, Messages};

use crate::observe::ros1::Ros1;
use crate::observe::serving::Ended;
use crate::observe::{PublicationSeen, Seen, TakeSeen, Topic, INTERNAL};
use crate::Options;
use clocks::Sighting;
use tacho_tables::in_order::in_order;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::{Endpoint, EndpointKind, Note};
use unstamped::{First, Unstamped, Votes};

/// A topic's publications and subscriptions.
#[derive(Default, Clone)]
pub(crate) struct OfTopic {
    pub publishers: Vec<Row<Endpoint>>,
    pub subscriptions: Vec<Row<Endpoint>>,
    /// In order.
    pub publications: Rows<Row<PublicationSeen>>,
}

/// Publications of takes, and what else linking found out.
pub(crate) struct Matched {
    pub by_topic: Column<Topic, OfTopic>,
    pub doubts: Doubts,
    pub ros1: ros1::Found,
    pub notes: Vec<Note>,
    /// Takes by subscription, in order.
    takes: Grouped<Endpoint, Row<TakeSeen>>,
    samples: dds::Samples,
}

/// No row.
const NONE: Row<PublicationSeen> = Row::LAST;

/// Publications of all takes, whatever the clocks say.
struct Found {
    topics: Column<Topic, OfTopic>,
    /// By take; [`NONE`] where there is none.
    publications: Rows<Row<PublicationSeen>>,
    takes: Grouped<Endpoint, Row<TakeSeen>>,
    ambiguous: u64,
    /// Takes whose stamps could be of either of two messages: the run does not show whether events or stamps come
    /// first.
    of_unknown_order: u64,
}

fn find(seen: &Seen, options: &Options) -> Found {
    let mut topics = Column::of(vec![OfTopic::default(); seen.topics.names.len()]);
    for (row, endpoint) in seen.endpoints.numbered() {
        let topic: &mut OfTopic = &mut topics[endpoint.topic];
        match endpoint.kind {
            EndpointKind::Publisher => topic.publishers.push(row),
            EndpointKind::Subscription => topic.subscriptions.push(row),
        }
    }
    for (row, publication) in seen.publications.numbered() {
        if let Some(endpoint) = publication.endpoint.filter(|e| *e != INTERNAL) {
            topics[seen.topic_of(endpoint)].publications.push(row);
        }
    }
    let takes = by_endpoint(seen);
    let mut publications: Rows<Row<PublicationSeen>> = std::iter::repeat_n(NONE, seen.takes.len()).collect();
    let mut ambiguous = 0;
    // Gone through once for all topics: those of one lie all over the table.
    let sent = Grouped::new(topics.len(), || {
        let named =
            seen.publications.numbered().filter_map(|(row, p)| Some((p.endpoint.filter(|e| *e != INTERNAL)?, p, row)));
        named.map(|(endpoint, p, row)| {
            (seen.topic_of(endpoint), Sent { row, id: p.id, stamp: p.source_timestamp, rmw_ns: p.rmw_ns.get() })
        })
    });
    let taken = Grouped::new(topics.len(), || {
        let told = |take: &TakeSeen, row| Taken {
            row,
            publication: take.publication,
            id: take.id,
            stamp: take.source_timestamp,
        };
        seen.takes.numbered().map(move |(row, take)| (seen.topic_of(take.endpoint), told(take, row)))
    });
    let first = first(&sent, &taken, seen, options);
    let mut of_unknown_order = 0;
    let of_topic = |topic: Row<Topic>| {
        let published = Published::new(sent.of(topic));
        let mut doubts = Unlinked::default();
        let own = || taken.of(topic).iter();
        let found = own().filter_map(|take| Some((take.row, published.of(seen, take, options, first, &mut doubts)?)));
        let mut found: Rows<(Row<TakeSeen>, Row<PublicationSeen>)> = found.collect();
        if first.is_some() && !published.unstamped.0.is_empty() {
            let mut takes = own();
            let stamp_of = |row: Row<TakeSeen>| takes.find(|take| take.row == row).map_or(0, |take| take.stamp);
            let several = unstamped::with_several_stamps(found.iter().copied(), stamp_of);
            let before = found.len();
            found = found.into_iter().filter(|(_, publication)| !several.contains(publication)).collect();
            doubts.ambiguous += (before - found.len()) as u64;
        }
        (found, doubts)
    };
    in_order(topics.rows(), of_topic, |(found, doubts)| {
        found.into_iter().for_each(|(take, publication)| publications[take.index()] = publication);
        ambiguous += doubts.ambiguous;
        of_unknown_order += doubts.of_unknown_order;
    });
    Found { topics, publications, takes, ambiguous, of_unknown_order }
}

/// Takes that were not linked because two publications may be theirs.
#[derive(Default)]
struct Unlinked {
    ambiguous: u64,
    of_unknown_order: u64,
}

/// Whether rmw_publish or the stamp comes first, of publications without a stamp; `None`: the run does not show it, or
/// has none of them.
fn first(sent: &Grouped<Topic, Sent>, taken: &Grouped<Topic, Taken>, seen: &Seen, options: &Options) -> Option<First> {
    let mut votes = Votes::default();
    let of_topic = |topic: Row<Topic>| {
        let mut votes = Votes::default();
        let is_of_older_release =
            sent.of(topic).iter().any(|sent| sent.id.is_none() && sent.stamp == 0 && sent.rmw_ns.is_some());
        if !is_of_older_release {
            return votes;
        }
        let published = Published::new(sent.of(topic));
        let stamps = taken.of(topic).iter().filter(|take| !published.names(take));
        let times = stamps.filter_map(|take| options.monotonic_ns(take.stamp));
        times.filter(|time| !seen.lacks(*time, *time)).for_each(|time| votes.add(&published.unstamped, time));
        votes
    };
    in_order(seen.topics.names.rows(), of_topic, |of_topic| votes = votes.and(of_topic));
    votes.decision()
}

/// Takes of each endpoint, in order.
fn by_endpoint(seen: &Seen) -> Grouped<Endpoint, Row<TakeSeen>> {
    Grouped::new(seen.endpoints.len(), || seen.takes.numbered().map(|(row, take)| (take.endpoint, row)))
}

/// What tells a publication from others of its topic.
#[derive(Clone, Copy, Default)]
struct Sent {
    row: Row<PublicationSeen>,
    id: Option<(u64, u64)>,
    stamp: i64,
    rmw_ns: Option<i64>,
}

/// What a take tells of its publication.
#[derive(Clone, Copy, Default)]
struct Taken {
    row: Row<TakeSeen>,
    publication: Option<Row<PublicationSeen>>,
    id: Option<(u64, u64)>,
    stamp: i64,
}

/// Publications of one topic, by what a take may tell of them.
struct Published {
    by_id: Rows<((u64, u64), Row<PublicationSeen>)>,
    /// By source timestamp, in order.
    by_stamp: Rows<(i64, Row<PublicationSeen>)>,
    /// Those that carry no timestamp.
    unstamped: Unstamped,
}

impl Published {
    fn new(sent: &[Sent]) -> Published {
        let (mut by_id, mut by_stamp, mut unstamped) = (Rows::new(), Rows::new(), Rows::new());
        for Sent { row, id, stamp, rmw_ns } in sent.iter().copied() {
            by_id.extend(id.map(|id| (id, row)));
            match stamp {
                // tracetools before Jazzy: by the time of rmw_publish.
                0 => unstamped.extend(rmw_ns.map(|ns| (ns, row))),
                _ => by_stamp.push((stamp, row)),
            }
        }
        let unstamped = Unstamped(unstamped.sorted_by(Ord::cmp));
        Published { by_id: by_id.sorted_by(Ord::cmp), by_stamp: by_stamp.sorted_by(Ord::cmp), unstamped }
    }

    /// Whether a take names its publication, by itself or by a stamp that a publication carries.
    fn names(&self, take: &Taken) -> bool {
        let first = self.by_stamp.partition_point(|of| of.0 < take.stamp);
        take.publication.is_some()
            || take.id.is_some()
            || take.stamp == 0
            || self.by_stamp.get(first).is_some_and(|of| of.0 == take.stamp)
    }

    fn of(
        &self,
        seen: &Seen,
        take: &Taken,
        options: &Options,
        first: Option<First>,
        doubts: &mut Unlinked,
    ) -> Option<Row<PublicationSeen>> {
        let of_id = || {
            let id = take.id?;
            let last = self.by_id.partition_point(|of| of.0 <= id).checked_sub(1)?;
            Some(self.by_id[last]).filter(|of| of.0 == id).map(|of| of.1)
        };
        take.publication.or_else(of_id).or_else(|| {
            let stamp = take.stamp;
            if stamp == 0 {
                return None;
            }
            let from = self.by_stamp.partition_point(|of| of.0 < stamp);
            let mut same = self.by_stamp[from..].iter().take_while(|of| of.0 == stamp);
            match (same.next(), same.next()) {
                (Some(found), None) => Some(found.1),
                (Some(_), Some(_)) => {
                    doubts.ambiguous += 1;
                    None
                }
                (None, _) if self.unstamped.0.is_empty() => None,
                (None, _) => {
                    let stamp = options.monotonic_ns(stamp)?;
                    let Some(first) = first else {
                        doubts.of_unknown_order += 1;
                        return None;
                    };
                    let (time, publication) = self.unstamped.of(stamp, first, options.clock_error_ns)?;
                    // Its own may be among events that were lost.
                    (!seen.lacks(stamp.min(time), stamp.max(time))).then_some(publication)
                }
            }
        })
    }
}

/// Messages from one process to another, on the clocks of both.
pub(crate) fn sightings(seen: &Seen, options: &Options) -> Vec<Sighting> {
    let found = find(seen, options).publications;
    let sighting = |(take, publication): (&TakeSeen, Row<PublicationSeen>)| {
        let publication = seen.publications.get(publication.index())?;
        let (from, to) = (publication.process, seen.process_of(take.endpoint));
        Some(Sighting { from, to, sent_ns: publication.time, received_ns: take.time })
    };
    seen.takes.iter().zip(found).filter_map(sighting).collect()
}

/// Gives every take its publication and its arrival. Takes that cannot have one keep `None`.
pub(crate) fn link(seen: &mut Seen, of_ros1: &Ros1, ended: &Ended, options: &Options) -> Matched {
    let mut ros1 = ros1::link(of_ros1, seen);
    let Found { mut topics, publications, mut takes, ambiguous, of_unknown_order } = find(seen, options);
    let (mut backwards, mut unrelated) = (0, 0);
    for (take, found) in publications.into_iter().enumerate() {
        let take: Row<TakeSeen> = Row::behind(take);
        let row = &seen.takes[take];
        let (taken_at, process) =
            (row.first_line.get().unwrap_or(row.time).max(row.time), seen.process_of(row.endpoint));
        let possible = |p: &Row<PublicationSeen>| {
            let publication = &seen.publications[*p];
            let related = seen.related(publication.process, process);
            let error = seen.clock_error_ns(publication.process) + seen.clock_error_ns(process);
            let possible = publication.time <= taken_at + error;
            unrelated += u64::from(!related);
            backwards += u64::from(related && !possible);
            related && possible
        };
        seen.takes[take].publication = Some(found).filter(|found| *found != NONE).filter(possible);
    }
    if copies::drop(seen, &mut ros1) {
        takes = by_endpoint(seen);
    }
    // Corrected times of several hosts do not stand in the order in which they were read.
    let mut before = i64::MIN;
    let stand_in_order = seen.publications.iter().all(|p| std::mem::replace(&mut before, p.time) <= p.time);
    for topic in topics.iter_mut().filter(|_| !stand_in_order) {
        let timed: Rows<(i64, Row<PublicationSeen>)> =
            topic.publications.iter().map(|p| (seen.publications[*p].time, *p)).collect();
        topic.publications = timed.sorted_by(|a, b| a.0.cmp(&b.0)).into_iter().map(|of| of.1).collect();
    }
    set_arrivals(seen, &takes);
    let doubts = Doubts::find(seen, ended, &topics, &takes);
    let mut notes = doubts.notes(seen);
    if backwards > 0 {
        let text = "messages that seem taken before they were published: the clocks' error is larger than their \
                    latency; not linked";
        notes.push(Note { name: "negative-latency".into(), count: backwards, text: text.into() });
    }
    if ambiguous > 0 {
        let text = "messages that two publications of their topic may be: they share a source timestamp, or lie \
                    closer together than events tell apart; not linked";
        notes.push(Note { name: "ambiguous-timestamp".into(), count: ambiguous, text: text.into() });
    }
    if of_unknown_order > 0 {
        let text = "messages of a release before Jazzy whose source timestamps lie as near to one rmw_publish as to \
                    the next: which is theirs is not known; not linked";
        notes.push(Note { name: "order-of-timestamps-unknown".into(), count: of_unknown_order, text: text.into() });
    }
    if unrelated > 0 {
        let text = "messages between hosts whose clocks are not related, as messages did not go both ways: no \
                    latency, no loss, no chain between them";
        notes.push(Note { name: "clocks-not-related".into(), count: unrelated, text: text.into() });
    }
    let samples = dds::link(seen);
    Matched { by_topic: topics, doubts, ros1, notes, takes, samples }
}

/// node_data_available to takes: a subscription's queue is first in, first out, so both stand in one order. A
/// notification may cover several messages, and messages that a queue overwrote had theirs.
fn set_arrivals(seen: &mut Seen, takes: &Grouped<Endpoint, Row<TakeSeen>>) {
    for (subscription, endpoint) in seen.endpoints.numbered().filter(|(_, endpoint)| !endpoint.arrivals.is_empty()) {
        let arrivals = &endpoint.arrivals;
        let (mut next, mut before) = (0, None);
        for take in takes.of(subscription).iter().copied() {
            let Some(publication) = seen.takes[take].publication else { continue };
            let published = seen.publications[publication].time;
            while arrivals.get(next).is_some_and(|a| *a < published) {
                next += 1;
            }
            let taken = seen.takes[take].time;
            let own = arrivals.get(next).copied().filter(|a| *a <= taken);
            if own.is_some() {
                next += 1;
                before = own;
            }
            seen.takes[take].arrival = own.or(before.filter(|a| *a >= published && *a <= taken)).into();
        }
    }
}
