//! `tacho drive`

use crate::exit::{verdict, Failure, Outcome};
use crate::live_page::{self, LivePage};
use crate::options::{Drive as Options, Scheduler};
use crate::{check, explain, interrupt, running, runs, simulate};
use anyhow::Context;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tacho_campaign::Running;
use tacho_events::run::RunDirectory;
use tacho_figures::drive::{has_vehicle, Drive};
use tacho_printing::Lines;
use tacho_runner::bench::Bench;
use tacho_runner::install::Installation;
use tacho_simulate::Simulator;
use tacho_tables::store;
use tacho_tables::summary::{Drives, Point};
use tacho_workload::tasks::{aimed_speeds, SPEED};
use tacho_workload::{instances_hz, Sweep, SweepPoint, Workload};
use tiny_http::Server;

/// What --watch shows, and how often.
const WATCHED: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(1));

pub fn run(options: Options) -> Outcome {
    let installation = Installation::find().context("installation")?;
    let (sweep, hz) = read(&options, &installation)?;
    let interrupted = interrupt::catch()?;
    let name = runs::stem(&options.workload);
    if options.is_virtual {
        let costs = simulate::costs(&options.costs, None, &sweep)?;
        let tasks = installation.tasks().context("libraries of tasks")?;
        let simulator = Simulator {
            scheduler: options.scheduler != Scheduler::Off,
            command: runs::command(),
            tasks: &tasks,
            ..Simulator::new(&costs, simulate::cpus(options.cpus, &costs), interrupted)
        };
        let discard_events = sweep.points.len() > 1 || options.resume;
        let by = Running { runner: &simulator, interrupted, command: runs::command(), discard_events };
        let outcome = drive(&options, &sweep, &name, hz, &by);
        simulate::say_spent(&simulator);
        return outcome;
    }
    let bench = Bench {
        installation: &installation,
        command: runs::command(),
        recorded: true,
        scheduler: options.scheduler.when(),
        cpu_time: false,
        interrupted,
    };
    let by = Running { runner: &bench, interrupted, command: runs::command(), discard_events: false };
    drive(&options, &sweep, &name, hz, &by)
}

/// Drives a workload, or every point of a sweep. `hz`: rate of their instances.
fn drive(options: &Options, sweep: &Sweep, name: &str, hz: Option<f64>, by: &Running<'_>) -> Outcome {
    let server = watcher(options, sweep)?;
    let ([point], false) = (sweep.points.as_slice(), options.resume) else {
        return drive_all(options, sweep, name, by);
    };
    let workload = &point.workload;
    let run = runs::create(options.out.out.clone(), name)?;
    let made = || running::made(&run, by, workload, name);
    let (summary, deaths) = match server {
        Some(server) => watched(server, (&run, workload, name), made)?,
        None => made()?,
    };
    if let Some(summary) = summary {
        explain::show(&run, &summary, options.json)?;
    }
    let drives = drives(&run)?;
    let instances = hz.map(|hz| (workload.run.duration.as_secs_f64() * hz).round());
    let is_good = drives.iter().all(|drive| drive.is_some_and(|drive| drive.is_good()));
    end(options, &run, &lines(&drives, instances), &deaths, is_good)
}

/// Takes the port of --watch, before anything is written.
fn watcher(options: &Options, sweep: &Sweep) -> Result<Option<Server>, Failure> {
    let Some(port) = options.watch else { return Ok(None) };
    let repeats: u32 = sweep.points.iter().map(|point| point.workload.run.repeats).sum();
    if repeats != 1 {
        return Err(Failure::Usage(format!(
            "--watch shows one drive: found {repeats}; expected no sweep and one repeat"
        )));
    }
    live_page::bind(port).map(Some)
}

/// Drives, and shows it meanwhile to browsers.
fn watched<T>(
    server: Server,
    (run, workload, label): (&RunDirectory, &Workload, &str),
    drive: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut page = LivePage::new(server, run, label, Some(workload.clone()), WATCHED);
    eprintln!("tacho: {} shows the drive", page.address());
    let has_returned = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stop = || has_returned.load(Ordering::Relaxed);
        let server = scope.spawn(move || page.serve(stop, || stop() || runs::has_ended(run)));
        let driven = drive();
        has_returned.store(true, Ordering::Relaxed);
        let served = server.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let driven = driven?;
        served.map(|()| driven)
    })
}

/// Drives every point of a sweep.
fn drive_all(options: &Options, sweep: &Sweep, name: &str, by: &Running<'_>) -> Outcome {
    let (run, failures) = running::swept(sweep, name, by, &options.out, options.resume, options.json)?;
    let points = store::read_summary(&run).with_context(|| run.path().display().to_string())?.points;
    let is_good = points.len() == sweep.points.len()
        && points.iter().all(|point| point.drives.is_some_and(|drives| drives.good == drives.of));
    end(options, &run, &rates_of_success(&points), &failures, is_good)
}

fn end(options: &Options, run: &RunDirectory, lines: &Lines, failures: &[String], is_good: bool) -> Outcome {
    if options.json {
        runs::print_to(&mut std::io::stderr(), lines)?;
    } else {
        runs::print(lines)?;
    }
    eprintln!("tacho: run: {}", run.path().display());
    verdict(failures)?;
    if is_good {
        Ok(())
    } else {
        Err(Failure::Code(1))
    }
}

/// The rate of success of each point, in a line.
fn rates_of_success(points: &[Point]) -> Lines {
    let mut lines = Lines::new();
    lines.line(format_args!(""));
    lines.line(format_args!("Success, with its 95 % interval (Clopper and Pearson):"));
    for point in points {
        let values: Vec<&str> = point.parameters.values().map(String::as_str).collect();
        let values = values.join(", ");
        match &point.drives {
            Some(Drives { good, of, success_percent, success_low_percent: low, success_high_percent: high }) => lines
                .line(format_args!(
                    "  {values}: {good} of {of} drives, {success_percent:.1} % ({low:.1} % to {high:.1} %)"
                )),
            None => lines.line(format_args!("  {values}: no vehicle reported a drive")),
        }
    }
    lines
}

/// The workloads with what the options change, and the rate of their instances, if all have one and the same.
fn read(options: &Options, installation: &Installation) -> Result<(Sweep, Option<f64>), Failure> {
    let mut overrides = options.varied.overrides();
    let mut sweep = check::read_sweep(&options.workload, &overrides)?;
    for point in &sweep.points {
        has_vehicle(&point.workload)
            .map_err(|found| Failure::Usage(format!("{}: {found}", options.workload.display())))?;
    }
    if let Some(speed) = &options.speed {
        overrides.set.extend(set_speed(options, installation, &sweep, speed)?);
        sweep = check::read_sweep(&options.workload, &overrides)?;
    }
    let hz_at = |point: &SweepPoint| instances_hz(&point.workload, point.workload.chains.first()?);
    let first = hz_at(&sweep.points[0]);
    let hz = first.filter(|_| sweep.points.iter().all(|point| hz_at(point) == first));
    if let Some(instances) = options.instances {
        let Some(hz) = hz else {
            return Err(Failure::Usage(
                "--instances: the workload has no chain whose first node sends to its second at a known rate, the \
                 same at all points; expected one, or --duration"
                    .into(),
            ));
        };
        overrides.duration = Some(Duration::from_secs_f64(f64::from(instances) / hz));
        sweep = check::read_sweep(&options.workload, &overrides)?;
    }
    Ok((sweep, hz))
}

/// Sets the speed at which planning aims.
fn set_speed(
    options: &Options,
    installation: &Installation,
    sweep: &Sweep,
    speed: &str,
) -> Result<Vec<String>, Failure> {
    let kinds = installation.tasks().context("libraries of tasks")?;
    let workload = &sweep.points[0].workload;
    let set = |(place, _): (usize, f64)| format!("{}.work.{SPEED}={speed}", workload.nodes[place].name);
    let set: Vec<String> = aimed_speeds(workload, &kinds).map(set).collect();
    if set.is_empty() {
        return Err(Failure::Usage(format!(
            "--speed {speed}: no task of {} has a parameter `{SPEED}`, expected one such as `trajectory`",
            options.workload.display()
        )));
    }
    Ok(set)
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
