//! Decides whether a run need not be repeated.

use crate::difference::same_workload;
use tacho_events::regular;
use tacho_events::run::RunDirectory;
use tacho_tables::store;
use tacho_workload::Workload;

/// Whether a run of this workload completed and was analysed. Its figures are written last and atomically, so their
/// presence proves it. With `chain`, the run must also contain that chain.
pub fn is_finished(run: &RunDirectory, workload: &Workload, chain: Option<&str>) -> bool {
    let Ok(summary) = store::read_summary(run) else { return false };
    chain.is_none_or(|name| summary.chains.iter().any(|chain| chain.name == name))
        && run.info().is_ok_and(|info| !info.cut_short)
        && regular::read_text(&run.workload()).is_ok_and(|text| same_workload(&text, workload))
}
