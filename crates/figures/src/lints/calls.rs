//! Service calls that an executor waits for.

use super::facts::{percent, time, Facts};
use super::ran::Executor;
use super::{Case, Lint};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::{Callback, Execution, Node, Process, ServiceCall};

/// Calls of a callback that are judged together, and the part of them that must come back inside it.
const CALLS: usize = 3;
const INSIDE: f64 = 0.9;
/// Part of the callback's time that the calls take, from which on it waits for them.
const WAITS: f64 = 0.5;
/// Part of the window from which on it is reported, and of an executor with other threads that go on.
const COST: f64 = 0.01;
const COST_OF_SEVERAL: f64 = 0.1;
/// A callback that sent a request so long before the end of its process, and never went on, hangs.
const HANGS_NS: i64 = 1_000_000_000;
/// And longer than this many of the slowest call that came back.
const HANGS_CALLS: i64 = 10;

pub const CALL_BLOCKS: Lint = Lint {
    name: "call-blocks-executor",
    finds: "a callback waits for the response of a service, and nothing else runs in its place",
    check: |facts| waiting(facts).into_iter().chain(hanging(facts)).collect(),
};

/// Calls that one callback made inside of itself.
#[derive(Default)]
struct Calls {
    made: usize,
    /// Of those whose response was taken before it ended.
    inside: usize,
    waited_ns: i64,
    longest_ns: i64,
    ran_ns: i64,
    /// Wall time without CPU time, where that is known.
    off_cpu_ns: Option<i64>,
    /// Longest execution that answered one of them.
    answered: Option<(i64, Row<Callback>)>,
}

fn process_of(facts: &Facts<'_>, node: Row<Node>) -> Row<Process> {
    facts.tables.nodes[node].process
}

fn waiting(facts: &Facts<'_>) -> Vec<Case> {
    let executors = facts.executors();
    let mut of: BTreeMap<(Row<Callback>, &str), (&Executor, Calls)> = BTreeMap::new();
    for call in facts.tables.services.iter().filter(|call| call.requested_ns().is_some_and(|ns| facts.judges(ns))) {
        let (Some(client), Some(sent)) = (call.client, call.requested_ns()) else { continue };
        let own = executors.iter().filter(|executor| executor.process == process_of(facts, client));
        let inside = own.flat_map(|executor| executor.between(sent, sent + 1, &mut 0).map(move |ran| (executor, ran)));
        let mut callers = inside.filter(|(_, ran)| facts.tables.callbacks[ran.callback].node == Some(client));
        // Of two callbacks of a node that ran at once it is not known which one called.
        let (Some((executor, ran)), None) = (callers.next(), callers.next()) else { continue };
        let (_, calls) = of.entry((ran.callback, call.service.as_str())).or_insert((executor, Calls::default()));
        calls.made += 1;
        if let Some(taken) = call.response_taken_ns.filter(|taken| *taken <= ran.end_ns) {
            calls.inside += 1;
            calls.waited_ns += taken - sent;
            calls.longest_ns = calls.longest_ns.max(taken - sent);
            calls.ran_ns += ran.end_ns - ran.start_ns;
            let off = ran.cpu_ns.get().map(|cpu| ran.end_ns - ran.start_ns - cpu);
            calls.off_cpu_ns = off.map(|off| calls.off_cpu_ns.unwrap_or(0) + off).or(calls.off_cpu_ns);
            let by = call.execution.map(|execution| &facts.tables.executions[execution]);
            let answered = by.and_then(|by| Some((by.end_ns.get()? - by.start_ns, by.callback)));
            calls.answered = calls.answered.max(answered);
        }
    }
    let case = |((callback, service), (executor, calls)): ((Row<Callback>, &str), (&Executor, Calls))| {
        let (window, waited) = (time(facts.window_ns()), time(calls.waited_ns));
        let (cost, held) = match executor.threads {
            1 => (COST, format!("its executor has one thread, and ran nothing else for {waited} of {window}")),
            threads => (
                COST_OF_SEVERAL,
                format!(
                    "one of the {threads} threads of its executor, and all callbacks of its mutually exclusive group, \
                     waited with it for {waited} of {window}"
                ),
            ),
        };
        let worked = calls.off_cpu_ns.is_some_and(|off| (off as f64) < WAITS * calls.waited_ns as f64);
        let waits = calls.inside >= CALLS
            && calls.inside as f64 >= INSIDE * calls.made as f64
            && calls.waited_ns as f64 >= WAITS * calls.ran_ns as f64
            && calls.waited_ns as f64 >= cost * facts.window_ns() as f64;
        (waits && !worked).then(|| Case {
            subject: format!("{} calls {service}", facts.callback(callback)),
            evidence: format!(
                "{} of {} calls ({}) came back inside the callback that sent them, {} of the {} that it took; the \
                 longest {}{}",
                calls.inside,
                calls.made,
                percent(calls.inside, calls.made),
                time(calls.waited_ns),
                time(calls.ran_ns),
                time(calls.longest_ns),
                calls.answered.map_or(String::new(), |(ns, callback)| {
                    format!("; {} took up to {} to answer", facts.callback(callback), time(ns))
                })
            ),
            cost: held,
            next: ASYNCHRONOUS.into(),
            weight: calls.waited_ns as f64,
            delays: None,
        })
    };
    of.into_iter().filter_map(case).collect()
}

const ASYNCHRONOUS: &str = "an asynchronous call that gives the thread back: rclcpp async_send_request with a \
    callback for the response, rclpy call_async \
     with await or add_done_callback; in ROS 1 a thread of its own for the call";

/// Callbacks that sent a request and never ended.
fn hanging(facts: &Facts<'_>) -> Vec<Case> {
    let mut slowest: HashMap<&str, i64> = HashMap::default();
    for call in &facts.tables.services {
        if let Some((sent, taken)) = call.requested_ns().zip(call.response_taken_ns) {
            let slowest = slowest.entry(call.service.as_str()).or_default();
            *slowest = (taken - sent).max(*slowest);
        }
    }
    let open: Vec<(Row<Execution>, &Execution)> =
        facts.tables.executions.numbered().filter(|(_, execution)| execution.end_ns.get().is_none()).collect();
    let case = |call: &ServiceCall| {
        let (client, sent) = (call.client?, call.requested_ns()?);
        let process = process_of(facts, client);
        let last = facts.tables.processes[process].last_ns;
        let patience = HANGS_NS.max(HANGS_CALLS * slowest.get(call.service.as_str()).copied().unwrap_or(0));
        let is_old = call.response_taken_ns.is_none() && last - sent >= patience && facts.judges(sent);
        let mut callers = open.iter().filter(|(_, execution)| {
            let callback = &facts.tables.callbacks[execution.callback];
            callback.process == process && callback.node == Some(client) && execution.start_ns <= sent
        });
        let (Some((row, execution)), None, true) = (callers.next(), callers.next(), is_old) else { return None };
        // Another call of it, or of a callback inside of it, may have come later.
        let went_on = facts.tables.executions.numbered().any(|(other, e)| {
            other > *row
                && e.tid == execution.tid
                && process == facts.tables.callbacks[e.callback].process
                && e.start_ns > sent
        });
        const ITSELF: &str = "if only its executor can take the response, the callback waits for itself: a deadlock";
        const NOBODY: &str =
            "a call without a timeout waits for a server that does not answer, and its callbacks with it";
        let (answered, cost) = match (call.request_taken_ns, call.response_ns) {
            (_, Some(_)) => ("the response was sent and not taken", ITSELF),
            (Some(_), None) => ("its server took the request and sent no response", NOBODY),
            _ => ("no server was seen to take the request", NOBODY),
        };
        (!went_on).then(|| Case {
            subject: format!("{} calls {}", facts.callback(execution.callback), call.service.as_str()),
            evidence: format!(
                "it sent a request {} after its start and never ended; {answered}, and its thread ran nothing for \
                 the {} to the end",
                time(sent - execution.start_ns),
                time(last - sent)
            ),
            cost: cost.into(),
            next: format!(
                "{ASYNCHRONOUS}; or the client in a callback group of its own on a multi-threaded \
                executor"
            ),
            weight: (last - sent) as f64,
            delays: None,
        })
    };
    facts.tables.services.iter().filter_map(case).collect()
}
