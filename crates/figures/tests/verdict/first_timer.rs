//! Timers that a chain begins with, and what delays them: no instance of the chain shows it.

use super::*;

/// A sensor of 20 Hz whose executor runs another callback for so long at each second message of its topic, and usually
/// for as long as `usually`.
fn beside(long: i64, usually: i64) -> Tables {
    let mut b = FileBuilder::new().node(SENSOR, "sensor").publisher("/points").timer(50 * MS);
    b = b.subscription("/map").another_subscription(OTHER, "/log");
    b = b.node(PLANNER, "planner").subscription("/points");
    let mut free = 0;
    for k in 0..200 {
        let at = free.max((1_000 + 50 * k) * MS);
        b = b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer();
        b = b.process(PLANNER).at(at + MS).start_taking(at).at(at + 2 * MS + (k % 3) * 10 * US).end_taking();
        free = at + 5 * MS;
        if k % 5 == 0 {
            let took = if k % 20 == 0 { long } else { usually };
            b = b.process(SENSOR).at(at + 2 * MS).callback_start(CALLBACK + OTHER, false);
            b = b.at(at + 2 * MS + took).end_taking_from(OTHER);
            free = free.max(at + 2 * MS + took + 10);
        }
    }
    scene::tables(&b)
}

#[test]
fn the_callback_that_delays_it_is_the_culprit() {
    let blocking = beside(150 * MS, 120 * MS);
    for found in [verdict(&blocking, 0.0), verdict_on_a_full_machine(&blocking)] {
        let culprit = only(&found);
        assert_eq!((culprit.kind, culprit.node.as_deref()), (Some(CauseKind::ExecutorBusy), Some("/sensor")));
        assert_eq!((culprit.lint.as_deref(), culprit.topic.as_deref()), (Some("late-timer"), Some("/log")));
        assert!(culprit.text.contains("takes up to 150 ms and delays /sensor timer 50 ms"), "{}", culprit.text);
    }
}

#[test]
fn what_seldom_takes_long_is_a_culprit_unless_it_may_have_lacked_a_cpu() {
    let seldom = beside(150 * MS, MS);
    assert_eq!(only(&verdict(&seldom, 0.0)).lint.as_deref(), Some("late-timer"));
    assert_eq!(verdict(&seldom, 1.5).culprits, []);
    assert_eq!(verdict(&beside(MS, MS), 0.0).culprits, []);
}
