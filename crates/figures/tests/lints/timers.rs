//! Lints on timers that other callbacks of their executor hold up.

use super::*;

const MS: i64 = 1_000_000;
const TIMER_2: u64 = 0x440;
const TIMER_2_CALLBACK: u64 = 0x441;

/// A node with a timer of 100 ms and a subscription to /map, on one thread.
fn control() -> FileBuilder {
    FileBuilder::new().node(1, "control").timer(100 * MS).another_subscription(OTHER, "/map")
}

fn map(b: FileBuilder, from: i64, to: i64) -> FileBuilder {
    b.at(from).callback_start(CALLBACK + OTHER, false).at(to).end_taking_from(OTHER)
}

fn tick(b: FileBuilder, from: i64, to: i64) -> FileBuilder {
    b.at(from).start_timer().at(to).end_timer()
}

/// 60 ticks, of which each `every`-th is held up by a map that takes `late` longer than to when the tick was due.
fn held_up_by(late: i64, every: i64) -> FileBuilder {
    (1..=60).fold(control(), |b, k| {
        let due = 100 * MS * k;
        if k % every != 0 {
            return tick(b, due, due + MS);
        }
        let b = map(b, due - 10 * MS, due + late);
        tick(b, due + late + MS / 10, due + late + MS)
    })
}

#[test]
fn a_timer_that_a_callback_holds_up_by_more_than_half_a_period_is_found_with_it() {
    let found = cases(&held_up_by(70 * MS, 5), "late-timer");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "/control timer 100 ms Talker::tick");
    assert!(
        found[0].evidence.starts_with(
            "12 of 59 starts (20.3 %) were more than half of its period of 100.0 ms late, the latest 70.1 ms; \
             from due to start its executor was in /control /map Listener::take 100 %"
        ),
        "{}",
        found[0].evidence
    );
    assert!(found[0].cost.contains("70.1 ms late on the average"), "{}", found[0].cost);
    let next = &found[0].next;
    assert!(
        next.starts_with("/control /map Listener::take in a callback group of its own on a multi-threaded executor"),
        "{next}"
    );
    assert!(next.contains("what both use then needs a lock"), "{next}");
    assert_eq!(cases(&held_up_by(45 * MS, 5), "late-timer"), [], "less than half a period");
    assert_eq!(cases(&held_up_by(70 * MS, 30), "late-timer"), [], "two of sixty are an accident");
    assert_eq!(cases(&held_up_by(350 * MS, 20), "late-timer"), [], "three periods are starvation");
    assert_eq!(cases(&held_up_by(350 * MS, 20), "starved-callback").len(), 1);
}

#[test]
fn a_timer_that_is_late_while_its_executor_does_nothing_accuses_nobody() {
    // As late, and the map is over when the tick is due: the thread had no CPU, or slept.
    let asleep = (1..=60).fold(control(), |b, k| {
        let due = 100 * MS * k;
        let late = if k % 5 == 0 { 70 * MS } else { 0 };
        tick(map(b, due - 20 * MS, due - 10 * MS), due + late, due + late + MS)
    });
    assert_eq!(cases(&asleep, "late-timer"), []);
    // Its own callback is late by itself.
    let own = (1..=60).fold(control(), |b, k| tick(b, 100 * MS * k, 100 * MS * k + 90 * MS));
    assert_eq!(cases(&own, "late-timer"), []);
    let simulated = held_up_by(70 * MS, 5).at(5).another_subscription(CLOCK, "/clock");
    assert_eq!(cases(&simulated, "late-timer"), [], "its period may be of simulated time");
}

#[test]
fn on_several_threads_the_callback_that_never_runs_beside_the_timer_is_the_one_it_waited_for() {
    // Thread 1 runs timer and map, in turn, thread 2 another node's callbacks beside them.
    let mut tables = scene::tables(&held_up_by(70 * MS, 5));
    let (tick, map) = (tables.executions[0].callback, tables.callbacks.len() - 1);
    assert_ne!(tick.index(), map);
    let threads = |tid| tacho_tables::ExecutorThread {
        process: tacho_tables::row::Row::new(0),
        tid,
        executor: Some(1),
        executor_threads: Some(2),
        from_ns: 0,
        to_ns: 6_000 * MS,
        waiting_ns: None,
        empty_waits: None,
        ready_ns: None,
        executing_ns: 0,
        running_ns: None,
        runnable_ns: None,
        blocked_ns: None,
        voluntary_switches: None,
        involuntary_switches: None,
    };
    tables.executors = vec![threads(tables.executions[0].tid), threads(99)];
    let found = cases_of(&tables, None, "late-timer");
    assert_eq!(found.len(), 1);
    assert!(found[0].next.contains("one mutually exclusive group run in turn"), "{}", found[0].next);
    // If it does run beside the map at another time, no group keeps them apart, and a thread was free.
    let mut beside = *tables.executions.iter().find(|e| e.callback == tick).expect("a tick");
    let at = tables.executions.iter().find(|e| e.callback != tick).expect("a map").start_ns + MS;
    (beside.tid, beside.start_ns, beside.end_ns) = (99, at, (at + MS).into());
    let mut rows = tables.executions.to_vec();
    rows.push(beside);
    rows.sort_by_key(|row| row.start_ns);
    tables.executions = rows.into_iter().collect();
    assert_eq!(cases_of(&tables, None, "late-timer"), []);
}

/// Two timers of 100 ms on one thread: the second starts `gap(k)` behind the end of the first, which takes `takes(k)`.
fn two_timers(takes: impl Fn(i64) -> i64, start: impl Fn(i64, i64) -> i64) -> FileBuilder {
    let b = FileBuilder::new()
        .node(1, "control")
        .timer(100 * MS)
        .rcl_timer_init(TIMER_2, 100 * MS)
        .rclcpp_timer_callback_added(TIMER_2, TIMER_2_CALLBACK)
        .rclcpp_timer_link_node(TIMER_2, NODE);
    (1..=30).fold(b, |b, k| {
        let (due, end) = (100 * MS * k, 100 * MS * k + takes(k));
        let second = start(due, end);
        let b = tick(b, due, end);
        b.at(second).callback_start(TIMER_2_CALLBACK, false).at(second + MS).callback_end(TIMER_2_CALLBACK)
    })
}

#[test]
fn two_timers_that_are_due_together_are_found_and_told_a_phase() {
    let varies = |k: i64| 20 * MS + (k % 5) * MS;
    let found = cases(&two_timers(varies, |_, end| end + MS / 5), "timers-in-step");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].evidence.starts_with("30 of 30 starts (100.0 %) came at once behind /control timer 100 ms"),
        "{}",
        found[0].evidence
    );
    assert!(found[0].cost.starts_with("it waits 22.0 ms each time"), "{}", found[0].cost);
    assert!(found[0].next.contains("or reset() it, 50.0 ms after the other"), "{}", found[0].next);
    // It has a phase of its own, behind the other.
    assert_eq!(cases(&two_timers(varies, |due, _| due + 40 * MS), "timers-in-step"), []);
    // A phase that lies just behind the end of the other: when that takes longer or less, it starts as before.
    assert_eq!(cases(&two_timers(|k| 18 * MS + (k % 5) * MS / 2, |due, _| due + 21 * MS), "timers-in-step"), []);
    // What it waits for is not worth a word.
    assert_eq!(cases(&two_timers(|k| 2 * MS + (k % 5) * MS, |_, end| end + MS / 5), "timers-in-step"), []);
}
