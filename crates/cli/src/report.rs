//! `tacho report`

use crate::exit::{Failure, Outcome};
use crate::options::Report;
use crate::{node_clocks, runs};
use anyhow::Context;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;
use tacho_analysis::Window;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_figures::Whole;
use tacho_report::sweep::{Sweep, SweepPoint};
use tacho_report::ReportRun;
use tacho_tables::{store, Note};

pub fn run(options: Report) -> Outcome {
    let mut chosen = Vec::new();
    for path in &options.runs {
        chosen.extend(runs::meant(path)?);
    }
    let out = options.out.unwrap_or_else(|| options.runs[0].join("report.html"));
    write_counted(&chosen, &out, options.counted.window().as_ref())
}

/// Writes the report of `chosen` and prints where it is.
pub fn write(chosen: &[RunDirectory], out: &Path) -> Outcome {
    write_counted(chosen, out, None)
}

/// Writes the report of a window of each run.
fn write_counted(chosen: &[RunDirectory], out: &Path, window: Option<&Window>) -> Outcome {
    let loaded: Vec<ReportRun> = chosen.iter().map(|run| load(run, window)).collect::<Result<_, Failure>>()?;
    tacho_report::write(&loaded, out).map_err(|error| match error {
        tacho_report::Error::Mixed { .. } => Failure::Usage(error.to_string()),
        other => anyhow::Error::from(other).context("report").into(),
    })?;
    eprintln!("tacho: report: {}", out.display());
    Ok(())
}

fn load(run: &RunDirectory, window: Option<&Window>) -> Result<ReportRun, Failure> {
    let path = run.path();
    let sweep = sweep(run)?;
    let Whole { workload, mut summary, tables } = tacho_figures::whole(run, window)?;
    let name =
        path.canonicalize().ok().and_then(|p| p.file_name().map(|name| name.to_string_lossy().replace('_', " ")));
    // The result of study E's search is stored beside the runs that use it.
    let objective = match path.parent() {
        Some(tuning) if path.ends_with(runs::COMMON_RATE) || path.ends_with(runs::MEASURED) => {
            left_by_tuning(tuning, "objective", &mut summary.notes)?
        }
        _ => None,
    };
    let proof = left_by_tuning(path, "proof", &mut summary.notes)?;
    Ok(ReportRun {
        label: name.unwrap_or_else(|| path.display().to_string()),
        info: run.info().context("run.json")?,
        summary,
        tables,
        objective,
        proof,
        study: workload.and_then(|workload| workload.study),
        in_node_clock_ms: in_node_clock(run)?,
        sweep,
        directory: run.clone(),
    })
}

/// Mean time inside the subscription callbacks of each node by its own clock, over all repeats.
fn in_node_clock(run: &RunDirectory) -> Result<BTreeMap<String, f64>, Failure> {
    let mut sums: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    let parts = run.repeats().context("repeats of the run")?;
    for part in std::iter::once(run).chain(&parts) {
        node_clocks::callbacks(&part.clock(), |node, kind, start, end| {
            if kind == "subscription" {
                let sum = sums.entry(format!("/{node}")).or_default();
                *sum = (sum.0 + (end - start) as f64 / 1e6, sum.1 + 1);
            }
        })?;
    }
    Ok(sums.into_iter().map(|(node, (ms, count))| (node, ms / count as f64)).collect())
}

/// Reads the points of a sweep; absent for a single workload.
fn sweep(run: &RunDirectory) -> Result<Option<Sweep>, Failure> {
    let directories = run.points().context("points of the sweep")?;
    let mut study = None;
    let mut points = Vec::new();
    for directory in &directories {
        let name = directory.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if study.is_none() && directory.workload().is_file() {
            study = runs::workload(directory)?.and_then(|workload| workload.study);
        }
        points.push(point(directory, name).with_context(|| format!("point {}", directory.path().display()))?);
    }
    Ok((!points.is_empty()).then(|| Sweep::new(points, study.as_deref())))
}

/// A point that did not run to its end has no figures; its `run.json` gives the reason.
fn point(directory: &RunDirectory, name: String) -> anyhow::Result<SweepPoint> {
    if !directory.path().join("run.json").is_file() {
        let info = RunInfo { missing: vec!["was not run".into()], ..RunInfo::default() };
        return Ok(SweepPoint::new(name, &info, None, &[]));
    }
    let info = directory.info()?;
    if !directory.summary().is_file() {
        return Ok(SweepPoint::new(name, &info, None, &[]));
    }
    let figures = store::read_summary(directory)?.points.into_iter().next();
    let mut repeats = Vec::new();
    let mut of_repeats = directory.repeats()?;
    if of_repeats.is_empty() {
        of_repeats.push(directory.clone());
    }
    for repeat in of_repeats.iter().filter(|repeat| repeat.tables().is_dir()) {
        repeats.push((repeat.info()?, store::read_run(repeat)?));
    }
    Ok(SweepPoint::new(name, &info, figures, &repeats))
}

/// Reads what a tuning left in `FOLDER/NAME.json`. Absent if there is no such file, or, with a note, if its shape is
/// another.
fn left_by_tuning<T: DeserializeOwned>(folder: &Path, name: &str, notes: &mut Vec<Note>) -> Result<Option<T>, Failure> {
    let path = folder.join(format!("{name}.json"));
    if !path.is_file() {
        return Ok(None);
    }
    let text = runs::read_text(&path)?;
    let value: serde_json::Value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let read = serde_json::from_value(value).ok();
    if read.is_none() {
        let text = format!("{name}.json of this run has another shape than this report reads, and is left out");
        notes.push(Note { name: name.into(), count: 0, text });
    }
    Ok(read)
}
