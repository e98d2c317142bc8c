//! Chains between two stated ends: from a topic, over whatever leads there, to the publish call on another.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_analysis::{Analysis, Options};
use tacho_events::testing::FileBuilder;
use tacho_events::Reader;
use tacho_figures::{summarise, Repeat};
use tacho_tables::Tables;
use tacho_workload::links;

/// Handles of a second publisher of the controller.
const DEBUG: u64 = 0x200;

fn between(builder: &FileBuilder, from: &str, to: &str) -> Tables {
    let stated = format!("chains:\n  way: {{from: {from}, to: {to}, deadline: 1 s}}\n");
    let stated = links::parse(&stated, "links.yaml").unwrap_or_else(|e| panic!("{e}"));
    let folder = tempfile::tempdir().expect("folder");
    let mut reader = Reader::open(&builder.write(folder.path()).expect("write")).expect("open");
    let mut analysis = Analysis::new(Options::default());
    reader.processes().iter().for_each(|facts| analysis.add_process(facts));
    reader.for_each(|event, texts| analysis.push(event, texts), &mut |_| {});
    analysis.finish_with(None, &stated)
}

/// Path, and (start, end) of each instance, of the chains that were asked for.
fn ways(tables: &Tables) -> Vec<(String, Vec<(i64, i64)>)> {
    let of = |(row, chain): (usize, &tacho_tables::Chain)| {
        let instances =
            tables.instances.iter().filter(|i| i.chain.number() == row as u32).map(|i| (i.start_ns, i.end_ns));
        (chain.path.join(" "), instances.collect())
    };
    tables.chains.iter().enumerate().filter(|(_, chain)| chain.name == "way").map(of).collect()
}

/// A sensor, a controller that answers each message on /brake and then on /debug, a brake and a logger that take these.
fn braking() -> FileBuilder {
    let controller = FileBuilder::new()
        .node(1, "lidar")
        .publisher("/points")
        .timer(1_000)
        .node(2, "control")
        .subscription("/points")
        .publisher("/brake")
        .rmw_publisher_init(RMW_PUBLISHER + DEBUG, [5, 6])
        .rcl_publisher_init(PUBLISHER + DEBUG, NODE, RMW_PUBLISHER + DEBUG, 10, "/debug")
        .node(3, "brake")
        .subscription("/brake")
        .node(4, "logger")
        .subscription("/debug");
    (1..=3).map(|k| 1_000 * k).fold(controller, |b, t| {
        b.process(1)
            .at(t)
            .start_timer()
            .at(t + 10)
            .publish(t)
            .at(t + 20)
            .end_timer()
            .process(2)
            .at(t + 50)
            .start_taking(t)
            .at(t + 100)
            .publish(-t)
            .at(t + 300)
            .rclcpp_publish(0, MESSAGE)
            .rcl_publish(PUBLISHER + DEBUG, MESSAGE)
            .rmw_publish(RMW_PUBLISHER + DEBUG, MESSAGE, -t - 1)
            .at(t + 310)
            .end_taking()
            .process(3)
            .at(t + 150)
            .start_taking(-t)
            .at(t + 200)
            .end_taking()
            .process(4)
            .at(t + 350)
            .start_taking(-t - 1)
            .at(t + 360)
            .end_taking()
    })
}

#[test]
fn to_a_topic_is_to_its_publish_call_whatever_the_node_publishes_after_it() {
    let ends = |to| (1..=3).map(|k| (1_000 * k, 1_000 * k + to)).collect::<Vec<_>>();
    let asked = |from: &str, to: &str| ways(&between(&braking(), from, to));
    assert_eq!(asked("/points", "topic:/brake"), [("/lidar /points /control /brake".into(), ends(100))]);
    assert_eq!(asked("/points", "/debug"), [("/lidar /points /control /debug".into(), ends(300))]);
    assert_eq!(asked("/lidar", "/logger"), [("/lidar /points /control /debug /logger".into(), ends(360))]);
    assert_eq!(asked("points", "brake_"), [], "no such end");
}

#[test]
fn every_path_between_the_ends_is_a_chain_of_that_name_and_none_goes_past_the_end() {
    // /left and /right of one sensor lead to a fusion; what it publishes comes back to the sensor, which ends nothing.
    let right = 0x300;
    let builder = FileBuilder::new()
        .node(1, "stereo")
        .publisher("/left")
        .timer(1_000)
        .rmw_publisher_init(RMW_PUBLISHER + right, [5, 6])
        .rcl_publisher_init(PUBLISHER + right, NODE, RMW_PUBLISHER + right, 10, "/right")
        .subscription("/objects")
        .node(2, "fusion")
        .subscription("/left")
        .another_subscription(0x100, "/right")
        .publisher("/objects");
    let builder = builder
        .process(1)
        .at(1_000)
        .start_timer()
        .at(1_010)
        .publish(1)
        .at(1_020)
        .rclcpp_publish(0, MESSAGE)
        .rcl_publish(PUBLISHER + right, MESSAGE)
        .rmw_publish(RMW_PUBLISHER + right, MESSAGE, 2)
        .at(1_030)
        .end_timer()
        .process(2)
        .at(1_100)
        .start_taking(1)
        .at(1_110)
        .publish(-1)
        .at(1_120)
        .end_taking()
        .at(1_200)
        .start_taking_from(0x100, 2)
        .at(1_210)
        .publish(-2)
        .at(1_220)
        .end_taking_from(0x100);
    let mut found = ways(&between(&builder, "/stereo", "/objects"));
    found.sort();
    assert_eq!(
        found,
        [
            ("/stereo /left /fusion /objects".into(), vec![(1_000, 1_110)]),
            ("/stereo /right /fusion /objects".into(), vec![(1_000, 1_210)]),
        ]
    );
    assert_eq!(
        ways(&between(&builder, "/left", "/objects")),
        [("/stereo /left /fusion /objects".into(), vec![(1_000, 1_110)])]
    );
}

#[test]
fn an_end_that_nothing_leads_to_is_said() {
    for (from, to, said) in
        [("/points", "/nowhere", "/nowhere is no topic"), ("/debug", "topic:/brake", "no topics and nodes lead")]
    {
        let tables = between(&braking(), from, to);
        let note = tables.notes.iter().find(|note| note.name == "chain-not-found").expect("a note");
        assert!(ways(&tables).is_empty() && note.text.contains(said), "{}", note.text);
    }
}

#[test]
fn a_change_that_no_output_reflects_waits_until_the_end_and_a_deadline_that_nothing_reaches_is_missed() {
    let summary = |tables: &Tables| summarise(&[Repeat { tables, options: Options::default(), info: None }], None);
    let way = |tables: &Tables| summary(tables).chains.into_iter().find(|chain| chain.name == "way").expect("chain");
    // The controller is killed; the lidar goes on for 5 us.
    let sent_into_nothing = |b: FileBuilder| {
        (4..=9).map(|k| 1_000 * k).fold(b.process(2).killed(), |b, t| {
            b.process(1).at(t).start_timer().at(t + 10).publish(t).at(t + 20).end_timer()
        })
    };
    let tables = between(&sent_into_nothing(braking()), "/points", "topic:/brake");
    let chain = way(&tables);
    let (reaction, pending) =
        (chain.reaction_time_ms.expect("reaction").max, chain.reaction_pending_ms.expect("pending"));
    assert!((reaction * 1e6 - 1_100.0).abs() < 0.5, "{reaction}");
    // A change just after the input at 3000 was missed by it, and the last event is at 9020.
    assert!((pending * 1e6 - 6_020.0).abs() < 0.5, "{pending}");
    assert_eq!(way(&between(&braking(), "/points", "topic:/brake")).reaction_pending_ms, None);

    let silent = FileBuilder::new()
        .node(1, "lidar")
        .publisher("/points")
        .timer(1_000)
        .node(2, "control")
        .subscription("/points")
        .timer(100)
        .publisher("/brake")
        .process(1)
        .at(1_000)
        .start_timer()
        .at(1_010)
        .publish(1)
        .at(1_020)
        .end_timer()
        .process(2)
        .at(1_100)
        .start_taking(1)
        .at(1_110)
        .end_taking();
    let findings = summary(&between(&silent, "/points", "/brake")).findings.expect("findings");
    let missed = findings.iter().find(|finding| finding.lint == "deadline-missed").expect("nothing kept the deadline");
    assert!(format!("{missed:?}").contains("no instance came through"), "{missed:?}");
}

#[test]
fn a_node_and_a_topic_of_one_name_are_told_apart_by_a_prefix_and_without_one_the_name_is_refused() {
    let asked =
        |to: &str| ways(&between(&braking(), "/points", to)).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    assert_eq!(asked("topic:/brake"), ["/lidar /points /control /brake"]);
    assert_eq!(asked("node:/brake"), ["/lidar /points /control /brake /brake"]);
    assert_eq!(asked("node:brake"), ["/lidar /points /control /brake /brake"]);
    for (to, why) in [
        ("/brake", "/brake is a topic and a node: topic:/brake is the one, node:/brake the other"),
        ("node:/points", "/points is no recorded node"),
        ("topic:/logger", "/logger is no topic that a recorded node publishes"),
    ] {
        let tables = between(&braking(), "/points", to);
        let note = tables.notes.iter().find(|note| note.name == "chain-not-found").expect("noted");
        assert!(ways(&tables).is_empty() && note.text == format!("chain way: {why}"), "{}", note.text);
    }
}
