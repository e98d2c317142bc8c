//! Messages within a process, through a buffer of rclcpp.

use super::*;

#[test]
fn what_was_let_go_of_before_the_window_is_no_note_and_in_it_is() {
    // The publications of two messages in a buffer, and the start of a callback, are not there, as at the beginning of
    // a ring.
    let notes = |measured_from_ns: i64| {
        let builder = FileBuilder::new()
            .node(1, "composed")
            .publisher("/image")
            .subscription("/image")
            .rclcpp_buffer_to_ipb(0x200, 0x201)
            .rclcpp_ipb_to_subscription(0x201, OBJECT)
            .at(20)
            .callback_end(CALLBACK)
            .at(30)
            .rclcpp_ring_buffer_dequeue(0x200, 0, 1)
            .at(31)
            .callback_start(CALLBACK, true)
            .at(32)
            .callback_end(CALLBACK)
            .at(40)
            .rclcpp_ring_buffer_dequeue(0x200, 1, 0)
            .at(41)
            .callback_start(CALLBACK, true)
            .at(42)
            .callback_end(CALLBACK)
            .at(60)
            .rclcpp_executor_wait_for_work(-1);
        let notes = tables(&builder.info(|info| info.measured_from_ns = Some(measured_from_ns))).notes;
        let count = |name: &str| notes.iter().filter(|note| note.name == name).map(|note| note.count).sum::<u64>();
        (count("intra-process-not-linked"), count("callback-end-without-start"))
    };
    assert_eq!([notes(0), notes(25), notes(50)], [(2, 1), (2, 0), (0, 0)]);
}

#[test]
fn both_callbacks_of_an_intra_process_subscription_belong_to_it_and_its_messages_are_linked_through_the_buffer() {
    const IPC_OBJECT: u64 = 0x132;
    let tables = tables(
        &FileBuilder::new()
            .node(1, "composed")
            .publisher("/image")
            .timer(1_000)
            .rcl_subscription_init(SUBSCRIPTION, NODE, RMW_SUBSCRIPTION, 10, "/image")
            .rclcpp_subscription_callback_added(IPC_OBJECT, 0x133)
            .rclcpp_subscription_init(SUBSCRIPTION, IPC_OBJECT)
            .rclcpp_buffer_to_ipb(0x200, 0x201)
            .rclcpp_ipb_to_subscription(0x201, IPC_OBJECT)
            .rclcpp_subscription_init(SUBSCRIPTION, OBJECT)
            .rclcpp_subscription_callback_added(OBJECT, CALLBACK)
            .at(10)
            .start_timer()
            .at(12)
            .rclcpp_intra_publish(PUBLISHER, MESSAGE)
            .at(13)
            .rclcpp_ring_buffer_enqueue(0x200, 0, 1, false)
            .at(14)
            .rclcpp_publish(0, 0x99)
            .rcl_publish(PUBLISHER, 0x99)
            .rmw_publish(RMW_PUBLISHER, 0x99, 5)
            .at(15)
            .end_timer()
            .at(20)
            .rclcpp_ring_buffer_dequeue(0x200, 0, 0)
            .at(21)
            .callback_start(0x133, true)
            .at(30)
            .callback_end(0x133),
    );
    assert_eq!(times(&tables), [(Some(12), Some(20), Some(21))]);
    assert_eq!(tables.messages[0].arrival_ns, Some(13));
    assert_eq!(tables.publications.len(), 1, "the hand-over and the middleware's copy are one call");
    let both: Vec<_> =
        tables.callbacks.iter().filter(|c| c.kind == CallbackKind::Subscription).map(|c| c.address).collect();
    assert_eq!(both, [0x133, CALLBACK]);
}

/// A process whose subscription has a buffer of two, and is matched with the middleware, too.
fn composed() -> FileBuilder {
    const IPC_OBJECT: u64 = 0x132;
    FileBuilder::new()
        .node(1, "composed")
        .publisher("/image")
        .timer(1_000)
        .subscription("/image")
        .rclcpp_subscription_callback_added(IPC_OBJECT, 0x133)
        .rclcpp_subscription_init(SUBSCRIPTION, IPC_OBJECT)
        .rclcpp_buffer_to_ipb(0x200, 0x201)
        .rclcpp_ipb_to_subscription(0x201, IPC_OBJECT)
}

#[test]
fn the_middlewares_copy_of_a_message_that_came_through_a_buffer_is_thrown_away_and_not_received_again() {
    let tables = tables(
        &composed()
            .at(10)
            .start_timer()
            .at(12)
            .rclcpp_intra_publish(PUBLISHER, MESSAGE)
            .at(13)
            .rclcpp_ring_buffer_enqueue(0x200, 0, 1, false)
            .at(14)
            .rclcpp_publish(0, 0x99)
            .rcl_publish(PUBLISHER, 0x99)
            .rmw_publish(RMW_PUBLISHER, 0x99, 5)
            .at(15)
            .end_timer()
            .at(20)
            .rclcpp_ring_buffer_dequeue(0x200, 0, 0)
            .at(21)
            .callback_start(0x133, true)
            .at(30)
            .callback_end(0x133)
            .at(40)
            .rclcpp_executor_execute(SUBSCRIPTION)
            .rmw_take(RMW_SUBSCRIPTION, 0x98, 5, true)
            .rcl_take(0x98)
            .rclcpp_take(0x98)
            .at(50)
            .rclcpp_executor_get_next_ready(),
    );
    assert_eq!(times(&tables), [(Some(12), Some(20), Some(21))]);
    assert!(!tables.notes.iter().any(|note| note.name == "latency-to-take"), "{:?}", tables.notes);
}

#[test]
fn what_a_buffer_overwrote_is_lost_also_before_the_first_message_that_was_taken() {
    let publishes = |b: FileBuilder, at, index| {
        b.at(at).rclcpp_intra_publish(PUBLISHER, MESSAGE).at(at + 1).rclcpp_ring_buffer_enqueue(0x200, index, 1, false)
    };
    let mut b = composed().at(9).start_timer();
    for (at, index) in [(10, 0), (20, 1), (30, 0), (40, 1)] {
        b = publishes(b, at, index);
    }
    let tables = tables(
        &b.at(50)
            .end_timer()
            .at(60)
            .rclcpp_ring_buffer_dequeue(0x200, 0, 1)
            .at(61)
            .callback_start(0x133, true)
            .at(62)
            .callback_end(0x133)
            .at(70)
            .rclcpp_ring_buffer_dequeue(0x200, 1, 0)
            .at(71)
            .callback_start(0x133, true)
            .at(72)
            .callback_end(0x133),
    );
    assert_eq!(
        times(&tables),
        [
            (Some(10), None, None),
            (Some(20), None, None),
            (Some(30), Some(60), Some(61)),
            (Some(40), Some(70), Some(71))
        ]
    );
    assert_eq!(
        tables.messages.iter().map(|m| m.delivery == Delivery::Lost).collect::<Vec<_>>(),
        [true, true, false, false]
    );
}

#[test]
fn what_lies_in_a_buffer_at_the_end_is_pending_however_long_it_lay() {
    let tables = tables(
        &composed()
            .at(9)
            .start_timer()
            .at(10)
            .rclcpp_intra_publish(PUBLISHER, MESSAGE)
            .at(11)
            .rclcpp_ring_buffer_enqueue(0x200, 0, 1, false)
            .at(12)
            .rclcpp_intra_publish(PUBLISHER, MESSAGE)
            .at(13)
            .rclcpp_ring_buffer_enqueue(0x200, 1, 2, false)
            .at(14)
            .end_timer()
            .at(20)
            .rclcpp_ring_buffer_dequeue(0x200, 0, 1)
            .at(21)
            .callback_start(0x133, true)
            .at(22)
            .callback_end(0x133)
            .at(9_000)
            .start_timer()
            .at(9_001)
            .end_timer(),
    );
    assert_eq!(times(&tables), [(Some(10), Some(20), Some(21))]);
}
