//! Executors that run nothing though messages wait for them.

use super::facts::{time, Facts, POOL_DELAYS};
use super::ran::{executors, Executor, Ran, Thread};
use super::{Case, Lint};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{Endpoint, Execution, Message};
use tacho_workload::model;

/// How long a message must have stood first in its queue while its executor ran no callback, ns.
const LEAST_NS: i64 = 100_000_000;
/// The same if others had much of the machine: a thread among many may wait for its CPU for that long.
const LEAST_AMONG_OTHERS_NS: i64 = 1_000_000_000;
/// How many others must have been sent meanwhile: an executor that polls may let a few wait.
const MANY: usize = 10;
/// Part of the wait that callbacks of the executor may have taken; more of it is `starved-callback`.
const OF_CALLBACKS: f64 = 0.2;
/// So many waits of about one length, the longest less than twice the shortest, are those of a node that polls.
const POLLS: (usize, i64) = (4, 2);
/// The executor of nodes on a client library, as a workload names it.
const MULTI_THREADED: &str = "multi-threaded";

/// Such a wait.
struct Stall {
    wait_ns: i64,
    /// Messages of the topic that were sent meanwhile.
    sent: usize,
    is_in_python: bool,
    /// Whether several threads run the callbacks.
    is_pool: bool,
}

pub const STALLED: Lint = Lint {
    name: "stalled-executor",
    finds: "an executor ran no callback for long though messages had come for it",
    check: |facts| {
        let least_ns = if facts.others().is_some() { LEAST_AMONG_OTHERS_NS } else { LEAST_NS };
        let mut stalls: BTreeMap<Row<Endpoint>, Vec<Stall>> = BTreeMap::new();
        let mut executors: Option<Executors> = None;
        for message in facts.messages() {
            let Some((arrival_ns, execution)) = waited(facts, message) else { continue };
            if execution.start_ns - arrival_ns < least_ns {
                continue;
            }
            let executors = executors.get_or_insert_with(|| Executors::of(facts));
            let stall = executors.stall(facts, message.subscription, arrival_ns, execution);
            let stall = stall.filter(|stall| stall.wait_ns >= least_ns);
            stall.into_iter().for_each(|stall| stalls.entry(message.subscription).or_default().push(stall));
        }
        stalls.into_iter().filter_map(|(subscription, stalls)| case(facts, subscription, &stalls)).collect()
    },
};

/// From when a message waited, and its execution. `None` if its arrival was not recorded: then it may have been on its
/// way.
fn waited<'f>(facts: &'f Facts<'_>, message: &Message) -> Option<(i64, &'f Execution)> {
    let execution = &facts.tables.executions[message.execution?];
    Some((message.arrival_ns.get()?.max(facts.window.0), execution))
}

/// Executors with all that they ran, in the window and beside it.
struct Executors {
    all: Vec<Executor>,
    of_thread: HashMap<Thread, usize>,
}

impl Executors {
    fn of(facts: &Facts<'_>) -> Executors {
        let tables = facts.tables;
        let thread = |execution: &Execution| (tables.callbacks[execution.callback].process, execution.tid);
        let mut threads: BTreeMap<Thread, Row<Thread>> = BTreeMap::new();
        for execution in &tables.executions {
            let next = Row::behind(threads.len());
            threads.entry(thread(execution)).or_insert(next);
        }
        let ran = |execution: &Execution| Some((threads[&thread(execution)], Ran::of(execution)?));
        let ran = Grouped::new(threads.len(), || tables.executions.iter().filter_map(ran));
        let all = executors(&tables.executors, threads.iter().map(|(thread, place)| (*thread, ran.of(*place))));
        let of = |(place, executor): (usize, &Executor)| {
            let (process, tids) = (executor.process, executor.tids.clone());
            tids.into_iter().map(move |tid| ((process, tid), place))
        };
        let of_thread = all.iter().enumerate().flat_map(of).collect();
        Executors { all, of_thread }
    }

    /// Whether an executor ran nothing while a message stood first in its queue: from its arrival, or from the end of
    /// its callback's execution before.
    fn stall(
        &self,
        facts: &Facts<'_>,
        subscription: Row<Endpoint>,
        arrival_ns: i64,
        execution: &Execution,
    ) -> Option<Stall> {
        let thread = (facts.tables.callbacks[execution.callback].process, execution.tid);
        let executor = &self.all[*self.of_thread.get(&thread)?];
        let to = execution.start_ns;
        let earlier = &executor.ran[..executor.ran.partition_point(|ran| ran.start_ns < to)];
        let before = earlier.iter().rev().find(|ran| ran.callback == execution.callback);
        let from = before.map_or(arrival_ns, |ran| ran.end_ns.max(arrival_ns));
        let (mut busy_ns, mut until) = (0, from);
        for ran in executor.between(from, to, &mut 0) {
            busy_ns += (ran.end_ns.min(to) - ran.start_ns.max(until)).max(0);
            until = until.max(ran.end_ns);
        }
        let published = facts.published(&facts.tables.endpoints[subscription].topic);
        let before = |ns: i64| published.partition_point(|at| *at < ns);
        let (wait_ns, sent) = (to - from, before(to) - before(from.min(to)));
        let is_idle = busy_ns as f64 <= OF_CALLBACKS * wait_ns as f64;
        (is_idle && sent >= MANY).then(|| Stall {
            wait_ns,
            sent,
            is_in_python: facts.tables.is_in_python(execution.callback),
            is_pool: executor.threads > 1 || facts.transport == MULTI_THREADED,
        })
    }
}

fn case(facts: &Facts<'_>, subscription: Row<Endpoint>, stalls: &[Stall]) -> Option<Case> {
    let (node, topic) = facts.endpoint(subscription);
    let (several, alike) = POLLS;
    let longest = stalls.iter().max_by_key(|stall| stall.wait_ns)?;
    let shortest_ns = stalls.iter().map(|stall| stall.wait_ns).min()?;
    if spins(facts, &node) || stalls.len() >= several && longest.wait_ns < alike * shortest_ns {
        return None;
    }
    let all_ns: i64 = stalls.iter().map(|stall| stall.wait_ns).sum();
    let times = if stalls.len() == 1 { "once".into() } else { format!("{} times", stalls.len()) };
    Some(Case {
        subject: format!("{node} {topic}"),
        evidence: format!(
            "{times} it ran no callback though a message had come; the longest time {}, in which {} more were sent",
            time(longest.wait_ns),
            longest.sent
        ),
        cost: format!("messages waited {} in all for their turn", time(all_ns)),
        next: match (longest.is_in_python, longest.is_pool) {
            (true, true) => format!(
                "a single-threaded executor, or rclpy's EventsExecutor, because {POOL_DELAYS}: it submits a waiting \
                 callback again and again until a thread is free, and Python runs little else meanwhile"
            ),
            (true, false) => "what else its process runs (py-spy dump): another thread in Python may have the \
                              interpreter, or a loop of its own calls spin_once() seldom"
                .into(),
            (false, _) => "what its thread does meanwhile: tacho record --scheduler shows if it had no CPU; a loop of \
                           its own may call spin_some() seldom"
                .into(),
        },
        weight: all_ns as f64,
        delays: None,
    })
}

/// Whether a node lets messages wait on purpose.
fn spins(facts: &Facts<'_>, name: &str) -> bool {
    facts.node(name).is_some_and(|node| matches!(node.executor, model::Executor::Spin { .. }))
}
