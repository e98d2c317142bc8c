//! Nodes that start later than the sensor.

use super::*;

/// A sensor of 10 Hz, and a planner that starts after it.
fn starting_at(start_ms: i64) -> Verdict {
    let mut b = FileBuilder::new().node(SENSOR, "sensor").publisher("/points").timer(100 * MS);
    b = b.node(PLANNER, "planner").at(start_ms * MS).subscription("/points");
    for k in 0..60 {
        let at = (1_000 + 100 * k) * MS;
        b = b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer();
        if at > start_ms * MS {
            b = b.process(PLANNER).at(at + MS).start_taking(at).at(at + 2 * MS + (k % 3) * 10 * US).end_taking();
        }
    }
    verdict(&scene::tables(&b), 0.0)
}

#[test]
fn a_node_that_missed_much_of_its_input_since_it_came_late_is_named() {
    let late = starting_at(3_050);
    let culprit = only(&late);
    assert_eq!((culprit.node.as_deref(), culprit.topic.as_deref()), (Some("/planner"), Some("/points")));
    assert_eq!((culprit.kind, culprit.instances), (Some(CauseKind::Unmatched), 21));
    assert!(
        culprit.text.starts_with("/planner came late, 2.0 s after the first message of /points: 21 of 60 were sent"),
        "{}",
        culprit.text
    );
    assert_eq!(starting_at(1_450).culprits, [], "half a second");
}
