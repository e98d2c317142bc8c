//! The service whose response executions waited for, and who took how long to answer.

use super::blame::Late;
use super::callback::Named;
use super::ms;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::Execution;

/// Part of the time of executions from which on they waited for a service.
const WAITS: f64 = 0.5;

pub(super) struct Asked {
    service: String,
    /// Name and node of the callback that answered, and the longest that it took, ms.
    server: Option<(String, String, f64)>,
}

/// Of one service.
#[derive(Default)]
struct Calls<'a> {
    waited_ns: i64,
    /// Longest execution that answered: ns, callback, node.
    longest: Option<(i64, String, &'a str)>,
}

impl Asked {
    /// Of executions, each with the number of its repeat; `None`: they did not wait for a service most of their time.
    pub fn of(late: &Late<'_>, executions: &BTreeSet<(usize, Row<Execution>)>) -> Option<Asked> {
        let mut by_service: BTreeMap<&str, Calls<'_>> = BTreeMap::new();
        let mut ran_ns = 0;
        for (number, repeat) in late.repeats() {
            let tables = repeat.tables;
            let span = |execution: &Execution| Some((execution.start_ns, execution.end_ns?));
            let node_of = |execution: &Execution| tables.callbacks[execution.callback].node;
            let own = executions.iter().filter(|(of, _)| *of == number).map(|(_, row)| &tables.executions[*row]);
            let own: Vec<(i64, i64, _)> =
                own.filter_map(|execution| span(execution).map(|(from, to)| (from, to, node_of(execution)))).collect();
            ran_ns += own.iter().map(|(from, to, _)| to - from).sum::<i64>();
            for call in &tables.services {
                let Some((sent, taken)) = call.requested_ns().zip(call.response_taken_ns) else { continue };
                let is_around = |from: i64, to: i64| from <= sent && sent < to;
                let asks =
                    own.iter().any(|(from, to, node)| is_around(*from, *to) && taken <= *to && *node == call.client);
                // Of two callbacks of a node that ran at once it is not known which one called.
                let of_node = tables.executions.iter().filter(|other| node_of(other) == call.client);
                let ran = |other: &&Execution| span(other).is_some_and(|(from, to)| is_around(from, to));
                if !asks || of_node.filter(ran).nth(1).is_some() {
                    continue;
                }
                let calls = by_service.entry(&call.service).or_default();
                calls.waited_ns += taken - sent;
                if let Some(answer) = call.execution {
                    let took = span(&tables.executions[answer]).map_or(0, |(from, to)| to - from);
                    if calls.longest.as_ref().is_none_or(|longest| took > longest.0) {
                        let callback = &tables.callbacks[tables.executions[answer].callback];
                        let name = callback.name(&tables.nodes, &tables.processes).to_string();
                        let node = callback.node.map_or("", |node| &tables.nodes[node].name);
                        calls.longest = Some((took, Named::of(repeat, answer).words(&name), node));
                    }
                }
            }
        }
        let (service, calls) = by_service.into_iter().max_by_key(|(_, calls)| calls.waited_ns)?;
        let server = calls.longest.map(|(ns, name, node)| (name, node.to_owned(), ns as f64 / 1e6));
        (calls.waited_ns as f64 >= WAITS * ran_ns as f64).then(|| Asked { service: service.to_owned(), server })
    }

    /// `waiting for the response of the service /look_up, for which look_up (map.py:3) of /map took up to 81.2 ms`.
    pub fn words(&self) -> String {
        let server = self.server.as_ref().map_or(String::new(), |(name, node, longest_ms)| {
            format!(", for which {name} of {node} took up to {}", ms(*longest_ms))
        });
        format!("waiting for the response of the service {}{server}", self.service)
    }

    pub fn advice(&self, who: &str) -> String {
        let service = &self.service;
        let sooner = self
            .server
            .as_ref()
            .map_or(String::new(), |(name, node, _)| format!("Make {name} of {node} answer sooner. "));
        format!(
            "{sooner}Have {who} call {service} without waiting (rclpy call_async, rclcpp async_send_request with a \
             callback)."
        )
    }
}
