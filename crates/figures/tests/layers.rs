//! Latency by layers: every part to the ns, from events written by hand.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_analysis::Options;
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::Tables;

const WRITER: [u64; 2] = [1, 2]; // gids of the scene
const READER: [u64; 2] = [3, 4];
const SOCKET: u64 = 1;

fn talker_and_listener() -> FileBuilder {
    FileBuilder::new().node(1, "talker").publisher("/chatter").timer(1_000).node(2, "listener").subscription("/chatter")
}

/// Publishes at 110 through every layer, with these events of the DDS after rmw_publish at 140.
fn publish_through(builder: FileBuilder, stamp: i64) -> FileBuilder {
    builder
        .process(1)
        .at(100)
        .start_timer()
        .at(110)
        .rclcpp_publish(PUBLISHER, MESSAGE)
        .at(115)
        .rcl_publish(PUBLISHER, MESSAGE)
        .at(122)
        .rmw_publish_called(RMW_PUBLISHER, MESSAGE)
        .at(140)
        .rmw_publish(RMW_PUBLISHER, MESSAGE, stamp)
}

/// Takes at 400 through every layer; the callback begins at 431.
fn take_through(builder: FileBuilder, stamp: i64) -> FileBuilder {
    builder
        .process(2)
        .thread(2)
        .at(390)
        .rclcpp_executor_execute(SUBSCRIPTION)
        .at(392)
        .rmw_take_called(RMW_SUBSCRIPTION)
        .at(400)
        .rmw_take(RMW_SUBSCRIPTION, MESSAGE, stamp, true)
        .at(403)
        .rcl_take(MESSAGE)
        .at(410)
        .rclcpp_take(MESSAGE)
        .at(431)
        .callback_start(CALLBACK, false)
        .at(500)
        .end_taking()
}

/// The layers of the only message, after checking that they add up to its latency.
fn parts(tables: &Tables) -> [Option<i64>; 10] {
    assert_eq!(tables.layers.len(), 1);
    let row = &tables.layers[0];
    let message = &tables.messages[row.message];
    let end = message.callback_ns.get().or(message.take_ns.get()).expect("taken");
    let parts = row.parts_ns();
    assert_eq!(parts.iter().flatten().sum::<i64>(), end - message.publish_ns.get().expect("published"));
    parts
}

#[test]
fn every_layer_of_a_message_between_two_processes() {
    let tables = tables(
        &talker_and_listener()
            .with(|b| publish_through(b, 777))
            .at(160)
            .dds_send(WRITER, 9, 777, 1, 1, 1, SOCKET)
            .at(165)
            .dds_send(WRITER, 9, 777, 1, 1, 1, SOCKET) // to another reader
            .at(170)
            .end_timer()
            .process(2)
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 777, 1, 1, 1, SOCKET)
            .at(230)
            .dds_data_available(READER, WRITER, 9, 9)
            .with(|b| take_through(b, 777)),
    );
    let known = [5, 7, 18, 20, 40, 30, 162, 8, 3, 28].map(Some);
    assert_eq!(parts(&tables), known);
    assert_eq!(tables.messages[0].arrival_ns, Some(230));
    assert_eq!(tables.notes, []);
}

#[test]
fn with_events_of_rcl_and_rmw_alone_the_middle_is_one_part() {
    let tables = tables(
        &talker_and_listener()
            .process(1)
            .at(100)
            .start_timer()
            .at(110)
            .rclcpp_publish(PUBLISHER, MESSAGE)
            .at(115)
            .rcl_publish(PUBLISHER, MESSAGE)
            .at(140)
            .rmw_publish(RMW_PUBLISHER, MESSAGE, 777)
            .at(150)
            .end_timer()
            .process(2)
            .at(390)
            .rclcpp_executor_execute(SUBSCRIPTION)
            .at(400)
            .rmw_take(RMW_SUBSCRIPTION, MESSAGE, 777, true)
            .at(403)
            .rcl_take(MESSAGE)
            .at(431)
            .callback_start(CALLBACK, false)
            .at(500)
            .end_taking(),
    );
    let none = None;
    assert_eq!(parts(&tables), [Some(5), none, Some(25), none, none, none, Some(250), Some(10), Some(3), Some(28)]);
    let options = Options::default();
    let summary = summarise(&[Repeat { tables: &tables, options, info: None }], None);
    let [figures] = &summary.layers[..] else { panic!("one group: {:?}", summary.layers) };
    assert_eq!((figures.topic.as_deref(), figures.messages, figures.latency_us.mean), (Some("/chatter"), 1, 0.321));
    let parts: Vec<_> =
        figures.layers.iter().map(|p| (p.layer.as_str(), p.duration_us.mean, p.includes.join(" "))).collect();
    assert_eq!(
        parts,
        [
            ("publish_client_library", 0.005, String::new()),
            ("publish_rmw", 0.025, "publish_rcl".into()),
            ("executor", 0.25, "publish_dds transport receive_dds".into()),
            ("take_rmw", 0.01, String::new()),
            ("take_rcl", 0.003, String::new()),
            ("take_client_library", 0.028, String::new()),
        ]
    );
}

#[test]
fn rclpy_has_neither_client_library_nor_callback() {
    let tables = tables(
        &FileBuilder::new()
            .node(1, "talker")
            .publisher("/chatter")
            .process(2)
            .at(0)
            .rcl_init(1)
            .rcl_node_init(NODE, NODE + 1, "listener", "/")
            .rmw_subscription_init(RMW_SUBSCRIPTION, READER)
            .rcl_subscription_init(SUBSCRIPTION, NODE, RMW_SUBSCRIPTION, 10, "/chatter")
            .process(1)
            .at(115)
            .rcl_publish(PUBLISHER, MESSAGE)
            .at(122)
            .rmw_publish_called(RMW_PUBLISHER, MESSAGE)
            .at(140)
            .rmw_publish(RMW_PUBLISHER, MESSAGE, 777)
            .at(160)
            .dds_send(WRITER, 9, 777, 1, 1, 1, SOCKET)
            .process(2)
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 777, 1, 1, 1, SOCKET)
            .at(230)
            .dds_data_available(READER, WRITER, 9, 9)
            .thread(2)
            .at(392)
            .rmw_take_called(RMW_SUBSCRIPTION)
            .at(400)
            .rmw_take(RMW_SUBSCRIPTION, MESSAGE, 777, true)
            .at(403)
            .rcl_take(MESSAGE),
    );
    let known = [7, 18, 20, 40, 30, 162, 8].map(Some);
    let parts = parts(&tables);
    assert_eq!((parts[0], &parts[1..8], parts[8], parts[9]), (None, &known[..], None, None));
    assert_eq!(tables.notes.iter().filter(|n| n.name.starts_with("layers")).count(), 0);
}

#[test]
fn a_sample_in_pieces_is_there_with_the_last_missing_one() {
    let tables = tables(
        &talker_and_listener()
            .with(|b| publish_through(b, 777))
            .at(160)
            .dds_send(WRITER, 9, 777, 1, 2, 5, SOCKET)
            .at(162)
            .dds_send(WRITER, 9, 777, 3, 3, 5, SOCKET)
            .at(170)
            .end_timer()
            .process(2)
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 777, 3, 3, 5, SOCKET)
            .at(205)
            .dds_receive(WRITER, 9, 777, 3, 3, 5, SOCKET) // twice
            .at(210)
            .dds_receive(WRITER, 9, 777, 1, 1, 5, SOCKET)
            .at(220)
            .dds_receive(WRITER, 9, 777, 2, 1, 5, SOCKET) // sent again
            .at(225)
            .dds_receive(WRITER, 9, 777, 1, 2, 5, SOCKET)
            .at(230)
            .dds_data_available(READER, WRITER, 9, 9)
            .with(|b| take_through(b, 777)),
    );
    let parts = parts(&tables);
    assert_eq!((parts[3], parts[4], parts[5]), (Some(20), Some(60), Some(10)));
}

#[test]
fn a_sample_of_which_a_piece_never_came_has_no_transport() {
    let tables = tables(
        &talker_and_listener()
            .with(|b| publish_through(b, 777))
            .at(160)
            .dds_send(WRITER, 9, 777, 1, 1, 2, SOCKET)
            .at(170)
            .end_timer()
            .process(2)
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 777, 1, 1, 2, SOCKET)
            .at(230)
            .dds_data_available(READER, WRITER, 9, 9)
            .with(|b| take_through(b, 777)),
    );
    let parts = parts(&tables);
    assert_eq!((parts[3], parts[4], parts[5]), (Some(20), None, Some(70)));
}

#[test]
fn pieces_that_disagree_on_how_many_there_are_do_no_harm() {
    let tables = tables(
        &talker_and_listener()
            .with(|b| publish_through(b, 777))
            .at(160)
            .dds_send(WRITER, 9, 777, 1, 1, 2, SOCKET)
            .at(170)
            .end_timer()
            .process(2)
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 777, 1, 1, 2, SOCKET)
            .at(202)
            .dds_receive(WRITER, 9, 777, 1, u64::MAX, 60, SOCKET)
            .at(204)
            .dds_receive(WRITER, 9, 777, u64::MAX, 2, 1 << 40, SOCKET)
            .at(230)
            .dds_data_available(READER, WRITER, i64::MIN, i64::MAX)
            .with(|b| take_through(b, 777)),
    );
    assert_eq!(parts(&tables)[3], Some(20));
}

#[test]
fn an_asynchronous_writer_is_tied_by_its_source_timestamp_but_for_its_rounding() {
    let tables = tables(
        &talker_and_listener()
            .with(|b| publish_through(b, 777))
            .at(150)
            .end_timer()
            .process(1)
            .thread(11)
            .at(160)
            .dds_send(WRITER, 9, 776, 1, 1, 1, SOCKET)
            .process(2)
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 776, 1, 1, 1, SOCKET)
            .at(230)
            .dds_data_available(READER, WRITER, 9, 9)
            .with(|b| take_through(b, 777)),
    );
    let parts = parts(&tables);
    assert_eq!((parts[3], parts[4], parts[5], parts[6]), (Some(20), Some(40), Some(30), Some(162)));
}

#[test]
fn another_writers_sample_on_the_publishing_thread_is_not_the_messages() {
    let tables = tables(
        &talker_and_listener()
            .with(|b| publish_through(b, 777))
            .at(150)
            .dds_send([8, 8], 1, 0, 1, 1, 1, SOCKET)
            .at(160)
            .dds_send(WRITER, 9, 0, 1, 1, 1, SOCKET)
            .at(170)
            .end_timer()
            .process(2)
            .thread(21)
            .at(190)
            .dds_receive([8, 8], 1, 0, 1, 1, 1, SOCKET)
            .at(200)
            .dds_receive(WRITER, 9, 0, 1, 1, 1, SOCKET)
            .with(|b| take_through(b, 777)),
    );
    let parts = parts(&tables);
    assert_eq!((parts[3], parts[4], parts[5], parts[6]), (Some(20), Some(40), None, Some(192)));
}

#[test]
fn inside_a_process_the_dds_hands_over_without_a_transport() {
    let tables = tables(
        &FileBuilder::new()
            .node(2, "both")
            .publisher("/chatter")
            .subscription("/chatter")
            .process(2)
            .at(110)
            .rcl_publish(PUBLISHER, MESSAGE)
            .at(122)
            .rmw_publish_called(RMW_PUBLISHER, MESSAGE)
            .at(140)
            .rmw_publish(RMW_PUBLISHER, MESSAGE, 777)
            .at(150)
            .dds_data_available(READER, WRITER, 9, 9)
            .at(160)
            .dds_send(WRITER, 9, 777, 1, 1, 1, SOCKET) // to other processes
            .with(|b| take_through(b, 777)),
    );
    let parts = parts(&tables);
    assert_eq!((parts[2], parts[3], parts[4], parts[5], parts[6]), (Some(18), None, None, Some(10), Some(242)));
}

#[test]
fn a_plain_dds_node_needs_no_rmw_to_be_tied_to_its_writer() {
    let node = |pid, name| {
        FileBuilder::new().with(|b: FileBuilder| b.process(pid).at(0).rcl_init(1).rcl_node_init(NODE, 0, name, "/"))
    };
    let tables = tables(
        &node(1, "talker")
            .rcl_publisher_init(PUBLISHER, NODE, 0, 1, "/chatter")
            .process(2)
            .at(0)
            .rcl_init(1)
            .rcl_node_init(NODE, 0, "listener", "/")
            .rcl_subscription_init(SUBSCRIPTION, NODE, 0, 1, "/chatter")
            .rclcpp_subscription_init(SUBSCRIPTION, OBJECT)
            .rclcpp_subscription_callback_added(OBJECT, CALLBACK)
            .process(1)
            .at(100)
            .node_publish(PUBLISHER, 7, 0, 64)
            .at(101)
            .rclcpp_publish(PUBLISHER, MESSAGE)
            .at(160)
            .dds_send(WRITER, 9, 5, 1, 1, 1, SOCKET)
            .process(2)
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 5, 1, 1, 1, SOCKET)
            .at(230)
            .node_data_available(SUBSCRIPTION)
            .thread(2)
            .at(390)
            .rclcpp_executor_execute(SUBSCRIPTION)
            .at(400)
            .rclcpp_take(MESSAGE)
            .at(410)
            .callback_start(CALLBACK, false)
            .at(411)
            .node_take(SUBSCRIPTION, 7, 0, 100)
            .at(420)
            .callback_end(CALLBACK),
    );
    let none = None;
    let parts = parts(&tables);
    assert_eq!(parts, [none, none, none, Some(60), Some(40), Some(30), Some(160), Some(10), none, Some(11)]);
}

#[test]
fn an_intra_process_message_passes_no_layers() {
    let tables = tables(
        &FileBuilder::new()
            .node(2, "both")
            .publisher("/chatter")
            .subscription("/chatter")
            .rclcpp_buffer_to_ipb(0x70, 0x71)
            .rclcpp_ipb_to_subscription(0x71, OBJECT)
            .at(110)
            .rclcpp_intra_publish(PUBLISHER, MESSAGE)
            .at(120)
            .rclcpp_ring_buffer_enqueue(0x70, 0, 1, false)
            .at(130)
            .rclcpp_executor_execute(0x99)
            .at(140)
            .rclcpp_ring_buffer_dequeue(0x70, 0, 0)
            .at(150)
            .callback_start(CALLBACK, true)
            .at(160)
            .end_taking(),
    );
    assert_eq!(tables.messages.len(), 1);
    assert_eq!(tables.layers.len(), 0);
}

#[test]
fn a_polling_callback_takes_without_an_executor() {
    let tables = tables(
        &talker_and_listener()
            .process(2)
            .timer(1_000)
            .with(|b| publish_through(b, 777))
            .at(160)
            .dds_send(WRITER, 9, 777, 1, 1, 1, SOCKET)
            .at(170)
            .end_timer()
            .process(2)
            .thread(2)
            .at(90)
            .start_timer()
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 777, 1, 1, 1, SOCKET)
            .at(230)
            .dds_data_available(READER, WRITER, 9, 9)
            .thread(2)
            .at(392)
            .rmw_take_called(RMW_SUBSCRIPTION)
            .at(400)
            .rmw_take(RMW_SUBSCRIPTION, MESSAGE, 777, true)
            .at(403)
            .rcl_take(MESSAGE)
            .at(450)
            .end_timer(),
    );
    let parts = parts(&tables);
    assert_eq!((parts[5], parts[6], parts[7], parts[8], parts[9]), (Some(30), Some(162), Some(8), None, None));
    assert_eq!(tables.notes, []);
}

#[test]
fn a_border_out_of_order_is_left_out_and_noted() {
    let tables = tables(
        &talker_and_listener()
            .with(|b| publish_through(b, 777))
            .at(210)
            .dds_send(WRITER, 9, 777, 1, 1, 1, SOCKET)
            .end_timer()
            .process(2)
            .thread(21)
            .at(200)
            .dds_receive(WRITER, 9, 777, 1, 1, 1, SOCKET)
            .at(230)
            .dds_data_available(READER, WRITER, 9, 9)
            .with(|b| take_through(b, 777)),
    );
    let parts = parts(&tables);
    assert_eq!((parts[3], parts[4], parts[5]), (Some(70), None, Some(20)));
    assert_eq!(
        tables.notes.iter().map(|n| (n.name.as_str(), n.count)).collect::<Vec<_>>(),
        [("layers-out-of-order", 1)]
    );
}

#[test]
fn repeats_keep_each_row_with_its_message() {
    let one =
        tables(&talker_and_listener().with(|b| publish_through(b, 777)).end_timer().with(|b| take_through(b, 777)));
    let mut both = one.clone();
    both.append(one);
    assert_eq!(both.layers.iter().map(|l| l.message.number()).collect::<Vec<_>>(), [0, 1]);
}
