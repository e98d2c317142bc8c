//! The run directory: what a run is, on disk. `docs/run-directory.md` is the specification.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A run directory by its path. Reading one never changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory(PathBuf);

/// `run.json`: what ran, on what, how it ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// `bench` or `record`.
    pub verb: String,
    /// The command line of `tacho`, and of the program under it.
    pub command: Vec<String>,
    /// Version of tacho.
    pub tacho_version: String,
    /// Start, RFC 3339, UTC; of an import that of what was imported, empty where that is not known.
    pub started_at: String,
    /// When it was imported.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imported_at: Option<String>,
    /// CLOCK_REALTIME minus the clock that times of events are of, ns, at the start, with several hosts that of the
    /// first; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub realtime_offset_ns: Option<i64>,
    /// The traces of an import, as they say of themselves.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub traces: Vec<TraceSource>,
    /// Wall time of the run.
    pub duration_s: f64,
    /// Machine it ran on; absent where only a trace of it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub machine: Option<Machine>,
    /// What was found below: `ros2`, `rcl`, `rmw` ..., and its version.
    pub versions: BTreeMap<String, String>,
    /// How each process that tacho started ended.
    pub processes: Vec<ProcessExit>,
    /// Start of the measured window, ns of CLOCK_MONOTONIC: messages sent before are warm-up. Absent: all is measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_from_ns: Option<i64>,
    /// End of the measured window.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_to_ns: Option<i64>,
    /// Bytes on the wire in the measured window; only where there are hosts, and where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wire: Option<WireCount>,
    /// What a sweep varied, as written in its file, for this point: `nodes`, `size`, `rate`, `middleware` ... Empty for a workload without lists.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub parameters: BTreeMap<String, String>,
    /// Which repeat of its workload this run is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeat: Option<u32>,
    /// Phase of each spinning or timed node, in parts of its period, as drawn by seed.
    #[serde(default)]
    pub phases: BTreeMap<String, f64>,
    /// Scheduler events of the kernel; absent where nobody asked for them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scheduler: Option<SchedulerEvents>,
    /// Where only the last of a recording was kept; absent for one that is whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ring: Option<Ring>,
    /// Starts before this one at which a signal ended a process before anything was measured, in words. What the last of them left is in
    /// `failed-start/`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub failed_starts: Vec<String>,
    /// What else the machine did meanwhile: in the measured window of a bench, over the whole of a recording. Absent where /proc tells nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<Load>,
    /// Stretches of time in which events of its processes were lost, where it is known when.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gaps: Vec<EventGap>,
    /// Events of ROS in an imported trace whose name or layout is not known, by name: no figure has them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub unknown_events: BTreeMap<String, u64>,
    /// What is missing from this run, and why. Empty for a whole one.
    #[serde(default)]
    pub missing: Vec<String>,
    /// True where the user or a failure ended it early.
    #[serde(default)]
    pub cut_short: bool,
}

/// A recording of which the last seconds were kept, or what was saved of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ring {
    /// How much was to be kept.
    pub span_s: f64,
    /// From when on all events are there, ns of CLOCK_MONOTONIC; absent where none was let go of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kept_from_ns: Option<i64>,
    /// What it was saved for; absent in the recording itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub saved_for: Option<String>,
    /// Saves below `saves/`.
    #[serde(default)]
    pub saves: u32,
    /// Times that a trigger was met and nothing was saved: too soon after a save, or there were as many as wanted.
    #[serde(default)]
    pub triggers_passed_over: u64,
    /// Processes of which nothing was left, since they had ended so long ago.
    #[serde(default)]
    pub processes_let_go: u64,
}

/// A trace that was imported: those of one host and tracer are one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSource {
    /// Host name.
    pub host: String,
    /// Boot id of the host, or another name of the clock.
    pub boot_id: String,
    /// `lttng-ust`, `lttng-modules`; empty where the trace does not say.
    pub tracer: String,
    /// Its version, as far as the trace says it.
    pub tracer_version: String,
    /// Wall time minus the trace's clock, ns, as its metadata says; absent where that counts from an unknown zero.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub realtime_offset_ns: Option<i64>,
}

/// A stretch of time in which events were lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventGap {
    /// The boot whose clock tells its times; absent where the run has one clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boot_id: Option<String>,
    /// They lie at or after this, ns of CLOCK_MONOTONIC.
    pub from_ns: i64,
    /// And at or before this.
    pub to_ns: i64,
    /// How many; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub events: Option<u64>,
    /// Why, in words.
    pub cause: String,
}

/// What a machine did while something ran on it, as /proc tells. What cannot be read is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Wall time that all below is of.
    pub over_s: f64,
    /// CPUs that were online.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpus: Option<u32>,
    /// CPU time that all processes, the kernel and interrupts used (/proc/stat), of all CPUs together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub machine_cpu_s: Option<f64>,
    /// Of it that of tacho and of what it started or attached to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub own_cpu_s: Option<f64>,
    /// The rest: what others used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub others_cpu_s: Option<f64>,
    /// Part of the time of all CPUs that the hypervisor gave to others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steal_percent: Option<f64>,
    /// Part of the time in which some task waited for a CPU (/proc/pressure/cpu): of the run or of others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pressure_some_percent: Option<f64>,
    /// Part of the time in which all tasks that were not idle waited for one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pressure_full_percent: Option<f64>,
    /// Load average over a minute, tasks, at the begin (/proc/loadavg).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load_average_before: Option<f64>,
    /// And at the end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load_average_after: Option<f64>,
}

impl Load {
    /// CPUs that others used on the average beyond which a run was not alone.
    pub const MUCH_OTHERS_CPUS: f64 = 0.5;
    /// Part of the time of all CPUs beyond which steal is told.
    pub const MUCH_STEAL_PERCENT: f64 = 1.0;
    /// Least time of which either is told: over less, the kernel's ticks of a hundredth of a second say nothing.
    const LEAST_S: f64 = 0.5;

    /// CPUs that others used on the average.
    pub fn others_cpus(&self) -> Option<f64> {
        self.others_cpu_s.filter(|_| self.over_s > 0.0).map(|cpu_s| cpu_s / self.over_s)
    }

    /// What took much of the machine, in words: `other processes used 1.52 CPUs on the average`. `None`: nothing did, or it is not known.
    pub fn much(&self) -> Option<String> {
        if self.over_s < Load::LEAST_S {
            return None;
        }
        let others = self.others_cpus().filter(|cpus| *cpus > Load::MUCH_OTHERS_CPUS);
        let others = others.map(|cpus| match self.cpus {
            Some(all) => format!("other processes used {cpus:.2} of {all} CPUs on the average"),
            None => format!("other processes used {cpus:.2} CPUs on the average"),
        });
        let steal = self.steal_percent.filter(|percent| *percent > Load::MUCH_STEAL_PERCENT);
        let steal = steal.map(|percent| format!("the hypervisor gave {percent:.1} % of the CPUs' time to others (steal)"));
        let told: Vec<String> = others.into_iter().chain(steal).collect();
        (!told.is_empty()).then(|| told.join(", and "))
    }
}

/// Scheduler events of the kernel that were recorded, or why they were not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerEvents {
    /// `tracepoints` or `context_switch` (no wake-ups, no state but preempted or not); absent where none were recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// Why there are none, and what to do; absent where there are.
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
    /// Frequency governor of the first CPU, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub governor: Option<String>,
    /// The kernel's clock source.
    pub clocksource: String,
}

/// How a process ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessExit {
    /// Process name of the workload, or the command.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Exit code, where it exited.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<i32>,
    /// Signal, where one ended it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// Host of the workload that it ran on; empty: this machine.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub host: String,
    /// How it started; absent where the program does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub startup: Option<StartUp>,
    /// What it used in the measured window; absent where it had ended before, or none was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resources: Option<Resources>,
    /// Where it was a board: what it is and how it did; then `pid` is that of its emulator's keeper.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub board: Option<Board>,
}

/// What passed the network of a run's hosts in the measured window, each frame once; without what tacho sends to boards and hears of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireCount {
    /// Ethernet frames.
    pub frames: u64,
    /// Their bytes, from the destination address on, without the check sequence.
    pub bytes: u64,
    /// Those that carry messages of the nodes: UDP that is not RTPS, and RTPS with data of writers that are not built in.
    pub data_frames: u64,
    /// Their bytes.
    pub data_bytes: u64,
    /// Frames that could not be counted: nothing of the others can be trusted where it is not 0.
    pub missed: u64,
}

/// A microcontroller with one node (study C). Times are ns of its own clock since it was switched on: of an emulated one, emulated time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// `emulated mps2-an386 (Cortex-M4, 25 MHz; QEMU 7.2.22)`.
    pub machine: String,
    /// Whether its time is an emulator's: then nothing that it measured is a figure of the hardware.
    pub emulated: bool,
    /// How it is joined to the others.
    pub network: String,
    /// Code, constants, and the values that variables begin with: what its flash holds.
    pub rom_bytes: u64,
    /// Variables and stack, and the storage of its endpoints' messages. Without the ring of events, which is the measuring.
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
    /// What its middleware refused or lost, by name; those of 0 are left out.
    #[serde(default)]
    pub counters: BTreeMap<String, u32>,
}

/// Start-up of a process (study C 2), ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartUp {
    /// Entering main.
    pub main_ns: i64,
    /// All its entities made.
    pub ready_ns: i64,
    /// Every endpoint has its peers; absent where nobody waited for that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matched_ns: Option<i64>,
    /// First message in a callback.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_message_ns: Option<i64>,
}

/// What a process used (proc(5)).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Wall time over which the counts below were taken, ns: the measured window, and up to a tenth of a second before it.
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
    /// Proportional set at the end of the window: shared pages counted by the part that is its own. Without the recorder's buffers.
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

    /// The directory itself.
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
        std::fs::remove_dir_all(&events).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", events.display())))
    }

    /// Tables, one Parquet file each.
    pub fn tables(&self) -> PathBuf {
        self.0.join("tables")
    }

    /// The workload as it ran; absent for a recorded program.
    pub fn workload(&self) -> PathBuf {
        self.0.join("workload.yaml")
    }

    /// The figures.
    pub fn summary(&self) -> PathBuf {
        self.0.join("summary.json")
    }

    /// In-program clocks, `<node>.csv`, where they were asked for.
    pub fn clock(&self) -> PathBuf {
        self.0.join("clock")
    }

    /// Logs and `run.json` of a start at which a process was killed before anything was measured; absent where there was none.
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

    /// The directory of one repeat.
    pub fn repeat(&self, index: u32) -> RunDirectory {
        RunDirectory(self.0.join("repeats").join(index.to_string()))
    }

    /// What was saved of a ring: `saves/001` ..., each a run directory.
    pub fn save(&self, number: u32) -> RunDirectory {
        RunDirectory(self.0.join("saves").join(format!("{number:03}")))
    }

    /// Points of a sweep: `points/000-...`, in the order of the file, each a run directory; empty for a single workload.
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

    /// The directory of one point, by its name.
    pub fn point(&self, name: &str) -> RunDirectory {
        RunDirectory(self.0.join("points").join(name))
    }

    /// Reads `run.json`.
    pub fn info(&self) -> io::Result<RunInfo> {
        let path = self.0.join("run.json");
        let text = crate::regular::read(&path).map_err(|e| named(e, &path))?;
        serde_json::from_slice(&text).map_err(|e| named(e.into(), &path))
    }

    /// Writes `run.json`, in one step: who looks at a run that goes on never sees half of it.
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
