//! Figures of services: how long their calls took, step by step.

use crate::figures::Repeat;
use rustc_hash::FxHashSet as HashSet;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::summary::{Distribution, ServiceFigures};
use tacho_tables::{action_of, Node, ServiceCall};

/// request, handling, response and round trip, ns; `None` for a call of which a step is not known.
fn steps_ns(call: &ServiceCall) -> Option<[i64; 4]> {
    let [sent, taken, answered, done] =
        [call.requested_ns()?, call.request_taken_ns?, call.answered_ns()?, call.response_taken_ns?];
    Some([taken - sent, answered - taken, done - answered, done - sent])
}

#[derive(Default)]
struct SoFar {
    clients: BTreeSet<String>,
    servers: BTreeSet<String>,
    sent: u64,
    waiting: Vec<i64>,
    steps_us: [Vec<f64>; 4],
    worst_ns: Option<i64>,
    lossy: bool,
}

/// Figures of every service, over all repeats.
pub(crate) fn figures(repeats: &[Repeat<'_>]) -> Vec<ServiceFigures> {
    let mut services: BTreeMap<&str, SoFar> = BTreeMap::new();
    for Repeat { tables, info, .. } in repeats {
        let gaps = info.is_some_and(|info| !info.gaps.is_empty());
        let actions: HashSet<&str> = tables.goals.iter().map(|goal| goal.action.as_str()).collect();
        let of_action = |service: &str| action_of(service).is_some_and(|action| actions.contains(action));
        for call in tables.services.iter().filter(|call| !of_action(&call.service)) {
            let so_far = services.entry(call.service.as_str()).or_default();
            let node = |row: Option<Row<Node>>| row.map(|row| &tables.nodes[row]);
            so_far.clients.extend(node(call.client).map(|node| node.name.clone()));
            so_far.servers.extend(node(call.server).map(|node| node.name.clone()));
            so_far.sent += u64::from(call.request_ns.is_some());
            let process = |row| node(row).map(|node| &tables.processes[node.process]);
            so_far.lossy |= gaps
                || [call.client, call.server].into_iter().filter_map(process).any(|process| process.dropped_events > 0);
            match (steps_ns(call), call.request_ns, process(call.client)) {
                (Some(steps), ..) => {
                    so_far.steps_us.iter_mut().zip(steps).for_each(|(values, ns)| values.push(ns as f64 / 1e3));
                    so_far.worst_ns = so_far.worst_ns.max(Some(steps[3]));
                }
                // How long its client still ran and had no response.
                (None, Some(sent), Some(client)) if call.response_taken_ns.is_none() => {
                    so_far.waiting.push(client.last_ns - sent)
                }
                _ => {}
            }
        }
    }
    let finish = |(service, so_far): (&str, SoFar)| {
        let [request, handling, response, round_trip] = so_far.steps_us;
        ServiceFigures {
            service: service.to_string(),
            clients: so_far.clients.into_iter().collect(),
            servers: so_far.servers.into_iter().collect(),
            sent: Some(so_far.sent).filter(|sent| *sent > 0),
            complete: round_trip.len() as u64,
            unanswered: so_far
                .worst_ns
                .filter(|_| !so_far.lossy)
                .map(|worst| so_far.waiting.iter().filter(|ns| **ns > worst).count() as u64),
            request_us: Distribution::of(request),
            handling_us: Distribution::of(handling),
            response_us: Distribution::of(response),
            round_trip_us: Distribution::of(round_trip),
        }
    };
    services.into_iter().map(finish).collect()
}
