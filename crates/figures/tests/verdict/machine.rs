//! Programs that usually have the CPUs while a chain needs them.

use super::*;
use tacho_tables::row::numbered;
use tacho_tables::Execution;

/// The system, with the wait for the planner's due time, 25 to 75 ms, a wait of this kind.
fn with(kind: CauseKind, by: &str) -> Tables {
    let mut tables = scene::tables(&System::healthy().build());
    for cause in tables.causes.iter_mut().filter(|cause| cause.kind == CauseKind::NotDue) {
        (cause.kind, cause.by) = (kind, by.to_owned());
    }
    tables
}

#[test]
fn a_program_that_usually_has_the_cpu_is_named() {
    for kind in [CauseKind::NoCpu, CauseKind::Preemption] {
        let verdict = verdict(&with(kind, "burner"), 0.0);
        let culprit = only(&verdict);
        assert_eq!((culprit.kind, culprit.node.as_deref()), (Some(kind), Some("/planner")));
        assert!(culprit.text.starts_with("burner usually has the CPU for "), "{}", culprit.text);
        assert!(culprit.next.starts_with("Keep burner off the CPU of /planner"), "{}", culprit.next);
    }
}

#[test]
fn without_scheduler_events_time_off_the_cpu_is_the_machine_s_only_if_others_used_it() {
    let callback = "/planner timer 100 ms Talker::tick";
    let busy = verdict(&with(CauseKind::OffCpu, callback), 1.5);
    let text = &only(&busy).text;
    assert!(text.starts_with("Callbacks are usually off the CPU for ") && text.contains(callback), "{text}");
    assert!(text.ends_with("other processes used 1.50 CPUs on the average."), "{text}");
    let alone = verdict(&with(CauseKind::OffCpu, callback), 0.0);
    assert!(only(&alone).text.starts_with("Outputs usually "), "{alone:#?}");
}

/// Messages wait 30 ms for earlier calls of the control's callback, which takes 1 ms with so much CPU time, and the
/// burner has the CPU for 10.
fn own_queue(cpu_ns: i64) -> Vec<Option<CauseKind>> {
    let control = "/control /plan Listener::take";
    let mut tables = scene::tables(&System { control_cpu_ns: Some(cpu_ns), ..System::healthy() }.build());
    let of_control = |row: &Execution| tables.callbacks[row.callback].topic.as_deref() == Some("/plan");
    let execution = numbered(&tables.executions).find(|(_, row)| of_control(row)).expect("one of the control").0;
    for cause in &mut tables.causes {
        match cause.kind {
            CauseKind::NotDue => {
                (cause.kind, cause.by, cause.usual_ns) = (CauseKind::Preemption, "burner".into(), Some(10 * MS));
            }
            CauseKind::Transport if cause.position == 2 => {
                (cause.kind, cause.by, cause.usual_ns) = (CauseKind::ExecutorBusy, control.into(), Some(30 * MS));
                cause.execution = Some(execution);
            }
            _ => {}
        }
    }
    verdict(&tables, 0.0).culprits.iter().map(|culprit| culprit.kind).collect()
}

#[test]
fn a_queue_that_fills_because_its_callback_has_no_cpu_is_the_program_s_that_has_it() {
    let (burner, own) = (Some(CauseKind::Preemption), Some(CauseKind::ExecutorBusy));
    assert_eq!(own_queue(MS), [own, burner]);
    assert_eq!(own_queue(300 * US), [burner, own]);
}
