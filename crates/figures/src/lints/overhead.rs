//! Executors that compute more than what they call.

use super::executors::message_waits;
use super::facts::{time, Facts};
use super::ran::{Executor, Thread};
use super::{Case, Lint};
use crate::executor_cpu::ExecutorCpu;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;
use tacho_tables::row::Row;
use tacho_tables::{named, CallbackKind, Node};

/// Part of a CPU that an executor takes beside its callbacks, or nobody misses it.
const OF_CPU: f64 = 0.05;
/// Nodes that a case names.
const NAMED: usize = 3;

pub const OVERHEAD: Lint = Lint {
    name: "executor-overhead",
    finds: "an executor computes far more outside of its callbacks than inside",
    check: |facts| {
        let computed = computed(facts);
        let costly = |executor| Some((executor, costly(facts, executor, &computed)?));
        let found: Vec<(&Executor, ExecutorCpu)> = facts.executors().iter().filter_map(costly).collect();
        if found.is_empty() {
            return vec![];
        }
        let waits = message_waits(facts);
        found.into_iter().filter_map(|(executor, of)| case(facts, executor, of, &waits)).collect()
    },
};

/// Of each thread.
fn computed(facts: &Facts<'_>) -> HashMap<Thread, ExecutorCpu> {
    let mut of_threads: HashMap<Thread, ExecutorCpu> = HashMap::default();
    for execution in facts.executions() {
        let Some(one) = ExecutorCpu::of(execution) else { continue };
        let thread = (facts.tables.callbacks[execution.callback].process, execution.tid);
        let of = of_threads.entry(thread).or_default();
        *of = [*of, one].into_iter().sum();
    }
    of_threads
}

fn threads(executor: &Executor) -> impl Iterator<Item = Thread> + '_ {
    executor.tids.iter().map(|tid| (executor.process, *tid))
}

/// Part of a CPU that an executor takes outside of its callbacks.
fn of_cpu(facts: &Facts<'_>, of: ExecutorCpu) -> f64 {
    of.outside_ns as f64 / facts.window_ns().max(1) as f64
}

/// What an executor computes, if that is worth a look.
fn costly(facts: &Facts<'_>, executor: &Executor, computed: &HashMap<Thread, ExecutorCpu>) -> Option<ExecutorCpu> {
    let of: ExecutorCpu = threads(executor).filter_map(|thread| computed.get(&thread)).copied().sum();
    (of.is_costly() && of_cpu(facts, of) >= OF_CPU).then_some(of)
}

fn case(facts: &Facts<'_>, executor: &Executor, of: ExecutorCpu, waits: &HashMap<Thread, (i64, i64)>) -> Option<Case> {
    let of_cpu = of_cpu(facts, of);
    let first = executor.ran.first()?.callback;
    let nodes: HashSet<Row<Node>> =
        executor.ran.iter().filter_map(|ran| facts.tables.callbacks[ran.callback].node).collect();
    let names: BTreeSet<&str> = nodes.iter().map(|node| facts.tables.nodes[*node].name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let kinds = [
        (CallbackKind::Subscription, "subscription"),
        (CallbackKind::Timer, "timer"),
        (CallbackKind::Service, "service"),
    ];
    let count = |kind| {
        let callbacks = facts.tables.callbacks.iter().filter(|of| of.node.is_some_and(|node| nodes.contains(&node)));
        callbacks.filter(|callback| callback.kind == kind).count()
    };
    let words = |(count, word): (usize, &str)| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let has = kinds.map(|(kind, word)| words((count(kind), word))).join(", ");
    let (sum, messages) =
        threads(executor).filter_map(|thread| waits.get(&thread)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let share = format!("{:.1} % of a CPU", 100.0 * of_cpu);
    Some(Case {
        subject: format!("executor of {}", named(&names, NAMED)),
        evidence: format!(
            "{} of CPU time a callback outside of {} callbacks, {} inside; its nodes have {has}",
            time(of.outside_ns / of.count),
            of.count,
            time(of.inside_ns / of.count)
        ),
        cost: match messages {
            0 => share,
            _ => format!("{share}; messages wait {} for their callback on the average", time(sum / messages)),
        },
        next: if facts.tables.is_in_python(first) {
            "fewer subscriptions, timers and services on it, because rclpy's executors look at all of them whenever \
             they wait; or rclpy's EventsExecutor, which does not. What a loop of its own around \
             spin_once() computes counts, too"
                .into()
        } else {
            "what its thread computes between callbacks (perf record -t), which may be a loop of its own around \
             spin_once()"
                .into()
        },
        weight: of_cpu,
        delays: None,
    })
}
