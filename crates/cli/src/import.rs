//! `tacho import`

use crate::exit::{causes, Failure, Outcome, NOTHING_OF_ROS};
use crate::options::Import;
use crate::progress::Progress;
use crate::{analysis, explain, interrupt, runs};
use anyhow::Context;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use tacho_events::join;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_events::wall::{rfc3339, to_the_second};
use tacho_figures::store_bag;
use tacho_import::{bag as bags, room, Error, Reader};
use tacho_tables::rows::{self, Rows};
use tacho_tables::Tables;

/// How many kinds of unused events the message names.
const SKIPPED_NAMED: usize = 3;

pub fn run(options: Import) -> Outcome {
    let other = options.traces.iter().find(|path| !join::is_recording(path));
    match (other, options.traces.iter().any(|path| join::is_recording(path))) {
        (None, _) => return join_runs(&options),
        (Some(other), true) => {
            let text = format!(
                "{}: no recording of tacho's; expected run directories alone, or traces alone",
                other.display()
            );
            return Err(Failure::Usage(text));
        }
        _ => {}
    }
    match bags::files(&options.traces).map_err(refused)? {
        Some(files) => import_bag(&options, &files),
        None => import_traces(options),
    }
}

/// Imports a bag. It has messages and no events, so its tables are made of it directly.
fn import_bag(options: &Import, files: &[PathBuf]) -> Outcome {
    let interrupted = interrupt::catch()?;
    let (run, _lock) = runs::create_import(options.out.out.clone(), &runs::stem(&options.traces[0]), &info())?;
    let mut messages = Rows::new();
    let mut progress = Progress::new();
    let read = bags::read(files, interrupted, &mut |message| messages.push(message), &mut |p| {
        progress.show("reading the bag", p.part());
        !interrupted.load(Ordering::Relaxed)
    });
    progress.finish();
    let read = read.map_err(refused)?;
    eprintln!("tacho: {} messages on {} topics", read.messages, read.topics.len());
    let info = RunInfo {
        verb: "import".into(),
        // Log times are times of the wall clock.
        started_at: read.span_ns.map_or(String::new(), |(first, _)| to_the_second(first)),
        duration_s: read.span_ns.map_or(0.0, |(first, last)| (last - first) as f64 / 1e9),
        cut_short: !read.complete,
        missing: read.problems.iter().map(ToString::to_string).collect(),
        ..info()
    };
    run.write_info(&info).context("run.json")?;
    let summary = store_bag(&run, &Tables::of_bag(read.topics, messages)).context("figures of the bag")?;
    explain::show(&run, &summary, options.json)?;
    eprintln!("tacho: run: {}", run.path().display());
    Ok(())
}

/// Joins recordings of several hosts or containers into one run.
fn join_runs(options: &Import) -> Outcome {
    let recordings: Vec<RunDirectory> = options.traces.iter().map(RunDirectory::new).collect();
    let (run, _lock) = runs::create_import(options.out.out.clone(), &runs::stem(&options.traces[0]), &info())?;
    let info = RunInfo { verb: "import".into(), ..info() };
    let joined = join::join(&recordings, &run, info).map_err(|error| match error {
        join::Error::Run { .. } => Failure::Usage(error.to_string()),
        error => Failure::Fault(error.into()),
    })?;
    joined.missing.iter().for_each(|missing| eprintln!("tacho: {missing}"));
    analysed(&run, options.json)
}

fn info() -> RunInfo {
    RunInfo {
        command: runs::command(),
        tacho_version: env!("CARGO_PKG_VERSION").into(),
        imported_at: Some(rfc3339(SystemTime::now())),
        ..RunInfo::default()
    }
}

fn import_traces(options: Import) -> Outcome {
    let interrupted = interrupt::catch()?;
    // Refuse what is no trace before anything is written.
    let reader = Reader::open(&options.traces).map_err(refused)?;
    let (run, _lock) = runs::create_import(options.out.out, &runs::stem(&options.traces[0]), &info())?;
    let bytes = reader.bytes();
    let short = room::short_of(bytes, run.path(), &rows::folder());
    short.iter().for_each(|short| eprintln!("tacho: {short}: the import may not finish"));
    let mut progress = Progress::new();
    let imported = tacho_import::import(reader, &run, info(), &mut |p| {
        progress.show("reading traces", p.part());
        !interrupted.load(Ordering::Relaxed)
    })
    .map_err(|error| match (is_full(&error), short.is_empty()) {
        (true, true) => full(&error, room::needed(bytes, run.path(), &rows::folder())),
        (true, false) => full(&error, None),
        _ => refused(error),
    })?;
    progress.finish();
    // The run is there; every reader of it can make its analysis anew.
    interrupt::release()?;
    if !imported.complete {
        eprintln!("tacho: interrupted: what was read until then is analysed");
    }
    let processes = if imported.processes == 1 { "process" } else { "processes" };
    eprintln!("tacho: {} events of {} {processes}", imported.events, imported.processes);
    if let Some(told) = skipped(&imported.skipped) {
        eprintln!("tacho: {told}");
    }
    analysed(&run, options.json)?;
    // Printed last, so that nobody overlooks it.
    if imported.complete && imported.of_ros == 0 {
        run.info().context("run.json")?.missing.first().into_iter().for_each(|nothing| eprintln!("tacho: {nothing}"));
        return Err(Failure::Code(NOTHING_OF_ROS));
    }
    Ok(())
}

/// Names the events that no figure uses, the most frequent kinds first.
fn skipped(kinds: &BTreeMap<String, u64>) -> Option<String> {
    let counts: Vec<(&str, u64)> = kinds.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    let all: u64 = kinds.values().sum();
    let named = tacho_import::most(&counts, SKIPPED_NAMED);
    (all > 0).then(|| format!("{all} events are of no use for its figures, or repeat others: {named}"))
}

fn analysed(run: &RunDirectory, json: bool) -> Outcome {
    let summary = analysis::store(run, None).map_err(|failure| match failure {
        Failure::Fault(error)
            if error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(is_storage_full)) =>
        {
            let path = run.path().display();
            Failure::Fault(anyhow::Error::msg(format!(
                "{}; its events are whole: once there is room, tacho report {path} completes it",
                causes(&error)
            )))
        }
        failure => failure,
    })?;
    explain::show(run, &summary, json)?;
    eprintln!("tacho: run: {}", run.path().display());
    Ok(())
}

fn is_storage_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn is_full(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if is_storage_full(source))
}

/// Reports a full disk, with the space that is needed if no message gave it before.
fn full(error: &Error, needed: Option<String>) -> Failure {
    let needed = needed.map_or(String::new(), |needed| format!(" ({needed})"));
    let rest = "the trace is unchanged, the unfinished run is unusable: remove it, and import to a disk with room";
    Failure::Fault(anyhow::Error::msg(format!("{error}{needed}; {rest}")))
}

/// What is no trace is bad usage; everything else is a fault of the machine.
fn refused(error: Error) -> Failure {
    match error {
        // The error names its cause itself.
        Error::Io { ref source, .. } if source.kind() != ErrorKind::NotFound => {
            Failure::Fault(anyhow::Error::msg(error.to_string()))
        }
        error => Failure::Usage(error.to_string()),
    }
}
