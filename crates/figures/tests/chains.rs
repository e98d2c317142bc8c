//! Chains: instances, and their parts, to the nanosecond.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::{Instance, Tables};

/// (start, end to end, computation, alignment, queueing, transport) of each instance, and that the parts add up.
fn parts(tables: &Tables) -> Vec<(i64, i64, i64, Option<i64>, i64, i64)> {
    let row = |i: &Instance| {
        assert_eq!(i.parts().whole_ns(), i.end_to_end_ns, "{i:?}");
        assert_eq!(i.end_ns - i.start_ns, i.end_to_end_ns);
        (i.start_ns, i.end_to_end_ns, i.computation_ns, i.alignment_ns.get(), i.queueing_ns, i.transport_ns)
    };
    tables.instances.iter().map(row).collect()
}

/// sensor --/points--> filter --/filtered--> control, each a process.
fn three_nodes() -> FileBuilder {
    FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(1_000)
        .node(2, "filter")
        .subscription("/points")
        .publisher("/filtered")
        .node(3, "control")
        .subscription("/filtered")
}

#[test]
fn recorded_arrivals_divide_the_wait_into_transport_alignment_and_queueing() {
    let tables = tables(
        &three_nodes()
            .process(2)
            .another_subscription(0x100, "/map")
            .process(1)
            .at(1_000)
            .start_timer()
            .at(1_100)
            .publish(1)
            .at(1_150)
            .end_timer()
            .process(2)
            .thread(22)
            .at(1_130)
            .node_data_available(SUBSCRIPTION)
            // The filter's thread is busy with something else from 1200 to 1260, wakes for the points at 1400.
            .thread(2)
            .at(1_200)
            .callback_start(CALLBACK + 0x100, false)
            .at(1_260)
            .end_taking_from(0x100)
            .at(1_400)
            .start_taking(1)
            .at(1_450)
            .publish(2)
            .at(1_470)
            .end_taking()
            .process(3)
            .thread(33)
            .at(1_460)
            .node_data_available(SUBSCRIPTION)
            .thread(3)
            .at(1_500)
            .start_taking(2)
            .at(1_530)
            .end_taking(),
    );
    // computation 100 + 50 + 30; transport 30 + 10; queueing 60; alignment 210 + 40.
    assert_eq!(parts(&tables), [(1_000, 530, 180, Some(250), 60, 40)]);
    let chain = &tables.chains[0];
    assert_eq!(chain.path, ["/sensor", "/points", "/filter", "/filtered", "/control"]);
    assert_eq!((chain.name.as_str(), chain.critical, chain.lost), ("sensor to control", true, 0));
    assert!(chain.evidence.contains("as recorded"), "{}", chain.evidence);
    let hops: Vec<_> = tables
        .hops
        .iter()
        .map(|h| (h.position, h.published_ns.get(), h.arrival_ns.get(), h.start_ns, h.output_ns, h.queueing_ns))
        .collect();
    assert_eq!(
        hops,
        [
            (0, None, None, 1_000, 1_100, 0),
            (1, Some(1_100), Some(1_130), 1_400, 1_450, 60),
            (2, Some(1_450), Some(1_460), 1_500, 1_530, 0),
        ]
    );
}

#[test]
fn an_executor_that_waited_when_the_message_was_published_woke_at_its_arrival() {
    let tables = tables(
        &three_nodes()
            .process(2)
            .at(500)
            .rclcpp_executor_wait_for_work(-1)
            .process(1)
            .at(1_000)
            .start_timer()
            .at(1_100)
            .publish(1)
            .at(1_110)
            .end_timer()
            .process(2)
            .at(1_140)
            .rclcpp_executor_get_next_ready()
            .at(1_150)
            .start_taking(1)
            .at(1_190)
            .publish(2)
            .at(1_200)
            .end_taking()
            // control's executor is busy with a timer when /filtered is published.
            .process(3)
            .at(400)
            .timer(5_000)
            .at(1_180)
            .start_timer()
            .at(1_290)
            .end_timer()
            .at(1_295)
            .rclcpp_executor_wait_for_work(-1)
            .at(1_298)
            .rclcpp_executor_get_next_ready()
            .at(1_300)
            .start_taking(2)
            .at(1_320)
            .end_taking(),
    );
    // sensor 100; transport 40, alignment 10; filter 40; queueing 100, its wait 3 is transport, the rest 7 alignment;
    // control 20.
    assert_eq!(parts(&tables), [(1_000, 320, 160, Some(17), 100, 43)]);
    assert!(tables.chains[0].evidence.contains("inferred"), "{}", tables.chains[0].evidence);
    assert_eq!(tables.hops[1].arrival_ns, Some(1_140));
    assert_eq!(tables.hops[2].arrival_ns, None);
}

#[test]
fn without_any_executor_events_alignment_cannot_be_told_from_transport() {
    let tables = tables(
        &three_nodes()
            .process(1)
            .at(1_000)
            .start_timer()
            .at(1_100)
            .publish(1)
            .at(1_110)
            .end_timer()
            .process(2)
            .at(1_150)
            .start_taking(1)
            .at(1_190)
            .publish(2)
            .at(1_200)
            .end_taking()
            .process(3)
            .at(1_300)
            .start_taking(2)
            .at(1_320)
            .end_taking(),
    );
    assert_eq!(parts(&tables), [(1_000, 320, 160, None, 0, 160)]);
    assert!(tables.chains[0].evidence.contains("alignment is part of transport"), "{}", tables.chains[0].evidence);
}

#[test]
fn means_of_the_parts_add_up_where_some_instances_alone_tell_alignment() {
    let mut tables = tables(
        &three_nodes()
            .process(1)
            .at(1_000)
            .start_timer()
            .at(1_100)
            .publish(1)
            .at(1_110)
            .end_timer()
            .process(2)
            .at(1_150)
            .start_taking(1)
            .at(1_190)
            .publish(2)
            .at(1_200)
            .end_taking()
            .process(3)
            .at(1_300)
            .start_taking(2)
            .at(1_320)
            .end_taking(),
    );
    let alignment = |tables: &Tables| {
        let summary = summarise(&[Repeat { tables, options: Default::default(), info: None }], None);
        summary.chains[0].parts.as_ref().expect("instances").alignment.clone()
    };
    assert_eq!(alignment(&tables), None);
    let whole = tables.instances[0];
    tables.instances.push(Instance { alignment_ns: 60.into(), transport_ns: whole.transport_ns - 60, ..whole });
    // 60 and, as part of transport, none.
    let told = alignment(&tables).expect("told of one");
    assert_eq!((told.count, told.min, told.max), (2, 0.0, 60e-6));
}

#[test]
fn a_timer_driven_node_is_tied_to_the_latest_message_taken_before() {
    // fusion keeps the latest of /points and publishes on its own timer.
    let builder = FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(100)
        .node(2, "fusion")
        .subscription("/points")
        .publisher("/objects")
        .timer(1_000)
        .node(3, "control")
        .subscription("/objects")
        .process(1)
        .at(100)
        .start_timer()
        .at(110)
        .publish(1)
        .end_timer()
        .process(2)
        .at(120)
        .node_data_available(SUBSCRIPTION)
        .at(130)
        .start_taking(1)
        .at(135)
        .end_taking()
        .process(1)
        .at(200)
        .start_timer()
        .at(210)
        .publish(2)
        .end_timer()
        .process(2)
        .at(220)
        .node_data_available(SUBSCRIPTION)
        .at(230)
        .start_taking(2)
        .at(235)
        .end_taking()
        .at(500)
        .start_timer()
        .at(540)
        .publish(3)
        .at(550)
        .end_timer()
        .process(3)
        .at(545)
        .node_data_available(SUBSCRIPTION)
        .at(560)
        .start_taking(3)
        .at(570)
        .end_taking()
        // Nothing new came: the same points are used again.
        .process(2)
        .at(1_500)
        .start_timer()
        .at(1_540)
        .publish(4)
        .at(1_550)
        .end_timer()
        .process(3)
        .at(1_545)
        .node_data_available(SUBSCRIPTION)
        .at(1_560)
        .start_taking(4)
        .at(1_570)
        .end_taking();
    let tables = tables(&builder);
    // 200..570: computation 10 + 40 + 10, transport 10 + 5, alignment 10 + 15, kept 500 - 230.
    assert_eq!(parts(&tables), [(200, 370, 60, Some(25), 0, 15), (200, 1_370, 60, Some(25), 0, 15)]);
    assert!(
        tables.chains[0].evidence.contains("latest message taken before, at /fusion"),
        "{}",
        tables.chains[0].evidence
    );
    assert_eq!(tables.chains[0].lost, 1, "the first points were overwritten by the second");
    // What the node kept for its timer is no alignment: nobody slept over it.
    assert_eq!(tables.instances.iter().map(|i| i.kept_ns).collect::<Vec<_>>(), [Some(270), Some(1270)]);
    assert_eq!(tables.hops.iter().map(|hop| hop.kept_ns).collect::<Vec<_>>()[1], Some(270));
}

#[test]
fn of_two_paths_the_one_with_the_highest_worst_case_is_critical() {
    let builder = FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(100)
        .node(2, "quick")
        .subscription("/points")
        .node(3, "slow")
        .subscription("/points")
        .process(1)
        .at(100)
        .start_timer()
        .at(110)
        .publish(1)
        .end_timer()
        .process(2)
        .at(120)
        .start_taking(1)
        .at(130)
        .end_taking()
        .process(3)
        .at(120)
        .start_taking(1)
        .at(190)
        .end_taking();
    let tables = tables(&builder);
    let critical: Vec<_> = tables.chains.iter().map(|c| (c.name.as_str(), c.critical)).collect();
    assert_eq!(critical, [("sensor to quick", false), ("sensor to slow", true)]);
    let summary = summarise(&[Repeat { tables: &tables, options: Default::default(), info: None }], None);
    assert_eq!(summary.chains.iter().map(|c| c.critical).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn instances_of_a_common_topic_belong_to_the_path_of_their_publisher() {
    let builder = FileBuilder::new()
        .node(1, "left")
        .publisher("/points")
        .timer(100)
        .node(2, "right")
        .publisher("/points")
        .timer(100)
        .node(3, "control")
        .subscription("/points")
        .process(1)
        .at(100)
        .start_timer()
        .at(110)
        .publish(1)
        .end_timer()
        .process(2)
        .at(200)
        .start_timer()
        .at(220)
        .publish(2)
        .end_timer()
        .process(3)
        .at(300)
        .start_taking(1)
        .at(310)
        .end_taking()
        .at(320)
        .start_taking(2)
        .at(330)
        .end_taking();
    let tables = tables(&builder);
    let by_chain: Vec<_> =
        tables.instances.iter().map(|i| (tables.chains[i.chain].path[0].as_str(), i.start_ns)).collect();
    assert_eq!(by_chain, [("/left", 100), ("/right", 200)]);
}

#[test]
fn a_cycle_of_nodes_ends_and_a_first_node_outside_of_callbacks_starts_at_its_publish_call() {
    let builder = FileBuilder::new()
        .node(1, "main_loop")
        .publisher("/points")
        .node(2, "a")
        .subscription("/points")
        .another_subscription(0x100, "/back")
        .publisher("/forth")
        .node(3, "b")
        .subscription("/forth")
        .publisher("/back")
        .process(1)
        .at(100)
        .publish(1)
        .process(2)
        .at(120)
        .start_taking(1)
        .at(125)
        .publish(2)
        .end_taking()
        .process(3)
        .at(140)
        .start_taking(2)
        .at(150)
        .publish(3)
        .at(151)
        .end_taking();
    let tables = tables(&builder);
    // There is no sink; the round trip of a, and the way to it, have no instance, as a never took what came back.
    let paths: Vec<_> = tables.chains.iter().map(|chain| chain.path.join(" ")).collect();
    let expected = ["/a /forth /b /back /a", "/main_loop /points /a /forth /b /back /a"].map(String::from);
    assert_eq!((paths, tables.instances.len()), (expected.to_vec(), 0));
    let straight = FileBuilder::new()
        .node(1, "main_loop")
        .publisher("/points")
        .node(2, "a")
        .subscription("/points")
        .process(1)
        .at(100)
        .publish(1)
        .process(2)
        .at(120)
        .start_taking(1)
        .at(125)
        .end_taking();
    let tables = scene::tables(&straight);
    assert_eq!(parts(&tables), [(100, 25, 5, None, 0, 20)]);
    assert_eq!(tables.hops[0].execution, None);
}

#[test]
fn figures_of_repeats_are_over_all_instances_and_show_the_spread_of_their_means() {
    let repeat = |wait: i64| {
        let mut builder = three_nodes();
        for i in 0..3 {
            let start = 10_000 * i + 1_000;
            builder = builder
                .process(1)
                .at(start)
                .start_timer()
                .at(start + 100)
                .publish(10 * i + 1)
                .end_timer()
                .process(2)
                .at(start + 200)
                .start_taking(10 * i + 1)
                .at(start + 300)
                .publish(10 * i + 2)
                .end_taking()
                .process(3)
                .at(start + 300 + wait)
                .start_taking(10 * i + 2)
                .at(start + 400 + wait)
                .end_taking();
        }
        tables(&builder)
    };
    let (first, second) = (repeat(100), repeat(500));
    let options = Default::default();
    let summary = summarise(
        &[Repeat { tables: &first, options, info: None }, Repeat { tables: &second, options, info: None }],
        None,
    );
    let chain = &summary.chains[0];
    assert_eq!((chain.instances, summary.chains.len()), (6, 1));
    let means = chain.repeat_means_ms.as_ref().expect("several repeats");
    let (min, max) = (500.0 / 1e6, 900.0 / 1e6);
    assert_eq!(means.count, 2);
    assert!((means.min - min).abs() < 1e-12 && (means.max - max).abs() < 1e-12, "{means:?}");
    assert_eq!(chain.end_to_end_ms.as_ref().map(|d| d.count), Some(6));
    let callback = summary.callbacks.iter().find(|c| c.node.as_deref() == Some("/filter")).expect("filter");
    assert_eq!(callback.count, 6, "the same callback in both repeats is one entry");
    let (topic, period) = &callback.output_period_ms[0];
    assert_eq!(topic, "/filtered");
    assert!((period - 0.01).abs() < 1e-12, "what hz says is the period, not the work: {period}");
}

#[test]
fn of_too_many_paths_every_source_has_some() {
    // Two sources, nine layers of two nodes that all feed each other: 2 * 2^9 paths.
    let mut b = FileBuilder::new();
    for node in 0..20u64 {
        b = b.node(1 + node as u32, &format!("n{node}")).publisher(&format!("/t{node}"));
        for input in 0..2 {
            if node >= 2 {
                b = b.another_subscription(0x100 * input, &format!("/t{}", 2 * (node / 2 - 1) + input));
            }
        }
    }
    let tables = tables(&b);
    let from = |source: &str| tables.chains.iter().filter(|c| c.path[0] == source).count();
    assert_eq!((tables.chains.len(), from("/n0"), from("/n1")), (256, 128, 128));
    assert!(tables.notes.iter().any(|n| n.name == "paths-cut"), "{:?}", tables.notes);
}
