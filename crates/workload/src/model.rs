//! What a workload says, after parsing and before anything runs.
//!
//! Every list keeps the order of the file. Serialised as JSON it is what node processes are told; the YAML that people
//! write is read by `parse`, the YAML that a run directory keeps is written by `write` and read back by `kept`.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One point of a workload file: what runs once. Lists in the file that are sweeps have been taken apart (`sweep`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Middleware plugin, `ros2` unless said.
    pub middleware: String,
    /// Transport of that middleware; empty for its default.
    pub transport: String,
    /// Nodes in the order of the file.
    pub nodes: Vec<Node>,
    /// Named chains; may be empty, then every source-to-sink path is looked at.
    pub chains: Vec<Chain>,
    /// Hosts that its nodes are placed on; empty: all run on this machine.
    #[serde(default)]
    pub hosts: Vec<Host>,
    /// `pairs`, `one-to-many`, `many-to-one` where the nodes were generated (study A); absent where they were written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topology: Option<String>,
    /// The published experiment that this repeats, `a-dds`: the report shows the study's figures and numbers beside
    /// ours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub study: Option<String>,
    /// How to run it.
    pub run: RunOptions,
}

/// A host of a workload. On one machine it is a network namespace of its own, joined to the others by a link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Unique in the workload.
    pub name: String,
    /// Its link to the others.
    pub link: Link,
}

/// A link, the same in both directions. Absent is as the machine gives it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Bits a second.
    pub rate_bit_per_s: Option<u64>,
    /// One way.
    pub delay: Option<Duration>,
    /// Packets lost, percent.
    pub loss_percent: Option<f64>,
}

/// One node: what it subscribes to, when it computes, for how long, what it publishes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Unique in the workload.
    pub name: String,
    /// Nodes with the same process name share a process; a node's own name unless said.
    pub process: String,
    /// Name of its host; empty where the workload has none.
    #[serde(default)]
    pub host: String,
    /// Middleware of this node alone, with its transport, where it is not the workload's (study C: a lightweight DDS
    /// beside ROS 2).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub middleware: Option<(String, String)>,
    /// When callbacks run.
    pub executor: Executor,
    /// Subscriptions in the order in which a spinning node looks at them.
    pub subscribes: Vec<Subscription>,
    /// Publications.
    pub publishes: Vec<Publication>,
    /// What one activation computes before it publishes; CPU time of its thread.
    pub work: Work,
}

/// When a node's callbacks run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    #[default]
    /// Woken by every message; a single thread. Publications with a rate are timers on the same thread.
    Arrival,
    /// Wakes at a fixed rate, takes at most one message of each queue, sleeps (study E). With no subscription that
    /// triggers, it computes and publishes at each wake. Publications with a rate are published at the first wake at or
    /// after each of their due times, computing once for all that are due at that wake; a node whose publications all
    /// have one, and that nothing triggers, does nothing at the other wakes. Wake k is due at phase + round(k x 1e9 /
    /// hz) ns and publication k at phase + round(k x 1e9 / rate) ns, both from the same phase and compared as such, not
    /// by the clock, so that a rate that divides the spin rate never slips by a wake.
    Spin {
        /// Wakes a second.
        hz: f64,
    },
    /// Computes and publishes at a fixed rate, with the latest message of each subscription.
    Timer {
        /// Activations a second.
        hz: f64,
    },
}

/// One subscription of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subscription {
    /// Fully qualified topic name.
    pub topic: String,
    /// Quality of service asked for.
    pub qos: Qos,
    /// True: the message is only kept as the latest, its callback neither computes nor publishes. Always so under
    /// [`Executor::Timer`].
    pub latest: bool,
}

/// One publication of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// Fully qualified topic name.
    pub topic: String,
    /// Message type as the middleware names it; empty lets it choose by size.
    pub message_type: String,
    /// Bytes of data a message.
    pub size_bytes: u64,
    /// Absent: published by the callback that takes an input, or at each activation of a timer or of a spinning node
    /// that nothing triggers. Present under [`Executor::Arrival`]: a timer of its own that computes and publishes;
    /// under [`Executor::Spin`]: published when due, see there. Never present under [`Executor::Timer`].
    pub rate_hz: Option<f64>,
    /// A message that arrives later than this is late (study A); absent: its period.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deadline: Option<Duration>,
    /// Quality of service offered.
    pub qos: Qos,
}

/// DDS quality of service, the four policies that the studies vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qos {
    /// Reliable, else best effort.
    pub reliable: bool,
    /// Transient local, else volatile.
    pub transient_local: bool,
    /// Keep all, else keep last `depth`.
    pub keep_all: bool,
    /// Depth of keep last.
    pub depth: u32,
}

impl Default for Qos {
    /// ROS 2's default profile: reliable, volatile, keep last 10.
    fn default() -> Self {
        Qos { reliable: true, transient_local: false, keep_all: false, depth: 10 }
    }
}

/// Computation of one activation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    #[default]
    /// Nothing.
    None,
    /// Always the same.
    Fixed(Duration),
    /// Uniform between two bounds.
    Uniform {
        /// Least.
        min: Duration,
        /// Most.
        max: Duration,
    },
    /// Normal, cut at zero and at mean + 4 std.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        std: Duration,
    },
}

/// A path through the graph that somebody cares about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Its name.
    pub name: String,
    /// Node names, source first.
    pub nodes: Vec<String>,
}

/// How a workload is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// Time from the first publication to the last.
    pub duration: Duration,
    /// Runs of the same workload, each with other phases.
    pub repeats: u32,
    /// Seed of the phases and of distributions of work.
    pub seed: u64,
    /// CPUs that a node's thread may run on; nodes that are not named may use all.
    pub cpus: Vec<(String, Vec<u32>)>,
    /// Scheduling of a node's thread; nodes that are not named run as any program (study B 5).
    #[serde(default)]
    pub priority: Vec<(String, Scheduling)>,
    /// Threads that compute all the time beside the nodes, as any program.
    #[serde(default)]
    pub background_cpu: u32,
    /// When nodes begin.
    #[serde(default)]
    pub start: Start,
    /// Domain of the middleware; absent: a free one is chosen.
    pub domain: Option<u32>,
    /// Each node also keeps an in-program clock of its callbacks, written to `RUN/clock/<node>.csv`: the independent
    /// answer that tests compare the recorder with.
    pub in_node_clock: bool,
    /// Bytes on the wire between hosts are counted.
    #[serde(default)]
    pub wire: bool,
}

/// How Linux schedules a thread; see sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// SCHED_OTHER with a nice value, -20 to 19.
    Nice(i32),
    /// SCHED_FIFO with a priority, 1 to 99.
    Fifo(u32),
    /// SCHED_RR with a priority, 1 to 99.
    RoundRobin(u32),
}

/// When nodes begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// When every subscription has its publishers (study A: all subscribers are up before any publisher starts).
    #[default]
    Together,
    /// Each as soon as its own entities are there: what start-up is measured with (study C). Publishers with a rate
    /// then send to whom is there.
    AtOnce,
}

impl Default for RunOptions {
    /// One run of 5 s, seed 1, all CPUs, a free domain, no clock in the nodes.
    fn default() -> Self {
        RunOptions {
            duration: Duration::from_secs(5),
            repeats: 1,
            seed: 1,
            cpus: Vec::new(),
            priority: Vec::new(),
            background_cpu: 0,
            start: Start::Together,
            domain: None,
            in_node_clock: false,
            wire: false,
        }
    }
}

impl Workload {
    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// The chain of this name.
    pub fn chain(&self, name: &str) -> Option<&Chain> {
        self.chains.iter().find(|chain| chain.name == name)
    }
}

/// The host of nodes on boards: each has a microcontroller of its own (study C). Under `hosts` it says what link each
/// has.
pub const MICRO_HOST: &str = "micro";

impl Node {
    /// Whether it runs on a board.
    pub fn is_on_board(&self) -> bool {
        self.host == MICRO_HOST
    }

    /// Whether any message makes it compute.
    pub fn is_triggered(&self) -> bool {
        !matches!(self.executor, Executor::Timer { .. }) && self.subscribes.iter().any(|s| !s.latest)
    }

    /// Whether, without an input, it computes only when a publication with a rate is due.
    pub fn computes_only_when_due(&self) -> bool {
        !self.publishes.is_empty() && self.publishes.iter().all(|p| p.rate_hz.is_some())
    }
}

impl Work {
    /// Mean of one activation; of a normal distribution without its cuts, which move it by less than 1 % while the
    /// standard deviation is at most half the mean.
    pub fn mean(&self) -> Duration {
        match *self {
            Work::None => Duration::ZERO,
            Work::Fixed(time) => time,
            Work::Uniform { min, max } => (min + max) / 2,
            Work::Normal { mean, .. } => mean,
        }
    }

    /// Longest that one activation can take.
    pub fn longest(&self) -> Duration {
        match *self {
            Work::None => Duration::ZERO,
            Work::Fixed(time) => time,
            Work::Uniform { max, .. } => max,
            Work::Normal { mean, std } => mean + std * 4,
        }
    }
}

/// Whether a node is the one that a workload calls so: by its full name, or without the root namespace.
pub fn is_called(full_name: &str, name: &str) -> bool {
    full_name == name || full_name.strip_prefix('/') == Some(name)
}
