//! Samples what no event tells of recorded processes: the CPU time that they use, and how their threads are scheduled.

use crate::clock::{monotonic_ns, process_cpu_ns};
use crate::scheduling::Threads;
use crate::writers::writers;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tacho_events::run::{CpuSample, CpuTimes, ThreadScheduling};

/// Between two samples at first, ns. It doubles whenever there are too many.
const PERIOD_NS: i64 = 500_000_000;
/// Samples that are kept of a process.
const MOST: usize = 64;
/// How often the process of a file is looked for: a file may be seen before its process has mapped it, and some
/// processes are not visible here.
const SOUGHT: u32 = 4;

/// The samples of all processes that write events.
pub(crate) struct Sampler {
    period_ns: i64,
    sampled_ns: i64,
    /// By event file.
    of_files: BTreeMap<PathBuf, Watched>,
    threads: Threads,
}

/// A process that writes events.
struct Watched {
    /// Its id here, if it is visible and was not seen to end.
    here: Option<u32>,
    times: CpuTimes,
    /// Times that it was looked at.
    looks: u32,
    /// Times that it was looked for.
    sought: u32,
}

impl Watched {
    fn is_sought(&self) -> bool {
        self.looks == 0 && self.sought < SOUGHT
    }
}

impl Sampler {
    /// Nothing sampled yet.
    pub fn new() -> Sampler {
        Sampler { period_ns: PERIOD_NS, sampled_ns: i64::MIN, of_files: BTreeMap::new(), threads: Threads::default() }
    }

    /// Takes a sample of each process if it is time to. `files`: the event files of now.
    pub fn sample(&mut self, files: impl FnOnce() -> Vec<PathBuf>) {
        let now_ns = monotonic_ns();
        if now_ns < self.sampled_ns.saturating_add(self.period_ns) {
            return;
        }
        self.sampled_ns = now_ns;
        // The kernel's files have no process to look for.
        let of_processes = files().into_iter().filter_map(|path| Some((pid_of(&path)?, path)));
        let is_sought = |path: &PathBuf| self.of_files.get(path).is_none_or(Watched::is_sought);
        let (pids, sought): (Vec<u32>, Vec<PathBuf>) = of_processes.filter(|(_, path)| is_sought(path)).unzip();
        let written = if sought.is_empty() { BTreeMap::new() } else { writers(&sought) };
        for (pid, path) in pids.into_iter().zip(sought) {
            let here = written.get(&path).and_then(|writer| writer.process());
            let new = || Watched { here: None, times: CpuTimes { pid, samples: Vec::new() }, looks: 0, sought: 0 };
            let of = self.of_files.entry(path).or_insert_with(new);
            (of.here, of.sought) = (here, of.sought + 1);
        }
        for Watched { here, times, looks, .. } in self.of_files.values_mut() {
            let Some(pid) = *here else { continue };
            // Whoever has ended gives no more, even if another process gets its number.
            match process_cpu_ns(pid).ok() {
                Some(cpu_ns) if times.samples.last().is_none_or(|last| last.cpu_ns <= cpu_ns) => {
                    times.samples.push(CpuSample { at_ns: monotonic_ns(), cpu_ns });
                }
                _ => {
                    *here = None;
                    continue;
                }
            }
            // Threads are made and scheduled early: later looks are seldom.
            *looks += 1;
            if looks.is_power_of_two() {
                self.threads.look(pid, times.pid);
            }
        }
        if self.of_files.values().any(|of| of.times.samples.len() > MOST) {
            self.period_ns *= 2;
            for Watched { times, .. } in self.of_files.values_mut() {
                times.samples = times.samples.iter().copied().step_by(2).collect();
            }
        }
    }

    /// CPU times of each process that was sampled twice, and the threads that are not scheduled like any program.
    pub fn finish(self) -> (Vec<CpuTimes>, Option<Vec<ThreadScheduling>>) {
        let times = self.of_files.into_values().map(|of| of.times).filter(|times| times.samples.len() > 1).collect();
        (times, self.threads.unusual())
    }
}

/// The process id in the name of an event file; none for the kernel's.
fn pid_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.split('-').next()?.parse().ok().filter(|pid| *pid != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::process_cpu_ns;

    #[test]
    fn samples_of_a_process_are_those_of_its_clock_and_stay_few() {
        let folder = tempfile::tempdir().unwrap();
        let pid = std::process::id();
        let (own, kernels) = (folder.path().join(format!("{pid}-1.events")), folder.path().join("0-1.events"));
        let file = std::fs::File::options().read(true).write(true).create_new(true).open(&own).unwrap();
        file.set_len(4096).unwrap();
        // SAFETY: no process cuts the file.
        let _mapping = unsafe { memmap2::MmapMut::map_mut(&file) }.unwrap();
        let mut sampler = Sampler::new();
        let begun_ns = process_cpu_ns(pid).unwrap();
        for _ in 0..3 * MOST {
            sampler.sampled_ns = i64::MIN;
            sampler.sample(|| vec![own.clone(), kernels.clone()]);
        }
        assert!(sampler.period_ns > PERIOD_NS);
        let (times, scheduling) = sampler.finish();
        assert!(scheduling.is_some());
        let [times] = &times[..] else { panic!("one process") };
        assert_eq!(times.pid, pid);
        assert!((MOST / 2..=MOST).contains(&times.samples.len()), "{}", times.samples.len());
        assert!(times.samples.is_sorted_by_key(|sample| (sample.at_ns, sample.cpu_ns)));
        assert!(times.samples[0].cpu_ns >= begun_ns);
        assert!(times.samples[times.samples.len() - 1].cpu_ns <= process_cpu_ns(pid).unwrap());
    }

    #[test]
    fn a_process_that_maps_its_file_after_the_first_look_is_sampled_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{}-2.events", std::process::id()));
        let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        file.set_len(4096).unwrap();
        let mut sampler = Sampler::new();
        let look = |sampler: &mut Sampler| {
            sampler.sampled_ns = i64::MIN;
            sampler.sample(|| vec![path.clone()]);
            sampler.of_files.values().map(|of| of.times.samples.len()).collect::<Vec<_>>()
        };
        assert_eq!(look(&mut sampler), [0]);
        // SAFETY: no process cuts the file.
        let mapping = unsafe { memmap2::MmapMut::map_mut(&file) }.unwrap();
        assert_eq!([look(&mut sampler), look(&mut sampler)], [[1], [2]]);
        drop(mapping);
    }
}
