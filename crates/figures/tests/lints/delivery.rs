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
