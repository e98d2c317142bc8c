//! Outputs that carry the stamp of the input which they were made of.

mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_tables::row::Row;
use tacho_tables::{Link, LinkEvidence, LinkRule, Tables};

fn publish(builder: FileBuilder, sent: i64, stamp: i64) -> FileBuilder {
    let builder = builder.rclcpp_publish(0, MESSAGE).rcl_publish(PUBLISHER, MESSAGE);
    builder.header_stamp_sent(RMW_PUBLISHER, stamp).rmw_publish(RMW_PUBLISHER, MESSAGE, sent)
}

fn start_taking(builder: FileBuilder, sent: i64, stamp: i64) -> FileBuilder {
    let builder = builder.rclcpp_executor_execute(SUBSCRIPTION).rmw_take(RMW_SUBSCRIPTION, MESSAGE, sent, true);
    let builder = builder.header_stamp_taken(RMW_SUBSCRIPTION, stamp).rcl_take(MESSAGE).rclcpp_take(MESSAGE);
    builder.callback_start(CALLBACK, false)
}

fn nodes() -> FileBuilder {
    let builder = FileBuilder::new().node(1, "camera").publisher("/image").timer(100);
    let builder = builder.node(2, "detector").subscription("/image").publisher("/objects").timer(100);
    builder.node(3, "sink").subscription("/objects")
}

/// Images at 1000, 2000, ... carry a stamp of half their time, and the detector keeps it. Its timer publishes
/// `objects`, each at (time, stamp), and the sink takes them.
fn tables(images: i64, objects: &[(i64, i64)]) -> Tables {
    let mut builder = nodes();
    let mut left = objects;
    for at in (1..=images).map(|k| 1000 * k) {
        builder = publish(builder.process(1).at(at).start_timer().at(at + 1), at, at / 2).at(at + 2).end_timer();
        builder = start_taking(builder.process(2).at(at + 10), at, at / 2).at(at + 12).end_taking();
        let (before, after) = left.split_at(left.partition_point(|(time, _)| *time < at + 1000));
        left = after;
        for (at, stamp) in before {
            builder = publish(builder.process(2).at(*at).start_timer().at(at + 5), *at, *stamp).at(at + 6).end_timer();
            builder = start_taking(builder.process(3).at(at + 8), *at, *stamp).at(at + 9).end_taking();
        }
    }
    scene::tables(&builder)
}

fn link(tables: &Tables) -> &Link {
    tables.links.iter().find(|l| tables.nodes[l.node].name == "/detector").expect("a link of the detector")
}

/// (start, end) of each instance.
fn instances(tables: &Tables) -> Vec<(i64, i64)> {
    tables.instances.iter().map(|i| (i.start_ns, i.end_ns)).collect()
}

#[test]
fn an_output_is_made_of_the_input_whose_stamp_it_carries_not_of_the_latest() {
    // Each image is worked on while two more come.
    let tables = tables(6, &[(3500, 500), (4500, 1000), (5500, 1500), (6500, 2000)]);
    let link = link(&tables);
    assert_eq!((link.rule, link.evidence), (LinkRule::HeaderStamp, LinkEvidence::Observed));
    assert_eq!((link.outputs, link.followed, link.confidence), (4, 4, 1.0));
    assert_eq!(instances(&tables), [(1000, 3509), (2000, 4509), (3000, 5509), (4000, 6509)]);
    let evidence = &tables.chains[0].evidence;
    assert!(evidence.contains("with the stamp of the input in its header, at /detector"), "{evidence}");
    // The wait in the node is from the callback that took the input to the one that published the output.
    let kept: Vec<_> = tables.hops.iter().filter(|h| h.position == 1).map(|h| h.kept_ns).collect();
    assert_eq!(kept, vec![Some(2490); 4]);
}

#[test]
fn a_stamp_used_again_is_of_the_same_input() {
    let tables = tables(4, &[(2500, 1000), (2700, 1000), (3500, 1500), (4500, 2000)]);
    assert_eq!(link(&tables).rule, LinkRule::HeaderStamp);
    assert_eq!(instances(&tables), [(2000, 2509), (2000, 2709), (3000, 3509), (4000, 4509)]);
}

#[test]
fn stamps_of_its_own_say_nothing_of_a_nodes_inputs() {
    let tables = tables(6, &[(3500, 3499), (4500, 4499), (5500, 5499), (6500, 6499)]);
    assert_eq!((link(&tables).rule, link(&tables).evidence), (LinkRule::Latest, LinkEvidence::Inferred));
}

#[test]
fn two_common_stamps_may_be_chance() {
    let tables = tables(4, &[(3500, 500), (4500, 1000)]);
    assert_eq!(link(&tables).rule, LinkRule::Latest);
}

/// ApproximateTime of images and points: the points that complete a set are of the next one, which the filter needs to
/// know that no points fit better. A node that publishes on points, with the stamp of the latest image, does the same.
/// Only a stated link decides which of the two it is.
#[test]
fn the_message_that_completes_a_set_need_not_belong_to_it() {
    const POINTS: u64 = 0x100;
    let mut builder = FileBuilder::new().node(1, "camera").publisher("/image").timer(100);
    builder = builder.node(2, "lidar").publisher("/points").timer(100);
    builder = builder.node(3, "fusion").subscription("/image").another_subscription(POINTS, "/points");
    builder = builder.publisher("/objects").node(4, "sink").subscription("/objects");
    for k in 1..=6 {
        // Images are stamped at 1000 k, points 400 before and 600 behind.
        let (image, points) = (1000 * k, 1000 * k + 600);
        builder = publish(builder.process(1).at(image).start_timer().at(image + 1), image, image);
        builder = builder.at(image + 2).end_timer();
        builder = start_taking(builder.process(3).at(image + 10), image, image).at(image + 12).end_taking();
        builder = publish(builder.process(2).at(points).start_timer().at(points + 1), points, points);
        builder = builder.at(points + 2).end_timer().process(3).at(points + 10);
        builder = builder.rclcpp_executor_execute(SUBSCRIPTION + POINTS);
        builder = builder.rmw_take(RMW_SUBSCRIPTION + POINTS, MESSAGE, points, true);
        builder = builder.header_stamp_taken(RMW_SUBSCRIPTION + POINTS, points).rcl_take(MESSAGE).rclcpp_take(MESSAGE);
        builder = builder.callback_start(CALLBACK + POINTS, false).at(points + 20);
        if k > 1 {
            builder = publish(builder, points + 20, image).at(points + 30).callback_end(CALLBACK + POINTS);
            builder = start_taking(builder.process(4).at(points + 40), points + 20, image).at(points + 41).end_taking();
        } else {
            builder = builder.at(points + 30).callback_end(CALLBACK + POINTS);
        }
    }
    let stated = "links: {/fusion: {/points -> /objects: match}}";
    let tables = scene::tables_with(&builder, stated);
    let of = |node: &str| -> Vec<i64> {
        let chain = tables.chains.iter().position(|chain| chain.path[0] == node).expect("a chain") as u32;
        tables.instances.iter().filter(|i| i.chain.number() == chain).map(|i| i.start_ns).collect()
    };
    assert_eq!(of("/camera"), [2000, 3000, 4000, 5000, 6000]);
    let link =
        |tables: &Tables| tables.links.iter().find(|l| l.input == "/points").cloned().expect("a link of the points");
    assert_eq!(link(&tables).rule, LinkRule::Match);
    let guessed = link(&scene::tables(&builder));
    assert_eq!((guessed.rule, guessed.confidence), (LinkRule::SameCallback, 0.5), "not stated");
    // Of the points at 1600 and 2600, the former are nearer to the image at 2000.
    assert_eq!(of("/lidar"), [1600, 2600, 3600, 4600, 5600]);
}

#[test]
fn the_causes_of_a_chain_that_ends_with_a_stamp_handed_on_add_up() {
    // Without the sink, nobody takes the objects: the detector is the last node.
    let mut builder = FileBuilder::new().node(1, "camera").publisher("/image").timer(100);
    builder = builder.node(2, "detector").subscription("/image").publisher("/objects").timer(100);
    for at in (1..=6).map(|k| 1000 * k) {
        builder = publish(builder.process(1).at(at).start_timer().at(at + 1), at, at).at(at + 2).end_timer();
        builder = start_taking(builder.process(2).at(at + 10), at, at).at(at + 12).end_taking();
        if at > 1000 {
            builder = publish(builder.at(at + 500).start_timer().at(at + 505), at, at - 1000).at(at + 506).end_timer();
        }
    }
    let tables = scene::tables(&builder);
    assert_eq!(instances(&tables)[..2], [(1000, 2505), (2000, 3505)]);
    for (row, instance) in tables.instances.iter().enumerate() {
        let causes = tables.causes.iter().filter(|cause| cause.instance == Some(Row::behind(row)));
        assert_eq!(causes.filter_map(|cause| cause.duration_ns.get()).sum::<i64>(), instance.end_to_end_ns);
    }
}
