//! Makes the clocks of event files, which convert their ticks into time.

use super::files::Files;
use super::{Chunk, Error, ProcessFacts, Reader};
use crate::clock::Clock;
use crate::format::Format;
use crate::layout::{Sync, TickSource, CHUNK_SIZE};
use crate::made::Made;
use crate::problem::Problems;
use crate::regular;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

impl Reader {
    /// Makes one clock for each boot and counter, from all their readings. A file is left out if its ticks cannot be
    /// converted.
    pub(super) fn set_clocks(&mut self, clock_sync: Option<&Path>) -> Result<(), Error> {
        type Counter = (TickSource, String);
        let counter = |process: &ProcessFacts| -> Counter {
            match process.header.ticks {
                TickSource::Board => (TickSource::Board, process.file.display().to_string()),
                ticks => (ticks, process.header.boot_id.clone()),
            }
        };
        let mut readings: BTreeMap<Counter, Vec<Sync>> = BTreeMap::new();
        for process in &self.processes {
            readings.entry(counter(process)).or_default().push(process.header.start);
        }
        let mut made: HashMap<u32, Made> = HashMap::new();
        for stream in &self.streams {
            let process = &self.processes[stream.process as usize];
            if process.header.ticks != TickSource::Monotonic {
                let file = stream.file as usize;
                let format = &self.process_of[file].1;
                let made = made.entry(stream.process).or_default();
                let found = clock_syncs(&mut self.files, file, format, &stream.chunks, made, &mut self.problems);
                readings.entry(counter(process)).or_default().extend(found);
            }
        }
        if let Some(path) = clock_sync {
            let bytes = regular::read(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
            let records = bytes.chunks_exact(Sync::SIZE);
            let rest = records.remainder().len();
            if rest != 0 {
                let offset = (bytes.len() - rest) as u64;
                self.problems
                    .add("file-truncated", path, offset, || format!("{rest} bytes of a record of {}", Sync::SIZE));
            }
            let records = records.filter_map(|r| r.first_chunk().map(Sync::read));
            let mut hosts: Vec<_> = readings
                .iter_mut()
                .filter(|(counter, _)| matches!(counter.0, TickSource::Tsc | TickSource::Cntvct))
                .collect();
            match hosts.as_mut_slice() {
                [] => {}
                [(_, only)] => only.extend(records),
                _ => self
                    .problems
                    .add("clock-sync-ambiguous", path, 0, || "processes of more than one boot; not used".into()),
            }
        }
        let clocks: BTreeMap<Counter, Option<Clock>> = readings
            .into_iter()
            .map(|(counter, readings)| {
                let clock = Clock::new(counter.0, &readings, None)
                    .or_else(|| Clock::new(counter.0, &readings, frequency_here(&counter)));
                (counter, clock)
            })
            .collect();
        for (process_index, process) in self.processes.iter().enumerate() {
            let clock = clocks.get(&counter(process)).cloned().flatten();
            self.clocks.push(match clock {
                Some(clock) => clock,
                None => {
                    self.problems.add("no-clock", &process.file, 32, || {
                        "one reading of the clock only, none in clock.sync: the times of its events are unknown".into()
                    });
                    for stream in self.streams.iter_mut().filter(|s| s.process as usize == process_index) {
                        stream.chunks.clear();
                    }
                    // No event of this file is read, so nobody uses this clock.
                    Clock::new(TickSource::Monotonic, &[], None).unwrap_or_else(|| unreachable!("needs no reading"))
                }
            });
        }
        Ok(())
    }
}

/// Reads the clock readings in a stream. Reports two things of a kind that later events cannot tell apart.
fn clock_syncs(
    files: &mut Files,
    file: usize,
    format: &Format,
    chunks: &[Chunk],
    made: &mut Made,
    problems: &mut Problems,
) -> Vec<Sync> {
    let (mut found, mut bytes) = (Vec::new(), Vec::new());
    for chunk in chunks {
        files.read(file, chunk.start(), CHUNK_SIZE, &mut bytes, problems);
        crate::record::scan_clock_syncs(format, &bytes, chunk.base_ticks, &mut found, |kind, pointer| {
            if let Some(before) = made.add(format, kind, pointer) {
                problems.add("handles-alike", files.path(file), chunk.start(), || {
                    format!("kind {kind} made {before:#x} and {pointer:#x}, which later events do not tell apart")
                });
            }
        });
    }
    found
}

/// Ticks a second of this machine's counter, if the events are of its current boot.
fn frequency_here((source, boot_id): &(TickSource, String)) -> Option<f64> {
    // Its one reading determines it; the reader of the events may relate it better.
    if *source == TickSource::Board {
        return Some(1e9);
    }
    let ours = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    if ours.trim() != boot_id.as_str() {
        return None;
    }
    crate::clock::measured_frequency_hz(*source)
}
