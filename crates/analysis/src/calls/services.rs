//! Requests and responses of service calls.

use super::{Legs, Passage};
use crate::observe::services::Call;
use crate::observe::{Seen, Topic};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{action_of, Name};

/// The calls whose client and server are both known; those of actions whose goals are known stand for nothing more.
pub(super) fn passages(
    calls: &Rows<Call>,
    actions: &HashSet<&str>,
    seen: &mut Seen,
    legs: &mut Legs,
    passages: &mut Rows<Passage>,
) {
    let mut known: HashMap<Name, [Row<Topic>; 2]> = HashMap::default();
    for call in calls {
        if action_of(&call.row.service).is_some_and(|action| actions.contains(action)) {
            continue;
        }
        let (Some(client), Some(server), false) = (call.row.client, call.row.server, call.row.service.is_empty())
        else {
            continue;
        };
        let name = call.row.service;
        let [request, response] = *known
            .entry(name)
            .or_insert_with(|| legs.both(&mut seen.topics, &format!("{name} request"), &format!("{name} response")));
        if let Some(sent) = call.row.requested_ns() {
            let taken = call.row.request_taken_ns.map(|ns| (ns, call.row.execution));
            passages.push(Passage {
                topic: request,
                from: client,
                to: server,
                sent: (sent, call.row.requested_in),
                taken,
                answers_ns: None,
            });
        }
        if let Some(sent) = call.row.answered_ns() {
            let taken = call.row.response_taken_ns.map(|ns| (ns, call.row.response_taken_in));
            passages.push(Passage {
                topic: response,
                from: server,
                to: client,
                sent: (sent, call.answered_in),
                taken,
                answers_ns: call.row.request_taken_ns,
            });
        }
    }
}
