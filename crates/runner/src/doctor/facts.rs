//! What is known of a machine. `None`: could not be read.

use crate::leftovers::Leftover;
use crate::preemption::Preemption;
use std::path::PathBuf;
use tacho_events::run::Load;

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
    /// What else the machine did while all this was read, which takes seconds.
    pub load: Option<Load>,
}

/// Tacho itself, and ROS 2.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Software {
    /// The recorder's path; or what is missing of the installation, in words.
    pub installation: Option<Result<PathBuf, String>>,
    /// The program of nodes; or why there is none.
    pub node: Option<Result<PathBuf, String>>,
    /// The plugins; or why their folder cannot be read.
    pub plugins: Option<Result<Vec<Plugin>, String>>,
    /// A node process that was recorded by preloading.
    pub self_check: Option<SelfCheck>,
    /// AMENT_PREFIX_PATH: each folder, and whether it is there.
    pub ament_prefixes: Vec<(PathBuf, bool)>,
    /// ROS_DISTRO.
    pub ros_distro: Option<String>,
    /// RMW_IMPLEMENTATION.
    pub rmw_implementation: Option<String>,
    /// Where `lib<RMW_IMPLEMENTATION>.so` is, among the prefixes and the environment.
    pub rmw_library: Option<PathBuf>,
    /// The Python environment beside tacho, where it has rcl.
    pub environment: Option<PathBuf>,
}

/// A middleware plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct Plugin {
    /// `ros2`.
    pub name: String,
    /// What a node process on it said.
    pub state: PluginState,
}

/// Whether a plugin can be used.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginState {
    /// A node process opened a session.
    Usable {
        /// Of what lies below.
        version: String,
    },
    /// It was left out of the build.
    NotBuilt {
        /// The build's words: what to install.
        reason: String,
    },
    /// It was built, and no session could be opened.
    Unusable {
        /// Its words, or those of the dynamic linker.
        cause: String,
    },
    /// It could not be tried: there is no program of nodes.
    NotTried,
}

/// What came of recording a node process.
#[derive(Debug, Clone, PartialEq)]
pub enum SelfCheck {
    /// Its event file was there.
    Recorded {
        /// Plugin of the process.
        plugin: String,
    },
    /// It ran, and there was no event file.
    NothingRecorded {
        /// The dynamic linker's words, where it had some.
        words: String,
    },
    /// The recording could not be begun or ended.
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
    /// Those it could use.
    pub clock_sources: Vec<String>,
    /// Whether the recorder counts ticks of the CPU; false: it calls clock_gettime for each event.
    pub counts_ticks: Option<bool>,
    /// What a call of clock_gettime takes here, ns; the least of several averages.
    pub clock_read_ns: Option<f64>,
    /// What the control group allows.
    pub quota: Option<Quota>,
    /// What says that this is a container.
    pub container: Option<String>,
}

/// CPU time that a control group may take.
#[derive(Debug, Clone, PartialEq)]
pub enum Quota {
    /// As much as there is.
    Unlimited,
    /// At most this many CPUs' worth.
    Limited {
        /// CPU time by wall time.
        cpus: f64,
        /// The group's file that says so.
        file: PathBuf,
    },
}

/// Permissions for real time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Realtime {
    /// Whether a thread was given SCHED_FIFO priority 1; the system's words where it was not.
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
    /// Whether a datagram sent to a multicast group on 127.0.0.1 arrived; what failed where it did not.
    pub loopback_multicast: Option<Result<(), String>>,
    /// Whether the interface lo has the flag MULTICAST.
    pub loopback_flag: Option<bool>,
}

/// File systems.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Storage {
    /// That of /dev/shm; absent where there is none.
    pub shm: Option<FileSystem>,
    /// That of the folder where runs are written by default.
    pub runs: Option<FileSystem>,
    /// What runs that were killed left; why that is not known.
    pub leftovers: Option<Result<Vec<Leftover>, String>>,
}

/// A file system.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileSystem {
    /// Folder that was asked for.
    pub folder: PathBuf,
    /// Its type: `tmpfs`, `ext4`.
    pub kind: Option<String>,
    /// Its size, bytes.
    pub size: Option<u64>,
    /// What this user may still write, bytes.
    pub free: Option<u64>,
    /// Whether this user may write into the folder.
    pub writable: Option<bool>,
}

/// What nodes on boards (`host: micro`) need.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Boards {
    /// Release of QEMU for Arm; why there is none.
    pub emulator: Option<Result<String, String>>,
    /// The program of boards, and whether it is there.
    pub image: Option<(PathBuf, bool)>,
    /// Release of the compiler for boards, where there is one.
    pub compiler: Option<Option<String>>,
    /// Whether a network namespace with a tap device could be made; why not.
    pub network: Option<Result<(), String>>,
}
