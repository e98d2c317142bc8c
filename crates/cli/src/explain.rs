//! `tacho explain`

use crate::exit::{Failure, Outcome};
use crate::options::Explain;
use crate::progress::Progress;
use crate::runs;
use anyhow::Context;
use std::io::IsTerminal;
use tacho_analysis::summary::Summary;
use tacho_events::run::RunDirectory;
use tacho_report::Terminal;
use tacho_workload::Workload;

pub fn run(options: Explain) -> Outcome {
    let run = runs::open(&options.run)?;
    let summary = figures(&run)?;
    show(&run, &summary, options.json)
}

/// The figures of a run: as they stand in it, or, where it ended before they were written, analysed now; reading a run never
/// changes it.
fn figures(run: &RunDirectory) -> Result<Summary, Failure> {
    if run.summary().is_file() {
        return Ok(tacho_analysis::store::read_summary(run).context("figures of the run")?);
    }
    if !run.points()?.is_empty() {
        return Ok(tacho_analysis::merge_points(run).context("figures of the sweep")?);
    }
    let workload = workload(run)?;
    let mut progress = Progress::new();
    let analysed = tacho_analysis::figures_of(run, workload.as_ref(), &mut |p| progress.show("reading events", p.part()));
    progress.finish();
    Ok(analysed.context("analysis of the run")?)
}

/// The workload of a run; a recorded program has none.
pub fn workload(run: &RunDirectory) -> Result<Option<Workload>, Failure> {
    let path = run.workload();
    if !path.is_file() {
        return Ok(None);
    }
    let text = runs::read_text(&path)?;
    match tacho_workload::parse(&text, &path.display().to_string()) {
        Ok((workload, _)) => Ok(Some(workload)),
        Err(errors) => Err(Failure::Usage(errors.to_string())),
    }
}

/// Prints figures as asked for.
pub fn show(run: &RunDirectory, summary: &Summary, json: bool) -> Outcome {
    if json {
        return runs::print_json(summary);
    }
    let info = run.info().context("run.json")?;
    runs::print_text(&terminal().explain(summary, &info))
}

/// How text is laid out on what stdout is.
pub fn terminal() -> Terminal {
    Terminal { colour: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(), ..Terminal::default() }
}
