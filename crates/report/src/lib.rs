//! Tables and figures into one HTML file that needs nothing else ([`write()`]), and into plain text ([`Terminal`]).
//!
//! The page itself is built by web/ and embedded; this crate chooses what of the tables it shows ([`page`]) and puts
//! that into it so that no text of a trace can be anything but text ([`embed`]).

mod comparison;
pub mod drawn;
pub mod embed;
pub mod live;
pub mod page;
mod published;
#[cfg(test)]
mod shapes;
pub mod sweep;
mod text;
pub mod timeline;
pub mod top_view;

pub use text::{render_before_after, render_explain, shorten, Column, Table, Terminal};

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_tables::summary::Summary;
use tacho_tables::Tables;
use tacho_tune::{ObjectiveCurve, Proof};

/// One run as the report shows it. Of several, the first is the one that the others are compared with.
#[derive(Debug, Clone)]
pub struct ReportRun {
    /// What the reader calls it: `untuned`, `common rate`.
    pub label: String,
    /// Where it stands.
    pub directory: RunDirectory,
    /// What ran.
    pub info: RunInfo,
    /// Its figures.
    pub summary: Summary,
    /// Its tables.
    pub tables: Tables,
    /// `objective.json` of a tuning (study E), where there is one.
    pub objective: Option<ObjectiveCurve>,
    /// `proof.json` of a tuning, where there is one.
    pub proof: Option<Proof>,
    /// Points of a sweep; absent for a single workload.
    pub sweep: Option<sweep::Sweep>,
    /// The published experiment that a single workload repeats, as it names it.
    pub study: Option<String>,
    /// Mean time inside the subscription callbacks of each node by its own clock, ms, where the workload asked for
    /// that.
    pub in_node_clock_ms: BTreeMap<String, f64>,
}

impl ReportRun {
    /// A run with nothing beside its figures and tables.
    pub fn new(label: &str, directory: RunDirectory, info: RunInfo, summary: Summary, tables: Tables) -> ReportRun {
        ReportRun {
            label: label.to_owned(),
            directory,
            info,
            summary,
            tables,
            objective: None,
            proof: None,
            sweep: None,
            study: None,
            in_node_clock_ms: BTreeMap::new(),
        }
    }
}

/// Why no report was written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing to report on.
    #[error("no run to report on: expected at least one run directory")]
    NoRuns,
    /// Sweeps are laid over each other, and single runs compared; a page does one of the two.
    #[error("{single} is a single run and {sweep} a sweep: expected sweeps of one experiment, or single runs")]
    Mixed {
        /// Label of a single run.
        single: String,
        /// Label of a sweep.
        sweep: String,
    },
    /// A table points outside another.
    #[error("{run}: row {row} of table {table} names {column} {found}, but there are only {rows}")]
    DanglingRow {
        /// Label of the run.
        run: String,
        /// Table that holds the reference.
        table: &'static str,
        /// Its row.
        row: usize,
        /// Column of the reference.
        column: &'static str,
        /// What it says.
        found: u32,
        /// Rows of the table that it points into.
        rows: usize,
    },
    /// The data does not fit JSON.
    #[error("data of the report: {0}")]
    Json(#[from] serde_json::Error),
    /// The file cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Writes the report of `runs` to `out`, as one HTML file that opens without a network.
///
/// The file is complete or absent: it is written beside its place and renamed.
pub fn write(runs: &[ReportRun], out: &Path) -> Result<()> {
    if runs.is_empty() {
        return Err(Error::NoRuns);
    }
    let labelled =
        |is_sweep: bool| runs.iter().find(|run| run.sweep.is_some() == is_sweep).map(|run| run.label.clone());
    if let (Some(single), Some(sweep)) = (labelled(false), labelled(true)) {
        return Err(Error::Mixed { single, sweep });
    }
    let html = embed::into_template(&page::page(runs)?)?;
    let mut beside = out.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Write { path, source }
    };
    std::fs::write(&beside, html).map_err(failed(&beside))?;
    std::fs::rename(&beside, out).map_err(failed(out))
}
