//! The facts about a machine. `None`: unreadable.

use std::path::PathBuf;
use tacho_events::run::Load;
use tacho_recording::preemption::Preemption;
use tacho_runner::leftovers::Leftover;

/// A machine, as far as tacho and timing depend on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Tacho itself, and ROS 2.
    pub software: Software,
    /// Kernel.
    pub kernel: Kernel,
    /// Processors and the clock.
    pub cpu: Cpu,
    /// Permissions for real time.
    pub realtime: Realtime,
    /// Network settings.
    pub network: Network,
    /// File systems.
    pub storage: Storage,
    /// What nodes on boards need.
    pub boards: Boards,
    /// What else the machine did while the facts were read, which takes seconds.
    pub load: Option<Load>,
}

/// Tacho itself, and ROS 2.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Software {
    /// The recorder's path, or what the installation lacks, in words.
    pub installation: Option<Result<PathBuf, String>>,
    /// Whether the installation is of a package, in which plugins for ROS 2 and DDS of a machine are left out.
    pub packaged: bool,
    /// The program of nodes, or why there is none.
    pub node: Option<Result<PathBuf, String>>,
    /// The plugins, or why their folder cannot be read.
    pub plugins: Option<Result<Vec<Plugin>, String>>,
    /// A node process that was recorded by preloading.
    pub self_check: Option<SelfCheck>,
    /// AMENT_PREFIX_PATH: each folder, and whether it is there.
    pub ament_prefixes: Vec<(PathBuf, bool)>,
    /// ROS_DISTRO.
    pub ros_distro: Option<String>,
    /// RMW_IMPLEMENTATION.
    pub rmw_implementation: Option<String>,
    /// The path of `lib<RMW_IMPLEMENTATION>.so`, among the prefixes and the environment.
    pub rmw_library: Option<PathBuf>,
    /// The Python environment beside tacho, if it has rcl.
    pub environment: Option<PathBuf>,
}

/// A middleware plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct Plugin {
    /// `ros2`.
    pub name: String,
    /// What a node process on it reported.
    pub state: PluginState,
}

/// Whether a plugin can be used.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginState {
    /// A node process opened a session.
    Usable {
        /// The version of the middleware below.
        version: String,
    },
    /// It was left out of the build.
    NotBuilt {
        /// The build's message: what to install.
        reason: String,
    },
    /// It was built, and no session could be opened.
    Unusable {
        /// The message of the node process, or of the dynamic linker.
        cause: String,
    },
    /// It could not be tried: there is no program of nodes.
    NotTried,
}

/// The result of recording a node process.
#[derive(Debug, Clone, PartialEq)]
pub enum SelfCheck {
    /// Its event file existed.
    Recorded {
        /// Plugin of the process.
        plugin: String,
    },
    /// It ran, and there was no event file.
    NothingRecorded {
        /// The message of the dynamic linker, if there was one.
        words: String,
    },
    /// The recording could not be started or ended.
    Failed {
        /// Why.
        cause: String,
    },
}

/// Kernel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kernel {
    /// `uname -r`.
    pub release: Option<String>,
    /// Preemption model it was built with, from `uname -v` or its configuration.
    pub preemption: Option<Preemption>,
    /// `always`, `madvise` or `never`.
    pub transparent_hugepages: Option<String>,
    /// Whether it counts for how long each thread is ready to run and has no CPU.
    pub counts_run_delay: Option<bool>,
}

/// Processors and the clock.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cpu {
    /// CPUs that are online.
    pub online: Option<u32>,
    /// CPUs that this process may use.
    pub usable: Option<u32>,
    /// Their frequency governors, each once; empty: no cpufreq here.
    pub governors: Vec<String>,
    /// Whether the processor may exceed its nominal frequency.
    pub turbo: Option<bool>,
    /// Whether two CPUs share a core.
    pub smt: Option<bool>,
    /// Whether this is a virtual machine.
    pub virtual_machine: Option<bool>,
    /// Part of the time since boot that the host gave to others, 0 to 1.
    pub stolen: Option<f64>,
    /// `isolcpus`: a list as the kernel writes it; empty for none.
    pub isolated: Option<String>,
    /// `nohz_full`, likewise.
    pub nohz_full: Option<String>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// The clock sources that it could use.
    pub clock_sources: Vec<String>,
    /// Whether the recorder counts ticks of the CPU; false: it calls clock_gettime for each event.
    pub counts_ticks: Option<bool>,
    /// The time that a call of clock_gettime takes here, ns; the least of several averages.
    pub clock_read_ns: Option<f64>,
    /// The CPU quota of the control group.
    pub quota: Option<Quota>,
    /// The evidence that this is a container.
    pub container: Option<String>,
}

/// CPU time that a control group may take.
#[derive(Debug, Clone, PartialEq)]
pub enum Quota {
    /// No limit.
    Unlimited,
    /// At most this many CPUs' worth.
    Limited {
        /// CPU time by wall time.
        cpus: f64,
        /// The control group's file with the limit.
        file: PathBuf,
    },
}

/// Permissions for real time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Realtime {
    /// Whether a thread was given SCHED_FIFO priority 1; otherwise the system's error.
    pub fifo: Option<Result<(), String>>,
    /// RLIMIT_RTPRIO.
    pub rtprio: Option<u64>,
    /// RLIMIT_MEMLOCK, bytes; `u64::MAX` for no limit.
    pub memlock: Option<u64>,
    /// CAP_SYS_NICE is effective.
    pub sys_nice: Option<bool>,
    /// CAP_IPC_LOCK is effective.
    pub ipc_lock: Option<bool>,
    /// kernel.sched_rt_runtime_us: -1 for no throttling.
    pub rt_runtime_us: Option<i64>,
    /// kernel.sched_rt_period_us.
    pub rt_period_us: Option<i64>,
}

/// Network settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Network {
    /// net.core.rmem_max, bytes.
    pub rmem_max: Option<u64>,
    /// net.core.wmem_max, bytes.
    pub wmem_max: Option<u64>,
    /// net.core.rmem_default, bytes.
    pub rmem_default: Option<u64>,
    /// net.core.wmem_default, bytes.
    pub wmem_default: Option<u64>,
    /// net.ipv4.ipfrag_high_thresh, bytes.
    pub ipfrag_high_thresh: Option<u64>,
    /// net.ipv4.ipfrag_time, s.
    pub ipfrag_time_s: Option<u64>,
    /// Whether a datagram sent to a multicast group on 127.0.0.1 arrived; otherwise what failed.
    pub loopback_multicast: Option<Result<(), String>>,
    /// Whether the interface lo has the flag MULTICAST.
    pub loopback_flag: Option<bool>,
}

/// File systems.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Storage {
    /// The file system of /dev/shm; absent if there is none.
    pub shm: Option<FileSystem>,
    /// The file system of the folder where runs are written by default.
    pub runs: Option<FileSystem>,
    /// What killed runs left, or why that is unknown.
    pub leftovers: Option<Result<Vec<Leftover>, String>>,
}

/// A file system.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileSystem {
    /// The folder.
    pub folder: PathBuf,
    /// Its type: `tmpfs`, `ext4`.
    pub kind: Option<String>,
    /// Its size, bytes.
    pub size: Option<u64>,
    /// The bytes that this user may still write.
    pub free: Option<u64>,
    /// Whether this user may write into the folder.
    pub writable: Option<bool>,
}

/// What nodes on boards (`host: micro`) need.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Boards {
    /// Release of QEMU for Arm; why there is none.
    pub emulator: Option<Result<String, String>>,
    /// The program of boards, and whether it exists.
    pub image: Option<(PathBuf, bool)>,
    /// Release of the compiler for boards, if there is one.
    pub compiler: Option<Option<String>>,
    /// Whether a network namespace with a tap device could be made; otherwise why not.
    pub network: Option<Result<(), String>>,
}
