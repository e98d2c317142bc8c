//! A microcontroller beside a process of this machine: its clock is related by messages both ways, and no duration in
//! emulated time is reported.

use tacho_analysis::analyse;
use tacho_events::layout::{Sync, TickSource};
use tacho_events::testing::FileBuilder;
use tacho_tables::Delivery;

/// The board's clock stood at 0 when this machine's stood here.
const OFFSET: i64 = 7_000_000_000;
/// Where its file first takes that for.
const ROUGH: i64 = OFFSET + 900_000;
const MS: i64 = 1_000_000;

/// `beats` messages from the board, 10 ms apart, each 300 us on its way by emulated time; beacons and messages of
/// events never less than 100 us.
fn run(beats: i64, machine: &'static str) -> FileBuilder {
    let start = Sync { ticks: 0, monotonic_ns: ROUGH, realtime_ns: ROUGH, bound_ns: 0 };
    let mut file = FileBuilder::new()
        .process(9)
        .header(|header| {
            header.ticks = TickSource::Board;
            header.start = start;
            header.host = "m4".into();
            header.command = machine.into();
        })
        .at(0)
        .rcl_node_init(0x1, 0, "m4", "/")
        .rcl_publisher_init(0x2, 0x1, 0x2, 10, "/beat");
    for i in 0..beats {
        let at = (i + 1) * 10 * MS;
        let noise = i * 7919 % 13 * 20_000;
        file = file
            .at(at - 5 * MS)
            .host_to_board(OFFSET + at - 5 * MS - 100_000 - noise, at - 5 * MS)
            .at(at)
            .callback_start(0x3, false)
            .node_publish(0x2, 4, i as u64, 12)
            .at(at + 50_000)
            .callback_end(0x3)
            .at(at + MS)
            .board_to_host(at + MS, OFFSET + at + MS + 100_000 + noise);
    }
    file = file
        .process(1)
        .at(OFFSET)
        .rcl_node_init(0x1, 0, "hears", "/")
        .rcl_subscription_init(0x5, 0x1, 0x5, 10, "/beat");
    for i in 0..beats {
        file = file.at(OFFSET + (i + 1) * 10 * MS + 300_000).node_take(0x5, 4, i as u64, 0);
    }
    file
}

#[test]
fn messages_of_a_board_are_linked_on_this_machines_clock_within_the_error_that_is_told() {
    let folder = tempfile::tempdir().expect("folder");
    let tables =
        analyse(&run(200, "emulated m4").write(folder.path()).expect("write"), None, &mut |_| {}).expect("analyse");
    let board = tables.processes.iter().find(|process| process.board.is_some()).expect("the board");
    let error = board.clock_error_ns.expect("related");
    // Half of the least round trip, 100 us, and what drift leaves open over two seconds.
    assert!((90_000..250_000).contains(&error), "{error}");
    assert_eq!(tables.messages.len(), 200);
    for (i, message) in tables.messages.iter().enumerate() {
        let sent = OFFSET + (i as i64 + 1) * 10 * MS;
        assert!((message.publish_ns.get().expect("linked") - sent).abs() <= error && message.emulated);
    }
    assert!(tables.notes.iter().any(|note| note.name == "emulated-board" && note.text.contains("m4")));
    assert!(!tables.notes.iter().any(|note| note.name == "negative-latency"));
}

#[test]
fn emulated_time_is_in_no_latency_and_a_boards_own_is() {
    for (machine, has_latency) in [("emulated m4", false), ("m4 at 168 MHz", true)] {
        let folder = tempfile::tempdir().expect("folder");
        let directory = run(50, machine).write(folder.path()).expect("write");
        let summary = tacho_figures::figures_of(&directory, None, &mut |_| {}).expect("figures");
        let topic = summary.topics.iter().find(|topic| topic.topic == "/beat").expect("the topic");
        assert_eq!((topic.sent, topic.received), (50, 50));
        assert_eq!(topic.latency_us.is_some(), has_latency, "{machine}");
        let tables = analyse(&directory, None, &mut |_| {}).expect("analyse");
        let judged = tables.messages.iter().filter(|m| matches!(m.delivery, Delivery::InTime | Delivery::Late)).count();
        assert_eq!(judged, if has_latency { 50 } else { 0 }, "{machine}: against a deadline no emulated time counts");
    }
}
