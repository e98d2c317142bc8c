//! The verdict on small systems with a planted fault, and on the same systems without.

mod first_timer;
mod late_start;
mod machine;
mod overhead;
mod overwritten;
mod pool;
#[path = "../../../analysis/tests/scene/mod.rs"]
mod scene;
mod services;

use scene::*;
use tacho_events::run::{Load, RunInfo};
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::row::Row;
use tacho_tables::summary::{Culprit, Verdict};
use tacho_tables::{CauseKind, Execution, OffCpu, Preemption, Tables};

const OTHER: u64 = 0x100;
const OVER_S: f64 = 12.0;
const US: i64 = 1_000;
const MS: i64 = 1_000_000;
const SENSOR: u32 = 1;
const PLANNER: u32 = 2;
const CONTROL: u32 = 3;

/// A sensor of 20 Hz, a planner of 10 Hz that keeps its input, a control. In the planner's executor, or the control's,
/// another callback runs at times.
struct System {
    /// The planner's other callback: when it begins and ends.
    loads: Vec<(i64, i64)>,
    /// How long each callback of the control takes, by its number.
    control: fn(i64) -> i64,
    /// Of that its CPU time, as the CPU-time clock says; absent where it is not recorded.
    control_cpu_ns: Option<i64>,
    /// How much longer than usual a plan is on its way to the control, by its number.
    on_the_way: fn(i64) -> i64,
    /// How many plans it makes at most.
    plans: i64,
    /// When the first is due, after the first message of the sensor.
    first_plan_us: i64,
}

impl System {
    fn healthy() -> System {
        System {
            loads: Vec::new(),
            control: |k| MS + 100 * US * (k % 3),
            control_cpu_ns: None,
            on_the_way: |_| 0,
            plans: 98,
            first_plan_us: 130_000,
        }
    }

    fn build(&self) -> FileBuilder {
        type Write<'a> = Box<dyn Fn(FileBuilder) -> FileBuilder + 'a>;
        let mut events: Vec<(i64, Write<'_>)> = Vec::new();
        let free = |at: i64| self.loads.iter().filter(|load| load.0 <= at && at < load.1).map(|load| load.1).max();
        for k in 0..2 * self.plans + 4 {
            let at = (1_000 + 50 * k) * MS + (k % 7) * 20 * US;
            events.push((
                at,
                Box::new(move |b| b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer()),
            ));
            let taken = free(at + 200 * US).map_or(at + 200 * US, |end| end + 2 * MS + k * US);
            events.push((
                taken,
                Box::new(move |b| b.process(PLANNER).at(taken).start_taking(at).at(taken + 10).end_taking()),
            ));
        }
        let mut last = 0;
        for k in 0..self.plans {
            let due = (1_000 + 100 * k) * MS + self.first_plan_us * US;
            let at = free(due).map_or(due, |end| end + US) + 20 * US * (k % 3);
            if at < last + 10 * MS {
                continue; // skipped, as rcl does
            }
            last = at;
            let (stamp, took) = (-at, (self.control)(k));
            events.push((
                at,
                Box::new(move |b| b.process(PLANNER).at(at).start_timer().at(at + MS).publish(stamp).end_timer()),
            ));
            let taken = at + MS + 300 * US + (self.on_the_way)(k);
            events.push((
                taken,
                Box::new(move |b| {
                    let b = b.process(CONTROL).at(taken).rclcpp_executor_execute(SUBSCRIPTION);
                    let b = b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, stamp, true).rcl_take(MESSAGE).rclcpp_take(MESSAGE);
                    let read = |b: FileBuilder, ns: i64, end| match self.control_cpu_ns {
                        Some(_) => b.callback_cpu(ns, end),
                        None => b,
                    };
                    let b = read(b, 0, false).callback_start(CALLBACK, false).at(taken + took).end_taking();
                    read(b, self.control_cpu_ns.unwrap_or(0), true)
                }),
            ));
        }
        for (from, to) in self.loads.iter().copied() {
            let load = move |b: FileBuilder| {
                b.process(PLANNER).at(from).callback_start(CALLBACK + OTHER, false).at(to).end_taking_from(OTHER)
            };
            events.push((from, Box::new(load)));
        }
        events.sort_by_key(|(time, _)| *time);
        let builder = FileBuilder::new()
            .node(SENSOR, "sensor")
            .publisher("/points")
            .timer(50 * MS)
            .node(PLANNER, "planner")
            .subscription("/points")
            .another_subscription(OTHER, "/map")
            .publisher("/plan")
            .timer(100 * MS)
            .node(CONTROL, "control")
            .subscription("/plan");
        events.into_iter().fold(builder, |b, (_, write)| write(b))
    }

    fn verdict(&self, links: &str) -> Verdict {
        self.verdict_beside(0.0, links)
    }

    /// Beside other processes that use so many CPUs.
    fn verdict_beside(&self, others_cpus: f64, links: &str) -> Verdict {
        verdict(&scene::tables_with(&self.build(), links), others_cpus)
    }
}

/// The scheduler's row of an execution that a burner keeps from its CPU, from its first ns on, for so long.
fn without_a_cpu(tables: &Tables, row: Row<Execution>, lacked_ns: i64) -> Preemption {
    let execution = &tables.executions[row];
    Preemption {
        process: tables.callbacks[execution.callback].process,
        tid: execution.tid,
        execution: Some(row),
        from_ns: execution.start_ns,
        to_ns: execution.start_ns + lacked_ns,
        state: OffCpu::Runnable,
        woken: false,
        cpu: 0,
        by_tid: Some(9),
        by_comm: Some("burner".into()),
        waits_in: None,
    }
}

fn verdict(tables: &Tables, others_cpus: f64) -> Verdict {
    verdict_of(tables, Load { others_cpu_s: Some(OVER_S * others_cpus), ..Load::default() })
}

/// On a machine of two CPUs of which others leave none free.
fn verdict_on_a_full_machine(tables: &Tables) -> Verdict {
    let used_s = |cpus: f64| Some(OVER_S * cpus);
    verdict_of(
        tables,
        Load { cpus: Some(2), machine_cpu_s: used_s(1.98), others_cpu_s: used_s(1.9), ..Load::default() },
    )
}

fn verdict_of(tables: &Tables, load: Load) -> Verdict {
    let load = Load { over_s: OVER_S, ..load };
    let info = RunInfo { load: Some(load), ..RunInfo::default() };
    let repeat = [Repeat { tables, options: Default::default(), info: Some(&info) }];
    summarise(&repeat, None).verdict.expect("a run with chains")
}

fn only(verdict: &Verdict) -> &Culprit {
    assert_eq!(verdict.culprits.len(), 1, "{verdict:#?}");
    &verdict.culprits[0]
}

#[test]
fn what_seldom_blocks_the_executor_of_a_timer_is_the_culprit_with_what_it_brings_to_mend_it() {
    // Three times 121 ms, from 25 ms before the planner is due.
    let loads = [2_505, 5_505, 8_505].map(|from| (from * MS, (from + 121) * MS)).to_vec();
    let verdict = System { loads, ..System::healthy() }.verdict("{}");
    assert_eq!(verdict.path, ["/sensor", "/points", "/planner", "/plan", "/control"]);
    assert_eq!((verdict.late_instances, verdict.late_cases), (3, 3), "{verdict:#?}");
    let culprit = only(&verdict);
    assert_eq!(
        (culprit.kind, culprit.node.as_deref(), culprit.callback.as_deref(), culprit.topic.as_deref()),
        (Some(CauseKind::ExecutorBusy), Some("/planner"), Some("/planner /map Listener::take"), Some("/map"))
    );
    assert_eq!((culprit.instances, culprit.executions, culprit.longest_ms), (3, Some(3), Some(121.0)));
    // Due 25 ms after it began: it was late by 96 ms, and by nothing else.
    assert!(culprit.share_percent.is_some_and(|share| share > 90.0), "{culprit:#?}");
    let (worst, without) = verdict.worst_ms.zip(culprit.worst_without_ms).expect("both");
    assert!((95.5..96.5).contains(&(worst - without)) && culprit.late_without == Some(0), "{worst} {without}");
    assert!(culprit.text.contains("121 ms") && culprit.text.contains("3 executions"), "{}", culprit.text);
    assert!(culprit.next.contains("callback group of its own"), "{}", culprit.next);
}

#[test]
fn without_what_kept_the_next_message_away_the_old_one_is_not_used_again() {
    // From 1 ms after a tick until 22 ms after the next, which uses again what the tick before has used: the point of
    // 30 ms before that one. Two points have come since, the later one 30 ms before the next tick was due.
    let loads = [2_531, 5_531, 8_531].map(|from| (from * MS, (from + 121) * MS)).to_vec();
    let verdict = System { loads, ..System::healthy() }.verdict("{}");
    assert_eq!((verdict.late_instances, verdict.late_cases), (3, 3), "{verdict:#?}");
    let culprit = only(&verdict);
    assert_eq!(culprit.callback.as_deref(), Some("/planner /map Listener::take"));
    let (worst, usual) = verdict.worst_ms.zip(verdict.usual_ms).expect("both");
    assert!((121.5..122.5).contains(&(worst - usual)), "{worst} {usual}");
    let without = culprit.worst_without_ms.expect("an estimate");
    assert!((usual - 0.5..usual + 0.5).contains(&without) && culprit.late_without == Some(0), "{without} {usual}");
    assert!(culprit.share_percent.is_some_and(|share| share > 99.0), "{culprit:#?}");
}

#[test]
fn on_a_healthy_system_nobody_is_accused() {
    let verdict = System::healthy().verdict("{}");
    assert_eq!(verdict.culprits, []);
    assert!(verdict.text.starts_with("Nothing stands out: /sensor to /control takes usually"), "{}", verdict.text);
}

#[test]
fn a_single_slow_instance_accuses_nobody() {
    let once = System { loads: vec![(2_500 * MS, 2_621 * MS)], ..System::healthy() }.verdict("{}");
    assert_eq!((once.late_instances, once.culprits), (1, Vec::new()));
}

#[test]
fn a_callback_of_the_chain_that_seldom_takes_long_is_its_own_culprit() {
    let slow = System { control: |k| if k % 20 == 7 { 70 * MS } else { MS }, ..System::healthy() };
    let verdict = slow.verdict("{}");
    let culprit = only(&verdict);
    assert_eq!(
        (culprit.kind, culprit.callback.as_deref(), culprit.executions),
        (Some(CauseKind::Computation), Some("/control /plan Listener::take"), Some(5))
    );
}

#[test]
fn a_callback_that_is_off_the_cpu_for_most_of_its_time_says_so() {
    let blocked = System {
        control: |k| if k % 20 == 7 { 90 * MS } else { 6 * MS },
        control_cpu_ns: Some(6 * MS),
        ..System::healthy()
    };
    let verdict = blocked.verdict("{}");
    let culprit = only(&verdict);
    assert_eq!(
        (culprit.kind, culprit.callback.as_deref(), culprit.executions),
        (Some(CauseKind::OffCpu), Some("/control /plan Listener::take"), Some(5))
    );
    assert!(culprit.text.contains("took up to 90.0 ms (off the CPU, blocked or waiting, for 84.0 ms)"), "{culprit:#?}");
    assert!(culprit.text.ends_with("(off the CPU inside it)."), "{}", culprit.text);
    assert!(culprit.next.starts_with("Move what "), "{}", culprit.next);
}

#[test]
fn a_deadline_says_what_is_late_and_one_that_is_kept_accuses_nobody() {
    let links = |ms: u32| format!("chains: {{brake: {{nodes: [sensor, planner, control], deadline: {ms} ms}}}}");
    let kept = System::healthy().verdict(&links(200));
    assert!(kept.text.contains("keeps its deadline of 200 ms in all 98 outputs"), "{}", kept.text);
    assert_eq!(kept.culprits, []);
    // All are late: what is usual is too long, and most of it is the wait for the planner's timer.
    let missed = System::healthy().verdict(&links(10));
    assert!(missed.text.contains("misses its deadline of 10 ms in 98 of 98 outputs"), "{}", missed.text);
    let first = &missed.culprits[0];
    assert_eq!((first.kind, first.node.as_deref()), (Some(CauseKind::NotDue), Some("/planner")));
}

#[test]
fn transport_that_may_have_waited_for_a_cpu_is_accused_on_a_quiet_machine_alone() {
    // Four plans come 50 ms late, 200 ms in all; four others are computed on for 75 ms longer, 300 ms in all.
    let system = System {
        on_the_way: |k| if k % 20 == 10 { 50 * MS } else { 0 },
        control: |k| if k % 20 == 15 { 76 * MS } else { MS + 100 * US * (k % 3) },
        ..System::healthy()
    };
    let accused = |others_cpus: f64| -> Vec<Option<CauseKind>> {
        let verdict = system.verdict_beside(others_cpus, "{}");
        verdict.culprits.iter().map(|culprit| culprit.kind).collect()
    };
    assert_eq!(accused(0.1), [Some(CauseKind::Computation), Some(CauseKind::Transport)]);
    assert_eq!(accused(1.5), [Some(CauseKind::Computation)]);
}

#[test]
fn who_adds_a_little_to_what_is_late_anyhow_is_not_accused() {
    // Five plans come 50 ms late, and the control computes on them for longer, which alone would make none late.
    let accused = |control: fn(i64) -> i64| -> Vec<Option<CauseKind>> {
        let on_the_way = |k| if k % 20 == 10 { 50 * MS } else { 0 };
        let verdict = System { on_the_way, control, ..System::healthy() }.verdict("{}");
        verdict.culprits.iter().map(|culprit| culprit.kind).collect()
    };
    let both = [Some(CauseKind::Transport), Some(CauseKind::Computation)];
    assert_eq!(accused(|k| if k % 20 == 10 { 13 * MS } else { MS + 100 * US * (k % 3) }), both[..1]);
    assert_eq!(accused(|k| if k % 20 == 10 { 45 * MS } else { MS + 100 * US * (k % 3) }), both);
}

#[test]
fn a_wake_up_that_is_late_less_than_once_in_a_hundred_is_nobodys_fault() {
    let accused = |on_the_way: fn(i64) -> i64| {
        let mut tables = scene::tables(&System { plans: 598, on_the_way, ..System::healthy() }.build());
        let late = tables.causes.iter_mut().filter(|cause| cause.kind == CauseKind::Transport);
        late.for_each(|cause| (cause.kind, cause.by) = (CauseKind::WakeUp, "/control".into()));
        let verdict = verdict(&tables, 0.0);
        (verdict.late_cases, verdict.culprits.iter().filter_map(|culprit| culprit.kind).collect::<Vec<_>>())
    };
    assert_eq!(accused(|k| if k % 120 == 10 { 50 * MS } else { 0 }), (5, vec![]));
    assert_eq!(accused(|k| if k % 60 == 10 { 50 * MS } else { 0 }), (10, vec![CauseKind::WakeUp]));
}

#[test]
fn a_wake_up_and_a_seldom_pause_are_nobodys_fault_if_no_cpu_is_free() {
    let late_on_the_way = System { on_the_way: |k| if k % 20 == 10 { 50 * MS } else { 0 }, ..System::healthy() };
    let pausing = System {
        control: |k| if k % 20 == 15 { 76 * MS } else { MS + 100 * US * (k % 3) },
        control_cpu_ns: Some(MS),
        ..System::healthy()
    };
    for system in [&late_on_the_way, &pausing] {
        let tables = scene::tables(&system.build());
        assert_eq!(verdict(&tables, 0.1).culprits.len(), 1);
        let full = verdict_on_a_full_machine(&tables);
        assert_eq!(full.culprits, [], "{}", full.text);
    }
    // By the run delay it slept: others did nothing to it.
    let mut tables = scene::tables(&pausing.build());
    let mut accused = |runnable_ms: i64, full: bool| {
        let known = tables.executions.iter_mut();
        known.for_each(|row| row.runnable_ns = (runnable_ms * MS).into());
        let verdict = if full { verdict_on_a_full_machine(&tables) } else { verdict(&tables, 0.1) };
        verdict.culprits.into_iter().map(|culprit| culprit.text).collect::<Vec<_>>()
    };
    for full in [true, false] {
        let slept = accused(0, full);
        assert!(slept.len() == 1 && slept[0].contains("(blocked or waiting for 75.0 ms)"), "{slept:?}");
    }
    assert_eq!(accused(70, true), Vec::<String>::new());
}

/// A planner whose thread runs `others` more callbacks of `took` each, in turn and without a pause, between messages.
fn crowded(others: u64, took: i64, every: i64) -> Verdict {
    let mut b = FileBuilder::new().node(SENSOR, "sensor").publisher("/points").timer(100 * MS);
    b = b.node(PLANNER, "planner").subscription("/points").publisher("/plan");
    b = (1..=others).fold(b, |b, k| b.another_subscription(k * OTHER, &format!("/other_{k}")));
    b = b.node(CONTROL, "control").subscription("/plan");
    let mut free = 900 * MS;
    for k in 0..60 {
        let at = (1_000 + 100 * k) * MS + (k % 7) * US;
        b = b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer();
        // Those that came before it have their turn first.
        for other in 1..=others {
            let from = free.max(at - 60 * MS + other as i64 * every);
            b = b.process(PLANNER).at(from).callback_start(CALLBACK + other * OTHER, false);
            b = b.at(from + took).end_taking_from(other * OTHER);
            free = from + took + 10;
        }
        let taken = free.max(at + 200 * US);
        b = b.process(PLANNER).at(taken).start_taking(at).at(taken + MS).publish(-at).at(taken + MS + US).end_taking();
        free = taken + MS + 2 * US;
        b = b.process(CONTROL).at(taken + 2 * MS).start_taking(-at).at(taken + 3 * MS).end_taking();
    }
    verdict(&scene::tables(&b), 0.0)
}

#[test]
fn a_thread_that_many_short_callbacks_fill_is_the_culprit_and_none_of_them() {
    // Nine of 10.5 ms in each period of 100 ms.
    let verdict = crowded(9, 10 * MS + MS / 2, 0);
    let first = &verdict.culprits[0];
    assert_eq!((first.kind, first.node.as_deref()), (Some(CauseKind::ExecutorBusy), Some("/planner")), "{verdict:#?}");
    assert!(first.text.contains("for one thread") && first.text.contains("10 callbacks of 1 node"), "{}", first.text);
    assert!(first.text.contains("96 % busy"), "{}", first.text);
    // The same callbacks with half of the time to spare.
    assert_eq!(crowded(9, 4 * MS, 0).culprits, []);
}

#[test]
fn a_callback_that_fills_its_thread_is_the_culprit_even_if_outputs_wait_little_for_it() {
    // 17 of each 20 ms; points come while it runs, or just after.
    let verdict = crowded(1, 85 * MS, 0);
    let first = &verdict.culprits[0];
    assert_eq!(first.callback.as_deref(), Some("/planner /other_1 Listener::take"), "{verdict:#?}");
    assert_eq!(crowded(1, 60 * MS, 0).culprits, [], "{verdict:#?}");
}

#[test]
fn a_callback_that_blocks_is_named_though_many_outputs_are_late_by_a_period() {
    // The sensor and the planner are due at nearly the same time: many plans use a message that is 50 ms older.
    let loads = [2_090, 5_090, 8_090].map(|from| (from * MS, (from + 120) * MS));
    let beside = |loads: &[(i64, i64)]| {
        System { first_plan_us: 100_250, loads: loads.to_vec(), ..System::healthy() }.verdict("")
    };
    let healthy = beside(&[]);
    assert!(healthy.late_instances > 15, "{healthy:#?}");
    assert_eq!(healthy.culprits, [], "{healthy:#?}");
    let blocked = beside(&loads);
    let first = blocked.culprits.first().unwrap_or_else(|| panic!("{blocked:#?}"));
    assert_eq!(first.callback.as_deref(), Some("/planner /map Listener::take"), "{blocked:#?}");
    assert_eq!(blocked.late_instances, 3);
    assert_eq!(beside(&loads[..2]).culprits, [], "two may be chance");
}
