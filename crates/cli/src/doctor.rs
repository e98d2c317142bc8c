//! `tacho doctor`

use crate::exit::{Failure, Outcome};
use crate::options::Doctor;
use crate::{explain, runs};
use std::path::Path;
use tacho_doctor::{diagnose, render, Facts};
use tacho_printing::size;
use tacho_printing::Lines;
use tacho_recording::machine::machine;
use tacho_runner::leftovers::{leftovers, removed, Mode};

pub fn run(options: Doctor) -> Outcome {
    if options.clean {
        return clean(options.json);
    }
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

/// Removes what killed runs left, if nothing about it is in doubt, and prints a line for each object.
fn clean(json: bool) -> Outcome {
    let found = leftovers(Mode::Remove)?;
    if json {
        return runs::print_json(&found);
    }
    let mut lines = Lines::new();
    for left in &found {
        lines.line(match &left.stays {
            None => format!("removed  {}  {}, of {}", left.what, size(left.bytes), left.run),
            Some(why) => format!("stays    {}  {why}", left.what),
        });
    }
    lines.line(if found.is_empty() {
        "killed runs of this user left nothing".to_owned()
    } else {
        let (count, bytes) = removed(&found);
        format!("{count} objects removed ({}), {} stay", size(bytes), found.len() - count)
    });
    runs::print(&lines)
}
