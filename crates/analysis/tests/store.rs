//! Tables and summaries survive their files.

mod scene;

use scene::*;
use tacho_analysis::{analyse_and_store, store};
use tacho_events::bag::{BagMessage, BagTopic};
use tacho_events::testing::FileBuilder;
use tacho_events::RunDirectory;

fn run() -> FileBuilder {
    FileBuilder::new()
        .node(1, "sensor").publisher("/points").timer(1_000)
        .node(2, "ünï\"code").subscription("/points").publisher("/unheard")
        .process(1).at(100).start_timer().at(110).publish(1).end_timer()
        .process(2).killed().dropped(3).at(150).start_taking(1).at(160).publish(2).at(180).end_taking().at(200).start_taking(9)
}

#[test]
fn every_row_and_every_absence_comes_back_from_parquet() {
    let folder = tempfile::tempdir().expect("folder");
    let directory = run().write(folder.path()).expect("write");
    let tables = tacho_analysis::analyse(&directory, None, &mut |_| {}).expect("analyse");
    assert!(!tables.hops.is_empty() && !tables.notes.is_empty() && tables.executions.iter().any(|e| e.end_ns.is_none()));
    store::write(&directory.tables(), &tables).expect("write");
    assert_eq!(store::read(&directory.tables()).expect("read"), tables);
    let left: Vec<_> = std::fs::read_dir(directory.tables()).expect("tables").map(|e| e.expect("entry").file_name()).collect();
    assert!(left.iter().all(|n| n.to_string_lossy().ends_with(".parquet")), "{left:?}");
    assert_eq!(left.len(), 23);
}

#[test]
fn empty_tables_and_empty_lists_come_back_too() {
    let folder = tempfile::tempdir().expect("folder");
    let mut tables = tacho_analysis::tables::Tables::default();
    store::write(folder.path(), &tables).expect("write");
    assert_eq!(store::read(folder.path()).expect("read"), tables);
    for path in [vec![], vec!["/a".to_string()], vec![], vec!["/a".into(), "".into()]] {
        tables.chains.push(tacho_analysis::tables::Chain { name: "c".into(), path, critical: false, lost: 1, evidence: String::new(), deadline_ns: None });
    }
    tables.states = vec![tacho_analysis::tables::NodeState { node: 3, from_ns: -5, state: "inactive".into() }];
    let message = BagMessage { topic: 0, log_ns: 7, publish_ns: None, stamp_ns: Some(-1), size_bytes: 4, sequence: Some(9), stretch: 1 };
    tables.bag_topics = vec![BagTopic { name: "/imu".into(), datatype: "a/msg/Imu".into(), has_header: Some(true) }];
    tables.bag_messages.extend([message, BagMessage { publish_ns: Some(5), stamp_ns: None, sequence: None, ..message }]);
    store::write(folder.path(), &tables).expect("write");
    assert_eq!(store::read(folder.path()).expect("read"), tables);
    tables.append(store::read(folder.path()).expect("read"));
    assert_eq!(tables.bag_messages.iter().map(|row| row.topic).collect::<Vec<_>>(), [0, 0, 1, 1]);
}

#[test]
fn a_table_of_another_shape_is_an_error_that_names_file_and_column() {
    let folder = tempfile::tempdir().expect("folder");
    store::write(folder.path(), &Default::default()).expect("write");
    let directory = run().write(folder.path()).expect("run");
    let tables = tacho_analysis::analyse(&directory, None, &mut |_| {}).expect("analyse");
    store::write(folder.path(), &tables).expect("write");
    std::fs::copy(folder.path().join("nodes.parquet"), folder.path().join("executions.parquet")).expect("copy");
    let error = store::read(folder.path()).expect_err("not an executions table").to_string();
    assert!(error.contains("executions.parquet") && error.contains("no column callback"), "{error}");
}

#[test]
fn a_run_with_repeats_gets_tables_in_each_and_one_summary() {
    let folder = tempfile::tempdir().expect("folder");
    let directory = RunDirectory::new(folder.path());
    for index in 0..2 {
        run().write(directory.repeat(index).path()).expect("write");
    }
    let summary = analyse_and_store(&directory, None, &mut |_| {}).expect("analyse");
    assert_eq!(store::read_summary(&directory).expect("summary"), summary);
    assert_eq!(summary.chains[0].instances, 2);
    for index in 0..2 {
        assert_eq!(store::read(&directory.repeat(index).tables()).expect("tables").instances.len(), 1);
        assert_eq!(store::read_summary(&directory.repeat(index)).expect("summary").chains[0].instances, 1);
    }
    assert_eq!(tacho_analysis::figures_of(&directory, None, &mut |_| {}).expect("figures"), summary);
    let all = store::read_run(&directory).expect("tables of all repeats");
    assert_eq!((all.instances.len(), all.chains.len(), all.processes.len()), (2, 1, 4));
    let nothing = tempfile::tempdir().expect("folder");
    let error = analyse_and_store(&RunDirectory::new(nothing.path()), None, &mut |_| {}).expect_err("no run");
    assert!(error.to_string().contains("expected a run directory"), "{error}");
}
