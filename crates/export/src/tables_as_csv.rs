//! Each table as a CSV file (RFC 4180). Headers are the names of the columns, which end in their units.

use crate::{replace, Error, Watched};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tacho_events::RunDirectory;

/// Rows between two looks at who watches.
const ROWS_A_STEP: u64 = 1 << 14;

/// Writes every table of a run into the folder `out`, which is new or empty. What is absent is an empty cell; the
/// elements of a list are a JSON list.
pub fn tables_as_csv(run: &RunDirectory, out: &Path, watched: &mut Watched<'_>) -> Result<(), Error> {
    if out.exists() && !std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none()) {
        return Err(Error::Occupied(out.into()));
    }
    let tables = tables(run)?;
    replace(out, |folder| {
        std::fs::create_dir(folder).map_err(|source| Error::Io { path: folder.into(), source })?;
        for (number, table) in tables.iter().enumerate() {
            let name = table.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let mut step = |part: f64| watched.step("tables", (number as f64 + part) / tables.len() as f64, out);
            write(table, &folder.join(format!("{name}.csv")), &mut step)?;
        }
        Ok(())
    })
}

/// The files of a run's tables, by name.
fn tables(run: &RunDirectory) -> Result<Vec<PathBuf>, Error> {
    let folder = run.tables();
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::NoTables(run.path().into())),
        entries => entries.map_err(|source| Error::Io { path: folder.clone(), source })?,
    };
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(|source| Error::Io { path: folder, source })?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    paths.sort();
    if paths.is_empty() {
        return Err(Error::NoTables(run.path().into()));
    }
    Ok(paths)
}

fn write(table: &Path, out: &Path, step: &mut dyn FnMut(f64) -> Result<(), Error>) -> Result<(), Error> {
    let in_table = |error: ParquetError| Error::Table { path: table.into(), reason: error.to_string() };
    let io = |source: io::Error| Error::Io { path: out.into(), source };
    let file = File::open(table).map_err(|source| Error::Io { path: table.into(), source })?;
    let reader = SerializedFileReader::new(file).map_err(in_table)?;
    let metadata = reader.metadata().file_metadata();
    let rows = metadata.num_rows().max(1) as f64;
    let mut writer = csv::Writer::from_writer(BufWriter::new(File::create(out).map_err(io)?));
    let header = metadata.schema().get_fields().iter().map(|field| field.name().to_owned());
    writer.write_record(header).map_err(|error| io(error.into()))?;
    for (number, row) in (0u64..).zip(reader.get_row_iter(None).map_err(in_table)?) {
        if number.is_multiple_of(ROWS_A_STEP) {
            step(number as f64 / rows)?;
        }
        let row = row.map_err(in_table)?;
        writer.write_record(row.get_column_iter().map(|(_, field)| cell(field))).map_err(|error| io(error.into()))?;
    }
    let mut file = writer.into_inner().map_err(|error| io(error.into_error()))?;
    file.flush().map_err(io)
}

fn cell(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Double(value) => value.to_string(),
        Field::ListInternal(list) => {
            let texts: Vec<String> = list.elements().iter().map(cell).collect();
            serde_json::Value::from(texts).to_string()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use tacho_tables::{store, Chain, Node, Process, Tables};

    fn run(folder: &Path) -> RunDirectory {
        let run = RunDirectory::new(folder.join("run"));
        let process = Process {
            pid: 7,
            executable: "/bin/a".into(),
            command: "a, \"b\"".into(),
            host: "car".into(),
            clock: None,
            events: 1,
            dropped_events: 0,
            ended: Some(true),
            first_ns: -5,
            last_ns: 3,
            board: None,
            clock_error_ns: None,
        };
        let chain = Chain {
            name: "c".into(),
            path: vec!["/a".into(), "/t".into()],
            critical: false,
            lost: 0,
            evidence: String::new(),
            deadline_ns: None,
            until_ns: None,
            guessed_at: Vec::new(),
            callbacks: Vec::new(),
        };
        let nodes = vec![Node { process: tacho_tables::row::Row::new(0), name: "/a".into() }];
        let tables = Tables { processes: vec![process], nodes, chains: vec![chain], ..Tables::default() };
        store::write(&run.tables(), &tables).expect("tables");
        run
    }

    #[test]
    fn cells_are_quoted_and_what_is_absent_is_empty() {
        let folder = tempfile::tempdir().expect("folder");
        let (run, out) = (run(folder.path()), folder.path().join("out"));
        let mut shown = Vec::new();
        let mut show = |what: &str, _: f64| shown.push(what.to_owned());
        tables_as_csv(&run, &out, &mut Watched { show: &mut show, stop: &AtomicBool::new(false) }).expect("written");
        let text = std::fs::read_to_string(out.join("processes.csv")).expect("a table");
        let (header, row) = text.split_once('\n').expect("two lines");
        assert!(
            header.starts_with("row_id,pid,executable,command,host,clock,") && header.contains("first_ns"),
            "{header}"
        );
        assert_eq!(row, "0,7,/bin/a,\"a, \"\"b\"\"\",car,,1,0,true,-5,3,,\n");
        let chains = std::fs::read_to_string(out.join("chains.csv")).expect("a table");
        assert!(chains.contains("\"[\"\"/a\"\",\"\"/t\"\"]\""), "{chains}");
        assert!(shown.contains(&"tables".to_owned()));
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused_and_a_stop_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let run = run(folder.path());
        let mut show = |_: &str, _: f64| {};
        let stop = AtomicBool::new(true);
        let mut watched = Watched { show: &mut show, stop: &stop };
        assert!(matches!(tables_as_csv(&run, folder.path(), &mut watched), Err(Error::Occupied(_))));
        let stopped = tables_as_csv(&run, &folder.path().join("out"), &mut watched);
        assert!(matches!(stopped, Err(Error::Interrupted(_))), "{stopped:?}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 1, "only the run");
    }
}
