//! Callbacks whose wall time is not their work: what lints say of them.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_analysis::Options;
use tacho_events::run::{Load, RunInfo};
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::row::Row;
use tacho_tables::summary::{FindingCase, Summary};
use tacho_tables::{Callback, Execution, OffCpu, Preemption, Tables};

const MS: i64 = 1_000_000;

/// A timer of 10 ms whose callback takes 12, ten times; its thread's clock says that it worked for `cpu_ms` of them.
fn over_its_period(cpu_ms: Option<i64>) -> Tables {
    let mut b = FileBuilder::new().node(1, "ndt").publisher("/pose").timer(10 * MS);
    for k in 0..10 {
        let at = 20 * MS * (k + 1);
        let clock = |b: FileBuilder, at_ms: i64, end: bool| match cpu_ms {
            Some(_) => b.callback_cpu(at_ms * MS, end),
            None => b,
        };
        b = clock(b.at(at - 1_000), 100 * k, false)
            .at(at)
            .callback_start(TIMER_CALLBACK, false)
            .at(at + 12 * MS)
            .end_timer();
        b = clock(b.at(at + 12 * MS + 1_000), 100 * k + cpu_ms.unwrap_or(0), true);
    }
    tables(&b)
}

fn of(tables: &Tables, load: Option<Load>) -> Summary {
    let info = RunInfo { load, ..RunInfo::default() };
    summarise(&[Repeat { tables, options: Options::default(), info: Some(&info) }], None)
}

fn case(summary: Summary) -> FindingCase {
    let finding =
        summary.findings.expect("lints ran").into_iter().find(|f| f.lint == "callback-exceeds-period").expect("found");
    finding.cases[0].clone()
}

fn busy() -> Option<Load> {
    Some(Load { over_s: 2.0, cpus: Some(2), others_cpu_s: Some(3.0), ..Load::default() })
}

#[test]
fn work_that_is_too_much_is_told_so() {
    for load in [None, busy()] {
        let case = case(of(&over_its_period(Some(11)), load));
        assert!(case.next.contains("less work a call") && case.evidence.ends_with("the longest 12.0 ms"), "{case:?}");
    }
    assert!(
        case(of(&over_its_period(None), None)).next.contains("less work a call"),
        "nothing speaks for anything else"
    );
}

/// Scheduler events of its first callback alone: it was off the CPU for 10 ms.
fn off(tables: &mut Tables, state: OffCpu) {
    let runnable_ns = if state == OffCpu::Runnable { 10 * MS } else { 0 };
    tables.executions[Row::new(0)].runnable_ns = runnable_ns.into();
    let row = Preemption {
        process: Row::new(0),
        tid: 1,
        execution: Some(Row::new(0)),
        from_ns: 21 * MS,
        to_ns: 31 * MS,
        state,
        woken: false,
        cpu: 0,
        by_tid: None,
        by_comm: None,
        waits_in: None,
    };
    tables.preemptions = vec![row].into();
}

#[test]
fn a_callback_without_a_cpu_is_not_told_to_work_less() {
    let mut tables = over_its_period(Some(2));
    let untold = case(of(&tables, busy()));
    let said = "; of 120.0 ms inside them 100.0 ms (83 %) was wall time without CPU time";
    assert!(
        untold.evidence.contains(said) && untold.evidence.contains("cannot be known without scheduler events"),
        "{untold:?}"
    );
    assert!(untold.evidence.ends_with("other processes used 1.50 of 2 CPUs on the average"), "{untold:?}");

    off(&mut tables, OffCpu::Runnable);
    let kept = case(of(&tables, None));
    assert!(
        kept.evidence.ends_with("its thread was kept from its CPU") && kept.next.starts_with("a CPU of its own"),
        "{kept:?}"
    );
    off(&mut tables, OffCpu::Blocked);
    let slept = case(of(&tables, None));
    assert!(
        slept.evidence.ends_with("slept or was blocked in the callback") && slept.next.starts_with("what it waits for"),
        "{slept:?}"
    );
    for case in [untold, kept, slept] {
        assert!(!case.next.contains("less work"), "{case:?}");
    }
}

#[test]
fn beside_others_only_scheduler_events_show_that_a_callback_slept() {
    let found = |tables: &Tables, load: Option<Load>| {
        of(tables, load).findings.expect("lints ran").iter().any(|finding| finding.lint == "callback-off-cpu")
    };
    let mut tables = over_its_period(Some(2));
    assert!(found(&tables, None), "nobody was there to keep it from its CPU");
    assert!(!found(&tables, busy()));
    off(&mut tables, OffCpu::Blocked);
    assert!(found(&tables, busy()));
}

#[test]
fn without_cpu_time_a_busy_machine_is_named_in_its_place() {
    let case = case(of(&over_its_period(None), busy()));
    assert!(
        case.evidence.contains("CPU time is not recorded, and other processes used 1.50 of 2 CPUs on the average"),
        "{case:?}"
    );
    assert!(case.next.contains("--cpu-time") && !case.next.contains("less work"), "{case:?}");
}

#[test]
fn calls_that_take_too_long_for_want_of_a_cpu_did_not_sleep_because_others_did() {
    // Eight calls of 9 ms sleep for 7 of them; two of 12 ms lack a CPU for 10.
    let mut tables = over_its_period(Some(2));
    for (place, execution) in tables.executions.iter_mut().enumerate() {
        let (takes_ms, runnable_ms) = if place < 8 { (9, 0) } else { (12, 10) };
        (execution.end_ns, execution.runnable_ns) =
            ((execution.start_ns + takes_ms * MS).into(), (runnable_ms * MS).into());
    }
    let case = case(of(&tables, None));
    assert!(case.evidence.starts_with("2 of 10 executions"), "{case:?}");
    assert!(case.evidence.ends_with("its thread was kept from its CPU"), "{case:?}");
}

/// It worked for 2 ms of 12, and was ready to run for so many of the others.
fn tables_ready_for(ms: i64) -> Tables {
    let mut tables = over_its_period(Some(2));
    tables.executions.iter_mut().for_each(|execution| execution.runnable_ns = (ms * MS).into());
    tables
}

/// What lints say of it if it worked for 2 ms of 12, and was ready to run for so many of the others.
fn told(ready_ms: i64, load: Option<Load>) -> (Vec<String>, String) {
    let summary = of(&tables_ready_for(ready_ms), load);
    let lints = ["callback-off-cpu", "preempted-callback"];
    let named = summary.findings.iter().flatten().map(|finding| finding.lint.clone());
    (named.filter(|lint| lints.contains(&lint.as_str())).collect(), case(summary).evidence)
}

#[test]
fn by_the_run_delay_a_callback_slept_or_was_kept_from_its_cpu_beside_others_and_alone() {
    for load in [None, busy()] {
        let (lints, evidence) = told(0, load.clone());
        assert_eq!(lints, ["callback-off-cpu"]);
        assert!(evidence.contains("its thread slept or was blocked in the callback"), "{evidence}");
        let (lints, evidence) = told(10, load.clone());
        assert_eq!(lints, ["preempted-callback"]);
        assert!(evidence.contains("its thread was kept from its CPU"), "{evidence}");
        let summary = of(&tables_ready_for(10), load.clone());
        let preempted = summary.findings.into_iter().flatten().find(|finding| finding.lint == "preempted-callback");
        let evidence = &preempted.unwrap().cases[0].evidence;
        assert_eq!(evidence.contains("; other processes used 1.50 of 2 CPUs"), load.is_some(), "{evidence}");
    }
}

#[test]
fn what_may_have_been_steal_is_no_sleep() {
    // Ten times 10 ms off the CPU.
    let stolen_s =
        |s: f64| Load { over_s: 2.0, cpus: Some(2), steal_percent: Some(100.0 * s / 4.0), ..Load::default() };
    let (lints, evidence) = told(0, Some(stolen_s(0.11)));
    assert_eq!(lints, Vec::<String>::new());
    assert!(evidence.contains("cannot be known without scheduler events"), "{evidence}");
    assert_eq!(told(0, Some(stolen_s(0.09))).0, ["callback-off-cpu"]);
}

#[test]
fn wall_time_without_cpu_time_is_a_figure_of_each_callback() {
    let known = of(&over_its_period(Some(2)), None);
    let callback = &known.callbacks[0];
    assert_eq!(callback.off_cpu_us.as_ref().map(|d| (d.count, d.min, d.max)), Some((10, 10_000.0, 10_000.0)));
    assert_eq!(of(&over_its_period(None), None).callbacks[0].off_cpu_us, None);
}

#[test]
fn a_run_beside_others_is_noted_and_one_alone_is_not() {
    let notes = |load: Option<Load>| {
        let notes = of(&over_its_period(None), load).notes.into_iter().filter(|note| note.name == "busy-machine");
        notes.map(|note| note.text).collect::<Vec<_>>()
    };
    assert!(notes(busy())[0].starts_with("other processes used 1.50 of 2 CPUs on the average"));
    let stolen = Load { over_s: 2.0, steal_percent: Some(1.5), ..Load::default() };
    assert!(notes(Some(stolen))[0].starts_with("the hypervisor gave 1.5 %"));
    let alone = Load { over_s: 2.0, others_cpu_s: Some(1.0), steal_percent: Some(1.0), ..Load::default() };
    assert_eq!((notes(Some(alone)), notes(None)), (vec![], vec![]));
    let short = Load { over_s: 0.03, others_cpu_s: Some(0.02), steal_percent: Some(16.7), ..Load::default() };
    assert_eq!(notes(Some(short)), Vec::<String>::new(), "a tick or two");
}

/// The same callback in Python, and one of another thread of its process that computes or sleeps.
fn beside_python(cpu_ms: i64) -> String {
    let mut tables = over_its_period(Some(2));
    tables.callbacks[0].location = Some("/src/ndt.py:3".into());
    let other = Callback { function: Some("Mapper.update".into()), ..tables.callbacks[0].clone() };
    tables.callbacks.push(other);
    let first = tables.executions[Row::new(0)];
    let (callback, cpu_ns) = (Row::new(1), (cpu_ms * MS).into());
    tables.executions.push(Execution { callback, tid: 99, cpu_ns, ..first });
    let summary = of(&tables, None);
    let case = summary.findings.iter().flatten().find(|finding| finding.lint == "callback-off-cpu");
    case.expect("a finding").cases[0].next.clone()
}

#[test]
fn a_callback_in_python_beside_one_that_computes_may_have_waited_for_the_interpreter() {
    assert!(beside_python(11).contains("interpreter_busy among the causes"), "{}", beside_python(11));
    assert!(!beside_python(1).contains("interpreter"), "{}", beside_python(1));
}
