//! Measures for a tuning: a workload by one run, which is kept if it is there, and the callback check.

use crate::progress::Progress;
use anyhow::Context;
use std::time::Duration;
use tacho_campaign::is_finished;
use tacho_events::run::RunDirectory;
use tacho_runner::bench::Bench;
use tacho_runner::callback_check;
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

/// Measures the callback check on this machine, on the workload's middleware.
pub fn callback_check(bench: &Bench<'_>, workload: &Workload, out: &RunDirectory) -> anyhow::Result<Duration> {
    let run = RunDirectory::new(out.path().join("callback_check"));
    remove(&run)?;
    let mut progress = Progress::new();
    let check_ns = callback_check::measure(bench, workload, &run, &mut |p| {
        progress.show(&format!("callback check: {}", p.what), p.done)
    })?;
    progress.finish();
    Ok(Duration::from_secs_f64(check_ns / 1e9))
}

/// Removes what an earlier attempt left.
pub fn remove(run: &RunDirectory) -> anyhow::Result<()> {
    if run.path().exists() {
        std::fs::remove_dir_all(run.path()).with_context(|| run.path().display().to_string())?;
    }
    Ok(())
}
