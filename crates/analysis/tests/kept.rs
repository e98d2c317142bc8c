//! What a message waited for that a timer used: its due time, what made it late, and what kept a newer message away.

mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_tables::row::Row;
use tacho_tables::CauseKind::{
    Computation, ExecutorBusy, NoNewer, NotDue, OffCpu, TickLate, Transport, UsedAgain, WakeUp,
};
use tacho_tables::{CauseKind, Tables};

const OTHER: u64 = 0x100;
const SENSOR: u32 = 1;
const FILTER: u32 = 2;
const PLANNER: u32 = 3;
const CONTROL: u32 = 4;

/// (kind, by, ns) of the instance whose output is a control command at this time, which the parts add up to.
fn parts(tables: &Tables, end_ns: i64) -> Vec<(u32, CauseKind, &str, i64)> {
    let row = tables.instances.iter().position(|i| i.end_ns == end_ns).expect("an instance that ended then");
    let of = tables.causes.iter().filter(|cause| cause.instance == Some(Row::behind(row)));
    let parts: Vec<_> =
        of.map(|c| (c.position, c.kind, c.by.as_str(), c.duration_ns.get().expect("of an instance"))).collect();
    let sum: i64 = parts.iter().map(|part| part.3).sum();
    assert_eq!(sum, tables.instances[row].end_to_end_ns, "{parts:?}");
    parts
}

/// A sensor on a timer, a planner that keeps its points for a timer of 1000 ns, and a control.
fn system(sensor_period: i64) -> FileBuilder {
    FileBuilder::new()
        .node(SENSOR, "sensor")
        .publisher("/points")
        .timer(sensor_period)
        .node(PLANNER, "planner")
        .subscription("/points")
        .another_subscription(OTHER, "/map")
        .publisher("/plan")
        .timer(1_000)
        .node(CONTROL, "control")
        .subscription("/plan")
}

fn sense(b: FileBuilder, at: i64) -> FileBuilder {
    b.process(SENSOR).at(at).start_timer().at(at + 10).publish(at).at(at + 20).end_timer()
}

fn keep(b: FileBuilder, at: i64, stamp: i64) -> FileBuilder {
    b.process(PLANNER).at(at).start_taking(stamp).at(at + 5).end_taking()
}

/// A run of the planner's timer; the control command comes 40 later.
fn plan(b: FileBuilder, at: i64) -> FileBuilder {
    let b = b.process(PLANNER).at(at).start_timer().at(at + 20).publish(-at).at(at + 25).end_timer();
    b.process(CONTROL).at(at + 30).start_taking(-at).at(at + 40).end_taking()
}

/// The planner's executor in another callback.
fn load_map(b: FileBuilder, pid: u32, from: i64, to: i64) -> FileBuilder {
    b.process(pid).at(from).callback_start(CALLBACK + OTHER, false).at(to).end_taking_from(OTHER)
}

#[test]
fn a_timer_that_was_due_names_the_callback_that_its_executor_was_in() {
    let mut b = system(1_000);
    for k in 1..20 {
        b = sense(b, 1_000 * k + 100);
        match k {
            12 => b = load_map(keep(b, 12_200, 12_100), PLANNER, 12_300, 13_900),
            13 => b = keep(plan(b, 13_905), 13_950, 13_100),
            _ => b = plan(keep(b, 1_000 * k + 200, 1_000 * k + 100), 1_000 * k + 500),
        }
    }
    let tables = tables(&b);
    assert_eq!(
        parts(&tables, 13_945),
        [
            (0, Computation, "/sensor timer 0.001 ms Talker::tick", 10),
            (1, Computation, "/planner timer 0.001 ms Talker::tick", 20),
            (1, Transport, "/points (arrival not recorded: waiting for a wake-up is in it)", 90),
            (1, ExecutorBusy, "/planner /map Listener::take", 1_400),
            (1, NotDue, "/planner timer 0.001 ms Talker::tick", 300),
            (1, TickLate, "/planner timer 0.001 ms Talker::tick", 5),
            (2, Computation, "/control /plan Listener::take", 10),
            (2, Transport, "/plan (arrival not recorded: waiting for a wake-up is in it)", 10),
        ]
    );
    let busy = tables.causes.iter().find(|cause| cause.kind == ExecutorBusy).expect("a part");
    let execution = tables.executions[busy.execution.expect("in an execution")];
    assert_eq!((execution.start_ns, busy.from_ns.get(), busy.usual_ns.get()), (12_300, Some(12_500), Some(0)));
}

#[test]
fn a_timer_that_runs_more_often_than_its_input_comes_uses_it_again() {
    let mut b = system(4_000);
    for k in 1..32 {
        if k % 4 == 0 {
            b = keep(sense(b, 1_000 * k + 100), 1_000 * k + 200, 1_000 * k + 100);
        }
        b = plan(b, 1_000 * k + 500);
    }
    let tables = tables(&b);
    let of = |end: i64| -> Vec<_> {
        let kinds = [NotDue, TickLate, UsedAgain, NoNewer, ExecutorBusy];
        parts(&tables, end).into_iter().filter(|part| kinds.contains(&part.1)).collect()
    };
    assert_eq!(
        of(23_540),
        [(1, NotDue, "/planner timer 0.001 ms Talker::tick", 300), (1, UsedAgain, "/points", 3_000)],
        "the fourth time: used first when it came"
    );
}

#[test]
fn an_input_that_comes_in_pairs_comes_as_often_as_its_mean_interval_says() {
    // Every 800 on the average, after 1200 and 400 in turns; the planner's timer has 1000.
    let mut events: Vec<(i64, bool)> =
        (0..12).flat_map(|j| [1_000 + 1_600 * j, 2_200 + 1_600 * j]).map(|at| (at, true)).collect();
    events.extend((1..20).map(|k| (1_000 * k + 500, false)));
    events.sort_unstable();
    let b = events.into_iter().fold(system(800), |b, (at, is_sent)| match is_sent {
        true => keep(sense(b, at), at + 50, at),
        false => plan(b, at),
    });
    let tables = tables(&b);
    let again: Vec<_> =
        parts(&tables, 8_540).into_iter().filter(|part| [UsedAgain, NoNewer].contains(&part.1)).collect();
    assert!(!again.is_empty() && again.iter().all(|part| part.1 == NoNewer), "{again:?}");
}

/// The same with a filter between sensor and planner.
fn filtered() -> FileBuilder {
    FileBuilder::new()
        .node(SENSOR, "sensor")
        .publisher("/raw")
        .timer(1_000)
        .node(FILTER, "filter")
        .subscription("/raw")
        .another_subscription(OTHER, "/map")
        .publisher("/points")
        .node(PLANNER, "planner")
        .subscription("/points")
        .publisher("/plan")
        .timer(1_000)
        .node(CONTROL, "control")
        .subscription("/plan")
}

fn filter(b: FileBuilder, at: i64, k: i64) -> FileBuilder {
    b.process(FILTER).at(at).start_taking(k).at(at + 10).publish(k + 1).end_taking()
}

#[test]
fn what_came_after_a_filter_had_died_is_on_no_way_however_long_the_last_message_is_used() {
    let mut b = filtered();
    for k in 1..20 {
        let stamp = 1_000 * k + 100;
        b = sense(b, stamp);
        if k < 8 {
            b = keep(filter(b, stamp + 30, stamp), stamp + 50, stamp + 1);
        } else if k == 8 {
            b = b.process(FILTER).killed();
        }
        b = plan(b, 1_000 * k + 500);
    }
    let tables = tables(&b);
    let longest = tables.instances.iter().map(|instance| instance.end_to_end_ns).max();
    assert_eq!(longest, Some(12_440), "the input of 7100, used until 19540");
    let ended: Vec<_> = tables.causes.iter().filter(|cause| cause.kind == CauseKind::Ended).collect();
    // 8100 to 19100: an input takes 440 ns to its first output, and the run ends at 19540.
    assert_eq!(tables.chains[0].lost, 11);
    assert_eq!(
        ended.iter().map(|cause| (cause.position, cause.by.as_str(), cause.count)).collect::<Vec<_>>(),
        [(1, "/filter", 11)]
    );
}

#[test]
fn what_kept_the_next_message_away_is_followed_up_the_path() {
    let mut b = filtered();
    for k in 1..20 {
        b = sense(b, 1_000 * k + 100);
        let stamp = 1_000 * k + 100;
        match k {
            // Its executor is busy when the message comes, until the planner has run once more without it.
            12 => b = plan(load_map(b, FILTER, 12_050, 12_800), 12_500),
            13 => {
                b = keep(filter(b, 13_120, 12_100), 13_150, 12_101);
                b = plan(keep(filter(b, 13_160, 13_100), 13_200, 13_101), 13_500);
            }
            _ => b = plan(keep(filter(b, stamp + 30, stamp), stamp + 50, stamp + 1), 1_000 * k + 500),
        }
    }
    let tables = tables(&b);
    let at_first: Vec<_> = parts(&tables, 12_540).into_iter().filter(|part| part.1 != Computation).collect();
    assert_eq!(
        at_first,
        [
            (1, Transport, "/raw (arrival not recorded: waiting for a wake-up is in it)", 20),
            (1, ExecutorBusy, "/filter /map Listener::take", 390),
            (1, NoNewer, "/raw", 600),
            (2, Transport, "/points (arrival not recorded: waiting for a wake-up is in it)", 10),
            (2, NotDue, "/planner timer 0.001 ms Talker::tick", 350),
            (3, Transport, "/plan (arrival not recorded: waiting for a wake-up is in it)", 10),
        ]
    );
    assert!(parts(&tables, 12_540).iter().all(|part| part.1 != WakeUp));
}

#[test]
fn messages_that_were_overwritten_while_a_callback_could_not_run_were_sent() {
    let mut b = filtered();
    for k in 1..20 {
        b = sense(b, 1_000 * k + 100);
        let stamp = 1_000 * k + 100;
        match k {
            // Its executor is busy when the message comes, and then takes the newest one alone.
            12 => b = plan(b.process(FILTER).at(12_050).callback_start(CALLBACK + OTHER, false), 12_500),
            13 => b = plan(b, 13_500),
            14 => b = plan(b.process(FILTER).at(14_800).end_taking_from(OTHER), 14_500),
            _ => b = plan(keep(filter(b, stamp + 30, stamp), stamp + 50, stamp + 1), 1_000 * k + 500),
        }
    }
    let tables = tables(&b);
    let of_filter = parts(&tables, 14_540).into_iter().filter(|part| matches!(part.1, ExecutorBusy | NoNewer));
    assert_eq!(
        of_filter.collect::<Vec<_>>(),
        [(1, ExecutorBusy, "/filter /map Listener::take", 2_390), (1, NoNewer, "/raw", 600)],
        "one was sent at 12110, and the planner ran at 14500"
    );
}

/// The planner runs, and the filter sleeps from the message of 12100 on, until it takes a later one alone.
fn sleeps_until(last: i64) -> Tables {
    let mut b = filtered();
    for k in 1..last + 6 {
        let stamp = 1_000 * k + 100;
        b = sense(b, stamp);
        if !(12..last).contains(&k) {
            b = keep(filter(b, stamp + 30, stamp), stamp + 50, stamp + 1);
        }
        b = plan(b, 1_000 * k + 500);
    }
    tables(&b)
}

#[test]
fn messages_that_filled_the_queue_of_a_node_that_slept_were_sent() {
    let of_filter = |tables: &Tables, end| -> Vec<(u32, CauseKind, String, i64)> {
        let at_filter = parts(tables, end).into_iter().filter(|part| matches!(part.1, WakeUp | NoNewer));
        at_filter.map(|(position, kind, by, ns)| (position, kind, by.to_owned(), ns)).collect()
    };
    // Ten that its queue holds, and the one that it took.
    assert_eq!(
        of_filter(&sleeps_until(22), 21_540),
        [(1, WakeUp, "/filter".to_owned(), 9_390), (1, NoNewer, "/raw".to_owned(), 600)],
        "one was sent at 12110, and the planner ran at 21500"
    );
    assert_eq!(of_filter(&sleeps_until(15), 14_540), [(1, NoNewer, "/raw".to_owned(), 2_990)], "three may be lost");
}

#[test]
fn a_callback_that_was_off_the_cpu_before_it_sent_the_next_message_says_so() {
    let mut b = filtered();
    for k in 1..20 {
        let stamp = 1_000 * k + 100;
        b = sense(b, stamp);
        b = if k == 12 {
            b = plan(b, 12_500).process(FILTER).at(12_130).rclcpp_executor_execute(SUBSCRIPTION);
            b = b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, stamp, true).rcl_take(MESSAGE).rclcpp_take(MESSAGE);
            b = b.callback_cpu(0, false).callback_start(CALLBACK, false).at(12_630).publish(stamp + 1).end_taking();
            keep(b.callback_cpu(100, true), 12_650, stamp + 1)
        } else {
            plan(keep(filter(b, stamp + 30, stamp), stamp + 50, stamp + 1), 1_000 * k + 500)
        };
    }
    let tables = tables(&b);
    let inside = parts(&tables, 12_540).into_iter().filter(|part| part.0 == 1 && part.2.ends_with("Listener::take"));
    // 370 ns until the planner ran, of which 100 may be its work; and 10 for the message before.
    assert_eq!(
        inside.collect::<Vec<_>>(),
        [
            (1, Computation, "/filter /raw Listener::take", 110),
            (1, OffCpu, "/filter /raw Listener::take", 270),
            (1, TickLate, "/filter /raw Listener::take", 20)
        ]
    );
    // The next message came 130 ns too late, less than its callback was off the CPU for.
    let cause = |kind| tables.causes.iter().find(|cause| cause.kind == kind && cause.usual_ns == Some(0));
    let (no_newer, off) = (cause(NoNewer).expect("a part"), cause(OffCpu).expect("a part"));
    assert_eq!(tables.executions[no_newer.execution.expect("what kept it away")].start_ns, 12_130);
    assert_eq!(no_newer.execution, off.execution);
}

#[test]
fn a_message_that_should_have_come_before_the_timer_was_due_names_what_kept_it_away() {
    let mut b = filtered();
    for at in (1_000..20_000).step_by(100) {
        if at % 400 == 0 {
            b = sense(b, at);
            b = match at {
                12_000 => load_map(keep(filter(b, at + 30, at), at + 50, at + 1), FILTER, 12_100, 12_700),
                12_400 => b,
                _ => keep(filter(b, at + 30, at), at + 50, at + 1),
            };
        }
        b = if at % 1_000 == 500 { plan(b, at) } else { b };
        b = if at == 12_700 { keep(filter(b, at + 10, 12_400), at + 30, 12_401) } else { b };
    }
    let tables = tables(&b);
    let waits: Vec<_> =
        parts(&tables, 12_540).into_iter().filter(|part| [NotDue, ExecutorBusy].contains(&part.1)).collect();
    // One comes each 400; the planner took the one before at 12 050.
    assert_eq!(
        waits,
        [
            (1, ExecutorBusy, "/filter /map Listener::take", 50),
            (2, NotDue, "/planner timer 0.001 ms Talker::tick", 400)
        ]
    );
}

#[test]
fn what_a_node_makes_of_its_last_message_when_the_sources_have_ended_counts_once() {
    let workload = "nodes:\n  sensor: {publishes: {/points: {rate: 1 Hz}}}\n  planner: {on: timer 1 Hz, subscribes: \
                    [/points], publishes: [/plan]}\n  control: {subscribes: [/plan]}\n";
    let workload = tacho_workload::kept(workload, "workload.yaml").unwrap_or_else(|e| panic!("{e}"));
    let run = |duration_ns: i64| {
        let mut b = system(1_000).info(|info| info.measured_to_ns = Some(duration_ns));
        for k in 1..14 {
            if k < 10 {
                b = keep(sense(b, 1_000 * k + 100), 1_000 * k + 200, 1_000 * k + 100);
            }
            b = plan(b, 1_000 * k + 500);
        }
        let tables = tables_of(&b, Some(&workload));
        tables.instances.iter().map(|instance| instance.end_ns).collect::<Vec<_>>()
    };
    assert_eq!(run(10_000).last(), Some(&9_540), "the sensor ended, and the planner ran four times more");
    assert_eq!(run(9_500).last(), Some(&9_540), "the first output of the last message");
    assert_eq!(run(15_000).last(), Some(&13_540), "a sensor that stops before the end is a fault");
}
