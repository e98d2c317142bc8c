//! Lints on messages that do not arrive.

use super::*;

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
    let system = |qos: &str| {
        workload(&format!(
            "nodes:\n  sensor: {{publishes: {{/points: {{size: 64 B, rate: 10 Hz, reliability: {qos}}}}}}}\n\
             \x20 filter: {{subscribes: {{/points: {{reliability: {qos}}}}}}}\n"
        ))
    };
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

/// Sends two messages that nobody takes. Reliability and durability as rmw numbers them, and the type.
fn unheard(offered: (u64, u64, &str), asked: (u64, u64, &str)) -> FileBuilder {
    let system = FileBuilder::new()
        .node(1, "sensor")
        .at(0)
        .rmw_publisher_qos(RMW_PUBLISHER, offered.0, offered.1, 1, 10, offered.2)
        .publisher("/points")
        .timer(1_000)
        .node(2, "filter")
        .at(0)
        .rmw_subscription_init(RMW_SUBSCRIPTION, [3, 4])
        .rmw_subscription_qos(RMW_SUBSCRIPTION, asked.0, asked.1, 1, 10, asked.2)
        .rcl_subscription_init(SUBSCRIPTION, NODE, RMW_SUBSCRIPTION, 10, "/points")
        .rclcpp_subscription_init(SUBSCRIPTION, OBJECT)
        .rclcpp_subscription_callback_added(OBJECT, CALLBACK);
    send(send(system, 100), 200).process(2).at(400).rclcpp_executor_wait_for_work(-1)
}

#[test]
fn never_received_names_what_does_not_match() {
    const RELIABLE: u64 = 1;
    const BEST_EFFORT: u64 = 2;
    const TRANSIENT_LOCAL: u64 = 1;
    const VOLATILE: u64 = 2;
    const SCAN: &str = "sensor_msgs/msg/LaserScan";
    const CLOUD: &str = "sensor_msgs/msg/PointCloud2";
    let because = |offered, asked| {
        let found = cases(&unheard(offered, asked), "never-received");
        assert_eq!(found.len(), 1);
        let words = found[0].evidence.split_once("; ").map(|parts| parts.1.to_owned());
        assert_eq!(words.is_some(), found[0].cost.ends_with("do not match"), "{:?}", found[0]);
        words.unwrap_or_default()
    };
    let plain = (RELIABLE, VOLATILE, CLOUD);
    assert_eq!(
        because((BEST_EFFORT, VOLATILE, CLOUD), plain),
        "the publisher offers best effort, and the subscription asks for reliable"
    );
    assert_eq!(
        because(plain, (RELIABLE, TRANSIENT_LOCAL, CLOUD)),
        "the publisher offers volatile, and the subscription asks for transient local"
    );
    assert_eq!(
        because(plain, (RELIABLE, VOLATILE, SCAN)),
        "the publisher sends sensor_msgs/msg/PointCloud2, and the subscription takes sensor_msgs/msg/LaserScan"
    );
    // Who offers more than is asked for matches, and what nobody knows is no difference.
    assert_eq!(because(plain, (BEST_EFFORT, VOLATILE, CLOUD)), "");
    assert_eq!(because((RELIABLE, TRANSIENT_LOCAL, CLOUD), plain), "");
    assert_eq!(because((0, 0, ""), plain), "");
}

#[test]
fn large_message_over_udp() {
    let system = |transport: &str| {
        workload(&format!(
            "middleware: {{fastdds: {transport}}}\nnodes:\n\
             \x20 sensor: {{publishes: {{/points: {{size: 1 MiB, rate: 10 Hz}}}}}}\n\
             \x20 filter: {{subscribes: [/points]}}\n"
        ))
    };
    let sized = |bytes: u64| {
        let b = sensor_and(10)
            .process(1)
            .at(100)
            .start_timer()
            .node_publish(PUBLISHER, 1, 0, bytes)
            .publish(100)
            .end_timer();
        take(b, 110, 100, 5)
    };
    let udp = system("udp");
    let found = cases_of(&tables_of(&sized(1 << 20), Some(&udp)), Some(&udp), "large-message-over-udp");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].evidence.starts_with("messages of up to 1048576 B")
            && found[0].evidence.contains("at least 17 datagrams"),
        "{}",
        found[0].evidence
    );
    assert_eq!(
        cases_of(&tables_of(&sized(65_507), Some(&udp)), Some(&udp), "large-message-over-udp"),
        [],
        "it fits a datagram"
    );
    let ros1 = workload(
        "middleware: {ros1: udpros}\nnodes:\n\
         \x20 sensor: {publishes: {/points: {size: 1 MiB, rate: 10 Hz, reliability: best_effort}}}\n\
         \x20 filter: {subscribes: {/points: {reliability: best_effort}}}\n",
    );
    let found = cases_of(&tables_of(&sized(1 << 20), Some(&ros1)), Some(&ros1), "large-message-over-udp");
    // 2^20 / 1492: UDPROS fills datagrams of 1500 B, 8 of them its own.
    assert!(found[0].evidence.contains("703 datagrams"), "{}", found[0].evidence);
    let shm = system("shm");
    assert_eq!(cases_of(&tables_of(&sized(1 << 20), Some(&shm)), Some(&shm), "large-message-over-udp"), []);
    // A workload that names no transport goes over what its middleware took, as the run says.
    let left = workload(
        "middleware: any\nnodes:\n  sensor: {publishes: {/points: {size: 1 MiB, rate: 10 Hz}}}\n\
         \x20 filter: {subscribes: [/points]}\n",
    );
    let over = |transport: &str| {
        let transports = [("any".to_owned(), vec![transport.to_owned()])].into();
        let (tables, info) = (tables_of(&sized(1 << 20), Some(&left)), RunInfo { transports, ..RunInfo::default() });
        let repeat = Repeat { tables: &tables, options: Options::default(), info: Some(&info) };
        let findings = summarise(&[repeat], Some(&left)).findings.expect("lints ran");
        findings.iter().filter(|f| f.lint == "large-message-over-udp").count()
    };
    assert_eq!((over("udp"), over("shm")), (1, 0));
    assert_eq!(cases_of(&tables_of(&sized(1 << 20), Some(&left)), Some(&left), "large-message-over-udp"), []);
    let apart = sized(1 << 20).process(2).header(|h| h.host = "roadside".into());
    assert_eq!(cases(&apart, "large-message-over-udp").len(), 1, "two hosts have no memory in common");
}
