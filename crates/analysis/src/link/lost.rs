//! What was sent and never taken.

use super::{Matched, OfTopic};
use crate::observe::serving::Ended;
use crate::observe::{PublicationSeen, Seen};
use crate::Options;
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::in_order::in_order;
use tacho_tables::near::partition_near;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::Rows;
use tacho_tables::{Delivery, Endpoint, LostIn, MaybeNs, Message, Note, Process};
use tacho_workload::model::{ByName, Start, Workload};

/// What became of messages that a subscription neither took nor lost. Defined in docs/figures.md, "lost".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// It may have taken them later.
    pub pending: u64,
    /// Sent before the two were matched.
    pub before: u64,
    /// Sent after its executor had ended.
    pub after: u64,
    /// The two never exchanged a message, or events that would tell were lost.
    pub unknown: u64,
}

/// One row for each message that a subscription should have taken and did not, and for each subscription the others
/// that it did not take. `None`: its events show losses themselves (ROS 1).
pub(super) fn lost(
    seen: &Seen,
    matched: &Matched,
    ended: &Ended,
    options: &Options,
    workload: Option<&Workload>,
    notes: &mut Vec<Note>,
) -> (Column<Endpoint, Option<Ends>>, Rows<Message>) {
    let mut ends: Column<Endpoint, Option<Ends>> = Column::of(vec![None; seen.endpoints.len()]);
    let mut rows = Rows::new();
    let by_name = workload.map(ByName::of);
    let lost = Lost { seen, matched, ended, options, workload, by_name };
    in_order(
        matched.by_topic.iter(),
        |topic| lost.of_topic(topic),
        |of| {
            of.ends.into_iter().for_each(|(subscription, own)| ends[subscription] = Some(own));
            rows.extend(of.rows);
            notes.extend(of.notes);
        },
    );
    (ends, rows)
}

struct Lost<'a> {
    seen: &'a Seen,
    matched: &'a Matched,
    ended: &'a Ended,
    options: &'a Options,
    workload: Option<&'a Workload>,
    by_name: Option<ByName<'a>>,
}

#[derive(Default)]
struct OnTopic {
    ends: Vec<(Row<Endpoint>, Ends)>,
    rows: Rows<Message>,
    notes: Vec<Note>,
}

/// A message of one publisher, and when the subscription took it last.
struct Sent {
    publication: Row<PublicationSeen>,
    time: i64,
    taken_ns: Option<i64>,
}

impl Lost<'_> {
    fn of_topic(&self, of: &OfTopic) -> OnTopic {
        let (seen, mut found) = (self.seen, OnTopic::default());
        let mut sent_by: HashMap<Row<Endpoint>, Rows<(Row<PublicationSeen>, i64)>> = HashMap::default();
        for publication in of.publications.iter() {
            let row = &seen.publications[*publication];
            if let Some(publisher) = row.endpoint {
                sent_by.entry(publisher).or_default().push((*publication, row.time));
            }
        }
        for subscription in of.subscriptions.iter().filter(|s| !seen.roscpp.told.contains(s)) {
            let mut ends = Ends::default();
            let own = self.matched.takes.of(*subscription).iter().map(|take| &seen.takes[*take]);
            let taken: Rows<(Row<PublicationSeen>, i64)> =
                own.filter_map(|take| Some((take.publication?, take.time))).collect();
            let taken = taken.sorted_by(|a, b| a.0.cmp(&b.0));
            let mut near = 0;
            let mut sent = |(publication, time): &(Row<PublicationSeen>, i64)| {
                let last = partition_near(&taken, &mut near, |of| of.0 <= *publication).checked_sub(1);
                let taken_ns = last.map(|last| taken[last]).filter(|of| of.0 == *publication).map(|of| of.1);
                Sent { publication: *publication, time: *time, taken_ns }
            };
            for publisher in &of.publishers {
                let Some(mine) = sent_by.get(publisher) else { continue };
                let mine: Vec<Sent> = mine.iter().map(&mut sent).collect();
                self.between(*publisher, *subscription, &mine, &mut ends, &mut found);
            }
            found.ends.push((*subscription, ends));
        }
        found
    }

    /// What a subscription did not take of all that a publisher sent.
    fn between(
        &self,
        publisher: Row<Endpoint>,
        subscription: Row<Endpoint>,
        mine: &[Sent],
        ends: &mut Ends,
        found: &mut OnTopic,
    ) {
        let Lost { seen, matched, options, .. } = *self;
        let (Some(first), Some(last)) = (mine.first(), mine.last()) else { return };
        let process = seen.process_of(subscription);
        let (alive, created) = (self.ended.served_until(seen, subscription), seen.endpoints[subscription].created_ns);
        let measured = |sent: &Sent| options.measures(seen.publications[sent.publication].belongs_ns());
        let not_taken = || mine.iter().filter(|sent| sent.taken_ns.is_none() && measured(sent)).count() as u64;
        // Where it is known when events were lost, only what was sent then is left out.
        let dropped = |p: Row<Process>| seen.processes[p].dropped_events > 0 && seen.gaps.is_empty();
        if matched.doubts.has(subscription)
            || !seen.related(process, seen.process_of(publisher))
            || dropped(process)
            || dropped(seen.process_of(publisher))
        {
            ends.unknown += not_taken();
            return;
        }
        // What was seen to be overwritten was there, and will not be taken.
        let overwritten = |sent: &Sent| seen.overwritten.contains(&(sent.publication, subscription));
        let first_met = mine.iter().position(|sent| sent.taken_ns.is_some() || overwritten(sent));
        let last_taken = mine.iter().rposition(|sent| sent.taken_ns.is_some());
        // All of ours are matched before the first send, unless they start at once; of others it is only known from the
        // first message on.
        let matched_from = match (self.are_matched(publisher, subscription), first_met) {
            (true, _) => 0,
            (false, Some(first)) => first,
            (false, None) => {
                let name = |e: Row<Endpoint>| &seen.nodes[seen.endpoints[e].node].name;
                found.notes.push(Note {
                    name: "never-taken".into(),
                    count: mine.len() as u64,
                    text: format!(
                        "messages on {} from {} that {} never took: the two never exchanged a message, so none counts \
                         as lost",
                        seen.topics.names[seen.topic_of(subscription)],
                        name(publisher),
                        name(subscription)
                    ),
                });
                ends.unknown += not_taken();
                return;
            }
        };
        let interval = if mine.len() > 1 { (last.time - first.time) / (mine.len() as i64 - 1) } else { 0 };
        let worst = mine.iter().filter_map(|sent| Some(sent.taken_ns? - sent.time)).max().unwrap_or(0);
        let in_flight_from = alive.saturating_sub(worst.max(interval));
        let stood_still = stood_still(mine, alive);
        // 0 is the middleware's default, whatever that is.
        let depth = seen.endpoints[subscription].depth.filter(|depth| *depth > 0);
        let overwritten_since = |position: usize| {
            let followed = mine[position + 1..].partition_point(|sent| sent.time <= alive) as u64;
            depth.is_some_and(|depth| followed >= depth)
        };
        for (position, sent) in mine.iter().enumerate() {
            if sent.taken_ns.is_some() || !measured(sent) {
                continue;
            }
            let (publication, time) = (sent.publication, sent.time);
            let overtaken = last_taken.is_some_and(|l| position < l);
            let lying = seen.lying.contains(&(publication, subscription));
            let is_left = stood_still && !overtaken && !lying && (created..=alive).contains(&time);
            let overwritten = overwritten(sent) || is_left && overwritten_since(position);
            let end = if position < matched_from {
                Some(&mut ends.before)
            } else if overwritten {
                None
            } else if time < created {
                Some(&mut ends.before)
            } else if time > alive {
                Some(&mut ends.after)
            } else if lying || is_left || (!overtaken && time >= in_flight_from) {
                Some(&mut ends.pending)
            } else if seen.lacks(time, time.saturating_add(worst.max(interval))) {
                Some(&mut ends.unknown)
            } else {
                None
            };
            if let Some(end) = end {
                *end += 1;
                continue;
            }
            let row = &seen.publications[publication];
            found.rows.push(Message {
                publisher: Some(publisher),
                subscription,
                sequence: row.id.map(|id| id.1),
                publish_ns: time.into(),
                arrival_ns: MaybeNs::NONE,
                take_ns: MaybeNs::NONE,
                callback_ns: MaybeNs::NONE,
                execution: None,
                published_in: row.execution,
                delivery: Delivery::Lost,
                lost_in: overwritten.then_some(LostIn::SubscriptionQueue),
                emulated: seen.is_emulated(process) || seen.is_emulated(row.process),
            });
        }
    }

    /// Whether two of our own nodes were matched before the first send.
    fn are_matched(&self, publisher: Row<Endpoint>, subscription: Row<Endpoint>) -> bool {
        let seen = self.seen;
        let ours = |endpoint: Row<Endpoint>| {
            let name = &seen.nodes[seen.endpoints[endpoint].node].name;
            self.by_name.as_ref().is_some_and(|all| all.called(name).is_some()) || seen.ours[seen.process_of(endpoint)]
        };
        let together = self.workload.is_none_or(|w| w.run.start == Start::Together);
        together && ours(publisher) && ours(subscription)
    }
}

/// Whether less time passed between the last take and the end than a message once stood first in its queue: then those
/// behind it may still be there, however long.
fn stood_still(mine: &[Sent], alive: i64) -> bool {
    let (mut longest, mut last) = (0, i64::MIN);
    for sent in mine {
        let Some(taken_ns) = sent.taken_ns else { continue };
        longest = longest.max(taken_ns - last.max(sent.time));
        last = last.max(taken_ns);
    }
    last > i64::MIN && alive.saturating_sub(last) <= longest
}
