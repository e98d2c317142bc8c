//! Each lint on a system that has what it finds, and on one that just has not.

mod scene;

use scene::*;
use tacho_analysis::summary::{FindingCase, Summary};
use tacho_analysis::tables::{OffCpu, Preemption, Tables};
use tacho_analysis::{summarise, Options, Repeat};
use tacho_events::testing::FileBuilder;
use tacho_workload::Workload;

/// Handles of a subscription to simulated time.
const CLOCK: u64 = 0x900;
const OTHER: u64 = 0x100;

fn summary_of(tables: &Tables, workload: Option<&Workload>) -> Summary {
    summarise(&[Repeat { tables, options: Options::default(), info: None }], workload)
}

/// The cases of one lint.
fn cases(builder: &FileBuilder, lint: &str) -> Vec<FindingCase> {
    cases_of(&scene::tables(builder), None, lint)
}

fn cases_of(tables: &Tables, workload: Option<&Workload>, lint: &str) -> Vec<FindingCase> {
    assert!(tacho_analysis::lints::LINTS.iter().any(|known| known.name == lint), "no lint {lint}");
    let findings = summary_of(tables, workload).findings.expect("lints ran");
    findings.into_iter().filter(|f| f.lint == lint).flat_map(|f| f.cases).collect()
}

fn workload(text: &str) -> Workload {
    tacho_workload::parse(text, "test.yaml").map(|(workload, _)| workload).unwrap_or_else(|e| panic!("{e}"))
}

fn sensor_and(depth: u64) -> FileBuilder {
    FileBuilder::new()
        .node(1, "sensor").publisher("/points").timer(1_000)
        .node(2, "filter").at(0)
        .rmw_subscription_init(RMW_SUBSCRIPTION, [3, 4])
        .rcl_subscription_init(SUBSCRIPTION, NODE, RMW_SUBSCRIPTION, depth, "/points")
        .rclcpp_subscription_init(SUBSCRIPTION, OBJECT)
        .rclcpp_subscription_callback_added(OBJECT, CALLBACK)
}

fn send(b: FileBuilder, at: i64) -> FileBuilder {
    b.process(1).at(at).start_timer().at(at + 1).publish(at).at(at + 2).end_timer()
}

fn take(b: FileBuilder, at: i64, stamp: i64, takes: i64) -> FileBuilder {
    b.process(2).at(at).start_taking(stamp).at(at + takes).end_taking()
}

#[test]
fn node_not_active() {
    const SECOND: i64 = 1_000_000_000;
    const MACHINE: u64 = 0x700;
    let ended = |states: &[(i64, &str)], end_s: i64| {
        let mut b = FileBuilder::new().node(1, "relay").at(0).rcl_lifecycle_state_machine_init(NODE, MACHINE);
        let mut from = "unconfigured";
        for (at_s, to) in states {
            b = b.at(at_s * SECOND).rcl_lifecycle_transition(MACHINE, from, to);
            from = to;
        }
        cases(&b.publisher("/out").at(end_s * SECOND).publish(1), "node-not-active")
    };
    assert!(ended(&[(1, "inactive"), (2, "active")], 60).is_empty());
    // Its manager deactivates it and cleans it up, and it ends.
    assert!(ended(&[(2, "active"), (56, "inactive"), (58, "unconfigured")], 60).is_empty());
    assert!(ended(&[(2, "active"), (40, "inactive"), (41, "finalized")], 60).is_empty());
    let found = ended(&[(2, "active"), (50, "inactive"), (58, "unconfigured")], 60);
    assert_eq!(found[0].subject, "/relay");
    assert!(found[0].evidence.starts_with("unconfigured in the end, not active for the last 10.00 s; active for 48.00 s of 60.00 s"), "{}", found[0].evidence);
    assert_eq!(ended(&[(10, "active"), (14, "inactive")], 18).len(), 1, "active for as long as not");
    assert_eq!(ended(&[(1, "inactive")], 60).len(), 1);
    assert_eq!(ended(&[(1, "inactive"), (2, "finalized")], 60).len(), 1);
}

#[test]
fn queue_too_short() {
    // A burst of four while the filter is away; the queue keeps `depth` of them.
    let burst = |depth: usize| {
        let mut b = take(send(sensor_and(depth as u64), 100), 110, 100, 5);
        let stamps = [200, 210, 220, 230];
        for stamp in stamps {
            b = send(b, stamp);
        }
        for (k, stamp) in stamps[4 - depth..].iter().enumerate() {
            b = take(b, 300 + 10 * k as i64, *stamp, 5);
        }
        b
    };
    let found = cases(&burst(2), "queue-too-short");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "/filter /points");
    assert!(found[0].evidence.starts_with("2 of 5 messages (40.0 %)"), "{}", found[0].evidence);
    assert!(found[0].next.starts_with("a history depth of 4"), "{}", found[0].next);
    assert_eq!(cases(&burst(4), "queue-too-short"), []);
    // Lost with too few behind it: not the queue's doing.
    let lost = take(send(send(take(send(sensor_and(2), 100), 110, 100, 5), 200), 300), 310, 300, 5);
    assert_eq!(summary_of(&scene::tables(&lost), None).topics[0].lost, Some(1));
    assert_eq!(cases(&lost, "queue-too-short"), []);
}

#[test]
fn lossy_best_effort() {
    let system = |qos: &str| workload(&format!(
        "nodes:\n  sensor: {{publishes: {{/points: {{size: 64 B, rate: 10 Hz, reliability: {qos}}}}}}}\n  filter: {{subscribes: {{/points: {{reliability: {qos}}}}}}}\n"));
    let lost = take(send(send(take(send(sensor_and(10), 100), 110, 100, 5), 200), 300), 310, 300, 5);
    let best_effort = system("best_effort");
    let found = cases_of(&tables_of(&lost, Some(&best_effort)), Some(&best_effort), "lossy-best-effort");
    assert_eq!(found.len(), 1);
    assert!(found[0].evidence.starts_with("1 of 3 messages (33.3 %)"), "{}", found[0].evidence);
    let reliable = system("reliable");
    assert_eq!(cases_of(&tables_of(&lost, Some(&reliable)), Some(&reliable), "lossy-best-effort"), []);
    let whole = take(send(take(send(sensor_and(10), 100), 110, 100, 5), 300), 310, 300, 5);
    assert_eq!(cases_of(&tables_of(&whole, Some(&best_effort)), Some(&best_effort), "lossy-best-effort"), []);
}

#[test]
fn never_received() {
    let deaf = send(send(sensor_and(10), 100), 200).process(2).at(400).rclcpp_executor_wait_for_work(-1);
    let found = cases(&deaf, "never-received");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "/sensor to /filter /points");
    assert!(found[0].evidence.starts_with("2 messages"), "{}", found[0].evidence);
    assert_eq!(cases(&take(deaf.at(410), 420, 200, 5), "never-received"), []);
    // One message may have been sent before the two had found each other.
    let one = send(sensor_and(10), 100).process(2).at(400).rclcpp_executor_wait_for_work(-1);
    assert_eq!(cases(&one, "never-received"), []);
}

/// A timer of 1000 ns whose callback takes `takes` each time, begun every `interval`.
fn ticking(takes: &[i64], interval: i64) -> FileBuilder {
    let mut b = FileBuilder::new().node(1, "talker").timer(1_000);
    for (k, takes) in takes.iter().enumerate() {
        let at = 10_000 + k as i64 * interval;
        b = b.at(at).start_timer().at(at + takes).end_timer();
    }
    b
}

#[test]
fn callback_exceeds_period() {
    let found = cases(&ticking(&[1_200; 10], 2_000), "callback-exceeds-period");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "/talker timer 0.001 ms");
    assert!(found[0].evidence.starts_with("10 of 10 executions (100.0 %)"), "{}", found[0].evidence);
    assert_eq!(cases(&ticking(&[1_000; 10], 2_000), "callback-exceeds-period"), [], "exactly the period is not over it");
    let once = [&[1_200][..], &[900; 9]].concat();
    assert_eq!(cases(&ticking(&once, 2_000), "callback-exceeds-period"), [], "one outlier is an accident");
    // A subscription: messages every 100, callbacks of 120 or of 80.
    let stream = |takes: i64| (0..10).fold(sensor_and(10), |b, k| {
        let b = send(b, 1_000 + 100 * k);
        take(b, 3_000 + 130 * k, 1_000 + 100 * k, takes)
    });
    let found = cases(&stream(120), "callback-exceeds-period");
    assert_eq!(found.iter().map(|c| c.subject.as_str()).collect::<Vec<_>>(), ["/filter /points"]);
    assert!(found[0].evidence.contains("mean of 10 executions 120 ns; a message comes every 100 ns"), "{}", found[0].evidence);
    assert_eq!(cases(&stream(80), "callback-exceeds-period"), []);
}

/// A timer of 100 that a callback of `blocks` holds up once.
fn held_up(blocks: i64) -> FileBuilder {
    let mut b = FileBuilder::new().node(1, "control").timer(100).another_subscription(OTHER, "/map");
    for k in 0..5 {
        b = b.at(1_000 + 100 * k).start_timer().at(1_010 + 100 * k).end_timer();
    }
    b = b.at(1_420).callback_start(CALLBACK + OTHER, false).at(1_420 + blocks).end_taking_from(OTHER);
    b.at(1_425 + blocks).start_timer().at(1_435 + blocks).end_timer()
}

#[test]
fn starved_callback() {
    // The timer was due at 1500. Blocked until 1820 it starts at 1825: 325 late, three periods are 300.
    let found = cases(&held_up(400), "starved-callback");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "/control timer 0.0001 ms");
    assert!(found[0].evidence.contains("the longest 325 ns, the longest part of it in /control /map"), "{}", found[0].evidence);
    assert_eq!(cases(&held_up(370), "starved-callback"), [], "295 late is less than three periods");
    // As late, but its thread did nothing: it was not starved by others.
    let asleep = held_up(5).at(1_900).start_timer().at(1_910).end_timer();
    assert_eq!(cases(&asleep, "starved-callback"), []);
}

#[test]
fn single_threaded_bottleneck() {
    // Two callbacks in turns, together `busy` of each 100.
    let thread = |busy: i64, both: bool| (0..20).fold(FileBuilder::new().node(1, "all").timer(100).another_subscription(OTHER, "/map"), |b, k| {
        let at = 1_000 + 100 * k;
        let b = b.at(at).start_timer().at(at + busy / 2).end_timer();
        if !both {
            return b;
        }
        b.at(at + busy / 2).callback_start(CALLBACK + OTHER, false).at(at + busy).end_taking_from(OTHER)
    });
    let found = cases(&thread(90, true), "single-threaded-bottleneck");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "process 1 thread 1");
    assert!(found[0].evidence.contains("inside 2 callbacks"), "{}", found[0].evidence);
    assert_eq!(cases(&thread(76, true), "single-threaded-bottleneck"), []);
    assert_eq!(cases(&thread(190, false), "single-threaded-bottleneck"), [], "one callback alone has nobody to share with");
}

#[test]
fn a_goal_that_no_callback_executes_fills_no_thread() {
    let b = FileBuilder::new().node(1, "server")
        .rcl_service_init(0x78, NODE, 0x79, "/count/_action/get_result").rcl_action_init(0x70)
        .rcl_service_init(0x88, NODE, 0x89, "/turn/_action/get_result").rcl_action_init(0x80)
        .at(1_000).rcl_action_request(0x70, 1, [7, 8], 1, [1, 1], 0).rcl_action_request(0x80, 1, [7, 9], 1, [2, 2], 0)
        .thread(31).at(2_000).rcl_action_goal_state([1, 1], 2).at(9_000).rcl_action_goal_state([1, 1], 4)
        .at(9_000).rcl_action_goal_state([2, 2], 2).at(20_000).rcl_action_goal_state([2, 2], 4);
    assert_eq!(tables(&b).executions.iter().map(|e| e.end_ns.unwrap_or(0) - e.start_ns).collect::<Vec<_>>(), [7_000, 11_000]);
    assert_eq!(cases(&b, "single-threaded-bottleneck"), []);
}

#[test]
fn spinning_executor() {
    // A timer every millisecond of 100 us, and waits of 10 us in between, `waits` of them.
    let thread = |waits: i64| (0..20).fold(FileBuilder::new().node(1, "all").timer(1_000_000), |b, k| {
        let at = 1_000_000 * (k + 1);
        let b = b.at(at).start_timer().at(at + 100_000).end_timer();
        (0..waits).fold(b, |b, wait| {
            let at = at + 110_000 + 20_000 * wait;
            b.at(at).rclcpp_executor_wait_for_work(-1).at(at + 10_000).rclcpp_executor_get_next_ready()
        })
    });
    let found = cases(&thread(20), "spinning-executor");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "process 1 thread 1");
    // Of 400 waits a timer's callback came after each twentieth, but for the last, of which nothing is known.
    assert!(found[0].evidence.starts_with("380 waits ended with nothing to run"), "{}", found[0].evidence);
    assert_eq!(cases(&thread(10), "spinning-executor"), [], "nine for each callback");
    assert_eq!(cases(&thread(1), "spinning-executor"), [], "each wait found the timer");
}

#[test]
fn preempted_callback() {
    let ran = ticking(&[500; 4], 1_000);
    let preempted = |ns: i64, state: OffCpu| {
        let mut tables = scene::tables(&ran);
        tables.preemptions = (0..4)
            .map(|k| Preemption {
                process: 0, tid: 1, execution: Some(k), from_ns: 10_100, to_ns: 10_100 + ns, state, woken: false, cpu: 0,
                by_tid: Some(77), by_comm: Some("burner".into()),
            })
            .collect();
        cases_of(&tables, None, "preempted-callback")
    };
    let found = preempted(60, OffCpu::Runnable);
    assert_eq!(found.len(), 1);
    assert!(found[0].evidence.contains("240 ns (12.0 %)") && found[0].evidence.ends_with("to burner"), "{}", found[0].evidence);
    assert_eq!(preempted(50, OffCpu::Runnable), [], "a tenth is not more than a tenth");
    assert_eq!(preempted(60, OffCpu::Blocked), [], "it waited of its own");
}

#[test]
fn timer_drift() {
    let found = cases(&ticking(&[10; 30], 1_020), "timer-drift");
    assert_eq!(found.len(), 1);
    assert!(found[0].evidence.contains("+2.0 %"), "{}", found[0].evidence);
    assert_eq!(cases(&ticking(&[10; 30], 1_010), "timer-drift"), [], "one percent is allowed");
    assert_eq!(cases(&ticking(&[10; 15], 1_020), "timer-drift"), [], "too few to tell");
    assert_eq!(cases(&ticking(&[1_100; 30], 1_200), "timer-drift"), [], "that is callback-exceeds-period");
    // As late, and each time because another callback had the thread: not the timer's doing.
    for between in [0, 15] {
        // Between two callbacks the executor takes its time, too.
        let mut busy = FileBuilder::new().node(1, "talker").timer(1_000).another_subscription(OTHER, "/map");
        for k in 0..30 {
            let at = 10_000 + 1_020 * k;
            busy = busy.at(at).start_timer().at(at + 10).end_timer().at(at + 900).callback_start(CALLBACK + OTHER, false).at(at + 1_020 - between).end_taking_from(OTHER);
        }
        assert_eq!(cases(&busy, "timer-drift"), []);
    }
    // A full executor: of each five ticks one is held up by 600, and the three behind it come 800 apart, until one is on the grid again.
    let mut catching_up = FileBuilder::new().node(1, "talker").timer(1_000).another_subscription(OTHER, "/map");
    let other = |b: FileBuilder, from: i64, to: i64| b.at(from).callback_start(CALLBACK + OTHER, false).at(to).end_taking_from(OTHER);
    for k in 0..40 {
        let at = 10_000 + 5_000 * k;
        catching_up = catching_up.at(at).start_timer().at(at + 10).end_timer();
        for (from, late) in [(900, 1_600), (2_300, 2_400), (3_100, 3_200)] {
            catching_up = other(catching_up, at + from, at + late - 5).at(at + late).start_timer().at(at + late + 10).end_timer();
        }
        catching_up = catching_up.at(at + 4_000).start_timer().at(at + 4_010).end_timer();
    }
    assert_eq!(cases(&catching_up, "timer-drift"), [], "every start that nothing held up is on the grid");
    // A coroutine of rclpy that goes on 300 after its start is not called twice.
    let mut coroutine = FileBuilder::new().node(1, "talker").timer(1_000);
    for at in (0..30).map(|k| 10_000 + 1_000 * k) {
        coroutine = coroutine.at(at).rclpy_coroutine(7, 0).start_timer().at(at + 10).end_timer();
        coroutine = coroutine.at(at + 300).rclpy_coroutine(7, 1).start_timer().at(at + 320).end_timer();
    }
    assert_eq!(cases(&coroutine, "timer-drift"), []);
    let figures = summary_of(&scene::tables(&coroutine), None).callbacks;
    assert_eq!(figures.iter().map(|c| (c.count, c.duration_us.as_ref().map(|d| d.max))).collect::<Vec<_>>(), [(30, Some(0.03))]);
    let simulated = ticking(&[10; 30], 1_020).at(5_000).another_subscription(OTHER, "/clock");
    assert_eq!(cases(&simulated, "timer-drift"), [], "it may follow simulated time");
    // At half speed a period of 1000 is 2000 of real time: a callback of 1200 is none too long.
    let at_half_speed = ticking(&[1_200; 10], 2_000).at(5_000).another_subscription(OTHER, "/clock");
    assert_eq!(cases(&at_half_speed, "callback-exceeds-period"), []);
    let starved = held_up(400).another_subscription(CLOCK, "/clock");
    assert_eq!(cases(&starved, "starved-callback"), []);
    let tables = scene::tables(&simulated);
    assert!(tables.notes.iter().any(|n| n.name == "simulated-time" && n.text.contains("/talker")), "{:?}", tables.notes);
}

#[test]
fn publisher_behind() {
    // Due every 100; `late` of 200 come a period later, `skipped` not at all.
    let publisher = |late: i64, skipped: u64| {
        let mut b = FileBuilder::new().node(1, "camera").publisher("/image").timer(100);
        for k in 0..200 {
            let due = 1_000 + 100 * k;
            let at = if k < late { due + 100 } else { due };
            b = b.at(at).start_timer().node_due(PUBLISHER, k as u64, due).node_publish(PUBLISHER, 1, k as u64, 64).publish(due).end_timer();
        }
        if skipped == 0 { b } else { b.at(30_000).node_skipped(PUBLISHER, skipped) }
    };
    let found = cases(&publisher(3, 0), "publisher-behind");
    assert_eq!(found.len(), 1);
    assert!(found[0].evidence.contains("0 were skipped and 3 a period or more late (1.5 %)"), "{}", found[0].evidence);
    assert_eq!(cases(&publisher(2, 0), "publisher-behind"), [], "one percent is allowed");
    assert!(cases(&publisher(0, 5), "publisher-behind")[0].evidence.starts_with("of 205 sends"));
}

#[test]
fn a_publisher_that_sends_every_fifth_message_is_due_at_its_own_rate() {
    let mut b = FileBuilder::new().node(1, "camera").publisher("/image").timer(100);
    for k in 0..40 {
        let due = 1_000 + 500 * k;
        b = b.at(due + 150).start_timer().node_due(PUBLISHER, k as u64, due).node_publish(PUBLISHER, 1, k as u64, 64).publish(due).end_timer();
        b = b.at(due + 480).node_skipped(PUBLISHER, 4);
    }
    let found = cases(&b, "publisher-behind");
    // 40 sends and 160 skips.
    assert!(found[0].evidence.starts_with("of 200 sends due every 100 ns 160 were skipped and 40 a period or more late"), "{}", found[0].evidence);
}

#[test]
fn large_message_over_udp() {
    let system = |transport: &str| workload(&format!(
        "middleware: {{fastdds: {transport}}}\nnodes:\n  sensor: {{publishes: {{/points: {{size: 1 MiB, rate: 10 Hz}}}}}}\n  filter: {{subscribes: [/points]}}\n"));
    let sized = |bytes: u64| {
        let b = sensor_and(10).process(1).at(100).start_timer().node_publish(PUBLISHER, 1, 0, bytes).publish(100).end_timer();
        take(b, 110, 100, 5)
    };
    let udp = system("udp");
    let found = cases_of(&tables_of(&sized(1 << 20), Some(&udp)), Some(&udp), "large-message-over-udp");
    assert_eq!(found.len(), 1);
    assert!(found[0].evidence.starts_with("messages of up to 1048576 B") && found[0].evidence.contains("at least 17 datagrams"), "{}", found[0].evidence);
    assert_eq!(cases_of(&tables_of(&sized(65_507), Some(&udp)), Some(&udp), "large-message-over-udp"), [], "it fits a datagram");
    let ros1 = workload("middleware: {ros1: udpros}\nnodes:\n  sensor: {publishes: {/points: {size: 1 MiB, rate: 10 Hz, reliability: best_effort}}}\n\
        \x20 filter: {subscribes: {/points: {reliability: best_effort}}}\n");
    let found = cases_of(&tables_of(&sized(1 << 20), Some(&ros1)), Some(&ros1), "large-message-over-udp");
    // 2^20 / 1492: UDPROS fills datagrams of 1500 B, 8 of them its own.
    assert!(found[0].evidence.contains("703 datagrams"), "{}", found[0].evidence);
    let shm = system("shm");
    assert_eq!(cases_of(&tables_of(&sized(1 << 20), Some(&shm)), Some(&shm), "large-message-over-udp"), []);
    let apart = sized(1 << 20).process(2).header(|h| h.host = "roadside".into());
    assert_eq!(cases(&apart, "large-message-over-udp").len(), 1, "two hosts have no memory in common");
}

#[test]
fn deadline_missed() {
    let mut tables = scene::tables(&take(send(sensor_and(10), 100), 110, 100, 5));
    tables.chains[0].deadline_ns = Some(14);
    let found = cases_of(&tables, None, "deadline-missed");
    assert_eq!(found.len(), 1);
    assert!(found[0].evidence.starts_with("1 of 1 instances took longer than 14 ns; the longest 15 ns"), "{}", found[0].evidence);
    assert_eq!(summary_of(&tables, None).chains[0].late_instances, Some(1));
    tables.chains[0].deadline_ns = Some(15);
    assert_eq!(cases_of(&tables, None, "deadline-missed"), []);
    assert_eq!(summary_of(&tables, None).chains[0].late_instances, Some(0));
}

#[test]
fn uncertain_link() {
    // What /map has to do with the output is a guess: it is published when /points come.
    let system = |answers: u64| FileBuilder::new()
        .node(1, "sensor").publisher("/points").timer(100)
        .node(2, "map").publisher("/map").timer(100)
        .node(3, "match").subscription("/points").another_subscription(OTHER, "/map").publisher("/pose")
        .node(4, "sink").subscription("/pose")
        .process(2).at(100).start_timer().at(101).publish(1).end_timer()
        .process(3).at(110).start_taking_from(OTHER, 1).with(|b| if answers == OTHER { b.publish(3) } else { b }).at(112).end_taking_from(OTHER)
        .process(1).at(200).start_timer().at(201).publish(2).end_timer()
        .process(3).at(210).start_taking(2).with(|b| if answers == 0 { b.publish(3) } else { b }).at(212).end_taking()
        .process(4).at(230).start_taking(3).at(231).end_taking();
    let found = cases(&system(0), "uncertain-link");
    assert_eq!(found.iter().map(|c| c.subject.as_str()).collect::<Vec<_>>(), ["/match /map -> /pose"]);
    assert!(found[0].cost.contains("map to sink"), "{}", found[0].cost);
    let alone = FileBuilder::new()
        .node(1, "sensor").publisher("/points").timer(100).node(2, "filter").subscription("/points").publisher("/out").node(3, "sink").subscription("/out")
        .process(1).at(100).start_timer().at(101).publish(1).end_timer().process(2).at(110).start_taking(1).at(111).publish(2).end_taking()
        .process(3).at(120).start_taking(2).at(121).end_taking();
    assert_eq!(cases(&alone, "uncertain-link"), []);
}

#[test]
fn a_case_of_several_repeats_is_one_told_as_in_the_worst() {
    let (bad, worse) = (scene::tables(&held_up(400)), scene::tables(&held_up(800)));
    let repeat = |tables| Repeat { tables, options: Options::default(), info: None };
    let summary = summarise(&[repeat(&bad), repeat(&worse)], None);
    let finding = summary.findings.expect("lints ran").into_iter().find(|f| f.lint == "starved-callback").expect("found");
    assert_eq!((finding.count, finding.cases[0].repeats), (1, Some(2)));
    assert!(finding.cases[0].evidence.contains("the longest 725 ns"), "{}", finding.cases[0].evidence);
}

#[test]
fn a_callback_that_runs_on_two_threads_at_once_may_answer_every_message() {
    // Messages every 100 and callbacks of 120, in turns on two threads; or one after the other.
    let stream = |threads: u32, every: i64| (0..10).fold(sensor_and(10), |b, k| {
        let b = send(b, 1_000 + 100 * k).process(2).thread(20 + k as u32 % threads);
        b.at(3_000 + every * k).start_taking(1_000 + 100 * k).at(3_120 + every * k).end_taking()
    });
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
fn two_timers_of_one_name_are_two_cases_of_each_repeat() {
    let mut b = FileBuilder::new().node(1, "talker").timer(1_000)
        .rcl_timer_init(TIMER + 8, 1_000).rclcpp_timer_callback_added(TIMER + 8, TIMER_CALLBACK + 8).rclcpp_timer_link_node(TIMER + 8, NODE);
    for at in (0..10).map(|k| 10_000 + 4_000 * k) {
        b = b.at(at).start_timer().at(at + 1_200).end_timer();
        b = b.at(at + 1_200).callback_start(TIMER_CALLBACK + 8, false).at(at + 2_500).callback_end(TIMER_CALLBACK + 8);
    }
    let tables = scene::tables(&b);
    let repeat = Repeat { tables: &tables, options: Options::default(), info: None };
    for repeats in [1, 3] {
        let findings = summarise(&vec![repeat; repeats], None).findings.expect("lints ran");
        let finding = findings.iter().find(|f| f.lint == "callback-exceeds-period").expect("found");
        let in_repeats = (repeats > 1).then_some(repeats as u64);
        let told: Vec<_> = finding.cases.iter().map(|c| (c.subject.as_str(), c.repeats)).collect();
        assert_eq!((finding.count, told), (2, vec![("/talker timer 0.001 ms", in_repeats); 2]));
        assert!(finding.cases.iter().any(|c| c.evidence.ends_with("the longest 1.3 us")) && finding.cases.iter().any(|c| c.evidence.ends_with("the longest 1.2 us")));
    }
}

#[test]
fn paths_of_one_name_are_one_case_told_as_the_worst() {
    let mut tables = scene::tables(&take(send(sensor_and(10), 100), 110, 100, 5));
    let worse = tables.instances[0].end_to_end_ns + 7;
    tables.chains[0].deadline_ns = Some(14);
    tables.chains.push(tables.chains[0].clone());
    tables.chains.push(tables.chains[0].clone());
    let instance = tables.instances[0];
    tables.instances.push(tacho_analysis::tables::Instance { chain: 2, end_to_end_ns: worse, ..instance });
    let found = cases_of(&tables, None, "deadline-missed");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].evidence, "1 of 1 instances took longer than 14 ns; the longest 22 ns (on the worst of 2 such paths, of 3 with this name)");
    assert_eq!(found[0].cost, "up to 8 ns too late");
}

#[test]
fn a_full_thread_says_what_messages_waited_and_else_what_time_is_left() {
    // Timers alone.
    let timers = (0..20).fold(FileBuilder::new().node(1, "all").timer(100).another_subscription(OTHER, "/map"), |b, k| {
        let at = 1_000 + 100 * k;
        b.at(at).start_timer().at(at + 45).end_timer().at(at + 45).callback_start(CALLBACK + OTHER, false).at(at + 90).end_taking_from(OTHER)
    });
    // 20 times 90 of the 1990 from the first to the last.
    let found = cases(&timers, "single-threaded-bottleneck");
    assert_eq!(found[0].cost, "190 ns are left for whatever else comes to it");
    // Messages that were there 30 before the timer that polls, and one that it takes while it runs.
    let mut b = FileBuilder::new().node(1, "sensor").publisher("/map").timer(100).node(2, "all").timer(100).another_subscription(OTHER, "/map");
    for k in 0..20 {
        let at = 1_000 + 100 * k;
        b = b.process(1).at(at).start_timer().at(at + 1).publish(at).at(at + 2).end_timer();
        b = b.process(2).at(at - 20).start_timer().at(at + 31).end_timer();
        b = b.at(at + 31).start_taking_from(OTHER, at).at(at + 75).end_taking_from(OTHER);
    }
    let found = cases(&b, "single-threaded-bottleneck");
    assert_eq!(found[0].cost, "messages wait 30 ns for their callback on the average, from their arrival or, where that is not recorded, publish call");
}

#[test]
fn a_late_publisher_that_skips_nothing_loses_nothing() {
    let mut b = FileBuilder::new().node(1, "camera").publisher("/image").timer(100);
    for k in 0..100 {
        let due = 1_000 + 100 * k;
        let at = if k < 3 { due + 100 } else { due };
        b = b.at(at).start_timer().node_due(PUBLISHER, k as u64, due).node_publish(PUBLISHER, 1, k as u64, 64).publish(due).end_timer();
    }
    let found = cases(&b, "publisher-behind");
    assert_eq!(found[0].cost, "latencies begin at the publish call: up to 100 ns of lateness are not in them");
}
