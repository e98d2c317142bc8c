//! Saves the content of a ring as a run directory of its own.

use super::files::{measured_from_ns, Error, Ring};
use crate::clock::monotonic_ns;
use crate::recorded::{versions, RecordedProcess};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tacho_events::file_error::at;
use tacho_events::kept::LINKED_BEFORE_NS;
use tacho_events::layout::Sync;
use tacho_events::run::{Ring as Facts, RunInfo};
use tacho_events::wall::rfc3339;
use tacho_events::RunDirectory;

/// Readings of the clocks that go along from before the first event.
const CLOCKS_BEFORE_NS: i64 = 5_000_000_000;

impl Ring {
    /// Saves everything up to `to_ns`, ns of CLOCK_MONOTONIC, as a new run directory described by `info` and `why`.
    /// `run` appears only when it is complete.
    pub(super) fn save(&self, run: &RunDirectory, mut info: RunInfo, why: &str, to_ns: i64) -> Result<RunInfo, Error> {
        let new = RunDirectory::new(run.path().with_extension("new"));
        let saved = self
            .write(&new, &mut info, why, to_ns)
            .and_then(|()| Ok(fs::rename(new.path(), run.path()).map_err(at(run.path()))?));
        match saved {
            Ok(()) => Ok(info),
            Err(error) => match fs::remove_dir_all(new.path()) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(at(new.path())(cause).into()),
                _ => Err(error),
            },
        }
    }

    fn write(&self, new: &RunDirectory, info: &mut RunInfo, why: &str, to_ns: i64) -> Result<(), Error> {
        let events = new.events();
        fs::create_dir_all(&events).map_err(at(&events))?;
        let mut processes = Vec::new();
        for (path, file) in &self.files {
            let Some(name) = path.file_name() else { continue };
            let copy = events.join(name);
            let header = file.copy_to(&copy).map_err(at(&copy))?;
            if header.pid != 0 {
                processes.push(RecordedProcess::of(copy, header, false));
            }
        }
        let kept_from_ns = self.kept_from_ns();
        copy_clocks(&self.run.events().join("clock.sync"), &events.join("clock.sync"), kept_from_ns)?;
        info.cut_short = false;
        info.measured_to_ns = Some(to_ns);
        info.versions = versions(&processes);
        let missing =
            processes.iter().flat_map(|process| process.missing().into_iter().chain(process.unknown_release()));
        info.missing = missing.collect();
        let span_s = self.span.as_secs_f64();
        let reach_s = kept_from_ns.map(|from| (to_ns - from - LINKED_BEFORE_NS) as f64 / 1e9);
        info.missing.extend(reach_s.filter(|reach| *reach < 0.95 * span_s).map(|reach| {
            format!(
                "the figures are of the last {:.1} s, not of {span_s} s: more did not fit into --max-mib a process",
                reach.max(0.0)
            )
        }));
        info.duration_s = reach_s.unwrap_or_else(|| self.begun_s(to_ns));
        info.started_at = rfc3339(begin(info.duration_s, to_ns));
        let facts = Facts {
            span_s,
            kept_from_ns,
            saved_for: Some(why.to_owned()),
            processes_let_go: self.processes_let_go,
            ..Facts::default()
        };
        info.measured_from_ns = measured_from_ns(&facts);
        info.ring = Some(facts);
        Ok(new.write_info(info).map_err(at(new.path()))?)
    }

    /// Since the ring began.
    fn begun_s(&self, to_ns: i64) -> f64 {
        let begun = self.first.values().map(|first| first.monotonic_ns).min().unwrap_or(to_ns);
        (to_ns - begun) as f64 / 1e9
    }
}

/// Returns when the saved period began, by the current wall clock: its length before its end.
fn begin(duration_s: f64, to_ns: i64) -> SystemTime {
    let since_end = Duration::from_nanos(monotonic_ns().saturating_sub(to_ns).max(0) as u64);
    SystemTime::now() - since_end - Duration::try_from_secs_f64(duration_s).unwrap_or_default()
}

/// Copies the readings that later times need.
fn copy_clocks(from: &Path, to: &Path, kept_from_ns: Option<i64>) -> Result<(), Error> {
    let bytes = fs::read(from).map_err(at(from))?;
    let needed = |record: &&[u8]| {
        let reading = record.first_chunk().map(Sync::read);
        reading.is_some_and(|reading| kept_from_ns.is_none_or(|from| reading.monotonic_ns >= from - CLOCKS_BEFORE_NS))
    };
    let records: Vec<u8> = bytes.chunks_exact(Sync::SIZE).filter(needed).flatten().copied().collect();
    Ok(fs::write(to, records).map_err(at(to))?)
}
