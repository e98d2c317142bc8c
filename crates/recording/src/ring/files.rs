//! All event files of a ring: finds them, releases what is too old in each, and completes them at the end.

use super::file::{self, RingFile};
use crate::clock::{self, Sync, TickSource};
use crate::writers::{writers_since, Writer};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tacho_events::file_error::{at, FileError};
use tacho_events::kept::LINKED_BEFORE_NS;
use tacho_events::{holes, RunDirectory};

/// How often it checks whether threads and processes have ended.
const LOOK_FOR_ENDED_EVERY: Duration = Duration::from_secs(5);

/// So much more is kept than figures are of: what links them to what began before, and what passes between asking and
/// saving.
const KEPT_BEYOND_NS: i64 = LINKED_BEFORE_NS + 500_000_000;

/// Why a ring cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Storage cannot be given back.
    #[error(
        "{path}: {cause}; a ring needs a file system that can punch holes (ext4, xfs, btrfs, tmpfs ...): put the run \
         on one with -o"
    )]
    NoHoles {
        /// The folder of the events.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// A file or folder of the run.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The event files of a run, of which the last seconds are kept.
pub struct Ring {
    pub(super) run: RunDirectory,
    pub(super) span: Duration,
    max_bytes: Option<u64>,
    pub(super) files: BTreeMap<PathBuf, RingFile>,
    /// The first reading of each counter.
    pub(super) first: HashMap<TickSource, Sync>,
    looked_for_ended: Instant,
    /// Who wrote the files then.
    writers: BTreeMap<PathBuf, Writer>,
    pub(super) processes_let_go: u64,
    held: bool,
}

impl Ring {
    /// Makes a ring of the last `span` of `RUN/events`, which must exist. `max_bytes` is the recorder's limit.
    pub fn new(run: &RunDirectory, span: Duration, max_bytes: Option<u64>) -> Result<Ring, Error> {
        let events = run.events();
        try_holes(&events)?;
        let counters = [clock::tick_source(), TickSource::Monotonic];
        let first = counters.into_iter().map(|source| (source, clock::read(source))).collect();
        Ok(Ring {
            run: run.clone(),
            span,
            max_bytes,
            files: BTreeMap::new(),
            first,
            looked_for_ended: Instant::now(),
            writers: BTreeMap::new(),
            processes_let_go: 0,
            held: false,
        })
    }

    /// From now on nothing more is too old: nothing more happens that would be worth its place.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Lets go of what is older than the ring.
    pub fn turn(&mut self) -> Result<(), Error> {
        self.find_files()?;
        let before_ns = if self.held { i64::MAX } else { self.span.as_nanos() as i64 + KEPT_BEYOND_NS };
        let clocks: HashMap<TickSource, Rate> =
            self.first.iter().map(|(source, first)| (*source, Rate::since(*first, *source))).collect();
        // If one file cannot be read or written, the others still must not grow.
        let mut failed = Ok(());
        for (path, file) in &mut self.files {
            let Some(rate) = clocks.get(&file.ticks()) else { continue };
            failed = failed.and(file.turn(rate.ticks_before(before_ns), |ticks| rate.ns(ticks)).map_err(at(path)));
        }
        failed?;
        if self.looked_for_ended.elapsed() >= LOOK_FOR_ENDED_EVERY {
            self.let_go_of_ended(&clocks, before_ns)?;
            self.looked_for_ended = Instant::now();
        }
        Ok(())
    }

    /// Returns whether a file may be full soon.
    pub fn is_filling(&self) -> bool {
        self.files.values().any(RingFile::is_filling)
    }

    fn find_files(&mut self) -> Result<(), Error> {
        let events = self.run.events();
        for entry in std::fs::read_dir(&events).map_err(at(&events))? {
            let path = entry.map_err(at(&events))?.path();
            if path.extension().is_some_and(|extension| extension == "events") && !self.files.contains_key(&path) {
                if let Some(file) = RingFile::open(&path, self.max_bytes).map_err(at(&path))? {
                    self.files.insert(path, file);
                }
            }
        }
        Ok(())
    }

    fn let_go_of_ended(&mut self, clocks: &HashMap<TickSource, Rate>, before_ns: i64) -> Result<(), Error> {
        let paths: Vec<PathBuf> = self.files.keys().cloned().collect();
        self.writers = writers_since(&self.writers, &paths);
        let mut empty = Vec::new();
        for (path, file) in &mut self.files {
            let Some(rate) = clocks.get(&file.ticks()) else { continue };
            let before = rate.ticks_before(before_ns);
            match self.writers.get(path) {
                Some(Writer::Process(_)) if !file.may_have_ended(before) => {}
                Some(Writer::Process(pid)) => {
                    if let Some(threads) = threads_in_their_namespace(*pid) {
                        file.let_go_of_ended(before, |tid| threads.contains(&tid), |ticks| rate.ns(ticks))
                            .map_err(at(path))?;
                    }
                }
                None => {
                    file.let_go_of_ended(before, |_| false, |ticks| rate.ns(ticks)).map_err(at(path))?;
                    file.give_back_what_is_ahead().map_err(at(path))?;
                    empty.extend(file.is_empty().then(|| path.clone()));
                }
                Some(Writer::Unseen | Writer::Unknown) => {}
            }
        }
        for path in empty {
            if let Some(file) = self.files.remove(&path) {
                file.remove().map_err(at(&path))?;
                self.processes_let_go += 1;
            }
        }
        Ok(())
    }

    /// Call this when the recording has ended. Files that nobody writes become ordinary ones without holes; those in
    /// `written` are left as they are and grow no further. Returns what failed, in words.
    pub(crate) fn finish(mut self, written: &BTreeMap<PathBuf, Writer>) -> Result<Vec<String>, Error> {
        self.hold();
        self.turn()?; // what was written at last
        let mut undone = Vec::new();
        for (path, file) in &self.files {
            if written.contains_key(path) {
                file.stop_growing().map_err(at(path))?;
                continue;
            }
            if self.is_whole(file) {
                continue;
            }
            let new = path.with_extension("new");
            let done =
                file.copy_to(&new).and_then(|_| std::fs::rename(&new, path)).and_then(|()| file::remove_kept(path));
            if let Err(cause) = done {
                match std::fs::remove_file(&new) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&new)(error).into()),
                    _ => {}
                }
                undone.push(format!(
                    "{}: {cause}: it stays a file with holes, whose length is more than what it holds",
                    path.display()
                ));
            }
        }
        let kept = self.run.events().join("kept");
        match std::fs::remove_dir(&kept) {
            Err(error) if ![io::ErrorKind::NotFound, io::ErrorKind::DirectoryNotEmpty].contains(&error.kind()) => {
                Err(at(&kept)(error).into())
            }
            _ => Ok(undone),
        }
    }

    fn is_whole(&self, file: &RingFile) -> bool {
        file.header.kept_from_ns.is_none()
    }

    /// Returns from when on all events are kept; `None`: nothing was released.
    pub fn kept_from_ns(&self) -> Option<i64> {
        self.files.values().filter_map(|file| file.header.kept_from_ns).max()
    }

    /// Returns how many processes had ended so long ago that nothing of them is left.
    pub fn processes_let_go(&self) -> u64 {
        self.processes_let_go
    }
}

/// From when on figures are of whole messages and callbacks; `None`: from the first event on.
pub fn measured_from_ns(facts: &tacho_events::run::Ring) -> Option<i64> {
    facts.kept_from_ns.map(|from| from + LINKED_BEFORE_NS)
}

/// Relates a counter to CLOCK_MONOTONIC.
struct Rate {
    now: Sync,
    ns_a_tick: f64,
}

impl Rate {
    fn since(first: Sync, source: TickSource) -> Rate {
        let now = clock::read(source);
        let (ticks, ns) = (now.ticks.wrapping_sub(first.ticks), now.monotonic_ns - first.monotonic_ns);
        // At the very beginning nothing is old yet.
        let ns_a_tick = if source == TickSource::Monotonic || ticks == 0 { 1.0 } else { ns as f64 / ticks as f64 };
        Rate { now, ns_a_tick }
    }

    /// Ticks so many ns before now.
    fn ticks_before(&self, ns: i64) -> u64 {
        self.now.ticks.saturating_sub((ns as f64 / self.ns_a_tick) as u64)
    }

    fn ns(&self, ticks: u64) -> i64 {
        self.now.monotonic_ns - (self.now.ticks.saturating_sub(ticks) as f64 * self.ns_a_tick) as i64
    }
}

/// Returns an error if storage cannot be given back there.
fn try_holes(events: &Path) -> Result<(), Error> {
    let file = tempfile::tempfile_in(events).map_err(at(events))?;
    file.set_len(8192).map_err(at(events))?;
    holes::punch(&file, 0, 4096).map_err(|cause| Error::NoHoles { path: events.to_owned(), cause })
}

/// Ids of a process's threads as these see them; `None`: not to be had.
fn threads_in_their_namespace(pid: u32) -> Option<HashSet<u32>> {
    let is_in_ours = ids(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?)?.len() == 1;
    let mut threads = HashSet::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let entry = entry.ok()?;
        if is_in_ours {
            threads.insert(entry.file_name().to_str()?.parse().ok()?);
            continue;
        }
        let status = match std::fs::read_to_string(entry.path().join("status")) {
            // Ended just now.
            Err(error) if [Some(libc::ESRCH), Some(libc::ENOENT)].contains(&error.raw_os_error()) => continue,
            status => status.ok()?,
        };
        threads.insert(*ids(&status)?.last()?);
    }
    (!threads.is_empty()).then_some(threads)
}

/// Ids of a thread by its status: in the namespace of this process, and in each one below, to its own.
fn ids(status: &str) -> Option<Vec<u32>> {
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().map(|id| id.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_of_a_process_are_those_that_live() {
        let here = unsafe { libc::gettid() } as u32;
        assert!(threads_in_their_namespace(std::process::id()).unwrap().contains(&here));
        assert_eq!(threads_in_their_namespace(u32::MAX), None);
    }

    #[test]
    fn ticks_and_times_are_each_others() {
        let source = clock::tick_source();
        let first = clock::read(source);
        while clock::monotonic_ns() < first.monotonic_ns + 5_000_000 {}
        let rate = Rate::since(first, source);
        let ticks = rate.ticks_before(1_000_000_000);
        assert!((rate.now.monotonic_ns - rate.ns(ticks) - 1_000_000_000).abs() < 1000);
    }
}
