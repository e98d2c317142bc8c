//! What the workload adds: named chains, rates as deadlines, which inputs are only kept, the point of a sweep.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_analysis::Options;
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::Delivery;
use tacho_workload::Workload;

fn workload() -> Workload {
    let text = "
nodes:
  sensor:  {publishes: {/points: {size: 64 B, rate: 10 kHz}}}
  fusion:  {subscribes: {/points: {latest: true}, /clock: {}}, publishes: {/objects: {}}}
  ticker:  {publishes: {/clock: {size: 64 B, rate: 1 kHz}}}
  control: {subscribes: [/objects]}
chains: {reaction: [sensor, fusion, control]}
";
    tacho_workload::parse(text, "test.yaml").map(|(workload, _)| workload).unwrap_or_else(|e| panic!("{e}"))
}

/// One instance of each path; the sensor's points take 250 us to their callback, which is late for 10 kHz.
fn run() -> FileBuilder {
    FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(100_000)
        .node(2, "ticker")
        .publisher("/clock")
        .timer(1_000_000)
        .node(3, "fusion")
        .subscription("/points")
        .another_subscription(0x100, "/clock")
        .publisher("/objects")
        .node(4, "control")
        .subscription("/objects")
        .process(1)
        .at(100_000)
        .start_timer()
        .node_due(PUBLISHER, 0, 100_000)
        .node_publish(PUBLISHER, 1, 0, 64)
        .publish(1)
        .end_timer()
        .node_skipped(PUBLISHER, 3)
        .process(3)
        .at(350_000)
        .start_taking(1)
        .node_take(SUBSCRIPTION, 1, 0, 0)
        .at(360_000)
        .end_taking()
        .process(2)
        .at(400_000)
        .start_timer()
        .node_due(PUBLISHER, 0, 400_000)
        .node_publish(PUBLISHER, 2, 0, 64)
        .publish(2)
        .end_timer()
        .process(3)
        .at(450_000)
        .start_taking_from(0x100, 2)
        .node_take(SUBSCRIPTION + 0x100, 2, 0, 0)
        .at(460_000)
        .node_publish(PUBLISHER, 3, 0, 64)
        .publish(3)
        .at(470_000)
        .end_taking_from(0x100)
        .process(4)
        .at(480_000)
        .start_taking(3)
        .node_take(SUBSCRIPTION, 3, 0, 0)
        .at(500_000)
        .end_taking()
}

#[test]
fn a_named_chain_comes_first_and_runs_through_the_input_that_is_only_kept() {
    let tables = tables_of(&run(), Some(&workload()));
    let names: Vec<_> = tables.chains.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["reaction", "ticker to control"]);
    let ends: Vec<_> = tables.instances.iter().map(|i| (i.chain.number(), i.start_ns, i.end_ns)).collect();
    assert_eq!(ends, [(0, 100_000, 500_000), (1, 400_000, 500_000)]);
    assert!(
        tables.chains[0].evidence.contains("latest message taken before, at /fusion"),
        "{}",
        tables.chains[0].evidence
    );
}

#[test]
fn a_point_has_the_chains_that_the_workload_names() {
    let tables = tables_of(&run(), Some(&workload()));
    let point = summarise(&[Repeat { tables: &tables, options: Options::default(), info: None }], Some(&workload()))
        .points
        .remove(0);
    assert_eq!(point.chains.keys().collect::<Vec<_>>(), ["reaction"]);
    let reaction = &point.chains["reaction"];
    assert_eq!((reaction.instances, reaction.lost, reaction.end_to_end_ms.as_ref().map(|d| d.max)), (1, 0, Some(0.4)));
    // Of its 0.4 ms, the messages were on their way for this part.
    let transport = tables.instances[0].parts().transport as f64;
    assert!(transport > 0.0);
    assert_eq!(reaction.communication_percent, Some(100.0 * transport / 400_000.0));
}

#[test]
fn a_chain_whose_nodes_were_not_seen_is_noted() {
    let only_a_part = FileBuilder::new().node(1, "sensor").publisher("/points").at(10).publish(1);
    let tables = tables_of(&only_a_part, Some(&workload()));
    assert!(
        tables.notes.iter().any(|n| n.name == "chain-not-found" && n.text.contains("reaction")),
        "{:?}",
        tables.notes
    );
}

#[test]
fn a_message_is_late_against_the_rate_that_the_workload_gives_its_topic() {
    let tables = tables_of(&run(), Some(&workload()));
    let delivered: Vec<_> =
        tables.messages.iter().map(|m| (tables.endpoints[m.subscription].topic.as_str(), m.delivery)).collect();
    assert_eq!(delivered, [("/points", Delivery::Late), ("/clock", Delivery::InTime), ("/objects", Delivery::InTime)]);
}

#[test]
fn the_point_counts_what_was_due_sent_received_and_how_late() {
    let tables = tables_of(&run(), Some(&workload()));
    let summary = summarise(&[Repeat { tables: &tables, options: Options::default(), info: None }], Some(&workload()));
    let point = &summary.points[0];
    assert_eq!((point.publishers, point.subscribers), (3, 3));
    assert_eq!((point.due, point.sent, point.received, point.lost), (Some(6), 3, 3, Some(0)));
    assert_eq!((point.in_time, point.late, point.loss_percent), (Some(2), Some(1), Some(0.0)));
    assert_eq!(point.latency_us.as_ref().map(|l| l.max), Some(250.0));
}

/// Due at 100, 200, 300 and 400 us: refused, sent, refused, sent and lost; then two are skipped.
fn run_with_refusals() -> FileBuilder {
    let mut run = FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(100_000)
        .node(3, "fusion")
        .subscription("/points")
        .process(1);
    for sequence in 0..4 {
        let due = 100_000 * (sequence as i64 + 1);
        run = run
            .at(due)
            .start_timer()
            .node_due(PUBLISHER, sequence, due)
            .node_publish(PUBLISHER, 1, sequence, 64)
            .publish(due);
        if sequence % 2 == 0 {
            run = run.node_refused(PUBLISHER, sequence, 90, "Message too long");
        }
        run = run.end_timer();
    }
    run.at(640_000)
        .node_skipped(PUBLISHER, 2)
        .process(3)
        .at(250_000)
        .start_taking(200_000)
        .node_take(SUBSCRIPTION, 1, 1, 0)
        .at(260_000)
        .end_taking()
        .at(640_000)
        .rclcpp_executor_get_next_ready()
}

#[test]
fn a_refused_send_is_due_and_neither_sent_nor_lost() {
    for (from_ns, due, refused) in [(0, 6, 2), (150_000, 5, 1)] {
        let run = run_with_refusals().info(|i| (i.measured_from_ns, i.measured_to_ns) = (Some(from_ns), Some(650_000)));
        let tables = tables_of(&run, Some(&workload()));
        let summary =
            summarise(&[Repeat { tables: &tables, options: Options::default(), info: None }], Some(&workload()));
        let (point, publisher) = (&summary.points[0], &summary.points[0].publishing[0]);
        assert_eq!((point.due, point.sent, point.refused, point.skipped), (Some(due), 2, Some(refused), Some(2)));
        assert_eq!(
            (publisher.due, publisher.sent, publisher.refused, publisher.skipped),
            (Some(due), 2, Some(refused), Some(2))
        );
        assert_eq!((point.received, point.lost), (1, Some(1)));
        let note = tables.notes.iter().find(|n| n.name == "sends-refused").expect("a note");
        assert!(
            note.count == refused && note.text.contains("code 90") && note.text.contains("Message too long"),
            "{note:?}"
        );
        assert!(tables.notes.iter().all(|n| n.name != "unknown-publisher"), "{:?}", tables.notes);
    }
}
