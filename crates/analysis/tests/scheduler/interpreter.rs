//! Python's interpreter, which another thread of the process had while a callback should have run.

use super::*;
const CAMERA: u32 = 1;
const PYTHON: u32 = 8;
const DETECTOR: u32 = 81;
const MAPPER: u32 = 82;
const MAP: u64 = 0x100;
const MS: i64 = 1_000 * US;
const UPDATE: &str = "/python /map Mapper.update (shared.py:46)";

/// What happens in a round of 100 ms, ms after the message came: when the detector's callback begins and ends, from
/// when to when it is blocked, and how long it computes if that is read; the same of the mapper's.
#[derive(Clone, Copy)]
struct Round {
    detect: (f64, f64),
    blocked: Option<(f64, f64)>,
    detect_cpu: Option<f64>,
    update: (f64, f64),
    update_cpu: f64,
}

/// The mapper computes long before the message comes.
const ALONE: Round =
    Round { detect: (0.2, 3.2), blocked: None, detect_cpu: None, update: (-40.0, -20.0), update_cpu: 20.0 };

fn ns(ms: f64) -> i64 {
    (ms * MS as f64).round() as i64
}

/// The camera publishes once a round; detector and mapper are callbacks of one Python process, on threads of their own.
fn system(rounds: &[Round], waits_in: &str) -> Tables {
    let mut b = FileBuilder::new().node(CAMERA, "camera").at(1).publisher("/image").timer(100_000_000);
    b = b.node(PYTHON, "python").at(1);
    for (offset, topic, function) in
        [(0, "/image", "Detector.detect (/src/shared.py:35)"), (MAP, "/map", "Mapper.update (/src/shared.py:46)")]
    {
        b = b.rmw_subscription_init(RMW_SUBSCRIPTION + offset, [3, 4]);
        b = b.rcl_subscription_init(SUBSCRIPTION + offset, NODE, RMW_SUBSCRIPTION + offset, 10, topic);
        b = b.rclcpp_subscription_init(SUBSCRIPTION + offset, OBJECT + offset);
        b = b.rclcpp_subscription_callback_added(OBJECT + offset, CALLBACK + offset);
        b = b.rclcpp_callback_register(CALLBACK + offset, function);
    }
    let kernel = rounds.iter().any(|round| round.blocked.is_some());
    if kernel {
        b = b.cpu(0).at(2).switch(0, 0, DETECTOR.into()).cpu(1).at(2).switch(0, 0, MAPPER.into());
    }
    let read = |b: FileBuilder, cpu_ns: Option<i64>, is_end| match cpu_ns {
        Some(cpu_ns) => b.callback_cpu(cpu_ns, is_end),
        None => b,
    };
    for (k, round) in (1..).zip(rounds) {
        let (sent, there) = (100 * MS * k, 100 * MS * k + ns(0.1));
        let at = |ms: f64| there + ns(ms);
        b = b.process(CAMERA).at(sent - 10).start_timer().at(sent).publish(k).at(sent + 10).end_timer();
        b = b.process(PYTHON).thread(90).at(there).node_data_available(SUBSCRIPTION);
        let (from, to) = (at(round.update.0), at(round.update.1));
        b = read(b.thread(MAPPER).at(from - 1), Some(0), false).at(from).callback_start(CALLBACK + MAP, false);
        b = read(b.at(to).end_taking_from(MAP).at(to + 1), Some(ns(round.update_cpu)), true);
        let cpu = round.detect_cpu.map(ns);
        b = b.thread(DETECTOR).at(at(round.detect.0) - 1).rclcpp_executor_execute(SUBSCRIPTION);
        b = b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, k, true).rcl_take(MESSAGE).rclcpp_take(MESSAGE);
        b = read(b, cpu.map(|_| 0), false).at(at(round.detect.0)).callback_start(CALLBACK, false);
        b = b.at(at(round.detect.1)).end_taking();
        b = read(b.at(at(round.detect.1) + 1), cpu, true);
        if let Some((from, to)) = round.blocked {
            let thread = DETECTOR.into();
            b = b.cpu(0).at(at(from)).sched_waits_in(thread, waits_in).switch(thread, SLEEPS, 0);
            b = b.at(at(to)).wake(thread, 0, 0).at(at(to) + 1).switch(0, 0, thread);
        }
    }
    if kernel {
        let end = 100 * MS * (rounds.len() as i64 + 1);
        b = b.cpu(0).at(end).switch(DETECTOR.into(), SLEEPS, 0).cpu(1).at(end).switch(MAPPER.into(), SLEEPS, 0);
    }
    tables(&b)
}

/// What the worst instance waited for at the detector, us.
fn parts(tables: &Tables) -> Vec<(CauseKind, &str, i64)> {
    let told = tables.causes.iter().filter_map(|cause| cause.instance);
    let worst = told.max_by_key(|row| tables.instances[*row].end_to_end_ns).expect("an instance");
    let of = tables.causes.iter().filter(|cause| cause.instance == Some(worst));
    let whole: i64 = of.clone().filter_map(|cause| cause.duration_ns.get()).sum();
    assert_eq!(whole, tables.instances[worst].end_to_end_ns);
    let of = of.filter(|cause| cause.position == 1 && cause.kind != CauseKind::Transport);
    let parts = of.map(|cause| (cause.kind, cause.by.as_str(), cause.duration_ns.get().expect("an instance's") / US));
    parts.filter(|(.., us)| *us > 0).collect()
}

/// Beside others without a wait.
fn once(round: Round) -> Vec<Round> {
    vec![ALONE, ALONE, round, ALONE, ALONE]
}

const DETECT: &str = "/python /image Detector.detect (shared.py:35)";

#[test]
fn a_callback_that_begins_when_the_other_one_had_it_for_the_switch_interval_or_ended_waited_for_it() {
    for (begins, update) in [(5.2, (-30.0, 30.0)), (2.2, (-30.0, 2.1))] {
        let tables =
            system(&once(Round { detect: (begins, begins + 3.0), update, update_cpu: 30.0, ..ALONE }), "futex");
        let held = (begins.min(update.1) * 1e3) as i64;
        let mut parts = parts(&tables);
        parts.retain(|(kind, ..)| *kind != CauseKind::WakeUp);
        assert_eq!(parts, [(CauseKind::Computation, DETECT, 3_000), (CauseKind::InterpreterBusy, UPDATE, held)]);
        let cause = tables.causes.iter().find(|cause| cause.kind == CauseKind::InterpreterBusy).expect("one");
        let by = &tables.executions[cause.execution.expect("the mapper's")];
        assert_eq!(tables.callbacks[by.callback].function.as_deref(), Some("Mapper.update"));
        assert_eq!(by.start_ns, 300 * MS + ns(0.1 - 30.0));
    }
}

#[test]
fn a_callback_that_begins_while_the_other_one_computes_on_did_not_wait_for_it_nor_for_one_that_sleeps() {
    let begins_sooner = Round { detect: (2.2, 5.2), update: (-30.0, 30.0), update_cpu: 60.0, ..ALONE };
    let it_sleeps = Round { detect: (6.0, 9.0), update: (-30.0, 30.0), update_cpu: 5.0, ..ALONE };
    for round in [begins_sooner, it_sleeps] {
        let waited = (round.detect.0 * 1e3) as i64;
        let tables = system(&once(round), "futex");
        assert_eq!(
            parts(&tables),
            [(CauseKind::Computation, DETECT, 3_000), (CauseKind::WakeUp, "/python", waited)],
            "{round:?}",
            round = round.detect
        );
    }
}

#[test]
fn a_callback_that_is_blocked_in_a_futex_for_the_switch_interval_waits_for_it_and_for_longer_for_a_lock() {
    let blocked = |from, to| Round { detect: (0.2, 25.2), blocked: Some((from, to)), update: (-30.0, 60.0), ..ALONE };
    let of = |round: Round, call: &str| {
        let tables = system(&once(Round { update_cpu: 90.0, ..round }), call);
        parts(&tables)
            .into_iter()
            .find(|(kind, ..)| *kind != CauseKind::Computation && *kind != CauseKind::WakeUp)
            .map(|(kind, by, us)| (kind, by.to_owned(), us))
    };
    assert_eq!(of(blocked(1.0, 6.0), "futex"), Some((CauseKind::InterpreterBusy, UPDATE.to_owned(), 5_000)));
    assert_eq!(of(blocked(1.0, 21.0), "futex"), Some((CauseKind::Blocked, format!("{DETECT}, in futex"), 20_000)));
    let slept = (CauseKind::Blocked, format!("{DETECT}, in clock_nanosleep"), 5_000);
    assert_eq!(of(blocked(1.0, 6.0), "clock_nanosleep"), Some(slept));
}

#[test]
fn by_the_clock_alone_it_waited_for_what_is_unusual_beside_none_if_that_is_usual_beside_others() {
    let alone = Round { detect: (0.2, 2.7), detect_cpu: Some(0.5), ..ALONE };
    let beside = Round { detect: (0.2, 7.7), update: (-30.0, 30.0), update_cpu: 55.0, ..alone };
    let of = |rounds: Vec<Round>| {
        let tables = system(&rounds, "");
        let parts = parts(&tables).into_iter().filter(|(kind, ..)| *kind != CauseKind::WakeUp);
        parts.map(|(kind, _, us)| (kind, us)).collect::<Vec<_>>()
    };
    let own = [(CauseKind::Computation, 500), (CauseKind::OffCpu, 2_000)];
    let waited = (CauseKind::InterpreterBusy, 5_000);
    let rounds =
        |alone_times: usize, beside_times: usize| [vec![alone; alone_times], vec![beside; beside_times]].concat();
    assert_eq!(of(rounds(20, 5)), [own[0], own[1], waited]);
    // Too few tell what is usual; and one that seldom waits so long waits for something else.
    let unknown = [own[0], (CauseKind::OffCpu, 7_000)];
    assert_eq!(of(rounds(19, 5)), unknown);
    assert_eq!(of(rounds(20, 4)), unknown);
    let quick = Round { detect: alone.detect, ..beside };
    assert_eq!(of([vec![alone; 20], vec![quick; 40], vec![beside]].concat()), unknown);
}
