//! Rows of publishers and subscriptions.

use super::lost::Ends;
use super::{due, refused, Matched, Messages};
use crate::observe::{EndpointSeen, Seen};
use crate::Options;
use tacho_tables::row::{Column, Row};
use tacho_tables::{Endpoint, EndpointKind};

/// One row each, with what went through it in the measured window.
pub(crate) fn endpoints(seen: &Seen, matched: &Matched, messages: &Messages, options: &Options) -> Vec<Endpoint> {
    let mut counts: Column<Endpoint, u64> = Column::of(vec![0; seen.endpoints.len()]);
    messages.publications.iter().for_each(|p| counts[p.publisher] += 1);
    let taken = messages.messages.iter().filter(|m| m.take_ns.get().is_some());
    taken.for_each(|m| counts[m.subscription] += 1);
    let (skipped, refused) = (due::skipped(seen, options), refused::counts(seen, options));
    let end = |row: Row<Endpoint>, of: fn(&Ends) -> u64| messages.ends[row].as_ref().map(of);
    let row = |(row, e): (Row<Endpoint>, &EndpointSeen)| Endpoint {
        node: e.node,
        kind: e.kind,
        topic: seen.topics.names[e.topic].clone(),
        message_type: e.offered.message_type.clone(),
        depth: e.depth,
        reliable: e.offered.reliable,
        transient_local: e.offered.transient_local,
        keep_all: e.offered.keep_all,
        created_ns: e.created_ns,
        count: counts[row],
        skipped: skipped[row],
        refused: refused[row],
        pending: end(row, |ends| ends.pending),
        before: end(row, |ends| ends.before),
        after: end(row, |ends| ends.after),
        unknown: end(row, |ends| ends.unknown),
        linked: (e.kind == EndpointKind::Subscription).then(|| !matched.doubts.has(row)),
    };
    seen.endpoints.numbered().map(row).collect()
}
