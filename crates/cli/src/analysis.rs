//! The analysis of a run, with its progress shown.

use crate::exit::Failure;
use crate::progress::Progress;
use tacho_events::run::RunDirectory;
use tacho_figures::ReadError;
use tacho_tables::summary::Summary;
use tacho_workload::Workload;

/// Analyses a run and writes its tables and figures into it.
pub fn store(run: &RunDirectory, workload: Option<&Workload>) -> Result<Summary, Failure> {
    shown(|progress| Ok(tacho_figures::analyse_and_store(run, workload, progress)?))
}

/// Runs an analysis and shows its progress. Nothing predicts how long the passes after the events take.
pub fn shown<T>(
    analyse: impl FnOnce(&mut dyn FnMut(tacho_events::Progress)) -> Result<T, ReadError>,
) -> Result<T, Failure> {
    let mut shown = Progress::new();
    let analysed = analyse(&mut |of| match of.part() {
        part if part < 1.0 => shown.show("analysing events", part),
        _ => shown.show("linking messages, following chains", 0.0),
    });
    shown.finish();
    Ok(analysed?)
}
