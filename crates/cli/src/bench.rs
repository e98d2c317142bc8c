//! `tacho bench`

use crate::exit::{verdict, Failure, Outcome};
use crate::lock::RunLock;
use crate::options::Bench as Options;
use crate::progress::Progress;
use crate::sweep::SweepRun;
use crate::{analysis, check, explain, generate, interrupt, report, runs, sweep, unrecorded};
use anyhow::Context;
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
        return Err(Failure::Usage("a sweep without a recorder has no figures; expected one workload with --unrecorded".into()));
    }
    let run = match (&options.out.out, options.resume) {
        (Some(path), true) => sweep::resume(path, &sweep)?,
        (Some(path), false) if path.join("points").is_dir() => {
            let expected = "expected a new directory, or --resume to go on with what is there";
            return Err(Failure::Usage(format!("{}: holds a sweep already; {expected}", path.display())));
        }
        _ => runs::create(options.out.out.clone(), &name)?,
    };
    let _lock = RunLock::take(run.path())?;
    let mut running = SweepRun::new(&sweep, &run, &bench, options.discard_events);
    let failures = running.run()?;
    explain::show(&run, &running.figures()?, options.json)?;
    report::write(&[run.clone()], &run.path().join("report.html"))?;
    eprintln!("tacho: run: {}", run.path().display());
    verdict(&failures)
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
    let mut progress = Progress::new();
    let repeats = workload.run.repeats;
    let mut ran = Vec::new();
    for repeat in 0..repeats {
        let directory = if repeats > 1 { run.repeat(repeat) } else { run.clone() };
        let what = if repeats > 1 { format!("repeat {} of {repeats}: ", repeat + 1) } else { String::new() };
        ran.push(bench.repeat(workload, repeat, &directory, &mut |p| {
            progress.show(&format!("{what}{}", p.what), (f64::from(repeat) + p.done) / f64::from(repeats))
        })?);
        if bench.is_interrupted() {
            break;
        }
    }
    progress.finish();
    if repeats > 1 {
        bench.write_whole(workload, &run, &ran.iter().map(|ran| ran.info.clone()).collect::<Vec<_>>())?;
    }
    let summary = analysis::store(&run, Some(workload))?;
    explain::show(&run, &summary, options.json)?;
    if options.discard_events {
        let mut directories = run.repeats()?;
        directories.push(run.clone());
        directories.iter().try_for_each(RunDirectory::discard_events)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    verdict(ran.iter().flat_map(|ran| &ran.failures))
}
