//! Runs a workload or a sweep, on real middleware or in virtual time, and shows its figures.

use crate::exit::{verdict, Failure, Outcome};
use crate::options::Out;
use crate::progress::Progress;
use crate::{analysis, explain, report, runs};
use std::path::Path;
use tacho_campaign::{in_turns, same_sweep, Analysis, Campaign, OnFailure, RunLock, Running, Subject, SweepRun};
use tacho_events::run::RunDirectory;
use tacho_tables::summary::Summary;
use tacho_workload::{Sweep, SweepPoint, Workload};

/// Runs all points. A sweep has a run directory a point; `resume` goes on with one.
pub fn run(sweep: &Sweep, name: &str, by: &Running<'_>, out: &Out, resume: bool, json: bool) -> Outcome {
    if let ([point], false) = (sweep.points.as_slice(), resume) {
        let run = runs::create(out.out.clone(), name)?;
        return single(&run, by, point, name, json);
    }
    let (run, failures) = swept(sweep, name, by, out, resume, json)?;
    eprintln!("tacho: run: {}", run.path().display());
    verdict(&failures)
}

/// Runs the points of a sweep, and shows their figures. Returns its run directory, and the failures in words.
pub fn swept(
    sweep: &Sweep,
    name: &str,
    by: &Running<'_>,
    out: &Out,
    resume: bool,
    json: bool,
) -> Result<(RunDirectory, Vec<String>), Failure> {
    let run = match (&out.out, resume) {
        (Some(path), true) => begun(path, sweep)?,
        (Some(path), false) if path.join("points").is_dir() => {
            let expected = "expected a new directory, or --resume to go on with what is there";
            return Err(Failure::Usage(format!("{}: holds a sweep already; {expected}", path.display())));
        }
        _ => runs::create(out.out.clone(), name)?,
    };
    let lock = RunLock::take(run.path(), "runs this sweep")?;
    let running = SweepRun::new(sweep, &lock, by);
    runs::say_finished(running.campaign());
    let mut progress = Progress::new();
    let swept = running.run(&mut |step| {
        // The name of a point is its number, then what it varies.
        let values = step.subject.name.split_once('-').map_or("", |(_, values)| values);
        let label = format!("{} of {}: {values}", step.number, step.of);
        let label = if step.repeat.is_some() { label } else { format!("{} {label}", step.what) };
        progress.show(&label, step.done)
    })?;
    progress.finish();
    if let Some(text) = swept.unfinished {
        eprintln!("tacho: {text}; --resume -o {} goes on", run.path().display());
    }
    explain::show(&run, &running.figures()?, json)?;
    report::write(std::slice::from_ref(&run), &run.path().join("report.html"))?;
    Ok((run, swept.failures))
}

/// A run directory to go on in: one that holds the same sweep, or nothing yet.
fn begun(path: &Path, sweep: &Sweep) -> Result<RunDirectory, Failure> {
    let run = RunDirectory::new(path);
    if !run.workload().is_file() {
        return runs::create(Some(path.to_owned()), "sweep");
    }
    same_sweep(&run, &runs::read_text(&run.workload())?, sweep)?;
    Ok(run)
}

/// Runs one workload, and shows its figures: the run directory is its own.
fn single(run: &RunDirectory, by: &Running<'_>, point: &SweepPoint, name: &str, json: bool) -> Outcome {
    let (summary, deaths) = made(run, by, &point.workload, name)?;
    if let Some(summary) = summary {
        explain::show(run, &summary, json)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    verdict(&deaths)
}

/// Runs one workload into its run directory. Returns its figures, if anything ran, and the nodes that died, in words.
pub fn made(
    run: &RunDirectory,
    by: &Running<'_>,
    workload: &Workload,
    name: &str,
) -> Result<(Option<Summary>, Vec<String>), Failure> {
    let lock = RunLock::take(run.path(), "runs this workload")?;
    let subjects = vec![Subject::new(name, workload, by.runner, run.clone())];
    let campaign = Campaign {
        order: in_turns(&subjects),
        subjects,
        lock: &lock,
        interrupted: by.interrupted,
        command: by.command.clone(),
        analysis: Analysis::Later,
        on_failure: OnFailure::Stop,
        chain: None,
        discard_events: false,
    };
    let repeats = workload.run.repeats;
    let mut progress = Progress::new();
    let mut ran = 0;
    let ended = campaign.run(
        &mut |step| {
            let repeat = step.repeat.filter(|_| repeats > 1);
            let repeat = repeat.map_or(String::new(), |repeat| format!("repeat {} of {repeats}: ", repeat + 1));
            progress.show(&format!("{repeat}{}", step.what), step.done)
        },
        &mut |_, _| {
            ran += 1;
            Ok(())
        },
    )?;
    progress.finish();
    if let Some(failed) = ended.failed.into_iter().next() {
        return Err(failed.error.into());
    }
    let summary = if ran > 0 { Some(analysis::store(run, Some(workload))?) } else { None };
    if by.discard_events {
        let mut directories = run.repeats()?;
        directories.push(run.clone());
        directories.iter().try_for_each(RunDirectory::discard_events)?;
    }
    Ok((summary, ended.deaths.into_iter().map(|(_, death)| death).collect()))
}
