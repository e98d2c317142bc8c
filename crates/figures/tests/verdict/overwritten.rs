//! Messages that a queue overwrote while its executor was in another callback, or that were lost on the way.

use super::*;
use tacho_tables::row::numbered;
use tacho_tables::{Delivery, LostIn, Message};

/// A sensor of 50 Hz, and a planner that takes each message at once, but for the time in which its executor is in
/// `/map`: for 600 ms, twice. Then it takes the ten that its queue kept.
fn blocked(is_recorded: bool) -> Tables {
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
    scene::tables(&b)
}

fn overwritten(verdict: &Verdict) -> &Culprit {
    let lost = |culprit: &&Culprit| culprit.kind == Some(CauseKind::Overwritten);
    verdict.culprits.iter().find(lost).unwrap_or_else(|| panic!("{verdict:#?}"))
}

#[test]
fn the_callback_that_ran_meanwhile_is_named() {
    let verdict_of = |is_recorded| verdict(&blocked(is_recorded), 0.0);
    let verdict = verdict_of(true);
    let culprit = overwritten(&verdict);
    assert_eq!((culprit.node.as_deref(), culprit.topic.as_deref()), (Some("/planner"), Some("/points")));
    assert_eq!(culprit.callback.as_deref(), Some("/planner /map Listener::take"));
    assert!(culprit.text.contains("(executor busy with ") && culprit.text.ends_with("up to 600 ms)."), "{culprit:#?}");
    assert!(culprit.next.contains("callback group of its own"), "{}", culprit.next);
    let unknown = verdict_of(false);
    let culprit = overwritten(&unknown);
    assert_eq!(culprit.callback, None);
    assert!(culprit.next.starts_with("A greater depth for /points at /planner"), "{}", culprit.next);
}

#[test]
fn a_callback_that_ran_meanwhile_for_want_of_a_cpu_is_not_to_blame() {
    let with = |runnable_ns: i64, rows: bool| {
        let mut tables = blocked(true);
        tables.executions.iter_mut().for_each(|row| row.runnable_ns = 0.into());
        let of_map = |row: &&mut Execution| tables.callbacks[row.callback].topic.as_deref() == Some("/map");
        tables.executions.iter_mut().filter(of_map).for_each(|row| row.runnable_ns = runnable_ns.into());
        let of_map = |row: &Execution| tables.callbacks[row.callback].topic.as_deref() == Some("/map");
        let lacked = numbered(&tables.executions).filter(|(_, row)| rows && of_map(row));
        let lacked: Vec<_> = lacked.map(|(row, _)| without_a_cpu(&tables, row, runnable_ns)).collect();
        tables.preemptions = lacked.into();
        overwritten(&verdict(&tables, 1.5)).clone()
    };
    let lacked = with(500 * MS, false);
    let words = " could run and has no CPU for 83 % of its time, 500 ms of 600 ms a call";
    assert!(lacked.text.contains(words) && !lacked.text.contains("executor busy"), "{}", lacked.text);
    assert!(lacked.text.ends_with("a call (other processes used 1.50 CPUs on the average)."), "{}", lacked.text);
    assert!(lacked.next.contains("give /planner CPUs of its own"), "{}", lacked.next);
    assert_eq!((lacked.callback, lacked.function), (None, None));
    let by_name = with(500 * MS, true);
    assert!(by_name.text.ends_with(&format!("{words}.")), "{}", by_name.text);
    assert!(by_name.next.starts_with("Keep burner off the CPU of /planner"), "{}", by_name.next);
    // It computes for longer than the queue keeps messages for, 200 ms, too.
    for lacked in [100, 250] {
        let own = with(lacked * MS, false);
        assert!(own.text.contains("(executor busy with ") && !own.text.contains("no CPU"), "{}", own.text);
    }
}

#[test]
fn a_callback_that_keeps_up_fills_no_queue_however_much_it_lacked_a_cpu() {
    // What the executor did meanwhile is not recorded; the callback that takes from the queue has 1 ms of 20.
    let mut tables = blocked(false);
    tables.executions.iter_mut().for_each(|row| row.runnable_ns = (600 * US).into());
    let verdict = verdict(&tables, 1.5);
    let culprit = overwritten(&verdict);
    assert!(culprit.text.ends_with("; it keeps 10."), "{}", culprit.text);
}

#[test]
fn a_callback_that_would_keep_up_with_a_cpu_is_no_reason_for_a_greater_depth() {
    // It takes a message of three, the newest, and has a CPU for a quarter of its time.
    let mut b = FileBuilder::new().node(SENSOR, "sensor").publisher("/points").timer(20 * MS);
    b = b.node(PLANNER, "planner").subscription("/points");
    for k in 0..250 {
        let at = (1_001 + 20 * k) * MS;
        b = b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer();
        if k % 3 == 0 {
            b = b.process(PLANNER).at(at + MS).start_taking(at).at(at + 57 * MS).end_taking();
        }
    }
    let mut tables = scene::tables(&b);
    tables.endpoints.iter_mut().for_each(|end| end.depth = Some(1));
    let of_points = |message: &&mut Message| message.delivery == Delivery::Lost;
    tables.messages.iter_mut().filter(of_points).for_each(|row| row.lost_in = Some(LostIn::SubscriptionQueue));
    let own = |row: &&mut Execution| tables.callbacks[row.callback].topic.as_deref() == Some("/points");
    tables.executions.iter_mut().filter(own).for_each(|row| row.runnable_ns = (42 * MS).into());
    for row in tables.causes.iter_mut().filter(|row| row.kind == CauseKind::Lost) {
        (row.kind, row.by) = (CauseKind::Overwritten, "queue of depth 1 of /planner".into());
    }
    let verdict = verdict(&tables, 1.5);
    let culprit = overwritten(&verdict);
    let words = "it keeps 1: take could run and has no CPU for 75 % of its time, 42.0 ms of 56.0 ms a call (other";
    assert!(culprit.text.contains(words), "{}", culprit.text);
    assert!(culprit.next.contains("give /planner CPUs of its own"), "{}", culprit.next);
    // A queue of the publisher is nobody's fault at the planner.
    for row in tables.causes.iter_mut().filter(|row| row.kind == CauseKind::Overwritten) {
        row.by = "publisher's queue of depth 10 of /sensor".into();
    }
    let verdict = super::verdict(&tables, 1.5);
    let culprit = overwritten(&verdict);
    assert!(culprit.text.starts_with("The publisher's queue of depth 10 of /sensor overwrote "), "{}", culprit.text);
    assert!(!culprit.text.contains("no CPU"), "{}", culprit.text);
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
