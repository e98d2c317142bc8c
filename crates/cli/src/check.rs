//! `tacho check`

use crate::exit::{Failure, Outcome};
use crate::options::Check;
use crate::runs::{print, read_text};
use anyhow::Context;
use std::path::Path;
use std::time::Duration;
use tacho_printing::{lines_to_stderr, Lines};
use tacho_runner::install::Installation;
use tacho_workload::tasks::TaskKind;
use tacho_workload::units::format_duration;
use tacho_workload::{Overrides, Sweep, Warning, Workload};

pub fn run(options: Check) -> Outcome {
    let mut bad = 0;
    for path in &options.workloads {
        match in_order(path, &options) {
            Ok(lines) => print(&lines)?,
            Err(Failure::Usage(text)) => {
                eprintln!("{text}");
                bad += 1;
            }
            Err(Failure::Mistakes(errors)) => {
                lines_to_stderr(&Lines::composed(&format!("{errors}\n")));
                bad += 1;
            }
            Err(failure) => return Err(failure),
        }
    }
    if bad > 0 {
        return Err(Failure::Code(2));
    }
    Ok(())
}

/// Describes what a file holds, in a line for each form that it has.
fn in_order(path: &Path, options: &Check) -> Result<Lines, Failure> {
    let full = read_sweep(path, &Overrides::default())?;
    let short = if options.short || full.has_short {
        Some(read_sweep(path, &Overrides { short: true, ..Overrides::default() })?)
    } else {
        None
    };
    let mut out = Lines::new();
    out.line(format_args!("{}: in order ({})", path.display(), contents(&full)));
    if let Some(short) = &short {
        out.line(format_args!("{}: --short in order ({})", path.display(), contents(short)));
    }
    if options.points {
        for point in &short.filter(|_| options.short).unwrap_or(full).points {
            out.line(format_args!("  {}", listed(point)));
        }
    }
    Ok(out)
}

fn contents(sweep: &Sweep) -> String {
    match sweep.points.as_slice() {
        [point] => {
            let Workload { nodes, chains, middleware, .. } = &point.workload;
            format!("{} nodes, {} chains, middleware {middleware}", nodes.len(), chains.len())
        }
        points => {
            let runs: u64 = points.iter().map(|point| u64::from(point.workload.run.repeats)).sum();
            let measured = time(sweep.measured());
            format!(
                "a sweep of {} points, {runs} runs, {measured} of measuring and a few seconds more for each run",
                points.len()
            )
        }
    }
}

/// Writes a time as a person plans with it: `90 s`, `27 min`, `3.5 h`.
fn time(measured: Duration) -> String {
    match measured.as_secs_f64() {
        seconds if seconds < 120.0 => format_duration(measured),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

fn listed(point: &tacho_workload::SweepPoint) -> String {
    let parameters: Vec<String> = point.parameters.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let run = &point.workload.run;
    let time = format!("{} x {}", run.repeats, format_duration(run.duration));
    format!("{}  {time}  {}", point.name, parameters.join(", ")).trim_end().to_owned()
}

/// Reads a workload file that is no sweep. Warnings go to stderr; a mistake is a usage error that shows each place.
pub fn read(path: &Path) -> Result<Workload, Failure> {
    let text = read_text(path)?;
    let overrides = Overrides { tasks: tasks(&text)?, ..Overrides::default() };
    let (workload, warnings) = tacho_workload::parse_with(&text, &path.display().to_string(), &overrides)?;
    say(&warnings);
    Ok(workload)
}

/// Reads a workload file that may be a sweep.
pub fn read_sweep(path: &Path, overrides: &Overrides) -> Result<Sweep, Failure> {
    sweep_of(&read_text(path)?, &path.display().to_string(), overrides)
}

/// Reads the text of a workload that may be a sweep; messages call it `name`.
pub fn sweep_of(text: &str, name: &str, overrides: &Overrides) -> Result<Sweep, Failure> {
    let overrides = Overrides { tasks: tasks(text)?, ..overrides.clone() };
    let (sweep, warnings) = tacho_workload::sweep(text, name, &overrides)?;
    say(&warnings);
    Ok(sweep)
}

/// The kinds of tasks that are installed; unknown if nothing is installed, or if the text names no task, so that no
/// library is loaded in vain.
fn tasks(text: &str) -> Result<Option<Vec<TaskKind>>, Failure> {
    let installation = text.contains("task").then(Installation::find).and_then(Result::ok);
    Ok(installation.map(|found| found.tasks()).transpose().context("libraries of tasks")?)
}

pub(crate) fn say(warnings: &[Warning]) {
    warnings.iter().for_each(|warning| lines_to_stderr(&Lines::composed(&format!("{warning}\n\n"))));
}
