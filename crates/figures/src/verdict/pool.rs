//! rclpy's MultiThreadedExecutor, which wakes up late if callbacks block the threads of its pool.
//!
//! Until a thread of the pool begins with a callback, its main thread submits that callback again in each round
//! (`Executor._wait_for_ready_callbacks` yields every task that neither executes nor is done), and holds the
//! interpreter's lock for most of that time. The pool has to go through all of them later.

use super::late::Late;
use super::Suspect;
use std::collections::BTreeSet;
use tacho_tables::CauseKind;

/// What holds the threads of a pool stands before the wake-ups that come of it.
pub(super) fn behind_what_blocks(late: &Late<'_>, suspects: &mut [Suspect]) {
    let mut blocked = Vec::new();
    for suspect in suspects.iter() {
        let culprit = &suspect.culprit;
        let holds = matches!(
            culprit.kind,
            Some(CauseKind::ExecutorBusy | CauseKind::GroupBusy | CauseKind::OffCpu | CauseKind::Blocked)
        );
        if let Some(node) = culprit.node.as_ref().filter(|node| holds && is_of_rclpy(late, node)) {
            blocked.push((node.clone(), suspect.weight));
        }
    }
    for suspect in suspects.iter_mut().filter(|suspect| suspect.culprit.kind == Some(CauseKind::WakeUp)) {
        let of_node = blocked.iter().filter(|(node, _)| Some(node) == suspect.culprit.node.as_ref());
        let most = of_node.map(|(_, weight)| *weight).fold(f64::NEG_INFINITY, f64::max);
        if most > f64::NEG_INFINITY {
            suspect.weight = suspect.weight.min(0.9 * most);
        }
    }
}

/// Whether several threads run the callbacks of a node in Python.
pub(super) fn is_of_rclpy(late: &Late<'_>, node: &str) -> bool {
    late.repeats().values().any(|repeat| {
        let tables = repeat.tables;
        let own = tables.executions.iter().filter_map(|execution| {
            let callback = &tables.callbacks[execution.callback];
            let is_python = callback.location.as_ref().is_some_and(|location| location.contains(".py:"));
            (is_python && callback.node.is_some_and(|of| tables.nodes[of].name == node)).then_some(execution.tid)
        });
        own.collect::<BTreeSet<u32>>().len() > 1
    })
}

/// Against wake-ups of such a node.
pub(super) fn advice(node: &str) -> String {
    format!(
        "{node} has rclpy's MultiThreadedExecutor, which submits a waiting callback again and again until a thread is \
         free, and Python runs little else meanwhile: give it more threads than callbacks that block, or move those to \
         a process of their own."
    )
}
