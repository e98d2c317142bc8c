//! `tacho tune` of a recording: what to change, without a workload to change it in.

use crate::exit::{Failure, Outcome};
use crate::options::{Change, Method, Tune};
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

/// What to do with a run that has no workload.
pub enum Recorded {
    /// Print steps.
    Steps(RunDirectory),
    /// Search for a plan of its twin.
    Twin(RunDirectory),
}

/// The run that is asked for, if it has no workload.
pub fn recording(options: &Tune) -> Result<Option<Recorded>, Failure> {
    let Some(path) = options.run.as_ref().filter(|path| !path.is_file()) else { return Ok(None) };
    let run = runs::open(path)?;
    if runs::workload(&run)?.is_some() {
        return Ok(None);
    }
    let is_search = |method: &Method| *method == Method::Search;
    let refused = [
        ("--method", !options.method.iter().all(is_search)),
        ("--check", !options.check.is_empty()),
        ("--cores", options.cores.is_some()),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, is_asked)| *is_asked) {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{path}: was recorded and has no workload.yaml, so {option} has nothing to change; expected a run of tacho \
             bench, tacho tune {path} alone, which prints steps for the recorded system, or --method search, which \
             plans for its twin"
        )));
    }
    if options.change.iter().any(|change| matches!(change, Change::Process | Change::Transport)) {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{path}: was recorded, and a recording does not show how large messages are, so what they take within a \
             process or on another transport cannot be measured; expected a workload: tacho model {path} -o twin.yaml \
             writes one, in which you state the sizes"
        )));
    }
    let asked = [
        !options.method.is_empty(),
        options.chain.is_some(),
        !options.goal.is_empty(),
        !options.at_most.is_empty(),
        !options.change.is_empty(),
        !options.keep.is_empty(),
        options.evaluations.is_some(),
        options.exhaustive,
        options.prove,
        options.out.out.is_some(),
    ];
    Ok(Some(if asked.contains(&true) { Recorded::Twin(run) } else { Recorded::Steps(run) }))
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
