//! Publications to takes, over processes; arrivals to takes.

pub(crate) mod actions;
pub(crate) mod calls;
pub(crate) mod clock_offset;
pub(crate) mod clocks;
mod copies;
mod doubt;
pub(crate) mod due;
pub(crate) mod fate;
pub(crate) mod layers;
mod lost;
mod messages;
pub(crate) mod promise;
pub(crate) mod queue;
pub(crate) mod refused;
pub(crate) mod starved;
pub(crate) mod udpros;
mod unstamped;

pub(crate) use messages::{messages, Messages};

use clocks::Sighting;
use doubt::Doubts;
use crate::Options;
use crate::in_order::in_order;
use crate::observe::{Observed, TakeSeen, INTERNAL};
use crate::rows::{far_apart, Rows};
use crate::rows::grouped::Grouped;
use crate::tables::{EndpointKind, Note};
use unstamped::{First, Unstamped, Votes};

/// A topic's publications and subscriptions.
#[derive(Default, Clone)]
pub(crate) struct OfTopic {
    pub publishers: Vec<u32>,
    pub subscriptions: Vec<u32>,
    /// In order.
    pub publications: Rows<u32>,
}

pub(crate) struct Linked {
    /// By topic.
    pub topics: Vec<OfTopic>,
    pub notes: Vec<Note>,
    pub doubts: Doubts,
    /// By subscription, in order.
    takes: Grouped<u32>,
}

/// No row.
const NONE: u32 = u32::MAX;

/// Publications of all takes, whatever the clocks say.
struct Found {
    topics: Vec<OfTopic>,
    /// By take; [`NONE`] where there is none.
    publications: Rows<u32>,
    takes: Grouped<u32>,
    ambiguous: u64,
    /// Takes whose stamps could be of either of two messages: the run does not show whether events or stamps come first.
    of_unknown_order: u64,
}

fn find(seen: &Observed, options: &Options) -> Found {
    let mut topics = vec![OfTopic::default(); seen.topics.names.len()];
    for (index, endpoint) in seen.endpoints.iter().enumerate() {
        let topic = &mut topics[endpoint.topic as usize];
        match endpoint.kind {
            EndpointKind::Publisher => topic.publishers.push(index as u32),
            EndpointKind::Subscription => topic.subscriptions.push(index as u32),
        }
    }
    for (index, publication) in seen.publications.iter().enumerate() {
        if let Some(endpoint) = publication.endpoint.filter(|e| *e != INTERNAL) {
            topics[seen.topic_of(endpoint) as usize].publications.push(index as u32);
        }
    }
    let takes = by_endpoint(seen);
    let mut publications: Rows<u32> = std::iter::repeat_n(NONE, seen.takes.len()).collect();
    let mut ambiguous = 0;
    // Gone through once for all topics: those of one lie all over the table.
    let sent = Grouped::new(topics.len(), || {
        let named = seen.publications.iter().zip(0..).filter_map(|(p, row)| Some((p.endpoint.filter(|e| *e != INTERNAL)?, p, row)));
        named.map(|(endpoint, p, row)| (seen.topic_of(endpoint), Sent { row, id: p.id, stamp: p.source_timestamp, rmw_ns: p.rmw_ns }))
    });
    let taken = Grouped::new(topics.len(), || {
        let told = |take: &TakeSeen, row| Taken { row, publication: take.publication, id: take.id, stamp: take.source_timestamp };
        seen.takes.iter().zip(0..).map(move |(take, row)| (seen.topic_of(take.endpoint), told(take, row)))
    });
    let first = first(&sent, &taken, topics.len(), seen, options);
    let mut of_unknown_order = 0;
    let of_topic = |topic: usize| {
        let published = Published::new(sent.of(topic));
        let mut doubts = Unlinked::default();
        let own = || far_apart(taken.of(topic).iter());
        let found = own().filter_map(|take| Some((take.row, published.of(seen, take, options, first, &mut doubts)?)));
        let mut found: Rows<(u32, u32)> = found.collect();
        if first.is_some() && !published.unstamped.0.is_empty() {
            let mut takes = own();
            let stamp_of = |row: u32| takes.find(|take| take.row == row).map_or(0, |take| take.stamp);
            let several = unstamped::with_several_stamps(far_apart(found.iter()).copied(), stamp_of);
            let before = found.len();
            found = found.into_iter().filter(|(_, publication)| !several.contains(publication)).collect();
            doubts.ambiguous += (before - found.len()) as u64;
        }
        (found, doubts)
    };
    in_order(0..topics.len(), of_topic, |(found, doubts)| {
        far_apart(found.into_iter()).for_each(|(take, publication)| publications[take as usize] = publication);
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

/// Whether rmw_publish or the stamp comes first, of publications without a stamp; `None`: the run does not show it, or has none of them.
fn first(sent: &Grouped<Sent>, taken: &Grouped<Taken>, topics: usize, seen: &Observed, options: &Options) -> Option<First> {
    let mut votes = Votes::default();
    let of_topic = |topic: usize| {
        let mut votes = Votes::default();
        let is_of_older_release = far_apart(sent.of(topic).iter()).any(|sent| sent.id.is_none() && sent.stamp == 0 && sent.rmw_ns.is_some());
        if !is_of_older_release {
            return votes;
        }
        let published = Published::new(sent.of(topic));
        let stamps = far_apart(taken.of(topic).iter()).filter(|take| !published.names(take));
        let times = stamps.filter_map(|take| options.monotonic_ns(take.stamp));
        times.filter(|time| !seen.lacks(*time, *time)).for_each(|time| votes.add(&published.unstamped, time));
        votes
    };
    in_order(0..topics, of_topic, |of_topic| votes = votes.and(of_topic));
    votes.decision()
}

/// Takes of each endpoint, in order.
fn by_endpoint(seen: &Observed) -> Grouped<u32> {
    Grouped::new(seen.endpoints.len(), || seen.takes.iter().zip(0..).map(|(take, index)| (take.endpoint, index)))
}

/// What tells a publication from others of its topic.
#[derive(Clone, Copy, Default)]
struct Sent {
    row: u32,
    id: Option<(u64, u64)>,
    stamp: i64,
    rmw_ns: Option<i64>,
}

/// What a take tells of its publication.
#[derive(Clone, Copy, Default)]
struct Taken {
    row: u32,
    publication: Option<u32>,
    id: Option<(u64, u64)>,
    stamp: i64,
}

/// Publications of one topic, by what a take may tell of them.
struct Published {
    by_id: Rows<((u64, u64), u32)>,
    /// By source timestamp, in order.
    by_stamp: Rows<(i64, u32)>,
    /// Those that carry no timestamp.
    unstamped: Unstamped,
}

impl Published {
    fn new(sent: &[Sent]) -> Published {
        let (mut by_id, mut by_stamp, mut unstamped) = (Rows::new(), Rows::new(), Rows::new());
        for Sent { row, id, stamp, rmw_ns } in far_apart(sent.iter().copied()) {
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
        take.publication.is_some() || take.id.is_some() || take.stamp == 0 || self.by_stamp.get(first).is_some_and(|of| of.0 == take.stamp)
    }

    fn of(&self, seen: &Observed, take: &Taken, options: &Options, first: Option<First>, doubts: &mut Unlinked) -> Option<u32> {
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
pub(crate) fn sightings(seen: &Observed, options: &Options) -> Vec<Sighting> {
    let found = find(seen, options).publications;
    let sighting = |(take, publication): (&TakeSeen, u32)| {
        let publication = seen.publications.get(publication as usize)?;
        let (from, to) = (publication.process, seen.process_of(take.endpoint));
        Some(Sighting { from, to, sent_ns: publication.time, received_ns: take.time })
    };
    seen.takes.iter().zip(found).filter_map(sighting).collect()
}

/// Gives every take its publication and its arrival. Takes that cannot have one keep `None`.
pub(crate) fn link(seen: &mut Observed, options: &Options) -> Linked {
    let Found { mut topics, publications, mut takes, ambiguous, of_unknown_order } = find(seen, options);
    let (mut backwards, mut unrelated) = (0, 0);
    for (take, found) in far_apart(publications.into_iter().enumerate()) {
        let row = &seen.takes[take];
        let (taken_at, process) = (row.first_line.unwrap_or(row.time).max(row.time), seen.process_of(row.endpoint));
        let possible = |p: &u32| {
            let publication = &seen.publications[*p as usize];
            let related = seen.related(publication.process, process);
            let error = seen.clock_error_ns(publication.process) + seen.clock_error_ns(process);
            let possible = publication.time <= taken_at + error;
            unrelated += u64::from(!related);
            backwards += u64::from(related && !possible);
            related && possible
        };
        seen.takes[take].publication = Some(found).filter(|found| *found != NONE).filter(possible);
    }
    if copies::drop(seen) {
        takes = by_endpoint(seen);
    }
    // Corrected times of several hosts do not stand in the order in which they were read.
    let mut before = i64::MIN;
    let stand_in_order = seen.publications.iter().all(|p| std::mem::replace(&mut before, p.time) <= p.time);
    for topic in topics.iter_mut().filter(|_| !stand_in_order) {
        let timed: Rows<(i64, u32)> = far_apart(topic.publications.iter()).map(|p| (seen.publications[*p as usize].time, *p)).collect();
        topic.publications = timed.sorted_by(|a, b| a.0.cmp(&b.0)).into_iter().map(|of| of.1).collect();
    }
    set_arrivals(seen, &takes);
    let doubts = Doubts::find(seen, &topics, &takes);
    let mut notes = doubts.notes(seen);
    if backwards > 0 {
        let text = "messages that seem taken before they were published: the clocks' error is larger than their latency; not linked";
        notes.push(Note { name: "negative-latency".into(), count: backwards, text: text.into() });
    }
    if ambiguous > 0 {
        let text = "messages that two publications of their topic may be: they share a source timestamp, or lie closer together than events tell apart; not linked";
        notes.push(Note { name: "ambiguous-timestamp".into(), count: ambiguous, text: text.into() });
    }
    if of_unknown_order > 0 {
        let text = "messages of a release before Jazzy whose source timestamps lie as near to one rmw_publish as to the next: which is theirs \
                    is not known; not linked";
        notes.push(Note { name: "order-of-timestamps-unknown".into(), count: of_unknown_order, text: text.into() });
    }
    if unrelated > 0 {
        let text = "messages between hosts whose clocks are not related, as messages did not go both ways: no latency, no loss, no chain between them";
        notes.push(Note { name: "clocks-not-related".into(), count: unrelated, text: text.into() });
    }
    Linked { topics, notes, doubts, takes }
}

/// node_data_available to takes: a subscription's queue is first in, first out, so both stand in one order. A notification
/// may cover several messages, and messages that a queue overwrote had theirs.
fn set_arrivals(seen: &mut Observed, takes: &Grouped<u32>) {
    for (subscription, endpoint) in seen.endpoints.iter().enumerate().filter(|(_, endpoint)| !endpoint.arrivals.is_empty()) {
        let arrivals = &endpoint.arrivals;
        let (mut next, mut before) = (0, None);
        for index in far_apart(takes.of(subscription).iter().map(|take| *take as usize)) {
            let Some(publication) = seen.takes[index].publication else { continue };
            let published = seen.publications[publication as usize].time;
            while arrivals.get(next).is_some_and(|a| *a < published) {
                next += 1;
            }
            let taken = seen.takes[index].time;
            let own = arrivals.get(next).copied().filter(|a| *a <= taken);
            if own.is_some() {
                next += 1;
                before = own;
            }
            seen.takes[index].arrival = own.or(before.filter(|a| *a >= published && *a <= taken));
        }
    }
}
