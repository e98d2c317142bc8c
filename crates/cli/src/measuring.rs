//! Measures a workload for a tuning: one run, which is kept if it is there.

use crate::progress::Progress;
use anyhow::Context;
use tacho_campaign::is_finished;
use tacho_events::run::RunDirectory;
use tacho_runner::bench::Bench;
use tacho_workload::Workload;

/// Runs a workload once, and returns what failed; the run has no figures yet. `None`: it is there with its figures.
pub fn run(
    bench: &Bench<'_>,
    workload: &Workload,
    run: &RunDirectory,
    what: &str,
) -> anyhow::Result<Option<Vec<String>>> {
    if is_finished(run, workload, None) {
        return Ok(None);
    }
    remove(run)?;
    let mut progress = Progress::new();
    let ran = bench.repeat(workload, 0, run, &mut |p| progress.show(&format!("{what}: {}", p.what), p.done));
    progress.finish();
    Ok(Some(ran?.failures))
}

/// Removes what an earlier attempt left.
pub fn remove(run: &RunDirectory) -> anyhow::Result<()> {
    if run.path().exists() {
        std::fs::remove_dir_all(run.path()).with_context(|| run.path().display().to_string())?;
    }
    Ok(())
}
