//! rclpy's MultiThreadedExecutor, which wakes up late if callbacks block the threads of its pool.
//!
//! Until a thread of the pool begins with a callback, its main thread submits that callback again in each round
//! (`Executor._wait_for_ready_callbacks` yields every task that neither executes nor is done), and holds the
//! interpreter's lock for most of that time. The pool has to go through all of them later.

use super::late::{callbacks, Late};
use super::Suspect;
use tacho_tables::summary::Culprit;
use tacho_tables::CauseKind;

/// What holds the threads of a pool stands before the wake-ups that come of it.
pub(super) fn behind_what_blocks(late: &Late<'_>, suspects: &mut [Suspect]) {
    for place in 0..suspects.len() {
        let Culprit { kind: Some(CauseKind::WakeUp), node: Some(node), .. } = &suspects[place].culprit else {
            continue;
        };
        let of_node = suspects.iter().filter(|suspect| suspect.culprit.node.as_ref() == Some(node));
        let holds = of_node.filter(|suspect| suspect.culprit.kind.is_some_and(holds));
        let most = holds.map(|suspect| suspect.weight).max_by(f64::total_cmp);
        if let Some(most) = most.filter(|_| is_of_rclpy(late, node)) {
            suspects[place].weight = suspects[place].weight.min(0.9 * most);
        }
    }
}

/// Whether a culprit of this kind holds a thread.
fn holds(kind: CauseKind) -> bool {
    kind.is_busy() || matches!(kind, CauseKind::OffCpu | CauseKind::Blocked | CauseKind::InterpreterBusy)
}

/// Whether several threads run the callbacks of a node in Python.
pub(super) fn is_of_rclpy(late: &Late<'_>, node: &str) -> bool {
    late.repeats().values().any(|repeat| {
        let own = callbacks(repeat, node).filter(|row| repeat.tables.is_in_python(*row));
        let mut threads = own.flat_map(|callback| late.ran.executions(repeat, callback)).map(|row| row.tid);
        threads.next().is_some_and(|first| threads.any(|other| other != first))
    })
}

/// Against wake-ups of such a node.
pub(super) fn advice(node: &str) -> String {
    format!(
        "{node} has rclpy's MultiThreadedExecutor, which submits a waiting callback again and again until a thread is \
         free, and Python runs little else meanwhile: run callbacks that block on threads of their own, beside a \
         single-threaded executor, or in a process of their own."
    )
}
