//! What was sent and never taken.

use super::Linked;
use crate::Options;
use crate::observe::Observed;
use crate::rows::{far_apart, Rows};
use crate::tables::{Delivery, LostIn, Message, Note};
use std::collections::HashMap;
use tacho_workload::model::{Start, Workload};

/// One row for each message that a subscription should have taken and did not. Defined in docs/figures.md, "lost".
pub(super) fn lost(
    seen: &Observed,
    linked: &Linked,
    options: &Options,
    workload: Option<&Workload>,
    rows: &mut Rows<Message>,
    notes: &mut Vec<Note>,
) {
    let ours = |endpoint: u32| {
        let name = &seen.nodes[seen.endpoints[endpoint as usize].node as usize].name;
        let named = workload.is_some_and(|w| w.nodes.iter().any(|n| crate::observe::is_called(name, &n.name)));
        named || seen.ours[seen.process_of(endpoint) as usize]
    };
    let together = workload.is_none_or(|w| w.run.start == Start::Together);
    for of in &linked.topics {
        let mut sent_by: HashMap<u32, Rows<(u32, i64)>> = HashMap::new();
        for publication in far_apart(of.publications.iter()) {
            let row = &seen.publications[*publication as usize];
            if let Some(publisher) = row.endpoint {
                sent_by.entry(publisher).or_default().push((*publication, row.time));
            }
        }
        for subscription in of.subscriptions.iter().filter(|s| !seen.ros1.told.contains(s)) {
            if linked.doubts.has(*subscription) {
                continue;
            }
            let own = far_apart(linked.takes.of(*subscription as usize).iter()).map(|take| &seen.takes[*take as usize]);
            let taken: Rows<(u32, i64)> = own.filter_map(|take| Some((take.publication?, take.time))).collect();
            let taken = taken.sorted_by(|a, b| a.0.cmp(&b.0));
            let taken_ns = |publication: u32| {
                let last = taken.partition_point(|of| of.0 <= publication).checked_sub(1)?;
                Some(taken[last]).filter(|of| of.0 == publication).map(|of| of.1)
            };
            let process = seen.process_of(*subscription);
            let (alive, created) = (seen.served_until(*subscription), seen.endpoints[*subscription as usize].created_ns);
            for publisher in &of.publishers {
                let mine: &[(u32, i64)] = sent_by.get(publisher).map_or(&[], |sent| &sent[..]);
                let (Some(first), Some(last)) = (mine.first(), mine.last()) else { continue };
                if !seen.related(process, seen.process_of(*publisher)) {
                    continue;
                }
                // Where it is known when events were lost, only what was sent then is left out.
                let dropped = |p: u32| seen.processes[p as usize].dropped_events > 0 && seen.gaps.is_empty();
                if dropped(process) || dropped(seen.process_of(*publisher)) {
                    continue;
                }
                // What was seen to be overwritten was there, and will not be taken.
                let overwritten = |publication: u32| seen.overwritten.contains(&(publication, *subscription));
                let first_met = mine.iter().position(|p| taken_ns(p.0).is_some() || overwritten(p.0));
                let last_taken = mine.iter().rposition(|p| taken_ns(p.0).is_some());
                // All of ours are matched before the first send, unless they start at once; of others it is only known from the first
                // message on.
                let matched_from = match (together && ours(*publisher) && ours(*subscription), first_met) {
                    (true, _) => 0,
                    (false, Some(first)) => first,
                    (false, None) => {
                        let name = |e: u32| &seen.nodes[seen.endpoints[e as usize].node as usize].name;
                        notes.push(Note { name: "never-taken".into(), count: mine.len() as u64, text: format!(
                            "messages on {} from {} that {} never took: whether the two ever matched is not known, so none counts as lost",
                            seen.topics.names[seen.topic_of(*subscription) as usize], name(*publisher), name(*subscription)) });
                        continue;
                    }
                };
                let interval = if mine.len() > 1 { (last.1 - first.1) / (mine.len() as i64 - 1) } else { 0 };
                let worst = mine.iter().filter_map(|(p, time)| Some(taken_ns(*p)? - time)).max().unwrap_or(0);
                let in_flight_from = alive.saturating_sub(worst.max(interval));
                for (position, (publication, time)) in far_apart(mine.iter()).enumerate().skip(matched_from) {
                    let overtaken = last_taken.is_some_and(|l| position < l);
                    let lying = seen.lying.contains(&(*publication, *subscription));
                    let pending = lying || (!overtaken && *time >= in_flight_from);
                    let there = *time >= created && *time <= alive;
                    let row = &seen.publications[*publication as usize];
                    if taken_ns(*publication).is_some() || !options.measures(row.belongs_ns()) {
                        continue;
                    }
                    let overwritten = overwritten(*publication);
                    if !overwritten && (pending || !there || seen.lacks(*time, time.saturating_add(worst.max(interval)))) {
                        continue;
                    }
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
}
