//! What is sent while a system shuts down: executors end before their processes, and before those that send to them.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::summary::Summary;
use tacho_tables::{Delivery, Tables};

const MS: i64 = 1_000_000;

fn told(tables: &Tables) -> Summary {
    summarise(&[Repeat { tables, options: Default::default(), info: None }], None)
}

/// Publish times in ms of what was lost.
fn lost(tables: &Tables) -> Vec<i64> {
    let lost = tables.messages.iter().filter(|m| m.delivery == Delivery::Lost);
    lost.map(|m| m.publish_ns.get().expect("published") / MS).collect()
}

/// A talker that sends each 10 ms until 300; `hears` is what its listener does with each, of a number and a time.
fn talks(hears: impl Fn(FileBuilder, i64, i64) -> FileBuilder) -> FileBuilder {
    let mut builder = FileBuilder::new()
        .node(1, "talker")
        .publisher("/chatter")
        .timer(10 * MS)
        .node(2, "listener")
        .subscription("/chatter");
    for n in 1..=30 {
        let time = n * 10 * MS;
        builder = builder.process(1).at(time - 1).start_timer().at(time).publish(n).end_timer();
        builder = hears(builder.process(2), n, time);
    }
    builder
}

/// A talker that sends each 10 ms until 300, and a listener that takes them until 100, but for the one of 40. `then` is
/// how it goes on; its process ends at 400.
fn shut_down(then: impl FnOnce(FileBuilder) -> FileBuilder) -> Tables {
    let builder = talks(|listener, n, time| match n {
        1..=3 | 5..=10 => listener
            .at(time + 200)
            .rclcpp_executor_get_next_ready()
            .start_taking(n)
            .at(time + 300)
            .end_taking()
            .at(time + 400)
            .rclcpp_executor_get_next_ready()
            .rclcpp_executor_wait_for_work(-1),
        _ => listener,
    });
    let builder = then(builder.process(2));
    let closed = builder.process(2).thread(2).at(400 * MS).clock_sync(400 * MS, 400 * MS, 50);
    tables(&closed.process(1).at(400 * MS).clock_sync(400 * MS, 400 * MS, 50))
}

#[test]
fn what_is_sent_once_the_subscribers_executor_has_ended_is_not_lost() {
    // ^C wakes the executor, which looks once more; then the node is removed, of which others are told, and that takes
    // its time.
    let after_a_look =
        |b: FileBuilder| b.at(105 * MS).rclcpp_executor_get_next_ready().at(106 * MS).rmw_publish(0x900, 0x901, 0);
    // Or its last wait is the last event of it.
    let after_a_wait = |b: FileBuilder| b.at(106 * MS).rmw_publish(0x900, 0x901, 0);
    // Or it ends after a look, and its thread does nothing that is recorded: no executor is idle without waiting.
    let idle = |b: FileBuilder| b.at(105 * MS).rclcpp_executor_get_next_ready();
    // Or does something a long while later.
    let idle_and_late =
        |b: FileBuilder| b.at(105 * MS).rclcpp_executor_get_next_ready().at(250 * MS).rmw_publish(0x900, 0x901, 0);
    for tables in [shut_down(after_a_look), shut_down(after_a_wait), shut_down(idle), shut_down(idle_and_late)] {
        assert_eq!(lost(&tables), [40]);
        let summary = told(&tables);
        let topic = &summary.topics[0];
        assert_eq!((topic.sent, topic.received, topic.lost), (30, 9, Some(1)));
        let chain = &summary.chains[0];
        assert_eq!((chain.instances, chain.lost), (9, 1));
        assert!(chain.lost_inputs.iter().all(|lost| lost.by != "unmatched"), "{:?}", chain.lost_inputs);
    }
}

#[test]
fn an_executor_that_ended_long_before_its_process_is_told() {
    let told = |lingers_ms: i64| {
        let tables = shut_down(|b| {
            b.at(106 * MS).rmw_publish(0x900, 0x901, 0).at((106 + lingers_ms) * MS).rmw_publish(0x900, 0x901, 0)
        });
        tables.notes.into_iter().find(|note| note.name == "executor-ended").map(|note| note.text)
    };
    assert_eq!(told(500), None, "as a shutdown is");
    let text = told(3_000).expect("a note");
    assert!(text.contains("/listener 3.0 s") && text.contains("no longer spin"), "{text}");
}

/// A listener polls until 7.5 s, its talker sends until 9 s, and both end then.
#[test]
fn a_poller_whose_next_poll_is_not_overdue_has_not_ended() {
    let polled = |period_ms: i64, polls: i64, afterwards: bool| {
        let mut builder = FileBuilder::new()
            .node(1, "talker")
            .publisher("/chatter")
            .timer(100 * MS)
            .node(2, "listener")
            .subscription_of_depth(100, "/chatter")
            .rclcpp_executor_wait_for_work(0);
        for n in 1..=90 {
            builder = builder.process(1).at(n * 100 * MS - 1).start_timer().at(n * 100 * MS).publish(n).end_timer();
        }
        for n in 1..=polls {
            let at = n * period_ms * MS + 1_000;
            builder =
                builder.process(2).at(at).rclcpp_executor_wait_for_work(0).at(at + 10).rclcpp_executor_get_next_ready();
            for message in (n - 1) * period_ms / 100 + 1..=n * period_ms / 100 {
                builder =
                    builder.at(at + 10 * message).start_taking(message).end_taking().rclcpp_executor_get_next_ready();
            }
            // Its loop does other things, too.
            builder = if afterwards { builder.at(at + 1_000).rmw_publish(0x900, 0x901, 0) } else { builder };
        }
        let closed = [1, 2].into_iter().fold(builder, |b, process| {
            b.process(process).thread(90 + process).at(9_010 * MS).clock_sync(9_010 * MS, 9_010 * MS, 50)
        });
        let tables = tables(&closed);
        let ended = tables.notes.iter().find(|note| note.name == "executor-ended").map(|note| note.text.clone());
        (ended, told(&tables).topics[0].lost)
    };
    for afterwards in [false, true] {
        assert_eq!(
            polled(2_500, 3, afterwards),
            (None, Some(0)),
            "its next poll would have come at 10 s, and taken the rest"
        );
        let (ended, _) = polled(500, 15, afterwards);
        assert!(
            ended.as_ref().is_some_and(|text| text.contains("/listener 1.5 s")),
            "one that should have polled thrice: {ended:?}"
        );
    }
}

#[test]
fn an_executor_that_waits_to_the_end_of_its_process_is_there_and_loses() {
    assert_eq!(lost(&shut_down(|b| b)).len(), 30 - 9);
    // What another thread of its process does says nothing of it.
    assert_eq!(lost(&shut_down(|b| b.thread(20).at(106 * MS).rmw_publish(0x900, 0x901, 0))).len(), 30 - 9);
}

#[test]
fn threads_of_one_executor_end_together_though_one_of_them_only_waited_for_its_turn() {
    let tables = shut_down(|b| {
        let b = b
            .thread(21)
            .at(102 * MS)
            .rclcpp_executor_get_next_ready()
            .callback_start(CALLBACK, false)
            .callback_end(CALLBACK);
        b.thread(2).at(106 * MS).rmw_publish(0x900, 0x901, 0)
    });
    assert_eq!(lost(&tables), [40]);
    // One that did something else once, and then waited for its turn while another worked, has not ended.
    let tables = shut_down(|b| {
        let b = b.thread(2).at(101 * MS).rmw_publish(0x900, 0x901, 0);
        b.thread(21)
            .at(302 * MS)
            .rclcpp_executor_get_next_ready()
            .callback_start(CALLBACK, false)
            .callback_end(CALLBACK)
            .rclcpp_executor_get_next_ready()
            .rclcpp_executor_wait_for_work(-1)
    });
    assert_eq!(lost(&tables).len(), 30 - 9 - 1, "but the last, which may be under way");
}

#[test]
fn a_pool_whose_threads_only_run_callbacks_ends_with_the_thread_that_waits() {
    // As rclpy's: another thread waits for work, and hands it to a pool.
    let builder = talks(|listener, n, time| match n {
        1..=3 | 5..=10 => listener
            .thread(2)
            .at(time + 200)
            .rclcpp_executor_get_next_ready()
            .thread(21)
            .at(time + 210)
            .rmw_take(RMW_SUBSCRIPTION, MESSAGE, n, true)
            .callback_start(CALLBACK, false)
            .at(time + 300)
            .end_taking()
            .thread(2)
            .at(time + 310)
            .rclcpp_executor_wait_for_work(-1),
        _ => listener,
    });
    let builder = builder.process(2).thread(2).at(106 * MS).rmw_publish(0x900, 0x901, 0).at(400 * MS).clock_sync(
        400 * MS,
        400 * MS,
        50,
    );
    assert_eq!(lost(&tables(&builder)), [40]);
}

#[test]
fn one_executor_of_a_process_ends_and_another_goes_on() {
    let tables = shut_down(|b| {
        let b = b.at(106 * MS).rmw_publish(0x900, 0x901, 0).thread(21).at(107 * MS).timer(10 * MS);
        (11..=39)
            .fold(b, |b, n| b.thread(21).at(n * 10 * MS).start_timer().end_timer().rclcpp_executor_wait_for_work(-1))
    });
    assert_eq!(lost(&tables), [40]);
}

#[test]
fn a_change_that_no_executor_was_there_to_react_to_has_not_waited() {
    let pending = |tables: &Tables| told(tables).chains[0].reaction_pending_ms.expect("an input without an output");
    // The last change that was taken is that of 100; the one before it that was missed is at 100, too.
    let ended = pending(&shut_down(|b| b.at(106 * MS).rmw_publish(0x900, 0x901, 0)));
    assert!((0.0..=6.1).contains(&ended), "{ended}");
    let waits = pending(&shut_down(|b| b));
    assert!((299.0..=301.0).contains(&waits), "{waits}: it was there and did not react");
}

#[test]
fn of_a_trace_nothing_that_follows_a_process_is_lost_on_a_chain() {
    // LTTng does not tell how a process ended: the listener's last event is of 110, the talker's of 300.
    let builder = talks(|listener, n, time| match n {
        1..=10 => listener.at(time + 200).start_taking(n).at(time + 300).end_taking(),
        _ => listener,
    });
    let builder = builder.process(2).at(110 * MS).rclcpp_executor_wait_for_work(-1);
    let builder =
        [1, 2].into_iter().fold(builder, |builder, pid| builder.process(pid).header(|header| header.closed = None));
    let tables = tables(&builder);
    let summary = told(&tables);
    assert_eq!((lost(&tables), summary.topics[0].lost, summary.chains[0].lost), (vec![], Some(0), 0));
    let ended = summary.chains[0].lost_inputs.iter().find(|lost| lost.kind == tacho_tables::CauseKind::Ended);
    assert_eq!(ended.map(|lost| lost.inputs), Some(19), "sent at 120 to 300 ms");
}
