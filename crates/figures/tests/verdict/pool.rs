//! Wake-ups of rclpy's multi-threaded executor.

use super::*;
use tacho_tables::Cause;

/// Each of five late outputs waited 96 ms for another callback of the planner, and another 200 ms for a wake-up.
fn late_wake_ups(is_python: bool) -> Verdict {
    let loads = [2_505, 3_505, 4_505, 5_505, 6_505].map(|from| (from * MS, (from + 121) * MS)).to_vec();
    let mut tables = scene::tables(&System { loads, ..System::healthy() }.build());
    let busy: Vec<Cause> =
        tables.causes.iter().filter(|cause| cause.kind == CauseKind::ExecutorBusy).cloned().collect();
    tables.causes.extend(busy.into_iter().map(|cause| Cause {
        kind: CauseKind::WakeUp,
        by: "/planner".into(),
        execution: None,
        duration_ns: (200 * MS).into(),
        usual_ns: 0.into(),
        ..cause
    }));
    if is_python {
        tables.callbacks.iter_mut().for_each(|callback| callback.location = Some("/planner.py:3".into()));
        let Tables { callbacks, executions, .. } = &mut tables;
        let of_map = executions.iter_mut().filter(|row| callbacks[row.callback].topic.as_deref() == Some("/map"));
        of_map.for_each(|row| row.tid = 77);
    }
    verdict(&tables, 0.0)
}

#[test]
fn what_blocks_a_thread_of_its_pool_stands_before_the_wake_ups_that_come_of_it() {
    let kinds = |verdict: &Verdict| verdict.culprits.iter().filter_map(|culprit| culprit.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&late_wake_ups(false)), [CauseKind::WakeUp, CauseKind::ExecutorBusy]);
    let pool = late_wake_ups(true);
    assert_eq!(kinds(&pool), [CauseKind::ExecutorBusy, CauseKind::WakeUp]);
    assert!(pool.culprits[1].next.contains("rclpy's MultiThreadedExecutor"), "{}", pool.culprits[1].next);
}
