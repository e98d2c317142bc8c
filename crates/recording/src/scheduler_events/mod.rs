//! Records scheduler events of the kernel beside those of the programs: which thread ran on which CPU, and which thread
//! had to wait for one.
//!
//! It uses perf_event_open(2) on every CPU, and a thread of tacho writes the events into an event file of pid 0
//! (docs/event-file.md). It needs neither LTTng nor a daemon. There are two sources. The tracepoints
//! `sched:sched_switch`, `sched_wakeup` and `sched_wakeup_new` have names and wake-ups; those of interrupts come with
//! them (`irq:irq_handler_entry` ...). If we may not read them, the kernel's own context-switch records show which
//! thread follows which. A switch of the tracepoints has the end of the kernel's call chain, which shows what a thread
//! waits in. tacho keeps only events of threads of the recorded processes, and of threads that run on a CPU for which
//! one of those waits.

mod calls;
mod file;
mod filter;
mod records;

pub(crate) use file::is_file_of_kernel;

use crate::clock::monotonic_ns;
use crate::perf::{self, Ring};
use crate::pid_namespace;
use crate::tracefs::Tracefs;
use calls::Calls;
use file::KernelFile;
use filter::Filter;
use records::{Interrupt, Layout, Offsets, Record};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use tacho_events::run::SchedulerEvents as Facts;

/// Longest that records stay in the rings.
const DRAIN_EVERY_MS: i32 = 100;
/// Records of several CPUs are put in order when they are this old: by then all earlier ones are in the rings.
const SETTLED_NS: i64 = 5_000_000;

/// When scheduler events are recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum When {
    /// Not recorded.
    #[default]
    Off,
    /// Recorded if permitted; otherwise the run reports that it is not.
    Permitted,
    /// Recorded, or an error if that is not permitted.
    Required,
}

/// A running recording of scheduler events.
pub struct SchedulerEvents {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Facts>>,
}

/// The source of the events.
#[allow(clippy::large_enum_variant)] // a recording has only one
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// sched:sched_switch, sched_wakeup, sched_wakeup_new.
    Tracepoints(Layout),
    /// PERF_RECORD_SWITCH_CPU_WIDE.
    ContextSwitch,
}

impl SchedulerEvents {
    /// Starts recording into `events`, which must exist. It follows processes that this one starts from now on, and
    /// their descendants. The error says what to do.
    pub fn start(events: &Path) -> Result<SchedulerEvents, String> {
        Self::start_with(events, || Filter::new(Some(std::process::id())))
    }

    /// Does the same for running processes with all their threads, including later ones.
    pub fn start_on(events: &Path, pids: &[u32]) -> Result<SchedulerEvents, String> {
        Self::start_with(events, || {
            let mut filter = Filter::new(None);
            pids.iter().for_each(|pid| threads(*pid).for_each(|tid| filter.follow(*pid, tid)));
            filter
        })
    }

    /// `filter` is called after the kernel began to report new threads. So a thread that is created meanwhile is
    /// reported, listed, or both.
    fn start_with(events: &Path, filter: impl FnOnce() -> Filter) -> Result<SchedulerEvents, String> {
        let (source, rings) = open()?;
        let filter = filter();
        let file = KernelFile::create(events).map_err(|error| format!("{}: {error}", events.display()))?;
        let stop = Arc::new(AtomicBool::new(false));
        let drain = Drain {
            rings,
            file,
            filter,
            waiting: Vec::new(),
            facts: Facts::default(),
            source,
            calls: Calls::default(),
        };
        let stopped = stop.clone();
        let thread = std::thread::Builder::new()
            .name("tacho-scheduler".into())
            .spawn(move || drain.run(&stopped))
            .map_err(|error| format!("the thread that reads scheduler events: {error}"))?;
        Ok(SchedulerEvents { stop, thread })
    }

    /// Ends the recording, and returns what was recorded.
    pub fn finish(self) -> io::Result<Facts> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| io::Error::other("the thread that reads scheduler events panicked"))?
    }
}

/// Returns the ids of a process's threads; none if it has ended.
fn threads(pid: u32) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Opens the best source that this process may use, on every CPU.
fn open() -> Result<(Source, Vec<Ring>), String> {
    let cpus = perf::online_cpus().map_err(|error| format!("/sys/devices/system/cpu/online: {error}"))?;
    // Fields of tracepoints hold ids of the first pid namespace, but event files hold those of their process's
    // namespace. Inside a container, they differ.
    let tracepoints = match pid_namespace::is_first() {
        true => sched_layout().and_then(|layout| {
            let rings = perf::open_tracepoints_with_calls_of_first(&cpus, &layout.ids())
                .map_err(|error| format!("tracepoints of the scheduler: {error}"))?;
            Ok((Source::Tracepoints(layout), rings))
        }),
        false => {
            Err("tracepoints of the scheduler: inside a pid namespace their thread ids are not those that programs see"
                .to_owned())
        }
    };
    tracepoints.or_else(|why| match perf::open_context_switches(&cpus) {
        Ok(rings) => Ok((Source::ContextSwitch, rings)),
        Err(error) => Err(format!("{why}; context switches: {error}; {}", advice())),
    })
}

/// Returns where the scheduler's tracepoints have the fields that we need. The error says what was found.
fn sched_layout() -> Result<Layout, String> {
    let folder = Tracefs::open().map_err(|error| format!("tracefs: {error}"))?;
    let read = |event: &str| -> Result<Offsets, String> {
        let path = format!("events/{event}/format");
        let text = folder.read(&path).map_err(|error| format!("tracefs {path}: {error}"))?;
        Offsets::parse(&text).map_err(|found| format!("tracefs {path}: {found}"))
    };
    let layout =
        Layout::new(read("sched/sched_switch")?, [read("sched/sched_wakeup")?, read("sched/sched_wakeup_new")?])?;
    let of = |event: &str| read(&format!("irq/{event}"));
    layout.with_interrupts([
        of("irq_handler_entry")?,
        of("irq_handler_exit")?,
        of("softirq_entry")?,
        of("softirq_exit")?,
    ])
}

/// Returns what to do if nothing is permitted.
pub fn advice() -> String {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    format!(
        "run as root, or give tacho CAP_PERFMON (setcap cap_perfmon+ep), or set kernel.perf_event_paranoid to 0 or \
         less (sysctl; it is {} here); in a container also allow perf_event_open (Docker: --cap-add PERFMON)",
        match paranoid.trim() {
            "" => "not readable",
            level => level,
        }
    )
}

/// The thread that empties the rings.
struct Drain {
    rings: Vec<Ring>,
    file: KernelFile,
    filter: Filter,
    /// Records that are not yet old enough to be sorted.
    waiting: Vec<(i64, u32, Record)>,
    facts: Facts,
    source: Source,
    calls: Calls,
}

impl Drain {
    fn run(mut self, stopped: &AtomicBool) -> io::Result<Facts> {
        self.facts.source = Some(match self.source {
            Source::Tracepoints(_) => "tracepoints".into(),
            Source::ContextSwitch => "context_switch".into(),
        });
        loop {
            let last = stopped.load(Ordering::Relaxed);
            if !last {
                perf::wait(&self.rings, DRAIN_EVERY_MS)?;
            }
            let now = monotonic_ns();
            self.read();
            if last {
                self.write(i64::MAX)?;
                self.file.finish(now, self.facts.lost)?;
                return Ok(self.facts);
            }
            self.write(now - SETTLED_NS)?;
            self.file.flush(now - SETTLED_NS, self.facts.lost)?;
        }
    }

    fn read(&mut self) {
        for ring in &mut self.rings {
            let (cpu, waiting, source, calls) = (ring.cpu, &mut self.waiting, &self.source, &mut self.calls);
            ring.drain(|bytes| {
                let record = match source {
                    Source::Tracepoints(layout) => records::of_tracepoints(bytes, layout, calls),
                    Source::ContextSwitch => records::of_context_switches(bytes),
                };
                waiting.extend(record.map(|(time, record)| (time, cpu, record)));
            });
        }
    }

    fn write(&mut self, settled: i64) -> io::Result<()> {
        self.waiting.sort_by_key(|(time, _, _)| *time); // stable: records of one CPU stay in their order
        let ready = self.waiting.partition_point(|(time, _, _)| *time <= settled);
        for (time, cpu, record) in self.waiting.drain(..ready) {
            if !self.filter.keeps(cpu, &record) {
                continue;
            }
            match record {
                Record::Switch { .. } => self.facts.switches += 1,
                Record::Wakeup { .. } => self.facts.wakeups += 1,
                Record::Interrupt(Interrupt::Irq { .. } | Interrupt::Softirq { .. }) => self.facts.interrupts += 1,
                Record::Lost { count } => self.facts.lost += count,
                _ => {}
            }
            if let Record::Switch { prev, prev_state, waits_in, .. } = record {
                if prev_state != 0 && self.filter.follows(prev) {
                    let call = waits_in.map_or("", |call| self.calls.name(call));
                    self.file.put_wait(time, cpu, prev, call)?;
                }
            }
            self.file.put(time, cpu, &record, self.filter.names())?;
        }
        Ok(())
    }
}
