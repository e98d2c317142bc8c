//! Sends that a middleware refused: publish calls that failed. Nothing was sent, so they are neither publications nor
//! losses.

use crate::observe::{EndpointSeen, RefusalSeen, Seen};
use crate::Options;
use std::collections::BTreeMap;
use tacho_tables::row::{Column, Row};
use tacho_tables::{Endpoint, EndpointKind, Note};

/// Of each endpoint, the refused sends of the measured window; absent for subscriptions and where nobody counts them:
/// programs and boards that are not our nodes on a host.
pub(crate) fn counts(seen: &Seen, options: &Options) -> Column<Endpoint, Option<u64>> {
    let counted = |e: &EndpointSeen| {
        let process = seen.nodes[e.node].process;
        e.kind == EndpointKind::Publisher && seen.ours[process] && seen.processes[process].board.is_none()
    };
    let mut counts = Column::of(seen.endpoints.iter().map(|e| counted(e).then_some(0)));
    for refusal in measured(seen, options) {
        if let Some(count) = endpoint_of(seen, refusal).and_then(|e| counts.get_mut(e)) {
            *count.get_or_insert(0) += 1;
        }
    }
    counts
}

/// Why, in the middleware's words: a note for each publisher and reason.
pub(crate) fn notes(seen: &Seen, options: &Options) -> Vec<Note> {
    let mut reasons: BTreeMap<(Row<Endpoint>, u64), (u64, &str)> = BTreeMap::new();
    for refusal in measured(seen, options) {
        if let Some(endpoint) = endpoint_of(seen, refusal) {
            reasons.entry((endpoint, refusal.code)).or_insert((0, &refusal.reason)).0 += 1;
        }
    }
    let note = |((endpoint, code), (count, reason)): ((Row<Endpoint>, u64), (u64, &str))| {
        let endpoint = &seen.endpoints[endpoint];
        let (node, topic) = (&seen.nodes[endpoint.node].name, &seen.topics.names[endpoint.topic]);
        Note {
            name: "sends-refused".into(),
            count,
            text: format!(
                "{node} {topic}: sends that the middleware refused{}, which are neither sent nor lost: {reason}",
                in_words(code)
            ),
        }
    };
    reasons.into_iter().map(note).collect()
}

/// 1 is no code: the middleware gave words alone.
fn in_words(code: u64) -> String {
    if code == 1 {
        String::new()
    } else {
        format!(" (code {code})")
    }
}

fn measured<'a>(seen: &'a Seen, options: &'a Options) -> impl Iterator<Item = &'a RefusalSeen> {
    seen.refusals.iter().filter(|refusal| options.measures(seen.publications[refusal.publication].belongs_ns()))
}

fn endpoint_of(seen: &Seen, refusal: &RefusalSeen) -> Option<Row<Endpoint>> {
    seen.publications[refusal.publication].refused_to
}
