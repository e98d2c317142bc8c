//! Simulated time that stands still.

use super::{cases, scene::*};
use tacho_events::testing::FileBuilder;

const MS: i64 = 1_000_000;

/// A simulator that publishes the clock every 10 ms, and whose timer takes `took` each time that `is_slow`.
fn simulator(took: i64, is_slow: fn(i64) -> bool) -> FileBuilder {
    let mut b = FileBuilder::new().node(1, "simulator").publisher("/clock").timer(10 * MS);
    b = b.node(2, "planner").subscription("/clock");
    let mut at = 0;
    for k in 1..120 {
        at += 10 * MS;
        b = b.process(1).at(at).start_timer();
        at += if is_slow(k) { took } else { 0 };
        b = b.at(at + 1).publish(at).at(at + 2).end_timer();
        b = b.process(2).at(at + 10).start_taking(at).at(at + 20).end_taking();
    }
    b
}

#[test]
fn a_clock_that_pauses_names_the_callback_that_its_process_was_in() {
    let [case] = &cases(&simulator(200 * MS, |k| k % 40 == 0), "clock-stalls")[..] else { panic!("one clock") };
    assert_eq!(case.subject, "/simulator /clock");
    let expected = "stood still 2 times for up to 210.0 ms, usually 10.0 ms from one message to the next; meanwhile \
                    /simulator timer 10 ms Talker::tick ran for 200.0 ms";
    assert_eq!(case.evidence, expected);
    assert_eq!(case.cost, "420.0 ms in all, in which no timer of 1 node that follows it was due");
    for (what, run) in [
        ("one pause", simulator(200 * MS, |k| k == 40)),
        ("short ones", simulator(80 * MS, |k| k % 40 == 0)),
        ("a slow clock", simulator(200 * MS, |_| true)),
    ] {
        assert_eq!(cases(&run, "clock-stalls"), [], "{what}");
    }
}
