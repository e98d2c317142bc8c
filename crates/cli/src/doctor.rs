//! `tacho doctor`

use crate::exit::{Failure, Outcome};
use crate::options::Doctor;
use crate::{explain, runs};
use std::path::Path;
use tacho_printing::Lines;
use tacho_runner::doctor::{diagnose, render, size, Facts};
use tacho_runner::leftovers::{leftovers, Leftover, Mode};
use tacho_runner::machine::machine;

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

/// What killed runs left goes, as far as nothing is in doubt; each object is a line.
fn clean(json: bool) -> Outcome {
    let found = leftovers(Mode::Remove)?;
    if json {
        return runs::print_json(&found);
    }
    let mut lines = Lines::new();
    for left in &found {
        lines.line(match &left.stays {
            None => format!("removed  {}  {}, of {}", left.what, size(left.bytes), left.run.trim_end_matches(',')),
            Some(why) => format!("stays    {}  {why}", left.what),
        });
    }
    let removed: Vec<&Leftover> = found.iter().filter(|left| left.stays.is_none()).collect();
    lines.line(match found.len() {
        0 => "killed runs of this user left nothing".to_owned(),
        all => {
            let bytes = removed.iter().map(|left| left.bytes).sum();
            format!("{} objects removed ({}), {} stay", removed.len(), size(bytes), all - removed.len())
        }
    });
    runs::print(&lines)
}
