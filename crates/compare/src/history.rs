//! A history of runs as CSV: a row a run, a column a figure. apache-otava reads it and finds change points over months.

use crate::Figure;
use std::io;
use std::path::{Path, PathBuf};

/// Columns before those of figures. otava takes `time` as its time column, the others as attributes.
const OF_RUN: [&str; 3] = ["time", "run", "version"];
/// Stands for what a run did not measure. otava refuses an empty cell; it reads this one, and then finds no change
/// point in that column.
const NOT_MEASURED: &str = "nan";

/// A run to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When it began, RFC 3339.
    pub time: String,
    /// Its directory.
    pub run: String,
    /// What it is a run of, as the user names it: a commit, a version.
    pub version: String,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// Why a history was not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system.
    #[error("{path}: {source}")]
    Io {
        /// File.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file there is no history.
    #[error("{path}: {reason}; expected a history of tacho compare, which begins with time,run,version")]
    NotAHistory {
        /// File.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
}

/// Adds runs to the history of this path; a run that it has already (same time and run) is left as it is. It returns
/// how many were added. A figure that is new gets a column. The file is replaced as a whole, so none is ever half
/// written.
pub fn add(path: &Path, entries: &[Entry]) -> Result<usize, Error> {
    let io = |source: io::Error| Error::Io { path: path.into(), source };
    let (mut header, mut rows) = match std::fs::read_to_string(path) {
        Ok(text) => parsed(&text).map_err(|reason| Error::NotAHistory { path: path.into(), reason })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => (OF_RUN.map(String::from).to_vec(), Vec::new()),
        Err(error) => return Err(io(error)),
    };
    let mut added = 0;
    for entry in entries {
        if rows.iter().any(|row: &Vec<String>| row[0] == entry.time && row[1] == entry.run) {
            continue;
        }
        let mut row = vec![entry.time.clone(), entry.run.clone(), entry.version.clone()];
        for figure in entry.figures.iter().filter(|figure| figure.is_compared) {
            let column = column(figure);
            let at = header.iter().position(|known| *known == column).unwrap_or_else(|| {
                header.push(column);
                header.len() - 1
            });
            row.resize(row.len().max(at + 1), NOT_MEASURED.into());
            row[at] = figure.value.to_string();
        }
        rows.push(row);
        added += 1;
    }
    for row in &mut rows {
        row.resize(header.len(), NOT_MEASURED.into());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(&header).chain(&rows) {
        writer.write_record(row).map_err(|error| io(error.into()))?;
    }
    let text = writer.into_inner().map_err(|error| io(error.into_error()))?;
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path)).map_err(|error| {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&part);
        io(error)
    })?;
    Ok(added)
}

/// `chain braking reaction max ms`.
fn column(figure: &Figure) -> String {
    format!("{} {} {}", figure.subject, figure.name, figure.unit.text()).trim_end().to_owned()
}

fn parsed(text: &str) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().map_err(|error| error.to_string())?.iter().map(String::from).collect();
    if header.len() < OF_RUN.len() || header[..OF_RUN.len()] != OF_RUN {
        return Err(format!("found the columns {}", header.join(",")));
    }
    let rows =
        reader.records().map(|row| Ok(row.map_err(|error| error.to_string())?.iter().map(String::from).collect()));
    Ok((header, rows.collect::<Result<_, String>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Better, Kind, Subject, Unit};

    fn entry(time: &str, values: &[(&str, f64)]) -> Entry {
        let figure = |(name, value): &(&str, f64)| Figure {
            subject: Subject { point: String::new(), kind: Kind::Topic, name: "/a,b".into() },
            name: name.to_string(),
            unit: Unit::Us,
            better: Better::Lower,
            is_tail: false,
            is_compared: true,
            value: *value,
        };
        Entry {
            time: time.into(),
            run: "runs/a".into(),
            version: "v1".into(),
            figures: values.iter().map(figure).collect(),
        }
    }

    #[test]
    fn new_figures_get_columns_and_known_runs_stay_as_they_are() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("history.csv");
        assert_eq!(add(&path, &[entry("2026-01-01T00:00:00Z", &[("x", 1.5)])]).expect("written"), 1);
        let more = [entry("2026-01-01T00:00:00Z", &[("x", 9.0)]), entry("2026-01-02T00:00:00Z", &[("y", 2.0)])];
        assert_eq!(add(&path, &more).expect("written"), 1);
        assert_eq!(
            std::fs::read_to_string(&path).expect("history"),
            "time,run,version,\"topic /a,b x us\",\"topic /a,b y us\"\n2026-01-01T00:00:00Z,runs/a,v1,1.5,nan\n\
             2026-01-02T00:00:00Z,runs/a,v1,nan,2\n"
        );
    }

    #[test]
    fn a_file_that_is_no_history_is_left_alone() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("other.csv");
        std::fs::write(&path, "a,b\n1,2\n").expect("file");
        assert!(matches!(add(&path, &[]), Err(Error::NotAHistory { .. })));
        assert_eq!(std::fs::read_to_string(&path).expect("file"), "a,b\n1,2\n");
    }
}
