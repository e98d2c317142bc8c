//! What was sent and never taken.

use super::Matched;
use crate::observe::serving::Ended;
use crate::observe::{PublicationSeen, Seen};
use crate::Options;
use std::collections::HashMap;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::{far_apart, Rows};
use tacho_tables::{Delivery, Endpoint, LostIn, Message, Note, Process};
use tacho_workload::model::{Start, Workload};

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
    rows: &mut Rows<Message>,
    notes: &mut Vec<Note>,
) -> Column<Endpoint, Option<Ends>> {
    let mut ends: Column<Endpoint, Option<Ends>> = Column::of(vec![None; seen.endpoints.len()]);
    let ours = |endpoint: Row<Endpoint>| {
        let name = &seen.nodes[seen.endpoints[endpoint].node].name;
        let named = workload.is_some_and(|w| w.nodes.iter().any(|n| tacho_workload::model::is_called(name, &n.name)));
        named || seen.ours[seen.process_of(endpoint)]
    };
    let together = workload.is_none_or(|w| w.run.start == Start::Together);
    for of in &matched.by_topic {
        let mut sent_by: HashMap<Row<Endpoint>, Rows<(Row<PublicationSeen>, i64)>> = HashMap::new();
        for publication in far_apart(of.publications.iter()) {
            let row = &seen.publications[*publication];
            if let Some(publisher) = row.endpoint {
                sent_by.entry(publisher).or_default().push((*publication, row.time));
            }
        }
        for subscription in of.subscriptions.iter().filter(|s| !seen.roscpp.told.contains(s)) {
            let ends = ends[*subscription].insert(Ends::default());
            let own = far_apart(matched.takes.of(*subscription).iter()).map(|take| &seen.takes[*take]);
            let taken: Rows<(Row<PublicationSeen>, i64)> =
                own.filter_map(|take| Some((take.publication?, take.time))).collect();
            let taken = taken.sorted_by(|a, b| a.0.cmp(&b.0));
            let taken_ns = |publication: Row<PublicationSeen>| {
                let last = taken.partition_point(|of| of.0 <= publication).checked_sub(1)?;
                Some(taken[last]).filter(|of| of.0 == publication).map(|of| of.1)
            };
            let process = seen.process_of(*subscription);
            let (alive, created) = (ended.served_until(seen, *subscription), seen.endpoints[*subscription].created_ns);
            for publisher in &of.publishers {
                let mine: &[(Row<PublicationSeen>, i64)] = sent_by.get(publisher).map_or(&[], |sent| &sent[..]);
                let (Some(first), Some(last)) = (mine.first(), mine.last()) else { continue };
                let measured =
                    |publication: Row<PublicationSeen>| options.measures(seen.publications[publication].belongs_ns());
                let not_taken = || mine.iter().filter(|p| taken_ns(p.0).is_none() && measured(p.0)).count() as u64;
                // Where it is known when events were lost, only what was sent then is left out.
                let dropped = |p: Row<Process>| seen.processes[p].dropped_events > 0 && seen.gaps.is_empty();
                if matched.doubts.has(*subscription)
                    || !seen.related(process, seen.process_of(*publisher))
                    || dropped(process)
                    || dropped(seen.process_of(*publisher))
                {
                    ends.unknown += not_taken();
                    continue;
                }
                // What was seen to be overwritten was there, and will not be taken.
                let overwritten =
                    |publication: Row<PublicationSeen>| seen.overwritten.contains(&(publication, *subscription));
                let first_met = mine.iter().position(|p| taken_ns(p.0).is_some() || overwritten(p.0));
                let last_taken = mine.iter().rposition(|p| taken_ns(p.0).is_some());
                // All of ours are matched before the first send, unless they start at once; of others it is only known
                // from the first message on.
                let matched_from = match (together && ours(*publisher) && ours(*subscription), first_met) {
                    (true, _) => 0,
                    (false, Some(first)) => first,
                    (false, None) => {
                        let name = |e: Row<Endpoint>| &seen.nodes[seen.endpoints[e].node].name;
                        notes.push(Note {
                            name: "never-taken".into(),
                            count: mine.len() as u64,
                            text: format!(
                                "messages on {} from {} that {} never took: whether the two ever matched is not known, \
                                 so none counts as lost",
                                seen.topics.names[seen.topic_of(*subscription)],
                                name(*publisher),
                                name(*subscription)
                            ),
                        });
                        ends.unknown += not_taken();
                        continue;
                    }
                };
                let interval = if mine.len() > 1 { (last.1 - first.1) / (mine.len() as i64 - 1) } else { 0 };
                let worst = mine.iter().filter_map(|(p, time)| Some(taken_ns(*p)? - time)).max().unwrap_or(0);
                let in_flight_from = alive.saturating_sub(worst.max(interval));
                for (position, (publication, time)) in far_apart(mine.iter()).enumerate() {
                    if taken_ns(*publication).is_some() || !measured(*publication) {
                        continue;
                    }
                    let overtaken = last_taken.is_some_and(|l| position < l);
                    let lying = seen.lying.contains(&(*publication, *subscription));
                    let overwritten = overwritten(*publication);
                    let end = if position < matched_from {
                        Some(&mut ends.before)
                    } else if overwritten {
                        None
                    } else if *time < created {
                        Some(&mut ends.before)
                    } else if *time > alive {
                        Some(&mut ends.after)
                    } else if lying || (!overtaken && *time >= in_flight_from) {
                        Some(&mut ends.pending)
                    } else if seen.lacks(*time, time.saturating_add(worst.max(interval))) {
                        Some(&mut ends.unknown)
                    } else {
                        None
                    };
                    if let Some(end) = end {
                        *end += 1;
                        continue;
                    }
                    let row = &seen.publications[*publication];
                    rows.push(Message {
                        publisher: Some(*publisher),
                        subscription: *subscription,
                        sequence: row.id.map(|id| id.1),
                        publish_ns: Some(*time),
                        arrival_ns: None,
                        take_ns: None,
                        callback_ns: None,
                        execution: None,
                        published_in: row.execution,
                        delivery: Delivery::Lost,
                        lost_in: overwritten.then_some(LostIn::SubscriptionQueue),
                        emulated: seen.is_emulated(process) || seen.is_emulated(row.process),
                    });
                }
            }
        }
    }
    ends
}
