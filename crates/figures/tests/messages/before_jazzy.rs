//! Releases before Jazzy: links by the order of publications and timestamps.

use super::*;

/// A talker and a listener of a release before Jazzy. CLOCK_REALTIME stands 1 s ahead of CLOCK_MONOTONIC; `stamps` are
/// on the latter. The listener takes each message 500 us after its rmw_publish.
fn of_older_release(sent: &[i64], stamps: &[i64]) -> Tables {
    let mut builder = talker_and_listener();
    for pid in [1, 2] {
        builder = builder.process(pid).header(|h| h.start.realtime_ns = 1_000_000_000);
    }
    for (time, stamp) in sent.iter().zip(stamps) {
        builder = builder
            .process(1)
            .at(*time)
            .rcl_publish(PUBLISHER, MESSAGE)
            .at(time + 5)
            .rmw_publish(0, MESSAGE, 0)
            .process(2)
            .at(time + 500_000)
            .start_taking(1_000_000_000 + stamp)
            .at(time + 500_100)
            .end_taking();
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
    let linked: Vec<_> = tables.messages.iter().filter_map(|message| message.publish_ns.get()).collect();
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
    assert!(tables.messages.iter().all(|message| message.publish_ns.get().is_none()));
    assert_eq!(
        tables.notes.iter().find(|note| note.name == "order-of-timestamps-unknown").map(|note| note.count),
        Some(20)
    );
    assert_eq!(lost(&tables), [], "what cannot be linked is not lost");
    assert!(tables.notes.iter().all(|note| note.name != "never-taken"), "nor never taken");
}
