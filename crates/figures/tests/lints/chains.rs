//! Lints on chains and their links.

use super::*;
use tacho_tables::row::Row;

#[test]
fn deadline_missed() {
    let mut tables = scene::tables(&take(send(sensor_and(10), 100), 110, 100, 5));
    tables.chains[0].deadline_ns = Some(14);
    let found = cases_of(&tables, None, "deadline-missed");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].evidence.starts_with("1 of 1 instances took longer than 14 ns; the longest 15 ns"),
        "{}",
        found[0].evidence
    );
    assert_eq!(summary_of(&tables, None).chains[0].late_instances, Some(1));
    tables.chains[0].deadline_ns = Some(15);
    assert_eq!(cases_of(&tables, None, "deadline-missed"), []);
    assert_eq!(summary_of(&tables, None).chains[0].late_instances, Some(0));
}

#[test]
fn a_callback_that_lacked_a_cpu_is_no_case_if_its_chains_keep_their_deadlines() {
    let mut tables = scene::tables(&take(send(sensor_and(10), 100), 110, 100, 5));
    let last = tables.executions.numbered().map(|(row, _)| row).next_back().unwrap();
    tables.executions[last].runnable_ns = 4.into();
    let preempted = |tables: &Tables| cases_of(tables, None, "preempted-callback").len();
    assert_eq!(preempted(&tables), 1, "nobody states a deadline");
    tables.chains[0].deadline_ns = Some(14);
    assert_eq!(preempted(&tables), 1, "it is missed");
    tables.chains[0].deadline_ns = Some(15);
    assert_eq!(preempted(&tables), 0);
    let mut losing = tables.clone();
    let mut message = losing.messages[Row::new(0)];
    (message.delivery, message.execution) = (tacho_tables::Delivery::Lost, None);
    losing.messages.push(message);
    assert_eq!(preempted(&losing), 1, "its node lost an input");
    tables.chains[0].callbacks = vec!["/other /topic".into()];
    assert_eq!(preempted(&tables), 1, "its own chain has none");
}

#[test]
fn uncertain_link() {
    // What /map has to do with the output is a guess: it is published when /points come.
    let system = |answers: u64| {
        FileBuilder::new()
            .node(1, "sensor")
            .publisher("/points")
            .timer(100)
            .node(2, "map")
            .publisher("/map")
            .timer(100)
            .node(3, "match")
            .subscription("/points")
            .another_subscription(OTHER, "/map")
            .publisher("/pose")
            .node(4, "sink")
            .subscription("/pose")
            .process(2)
            .at(100)
            .start_timer()
            .at(101)
            .publish(1)
            .end_timer()
            .process(3)
            .at(110)
            .start_taking_from(OTHER, 1)
            .with(|b| if answers == OTHER { b.publish(3) } else { b })
            .at(112)
            .end_taking_from(OTHER)
            .process(1)
            .at(200)
            .start_timer()
            .at(201)
            .publish(2)
            .end_timer()
            .process(3)
            .at(210)
            .start_taking(2)
            .with(|b| if answers == 0 { b.publish(3) } else { b })
            .at(212)
            .end_taking()
            .process(4)
            .at(230)
            .start_taking(3)
            .at(231)
            .end_taking()
    };
    let found = cases(&system(0), "uncertain-link");
    assert_eq!(found.iter().map(|c| c.subject.as_str()).collect::<Vec<_>>(), ["/match /map -> /pose"]);
    assert!(found[0].cost.contains("map to sink"), "{}", found[0].cost);
    let alone = FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(100)
        .node(2, "filter")
        .subscription("/points")
        .publisher("/out")
        .node(3, "sink")
        .subscription("/out")
        .process(1)
        .at(100)
        .start_timer()
        .at(101)
        .publish(1)
        .end_timer()
        .process(2)
        .at(110)
        .start_taking(1)
        .at(111)
        .publish(2)
        .end_taking()
        .process(3)
        .at(120)
        .start_taking(2)
        .at(121)
        .end_taking();
    assert_eq!(cases(&alone, "uncertain-link"), []);
}

#[test]
fn paths_of_one_name_are_one_case_told_as_the_worst() {
    let mut tables = scene::tables(&take(send(sensor_and(10), 100), 110, 100, 5));
    let worse = tables.instances[0].end_to_end_ns + 7;
    tables.chains[0].deadline_ns = Some(14);
    tables.chains.push(tables.chains[0].clone());
    tables.chains.push(tables.chains[0].clone());
    let instance = tables.instances[0];
    tables.instances.push(tacho_tables::Instance { chain: Row::new(2), end_to_end_ns: worse, ..instance });
    let found = cases_of(&tables, None, "deadline-missed");
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].evidence,
        "1 of 1 instances took longer than 14 ns; the longest 22 ns (on the worst of 2 such paths, of 3 with this name)"
    );
    assert_eq!(found[0].cost, "up to 8 ns too late");
}
