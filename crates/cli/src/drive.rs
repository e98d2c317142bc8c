//! `tacho drive`

use crate::exit::{verdict, Failure, Outcome};
use crate::options::Drive as Options;
use crate::{check, explain, interrupt, running, runs};
use anyhow::Context;
use std::time::Duration;
use tacho_campaign::Running;
use tacho_events::run::RunDirectory;
use tacho_figures::drive::{Drive, VEHICLE};
use tacho_printing::Lines;
use tacho_runner::bench::Bench;
use tacho_runner::install::Installation;
use tacho_workload::model::{Node, Work};
use tacho_workload::{rates, Overrides, Workload};

/// The parameter of planning that --speed sets.
const SPEED: &str = "speed";

pub fn run(options: Options) -> Outcome {
    let installation = Installation::find().context("installation")?;
    let (workload, hz) = read(&options, &installation)?;
    let interrupted = interrupt::catch()?;
    let bench = Bench {
        installation: &installation,
        command: runs::command(),
        recorded: true,
        scheduler: options.scheduler.when(),
        cpu_time: false,
        interrupted,
    };
    let name = runs::stem(&options.workload);
    let run = runs::create(options.out.out.clone(), &name)?;
    let by = Running { runner: &bench, interrupted, command: runs::command(), discard_events: false };
    let (summary, deaths) = running::made(&run, &by, &workload, &name)?;
    if let Some(summary) = summary {
        explain::show(&run, &summary, options.json)?;
    }
    let drives = drives(&run)?;
    let instances = hz.map(|hz| (workload.run.duration.as_secs_f64() * hz).round());
    let lines = lines(&drives, instances);
    if options.json {
        runs::print_to(&mut std::io::stderr(), &lines)?;
    } else {
        runs::print(&lines)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    verdict(&deaths)?;
    match drives.iter().all(|drive| drive.is_some_and(|drive| drive.is_good())) {
        true => Ok(()),
        false => Err(Failure::Code(1)),
    }
}

/// The workload with what the options change, and the rate of its instances, if it has one.
fn read(options: &Options, installation: &Installation) -> Result<(Workload, Option<f64>), Failure> {
    let mut overrides = options.varied.overrides(&options.set);
    let mut workload = single(options, &overrides)?;
    let vehicles = workload.nodes.iter().filter(|node| task(node) == Some(VEHICLE)).count();
    if vehicles != 1 {
        return Err(Failure::Usage(format!(
            "{}: found {vehicles} nodes of the task `{VEHICLE}`, expected one",
            options.workload.display()
        )));
    }
    if let Some(speed) = &options.speed {
        let kinds = installation.tasks().context("libraries of tasks")?;
        let has_speed = |node: &&Node| {
            let kind = kinds.iter().find(|kind| task(node) == Some(&kind.name));
            kind.is_some_and(|kind| kind.parameters.iter().any(|parameter| parameter.name == SPEED))
        };
        let set: Vec<String> =
            workload.nodes.iter().filter(has_speed).map(|node| format!("{}.work.{SPEED}={speed}", node.name)).collect();
        if set.is_empty() {
            return Err(Failure::Usage(format!(
                "--speed {speed}: no task of {} has a parameter `{SPEED}`, expected one such as `trajectory`",
                options.workload.display()
            )));
        }
        overrides.set.extend(set);
        workload = single(options, &overrides)?;
    }
    let hz = instances_hz(&workload);
    if let Some(instances) = options.instances {
        let Some(hz) = hz else {
            return Err(Failure::Usage(
                "--instances: the workload has no chain whose first node has a known rate; expected one, or --duration"
                    .into(),
            ));
        };
        workload.run.duration = Duration::from_secs_f64(f64::from(instances) / hz);
    }
    Ok((workload, hz))
}

fn single(options: &Options, overrides: &Overrides) -> Result<Workload, Failure> {
    let mut sweep = check::read_sweep(&options.workload, overrides)?;
    match sweep.points.len() {
        1 => Ok(sweep.points.remove(0).workload),
        points => Err(Failure::Usage(format!(
            "{}: found a sweep of {points} points, expected one workload; tacho bench runs sweeps",
            options.workload.display()
        ))),
    }
}

fn task(node: &Node) -> Option<&str> {
    match &node.work {
        Work::Task { name, .. } => Some(name),
        _ => None,
    }
}

/// Instances a second of the first chain: activations of its first node.
fn instances_hz(workload: &Workload) -> Option<f64> {
    let first = workload.chains.first()?.nodes.first()?;
    let index = workload.nodes.iter().position(|node| node.name == *first)?;
    rates(workload).activations_hz[index].filter(|hz| *hz > 0.0)
}

/// The drive of each repeat; `None` where no vehicle reported one.
fn drives(run: &RunDirectory) -> Result<Vec<Option<Drive>>, Failure> {
    let mut of_repeats = run.repeats()?;
    if of_repeats.is_empty() {
        of_repeats.push(run.clone());
    }
    of_repeats.iter().map(|repeat| Ok(Drive::of(&repeat.info()?))).collect()
}

fn lines(drives: &[Option<Drive>], instances: Option<f64>) -> Lines {
    let mut lines = Lines::new();
    let of = instances.map_or(String::new(), |instances| format!(" of {instances} instances each"));
    for (index, drive) in drives.iter().enumerate() {
        let which = if drives.len() > 1 { format!("Drive {}: ", index + 1) } else { String::new() };
        lines.line(format_args!(""));
        match drive {
            Some(drive) => {
                for (index, sentence) in drive.sentences().iter().enumerate() {
                    lines.line(format_args!("{}{sentence}", if index == 0 { which.as_str() } else { "" }));
                }
            }
            None => lines.line(format_args!("{which}no vehicle reported a drive.")),
        }
    }
    let good = drives.iter().filter(|drive| drive.is_some_and(|drive| drive.is_good())).count();
    lines.line(format_args!("Success: {good} of {} drives{of}.", drives.len()));
    lines
}
