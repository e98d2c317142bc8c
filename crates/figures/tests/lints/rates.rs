//! Lints on timers, publishers and nodes that do not do what is due.

use super::*;

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
    assert!(
        found[0]
            .evidence
            .starts_with("unconfigured in the end, not active for the last 10.00 s; active for 48.00 s of 60.00 s"),
        "{}",
        found[0].evidence
    );
    assert_eq!(ended(&[(10, "active"), (14, "inactive")], 18).len(), 1, "active for as long as not");
    assert_eq!(ended(&[(1, "inactive")], 60).len(), 1);
    assert_eq!(ended(&[(1, "inactive"), (2, "finalized")], 60).len(), 1);
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
            busy = busy
                .at(at)
                .start_timer()
                .at(at + 10)
                .end_timer()
                .at(at + 900)
                .callback_start(CALLBACK + OTHER, false)
                .at(at + 1_020 - between)
                .end_taking_from(OTHER);
        }
        assert_eq!(cases(&busy, "timer-drift"), []);
    }
    // A full executor: of each five ticks one is held up by 600, and the three behind it come 800 apart, until one is
    // on the grid again.
    let mut catching_up = FileBuilder::new().node(1, "talker").timer(1_000).another_subscription(OTHER, "/map");
    let other = |b: FileBuilder, from: i64, to: i64| {
        b.at(from).callback_start(CALLBACK + OTHER, false).at(to).end_taking_from(OTHER)
    };
    for k in 0..40 {
        let at = 10_000 + 5_000 * k;
        catching_up = catching_up.at(at).start_timer().at(at + 10).end_timer();
        for (from, late) in [(900, 1_600), (2_300, 2_400), (3_100, 3_200)] {
            catching_up =
                other(catching_up, at + from, at + late - 5).at(at + late).start_timer().at(at + late + 10).end_timer();
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
    assert_eq!(
        figures.iter().map(|c| (c.count, c.duration_us.as_ref().map(|d| d.max))).collect::<Vec<_>>(),
        [(30, Some(0.03))]
    );
    let simulated = ticking(&[10; 30], 1_020).at(5_000).another_subscription(OTHER, "/clock");
    assert_eq!(cases(&simulated, "timer-drift"), [], "it may follow simulated time");
    // At half speed a period of 1000 is 2000 of real time: a callback of 1200 is none too long.
    let at_half_speed = ticking(&[1_200; 10], 2_000).at(5_000).another_subscription(OTHER, "/clock");
    assert_eq!(cases(&at_half_speed, "callback-exceeds-period"), []);
    let starved = held_up(400).another_subscription(CLOCK, "/clock");
    assert_eq!(cases(&starved, "starved-callback"), []);
    let tables = scene::tables(&simulated);
    assert!(
        tables.notes.iter().any(|n| n.name == "simulated-time" && n.text.contains("/talker")),
        "{:?}",
        tables.notes
    );
}

#[test]
fn publisher_behind() {
    // Due every 100; `late` of 200 come a period later, `skipped` not at all.
    let publisher = |late: i64, skipped: u64| {
        let mut b = FileBuilder::new().node(1, "camera").publisher("/image").timer(100);
        for k in 0..200 {
            let due = 1_000 + 100 * k;
            let at = if k < late { due + 100 } else { due };
            b = b
                .at(at)
                .start_timer()
                .node_due(PUBLISHER, k as u64, due)
                .node_publish(PUBLISHER, 1, k as u64, 64)
                .publish(due)
                .end_timer();
        }
        if skipped == 0 {
            b
        } else {
            b.at(30_000).node_skipped(PUBLISHER, skipped)
        }
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
        b = b
            .at(due + 150)
            .start_timer()
            .node_due(PUBLISHER, k as u64, due)
            .node_publish(PUBLISHER, 1, k as u64, 64)
            .publish(due)
            .end_timer();
        b = b.at(due + 480).node_skipped(PUBLISHER, 4);
    }
    let found = cases(&b, "publisher-behind");
    // 40 sends and 160 skips.
    assert!(
        found[0].evidence.starts_with("of 200 sends due every 100 ns 160 were skipped and 40 a period or more late"),
        "{}",
        found[0].evidence
    );
}

#[test]
fn a_late_publisher_that_skips_nothing_loses_nothing() {
    let mut b = FileBuilder::new().node(1, "camera").publisher("/image").timer(100);
    for k in 0..100 {
        let due = 1_000 + 100 * k;
        let at = if k < 3 { due + 100 } else { due };
        b = b
            .at(at)
            .start_timer()
            .node_due(PUBLISHER, k as u64, due)
            .node_publish(PUBLISHER, 1, k as u64, 64)
            .publish(due)
            .end_timer();
    }
    let found = cases(&b, "publisher-behind");
    assert_eq!(found[0].cost, "latencies begin at the publish call: up to 100 ns of lateness are not in them");
}
