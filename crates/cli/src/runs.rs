//! Run directories as the command line names them.

use crate::exit::{Failure, Outcome};
use anyhow::Context;
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tacho_campaign::{Campaign, RunLock, LOCK};
use tacho_events::regular;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_events::wall::rfc3339;
use tacho_printing::Lines;
use tacho_workload::Workload;

/// What `run.json` says is missing until an import has come to its end.
const UNFINISHED_IMPORT: &str = "the import did not come to its end";
/// Folder of the runs of the workload as it was.
pub const UNTUNED: &str = "untuned";
/// Folder of the runs at study E's common rate.
pub const COMMON_RATE: &str = "common_rate";
/// Folder of the run that a tuning measured first.
pub const MEASURED: &str = "measured";
/// Folder of the runs that wake on arrival.
pub const ARRIVAL: &str = "arrival";
/// Runs of a folder that an error names.
const MOST_LISTED: usize = 20;
/// Folder of the runs of the plan that a search found.
pub const PLANNED: &str = "planned";
/// Folders of the runs of the tuned ones.
pub const METHOD_DIRECTORIES: [&str; 3] = [COMMON_RATE, ARRIVAL, PLANNED];

/// Makes the directory that a verb writes: the one asked for, else `runs/<name>-<UTC date and time>`, to which
/// `runs/latest` then points. It refuses a directory that holds anything, so that no run is ever overwritten.
pub fn create(asked: Option<PathBuf>, name: &str) -> Result<RunDirectory, Failure> {
    let Some(path) = asked else { return create_dated(Path::new("runs"), name, SystemTime::now()) };
    if occupied(&path)? {
        return Err(Failure::Usage(format!(
            "{}: holds something already; expected a new or an empty directory",
            path.display()
        )));
    }
    std::fs::create_dir_all(&path).with_context(|| format!("{}: cannot be made", path.display()))?;
    Ok(RunDirectory::new(path))
}

/// Does the same as [`create`] for a run that an import makes. The directory stays locked until the import has come to
/// its end, so that only one of several imports into it goes on. The directory also notes that it is unfinished, so
/// that nobody takes what a killed import left for a run.
pub fn create_import(asked: Option<PathBuf>, name: &str, info: &RunInfo) -> Result<(RunDirectory, RunLock), Failure> {
    let run = create(asked, name)?;
    let lock = RunLock::take(run.path(), "imports into it")?;
    // Another import may have come to its end between the look into the directory and its lock.
    if occupied(run.path())? {
        return Err(Failure::Usage(format!(
            "{}: holds something by now; expected a new or an empty directory",
            run.path().display()
        )));
    }
    let begun = RunInfo { cut_short: true, missing: vec![UNFINISHED_IMPORT.into()], ..info.clone() };
    run.write_info(&begun).context("run.json")?;
    Ok((run, lock))
}

/// Why a directory holds no run yet; `None` if it holds one.
fn unfinished(run: &RunDirectory, info: &RunInfo) -> Option<String> {
    if !info.missing.iter().any(|missing| missing == UNFINISHED_IMPORT) {
        return None;
    }
    let (path, command) = (run.path().display(), info.command.join(" "));
    if RunLock::is_held(run.path()) {
        return Some(format!(
            "{path}: an import into it goes on; expected one that has ended (wait, or end it with ^C)"
        ));
    }
    Some(format!(
        "{path}: {UNFINISHED_IMPORT}: its events are not whole, and its figures are missing; remove it, and make it \
         anew: {command}"
    ))
}

/// Makes a new directory `<name>-<UTC date and time>`. Runs may start in the same second: the second of them ends in
/// `-2`, and so on.
fn create_dated(folder: &Path, name: &str, now: SystemTime) -> Result<RunDirectory, Failure> {
    let made = |path: &Path| format!("{}: cannot be made", path.display());
    std::fs::create_dir_all(folder).with_context(|| made(folder))?;
    let dated = format!("{name}-{}", timestamp(now));
    for number in 1_u32.. {
        let path = folder.join(if number == 1 { dated.clone() } else { format!("{dated}-{number}") });
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            done => {
                done.with_context(|| made(&path))?;
                point_latest(&path)?;
                return Ok(RunDirectory::new(path));
            }
        }
    }
    unreachable!("a second has fewer runs than u32 has numbers")
}

/// Does the same as [`create`], but the directory may hold the run that it builds upon, as `runs/demo` holds
/// `runs/demo/recorded`.
pub fn create_beside(
    asked: Option<PathBuf>,
    name: &str,
    built_upon: Option<&RunDirectory>,
) -> Result<RunDirectory, Failure> {
    match (asked, built_upon) {
        (Some(path), Some(run)) if run.path().parent() == Some(&path) && std::fs::read_dir(&path)?.count() == 1 => {
            Ok(RunDirectory::new(path))
        }
        (asked, _) => create(asked, name),
    }
}

fn occupied(path: &Path) -> Result<bool, Failure> {
    match std::fs::read_dir(path) {
        // A killed process may have left this before it wrote anything else.
        Ok(mut entries) => Ok(entries.any(|entry| entry.map_or(true, |entry| entry.file_name() != LOCK))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::Usage(format!("{}: {error}", path.display()))),
    }
}

fn point_latest(path: &Path) -> Outcome {
    let latest = path.with_file_name("latest");
    let target = path.file_name().expect("made of a name and a time");
    // It is renamed into its place: of runs that start at once, each replaces the link of another.
    let mut new = target.to_owned();
    new.push(".latest");
    let new = path.with_file_name(new);
    let linked = std::os::unix::fs::symlink(target, &new).and_then(|()| std::fs::rename(&new, &latest));
    linked.with_context(|| latest.display().to_string())?;
    Ok(())
}

/// Opens a run directory for reading. If there is none, the usage error describes what is there instead.
pub fn open(path: &Path) -> Result<RunDirectory, Failure> {
    let run = RunDirectory::new(path);
    match run.info() {
        Ok(info) => match unfinished(&run, &info) {
            Some(why) => Err(Failure::Usage(why)),
            None => Ok(run),
        },
        Err(error) => Err(Failure::Usage(format!("{}: {}", path.display(), no_run(path, &error)))),
    }
}

/// Lists the runs that a path means: itself, or, for a directory of `tacho tune --prove`, the runs in it, the untuned
/// one first.
pub fn meant(path: &Path) -> Result<Vec<RunDirectory>, Failure> {
    if !path.join(UNTUNED).is_dir() {
        // A tuning that was not proved has only the run that it measured, if it made one.
        let measured = path.join(MEASURED);
        return Ok(vec![open(if measured.is_dir() { &measured } else { path })?]);
    }
    let mut found = vec![open(&path.join(UNTUNED))?];
    for method in METHOD_DIRECTORIES {
        if path.join(method).is_dir() {
            found.push(open(&path.join(method))?);
        }
    }
    Ok(found)
}

/// Describes a path that holds no run.
fn no_run(path: &Path, error: &std::io::Error) -> String {
    const WANTED: &str = "expected a run directory, as tacho record, import and bench write";
    let above = path.ancestors().skip(1).find(|above| above.join("run.json").is_file());
    let trace = ["metadata", "ust", "kernel", "metadata.yaml"].iter().any(|name| path.join(name).exists());
    match (error.kind(), above) {
        (ErrorKind::NotFound | ErrorKind::NotADirectory, Some(run)) => {
            format!("not a run directory; it lies within that of {}", run.display())
        }
        _ if path.is_file() => format!("a file; {WANTED}"),
        (ErrorKind::NotFound, _) if !path.exists() => format!("no such directory; {WANTED}"),
        (ErrorKind::NotFound, _) if trace => format!(
            "no run directory, it looks like a trace or a bag: tacho import {0} -o RUN makes a run of it",
            path.display()
        ),
        (ErrorKind::NotFound, _) => match runs_in(path).as_slice() {
            [] => format!("no run.json in it; {WANTED}"),
            found => format!("a folder of runs; expected one of them: {}", listed(found)),
        },
        _ => format!("not a run directory: {error}"),
    }
}

/// The names of the runs that a folder holds, without links to them.
fn runs_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_run = |entry: &std::fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.path().join("run.json").is_file()
    };
    let mut names: Vec<String> =
        entries.filter(is_run).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn listed(names: &[String]) -> String {
    let more =
        if names.len() > MOST_LISTED { format!(" and {} more", names.len() - MOST_LISTED) } else { String::new() };
    names[..names.len().min(MOST_LISTED)].join(", ") + &more
}

/// Whether a recording has come to its end: while it goes on, a run is written as if it were cut short.
pub fn has_ended(run: &RunDirectory) -> bool {
    run.info().is_ok_and(|info| !info.cut_short)
}

/// The workload of a run; a recorded program has none.
pub fn workload(run: &RunDirectory) -> Result<Option<Workload>, Failure> {
    Ok(tacho_figures::workload(run)?)
}

/// Prints how much of a campaign an earlier attempt finished, if there was one.
pub fn say_finished(campaign: &Campaign<'_>) {
    match campaign.finished() {
        0 => {}
        finished => eprintln!("tacho: {finished} of {} runs are finished", campaign.order.len()),
    }
}

/// Reads a text file named on the command line; it is a usage error if that fails.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    regular::read_text_or_pipe(path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}

/// Prints what `--json` asks for: names and texts exactly as they are.
pub fn print_json(value: &impl Serialize) -> Outcome {
    let text = serde_json::to_string_pretty(value).context("figures as JSON")?;
    print(&tacho_printing::json(&text))
}

/// Prints to stdout. A reader that has seen enough and closed the pipe causes no failure.
pub fn print(lines: &Lines) -> Outcome {
    print_to(&mut std::io::stdout(), lines)
}

/// Prints to another stream in the same way.
pub fn print_to(output: &mut impl Write, lines: &Lines) -> Outcome {
    match lines.write(output) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Returns the name of a workload file, for a run directory.
pub fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy().into_owned())
}

/// The command line of this process.
pub fn command() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Formats the time as `20261121-013005`, UTC.
fn timestamp(now: SystemTime) -> String {
    rfc3339(now).replace(['-', ':', 'Z'], "").replace('T', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn timestamps_are_utc_and_sort_by_time() {
        assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(1_000_000_000)), "20010909-014640");
    }

    #[test]
    fn what_is_no_run_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| match open(path) {
            Err(Failure::Usage(text)) => text,
            other => panic!("{other:?}"),
        };
        std::fs::create_dir_all(folder.path().join("trace/ust")).unwrap();
        std::fs::create_dir_all(folder.path().join("run/tables")).unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(said(&folder.path().join("none")).contains("no such directory"));
        assert!(said(folder.path()).contains("no run.json in it"));
        assert!(said(&folder.path().join("file")).contains("a file"));
        assert!(said(&folder.path().join("trace")).contains("tacho import"));
        std::fs::write(folder.path().join("run/run.json"), "{").unwrap();
        assert!(said(folder.path()).contains("a folder of runs; expected one of them: run"));
        assert!(said(&folder.path().join("run/tables")).contains("lies within"));
        assert!(said(&folder.path().join("run")).contains("EOF"), "{}", said(&folder.path().join("run")));
    }

    #[test]
    fn runs_that_start_in_the_same_second_have_directories_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let runs: std::collections::BTreeSet<PathBuf> = std::thread::scope(|scope| {
            let run = || create_dated(folder.path(), "x", UNIX_EPOCH).unwrap().path().to_owned();
            let started: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
            started.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(runs.len(), 8, "{runs:?}");
        let latest = folder.path().join("latest").canonicalize().unwrap();
        assert!(runs.iter().any(|run| run.canonicalize().unwrap() == latest));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 9, "nothing else is left");
    }

    #[test]
    fn a_directory_that_holds_something_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), "").unwrap();
        assert!(matches!(create(Some(folder.path().to_owned()), "x"), Err(Failure::Usage(_))));
        assert!(create(Some(folder.path().join("new")), "x").is_ok());
    }
}
