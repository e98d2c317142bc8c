//! `tacho bench`

use crate::exit::{Failure, Outcome};
use crate::options::Bench as Options;
use crate::progress::Progress;
use crate::{check, explain, interrupt, runs};
use anyhow::Context;
use std::path::Path;
use tacho_events::run::RunDirectory;
use tacho_runner::bench::{Bench, Ran};
use tacho_runner::install::Installation;
use tacho_workload::Workload;

pub fn run(options: Options) -> Outcome {
    let mut workload = check::read(&options.workload)?;
    workload.run.repeats = options.repeats.unwrap_or(workload.run.repeats);
    workload.run.duration = options.duration.unwrap_or(workload.run.duration);
    workload.run.seed = options.seed.unwrap_or(workload.run.seed);

    let installation = Installation::find().context("installation")?;
    let interrupted = interrupt::catch()?;
    let run = runs::create(options.out.out, &stem(&options.workload))?;
    let bench = Bench { installation: &installation, command: command(), recorded: !options.unrecorded, interrupted };
    let mut progress = Progress::new();
    let repeats = workload.run.repeats;
    let mut ran = Vec::new();
    for repeat in 0..repeats {
        let directory = if repeats > 1 { run.repeat(repeat) } else { run.clone() };
        let what = if repeats > 1 { format!("repeat {} of {repeats}: ", repeat + 1) } else { String::new() };
        ran.push(bench.repeat(&workload, repeat, &directory, &mut |p| {
            progress.show(&format!("{what}{}", p.what), (f64::from(repeat) + p.done) / f64::from(repeats))
        })?);
        if bench.is_interrupted() {
            break;
        }
    }
    progress.finish();
    if repeats > 1 {
        bench.write_whole(&workload, &run, &ran.iter().map(|ran| ran.info.clone()).collect::<Vec<_>>())?;
    }
    if !options.unrecorded {
        let summary = analyse(&run, &workload)?;
        explain::show(&run, &summary, options.json)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    verdict(&ran)
}

/// Analyses a run and writes its tables and figures.
pub fn analyse(run: &RunDirectory, workload: &Workload) -> Result<tacho_analysis::summary::Summary, Failure> {
    let mut progress = Progress::new();
    let summary = tacho_analysis::analyse_and_store(run, Some(workload), &mut |p| progress.show("reading events", p.part()))
        .context("analysis of the run")?;
    progress.finish();
    Ok(summary)
}

/// Nodes that died are named, and are a fault; all that was measured is kept.
pub fn verdict(ran: &[Ran]) -> Outcome {
    let failures: Vec<&String> = ran.iter().flat_map(|ran| &ran.failures).collect();
    for failure in &failures {
        eprintln!("tacho: {failure}");
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(Failure::Code(3))
    }
}

/// The name of a workload file, for a run directory.
pub fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy().into_owned())
}

/// The command line of this process.
pub fn command() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}
