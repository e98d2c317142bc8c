//! `tacho doctor`

use crate::exit::{Failure, Outcome};
use crate::options::Doctor;
use crate::{explain, runs};
use std::path::Path;
use tacho_printing::Lines;
use tacho_runner::doctor::{diagnose, render, Facts};
use tacho_runner::machine::machine;

pub fn run(options: Doctor) -> Outcome {
    let facts = Facts::read(Path::new("runs"));
    let diagnosis = diagnose(&facts, machine(), &options.allow).map_err(|error| Failure::Usage(error.to_string()))?;
    if options.json {
        runs::print_json(&diagnosis)?;
    } else {
        runs::print(&Lines::composed(&render(&diagnosis, explain::terminal().colour)))?;
    }
    if diagnosis.usable {
        Ok(())
    } else {
        Err(Failure::Code(1))
    }
}
