//! Subscriptions that received messages which cannot be linked to the publications that were recorded on their topic.
//!
//! What such a subscription lost is not known, nor what came of its messages. So nothing is told of its losses, and no
//! chain runs through it. A topic without a recorded publication leaves no doubt: its messages came from elsewhere.

use super::OfTopic;
use crate::observe::serving::Ended;
use crate::observe::{Seen, TakeSeen, Topic};
use std::collections::BTreeMap;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{named, Endpoint, Note};

/// Subscriptions that the note names; of more it says how many.
const NAMED: usize = 3;

/// Why the messages of a subscription are not linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// Its callbacks ran, and most of their takes have no event.
    NoTakes,
    /// Its takes name no publication.
    NoPublications,
}

/// All such subscriptions.
#[derive(Default)]
pub(crate) struct Doubts {
    /// Why, and how many messages are not linked, by subscription.
    of: BTreeMap<Row<Endpoint>, (Why, u64)>,
}

impl Doubts {
    /// To be asked once takes have their publications.
    pub fn find(
        seen: &Seen,
        ended: &Ended,
        topics: &Column<Topic, OfTopic>,
        takes: &Grouped<Endpoint, Row<TakeSeen>>,
    ) -> Doubts {
        let subscriptions = topics.iter().flat_map(|of| of.subscriptions.iter().map(move |s| (*s, of)));
        let doubt = |(s, of): (Row<Endpoint>, &OfTopic)| Some((s, doubt(seen, ended, of, s, takes.of(s))?));
        Doubts { of: subscriptions.filter_map(doubt).collect() }
    }

    pub fn has(&self, subscription: Row<Endpoint>) -> bool {
        self.of.contains_key(&subscription)
    }

    pub fn notes(&self, seen: &Seen) -> Vec<Note> {
        let note = |why: Why| {
            let those: Vec<_> = self.of.iter().filter(|(_, of)| of.0 == why).collect();
            let names = those.iter().map(|(s, _)| {
                let endpoint = &seen.endpoints[**s];
                format!("{} {}", seen.nodes[endpoint.node].name, seen.topics.names[endpoint.topic])
            });
            let named = named(names, NAMED);
            let because = match why {
                Why::NoTakes => "callbacks ran for them, but the trace has no events of their takes",
                Why::NoPublications => "most takes name none of the publications that were recorded on their topics",
            };
            let text = format!(
                "messages that {named} received and that cannot be linked to their publications: {because}. What \
                 was lost there is not known, and chains and reaction times through there are left out"
            );
            let count = those.iter().map(|(_, of)| of.1).sum();
            (count > 0).then(|| Note { name: "not-linked".into(), count, text })
        };
        [Why::NoTakes, Why::NoPublications].into_iter().filter_map(note).collect()
    }
}

fn doubt(
    seen: &Seen,
    ended: &Ended,
    of: &OfTopic,
    subscription: Row<Endpoint>,
    takes: &[Row<TakeSeen>],
) -> Option<(Why, u64)> {
    let process = seen.process_of(subscription);
    if seen.roscpp.processes.contains(&process) {
        return None; // its own events tell what was lost
    }
    let taken = takes.len() as u64;
    let linked = takes.iter().filter(|take| seen.takes[**take].publication.is_some());
    let linked = linked.count() as u64;
    let called = seen.endpoints[subscription].called;
    let doubt = match (called > taken * 2, linked * 2 < taken) {
        (true, _) => (Why::NoTakes, called - taken),
        (false, true) => (Why::NoPublications, taken - linked),
        (false, false) => return None,
    };
    // Where most of what was recorded here is linked, the others came from elsewhere.
    let (from, to) = (seen.endpoints[subscription].created_ns, ended.served_until(seen, subscription));
    let meant = of
        .publications
        .iter()
        .map(|p| &seen.publications[*p])
        .filter(|p| (from..=to).contains(&p.time) && seen.related(p.process, process));
    let meant = meant.count() as u64;
    (meant > 0 && linked * 2 <= meant).then_some(doubt)
}
