//! Takes and callbacks find their publications; what is none of a message makes none.

use super::*;

#[test]
fn a_message_is_linked_from_its_timer_to_its_callback_by_timestamp_and_topic() {
    let tables = tables(
        &talker_and_listener()
            .process(1)
            .at(100)
            .start_timer()
            .at(110)
            .publish(777)
            .at(120)
            .end_timer()
            .process(2)
            .at(150)
            .start_taking(777)
            .at(180)
            .end_taking(),
    );
    assert_eq!(times(&tables), [(Some(110), Some(150), Some(150))]);
    let message = &tables.messages[0];
    let published_in = &tables.executions[message.published_in.expect("published in a callback")];
    let taken_in = &tables.executions[message.execution.expect("taken in a callback")];
    assert_eq!((published_in.start_ns, published_in.end_ns.get()), (100, Some(120)));
    assert_eq!((taken_in.start_ns, taken_in.end_ns.get()), (150, Some(180)));
    let timer = &tables.callbacks[published_in.callback];
    assert_eq!(
        (timer.kind, timer.period_ns, timer.symbol.as_deref()),
        (CallbackKind::Timer, Some(1_000), Some("Talker::tick()"))
    );
    let listener = &tables.callbacks[taken_in.callback];
    assert_eq!((listener.kind, listener.topic.as_deref()), (CallbackKind::Subscription, Some("/chatter")));
    assert_eq!(tables.nodes[listener.node.expect("node")].name, "/listener");
    let kinds: Vec<_> = tables.endpoints.iter().map(|e| (e.kind, e.depth, e.count)).collect();
    assert_eq!(kinds, [(EndpointKind::Publisher, Some(10), 1), (EndpointKind::Subscription, Some(10), 1)]);
    assert_eq!(tables.notes, []);
}

#[test]
fn the_same_timestamp_on_another_topic_is_another_message() {
    let tables = tables(
        &FileBuilder::new()
            .node(1, "a")
            .publisher("/one")
            .node(2, "b")
            .publisher("/two")
            .node(3, "c")
            .subscription("/one")
            .another_subscription(0x100, "/two")
            .process(1)
            .at(10)
            .publish(5)
            .process(2)
            .at(20)
            .publish(5)
            .process(3)
            .at(30)
            .start_taking_from(0x100, 5)
            .at(31)
            .end_taking_from(0x100)
            .at(40)
            .start_taking(5)
            .at(41)
            .end_taking(),
    );
    assert_eq!(times(&tables), [(Some(10), Some(40), Some(40)), (Some(20), Some(30), Some(30))]);
}

#[test]
fn our_own_nodes_are_linked_by_publisher_and_sequence_and_start_at_the_outermost_event() {
    let tables = tables(
        &talker_and_listener()
            .process(1)
            .at(100)
            .start_timer()
            .at(105)
            .node_publish(PUBLISHER, 7, 42, 64)
            .at(106)
            .rclcpp_publish(PUBLISHER, MESSAGE)
            .at(107)
            .rcl_publish(PUBLISHER, MESSAGE)
            .at(120)
            .end_timer()
            .process(2)
            .at(140)
            .node_data_available(SUBSCRIPTION)
            .at(150)
            .rclcpp_executor_execute(SUBSCRIPTION)
            .at(151)
            .rclcpp_take(MESSAGE)
            .at(152)
            .callback_start(CALLBACK, false)
            .at(153)
            .node_take(SUBSCRIPTION, 7, 42, 105)
            .at(160)
            .end_taking(),
    );
    assert_eq!(times(&tables), [(Some(105), Some(151), Some(153))]);
    assert_eq!((tables.messages[0].sequence, tables.messages[0].arrival_ns.get()), (Some(42), Some(140)));
    assert_eq!(tables.publications.len(), 1, "three sights of one call are one publication");
}

#[test]
fn a_reused_pointer_is_a_new_life_and_old_rows_keep_their_owner() {
    let tables = tables(
        &talker_and_listener()
            .process(1)
            .at(10)
            .publish(1)
            .process(2)
            .at(20)
            .start_taking(1)
            .at(21)
            .end_taking()
            .process(1)
            .at(100)
            .rcl_publisher_init(PUBLISHER, NODE, RMW_PUBLISHER, 1, "/other")
            .process(2)
            .at(100)
            .subscription("/other")
            .process(1)
            .at(110)
            .publish(2)
            .process(2)
            .at(120)
            .start_taking(2)
            .at(125)
            .end_taking(),
    );
    let topics: Vec<_> = tables.messages.iter().map(|m| tables.endpoints[m.subscription].topic.as_str()).collect();
    assert_eq!(topics, ["/chatter", "/other"]);
    let callbacks: Vec<_> = tables.executions.iter().map(|e| tables.callbacks[e.callback].topic.as_deref()).collect();
    assert_eq!(callbacks, [Some("/chatter"), Some("/other")]);
}

#[test]
fn takes_that_took_nothing_and_internal_topics_make_no_message() {
    let tables = tables(
        &FileBuilder::new()
            .node(1, "talker")
            .publisher("/rosout")
            .node(2, "listener")
            .subscription("/chatter")
            .rmw_subscription_init(0x900, [0, 0])
            .process(1)
            .at(10)
            .publish(1)
            .process(2)
            .at(20)
            .rclcpp_executor_execute(SUBSCRIPTION)
            .rmw_take(RMW_SUBSCRIPTION, MESSAGE, 0, false)
            .rcl_take(MESSAGE)
            .at(30)
            .rmw_take(0x900, MESSAGE, 9, true),
    );
    assert_eq!(tables.messages.len(), 0);
    assert_eq!(tables.publications.len(), 0);
    assert_eq!(tables.endpoints.len(), 1);
    assert_eq!(tables.notes, []);
}

#[test]
fn a_callback_that_never_ends_has_no_duration_and_the_run_is_read() {
    let tables = tables(&talker_and_listener().process(1).at(10).publish(1).process(2).killed().at(20).start_taking(1));
    assert_eq!(tables.executions[0].end_ns, None);
    let summary = tacho_figures::summarise(
        &[tacho_figures::Repeat { tables: &tables, options: Default::default(), info: None }],
        None,
    );
    assert_eq!((summary.callbacks[0].count, summary.callbacks[0].duration_us.clone()), (0, None));
}

#[test]
fn rclpy_programs_have_topics_rates_and_latencies_and_say_what_they_lack() {
    let mut builder = FileBuilder::new()
        .node(1, "talker")
        .publisher("/chatter")
        .rcl_timer_init(TIMER, 100)
        .node(2, "listener")
        .rmw_subscription_init(RMW_SUBSCRIPTION, [0, 0])
        .rcl_subscription_init(SUBSCRIPTION, NODE, RMW_SUBSCRIPTION, 10, "/chatter");
    for i in 0..5 {
        builder = builder
            .process(1)
            .at(1_000_000 * i)
            .rcl_timer_init(TIMER + i as u64, 100)
            .rcl_publish(PUBLISHER, MESSAGE)
            .rmw_publish(RMW_PUBLISHER, MESSAGE, i + 1)
            .process(2)
            .at(1_000_000 * i + 300)
            .rmw_take(RMW_SUBSCRIPTION, MESSAGE, i + 1, true)
            .rcl_take(MESSAGE);
    }
    let tables = tables(&builder);
    assert_eq!(note(&tables, "no-callback-events"), 2);
    let summary = tacho_figures::summarise(
        &[tacho_figures::Repeat { tables: &tables, options: Default::default(), info: None }],
        None,
    );
    assert_eq!((summary.callbacks.len(), summary.topics.len()), (0, 1));
    let topic = &summary.topics[0];
    assert_eq!(
        (topic.publishers.as_slice(), topic.subscribers.as_slice()),
        (&["/talker".into()][..], &["/listener".into()][..])
    );
    assert_eq!((topic.sent, topic.received, topic.lost, topic.rate_hz), (5, 5, Some(0), Some(1000.0)));
    assert_eq!(topic.latency_us.as_ref().map(|l| (l.count, l.median)), Some((5, 0.3)));
    assert_eq!(summary.chains, []);
    assert_eq!(summary.notes.iter().find(|n| n.name == "latency-to-take").map(|n| n.count), Some(5));
}

#[test]
fn a_publish_call_that_rcl_refuses_after_shutdown_is_nobodys_and_of_no_unknown_publisher() {
    let interrupted = talker_and_listener()
        .process(1)
        .at(10)
        .publish(1)
        .process(2)
        .at(20)
        .start_taking(1)
        .at(25)
        .end_taking()
        .process(1)
        .at(30)
        .publish(2)
        .process(2)
        .at(40)
        .start_taking(2)
        .at(45)
        .end_taking();
    // rclcpp begins both; rcl looks at the context before its own event. The second tells its publisher, as some
    // releases do.
    let refused = tables(
        &interrupted
            .process(1)
            .at(50)
            .rclcpp_publish(0, MESSAGE)
            .at(60)
            .rclcpp_publish(PUBLISHER, MESSAGE)
            .at(70)
            .rclcpp_executor_wait_for_work(-1),
    );
    assert_eq!((note(&refused, "published-after-shutdown"), note(&refused, "unknown-publisher")), (2, 0));
    let text = &refused.notes.iter().find(|n| n.name == "published-after-shutdown").expect("noted").text;
    assert!(text.contains("shut down") && text.contains("nothing was sent"), "{text}");
    assert_eq!((refused.publications.len(), refused.messages.len()), (2, 2), "neither sent nor lost");
    // Where rcl took a later one, it was none of that: its events are missing for another reason.
    let later =
        tables(&talker_and_listener().process(1).at(10).publish(1).at(20).rclcpp_publish(0, MESSAGE).at(30).publish(3));
    assert_eq!((note(&later, "published-after-shutdown"), note(&later, "unknown-publisher")), (0, 1));
    // A recording that began late knows of no publisher, and rcl took its calls.
    let late = tables(&FileBuilder::new().node(1, "talker").at(10).publish(1));
    assert_eq!((note(&late, "published-after-shutdown"), note(&late, "unknown-publisher")), (0, 1));
}
