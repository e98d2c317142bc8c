//! Tables and summaries survive their files.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::types::Type;
use scene::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use tacho_events::bag::{BagMessage, BagTopic};
use tacho_events::testing::FileBuilder;
use tacho_events::RunDirectory;
use tacho_figures::analyse_and_store;
use tacho_tables::row::Row;
use tacho_tables::{store, Note, Slowdown, Tables};

fn run() -> FileBuilder {
    FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(1_000)
        .node(2, "ünï\"code")
        .subscription("/points")
        .publisher("/unheard")
        .process(1)
        .at(100)
        .start_timer()
        .at(110)
        .publish(1)
        .end_timer()
        .process(2)
        .killed()
        .dropped(3)
        .at(150)
        .start_taking(1)
        .at(160)
        .publish(2)
        .at(180)
        .end_taking()
        .at(200)
        .start_taking(9)
}

#[test]
fn every_row_and_every_absence_comes_back_from_parquet() {
    let folder = tempfile::tempdir().expect("folder");
    let directory = run().write(folder.path()).expect("write");
    let mut tables = tacho_analysis::analyse(&directory, None, &mut |_| {}).expect("analyse");
    tables.slowdowns.push(Slowdown {
        process: Row::new(1),
        tid: 2,
        from_ns: 150,
        to_ns: 180,
        callbacks_factor: 1.5,
        steps_factor: 1.625,
        executions: 7,
        callbacks: 3,
        longer_ns: -4,
    });
    assert!(
        !tables.hops.is_empty()
            && !tables.notes.is_empty()
            && tables.executions.iter().any(|e| e.end_ns.get().is_none())
    );
    store::write(&directory.tables(), &tables).expect("write");
    assert_eq!(store::read(&directory.tables()).expect("read"), tables);
    let left: Vec<_> =
        std::fs::read_dir(directory.tables()).expect("tables").map(|e| e.expect("entry").file_name()).collect();
    assert!(left.iter().all(|n| n.to_string_lossy().ends_with(".parquet")), "{left:?}");
    assert_eq!(left.len(), 26);
}

/// A column as docs/tables.md describes it: what it is called, and its type.
type Described = (String, String);

/// The tables of docs/tables.md with their columns, in order.
fn documented() -> BTreeMap<String, Vec<Described>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let text = std::fs::read_to_string(page).expect("docs/tables.md");
    let mut tables = BTreeMap::new();
    for section in text.split("\n## ").skip(1) {
        let (name, rest) = section.split_once('\n').expect("a heading");
        let column = |line: &str| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            let (column, kind, what) = (cells.next()?, cells.next()?, cells.next()?);
            assert!(what.len() > 5, "{name}: {line}");
            Some((column.trim_end_matches('`').to_owned(), kind.to_owned()))
        };
        tables.insert(name.to_owned(), rest.lines().filter_map(column).collect());
    }
    tables
}

/// A column of a Parquet file in the words of docs/tables.md.
fn described(field: &Type, rows_of: &serde_json::Value) -> Described {
    let kind = match (rows_of[field.name()].as_str(), field) {
        (Some(table), _) => format!("`{table}.row_id`"),
        (None, Type::GroupType { .. }) => "list of text".into(),
        (None, Type::PrimitiveType { physical_type, basic_info, .. }) => {
            match (physical_type, basic_info.logical_type_ref()) {
                (PhysicalType::BYTE_ARRAY, _) => "text",
                (PhysicalType::DOUBLE, _) => "double",
                (PhysicalType::BOOLEAN, _) => "boolean",
                (PhysicalType::INT32, Some(_)) => "uint32",
                (PhysicalType::INT64, Some(_)) => "uint64",
                (PhysicalType::INT64, None) => "int64",
                other => panic!("{}: {other:?}", field.name()),
            }
            .into()
        }
    };
    let absent = if field.get_basic_info().repetition() == Repetition::OPTIONAL { ", or absent" } else { "" };
    (field.name().to_owned(), kind + absent)
}

#[test]
fn the_page_of_tables_has_each_table_and_column_as_files_have_them() {
    let folder = tempfile::tempdir().expect("folder");
    store::write(folder.path(), &Tables::default()).expect("write");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder.path()).expect("tables") {
        let path = entry.expect("entry").path();
        let reader = SerializedFileReader::new(File::open(&path).expect("open")).expect("table");
        let file = reader.metadata().file_metadata();
        let metadata = file.key_value_metadata().expect("metadata").iter().find(|pair| pair.key == "tachograph");
        let metadata = metadata.and_then(|pair| pair.value.as_deref()).expect("tachograph");
        let metadata: serde_json::Value = serde_json::from_str(metadata).expect("JSON");
        let mut columns = file.schema().get_fields().iter().map(|field| described(field, &metadata["rows_of"]));
        assert_eq!(columns.next(), Some(("row_id".into(), "uint32".into())));
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        found.insert(name, columns.collect::<Vec<_>>());
    }
    assert_eq!(documented(), found);
}

#[test]
fn rows_have_their_numbers_across_groups() {
    let folder = tempfile::tempdir().expect("folder");
    let notes = (0..140_000).map(|number| Note { name: "n".into(), count: number, text: String::new() }).collect();
    store::write(folder.path(), &Tables { notes, ..Tables::default() }).expect("write");
    let path = folder.path().join("notes.parquet");
    let reader = SerializedFileReader::new(File::open(&path).expect("open")).expect("table");
    assert!(reader.num_row_groups() > 1);
    for (number, row) in reader.get_row_iter(None).expect("rows").enumerate() {
        let row = row.expect("a row");
        assert_eq!(
            (row.get_uint(0).expect("row_id"), row.get_ulong(2).expect("count")),
            (number as u32, number as u64)
        );
    }
    let plain = 4 * 140_000;
    let column = |group: usize| reader.metadata().row_group(group).column(0).compressed_size();
    let stored: i64 = (0..reader.num_row_groups()).map(column).sum();
    assert!(stored < plain / 50, "{stored} bytes of numbers that follow each other");
}

#[test]
fn empty_tables_and_empty_lists_come_back_too() {
    let folder = tempfile::tempdir().expect("folder");
    let mut tables = tacho_tables::Tables::default();
    store::write(folder.path(), &tables).expect("write");
    assert_eq!(store::read(folder.path()).expect("read"), tables);
    for path in [vec![], vec!["/a".to_string()], vec![], vec!["/a".into(), "".into()]] {
        tables.chains.push(tacho_tables::Chain {
            name: "c".into(),
            path,
            critical: false,
            lost: 1,
            evidence: String::new(),
            deadline_ns: None,
            until_ns: None,
            guessed_at: Vec::new(),
            callbacks: Vec::new(),
        });
    }
    tables.states =
        vec![tacho_tables::NodeState { node: tacho_tables::row::Row::new(3), from_ns: -5, state: "inactive".into() }];
    let message = BagMessage {
        topic: 0,
        log_ns: 7,
        publish_ns: None,
        stamp_ns: Some(-1),
        size_bytes: 4,
        sequence: Some(9),
        stretch: 1,
    };
    tables.bag_topics = vec![BagTopic { name: "/imu".into(), datatype: "a/msg/Imu".into(), has_header: Some(true) }];
    tables
        .bag_messages
        .extend([message, BagMessage { publish_ns: Some(5), stamp_ns: None, sequence: None, ..message }]);
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
    assert_eq!(tacho_figures::figures_of(&directory, None, &mut |_| {}).expect("figures"), summary);
    let all = store::read_run(&directory).expect("tables of all repeats");
    assert_eq!((all.instances.len(), all.chains.len(), all.processes.len()), (2, 1, 4));
    let nothing = tempfile::tempdir().expect("folder");
    let error = analyse_and_store(&RunDirectory::new(nothing.path()), None, &mut |_| {}).expect_err("no run");
    assert!(error.to_string().contains("expected a run directory"), "{error}");
}

/// A table of one group of equal rows: `count` of these values in each column.
fn equal_rows(folder: &Path, table: &str, count: usize) -> PathBuf {
    let path = folder.join(format!("{table}.parquet"));
    let schema = SerializedFileReader::new(File::open(&path).expect("table"))
        .expect("reader")
        .metadata()
        .file_metadata()
        .schema_descr()
        .root_schema_ptr();
    let mut writer =
        SerializedFileWriter::new(File::create(&path).expect("file"), schema, Default::default()).expect("writer");
    let mut group = writer.next_row_group().expect("group");
    while let Some(mut column) = group.next_column().expect("column") {
        for at in (0..count).step_by(1 << 20) {
            let rows = (count - at).min(1 << 20);
            let defined = vec![1; rows];
            match column.untyped() {
                ColumnWriter::Int32ColumnWriter(column) => column.write_batch(&vec![7; rows], Some(&defined), None),
                ColumnWriter::Int64ColumnWriter(column) => column.write_batch(&vec![7; rows], Some(&defined), None),
                ColumnWriter::ByteArrayColumnWriter(column) => {
                    column.write_batch(&vec!["name".into(); rows], Some(&defined), None)
                }
                _ => panic!("no column of these tables"),
            }
            .expect("rows");
        }
        column.close().expect("column");
    }
    group.close().expect("group");
    writer.close().expect("table");
    path
}

#[test]
fn a_table_of_more_rows_than_there_is_room_for_is_refused_by_their_number() {
    let folder = tempfile::tempdir().expect("folder");
    store::write(folder.path(), &Default::default()).expect("write");
    let path = equal_rows(folder.path(), "nodes", 40_000_000);
    assert!(path.metadata().expect("file").len() < 10 << 20);
    let error = store::read(folder.path()).expect_err("more nodes than memory").to_string();
    assert!(error.contains("nodes.parquet: ") && error.contains("40000000 rows; expected at most"), "{error}");
}

#[test]
fn a_group_of_any_number_of_rows_is_read_part_by_part() {
    let folder = tempfile::tempdir().expect("folder");
    store::write(folder.path(), &Default::default()).expect("write");
    equal_rows(folder.path(), "bag_messages", 3_000_000);
    let tables = store::read(folder.path()).expect("read");
    assert_eq!(tables.bag_messages.len(), 3_000_000);
    assert!(tables.bag_messages.iter().all(|row| row.log_ns == 7 && row.sequence == Some(7)));
}
