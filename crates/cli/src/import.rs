//! `tacho import`

use crate::bench::{command, stem};
use crate::exit::{Failure, Outcome};
use crate::options::Import;
use crate::progress::Progress;
use crate::{explain, interrupt, runs};
use anyhow::Context;
use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use tacho_events::run::RunInfo;
use tacho_import::{Error, Reader};
use tacho_runner::recording::rfc3339;

pub fn run(options: Import) -> Outcome {
    let interrupted = interrupt::catch()?;
    // Traces that are none are refused before anything is written.
    let reader = Reader::open(&options.traces).map_err(refused)?;
    let run = runs::create(options.out.out, &stem(&options.traces[0]))?;
    let info = RunInfo {
        command: command(),
        tacho_version: env!("CARGO_PKG_VERSION").into(),
        started_at: rfc3339(SystemTime::now()),
        ..RunInfo::default()
    };
    let mut progress = Progress::new();
    let imported = tacho_import::import(reader, &run, info, &mut |p| {
        progress.show("reading traces", p.part());
        !interrupted.load(Ordering::Relaxed)
    })
    .map_err(refused)?;
    progress.finish();
    eprintln!("tacho: {} events of {} processes", imported.events, imported.processes);

    let mut progress = Progress::new();
    let summary = tacho_analysis::analyse_and_store(&run, None, &mut |p| progress.show("analysing events", p.part()))
        .context("analysis of the run")?;
    progress.finish();
    explain::show(&run, &summary, options.json)?;
    eprintln!("tacho: run: {}", run.path().display());
    Ok(())
}

/// What is no trace is bad usage; all else is a fault of the machine.
fn refused(error: Error) -> Failure {
    match error {
        Error::Io { ref source, .. } if source.kind() != ErrorKind::NotFound => Failure::Fault(error.into()),
        error => Failure::Usage(error.to_string()),
    }
}
