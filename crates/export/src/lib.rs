//! Tables of a run into the formats of other tools: [`perfetto`], [`figures_over_time`] and [`tables_as_csv`].
//!
//! What is written stands under a temporary name until it is whole, so that nobody takes a part for the whole. Long
//! tables stream through; of each message eight bytes are kept in memory, of each figure over time sixteen.

mod figures_over_time;
mod protobuf;
mod tables_as_csv;
mod timeline;

pub use figures_over_time::figures_over_time;
pub use tables_as_csv::tables_as_csv;
pub use timeline::perfetto;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Why nothing was written.
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
    /// A table that is not one.
    #[error("{path}: {reason}; expected a table as tacho writes it")]
    Table {
        /// File.
        path: PathBuf,
        /// Cause.
        reason: String,
    },
    /// There is something already where a folder is to be written.
    #[error("{0}: is there already and is no empty folder; expected a new or an empty one")]
    Occupied(PathBuf),
    /// A run without tables.
    #[error("{0}: no tables in it; expected a run that was analysed")]
    NoTables(PathBuf),
    /// Somebody asked to stop.
    #[error("{0}: was not written, because a signal came before its end")]
    Interrupted(PathBuf),
}

/// Who watches the work: `show` is told what is under way and which part of it is done; `stop` ends it.
pub struct Watched<'a> {
    /// Told what is under way, and which part of all is done.
    pub show: &'a mut dyn FnMut(&str, f64),
    /// Ends the work when it is set.
    pub stop: &'a AtomicBool,
}

impl Watched<'_> {
    /// Shows progress, and stops if that was asked for.
    fn step(&mut self, what: &str, done: f64, out: &Path) -> Result<(), Error> {
        (self.show)(what, done);
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Error::Interrupted(out.into())),
            false => Ok(()),
        }
    }
}

/// Lets `write` write beside `out`, then renames what it wrote; nothing is left of a failure.
fn replace(out: &Path, write: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let mut part = out.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let written = write(&part)
        .and_then(|()| std::fs::rename(&part, out).map_err(|source| Error::Io { path: out.into(), source }));
    if written.is_err() {
        // The first error is the one to tell; of a file and a folder, one of the two is there.
        let _ = std::fs::remove_file(&part);
        let _ = std::fs::remove_dir_all(&part);
    }
    written
}
