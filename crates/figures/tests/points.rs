//! The figures of a point against answers that are known beforehand.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_analysis::Options;
use tacho_events::run::{ProcessExit, RunInfo, StartUp};
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::row::Row;
use tacho_tables::summary::Point;
use tacho_tables::{Delivery, Endpoint, EndpointKind, MaybeNs, Message, Node, Process, Publication, Tables};
use tacho_workload::model::{Start, Workload};

const MS: i64 = 1_000_000;
const US: i64 = 1_000;

fn workload(text: &str) -> Workload {
    tacho_workload::parse(text, "test.yaml").map(|(workload, _)| workload).unwrap_or_else(|e| panic!("{e}"))
}

/// A camera at 100 Hz and what listens to it.
fn camera(listeners: usize) -> Workload {
    let mut text =
        "middleware: inproc\nnodes:\n  camera: {publishes: {/image: {size: 64 B, rate: 100 Hz}}}\n".to_owned();
    (0..listeners).for_each(|i| text.push_str(&format!("  listener_{i:02}: {{subscribes: [/image]}}\n")));
    workload(&text)
}

/// Tables of a camera that publishes every 10 ms from 0 on, `messages` times, to listeners made in the order of
/// `created`; a message takes `latency_us(listener, message)`, and one without is lost.
fn tables_of_camera(messages: usize, created: &[usize], latency_us: impl Fn(usize, usize) -> Option<f64>) -> Tables {
    let process = Process {
        pid: 1,
        executable: "p".into(),
        command: "p".into(),
        clock: None,
        host: "h".into(),
        events: 1,
        dropped_events: 0,
        ended: Some(true),
        first_ns: 0,
        last_ns: 0,
        board: None,
        clock_error_ns: None,
    };
    let endpoint = |node: usize, kind, created_ns| Endpoint {
        node: Row::behind(node),
        kind,
        topic: "/image".into(),
        message_type: None,
        depth: None,
        reliable: None,
        transient_local: None,
        keep_all: None,
        created_ns,
        count: 0,
        skipped: (kind == EndpointKind::Publisher).then_some(0),
        refused: (kind == EndpointKind::Publisher).then_some(0),
        pending: None,
        before: None,
        after: None,
        unknown: None,
        linked: (kind == EndpointKind::Subscription).then_some(true),
    };
    let mut tables = Tables { processes: vec![process], ..Tables::default() };
    tables.nodes.push(Node { process: Row::new(0), name: "/camera".into() });
    tables.endpoints.push(endpoint(0, EndpointKind::Publisher, -1));
    for listener in 0..created.len() {
        tables.nodes.push(Node { process: Row::new(0), name: format!("/listener_{listener:02}") });
        let place = created.iter().position(|l| *l == listener).expect("made");
        tables.endpoints.push(endpoint(listener + 1, EndpointKind::Subscription, place as i64));
    }
    for number in 0..messages {
        let publish_ns = number as i64 * 10 * MS;
        tables.publications.push(Publication {
            publisher: Row::new(0),
            publish_ns,
            due_ns: publish_ns.into(),
            sequence: Some(number as u64),
            size_bytes: None,
            execution: None,
        });
        for listener in 0..created.len() {
            let callback_ns = latency_us(listener, number).map(|us| publish_ns + (us * US as f64) as i64);
            tables.messages.push(Message {
                publisher: Some(Row::new(0)),
                subscription: Row::behind(1 + listener),
                sequence: Some(number as u64),
                publish_ns: publish_ns.into(),
                arrival_ns: MaybeNs::NONE,
                take_ns: callback_ns.into(),
                callback_ns: callback_ns.into(),
                execution: None,
                published_in: None,
                delivery: if callback_ns.is_some() { Delivery::InTime } else { Delivery::Lost },
                lost_in: None,
                emulated: false,
            });
        }
    }
    tables
}

fn point_of(tables: &[Tables], workload: &Workload) -> Point {
    let repeats: Vec<_> =
        tables.iter().map(|tables| Repeat { tables, options: Options::default(), info: None }).collect();
    summarise(&repeats, Some(workload)).points.remove(0)
}

// What was due.

/// A camera due every 10 ms from 3 ms on, that takes 15 ms for an image: message k is published at 18 + 15 k ms, until
/// 2 s.
fn camera_that_falls_behind() -> FileBuilder {
    let mut builder = FileBuilder::new()
        .node(1, "camera")
        .publisher("/image")
        .node(2, "listener_00")
        .subscription("/image")
        .process(1);
    let (mut now, mut served, mut sequence) = (3 * MS, 0, 0u64);
    let due_by = |now: i64| (now - 3 * MS) / (10 * MS) + 1;
    while now < 2_000 * MS {
        let due = due_by(now);
        if due == served {
            now = 3 * MS + 10 * MS * due;
            continue;
        }
        builder = builder.at(now).with(|b| {
            if due - served > 1 {
                b.node_skipped(PUBLISHER, (due - served - 1) as u64)
            } else {
                b
            }
        });
        served = due;
        now += 15 * MS;
        builder = builder
            .at(now)
            .node_due(PUBLISHER, sequence, 3 * MS + 10 * MS * (due - 1))
            .node_publish(PUBLISHER, 1, sequence, 64)
            .publish(0);
        sequence += 1;
    }
    let left = due_by(2_000 * MS - 1) - served;
    builder.at(now).with(|b| if left > 0 { b.node_skipped(PUBLISHER, left as u64) } else { b })
}

#[test]
fn a_publisher_that_falls_behind_skips_exactly_what_it_was_due_and_did_not_send() {
    let builder = camera_that_falls_behind()
        .info(|i| (i.measured_from_ns, i.measured_to_ns) = (Some(500 * MS), Some(1_500 * MS)));
    let folder = tempfile::tempdir().expect("folder");
    let run = builder.write(folder.path()).expect("write");
    let summary = tacho_figures::analyse_and_store(&run, Some(&camera(1)), &mut |_| {}).expect("analyse");
    let point = &summary.points[0];
    // Due in [500, 1500) ms at 3 + 10 i: 503 to 1493, a hundred. Send k begins at 3 + 15 k, for the latest that is due
    // by then.
    let due_of = |k: i64| 3 + 10 * (15 * k / 10);
    let sent = (0..200).filter(|k| (500..1500).contains(&due_of(*k))).count() as u64;
    assert_eq!((point.due, point.sent, point.skipped), (Some(100), sent, Some(100 - sent)));
    assert!((66..=67).contains(&sent), "{sent}");
    // Each is published 15 ms after it begins, and it began 0 or 5 ms after it was due: all are out of their period.
    assert_eq!(point.sent_late, Some(sent));
    assert_eq!(point.send_lateness_us.as_ref().map(|d| (d.min, d.max)), Some((15_000.0, 20_000.0)));
    let publisher = &point.publishing[0];
    assert_eq!((publisher.node.as_str(), publisher.topic.as_str()), ("/camera", "/image"));
    assert_eq!(
        (publisher.due, publisher.sent, publisher.skipped, publisher.sent_late),
        (point.due, sent, point.skipped, point.sent_late)
    );
    assert_eq!((point.rate_hz, point.size_bytes), (Some(100.0), Some(64)));
}

#[test]
fn what_answers_an_input_is_not_due_by_the_clock() {
    let relay = workload(
        "
middleware: inproc
nodes:
  relay: {subscribes: [/image], publishes: {/again: {size: 8 B}}}
  camera: {publishes: {/image: {size: 64 B, rate: 100 Hz}}}
",
    );
    let run = FileBuilder::new()
        .node(1, "camera")
        .publisher("/image")
        .node(2, "relay")
        .subscription("/image")
        .publisher("/again")
        .process(1)
        .at(10 * MS)
        .node_due(PUBLISHER, 0, 10 * MS)
        .node_publish(PUBLISHER, 1, 0, 64)
        .publish(1)
        .process(2)
        .at(11 * MS)
        .start_taking(1)
        .node_take(SUBSCRIPTION, 1, 0, 0)
        .node_publish(PUBLISHER, 2, 0, 8)
        .publish(2)
        .end_taking();
    let tables = tables_of(&run, Some(&relay));
    let point = point_of(&[tables], &relay);
    let due: Vec<_> = point.publishing.iter().map(|p| (p.node.as_str(), p.due, p.sent, p.sent_late)).collect();
    assert_eq!(due, [("/camera", Some(1), 1, Some(0)), ("/relay", None, 1, None)]);
    assert_eq!(
        (point.due, point.sent, point.sent_late, point.send_lateness_us.map(|d| d.count)),
        (Some(2), 2, Some(0), Some(1))
    );
    assert_eq!((point.rate_hz, point.size_bytes), (None, None), "they differ");
}

#[test]
fn the_deadline_of_the_workload_goes_before_the_period() {
    let run =
        FileBuilder::new().node(1, "camera").publisher("/image").node(2, "listener_00").subscription("/image").with(
            |mut b| {
                for i in 0..4u64 {
                    let now = 100 * MS * i as i64;
                    b = b
                        .process(1)
                        .at(now)
                        .node_publish(PUBLISHER, 1, i, 64)
                        .publish(i as i64 + 1)
                        .process(2)
                        .at(now + 5 * MS * i as i64)
                        .start_taking(i as i64 + 1)
                        .node_take(SUBSCRIPTION, 1, i, 0)
                        .end_taking();
                }
                b
            },
        );
    let mut workload = camera(1);
    let judged = |workload: &Workload| {
        let point = point_of(&[tables_of(&run, Some(workload))], workload);
        assert_eq!((point.subscribing[0].in_time, point.subscribing[0].late), (point.in_time, point.late));
        (point.in_time, point.late)
    };
    // Latencies 0, 5, 10, 15 ms; the period is 10 ms.
    assert_eq!(judged(&workload), (Some(3), Some(1)));
    workload.nodes[0].publishes[0].deadline = Some(std::time::Duration::from_micros(4_999));
    assert_eq!(judged(&workload), (Some(1), Some(3)));
    workload.nodes[0].publishes[0].deadline = Some(std::time::Duration::from_secs(10));
    assert_eq!(judged(&workload), (Some(4), Some(0)));
}

// Each subscription.

#[test]
fn losses_are_counted_by_subscription_and_absent_where_events_were_dropped() {
    let lossy = |listener, message: usize| (listener != 1 || message % 100 != 99).then_some(50.0);
    let mut tables = tables_of_camera(300, &[0, 1], lossy);
    let point = point_of(std::slice::from_ref(&tables), &camera(2));
    assert_eq!((point.received, point.lost, point.loss_percent), (597, Some(3), Some(0.5)));
    let each: Vec<_> = point.subscribing.iter().map(|s| (s.node.as_str(), s.received, s.lost)).collect();
    assert_eq!(each, [("/listener_00", 300, Some(0)), ("/listener_01", 297, Some(3))]);
    assert_eq!((point.due, point.skipped), (Some(300), Some(0)));
    tables.processes[0].dropped_events = 1;
    let point = point_of(&[tables], &camera(2));
    assert_eq!((point.lost, point.loss_percent, point.subscribing[0].lost), (None, None, None));
    assert_eq!((point.due, point.skipped, point.publishing[0].due), (None, None, None));
}

#[test]
fn subscriptions_stand_in_the_order_in_which_they_were_made() {
    let point = point_of(&[tables_of_camera(3, &[2, 0, 1], |listener, _| Some(listener as f64))], &camera(3));
    let nodes: Vec<_> = point.subscribing.iter().map(|s| s.node.as_str()).collect();
    assert_eq!(nodes, ["/listener_02", "/listener_00", "/listener_01"]);
}

// Fairness.

#[test]
fn a_staircase_is_one_and_its_spread_is_its_height() {
    let point = point_of(
        &[tables_of_camera(50, &[3, 1, 0, 2, 4], |listener, message| {
            let place = [3, 1, 0, 2, 4].iter().position(|l| *l == listener).expect("place");
            Some(100.0 + 1000.0 * place as f64 + (message % 7) as f64)
        })],
        &camera(5),
    );
    let fairness = point.fairness.expect("five subscriptions");
    assert_eq!((fairness.topic.as_str(), fairness.subscriptions, fairness.messages), ("/image", 5, 50));
    assert!((fairness.spread_us - 4000.0).abs() < 1e-6);
    assert_eq!(fairness.staircase, Some(1.0));
    assert!((fairness.staircase_p.expect("p") - 2.0 / 120.0).abs() < 1e-12);
}

#[test]
fn only_messages_that_all_got_are_compared() {
    // The second loses every message that is slow for all: it must not look faster.
    let point = point_of(
        &[tables_of_camera(100, &[0, 1], |listener, message| match (listener, message % 2) {
            (1, 1) => None,
            (_, odd) => Some(100.0 + 900.0 * odd as f64),
        })],
        &camera(2),
    );
    let fairness = point.fairness.expect("two subscriptions");
    assert_eq!((fairness.messages, fairness.spread_us, fairness.staircase), (50, 0.0, None));
}

#[test]
fn repeats_are_pooled_by_subscription_and_by_its_mean_place() {
    // One that is slow in one repeat and one that is slow in the other are alike over both.
    let repeats = [0, 1].map(|repeat| {
        tables_of_camera(10, &[0, 1], move |listener, _| Some(if listener == repeat { 300.0 } else { 100.0 }))
    });
    let fairness = point_of(&repeats, &camera(2)).fairness.expect("two subscriptions");
    assert_eq!((fairness.messages, fairness.spread_us), (20, 0.0));
}

#[test]
fn one_subscription_has_nobody_to_be_compared_with() {
    assert_eq!(point_of(&[tables_of_camera(10, &[0], |_, _| Some(1.0))], &camera(1)).fairness, None);
    assert_eq!(point_of(&[tables_of_camera(10, &[0, 1], |l, _| (l == 0).then_some(1.0))], &camera(2)).fairness, None);
}

// Drift.

/// Noise of a latency: uniform, 0 to 20 us, the same at every run (splitmix64).
fn noise(seed: u64) -> f64 {
    let mut z = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 * 20.0
}

#[test]
fn latency_that_grows_has_its_slope_and_no_change() {
    // 60 s, 3 us more each second; the second subscription 500 us above the first.
    let tables = tables_of_camera(6_000, &[0, 1], |l, m| {
        Some(100.0 + 500.0 * l as f64 + 0.03 * m as f64 + noise(m as u64 * 2 + l as u64))
    });
    let drift = point_of(&[tables], &camera(2)).drift.expect("enough messages");
    assert_eq!(drift.stretches, 128);
    assert!((drift.slope_us_per_s - 3.0).abs() < 0.05, "{drift:?}");
    assert!(drift.slope_low_us_per_s <= 3.0 && 3.0 <= drift.slope_high_us_per_s, "{drift:?}");
    assert_eq!(drift.changes_at_s, [0.0; 0]);
}

#[test]
fn a_step_is_a_change_where_it_is() {
    let tables = tables_of_camera(6_000, &[0], |_, m| Some(if m < 2_000 { 100.0 } else { 180.0 } + noise(m as u64)));
    let drift = point_of(&[tables], &camera(1)).drift.expect("enough messages");
    assert_eq!(drift.changes_at_s.len(), 1, "{drift:?}");
    assert!((drift.changes_at_s[0] - 20.0).abs() <= 60.0 / 128.0, "{drift:?}");
}

#[test]
fn steady_latency_has_neither_slope_nor_change_however_subscriptions_come_and_go() {
    // The slow subscription loses ever more: the mix changes, no latency does.
    let tables = tables_of_camera(6_000, &[0, 1], |l, m| {
        (l == 0 || m % 6_000 < 3_000 || m % 4 == 0).then(|| 100.0 + 500.0 * l as f64 + noise(m as u64 * 2 + l as u64))
    });
    let drift = point_of(&[tables], &camera(2)).drift.expect("enough messages");
    assert!(drift.slope_low_us_per_s <= 0.0 && 0.0 <= drift.slope_high_us_per_s, "{drift:?}");
    assert_eq!(drift.changes_at_s, [0.0; 0]);
}

#[test]
fn too_few_messages_tell_no_drift() {
    assert_eq!(point_of(&[tables_of_camera(49, &[0], |_, m| Some(m as f64))], &camera(1)).drift, None);
    assert!(point_of(&[tables_of_camera(50, &[0], |_, m| Some(m as f64))], &camera(1)).drift.is_some());
}

// Start-up.

#[test]
fn what_is_sent_before_nodes_that_start_at_once_are_matched_is_not_lost() {
    let builder = |taken_from: u64| {
        let mut builder =
            FileBuilder::new().node(1, "camera").publisher("/image").node(2, "listener_00").subscription("/image");
        for i in 0..10u64 {
            let now = 10 * MS * (1 + i as i64);
            builder = builder.process(1).at(now).node_publish(PUBLISHER, 1, i, 64).publish(i as i64 + 1);
            if i >= taken_from && i != 6 {
                builder = builder
                    .process(2)
                    .at(now + MS)
                    .start_taking(i as i64 + 1)
                    .node_take(SUBSCRIPTION, 1, i, 0)
                    .end_taking();
            }
        }
        builder.process(1).at(1_000 * MS).rclcpp_executor_wait_for_work(0)
    };
    let mut workload = camera(1);
    let counts = |taken_from, workload: &Workload| {
        let point = point_of(&[tables_of(&builder(taken_from), Some(workload))], workload);
        (point.received, point.lost)
    };
    assert_eq!(counts(3, &workload), (6, Some(4)));
    workload.run.start = Start::AtOnce;
    assert_eq!(counts(3, &workload), (6, Some(1)));
    assert_eq!(counts(10, &workload), (0, Some(0)));
}

#[test]
fn start_up_is_told_only_where_nodes_did_not_wait_for_each_other() {
    let tables = tables_of_camera(3, &[0], |_, _| Some(1.0));
    let startup =
        |first_message_ns| StartUp { main_ns: 5 * MS, ready_ns: 6 * MS, first_message_ns, ..StartUp::default() };
    let process = |first| ProcessExit { startup: Some(startup(first)), ..ProcessExit::default() };
    let info = RunInfo {
        processes: vec![process(None), process(Some(25 * MS)), process(Some(45 * MS))],
        ..RunInfo::default()
    };
    let mut workload = camera(1);
    let startup_ms = |workload: &Workload| {
        let repeat = Repeat { tables: &tables, options: Options::default(), info: Some(&info) };
        summarise(&[repeat], Some(workload)).points[0].startup_ms.clone()
    };
    assert_eq!(startup_ms(&workload), None);
    workload.run.start = Start::AtOnce;
    assert_eq!(startup_ms(&workload).map(|d| (d.count, d.min, d.max)), Some((2, 20.0, 40.0)));
}
