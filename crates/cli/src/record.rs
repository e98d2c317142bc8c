//! `tacho record`

use crate::explain;
use crate::exit::{Failure, Outcome};
use crate::options::Record;
use crate::progress::Progress;
use crate::runs;
use anyhow::Context;
use std::path::Path;
use tacho_runner::install::Installation;
use tacho_runner::recording::{self, Error, Wanted};

pub fn run(options: Record) -> Outcome {
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
        let mut progress = Progress::new();
        let summary = tacho_analysis::analyse_and_store(&run, None, &mut |p| progress.show("reading events", p.part()))
            .context("analysis of the run")?;
        progress.finish();
        explain::show(&run, &summary, options.json)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    match u8::try_from(recorded.code) {
        Ok(0) => Ok(()),
        Ok(code) => Err(Failure::Code(code)),
        Err(_) => Err(Failure::Code(3)),
    }
}
