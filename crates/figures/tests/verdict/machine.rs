//! Programs that usually have the CPUs while a chain needs them.

use super::*;
use tacho_tables::row::{numbered, rows_of};
use tacho_tables::{Cause, MaybeNs};

/// The system, with the wait for the planner's due time, 25 to 75 ms, a wait of this kind.
fn with(kind: CauseKind, by: &str) -> Tables {
    let mut tables = scene::tables(&System::healthy().build());
    for cause in tables.causes.iter_mut().filter(|cause| cause.kind == CauseKind::NotDue) {
        (cause.kind, cause.by) = (kind, by.into());
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
    let beside = |others_cpus, computed_ns: i64| {
        let mut tables = with(CauseKind::OffCpu, callback);
        let own = |cause: &&mut Cause| cause.kind == CauseKind::Computation && &*cause.by == callback;
        tables.causes.iter_mut().filter(own).for_each(|cause| cause.usual_ns = computed_ns.into());
        only(&verdict(&tables, others_cpus)).text.clone()
    };
    let text = beside(1.5, 5 * MS);
    assert!(text.starts_with("Callbacks are usually off the CPU for ") && text.contains(callback), "{text}");
    assert!(text.ends_with("other processes used 1.50 CPUs on the average."), "{text}");
    assert!(beside(0.0, 5 * MS).starts_with("Outputs usually "), "nobody used it");
    assert!(beside(1.5, MS).starts_with("Outputs usually "), "a callback that computes for 2 % of its time slept");
}

#[test]
fn what_was_ready_to_run_is_the_machine_s_and_what_slept_is_not_whatever_others_used() {
    let callback = "/planner timer 100 ms Talker::tick";
    // `ready_ms`: of the first call, for how long it was ready to run; if told, that is a part of each instance.
    let off_cpu_of = |kind, by: &str, others_cpus, ready_ms: i64, is_told: bool| {
        let mut tables = with(kind, by);
        let own = rows_of(&tables.callbacks).find(|row| tables.callbacks[*row].period_ns == Some(100 * MS)).unwrap();
        let executions: Vec<_> = numbered(&tables.executions).filter(|(_, e)| e.callback == own).collect();
        let first = executions[0].0;
        // It computes for half of its time, as one that shares a CPU does.
        let computed = |cause: &&mut Cause| cause.kind == CauseKind::Computation && &*cause.by == callback;
        tables.causes.iter_mut().filter(computed).for_each(|cause| cause.usual_ns = (30 * MS).into());
        tables.executions.iter_mut().for_each(|execution| execution.runnable_ns = 0.into());
        tables.causes.iter_mut().filter(|cause| cause.kind == kind).for_each(|cause| cause.execution = Some(first));
        tables.executions[first].runnable_ns = (ready_ms * MS).into();
        let ready = |cause: &Cause| Cause {
            kind: CauseKind::Preemption,
            by: Cause::BY_UNKNOWN.into(),
            duration_ns: (ready_ms * MS).into(),
            usual_ns: MaybeNs::NONE,
            ..cause.clone()
        };
        let told: Vec<Cause> = tables.causes.iter().filter(|cause| is_told && cause.kind == kind).map(ready).collect();
        tables.causes.extend(told);
        only(&verdict(&tables, others_cpus)).clone()
    };
    let off_cpu = |kind, by: &str, others_cpus| off_cpu_of(kind, by, others_cpus, 0, false);
    let slept = off_cpu(CauseKind::OffCpu, callback, 1.5);
    assert!(slept.text.starts_with("Outputs usually "), "{}", slept.text);
    // It was ready to run for 100 ms after it published, or somewhere: then it may have lacked a CPU in this part.
    let told = off_cpu_of(CauseKind::OffCpu, callback, 1.5, 100, true);
    assert_eq!(told.text, slept.text);
    let open = off_cpu_of(CauseKind::OffCpu, callback, 1.5, 100, false);
    assert!(open.text.starts_with("Callbacks are usually off the CPU for "), "{}", open.text);
    assert!(!slept.next.contains("--scheduler"), "{}", slept.next);
    for (others_cpus, ends) in [(1.5, ": other processes used 1.50 CPUs on the average."), (0.0, " ms).")] {
        let ready = off_cpu(CauseKind::Preemption, Cause::BY_UNKNOWN, others_cpus);
        let late = off_cpu(CauseKind::NoCpu, Cause::BY_UNKNOWN, others_cpus);
        assert_eq!((&late.text, &late.next), (&ready.text, &ready.next));
        assert!(ready.text.starts_with("Nodes of the chain usually could run and have no CPU for "), "{}", ready.text);
        assert!(ready.text.ends_with(ends), "{}", ready.text);
        assert!(ready.next.contains("--scheduler on"), "{}", ready.next);
    }
}

/// Messages wait 30 ms for earlier calls of the control's callback, which takes 1 ms with so much CPU time. By what the
/// chain shows, the burner usually has the CPU for `shown_ns`. `rows`: the scheduler's rows of one of those calls, from
/// its first ns on, for so long.
fn own_queue(cpu_ns: i64, shown_ns: i64, rows: Option<i64>) -> Verdict {
    verdict(&own_queue_of(cpu_ns, MaybeNs::NONE, shown_ns, rows), 0.0)
}

/// The same if each call was ready to run, without a CPU, for so long.
fn own_queue_of(cpu_ns: i64, runnable_ns: MaybeNs, shown_ns: i64, rows: Option<i64>) -> Tables {
    let control = "/control /plan Listener::take";
    let mut tables = scene::tables(&System { control_cpu_ns: Some(cpu_ns), ..System::healthy() }.build());
    tables.executions.iter_mut().for_each(|row| row.runnable_ns = runnable_ns);
    let of_control = |row: &Execution| tables.callbacks[row.callback].topic.as_deref() == Some("/plan");
    let execution = numbered(&tables.executions).find(|(_, row)| of_control(row)).expect("one of the control").0;
    for cause in &mut tables.causes {
        match cause.kind {
            CauseKind::NotDue => {
                (cause.kind, cause.by, cause.usual_ns) = (CauseKind::Preemption, "burner".into(), shown_ns.into());
                cause.position = 2;
            }
            CauseKind::Transport if cause.position == 2 => {
                (cause.kind, cause.by, cause.usual_ns) = (CauseKind::ExecutorBusy, control.into(), (30 * MS).into());
                cause.execution = Some(execution);
            }
            _ => {}
        }
    }
    let preempted = rows.map(|lacked_ns| without_a_cpu(&tables, execution, lacked_ns));
    tables.preemptions = preempted.into_iter().collect();
    rows.into_iter().for_each(|lacked_ns| tables.executions[execution].runnable_ns = lacked_ns.into());
    tables
}

fn kinds(verdict: &Verdict) -> Vec<Option<CauseKind>> {
    verdict.culprits.iter().map(|culprit| culprit.kind).collect()
}

#[test]
fn a_queue_that_fills_because_its_callback_has_no_cpu_is_the_program_s_that_has_it() {
    let (burner, own) = (Some(CauseKind::Preemption), Some(CauseKind::ExecutorBusy));
    assert_eq!(kinds(&own_queue(MS, 10 * MS, None)), [own, burner]);
    assert_eq!(kinds(&own_queue(300 * US, 10 * MS, None)), [burner, own]);
    // One that computes for 2 % of its time slept, whatever others did.
    assert_eq!(kinds(&own_queue(20 * US, 10 * MS, None)), [own, burner]);
}

#[test]
fn a_queue_fills_for_want_of_a_cpu_if_the_calls_were_ready_to_run_however_little_they_compute() {
    let (burner, own) = (Some(CauseKind::Preemption), Some(CauseKind::ExecutorBusy));
    let system = |cpu_ns, runnable_ns: i64| own_queue_of(cpu_ns, runnable_ns.into(), 10 * MS, None);
    let of = |cpu_ns, runnable_ns| kinds(&verdict(&system(cpu_ns, runnable_ns), 0.0));
    assert_eq!(of(20 * US, 900 * US), [burner, own]);
    assert_eq!(of(300 * US, 0), [own, burner], "it slept for the rest");
    assert_eq!(of(300 * US, 600 * US), [burner, own]);
    // With a CPU, a call of 1 ms would take 0.4: it would keep up with a message each 0.6 ms, not with one each 0.3.
    let every = |interval_ns: i64| {
        let mut tables = system(300 * US, 600 * US);
        for (place, publication) in (0..).zip(tables.publications.iter_mut()) {
            publication.publish_ns = place * interval_ns;
        }
        kinds(&verdict(&tables, 0.0))[0]
    };
    assert_eq!((every(200 * US), every(100 * US)), (burner, own), "two of three messages are on other topics");
}

#[test]
fn one_that_shows_little_in_the_chain_is_named_if_the_calls_that_fill_the_queue_lacked_a_cpu() {
    let (burner, own) = (Some(CauseKind::Preemption), Some(CauseKind::ExecutorBusy));
    let verdict = own_queue(MS, 100 * US, Some(500 * US));
    assert_eq!(kinds(&verdict), [burner, own]);
    let text = &verdict.culprits[0].text;
    assert!(text.starts_with("take of /control could run and has no CPU for 50 % of its time"), "{text}");
    assert!(text.contains("(preempted by burner)"), "{text}");
    assert_eq!(kinds(&own_queue(MS, 100 * US, Some(100 * US))), [own], "a tenth of its time explains no queue");
}
