//! Whether a run need not be run again.

use crate::difference::same_workload;
use tacho_events::regular;
use tacho_events::run::RunDirectory;
use tacho_tables::store;
use tacho_workload::Workload;

/// Whether a run of this workload came to its end and was analysed: its figures are written last, and whole or not at
/// all. With `chain`, it must have seen that chain, too.
pub fn is_finished(run: &RunDirectory, workload: &Workload, chain: Option<&str>) -> bool {
    let Ok(summary) = store::read_summary(run) else { return false };
    chain.is_none_or(|name| summary.chains.iter().any(|chain| chain.name == name))
        && run.info().is_ok_and(|info| !info.cut_short)
        && regular::read_text(&run.workload()).is_ok_and(|text| same_workload(&text, workload))
}
