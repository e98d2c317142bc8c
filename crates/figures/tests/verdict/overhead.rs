//! Executors that compute so much that every message waits for them.

use super::*;
use tacho_tables::row::numbered;

/// A sensor of 20 Hz; a control that has each message 5 ms after it was sent, and whose executor computes for so long
/// between two callbacks.
fn waking(executor_cpu_ns: Option<i64>) -> Verdict {
    let builder = FileBuilder::new().node(SENSOR, "sensor").publisher("/points").timer(50 * MS);
    let events = (0..200).fold(builder.node(CONTROL, "control").subscription("/points"), |b, k| {
        let at = (1_000 + 50 * k) * MS;
        let b = b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer();
        let taken = at + 5 * MS + 10 * US * (k % 3);
        b.process(CONTROL).at(taken).start_taking(at).at(taken + 100 * US).end_taking()
    });
    let mut tables = scene::tables(&events);
    let on_the_way = tables.causes.iter_mut().filter(|cause| cause.kind == CauseKind::Transport);
    on_the_way.for_each(|cause| (cause.kind, cause.by) = (CauseKind::WakeUp, "/control".into()));
    tables.callbacks.iter_mut().for_each(|callback| callback.location = Some("/control.py:3".into()));
    let of_control = |topic: &Option<String>| topic.as_deref() == Some("/points");
    let control = numbered(&tables.callbacks).find(|(_, of)| of_control(&of.topic)).map(|(row, _)| row);
    for execution in tables.executions.iter_mut().filter(|execution| Some(execution.callback) == control) {
        (execution.executor_cpu_ns, execution.cpu_ns) = (executor_cpu_ns.into(), (100 * US).into());
    }
    verdict(&tables, 0.0)
}

#[test]
fn an_executor_that_computes_more_than_its_callbacks_is_named_for_usual_wake_ups() {
    let found = waking(Some(4 * MS));
    let [culprit] = &found.culprits[..] else { panic!("{}", found.text) };
    assert_eq!((culprit.kind, culprit.node.as_deref()), (Some(CauseKind::WakeUp), Some("/control")));
    assert!(culprit.text.starts_with("Outputs usually spend 5.0"), "{}", culprit.text);
    assert!(culprit.next.contains("computes for 4.0 ms between two callbacks"), "{}", culprit.next);
    assert!(culprit.next.contains("EventsExecutor"), "{}", culprit.next);
    // As long as its callbacks, or not known: a wake-up of 5 ms accuses nobody.
    assert_eq!(waking(Some(200 * US)).culprits, []);
    assert_eq!(waking(None).culprits, []);
}
