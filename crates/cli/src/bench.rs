//! `tacho bench`

use crate::exit::{Failure, Outcome};
use crate::options::Bench as Options;
use crate::{check, generate, interrupt, running, runs, unrecorded};
use anyhow::Context;
use tacho_campaign::Running;
use tacho_events::run::RunDirectory;
use tacho_runner::bench::Bench;
use tacho_runner::install::Installation;
use tacho_workload::Sweep;

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
    if let ([point], false, Some(how)) = (sweep.points.as_slice(), options.resume, options.unrecorded) {
        return unrecorded::run(&options, how, &bench, point, &name);
    }
    if options.unrecorded.is_some() {
        return Err(Failure::Usage(
            "a sweep without a recorder has no figures; expected one workload with --unrecorded".into(),
        ));
    }
    let (command, discard_events) = (bench.command.clone(), options.discard_events);
    let by = Running { runner: &bench, interrupted, command, discard_events };
    running::run(&sweep, &name, &by, &options.out, options.resume, options.json)
}

/// What is to be run, and a name for its run directory.
fn read(options: &Options) -> Result<(Sweep, String), Failure> {
    let overrides = options.varied.overrides();
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
