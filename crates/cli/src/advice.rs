//! `tacho tune` of a recording: what to change, without a workload to change it in.

use crate::exit::{Failure, Outcome};
use crate::options::Tune;
use crate::{analysis, explain, runs};
use serde::Serialize;
use tacho_events::run::RunDirectory;
use tacho_printing::Lines;
use tacho_tables::summary::Verdict;
use tacho_tune::Step;

/// What `--json` prints.
#[derive(Serialize)]
struct Advice<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
    steps: &'a [Step],
}

/// The run that is asked for, if it has no workload, so that there are steps in place of a search.
pub fn recording(options: &Tune) -> Result<Option<RunDirectory>, Failure> {
    let Some(path) = options.run.as_ref().filter(|path| !path.is_file()) else { return Ok(None) };
    let run = runs::open(path)?;
    if runs::workload(&run)?.is_some() {
        return Ok(None);
    }
    let asked = [
        ("--method", !options.method.is_empty()),
        ("--chain", options.chain.is_some()),
        ("--goal", !options.goal.is_empty()),
        ("--at-most", !options.at_most.is_empty()),
        ("--change", !options.change.is_empty()),
        ("--keep", !options.keep.is_empty()),
        ("--evaluations", options.evaluations.is_some()),
        ("--exhaustive", options.exhaustive),
        ("--check", !options.check.is_empty()),
        ("--cores", options.cores.is_some()),
        ("--prove", options.prove),
        ("--out", options.out.out.is_some()),
    ];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        Some((option, _)) => {
            let path = path.display();
            Err(Failure::Usage(format!(
                "{path}: was recorded and has no workload.yaml, so {option} has nothing to change or to run; \
                 expected a run of tacho bench, or tacho tune {path} alone, which prints steps for the recorded system"
            )))
        }
        None => Ok(Some(run)),
    }
}

/// Prints the steps.
pub fn show(run: &RunDirectory, json: bool) -> Outcome {
    let summary = analysis::shown(|progress| tacho_figures::read_figures(run, None, None, progress))?;
    let steps = tacho_tune::steps(&summary);
    if json {
        return runs::print_json(&Advice { verdict: summary.verdict.as_ref(), steps: &steps });
    }
    runs::print(&Lines::composed(&explain::terminal().steps(&summary, &steps)))?;
    if !steps.is_empty() {
        eprintln!(
            "tacho: next: change one, record again, and lay both runs beside each other: tacho report {} AFTER",
            run.path().display()
        );
    }
    Ok(())
}
