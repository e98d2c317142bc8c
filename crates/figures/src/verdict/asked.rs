//! Finds the service whose response executions waited for, and the callback that answers.

use super::callback::{full_name, Named};
use super::late::Late;
use super::ms;
use crate::figures::Repeat;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::{numbered, Row};
use tacho_tables::{Callback, Execution, ServiceCall};

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
    longest: Option<Answer<'a>>,
}

/// How long an execution took that answered, ns; its callback and node.
type Answer<'a> = (i64, String, &'a str);

impl Asked {
    /// Of executions, each with the number of its repeat; `None`: they did not wait for a service most of their time.
    pub fn of(late: &Late<'_>, executions: &BTreeSet<(usize, Row<Execution>)>) -> Option<Asked> {
        let mut by_service: BTreeMap<&str, Calls<'_>> = BTreeMap::new();
        let mut ran_ns = 0;
        for (number, repeat) in late.repeats() {
            let own = executions.iter().filter(|(of, _)| *of == number).map(|(_, row)| &repeat.tables.executions[*row]);
            let own: Vec<&Execution> = own.filter(|execution| execution.end_ns.get().is_some()).collect();
            ran_ns += own.iter().map(|execution| took_ns(execution)).sum::<i64>();
            for call in &repeat.tables.services {
                if let Some(waited_ns) = waited_ns(late, repeat, call, &own) {
                    let calls = by_service.entry(&call.service).or_default();
                    calls.waited_ns += waited_ns;
                    calls.longest = calls.longest.take().max(answer(repeat, call));
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

fn took_ns(execution: &Execution) -> i64 {
    execution.end_ns.get().map_or(0, |end| end - execution.start_ns)
}

/// How long one of the executions waited for the response of a call that it made.
fn waited_ns(late: &Late<'_>, repeat: &Repeat<'_>, call: &ServiceCall, own: &[&Execution]) -> Option<i64> {
    let (sent, taken) = call.requested_ns().zip(call.response_taken_ns)?;
    let tables = repeat.tables;
    let of_client = |callback: &Callback| callback.node == call.client;
    let ends_after = |execution: &Execution, ns: i64| execution.end_ns.get().is_some_and(|end| end >= ns);
    let may_send = |execution: &Execution| execution.start_ns <= sent && ends_after(execution, sent);
    let asks = |execution: &&Execution| {
        may_send(execution) && ends_after(execution, taken) && of_client(&tables.callbacks[execution.callback])
    };
    own.iter().copied().find(asks)?;
    // Of two callbacks of a node that ran at once it is not known which one called.
    let callbacks = numbered(&tables.callbacks).filter(|(_, callback)| of_client(callback));
    let callers = callbacks.flat_map(|(callback, _)| late.ran.executions(repeat, callback));
    (callers.filter(|execution| may_send(execution)).count() == 1).then_some(taken - sent)
}

fn answer<'a>(repeat: &Repeat<'a>, call: &ServiceCall) -> Option<Answer<'a>> {
    let tables = repeat.tables;
    let execution = &tables.executions[call.execution?];
    let name = Named::of_callback(repeat, execution.callback).words(&full_name(repeat, execution.callback));
    let node = tables.callbacks[execution.callback].node.map_or("", |node| &tables.nodes[node].name);
    Some((took_ns(execution), name, node))
}
