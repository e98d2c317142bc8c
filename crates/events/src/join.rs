//! Joins several recordings of one system into one run: of the hosts of a car, or of the containers of a host.
//!
//! It joins event files. Those of one boot share a clock. The analysis relates the clocks of several boots by the
//! messages between them.

use crate::file_error::{at, FileError};
use crate::layout::{FileHeader, Sync, HEADER_SIZE};
use crate::regular;
use crate::run::{EventGap, Load, RunDirectory, RunInfo};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why runs cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// One of them is no suitable run.
    #[error("{path}: {found}")]
    Run {
        /// The run directory.
        path: PathBuf,
        /// The problem, and what was expected.
        found: String,
    },
    /// A file or folder of the run.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Returns whether a path is a run directory with events of its own.
pub fn is_recording(path: &Path) -> bool {
    path.join("run.json").is_file() && path.join("events").is_dir()
}

/// Copies the events of `runs` into `to`, whose directory is there, and writes its `run.json`, made of `info` and
/// theirs; nothing of `runs` is changed. What analysis made of them is not taken over.
pub fn join(runs: &[RunDirectory], to: &RunDirectory, info: RunInfo) -> Result<RunInfo, Error> {
    let mut of_runs = Vec::new();
    for run in runs {
        if run.events().join("kept").exists() {
            let found = "its recording is a ring that goes on; expected what `tacho record --save` saved of it".into();
            return Err(Error::Run { path: run.path().to_owned(), found });
        }
        of_runs.push((run, run.info().map_err(at(run.path()))?, event_files(run)?));
    }
    let boots: BTreeSet<&str> =
        of_runs.iter().flat_map(|(.., files)| files.iter().filter_map(|(_, boot)| boot.as_deref())).collect();
    let one_clock = boots.len() < 2;
    let in_part = of_runs.iter().find(|(_, info, _)| info.measured_from_ns.or(info.measured_to_ns).is_some());
    if let (false, Some((run, ..))) = (one_clock, in_part) {
        let found = "only a part of it is measured (a bench, or a ring), with times of a clock that the other runs do \
                     not have; expected whole recordings of each host";
        return Err(Error::Run { path: run.path().to_owned(), found: found.into() });
    }
    let mut joined = info;
    let loads: Vec<&Load> = of_runs.iter().filter_map(|(_, info, _)| info.load.as_ref()).collect();
    joined.load = Load::joined(&loads, one_clock);
    let events = to.events();
    fs::create_dir(&events).map_err(at(&events))?;
    let mut clocks = Vec::new();
    for (number, (run, info, files)) in of_runs.iter().enumerate() {
        for (path, _) in files {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Two containers may have the same process ids; and files are read by name, so that the clock of the first
            // run is the first.
            let copy = events.join(format!("{number:04}-{name}"));
            fs::copy(path, &copy).map_err(at(path))?;
        }
        let sync = run.events().join("clock.sync");
        match regular::read(&sync) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {} // an imported trace has none
            // If the writer was killed, drop a partial record: otherwise the following records would be read at wrong
            // offsets.
            read => clocks.extend(read.map_err(at(&sync))?.chunks_exact(Sync::SIZE).flatten()),
        }
        if !info.started_at.is_empty() && (joined.started_at.is_empty() || info.started_at < joined.started_at) {
            joined.started_at.clone_from(&info.started_at);
        }
        if number == 0 {
            joined.realtime_offset_ns = info.realtime_offset_ns;
        }
        joined.traces.extend(info.traces.iter().cloned());
        joined.duration_s = joined.duration_s.max(info.duration_s);
        joined.measured_from_ns = joined.measured_from_ns.max(info.measured_from_ns);
        joined.measured_to_ns = [joined.measured_to_ns, info.measured_to_ns].into_iter().flatten().min();
        joined.processes.extend(info.processes.iter().cloned());
        joined.versions.extend(info.versions.clone());
        joined.cut_short |= info.cut_short;
        let said = |text: &String| format!("{}: {text}", run.path().display());
        joined.missing.extend(info.missing.iter().map(said));
        let no_scheduler = info.scheduler.iter().filter_map(|scheduler| scheduler.why_not.as_ref());
        joined.missing.extend(no_scheduler.map(|why| said(&format!("no scheduler events: {why}"))));
        // A gap that names no boot belongs to a run on one host.
        let own = files.iter().find_map(|(_, boot)| boot.clone()).filter(|_| !one_clock);
        joined.gaps.extend(
            info.gaps.iter().cloned().map(|gap| EventGap { boot_id: gap.boot_id.or_else(|| own.clone()), ..gap }),
        );
    }
    if one_clock {
        let path = events.join("clock.sync");
        fs::write(&path, clocks).map_err(at(&path))?;
    }
    to.write_info(&joined).map_err(at(to.path()))?;
    Ok(joined)
}

/// Returns each file with its boot, which is absent for a file without a header. Such a file is empty, and the reader
/// reports it.
fn event_files(run: &RunDirectory) -> Result<Vec<(PathBuf, Option<String>)>, Error> {
    let events = run.events();
    let entries: io::Result<Vec<PathBuf>> =
        fs::read_dir(&events).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut files = Vec::new();
    for path in entries
        .map_err(at(&events))?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "events"))
    {
        let mut page = Vec::new();
        regular::open(&path)
            .and_then(|file| file.take(HEADER_SIZE as u64).read_to_end(&mut page))
            .map_err(at(&path))?;
        files.push((path, FileHeader::read(&page).ok().map(|header| header.boot_id)));
    }
    if files.is_empty() {
        return Err(Error::Run {
            path: run.path().to_owned(),
            found: "has no events of its own; expected a run that was recorded".into(),
        });
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FileBuilder;
    use crate::Reader;

    /// Makes a run of one process that has one event.
    fn recorded(folder: &Path, name: &str, boot: &str, info: RunInfo) -> RunDirectory {
        let path = folder.join(name);
        fs::create_dir(&path).unwrap();
        let builder = FileBuilder::new().process(7).header(|header| header.boot_id = boot.into()).at(10).rcl_init(1);
        let run = builder.write(&path).unwrap();
        run.write_info(&info).unwrap();
        run
    }

    fn to(folder: &Path) -> RunDirectory {
        let run = RunDirectory::new(folder.join("joined"));
        fs::create_dir(run.path()).unwrap();
        run
    }

    #[test]
    fn processes_of_one_id_stay_apart_and_what_is_missing_names_its_run() {
        let folder = tempfile::tempdir().unwrap();
        let info = |missing: &str| RunInfo { missing: vec![missing.into()], ..RunInfo::default() };
        let runs =
            [recorded(folder.path(), "car", "a", info("one")), recorded(folder.path(), "roadside", "b", info("two"))];
        let to = to(folder.path());
        let joined = join(&runs, &to, RunInfo::default()).unwrap();
        assert!(
            joined.missing[0].ends_with("car: one") && joined.missing[1].ends_with("roadside: two"),
            "{:?}",
            joined.missing
        );
        let reader = Reader::open(&to).unwrap();
        assert_eq!(
            reader.processes().iter().map(|p| (p.header.pid, p.header.boot_id.as_str())).collect::<Vec<_>>(),
            [(7, "a"), (7, "b")]
        );
        assert_eq!(to.info().unwrap(), joined);
    }

    #[test]
    fn the_first_run_that_is_named_is_the_first_whatever_its_process_ids() {
        let folder = tempfile::tempdir().unwrap();
        let runs = ["car", "roadside", "cloud"].map(|name| recorded(folder.path(), name, name, RunInfo::default()));
        for run in &runs[..2] {
            let file = fs::read_dir(run.events()).unwrap().next().unwrap().unwrap().path();
            fs::rename(&file, file.with_file_name("900-0.events")).unwrap();
        }
        let to = to(folder.path());
        join(&runs, &to, RunInfo::default()).unwrap();
        let reader = Reader::open(&to).unwrap();
        assert_eq!(
            reader.processes().iter().map(|p| p.header.boot_id.as_str()).collect::<Vec<_>>(),
            ["car", "roadside", "cloud"]
        );
    }

    #[test]
    fn times_at_which_events_were_lost_say_whose_clock_they_are_of_where_there_are_several() {
        let lost = |from_ns| RunInfo {
            gaps: vec![EventGap { from_ns, to_ns: from_ns + 5, ..EventGap::default() }],
            ..RunInfo::default()
        };
        let boots = |boot: &str| {
            let folder = tempfile::tempdir().unwrap();
            let runs = [recorded(folder.path(), "x", "a", lost(10)), recorded(folder.path(), "y", boot, lost(20))];
            let gaps = join(&runs, &to(folder.path()), RunInfo::default()).unwrap().gaps;
            gaps.into_iter().map(|gap| (gap.boot_id, gap.from_ns, gap.to_ns)).collect::<Vec<_>>()
        };
        assert_eq!(boots("a"), [(None, 10, 15), (None, 20, 25)]);
        assert_eq!(boots("b"), [(Some("a".into()), 10, 15), (Some("b".into()), 20, 25)]);
    }

    #[test]
    fn windows_of_one_clock_are_cut_to_what_all_have_and_of_several_clocks_refused() {
        let part = |from, to| RunInfo { measured_from_ns: Some(from), measured_to_ns: Some(to), ..RunInfo::default() };
        let folder = tempfile::tempdir().unwrap();
        let runs = [recorded(folder.path(), "x", "a", part(10, 50)), recorded(folder.path(), "y", "a", part(20, 60))];
        let joined = join(&runs, &to(folder.path()), RunInfo::default()).unwrap();
        assert_eq!((joined.measured_from_ns, joined.measured_to_ns), (Some(20), Some(50)));
        let folder = tempfile::tempdir().unwrap();
        let runs =
            [recorded(folder.path(), "x", "a", part(10, 50)), recorded(folder.path(), "y", "b", RunInfo::default())];
        let error = join(&runs, &to(folder.path()), RunInfo::default()).unwrap_err().to_string();
        assert!(error.contains("expected whole recordings"), "{error}");
    }

    #[test]
    fn clock_readings_stay_in_their_places_behind_one_that_was_cut_and_no_file_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let runs = [
            recorded(folder.path(), "x", "a", RunInfo::default()),
            recorded(folder.path(), "y", "a", RunInfo::default()),
        ];
        let reading = |byte: u8| vec![byte; Sync::SIZE];
        fs::write(runs[0].events().join("clock.sync"), [reading(1), vec![2; Sync::SIZE / 2]].concat()).unwrap();
        fs::write(runs[1].events().join("clock.sync"), reading(3)).unwrap();
        fs::write(runs[1].events().join("9-9.events"), [0; 10]).unwrap();
        let to = to(folder.path());
        join(&runs, &to, RunInfo::default()).unwrap();
        assert_eq!(fs::read(to.events().join("clock.sync")).unwrap(), [reading(1), reading(3)].concat());
        let reader = Reader::open(&to).unwrap();
        assert_eq!(reader.processes().len(), 2);
        assert!(reader.problems().iter().any(|problem| problem.to_string().contains("0001-9-9.events")));
    }

    #[test]
    fn a_ring_that_goes_on_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let run = recorded(folder.path(), "x", "a", RunInfo::default());
        fs::create_dir(run.events().join("kept")).unwrap();
        assert!(join(&[run], &to(folder.path()), RunInfo::default()).unwrap_err().to_string().contains("--save"));
    }
}
