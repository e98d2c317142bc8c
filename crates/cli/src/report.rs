//! `tacho report`

use crate::exit::{Failure, Outcome};
use crate::options::Report;
use crate::{node_clocks, runs};
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::Path;
use tacho_analysis::store;
use tacho_analysis::tables::Tables;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_report::sweep::{Sweep, SweepPoint};
use tacho_report::ReportRun;

pub fn run(options: Report) -> Outcome {
    let mut chosen = Vec::new();
    for path in &options.runs {
        chosen.extend(runs::meant(path)?);
    }
    let out = options.out.unwrap_or_else(|| options.runs[0].join("report.html"));
    write(&chosen, &out)
}

/// Writes the report of `chosen` and says where it is.
pub fn write(chosen: &[RunDirectory], out: &Path) -> Outcome {
    let loaded: Vec<ReportRun> = chosen.iter().map(load).collect::<Result<_, Failure>>()?;
    tacho_report::write(&loaded, out).context("report")?;
    eprintln!("tacho: report: {}", out.display());
    Ok(())
}

fn load(run: &RunDirectory) -> Result<ReportRun, Failure> {
    let path = run.path();
    let sweep = sweep(run)?;
    // What was saved of a ring, and a run that was cut short, have events alone.
    if sweep.is_none() && !run.summary().is_file() && run.events().is_dir() {
        tacho_analysis::analyse_and_store(run, runs::workload(run)?.as_ref(), &mut |_| {}).context("analysis of the run")?;
    }
    let name = path.canonicalize().ok().and_then(|p| p.file_name().map(|name| name.to_string_lossy().replace('_', " ")));
    Ok(ReportRun {
        label: name.unwrap_or_else(|| path.display().to_string()),
        info: run.info().context("run.json")?,
        summary: store::read_summary(run).context("figures of the run")?,
        // A sweep has tables in its points alone.
        tables: if sweep.is_some() { Tables::default() } else { store::read_run(run).context("tables of the run")? },
        // Study E's search stands beside the runs of what it found.
        objective: match path.parent() {
            Some(tuning) if path.ends_with(runs::COMMON_RATE) || path.ends_with(runs::MEASURED) => json(&tuning.join("objective.json"))?,
            _ => None,
        },
        proof: json(&path.join("proof.json"))?,
        study: if sweep.is_some() { None } else { runs::workload(run)?.and_then(|workload| workload.study) },
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

/// The points of a sweep; absent for a single workload.
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

/// A point that did not run, or not to its end, has no figures; its `run.json` says why.
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

fn json(path: &Path) -> Result<Option<serde_json::Value>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = runs::read_text(path)?;
    Ok(Some(serde_json::from_str(&text).with_context(|| path.display().to_string())?))
}
