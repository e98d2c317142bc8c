//! Executors that wake up late because they compute so much before they call.

use super::late::{callbacks, Late};
use crate::executor_cpu::ExecutorCpu;
use crate::figures::Repeat;
use crate::lints::time;

/// What the executor of a node computes, if that is far more than its callbacks do.
pub(super) fn of_node(late: &Late<'_>, node: &str) -> Option<ExecutorCpu> {
    let of_repeat = |repeat| callbacks(repeat, node).map(move |callback| late.ran.executor_cpu(repeat, callback));
    let all: ExecutorCpu = late.repeats().into_values().flat_map(of_repeat).sum();
    all.is_costly().then_some(all)
}

/// Against the usual wake-up of a node in Python whose executor does.
pub(super) fn advice(late: &Late<'_>, node: &str) -> Option<String> {
    let is_python = |repeat: &Repeat<'_>| callbacks(repeat, node).any(|row| repeat.tables.is_in_python(row));
    let of = of_node(late, node).filter(|_| late.repeats().into_values().any(is_python))?;
    Some(format!(
        "The executor of {node} computes for {} between two callbacks: rclpy's look at all subscriptions, timers and \
         services whenever they wait. Have fewer of them on it, or use rclpy's EventsExecutor, which does not.",
        time(of.outside_ns / of.count)
    ))
}
