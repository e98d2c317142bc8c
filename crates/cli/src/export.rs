//! `tacho export`

use crate::exit::{Failure, Outcome};
use crate::options::{Export, Format};
use crate::progress::Progress;
use crate::{interrupt, runs};
use anyhow::Context;
use tacho_export::{Error, Watched};
use tacho_figures::Whole;

pub fn run(options: Export) -> Outcome {
    let run = runs::open(&options.run)?;
    let path = options.run.display();
    // Each repeat and each point has times of its own, which no timeline can show as one.
    for (parts, folder) in [(run.points(), "points"), (run.repeats(), "repeats")] {
        let parts = parts.with_context(|| path.to_string())?;
        if let Some(first) = parts.first() {
            let text =
                format!("{path}: has {} {folder}; expected one of them: {}", parts.len(), first.path().display());
            return Err(Failure::Usage(text));
        }
    }
    let stop = interrupt::catch()?;
    let mut shown = Progress::new();
    let mut watched = Watched { show: &mut |what, done| shown.show(what, done), stop };
    let written = match options.to {
        Format::Csv => tacho_export::tables_as_csv(&run, &options.out, &mut watched),
        Format::Mcap => {
            let Whole { tables, summary, .. } = tacho_figures::whole(&run, None)?;
            let offset_ns = run.info().with_context(|| path.to_string())?.realtime_offset_ns;
            if offset_ns.is_none() {
                eprintln!("tacho: {path}: its wall time is not known: times are those of its clock");
            }
            tacho_export::figures_over_time(&tables, &summary, offset_ns, &options.out, &mut watched)
        }
        Format::Perfetto => {
            let Whole { tables, summary, .. } = tacho_figures::whole(&run, None)?;
            tacho_export::perfetto(&tables, &summary, &options.out, &mut watched)
        }
    };
    shown.finish();
    match written {
        Ok(()) => {
            eprintln!("tacho: written: {}", options.out.display());
            Ok(())
        }
        Err(error @ Error::Interrupted(_)) => {
            eprintln!("tacho: {error}");
            Err(Failure::Code(interrupt::code()))
        }
        Err(error @ (Error::Occupied(_) | Error::NoTables(_))) => Err(Failure::Usage(error.to_string())),
        Err(error) => Err(Failure::Fault(error.into())),
    }
}
