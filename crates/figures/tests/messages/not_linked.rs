//! Received messages of which no publication is known: nothing is lost, and nobody is accused.

use super::*;

/// Twenty messages that a talker sends and a listener is called back for; `take` are the listener's events of each
/// before its callback.
fn heard(take: impl Fn(FileBuilder, usize) -> FileBuilder) -> FileBuilder {
    let mut builder = talker_and_listener();
    for n in 0..20 {
        let time = 1_000_000 * (n as i64 + 1);
        builder = builder
            .process(1)
            .at(time)
            .publish(n as i64 + 1)
            .process(2)
            .at(time + 300)
            .rclcpp_executor_execute(SUBSCRIPTION);
        builder = take(builder, n).callback_start(CALLBACK, false).at(time + 400).end_taking();
    }
    builder
        .process(2)
        .at(30_000_000)
        .rclcpp_executor_get_next_ready()
        .rclcpp_executor_wait_for_work(-1)
        .process(1)
        .at(40_000_000)
        .rclcpp_executor_wait_for_work(-1)
}

/// What a run tells of `/chatter`, of which messages were received that cannot be linked.
fn assert_nobody_is_accused(builder: &FileBuilder, unlinked: u64) {
    let tables = tables(builder);
    let summary = tacho_figures::summarise(
        &[tacho_figures::Repeat { tables: &tables, options: Default::default(), info: None }],
        None,
    );
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
    assert_nobody_is_accused(
        &heard(|b, n| if n % 4 == 0 { b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, n as i64 + 1, true) } else { b }),
        15,
    );
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
