//! The run directory: a run on disk. `docs/run-directory.md` is the specification.

mod cpu_times;
mod load;
mod scheduling;

pub use cpu_times::{CpuSample, CpuTimes};
pub use load::Load;
pub use scheduling::{Policy, ThreadScheduling};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A run directory by its path. Reading one never changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory(PathBuf);

/// `run.json`: what ran, on what, how it ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct RunInfo {
    /// `bench` or `record`.
    pub verb: String,
    /// The command line of `tacho`, and of the program under it.
    pub command: Vec<String>,
    /// Version of tacho.
    pub tacho_version: String,
    /// Start, RFC 3339, UTC. For an import that of the imported trace, empty if unknown.
    pub started_at: String,
    /// When it was imported.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imported_at: Option<String>,
    /// CLOCK_REALTIME minus the clock of event times, ns, at the start; with several hosts that of the first. Absent if
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub realtime_offset_ns: Option<i64>,
    /// The traces of an import, as their metadata describe them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub traces: Vec<TraceSource>,
    /// Wall time of the run.
    pub duration_s: f64,
    /// The machine it ran on; absent if only a trace of it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub machine: Option<Machine>,
    /// The software that was found: `ros2`, `rcl`, `rmw` ..., and its version.
    pub versions: BTreeMap<String, String>,
    /// By middleware, the transports that its plugin offers. It uses the first one if a workload names none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub transports: BTreeMap<String, Vec<String>>,
    /// How each process that tacho started ended.
    pub processes: Vec<ProcessExit>,
    /// Start of the measured window, ns of CLOCK_MONOTONIC: messages sent before are warm-up. Absent: all is measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_from_ns: Option<i64>,
    /// End of the measured window.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_to_ns: Option<i64>,
    /// Bytes on the wire in the measured window; only if there are hosts and the user asked for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wire: Option<WireCount>,
    /// What a sweep varied, as written in its file, for this point: `nodes`, `size`, `rate`, `middleware` ... Empty for
    /// a workload without lists.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub parameters: BTreeMap<String, String>,
    /// Which repeat of its workload this run is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeat: Option<u32>,
    /// Phase of each spinning or timed node, in parts of its period, as drawn by seed.
    #[serde(default)]
    pub phases: BTreeMap<String, f64>,
    /// Scheduler events of the kernel; absent if nobody asked for them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scheduler: Option<SchedulerEvents>,
    /// Set if only the last part of a recording was kept; absent for a whole one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ring: Option<Ring>,
    /// Starts before this one at which a signal ended a process before anything was measured, in words. What the last
    /// of them left is in `failed-start/`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub failed_starts: Vec<String>,
    /// What else the machine did meanwhile: in the measured window of a bench, over the whole of a recording. Absent if
    /// /proc has no data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<Load>,
    /// Periods in which events of its processes were lost, if the times are known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gaps: Vec<EventGap>,
    /// Events of ROS in an imported trace whose name or layout is not known, by name: no figure has them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub unknown_events: BTreeMap<String, u64>,
    /// What the tasks of nodes report of their quality.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub quality: Vec<TaskQuality>,
    /// CPU time of recorded processes over time.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub cpu_times: Vec<CpuTimes>,
    /// Threads of recorded processes that are not scheduled like any program on all CPUs; absent if that was not looked
    /// at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scheduling: Option<Vec<ThreadScheduling>>,
    /// What is missing from this run, and why. Empty for a whole one.
    #[serde(default)]
    pub missing: Vec<String>,
    /// True if the user or a failure ended it early.
    #[serde(default)]
    pub cut_short: bool,
}

impl RunInfo {
    /// Whether it is of a system that `tacho` did not make itself.
    pub fn is_recording(&self) -> bool {
        ["record", "import"].contains(&self.verb.as_str())
    }
}

/// What the task of a node reports of its quality: whether it did its work well, not only in time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct TaskQuality {
    /// The node.
    pub node: String,
    /// Its task.
    pub task: String,
    /// The figures, in the order of the task.
    pub figures: Vec<Quality>,
}

/// A figure of quality.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Quality {
    /// Name, with its unit: `lateral_error_max_m`.
    pub name: String,
    /// Value.
    pub value: f64,
}

/// A recording of which the last seconds were kept, or a save of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Ring {
    /// The period to keep.
    pub span_s: f64,
    /// From when on all events are kept, ns of CLOCK_MONOTONIC; absent if none was released.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kept_from_ns: Option<i64>,
    /// The reason for the save; absent in the recording itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub saved_for: Option<String>,
    /// Saves below `saves/`.
    #[serde(default)]
    pub saves: u32,
    /// Times that a trigger was met and nothing was saved: too soon after a save, or there were as many as wanted.
    #[serde(default)]
    pub triggers_passed_over: u64,
    /// Processes of which nothing was left, because they had ended long before.
    #[serde(default)]
    pub processes_let_go: u64,
}

/// An imported trace. Those of one host and tracer count as one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct TraceSource {
    /// Host name.
    pub host: String,
    /// Boot id of the host, or another name of the clock.
    pub boot_id: String,
    /// `lttng-ust`, `lttng-modules`; empty if the trace does not name it.
    pub tracer: String,
    /// Its version, as far as the trace names it.
    pub tracer_version: String,
    /// Wall time minus the trace's clock, ns, from its metadata; absent if that counts from an unknown zero.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub realtime_offset_ns: Option<i64>,
}

/// A period in which events were lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct EventGap {
    /// The boot whose clock its times belong to; absent if the run has one clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boot_id: Option<String>,
    /// They lie at or after this, ns of CLOCK_MONOTONIC.
    pub from_ns: i64,
    /// And at or before this.
    pub to_ns: i64,
    /// How many; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub events: Option<u64>,
    /// Why, in words.
    pub cause: String,
}

/// Scheduler events of the kernel that were recorded, or why they were not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct SchedulerEvents {
    /// `tracepoints` or `context_switch` (no wake-ups, no state except whether it was preempted); absent if none were
    /// recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// Why there are none, and what to do; absent if there are some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why_not: Option<String>,
    /// Context switches written.
    pub switches: u64,
    /// Wake-ups written.
    pub wakeups: u64,
    /// Interrupts and softirqs written; none from context switches.
    #[serde(default)]
    pub interrupts: u64,
    /// Events of the whole machine that the kernel had no room for.
    pub lost: u64,
}

/// The machine, as far as timing depends on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// CPU model.
    pub cpu: String,
    /// CPUs that the run could use.
    pub cpus: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Its preemption model: `PREEMPT_RT`, `PREEMPT_DYNAMIC (full)`, `voluntary`, ...
    pub preemption: String,
    /// Frequency governor of the first CPU, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub governor: Option<String>,
    /// The kernel's clock source.
    pub clocksource: String,
}

/// How a process ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ProcessExit {
    /// Process name of the workload, or the command.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Exit code, if it exited.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<i32>,
    /// Signal, if one ended it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// Host of the workload that it ran on; empty: this machine.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub host: String,
    /// Its start; absent if the program does not report it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub startup: Option<StartUp>,
    /// What it used in the measured window; absent if it had ended before, or none was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resources: Option<Resources>,
    /// If it was a board: its description and results. `pid` is then that of the process that runs its emulator.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub board: Option<Board>,
}

/// What passed the network of a run's hosts in the measured window, each frame once, without what tacho exchanges with
/// boards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct WireCount {
    /// Ethernet frames.
    pub frames: u64,
    /// Their bytes, from the destination address on, without the check sequence.
    pub bytes: u64,
    /// Frames that carry messages of the nodes: UDP that is not RTPS, and RTPS with data of writers that are not built
    /// in.
    pub data_frames: u64,
    /// Their bytes.
    pub data_bytes: u64,
    /// Frames that could not be counted. If it is not 0, the other counts are not reliable.
    pub missed: u64,
}

/// A microcontroller with one node (study C). Times are ns of its own clock since it was switched on; an emulated board
/// has emulated time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Board {
    /// `emulated mps2-an386 (Cortex-M4, 25 MHz; QEMU 7.2.22)`.
    pub machine: String,
    /// Whether an emulator provides its time: then none of its measurements is a figure of the hardware.
    pub emulated: bool,
    /// Its connection to the other nodes.
    pub network: String,
    /// Code, constants, and the values that variables begin with: what its flash holds.
    pub rom_bytes: u64,
    /// Variables and stack, and the storage of its endpoints' messages. Without the ring of events, which is the
    /// measuring.
    pub ram_bytes: u64,
    /// Stack set aside, which `ram_bytes` has in it.
    pub stack_bytes: u64,
    /// Its middleware started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub init_ns: Option<u64>,
    /// Every endpoint had its peers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matched_ns: Option<u64>,
    /// First message taken.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_message_ns: Option<u64>,
    /// What its middleware refused or lost, by name, except counts of 0.
    #[serde(default)]
    pub counters: BTreeMap<String, u32>,
}

/// Start-up of a process (study C 2), ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct StartUp {
    /// Entering main.
    pub main_ns: i64,
    /// When all its entities were made.
    pub ready_ns: i64,
    /// When every endpoint had its peers; absent if nobody waited for that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matched_ns: Option<i64>,
    /// First message in a callback.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_message_ns: Option<i64>,
}

/// What a process used (proc(5)).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Resources {
    /// Wall time over which the counts below were taken, ns: the measured window, and up to a tenth of a second before
    /// it.
    pub over_ns: u64,
    /// CPU time of all its threads, those that ended as well, user and system, ns (its CPU-time clock, not ticks).
    pub cpu_ns: u64,
    /// Times it gave the CPU up: it slept and was woken.
    pub voluntary_switches: u64,
    /// Times the CPU was taken from it.
    pub involuntary_switches: u64,
    /// Resident set at the end of the window, without the recorder's own buffers.
    pub rss_bytes: u64,
    /// Greatest resident set of its life, with the recorder's buffers.
    pub peak_rss_bytes: u64,
    /// Proportional set at the end of the window: shared pages counted by the part that is its own. Without the
    /// recorder's buffers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pss_bytes: Option<u64>,
    /// Resident shared memory (shmem, tmpfs) at the end of the window, without the recorder's own buffers.
    pub shared_bytes: u64,
    /// Threads at the end of the window.
    pub threads: u32,
}

impl RunDirectory {
    /// Names a run directory that need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        RunDirectory(path.into())
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Event files, one a process, and `clock.sync`.
    pub fn events(&self) -> PathBuf {
        self.0.join("events")
    }

    /// Deletes what was recorded; tables and figures stay.
    pub fn discard_events(&self) -> io::Result<()> {
        let events = self.events();
        if !events.is_dir() {
            return Ok(());
        }
        std::fs::remove_dir_all(&events)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", events.display())))
    }

    /// Tables, one Parquet file each.
    pub fn tables(&self) -> PathBuf {
        self.0.join("tables")
    }

    /// Returns the path of the workload as it ran; it is absent for a recorded program.
    pub fn workload(&self) -> PathBuf {
        self.0.join("workload.yaml")
    }

    /// Returns the path of the figures.
    pub fn summary(&self) -> PathBuf {
        self.0.join("summary.json")
    }

    /// Returns the path of in-program clocks, `<node>.csv`, if they were asked for.
    pub fn clock(&self) -> PathBuf {
        self.0.join("clock")
    }

    /// Returns the path of logs and `run.json` of a start at which a process was killed before anything was measured;
    /// absent if there was none.
    pub fn failed_start(&self) -> PathBuf {
        self.0.join("failed-start")
    }

    /// Repeats of one workload: `repeats/0`, `repeats/1` ..., each a run directory; empty for a single run.
    pub fn repeats(&self) -> io::Result<Vec<RunDirectory>> {
        let mut found = Vec::new();
        while self.repeat(found.len() as u32).0.is_dir() {
            found.push(self.repeat(found.len() as u32));
        }
        Ok(found)
    }

    /// Returns the directory of one repeat.
    pub fn repeat(&self, index: u32) -> RunDirectory {
        RunDirectory(self.0.join("repeats").join(index.to_string()))
    }

    /// Returns a save of a ring: `saves/001` ..., each a run directory.
    pub fn save(&self, number: u32) -> RunDirectory {
        RunDirectory(self.0.join("saves").join(format!("{number:03}")))
    }

    /// Points of a sweep: `points/000-...`, in the order of the file, each a run directory; empty for a single
    /// workload.
    pub fn points(&self) -> io::Result<Vec<RunDirectory>> {
        let folder = self.0.join("points");
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            entries => entries.map_err(|e| named(e, &folder))?,
        };
        let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        let mut paths = paths.map_err(|e| named(e, &folder))?;
        paths.retain(|path| path.is_dir());
        paths.sort();
        Ok(paths.into_iter().map(RunDirectory).collect())
    }

    /// Returns the directory of one point, by its name.
    pub fn point(&self, name: &str) -> RunDirectory {
        RunDirectory(self.0.join("points").join(name))
    }

    /// Reads `run.json`.
    pub fn info(&self) -> io::Result<RunInfo> {
        let path = self.0.join("run.json");
        let text = crate::regular::read(&path).map_err(|e| named(e, &path))?;
        serde_json::from_slice(&text).map_err(|e| named(e.into(), &path))
    }

    /// Writes `run.json` in one step, so that a reader of a running recording never sees half of it.
    pub fn write_info(&self, info: &RunInfo) -> io::Result<()> {
        let path = self.0.join("run.json");
        let text = serde_json::to_vec_pretty(info).map_err(io::Error::from)?;
        let new = self.0.join(".run.json");
        std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path)).map_err(|e| named(e, &path))
    }
}

fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A faster method of reading decimal numbers would get the last bit of these wrong.
    #[test]
    fn figures_are_read_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::new(folder.path());
        for others_cpu_s in [0.009999999999999995, 0.09 - 0.08, 0.1 + 0.2, 1.7976931348623157e308] {
            let load = Load { others_cpu_s: Some(others_cpu_s), ..Load::default() };
            run.write_info(&RunInfo { load: Some(load.clone()), ..RunInfo::default() }).unwrap();
            assert_eq!(run.info().unwrap().load, Some(load));
        }
    }
}
