//! `tacho record`

use crate::explain;
use crate::exit::{Failure, Outcome};
use crate::interrupt;
use crate::options::Record;
use crate::progress::Progress;
use crate::runs;
use anyhow::Context;
use std::path::Path;
use tacho_events::RunDirectory;
use tacho_runner::attach;
use tacho_runner::install::Installation;
use tacho_runner::recording::{self, Error, Wanted};

pub fn run(options: Record) -> Outcome {
    if !options.attach.is_empty() {
        return attached(options);
    }
    let installation = Installation::find().context("installation")?;
    let name = Path::new(&options.command[0]).file_stem().map_or("record".into(), |name| name.to_string_lossy().into_owned());
    let run = runs::create(options.out.out, &name)?;
    let wanted = Wanted { max_bytes: options.max_mib << 20, scheduler: options.scheduler.when(), cpu_time: options.cpu_time };
    let recorded = recording::record(&options.command, &run, &installation.recorder(), wanted).map_err(|error| match error {
        Error::Command { .. } => Failure::Usage(error.to_string()),
        error => Failure::Fault(error.into()),
    })?;

    for missing in &recorded.info.missing {
        eprintln!("tacho: {missing}");
    }
    if recorded.nothing_recorded.is_none() {
        show(&run, options.json)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    match u8::try_from(recorded.code) {
        Ok(0) => Ok(()),
        Ok(code) => Err(Failure::Code(code)),
        Err(_) => Err(Failure::Code(3)),
    }
}

fn attached(options: Record) -> Outcome {
    let run = runs::create(options.out.out, "attached")?;
    let interrupted = interrupt::catch()?;
    let pids = options.attach.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let on_attached = || eprintln!("tacho: attached to {pids}; ^C ends the recording, the programs go on");
    let recorded = attach::record(&options.attach, &run, interrupted, options.duration, on_attached);
    let (info, processes) = recorded.map_err(|error| match error {
        attach::Error::Process { .. } => Failure::Usage(error.to_string()),
        error => Failure::Fault(error.into()),
    })?;
    info.missing.iter().for_each(|missing| eprintln!("tacho: {missing}"));
    if processes.iter().any(|process| process.events > 0) {
        show(&run, options.json)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    Ok(())
}

fn show(run: &RunDirectory, json: bool) -> Outcome {
    let mut progress = Progress::new();
    let summary =
        tacho_analysis::analyse_and_store(run, None, &mut |p| progress.show("reading events", p.part())).context("analysis of the run")?;
    progress.finish();
    explain::show(run, &summary, json)
}
