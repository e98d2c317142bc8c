//! Links by what traces before Jazzy tell besides rmw's own events: `dds:write`, and what CARET adds.

mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_tables::Tables;

/// (publish, take, callback) of each message, in order.
fn times(tables: &Tables) -> Vec<(Option<i64>, Option<i64>, Option<i64>)> {
    tables.messages.iter().map(|m| (m.publish_ns.get(), m.take_ns.get(), m.callback_ns.get())).collect()
}

fn talker_and_listener() -> FileBuilder {
    FileBuilder::new().node(1, "talker").publisher("/chatter").timer(1_000).node(2, "listener").subscription("/chatter")
}

#[test]
fn before_jazzy_the_stamp_of_a_dds_write_links_exactly_whatever_the_order_of_times() {
    // Two calls at once on two threads, as close as events lie, and stamps that lie anywhere between calls.
    let mut builder = talker_and_listener();
    for n in 0..20 {
        let (time, stamp) = (1_000_000 * (n + 1), 5_000_000_000 + n * 700);
        for (thread, before) in [(1, 2), (11, 1)] {
            builder = builder
                .process(1)
                .thread(thread)
                .at(time + thread as i64)
                .rcl_publish(PUBLISHER, MESSAGE)
                .rmw_publish(0, MESSAGE, 0)
                .dds_write(0x22, 0, stamp + before)
                // Of the middleware's own, such as a sample that tells others of an endpoint.
                .dds_write(0x99, 0, 1 + time);
        }
        for (take, before) in [(300, 1), (400, 2)] {
            builder = builder.process(2).at(time + take).start_taking(stamp + before).at(time + take + 10).end_taking();
        }
    }
    let tables = tables(&builder);
    let expected: Vec<_> = (0..20)
        .flat_map(|n| {
            let time = 1_000_000 * (n + 1);
            [(1, 400), (11, 300)].map(|(call, take)| (Some(time + call), Some(time + take), Some(time + take)))
        })
        .collect();
    assert_eq!(times(&tables), expected);
    assert_eq!(tables.notes, []);
}

#[test]
fn a_dds_write_is_of_the_call_that_its_thread_is_inside() {
    // rmw_publish is not in the trace: rcl_publish stands for it. A write of another message, and one outside of calls,
    // are no one's.
    let tables = tables(
        &talker_and_listener()
            .process(1)
            .at(90)
            .dds_write(0x99, 0, 700)
            .at(100)
            .rcl_publish(PUBLISHER, MESSAGE)
            .dds_write(0x22, 0x51, 700)
            .dds_write(0x22, MESSAGE, 777)
            .process(2)
            .at(150)
            .start_taking(777)
            .at(180)
            .end_taking()
            .at(190)
            .start_taking(700)
            .at(195)
            .end_taking(),
    );
    assert_eq!(times(&tables), [(Some(100), Some(150), Some(150)), (None, Some(190), Some(190))]);
}

/// As CARET records Galactic: publications carry the stamp that it binds to their address, and callbacks are told of
/// theirs.
fn galactic(seen: impl Fn(FileBuilder, i64) -> FileBuilder) -> Tables {
    let mut builder = talker_and_listener();
    for n in 1..=5 {
        let time = 1_000_000 * n;
        builder = builder.process(1).at(time).rclcpp_publish(0, MESSAGE).rcl_publish(PUBLISHER, MESSAGE).rmw_publish(
            0,
            MESSAGE,
            900 + n,
        );
        builder = seen(builder.process(2).at(time + 300), n)
            .at(time + 310)
            .callback_start(CALLBACK, false)
            .at(time + 400)
            .end_taking();
    }
    tables(&builder)
}

#[test]
fn carets_dispatch_of_a_callback_is_the_take_where_rmw_tells_none() {
    let expected: Vec<_> =
        (1..=5).map(|n| 1_000_000 * n).map(|time| (Some(time), Some(time + 300), Some(time + 310))).collect();
    let by_dispatch = galactic(|b, n| b.dispatch_subscription_callback(CALLBACK, MESSAGE, 900 + n));
    assert_eq!(times(&by_dispatch), expected);
    assert_eq!(by_dispatch.notes, []);
    let chains: Vec<_> = by_dispatch.chains.iter().map(|chain| chain.name.as_str()).collect();
    assert_eq!(chains, ["talker to listener"]);
    // From Humble on there is rmw_take as well: one message, taken when rmw says.
    let both = galactic(|b, n| {
        b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, 900 + n, true).rclcpp_take(MESSAGE).dispatch_subscription_callback(
            CALLBACK,
            MESSAGE,
            900 + n,
        )
    });
    assert_eq!(times(&both), expected);
}

/// As CARET records messages within a process of Galactic, whose buffers have no events: by their addresses, and those
/// of their copies.
#[test]
fn carets_dispatch_within_a_process_is_the_take_of_the_message_at_this_address() {
    let component = || {
        FileBuilder::new()
            .node(1, "talker")
            .publisher("/chatter")
            .timer(1_000)
            .rcl_node_init(0x11, 0x12, "listener", "/")
            .rcl_subscription_init(SUBSCRIPTION, 0x11, RMW_SUBSCRIPTION, 10, "/chatter")
            .rclcpp_subscription_init(SUBSCRIPTION, OBJECT)
            .rclcpp_subscription_callback_added(OBJECT, CALLBACK)
    };
    let (other, copy) = (0x77, 0x88);
    let taken = |b: FileBuilder, at: i64, message| {
        b.at(at)
            .rclcpp_executor_execute(SUBSCRIPTION)
            .at(at + 5)
            .dispatch_intra_process_subscription_callback(CALLBACK, message)
            .at(at + 10)
            .callback_start(CALLBACK, true)
            .at(at + 20)
            .end_taking()
    };
    // Each message is handed over at its address; the third as a copy; both other addresses are used again.
    let mut b = component()
        .process(1)
        .at(100)
        .rclcpp_intra_publish(PUBLISHER, MESSAGE)
        .at(110)
        .rclcpp_intra_publish(PUBLISHER, other);
    b = taken(taken(b, 200, MESSAGE), 300, other);
    b = b.at(400).rclcpp_intra_publish(PUBLISHER, MESSAGE).at(401).message_construct(MESSAGE, copy);
    b = taken(b, 500, copy);
    // Of one that was copied from somewhere else nothing is known.
    b = taken(b.at(600).message_construct(0x99, copy), 700, copy);
    let tables = tables(&b);
    assert_eq!(
        times(&tables),
        [
            (Some(100), Some(205), Some(210)),
            (Some(110), Some(305), Some(310)),
            (Some(400), Some(505), Some(510)),
            (None, Some(705), Some(710)),
        ]
    );
    assert!(
        tables.notes.iter().any(|note| (note.name.as_str(), note.count) == ("intra-process-not-linked", 1)),
        "{:?}",
        tables.notes
    );
    let chains: Vec<_> = tables.chains.iter().map(|chain| chain.name.as_str()).collect();
    assert_eq!(chains, ["talker to listener"]);
    // Where a buffer told of it, it is the same take.
    let component = component().rclcpp_buffer_to_ipb(0x200, 0x201).rclcpp_ipb_to_subscription(0x201, OBJECT);
    let b = component
        .process(1)
        .at(100)
        .rclcpp_intra_publish(PUBLISHER, MESSAGE)
        .at(101)
        .rclcpp_ring_buffer_enqueue(0x200, 0, 1, false)
        .at(200)
        .rclcpp_executor_execute(SUBSCRIPTION)
        .at(203)
        .rclcpp_ring_buffer_dequeue(0x200, 0, 0)
        .at(205)
        .dispatch_intra_process_subscription_callback(CALLBACK, MESSAGE)
        .at(210)
        .callback_start(CALLBACK, true)
        .at(220)
        .end_taking();
    assert_eq!(times(&scene::tables(&b)), [(Some(100), Some(203), Some(210))]);
}
