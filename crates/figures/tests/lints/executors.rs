//! Lints on threads and the callbacks that share them.

use super::*;
use tacho_events::run::Load;
use tacho_tables::row::Row;

#[test]
fn callback_exceeds_period() {
    let found = cases(&ticking(&[1_200; 10], 2_000), "callback-exceeds-period");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "/talker timer 0.001 ms Talker::tick");
    assert!(found[0].evidence.starts_with("10 of 10 executions (100.0 %)"), "{}", found[0].evidence);
    assert_eq!(
        cases(&ticking(&[1_000; 10], 2_000), "callback-exceeds-period"),
        [],
        "exactly the period is not over it"
    );
    let once = [&[1_200][..], &[900; 9]].concat();
    assert_eq!(cases(&ticking(&once, 2_000), "callback-exceeds-period"), [], "one outlier is an accident");
    // A subscription: messages every 100, callbacks of 120 or of 80.
    let stream = |takes: i64| {
        (0..10).fold(sensor_and(10), |b, k| {
            let b = send(b, 1_000 + 100 * k);
            take(b, 3_000 + 130 * k, 1_000 + 100 * k, takes)
        })
    };
    let found = cases(&stream(120), "callback-exceeds-period");
    assert_eq!(found.iter().map(|c| c.subject.as_str()).collect::<Vec<_>>(), ["/filter /points"]);
    assert!(
        found[0].evidence.contains("mean of 10 executions 120 ns; a message comes every 100 ns"),
        "{}",
        found[0].evidence
    );
    assert_eq!(cases(&stream(80), "callback-exceeds-period"), []);
    // Or of 10, and of 250 at times.
    let at_times = |seldom: i64| {
        let events = (0..20).fold((sensor_and(10), 3_000), |(b, at), k| {
            let took = if k % seldom == 4 { 250 } else { 10 };
            (take(send(b, 1_000 + 100 * k), at, 1_000 + 100 * k, took), at + took + 100)
        });
        scene::tables(&events.0)
    };
    let on_a_machine = |tables: &Tables, load: Option<Load>| {
        let info = RunInfo { load, ..RunInfo::default() };
        let repeat = Repeat { tables, options: Options::default(), info: Some(&info) };
        let findings = summarise(&[repeat], None).findings.expect("lints ran");
        findings.into_iter().filter(|f| f.lint == "callback-exceeds-period").flat_map(|f| f.cases).collect::<Vec<_>>()
    };
    let idle = || Some(Load { over_s: 2.0, others_cpu_s: Some(0.1), ..Load::default() });
    let found = on_a_machine(&at_times(10), idle());
    let evidence = "2 of 20 executions (10.0 %) took longer than the 100 ns between two messages; the longest 250 ns";
    assert_eq!(found[0].evidence, evidence);
    assert_eq!(on_a_machine(&at_times(20), idle()), [], "one is an accident");
    assert_eq!(on_a_machine(&at_times(10), None), [], "what others did, and its CPU time, are not known");
}

#[test]
fn starved_callback() {
    // The timer was due at 1500. Blocked until 1820 it starts at 1825: 325 late, three periods are 300.
    let found = cases(&held_up(400), "starved-callback");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "/control timer 0.0001 ms Talker::tick");
    assert!(
        found[0].evidence.contains("the longest 325 ns, the longest part of it in /control /map"),
        "{}",
        found[0].evidence
    );
    assert_eq!(cases(&held_up(370), "starved-callback"), [], "295 late is less than three periods");
    // As late, but its thread did nothing: it was not starved by others.
    let asleep = held_up(5).at(1_900).start_timer().at(1_910).end_timer();
    assert_eq!(cases(&asleep, "starved-callback"), []);
}

#[test]
fn single_threaded_bottleneck() {
    // Two callbacks in turns, together `busy` of each 100.
    let thread = |busy: i64, both: bool| {
        (0..20).fold(FileBuilder::new().node(1, "all").timer(100).another_subscription(OTHER, "/map"), |b, k| {
            let at = 1_000 + 100 * k;
            let b = b.at(at).start_timer().at(at + busy / 2).end_timer();
            if !both {
                return b;
            }
            b.at(at + busy / 2).callback_start(CALLBACK + OTHER, false).at(at + busy).end_taking_from(OTHER)
        })
    };
    let found = cases(&thread(90, true), "single-threaded-bottleneck");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "process 1 thread 1");
    assert!(found[0].evidence.contains("inside 2 callbacks"), "{}", found[0].evidence);
    assert_eq!(cases(&thread(76, true), "single-threaded-bottleneck"), []);
    assert_eq!(
        cases(&thread(190, false), "single-threaded-bottleneck"),
        [],
        "one callback alone has nobody to share with"
    );
}

#[test]
fn a_goal_that_no_callback_executes_fills_no_thread() {
    let b = FileBuilder::new()
        .node(1, "server")
        .rcl_service_init(0x78, NODE, 0x79, "/count/_action/get_result")
        .rcl_action_init(0x70)
        .rcl_service_init(0x88, NODE, 0x89, "/turn/_action/get_result")
        .rcl_action_init(0x80)
        .at(1_000)
        .rcl_action_request(0x70, 1, [7, 8], 1, [1, 1], 0)
        .rcl_action_request(0x80, 1, [7, 9], 1, [2, 2], 0)
        .thread(31)
        .at(2_000)
        .rcl_action_goal_state([1, 1], 2)
        .at(9_000)
        .rcl_action_goal_state([1, 1], 4)
        .at(9_000)
        .rcl_action_goal_state([2, 2], 2)
        .at(20_000)
        .rcl_action_goal_state([2, 2], 4);
    assert_eq!(
        tables(&b).executions.iter().map(|e| e.end_ns.get().unwrap_or(0) - e.start_ns).collect::<Vec<_>>(),
        [7_000, 11_000]
    );
    assert_eq!(cases(&b, "single-threaded-bottleneck"), []);
}

#[test]
fn spinning_executor() {
    // A timer every millisecond of 100 us, and waits of 10 us in between, `waits` of them.
    let thread = |waits: i64| {
        (0..20).fold(FileBuilder::new().node(1, "all").timer(1_000_000), |b, k| {
            let at = 1_000_000 * (k + 1);
            let b = b.at(at).start_timer().at(at + 100_000).end_timer();
            (0..waits).fold(b, |b, wait| {
                let at = at + 110_000 + 20_000 * wait;
                b.at(at).rclcpp_executor_wait_for_work(-1).at(at + 10_000).rclcpp_executor_get_next_ready()
            })
        })
    };
    let found = cases(&thread(20), "spinning-executor");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "process 1 thread 1");
    // Of 400 waits a timer's callback came after each twentieth, but for the last, of which nothing is known.
    assert!(found[0].evidence.starts_with("380 waits ended with nothing to run"), "{}", found[0].evidence);
    assert_eq!(cases(&thread(10), "spinning-executor"), [], "nine for each callback");
    assert_eq!(cases(&thread(1), "spinning-executor"), [], "each wait found the timer");
}

#[test]
fn executor_overhead() {
    // A timer of 20 ms whose callback computes for 100 us, and what its thread computes between two of them.
    let thread = |count: i64, outside_us: i64| {
        (0..count).fold(FileBuilder::new().node(1, "all").timer(20_000_000), |b, k| {
            let (at, cpu_ns) = (1_000_000 + 20_000_000 * k, k * (100 + outside_us) * 1_000);
            let b = b.at(at).callback_cpu(cpu_ns, false).callback_start(scene::TIMER_CALLBACK, false);
            b.at(at + 100_000).end_timer().callback_cpu(cpu_ns + 100_000, true)
        })
    };
    let found = cases(&thread(30, 2_000), "executor-overhead");
    assert_eq!(found.iter().map(|case| case.subject.as_str()).collect::<Vec<_>>(), ["executor of /all"]);
    // The first one follows none.
    let evidence = "2.0 ms of CPU time a callback outside of 29 callbacks, 100.0 us inside; its nodes have \
                    0 subscriptions, 1 timer, 0 services";
    assert_eq!(found[0].evidence, evidence);
    assert_eq!(found[0].cost, "10.0 % of a CPU");
    assert_eq!(cases(&thread(30, 900), "executor-overhead"), [], "less than 5 % of a CPU");
    assert_eq!(cases(&thread(20, 2_000), "executor-overhead"), [], "too few callbacks");
    let without = (0..30).fold(FileBuilder::new().node(1, "all").timer(20_000_000), |b, k| {
        b.at(1_000_000 + 20_000_000 * k).start_timer().at(1_100_000 + 20_000_000 * k).end_timer()
    });
    assert_eq!(cases(&without, "executor-overhead"), [], "its clock was not read");
}

#[test]
fn preempted_callback() {
    let ran = ticking(&[500; 4], 1_000);
    let preempted = |ns: i64, state: OffCpu| {
        let mut tables = scene::tables(&ran);
        let runnable_ns = if state == OffCpu::Runnable { ns } else { 0 };
        tables.executions.iter_mut().for_each(|row| row.runnable_ns = runnable_ns.into());
        tables.preemptions = (0..4)
            .map(|k| Preemption {
                process: Row::new(0),
                tid: 1,
                execution: Some(Row::new(k)),
                from_ns: 10_100,
                to_ns: 10_100 + ns,
                state,
                woken: false,
                cpu: 0,
                by_tid: Some(77),
                by_comm: Some("burner".into()),
                waits_in: None,
            })
            .collect();
        cases_of(&tables, None, "preempted-callback")
    };
    let found = preempted(60, OffCpu::Runnable);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].evidence.contains("240 ns (12.0 %)") && found[0].evidence.ends_with("to burner"),
        "{}",
        found[0].evidence
    );
    assert_eq!(preempted(50, OffCpu::Runnable), [], "a tenth is not more than a tenth");
    assert_eq!(preempted(60, OffCpu::Blocked), [], "it waited of its own");
}

#[test]
fn a_callback_that_runs_on_two_threads_at_once_may_answer_every_message() {
    // Messages every 100 and callbacks of 120, in turns on two threads; or one after the other.
    let stream = |threads: u32, every: i64| {
        (0..10).fold(sensor_and(10), |b, k| {
            let b = send(b, 1_000 + 100 * k).process(2).thread(20 + k as u32 % threads);
            b.at(3_000 + every * k).start_taking(1_000 + 100 * k).at(3_120 + every * k).end_taking()
        })
    };
    assert_eq!(cases(&stream(2, 100), "callback-exceeds-period"), []);
    let found = cases(&stream(1, 130), "callback-exceeds-period");
    assert!(found[0].cost.contains("it can answer about 83 %, one at a time"), "{}", found[0].cost);
}

#[test]
fn a_timer_that_took_too_long_says_how_late_the_next_execution_was() {
    let found = cases(&ticking(&[1_200; 10], 2_000), "callback-exceeds-period");
    assert_eq!(found[0].cost, "the execution after one of them started up to 1.0 us later than a period after it");
}

#[test]
fn a_full_thread_says_what_messages_waited_and_else_what_time_is_left() {
    // Timers alone.
    let timers =
        (0..20).fold(FileBuilder::new().node(1, "all").timer(100).another_subscription(OTHER, "/map"), |b, k| {
            let at = 1_000 + 100 * k;
            b.at(at)
                .start_timer()
                .at(at + 45)
                .end_timer()
                .at(at + 45)
                .callback_start(CALLBACK + OTHER, false)
                .at(at + 90)
                .end_taking_from(OTHER)
        });
    // 20 times 90 of the 1990 from the first to the last.
    let found = cases(&timers, "single-threaded-bottleneck");
    assert_eq!(found[0].cost, "190 ns are left for whatever else comes to it");
    // Messages that were there 30 before the timer that polls, and one that it takes while it runs.
    let mut b = FileBuilder::new()
        .node(1, "sensor")
        .publisher("/map")
        .timer(100)
        .node(2, "all")
        .timer(100)
        .another_subscription(OTHER, "/map");
    for k in 0..20 {
        let at = 1_000 + 100 * k;
        b = b.process(1).at(at).start_timer().at(at + 1).publish(at).at(at + 2).end_timer();
        b = b.process(2).at(at - 20).start_timer().at(at + 31).end_timer();
        b = b.at(at + 31).start_taking_from(OTHER, at).at(at + 75).end_taking_from(OTHER);
    }
    let found = cases(&b, "single-threaded-bottleneck");
    assert_eq!(
        found[0].cost,
        "messages wait 30 ns for their callback on the average, from their arrival or, where that is not recorded, \
         publish call"
    );
}
