//! Links between publications, takes and callbacks; losses; what is not known.

mod scene;

use scene::*;
use tacho_analysis::tables::{CallbackKind, Delivery, EndpointKind, Tables};
use tacho_events::testing::FileBuilder;

/// (publish, take, callback) of each message, in order.
fn times(tables: &Tables) -> Vec<(Option<i64>, Option<i64>, Option<i64>)> {
    tables.messages.iter().map(|m| (m.publish_ns, m.take_ns, m.callback_ns)).collect()
}

fn note(tables: &Tables, name: &str) -> u64 {
    tables.notes.iter().filter(|n| n.name == name).map(|n| n.count).sum()
}

fn talker_and_listener() -> FileBuilder {
    FileBuilder::new().node(1, "talker").publisher("/chatter").timer(1_000).node(2, "listener").subscription("/chatter")
}

#[test]
fn a_message_is_linked_from_its_timer_to_its_callback_by_timestamp_and_topic() {
    let tables = tables(&talker_and_listener()
        .process(1).at(100).start_timer().at(110).publish(777).at(120).end_timer()
        .process(2).at(150).start_taking(777).at(180).end_taking());
    assert_eq!(times(&tables), [(Some(110), Some(150), Some(150))]);
    let message = &tables.messages[0];
    let published_in = &tables.executions[message.published_in.expect("published in a callback") as usize];
    let taken_in = &tables.executions[message.execution.expect("taken in a callback") as usize];
    assert_eq!((published_in.start_ns, published_in.end_ns), (100, Some(120)));
    assert_eq!((taken_in.start_ns, taken_in.end_ns), (150, Some(180)));
    let timer = &tables.callbacks[published_in.callback as usize];
    assert_eq!((timer.kind, timer.period_ns, timer.symbol.as_deref()), (CallbackKind::Timer, Some(1_000), Some("Talker::tick()")));
    let listener = &tables.callbacks[taken_in.callback as usize];
    assert_eq!((listener.kind, listener.topic.as_deref()), (CallbackKind::Subscription, Some("/chatter")));
    assert_eq!(tables.nodes[listener.node.expect("node") as usize].name, "/listener");
    let kinds: Vec<_> = tables.endpoints.iter().map(|e| (e.kind, e.depth, e.count)).collect();
    assert_eq!(kinds, [(EndpointKind::Publisher, Some(10), 1), (EndpointKind::Subscription, Some(10), 1)]);
    assert_eq!(tables.notes, []);
}

#[test]
fn the_same_timestamp_on_another_topic_is_another_message() {
    let tables = tables(&FileBuilder::new()
        .node(1, "a").publisher("/one").node(2, "b").publisher("/two").node(3, "c").subscription("/one")
        .another_subscription(0x100, "/two")
        .process(1).at(10).publish(5).process(2).at(20).publish(5)
        .process(3).at(30).start_taking_from(0x100, 5).at(31).end_taking_from(0x100)
        .at(40).start_taking(5).at(41).end_taking());
    assert_eq!(times(&tables), [(Some(10), Some(40), Some(40)), (Some(20), Some(30), Some(30))]);
}

#[test]
fn our_own_nodes_are_linked_by_publisher_and_sequence_and_start_at_the_outermost_event() {
    let tables = tables(&talker_and_listener()
        .process(1).at(100).start_timer()
        .at(105).node_publish(PUBLISHER, 7, 42, 64).at(106).rclcpp_publish(PUBLISHER, MESSAGE).at(107).rcl_publish(PUBLISHER, MESSAGE)
        .at(120).end_timer()
        .process(2).at(140).node_data_available(SUBSCRIPTION)
        .at(150).rclcpp_executor_execute(SUBSCRIPTION).at(151).rclcpp_take(MESSAGE).at(152).callback_start(CALLBACK, false)
        .at(153).node_take(SUBSCRIPTION, 7, 42, 105).at(160).end_taking());
    assert_eq!(times(&tables), [(Some(105), Some(151), Some(153))]);
    assert_eq!((tables.messages[0].sequence, tables.messages[0].arrival_ns), (Some(42), Some(140)));
    assert_eq!(tables.publications.len(), 1, "three sights of one call are one publication");
}

#[test]
fn a_reused_pointer_is_a_new_life_and_old_rows_keep_their_owner() {
    let tables = tables(&talker_and_listener()
        .process(1).at(10).publish(1)
        .process(2).at(20).start_taking(1).at(21).end_taking()
        .process(1).at(100).rcl_publisher_init(PUBLISHER, NODE, RMW_PUBLISHER, 1, "/other")
        .process(2).at(100).subscription("/other")
        .process(1).at(110).publish(2)
        .process(2).at(120).start_taking(2).at(125).end_taking());
    let topics: Vec<_> = tables.messages.iter().map(|m| tables.endpoints[m.subscription as usize].topic.as_str()).collect();
    assert_eq!(topics, ["/chatter", "/other"]);
    let callbacks: Vec<_> = tables.executions.iter().map(|e| tables.callbacks[e.callback as usize].topic.as_deref()).collect();
    assert_eq!(callbacks, [Some("/chatter"), Some("/other")]);
}

#[test]
fn what_was_let_go_of_before_the_window_is_no_note_and_in_it_is() {
    // The publications of two messages in a buffer, and the start of a callback, are not there, as at the beginning of a ring.
    let notes = |measured_from_ns: i64| {
        let builder = FileBuilder::new()
            .node(1, "composed").publisher("/image").subscription("/image")
            .rclcpp_buffer_to_ipb(0x200, 0x201).rclcpp_ipb_to_subscription(0x201, OBJECT)
            .at(20).callback_end(CALLBACK)
            .at(30).rclcpp_ring_buffer_dequeue(0x200, 0, 1).at(31).callback_start(CALLBACK, true).at(32).callback_end(CALLBACK)
            .at(40).rclcpp_ring_buffer_dequeue(0x200, 1, 0).at(41).callback_start(CALLBACK, true).at(42).callback_end(CALLBACK)
            .at(60).rclcpp_executor_wait_for_work(-1);
        let notes = tables(&builder.info(|info| info.measured_from_ns = Some(measured_from_ns))).notes;
        let count = |name: &str| notes.iter().filter(|note| note.name == name).map(|note| note.count).sum::<u64>();
        (count("intra-process-not-linked"), count("callback-end-without-start"))
    };
    assert_eq!([notes(0), notes(25), notes(50)], [(2, 1), (2, 0), (0, 0)]);
}

#[test]
fn both_callbacks_of_an_intra_process_subscription_belong_to_it_and_its_messages_are_linked_through_the_buffer() {
    const IPC_OBJECT: u64 = 0x132;
    let tables = tables(&FileBuilder::new()
        .node(1, "composed").publisher("/image").timer(1_000)
        .rcl_subscription_init(SUBSCRIPTION, NODE, RMW_SUBSCRIPTION, 10, "/image")
        .rclcpp_subscription_callback_added(IPC_OBJECT, 0x133).rclcpp_subscription_init(SUBSCRIPTION, IPC_OBJECT)
        .rclcpp_buffer_to_ipb(0x200, 0x201).rclcpp_ipb_to_subscription(0x201, IPC_OBJECT)
        .rclcpp_subscription_init(SUBSCRIPTION, OBJECT).rclcpp_subscription_callback_added(OBJECT, CALLBACK)
        .at(10).start_timer().at(12).rclcpp_intra_publish(PUBLISHER, MESSAGE).at(13).rclcpp_ring_buffer_enqueue(0x200, 0, 1, false)
        .at(14).rclcpp_publish(0, 0x99).rcl_publish(PUBLISHER, 0x99).rmw_publish(RMW_PUBLISHER, 0x99, 5)
        .at(15).end_timer()
        .at(20).rclcpp_ring_buffer_dequeue(0x200, 0, 0).at(21).callback_start(0x133, true).at(30).callback_end(0x133));
    assert_eq!(times(&tables), [(Some(12), Some(20), Some(21))]);
    assert_eq!(tables.messages[0].arrival_ns, Some(13));
    assert_eq!(tables.publications.len(), 1, "the hand-over and the middleware's copy are one call");
    let both: Vec<_> = tables.callbacks.iter().filter(|c| c.kind == CallbackKind::Subscription).map(|c| c.address).collect();
    assert_eq!(both, [0x133, CALLBACK]);
}

/// A process whose subscription has a buffer of two, and is matched with the middleware, too.
fn composed() -> FileBuilder {
    const IPC_OBJECT: u64 = 0x132;
    FileBuilder::new()
        .node(1, "composed").publisher("/image").timer(1_000).subscription("/image")
        .rclcpp_subscription_callback_added(IPC_OBJECT, 0x133).rclcpp_subscription_init(SUBSCRIPTION, IPC_OBJECT)
        .rclcpp_buffer_to_ipb(0x200, 0x201).rclcpp_ipb_to_subscription(0x201, IPC_OBJECT)
}

#[test]
fn the_middlewares_copy_of_a_message_that_came_through_a_buffer_is_thrown_away_and_not_received_again() {
    let tables = tables(&composed()
        .at(10).start_timer().at(12).rclcpp_intra_publish(PUBLISHER, MESSAGE).at(13).rclcpp_ring_buffer_enqueue(0x200, 0, 1, false)
        .at(14).rclcpp_publish(0, 0x99).rcl_publish(PUBLISHER, 0x99).rmw_publish(RMW_PUBLISHER, 0x99, 5)
        .at(15).end_timer()
        .at(20).rclcpp_ring_buffer_dequeue(0x200, 0, 0).at(21).callback_start(0x133, true).at(30).callback_end(0x133)
        .at(40).rclcpp_executor_execute(SUBSCRIPTION).rmw_take(RMW_SUBSCRIPTION, 0x98, 5, true).rcl_take(0x98).rclcpp_take(0x98)
        .at(50).rclcpp_executor_get_next_ready());
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
    let tables = tables(&b.at(50).end_timer()
        .at(60).rclcpp_ring_buffer_dequeue(0x200, 0, 1).at(61).callback_start(0x133, true).at(62).callback_end(0x133)
        .at(70).rclcpp_ring_buffer_dequeue(0x200, 1, 0).at(71).callback_start(0x133, true).at(72).callback_end(0x133));
    assert_eq!(times(&tables), [(Some(10), None, None), (Some(20), None, None), (Some(30), Some(60), Some(61)), (Some(40), Some(70), Some(71))]);
    assert_eq!(tables.messages.iter().map(|m| m.delivery == Delivery::Lost).collect::<Vec<_>>(), [true, true, false, false]);
}

#[test]
fn what_lies_in_a_buffer_at_the_end_is_pending_however_long_it_lay() {
    let tables = tables(&composed().at(9).start_timer()
        .at(10).rclcpp_intra_publish(PUBLISHER, MESSAGE).at(11).rclcpp_ring_buffer_enqueue(0x200, 0, 1, false)
        .at(12).rclcpp_intra_publish(PUBLISHER, MESSAGE).at(13).rclcpp_ring_buffer_enqueue(0x200, 1, 2, false).at(14).end_timer()
        .at(20).rclcpp_ring_buffer_dequeue(0x200, 0, 1).at(21).callback_start(0x133, true).at(22).callback_end(0x133)
        .at(9_000).start_timer().at(9_001).end_timer());
    assert_eq!(times(&tables), [(Some(10), Some(20), Some(21))]);
}

#[test]
fn takes_that_took_nothing_and_internal_topics_make_no_message() {
    let tables = tables(&FileBuilder::new()
        .node(1, "talker").publisher("/rosout")
        .node(2, "listener").subscription("/chatter").rmw_subscription_init(0x900, [0, 0])
        .process(1).at(10).publish(1)
        .process(2).at(20).rclcpp_executor_execute(SUBSCRIPTION).rmw_take(RMW_SUBSCRIPTION, MESSAGE, 0, false).rcl_take(MESSAGE)
        .at(30).rmw_take(0x900, MESSAGE, 9, true));
    assert_eq!(tables.messages.len(), 0);
    assert_eq!(tables.publications.len(), 0);
    assert_eq!(tables.endpoints.len(), 1);
    assert_eq!(tables.notes, []);
}

/// A talker and a listener of a release before Jazzy. CLOCK_REALTIME stands 1 s ahead of CLOCK_MONOTONIC; `stamps` are on the latter. The
/// listener takes each message 500 us after its rmw_publish.
fn of_older_release(sent: &[i64], stamps: &[i64]) -> Tables {
    let mut builder = talker_and_listener();
    for pid in [1, 2] {
        builder = builder.process(pid).header(|h| h.start.realtime_ns = 1_000_000_000);
    }
    for (time, stamp) in sent.iter().zip(stamps) {
        builder = builder.process(1).at(*time).rcl_publish(PUBLISHER, MESSAGE).at(time + 5).rmw_publish(0, MESSAGE, 0)
            .process(2).at(time + 500_000).start_taking(1_000_000_000 + stamp).at(time + 500_100).end_taking();
    }
    tables(&builder)
}

#[test]
fn before_jazzy_messages_are_linked_to_the_last_publication_before_their_timestamp() {
    // rmw_publish of Humble comes before the write, which stamps 1.8 to 304 us later.
    let sent: Vec<i64> = (1..=20).map(|n| n * 10_000_000).collect();
    let stamps: Vec<i64> = sent.iter().enumerate().map(|(n, time)| time + 5 + 1_800 + n as i64 * 15_000).collect();
    let tables = of_older_release(&sent, &stamps);
    let expected: Vec<_> = sent.iter().map(|time| (Some(*time), Some(time + 500_000), Some(time + 500_000))).collect();
    assert_eq!(times(&tables), expected);
    assert_eq!(lost(&tables), []);
    assert_eq!(tables.notes, []);
}

#[test]
fn of_two_publications_before_jazzy_that_two_stamps_follow_none_is_guessed() {
    let mut sent: Vec<i64> = (1..=20).map(|n| n * 10_000_000).collect();
    let mut stamps: Vec<i64> = sent.iter().map(|time| time + 100_000).collect();
    // Two threads publish on the topic at once: two events, then two stamps.
    sent.push(sent[19] + 50_000);
    stamps.push(sent[20] + 100_000);
    let tables = of_older_release(&sent, &stamps);
    let linked: Vec<_> = tables.messages.iter().filter_map(|message| message.publish_ns).collect();
    assert_eq!(linked, sent[..19]);
    assert_eq!(tables.notes.iter().find(|note| note.name == "ambiguous-timestamp").map(|note| note.count), Some(2));
}

#[test]
fn where_the_stamp_comes_first_messages_are_linked_to_the_first_publication_behind_it() {
    let sent: Vec<i64> = (1..=20).map(|n| n * 10_000_000).collect();
    let stamps: Vec<i64> = sent.iter().map(|time| time + 3).collect();
    let tables = of_older_release(&sent, &stamps);
    let expected: Vec<_> = sent.iter().map(|time| (Some(*time), Some(time + 500_000), Some(time + 500_000))).collect();
    assert_eq!(times(&tables), expected);
}

#[test]
fn stamps_that_lie_anywhere_between_publications_link_nothing_and_that_is_said() {
    let sent: Vec<i64> = (1..=20).map(|n| n * 1_000_000).collect();
    let stamps: Vec<i64> = sent.iter().enumerate().map(|(n, time)| time + n as i64 * 45_000).collect();
    let tables = of_older_release(&sent, &stamps);
    assert!(tables.messages.iter().all(|message| message.publish_ns.is_none()));
    assert_eq!(tables.notes.iter().find(|note| note.name == "order-of-timestamps-unknown").map(|note| note.count), Some(20));
    assert_eq!(lost(&tables), [], "what cannot be linked is not lost");
    assert!(tables.notes.iter().all(|note| note.name != "never-taken"), "nor never taken");
}

/// Twenty messages that a talker sends and a listener is called back for; `take` are the listener's events of each before its callback.
fn heard(take: impl Fn(FileBuilder, usize) -> FileBuilder) -> FileBuilder {
    let mut builder = talker_and_listener();
    for n in 0..20 {
        let time = 1_000_000 * (n as i64 + 1);
        builder = builder.process(1).at(time).publish(n as i64 + 1).process(2).at(time + 300).rclcpp_executor_execute(SUBSCRIPTION);
        builder = take(builder, n).callback_start(CALLBACK, false).at(time + 400).end_taking();
    }
    builder.process(2).at(30_000_000).rclcpp_executor_get_next_ready().rclcpp_executor_wait_for_work(-1).process(1).at(40_000_000)
        .rclcpp_executor_wait_for_work(-1)
}

/// What a run tells of `/chatter`, of which messages were received that cannot be linked.
fn assert_nobody_is_accused(builder: &FileBuilder, unlinked: u64) {
    let tables = tables(builder);
    let summary = tacho_analysis::summarise(&[tacho_analysis::Repeat { tables: &tables, options: Default::default(), info: None }], None);
    assert_eq!(note(&tables, "not-linked"), unlinked);
    assert_eq!((lost(&tables), summary.topics[0].lost), (vec![], None));
    assert_eq!((summary.findings, summary.chains), (Some(vec![]), vec![]));
    for accuses in ["never-taken", "nothing-arrived", "publication-not-recorded"] {
        assert!(tables.notes.iter().all(|note| note.name != accuses), "{accuses}");
    }
}

#[test]
fn where_takes_have_no_events_nothing_is_told_to_be_lost_and_nobody_is_accused() {
    // The rmw of Galactic and Foxy takes without an event; then callbacks alone show that messages came.
    assert_nobody_is_accused(&heard(|builder, _| builder), 20);
    // A few that are seen, such as those of another middleware, change nothing.
    assert_nobody_is_accused(&heard(|b, n| if n % 4 == 0 { b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, n as i64 + 1, true) } else { b }), 15);
}

#[test]
fn where_most_takes_name_no_publication_that_was_recorded_nothing_is_told_to_be_lost() {
    // Without a stamp, as rcl_take has none; with one that is not the publication's own.
    assert_nobody_is_accused(&heard(|builder, _| builder.rcl_take(MESSAGE)), 20);
    assert_nobody_is_accused(&heard(|b, n| b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, 1_000 + n as i64, true)), 20);
    let some = heard(|b, n| b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, if n % 4 == 0 { n as i64 + 1 } else { 1_000 }, true));
    assert_nobody_is_accused(&some, 15);
}

#[test]
fn takes_of_messages_that_another_host_published_leave_no_doubt_about_those_recorded_here() {
    let mut builder = talker_and_listener();
    for n in 0..20 {
        let time = 1_000_000 * (n + 1);
        builder = builder.process(1).at(time).publish(n + 1);
        // The fourth is lost; three of another talker come between two of this one.
        for stamp in if n == 3 { vec![] } else { vec![n + 1] }.into_iter().chain([1_000 + n, 2_000 + n, 3_000 + n]) {
            builder = builder.process(2).at(time + 300).start_taking(stamp).at(time + 310).end_taking();
        }
    }
    let tables = tables(&builder);
    assert_eq!(tables.notes.iter().find(|note| note.name == "not-linked"), None);
    assert_eq!(note(&tables, "publication-not-recorded"), 60);
    let lost: Vec<_> = tables.messages.iter().filter(|m| m.delivery == Delivery::Lost).map(|m| m.publish_ns).collect();
    assert_eq!(lost, [Some(4_000_000)]);
    let chains: Vec<_> = tables.chains.iter().map(|chain| chain.name.as_str()).collect();
    assert_eq!(chains, ["talker to listener"]);
}

/// Ten messages from one of our own publishers to two of our own subscribers, 100 ns apart; `taken(subscriber, sequence)`.
fn ten_messages(taken: impl Fn(u32, u64) -> bool) -> FileBuilder {
    let mut builder = FileBuilder::new()
        .node(1, "source").publisher("/points").node(2, "left").subscription("/points").node(3, "right").subscription("/points");
    for sequence in 0..10u64 {
        let time = 1_000 + 100 * sequence as i64;
        builder = builder.process(1).at(time).node_publish(PUBLISHER, 1, sequence, 8).rcl_publish(PUBLISHER, MESSAGE);
        for pid in [2, 3] {
            if taken(pid, sequence) {
                builder = builder.process(pid).at(time + 20).rclcpp_executor_execute(SUBSCRIPTION).rclcpp_take(MESSAGE)
                    .callback_start(CALLBACK, false).node_take(SUBSCRIPTION, 1, sequence, time).at(time + 30).end_taking();
            }
        }
    }
    // The run ends in order a while later.
    builder.process(1).at(10_000).rclcpp_executor_wait_for_work(0)
}

fn lost(tables: &Tables) -> Vec<(u32, Option<u64>)> {
    tables.messages.iter().filter(|m| m.delivery == Delivery::Lost).map(|m| (m.subscription, m.sequence)).collect()
}

#[test]
fn what_was_sent_and_never_taken_is_lost_to_that_subscription_alone() {
    let tables = tables(&ten_messages(|pid, sequence| pid == 2 || (sequence != 0 && sequence != 4 && sequence != 9)));
    assert_eq!(lost(&tables), [(2, Some(0)), (2, Some(4)), (2, Some(9))]);
    assert_eq!(tables.messages.len(), 20);
}

#[test]
fn a_message_that_may_still_be_in_flight_at_the_end_is_neither_taken_nor_lost() {
    // The last event of all is right after the last publication.
    let mut builder = talker_and_listener();
    for sequence in 0..5u64 {
        let time = 1_000 + 100 * sequence as i64;
        builder = builder.process(1).at(time).node_publish(PUBLISHER, 1, sequence, 8).rcl_publish(PUBLISHER, MESSAGE);
        if sequence != 2 && sequence != 4 {
            builder = builder.process(2).at(time + 90).rclcpp_executor_execute(SUBSCRIPTION).rclcpp_take(MESSAGE)
                .callback_start(CALLBACK, false).node_take(SUBSCRIPTION, 1, sequence, time).at(time + 95).end_taking();
        }
    }
    let tables = tables(&builder);
    assert_eq!(lost(&tables), [(1, Some(2))]);
    assert_eq!(tables.messages.len(), 4);
}

#[test]
fn messages_after_a_subscriber_was_killed_are_not_lost() {
    let builder = ten_messages(|pid, sequence| pid == 2 || sequence < 5).process(3).killed();
    let tables = tables(&builder);
    assert_eq!(lost(&tables), []);
    assert_eq!(note(&tables, "process-did-not-end-in-order"), 1);
}

#[test]
fn messages_after_a_subscriber_ended_in_order_are_not_lost() {
    let after_five = || ten_messages(|pid, sequence| pid == 2 || sequence < 5).process(3);
    assert_eq!(lost(&tables(&after_five())).len(), 5, "when it ended is not known");
    // Its recorder's last reading of the clocks tells when: behind the message of sequence 6 and what may be under way.
    assert_eq!(lost(&tables(&after_five().at(1_650).clock_sync(1_650, 1_650, 50))), [(2, Some(5))]);
}

#[test]
fn where_events_were_dropped_losses_are_not_told() {
    let tables = tables(&ten_messages(|pid, sequence| pid == 2 || sequence != 4).process(3).dropped(17));
    assert_eq!(lost(&tables), []);
    assert_eq!(note(&tables, "dropped-events"), 17);
    let summary = tacho_analysis::summarise(&[tacho_analysis::Repeat { tables: &tables, options: Default::default(), info: None }], None);
    assert_eq!(summary.topics[0].lost, None);
}

#[test]
fn of_programs_that_are_not_ours_losses_count_from_the_first_message_taken() {
    let mut builder = talker_and_listener();
    for i in 0..6 {
        builder = builder.process(1).at(100 * i + 10).publish(i + 1);
        if i == 2 || i == 4 || i == 5 {
            builder = builder.process(2).at(100 * i + 20).start_taking(i + 1).at(100 * i + 25).end_taking();
        }
    }
    let tables = tables(&builder);
    let lost: Vec<_> = tables.messages.iter().filter(|m| m.delivery == Delivery::Lost).map(|m| m.publish_ns).collect();
    assert_eq!(lost, [Some(310)]);
}

#[test]
fn only_messages_of_the_measured_window_have_rows() {
    let builder = ten_messages(|_, _| true).info(|i| {
        i.measured_from_ns = Some(1_200);
        i.measured_to_ns = Some(1_500);
    });
    let tables = tables(&builder);
    assert_eq!(tables.publications.iter().map(|p| p.publish_ns).collect::<Vec<_>>(), [1_200, 1_300, 1_400]);
    assert_eq!(tables.messages.len(), 6);
    assert_eq!(tables.endpoints.iter().map(|e| e.count).collect::<Vec<_>>(), [3, 3, 3]);
}

#[test]
fn a_callback_that_never_ends_has_no_duration_and_the_run_is_read() {
    let tables = tables(&talker_and_listener()
        .process(1).at(10).publish(1)
        .process(2).killed().at(20).start_taking(1));
    assert_eq!(tables.executions[0].end_ns, None);
    let summary = tacho_analysis::summarise(&[tacho_analysis::Repeat { tables: &tables, options: Default::default(), info: None }], None);
    assert_eq!((summary.callbacks[0].count, summary.callbacks[0].duration_us.clone()), (0, None));
}

#[test]
fn rclpy_programs_have_topics_rates_and_latencies_and_say_what_they_lack() {
    let mut builder = FileBuilder::new().node(1, "talker").publisher("/chatter").rcl_timer_init(TIMER, 100).node(2, "listener")
        .rmw_subscription_init(RMW_SUBSCRIPTION, [0, 0]).rcl_subscription_init(SUBSCRIPTION, NODE, RMW_SUBSCRIPTION, 10, "/chatter");
    for i in 0..5 {
        builder = builder.process(1).at(1_000_000 * i).rcl_timer_init(TIMER + i as u64, 100)
            .rcl_publish(PUBLISHER, MESSAGE).rmw_publish(RMW_PUBLISHER, MESSAGE, i + 1)
            .process(2).at(1_000_000 * i + 300).rmw_take(RMW_SUBSCRIPTION, MESSAGE, i + 1, true).rcl_take(MESSAGE);
    }
    let tables = tables(&builder);
    assert_eq!(note(&tables, "no-callback-events"), 2);
    let summary = tacho_analysis::summarise(&[tacho_analysis::Repeat { tables: &tables, options: Default::default(), info: None }], None);
    assert_eq!((summary.callbacks.len(), summary.topics.len()), (0, 1));
    let topic = &summary.topics[0];
    assert_eq!((topic.publishers.as_slice(), topic.subscribers.as_slice()), (&["/talker".into()][..], &["/listener".into()][..]));
    assert_eq!((topic.sent, topic.received, topic.lost, topic.rate_hz), (5, 5, Some(0), Some(1000.0)));
    assert_eq!(topic.latency_us.as_ref().map(|l| (l.count, l.median)), Some((5, 0.3)));
    assert_eq!(summary.chains, []);
    assert_eq!(summary.notes.iter().find(|n| n.name == "latency-to-take").map(|n| n.count), Some(5));
}

#[test]
fn a_publish_call_that_rcl_refuses_after_shutdown_is_nobodys_and_of_no_unknown_publisher() {
    let interrupted = talker_and_listener().process(1).at(10).publish(1).process(2).at(20).start_taking(1).at(25).end_taking()
        .process(1).at(30).publish(2).process(2).at(40).start_taking(2).at(45).end_taking();
    // rclcpp begins both; rcl looks at the context before its own event. The second tells its publisher, as some releases do.
    let refused = tables(&interrupted.process(1).at(50).rclcpp_publish(0, MESSAGE).at(60).rclcpp_publish(PUBLISHER, MESSAGE).at(70).rclcpp_executor_wait_for_work(-1));
    assert_eq!((note(&refused, "published-after-shutdown"), note(&refused, "unknown-publisher")), (2, 0));
    let text = &refused.notes.iter().find(|n| n.name == "published-after-shutdown").expect("noted").text;
    assert!(text.contains("shut down") && text.contains("nothing was sent"), "{text}");
    assert_eq!((refused.publications.len(), refused.messages.len()), (2, 2), "neither sent nor lost");
    // Where rcl took a later one, it was none of that: its events are missing for another reason.
    let later = tables(&talker_and_listener().process(1).at(10).publish(1).at(20).rclcpp_publish(0, MESSAGE).at(30).publish(3));
    assert_eq!((note(&later, "published-after-shutdown"), note(&later, "unknown-publisher")), (0, 1));
    // A recording that began late knows of no publisher, and rcl took its calls.
    let late = tables(&FileBuilder::new().node(1, "talker").at(10).publish(1));
    assert_eq!((note(&late, "published-after-shutdown"), note(&late, "unknown-publisher")), (0, 1));
}
