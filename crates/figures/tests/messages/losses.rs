//! What is lost, to whom, what may still be under way, and what lies outside of the window.

use super::*;

/// Ten messages from one of our own publishers to two of our own subscribers, 100 ns apart; `taken(subscriber,
/// sequence)`.
fn ten_messages(taken: impl Fn(u32, u64) -> bool) -> FileBuilder {
    let mut builder = FileBuilder::new()
        .node(1, "source")
        .publisher("/points")
        .node(2, "left")
        .subscription("/points")
        .node(3, "right")
        .subscription("/points");
    for sequence in 0..10u64 {
        let time = 1_000 + 100 * sequence as i64;
        builder = builder.process(1).at(time).node_publish(PUBLISHER, 1, sequence, 8).rcl_publish(PUBLISHER, MESSAGE);
        for pid in [2, 3] {
            if taken(pid, sequence) {
                builder = builder
                    .process(pid)
                    .at(time + 20)
                    .rclcpp_executor_execute(SUBSCRIPTION)
                    .rclcpp_take(MESSAGE)
                    .callback_start(CALLBACK, false)
                    .node_take(SUBSCRIPTION, 1, sequence, time)
                    .at(time + 30)
                    .end_taking();
            }
        }
    }
    // The run ends in order a while later.
    builder.process(1).at(10_000).rclcpp_executor_wait_for_work(0)
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
            builder = builder
                .process(2)
                .at(time + 90)
                .rclcpp_executor_execute(SUBSCRIPTION)
                .rclcpp_take(MESSAGE)
                .callback_start(CALLBACK, false)
                .node_take(SUBSCRIPTION, 1, sequence, time)
                .at(time + 95)
                .end_taking();
        }
    }
    let tables = tables(&builder);
    assert_eq!(lost(&tables), [(1, Some(2))]);
    assert_eq!(tables.messages.len(), 4);
}

/// A message every 100 ns; that of sequence 2 is taken 1,500 ns late, and nothing after it. The queue keeps 10.
fn stands_still(messages: u64, ends_ns: i64) -> Tables {
    let mut builder = talker_and_listener();
    for sequence in 0..messages {
        let time = 1_000 + 100 * sequence as i64;
        builder = builder.process(1).at(time).node_publish(PUBLISHER, 1, sequence, 8).rcl_publish(PUBLISHER, MESSAGE);
    }
    for (sequence, late_ns) in [(0, 20), (1, 20), (2, 1_500)] {
        let time = 1_000 + 100 * sequence as i64;
        builder = builder
            .process(2)
            .at(time + late_ns)
            .rclcpp_executor_execute(SUBSCRIPTION)
            .rclcpp_take(MESSAGE)
            .callback_start(CALLBACK, false)
            .node_take(SUBSCRIPTION, 1, sequence, time)
            .at(time + late_ns + 10)
            .end_taking();
    }
    tables(&builder.process(2).at(ends_ns).clock_sync(ends_ns, ends_ns, 50))
}

#[test]
fn what_stands_in_the_queue_of_a_subscription_that_stood_still_is_not_lost() {
    // Taken last at 2,700 ns, after 1,500 ns at the head of the queue: so may the next one stand there at the end.
    let tables = stands_still(12, 4_000);
    assert_eq!(lost(&tables), []);
    assert_eq!(tables.endpoints.get(1).and_then(|e| e.pending), Some(9));
    // The queue keeps the last ten of those that came since.
    let tables = stands_still(15, 4_000);
    assert_eq!(lost(&tables), [(1, Some(3)), (1, Some(4))]);
    assert!(tables.messages.iter().all(|m| m.lost_in.is_none() == (m.delivery != Delivery::Lost)));
    // By then it would have taken them.
    assert_eq!(lost(&stands_still(12, 9_000)).len(), 9);
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
    let summary = tacho_figures::summarise(
        &[tacho_figures::Repeat { tables: &tables, options: Default::default(), info: None }],
        None,
    );
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
