//! Messages that a queue overwrote while its executor was in another callback, or that were lost on the way.

use super::*;

/// A sensor of 50 Hz, and a planner that takes each message at once, but for the time in which its executor is in
/// `/map`: for 600 ms, twice. Then it takes the ten that its queue kept.
fn blocked(is_recorded: bool) -> Verdict {
    let blocks = [2_000, 4_000].map(|from| (from * MS, (from + 600) * MS));
    let block_at = |at: i64| blocks.iter().find(|block| block.0 <= at && at < block.1);
    let mut b = FileBuilder::new().node(SENSOR, "sensor").publisher("/points").timer(20 * MS);
    b = b.node(PLANNER, "planner").subscription("/points").another_subscription(OTHER, "/map");
    for k in 0..250 {
        let at = (1_001 + 20 * k) * MS;
        b = b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer();
        let Some(block) = block_at(at) else {
            b = b.process(PLANNER).at(at + MS).start_taking(at).at(at + 2 * MS).end_taking();
            continue;
        };
        if block_at(at - 20 * MS).is_none() && is_recorded {
            b = b.process(PLANNER).at(block.0).callback_start(CALLBACK + OTHER, false);
            b = b.at(block.1).end_taking_from(OTHER);
        }
        let behind = (block.1 - at) / (20 * MS);
        if behind < 10 {
            let taken = block.1 + (10 - behind) * 2 * US;
            b = b.process(PLANNER).at(taken).start_taking(at).at(taken + US).end_taking();
        }
    }
    verdict(&scene::tables(&b), 0.0)
}

#[test]
fn the_callback_that_ran_meanwhile_is_named() {
    let verdict = blocked(true);
    let lost = |culprit: &&Culprit| culprit.kind == Some(CauseKind::Overwritten);
    let culprit = verdict.culprits.iter().find(lost).unwrap_or_else(|| panic!("{verdict:#?}"));
    assert_eq!((culprit.node.as_deref(), culprit.topic.as_deref()), (Some("/planner"), Some("/points")));
    assert_eq!(culprit.callback.as_deref(), Some("/planner /map Listener::take"));
    assert!(culprit.text.contains("(executor busy with ") && culprit.text.ends_with("up to 600 ms)."), "{culprit:#?}");
    assert!(culprit.next.contains("callback group of its own"), "{}", culprit.next);
    let unknown = blocked(false);
    let culprit = unknown.culprits.iter().find(lost).unwrap_or_else(|| panic!("{unknown:#?}"));
    assert_eq!(culprit.callback, None);
    assert!(culprit.next.starts_with("A greater depth for /points at /planner"), "{}", culprit.next);
}

/// A planner that takes each message at once, but for every fifth, which it never sees.
fn lossy(reliable: bool) -> Tables {
    let mut b = FileBuilder::new().node(SENSOR, "sensor").publisher("/points").timer(20 * MS);
    b = b.node(PLANNER, "planner").subscription("/points");
    for k in 0..250 {
        let at = (1_001 + 20 * k) * MS;
        b = b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer();
        if k % 5 != 3 {
            b = b.process(PLANNER).at(at + MS).start_taking(at).at(at + 2 * MS).end_taking();
        }
    }
    let mut tables = scene::tables(&b);
    tables.endpoints.iter_mut().for_each(|end| end.reliable = Some(reliable));
    tables
}

#[test]
fn reliable_qos_is_not_the_advice_to_who_has_it() {
    for (reliable, expected) in [(false, "Reliable QoS for /points"), (true, "Both ends are reliable: ")] {
        let verdict = verdict(&lossy(reliable), 0.0);
        let lost = verdict.culprits.iter().find(|culprit| culprit.kind == Some(CauseKind::Lost));
        let lost = lost.unwrap_or_else(|| panic!("{verdict:#?}"));
        assert!(
            lost.text.starts_with("50 inputs of /points, 20 % of all were lost on the way to /planner"),
            "{lost:?}"
        );
        assert!(lost.next.starts_with(expected), "{}", lost.next);
    }
}
