//! Options of `tacho tune`.

use super::{callback_check, Out};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use tacho_tune::plan::{Bound, Goal, Key};

/// Find what to change in a system so that a chain gets faster, and prove the gain
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho tune runs/car                              what to change on a recorded system
  tacho tune runs/car --change thread,depth        a plan for its twin
  tacho tune runs/latest --prove                   search for a plan, and run it beside the system as it is
  tacho tune runs/latest --change process,transport     nodes in one process, and other transports, measured first
  tacho tune runs/latest --goal 'p99 localisation' --at-most 'cpu=60 %' --keep ndt.priority
  tacho tune workloads/autoware-localisation.yaml --method common-rate --method arrival --prove -o runs/tuned
  tacho tune --prove -o runs/tuned --resume
  tacho tune runs/drive --goal drive --change spin     how fast can the car drive, and what permits it?
  tacho tune runs/changed --promised runs/tuned    is the changed system as fast as the plan promised?
  tacho tune workloads/study-e.yaml --method common-rate --cores 2 --check 0.05ms --check ray_ground_filter=0.5ms")]
pub struct Tune {
    /// Run directory of a workload, a workload file (which is then run first, to measure it), or a recording: its steps
    /// are printed, or with an option of the search its twin is tuned
    #[arg(required_unless_present = "resume")]
    pub run: Option<PathBuf>,
    /// How to tune a workload; more than once to compare [default: search]
    #[arg(long, value_enum)]
    pub method: Vec<Method>,
    /// Chain to tune [default: the critical one]
    #[arg(long, value_name = "NAME")]
    pub chain: Option<String>,
    /// With search: what to improve: mean, p99, worst, reaction or age, of the tuned chain or of one that is named; or
    /// cpu; or drive, the greatest speed at which a car drives safely; repeat it for several [default: mean]
    #[arg(long, value_name = "FIGURE [CHAIN]")]
    pub goal: Vec<Goal>,
    /// With search: the most that a figure may be: 'p99 localisation=50 ms', 'cpu=60 %' (of one CPU)
    #[arg(long, value_name = "FIGURE=VALUE")]
    pub at_most: Vec<Bound>,
    /// With search: what may change [default: spin, thread, group, threads, cpus, priority, depth]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub change: Vec<Change>,
    /// With search: a node or topic that stays as it is, or one key of it (ndt.priority)
    #[arg(long, value_name = "NAME[.KEY]")]
    pub keep: Vec<String>,
    /// With search: most candidates to simulate [default: 1000; 100 if they drive]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub evaluations: Option<u32>,
    /// With search: simulate every candidate, at most 1000000
    #[arg(long, conflicts_with = "evaluations")]
    pub exhaustive: bool,
    /// Time of a callback check, for all nodes of the chain or, with common-rate, for one; repeat it for several
    /// [default: as measured here]
    #[arg(long, value_name = "[NODE=]TIME", value_parser = callback_check)]
    pub check: Vec<(Option<String>, Duration)>,
    /// With common-rate: cores that the nodes share [default: as many as this machine has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: Option<u32>,
    /// Compare the run, of a system with the changes of a plan, with what the tuning in this directory promised; exit
    /// with 1 if it is slower
    #[arg(long, value_name = "TUNING", requires = "run",
        conflicts_with_all = ["method", "chain", "goal", "at_most", "change", "keep", "evaluations", "exhaustive",
            "check", "cores", "prove", "resume", "out"])]
    pub promised: Option<PathBuf>,
    /// Run the workload as it was and as tuned, in turns, and report the gain with its spread
    #[arg(long)]
    pub prove: bool,
    /// Go on with a proof that was cut short, in the directory of -o: what is finished there is not run again
    #[arg(long, requires = "prove", requires = "out")]
    pub resume: bool,
    /// Repeats of each under --prove [default: as the workload says]
    #[arg(long, value_name = "N", requires = "prove", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: Option<u32>,
    #[command(flatten)]
    pub out: Out,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// A way of tuning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The plan that a search over simulated candidates finds
    Search,
    /// One spin rate for all nodes of the chain, the best of 10, 20 ... 1000 Hz by study E's equations
    CommonRate,
    /// Nodes of the chain wake when their input arrives instead of spinning
    Arrival,
}

/// What a search may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Spin rates, or waking on arrival instead
    Spin,
    /// Threads that nodes share: a thread of its own
    Thread,
    /// Callbacks that others of their node wait for: a callback group of its own
    Group,
    /// Nodes share a process, so that messages need no transport; what that costs is measured first
    Process,
    /// Another transport of the middleware; each is measured first
    Transport,
    /// How many threads run the nodes that share one
    Threads,
    /// What executors run next: what came first instead of timers and then topics in their order
    Executor,
    /// The CPU of each node's thread
    Cpus,
    /// The scheduling of each node's thread
    Priority,
    /// How many messages queues hold
    Depth,
    /// When in their periods nodes of the chain wake
    Phase,
    /// How nodes join their inputs: on a message of one of them, or once all have a new one
    Fusion,
    /// How often timers fire: nodes then publish more often
    Period,
}

impl Change {
    /// The key of the workload.
    pub fn key(self) -> Key {
        match self {
            Change::Spin => Key::Spin,
            Change::Thread => Key::Thread,
            Change::Group => Key::Group,
            Change::Process => Key::Process,
            Change::Transport => Key::Transport,
            Change::Threads => Key::Threads,
            Change::Executor => Key::Executor,
            Change::Cpus => Key::Cpus,
            Change::Priority => Key::Priority,
            Change::Depth => Key::Depth,
            Change::Phase => Key::Phase,
            Change::Fusion => Key::Fusion,
            Change::Period => Key::Period,
        }
    }
}
