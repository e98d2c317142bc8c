//! `tacho report`

use crate::exit::{Failure, Outcome};
use crate::options::Report;
use crate::runs;
use anyhow::Context;
use std::path::Path;
use tacho_analysis::store;
use tacho_events::run::RunDirectory;
use tacho_report::ReportRun;

pub fn run(options: Report) -> Outcome {
    let mut chosen = Vec::new();
    for path in &options.runs {
        chosen.extend(runs_in(path)?);
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

/// The runs that a path means: itself, or, for what `tacho tune --prove` wrote, those in it, the untuned one first.
fn runs_in(path: &Path) -> Result<Vec<RunDirectory>, Failure> {
    if !path.join(crate::tune::UNTUNED).is_dir() {
        return Ok(vec![runs::open(path)?]);
    }
    let mut found = vec![runs::open(&path.join(crate::tune::UNTUNED))?];
    for method in crate::tune::METHOD_DIRECTORIES {
        if path.join(method).is_dir() {
            found.push(runs::open(&path.join(method))?);
        }
    }
    Ok(found)
}

fn load(run: &RunDirectory) -> Result<ReportRun, Failure> {
    let path = run.path();
    let name = path.canonicalize().ok().and_then(|p| p.file_name().map(|name| name.to_string_lossy().replace('_', " ")));
    Ok(ReportRun {
        label: name.unwrap_or_else(|| path.display().to_string()),
        info: run.info().context("run.json")?,
        summary: store::read_summary(run).context("figures of the run")?,
        tables: store::read_run(run).context("tables of the run")?,
        // Study E's search stands beside the runs of what it found.
        objective: match path.parent() {
            Some(tuning) if path.ends_with(crate::tune::COMMON_RATE) => json(&tuning.join("objective.json"))?,
            _ => None,
        },
        proof: json(&path.join("proof.json"))?,
        directory: run.clone(),
    })
}

fn json(path: &Path) -> Result<Option<serde_json::Value>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = runs::read_text(path)?;
    Ok(Some(serde_json::from_str(&text).with_context(|| path.display().to_string())?))
}
