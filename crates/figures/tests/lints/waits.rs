//! Lints on callbacks that wait for a response, for their CPU, for a newer input, or for a partner.

use super::*;
use tacho_tables::{LinkEvidence, LinkRule};

const MS: i64 = 1_000_000;
const CLIENT: u64 = 0x60;
const SERVICE: u64 = 0x70;
const SERVICE_CALLBACK: u64 = 0x71;
const GID: [u64; 2] = [7, 8];

/// A planner with a timer of 100 ms and a client of /get_map, and a map that answers.
fn planner() -> FileBuilder {
    FileBuilder::new()
        .node(1, "planner")
        .timer(100 * MS)
        .rmw_client_init(CLIENT + 1, GID)
        .rcl_client_init(CLIENT, NODE, CLIENT + 1, "/get_map")
        .node(2, "map")
        .rcl_service_init(SERVICE, NODE, SERVICE + 1, "/get_map")
        .rclcpp_service_callback_added(SERVICE, SERVICE_CALLBACK)
}

/// A tick that asks after 1 ms and ends at `end`; the response is taken `takes` after the request.
fn ask(b: FileBuilder, number: i64, takes: i64, end: i64) -> FileBuilder {
    let at = 100 * MS * number;
    let sent = at + MS;
    let b = b.process(1).at(at).start_timer().at(sent).rmw_send_request(CLIENT + 1, 0x90, number);
    let served = |b: FileBuilder| {
        b.process(2)
            .at(sent + takes / 4)
            .rmw_take_request(SERVICE + 1, 0x91, GID, number, true)
            .callback_start(SERVICE_CALLBACK, false)
            .at(sent + takes / 2)
            .rmw_send_response(SERVICE + 1, 0x92, GID, number, 0)
            .callback_end(SERVICE_CALLBACK)
    };
    let response = |b: FileBuilder| b.process(1).at(sent + takes).rmw_take_response(CLIENT + 1, 0x93, number, 0, true);
    match sent + takes < at + end {
        true => response(served(b)).at(at + end).end_timer(),
        false => response(served(b.at(at + end).end_timer())),
    }
}

#[test]
fn a_callback_that_waits_for_the_response_of_its_call_is_found() {
    let asking = |takes: i64, end: i64| (1..=20).fold(planner(), |b, k| ask(b, k, takes, end));
    let found = cases(&asking(30 * MS, 32 * MS), "call-blocks-executor");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].subject, "/planner timer 100 ms Talker::tick calls /get_map");
    assert!(
        found[0].evidence.starts_with(
            "20 of 20 calls (100.0 %) came back inside the callback that sent them, 600.0 ms of the 640.0 ms"
        ),
        "{}",
        found[0].evidence
    );
    assert!(found[0].next.contains("async_send_request"), "{}", found[0].next);
    assert_eq!(cases(&asking(30 * MS, 3 * MS), "call-blocks-executor"), [], "it gave the thread back");
    assert_eq!(cases(&asking(MS / 2, 2 * MS), "call-blocks-executor"), [], "half a percent of the time");
    assert_eq!(cases(&asking(10 * MS, 30 * MS), "call-blocks-executor"), [], "its own work takes longer");
    // Its thread worked all the time: it did not wait.
    let mut tables = scene::tables(&asking(30 * MS, 32 * MS));
    let mut rows = tables.executions.to_vec();
    rows.iter_mut().for_each(|row| row.cpu_ns = row.end_ns.get().map(|end| end - row.start_ns).into());
    tables.executions = rows.into_iter().collect();
    assert_eq!(cases_of(&tables, None, "call-blocks-executor"), []);
}

#[test]
fn a_thread_of_a_pool_that_waits_for_a_response_is_one_of_several() {
    // rclpy's pool: the timer runs on either of two threads, and neither of them ever waits for work.
    let pool = |takes: i64, end: i64| {
        let b = (1..=20).fold(planner(), |b, k| ask(b, k, takes, end));
        let mut tables = scene::tables(&b);
        let mut rows = tables.executions.to_vec();
        let timer = rows[0].callback;
        for (number, row) in rows.iter_mut().filter(|row| row.callback == timer).enumerate() {
            row.tid = 50 + number as u32 % 2;
        }
        tables.executions = rows.into_iter().collect();
        cases_of(&tables, None, "call-blocks-executor")
    };
    let found = pool(30 * MS, 32 * MS);
    assert_eq!(found.len(), 1);
    assert!(found[0].cost.starts_with("one of the 2 threads of its executor"), "{}", found[0].cost);
    assert_eq!(pool(5 * MS, 7 * MS), [], "5 % of the time of one of two threads");
}

#[test]
fn a_callback_that_never_comes_back_from_its_call_is_a_deadlock() {
    let hanging = |until_ms: i64| {
        let b = (1..=3).fold(planner(), |b, k| ask(b, k, 10 * MS, 12 * MS));
        let b = b.process(1).at(500 * MS).start_timer().at(501 * MS).rmw_send_request(CLIENT + 1, 0x90, 9);
        let b = b.process(2).at(502 * MS).rmw_take_request(SERVICE + 1, 0x91, GID, 9, true);
        let b = b.callback_start(SERVICE_CALLBACK, false).at(503 * MS);
        let b = b.rmw_send_response(SERVICE + 1, 0x92, GID, 9, 0).callback_end(SERVICE_CALLBACK);
        b.process(1).thread(77).at(until_ms * MS).clock_sync(until_ms * MS, until_ms * MS, 10)
    };
    let of_last = |found: Vec<FindingCase>| found.into_iter().filter(|case| case.cost.contains("deadlock"));
    let found: Vec<FindingCase> = of_last(cases(&hanging(4_000), "call-blocks-executor")).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].evidence.starts_with(
            "it sent a request 1.0 ms after its start and never ended; the response was sent and not taken"
        ),
        "{}",
        found[0].evidence
    );
    let early = of_last(cases(&hanging(1_000), "call-blocks-executor")).count();
    assert_eq!(early, 0, "half a second: it may come back");
}

#[test]
fn a_callback_that_sleeps_is_off_the_cpu() {
    let with_cpu = |part: f64| {
        let mut tables = scene::tables(&ticking(&[4 * MS; 30], 20 * MS));
        let mut rows = tables.executions.to_vec();
        rows.iter_mut().for_each(|row| {
            row.cpu_ns = row.end_ns.get().map(|end| ((end - row.start_ns) as f64 * part) as i64).into()
        });
        tables.executions = rows.into_iter().collect();
        cases_of(&tables, None, "callback-off-cpu")
    };
    let found = with_cpu(0.1);
    assert_eq!(found.len(), 1);
    assert!(found[0].evidence.starts_with("30 executions; of 120.0 ms inside it 108.0 ms (90 %)"), "{found:?}");
    assert!(found[0].cost.starts_with("3.6 ms a call"), "{}", found[0].cost);
    assert_eq!(with_cpu(0.6), []);
    assert_eq!(cases(&ticking(&[4 * MS; 30], 20 * MS), "callback-off-cpu"), [], "CPU time was not recorded");
}

/// A sensor that sends every 100 ms but where `skips`, and a planner whose timer of 100 ms uses what was taken last.
fn held(skips: impl Fn(i64) -> bool, takes: impl Fn(i64) -> Option<i64>) -> FileBuilder {
    let mut b = FileBuilder::new().node(1, "sensor").publisher("/points").timer(100 * MS);
    b = b.node(2, "planner").subscription("/points").publisher("/path").timer(100 * MS);
    b = b.node(3, "control").subscription("/path");
    for k in 1..=100 {
        let at = 100 * MS * k;
        if !skips(k) {
            b = b.process(1).at(at).start_timer().publish(at).end_timer();
            if let Some(takes) = takes(k) {
                b = b.process(2).at(at + takes).start_taking(at).end_taking();
            }
        }
        let tick = at + 50 * MS;
        b = b.process(2).at(tick).start_timer().publish(-tick).at(tick + MS).end_timer();
        b = b.process(3).at(tick + 2 * MS).start_taking(-tick).end_taking();
    }
    b
}

#[test]
fn a_timer_that_uses_an_input_again_which_should_have_been_replaced_is_found_with_the_reason() {
    let in_a_gap = |k: i64| (20..25).contains(&k) || (60..65).contains(&k);
    let evidence = |b: &FileBuilder| {
        let found = cases(b, "stale-input");
        assert!(found.len() < 2);
        found.into_iter().next().map(|case| (case.subject, case.evidence, case.next))
    };
    let (subject, evidence_of_gap, next) = evidence(&held(in_a_gap, |_| Some(MS))).expect("a case");
    assert_eq!(subject, "/planner /points");
    // Of the five ticks of a gap the first is 150 ms behind the last message, the others 250 to 550 ms.
    let expected = "8 of 99 times (8.1 %) its timer used a message older than 2 of the 100.0 ms in which /sensor \
                    usually publishes, the oldest 550.0 ms: 8 times /sensor had sent nothing newer";
    assert_eq!(evidence_of_gap, expected);
    assert!(next.contains("why /sensor comes late"), "{next}");
    let (_, lost, next) = evidence(&held(|_| false, |k| (!in_a_gap(k)).then_some(MS))).expect("a case");
    assert!(lost.contains("what it had sent since was lost"), "{lost}");
    assert!(next.contains("queue-too-short"), "{next}");
    assert_eq!(evidence(&held(|_| false, |_| Some(MS))), None, "each use has a new one");
    assert_eq!(evidence(&held(|k| k % 2 == 0, |_| Some(MS))), None, "a reader that is faster by design");
    assert_eq!(evidence(&held(|k| k % 30 == 0, |_| Some(MS))), None, "one late message is within two periods");
    let by_events = |k: i64| (k * k / 7) % 3 == 0 || (k / 9) % 2 == 0;
    assert_eq!(evidence(&held(by_events, |_| Some(MS))), None, "who publishes as things happen is not late");
}

/// A fusion of 10 Hz points and images, each image `offset(k)` after the points.
fn fusion(offset: impl Fn(i64) -> i64) -> (Tables, usize) {
    let mut b = FileBuilder::new().node(1, "lidar").publisher("/points").timer(100 * MS);
    b = b.node(2, "camera").publisher("/image").timer(100 * MS).node(3, "fusion").subscription("/points");
    b = b.another_subscription(OTHER, "/image").publisher("/objects").node(4, "sink").subscription("/objects");
    let mut outputs = 0;
    for k in 1..=60 {
        let (at, image) = (100 * MS * k, 100 * MS * k + offset(k));
        b = b.process(1).at(at).start_timer().publish(at).end_timer();
        b = b.process(3).at(at + MS).start_taking(at).end_taking();
        b = b.process(2).at(image).start_timer().publish(-image).end_timer();
        b = b.process(3).at(image + MS).start_taking_from(OTHER, -image);
        if offset(k) < 20 * MS {
            outputs += 1;
            b = b.publish(k);
        }
        b = b.end_taking_from(OTHER);
    }
    let mut tables = scene::tables(&b);
    let node = tables.nodes.iter().position(|node| node.name == "/fusion").expect("fusion");
    tables.links = ["/points", "/image"]
        .map(|input| tacho_tables::Link {
            node: tacho_tables::row::Row::behind(node),
            input: input.into(),
            output: Some("/objects".into()),
            rule: LinkRule::Match,
            evidence: LinkEvidence::Stated,
            confidence: 1.0,
            guess: Some(false),
            outputs: 60,
            followed: 60,
        })
        .into();
    (tables, outputs)
}

#[test]
fn a_filter_that_drops_is_found_with_the_pair_and_by_how_much_it_misses() {
    let found = |offset: fn(i64) -> i64| cases_of(&fusion(offset).0, None, "filter-drops");
    let drops = found(|k| if k % 3 == 0 { 40 * MS } else { 10 * MS });
    assert_eq!(drops.len(), 1);
    assert_eq!(drops[0].subject, "/fusion /image with /points");
    assert!(
        drops[0]
            .evidence
            .starts_with("60 messages of /image, the sparser input, led to 40 outputs on /objects: 20 (33.3 %)"),
        "{}",
        drops[0].evidence
    );
    assert!(drops[0].evidence.ends_with("lie 40.0 ms from it in the median, the others at most 10.0 ms"), "{drops:?}");
    assert!(drops[0].next.contains("above 40.0 ms"), "{}", drops[0].next);
    assert_eq!(found(|_| 10 * MS), []);
    assert_eq!(found(|k| if k % 30 == 0 { 40 * MS } else { 10 * MS }), [], "two of sixty");
}

fn with_arrivals(mut tables: Tables, arrival_ns: impl Fn(i64) -> Option<i64>) -> Tables {
    let mut rows = tables.messages.to_vec();
    rows.iter_mut().for_each(|row| row.arrival_ns = row.publish_ns.get().and_then(&arrival_ns).into());
    tables.messages = rows.into_iter().collect();
    tables
}

/// Messages every 20 ms, with arrivals; the tenth is taken `late_ms` late, and those that came since right after it.
fn standing(late_ms: i64, busy_ms: i64) -> Tables {
    let mut b = sensor_and(100).another_subscription(OTHER, "/map");
    (1..=40).for_each(|k| b = send(std::mem::take(&mut b), 20 * MS * k));
    let mut free = 0;
    for k in 1..=40 {
        let late_ms = if k == 10 { late_ms } else { 1 };
        let at = (20 * MS * k + late_ms * MS).max(free);
        if k == 10 && busy_ms > 0 {
            b = b
                .process(2)
                .at(at - busy_ms * MS)
                .callback_start(CALLBACK + OTHER, false)
                .at(at - 1)
                .callback_end(CALLBACK + OTHER);
        }
        b = take(b, at, 20 * MS * k, MS / 10);
        free = at + MS / 5;
    }
    with_arrivals(scene::tables(&b), |sent| Some(sent + MS / 10))
}

#[test]
fn an_executor_that_lets_messages_wait_and_runs_nothing_stands_still() {
    let found = cases_of(&standing(300, 0), None, "stalled-executor");
    assert_eq!(found.iter().map(|case| case.subject.as_str()).collect::<Vec<_>>(), ["/filter /points"]);
    let evidence =
        "once it ran no callback though a message had come; the longest time 299.9 ms, in which 14 more were sent";
    assert_eq!(found[0].evidence, evidence);
    assert_eq!(found[0].cost, "messages waited 299.9 ms in all for their turn", "others waited for those before them");
    assert_eq!(cases_of(&standing(90, 0), None, "stalled-executor"), [], "a moment");
    assert_eq!(cases_of(&standing(300, 250), None, "stalled-executor"), [], "another callback had it");
    let of_python = |several: bool| {
        let mut tables = standing(300, 0);
        tables.processes.iter_mut().for_each(|process| process.executable = "/usr/bin/python3.11".into());
        let mut rows = tables.executions.to_vec();
        let of_points = |row: &&mut Execution| tables.callbacks[row.callback].topic.as_deref() == Some("/points");
        for (number, row) in rows.iter_mut().filter(of_points).enumerate() {
            row.tid += u32::from(several && number % 2 == 1);
        }
        tables.executions = rows.into_iter().collect();
        cases_of(&tables, None, "stalled-executor").remove(0).next
    };
    assert!(of_python(true).contains("rclpy's MultiThreadedExecutor may delay"), "{}", of_python(true));
    assert!(of_python(false).contains("py-spy dump"), "{}", of_python(false));
    // Without arrivals they may have been on their way.
    let tables = with_arrivals(standing(300, 0), |_| None);
    assert_eq!(cases_of(&tables, None, "stalled-executor"), []);
}

#[test]
fn a_node_that_polls_lets_messages_wait_on_purpose() {
    // 15 messages in each of its periods of 300 ms.
    let mut b = sensor_and(100);
    (1..=100).for_each(|k| b = send(std::mem::take(&mut b), 20 * MS * k));
    for k in 1..=100 {
        let poll = (20 * MS * k / (300 * MS) + 1) * 300 * MS;
        b = take(b, poll + k * MS / 10, 20 * MS * k, MS / 20);
    }
    let tables = with_arrivals(scene::tables(&b), |sent| Some(sent + MS / 10));
    assert_eq!(cases_of(&tables, None, "stalled-executor"), []);
}
