//! `tacho bench`

use crate::exit::{verdict, Failure, Outcome};
use crate::options::Bench as Options;
use crate::progress::Progress;
use crate::{analysis, check, explain, generate, interrupt, report, runs, unrecorded};
use anyhow::Context;
use std::path::Path;
use tacho_campaign::{in_turns, same_sweep, Analysis, Campaign, OnFailure, RunLock, Subject, SweepRun};
use tacho_events::run::RunDirectory;
use tacho_runner::bench::Bench;
use tacho_runner::install::Installation;
use tacho_workload::{Overrides, Sweep, SweepPoint};

pub fn run(options: Options) -> Outcome {
    let (sweep, name) = read(&options)?;
    let installation = Installation::find().context("installation")?;
    let interrupted = interrupt::catch()?;
    let bench = Bench {
        installation: &installation,
        command: runs::command(),
        recorded: options.unrecorded.is_none(),
        scheduler: options.scheduler.when(),
        cpu_time: options.cpu_time,
        interrupted,
    };
    if let ([point], false) = (sweep.points.as_slice(), options.resume) {
        return match options.unrecorded {
            Some(how) => unrecorded::run(&options, how, &bench, point, &name),
            None => single(&options, &bench, point, &name),
        };
    }
    if options.unrecorded.is_some() {
        return Err(Failure::Usage(
            "a sweep without a recorder has no figures; expected one workload with --unrecorded".into(),
        ));
    }
    let run = match (&options.out.out, options.resume) {
        (Some(path), true) => begun(path, &sweep)?,
        (Some(path), false) if path.join("points").is_dir() => {
            let expected = "expected a new directory, or --resume to go on with what is there";
            return Err(Failure::Usage(format!("{}: holds a sweep already; {expected}", path.display())));
        }
        _ => runs::create(options.out.out.clone(), &name)?,
    };
    let lock = RunLock::take(run.path(), "runs this sweep")?;
    let running = SweepRun::new(&sweep, &lock, &bench, options.discard_events);
    runs::say_finished(running.campaign());
    let mut progress = Progress::new();
    let swept = running.run(&mut |step| {
        // The name of a point is its number, then what it varies.
        let values = step.subject.name.split_once('-').map_or("", |(_, values)| values);
        progress.show(&format!("{} of {}: {values}", step.number, step.of), step.done)
    })?;
    progress.finish();
    if let Some(text) = swept.unfinished {
        eprintln!("tacho: {text}; --resume -o {} goes on", run.path().display());
    }
    explain::show(&run, &running.figures()?, options.json)?;
    report::write(std::slice::from_ref(&run), &run.path().join("report.html"))?;
    eprintln!("tacho: run: {}", run.path().display());
    verdict(&swept.failures)
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

/// What is to be run, and a name for its run directory.
fn read(options: &Options) -> Result<(Sweep, String), Failure> {
    let overrides =
        Overrides { short: options.short, duration: options.duration, repeats: options.repeats, seed: options.seed };
    if let Some(path) = &options.workload {
        return Ok((check::read_sweep(path, &overrides)?, runs::stem(path)));
    }
    if options.generated.topology.is_empty() {
        // A sweep holds the file that it runs.
        let path = options.out.out.as_ref().map(|out| RunDirectory::new(out).workload()).unwrap_or_default();
        return Ok((check::read_sweep(&path, &overrides)?, runs::stem(&path)));
    }
    let text = generate::workload(&options.generated);
    Ok((check::sweep_of(&text, "the workload of --topology", &overrides)?, generate::name(&options.generated)))
}

/// One workload: the run directory is its own.
fn single(options: &Options, bench: &Bench<'_>, point: &SweepPoint, name: &str) -> Outcome {
    let workload = &point.workload;
    let run = runs::create(options.out.out.clone(), name)?;
    let lock = RunLock::take(run.path(), "runs this workload")?;
    let subjects = vec![Subject::new(name, workload, bench, run.clone())];
    let campaign = Campaign {
        order: in_turns(&subjects),
        subjects,
        lock: &lock,
        interrupted: bench.interrupted,
        command: bench.command.clone(),
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
            let what = if repeats > 1 { format!("repeat {} of {repeats}: ", step.repeat + 1) } else { String::new() };
            progress.show(&format!("{what}{}", step.what), step.done)
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
    if ran > 0 {
        let summary = analysis::store(&run, Some(workload))?;
        explain::show(&run, &summary, options.json)?;
    }
    if options.discard_events {
        let mut directories = run.repeats()?;
        directories.push(run.clone());
        directories.iter().try_for_each(RunDirectory::discard_events)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    verdict(ended.deaths.iter().map(|(_, death)| death))
}
