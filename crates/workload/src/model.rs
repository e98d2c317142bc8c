//! What a workload says, after parsing and before anything runs.
//!
//! Every list keeps the order of the file. Serialised as JSON it is what `RUN/run.json` keeps and what node processes are
//! told; the YAML that people write is read and written by `parse` and `write`.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A whole workload file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Middleware plugin, `ros2` unless said.
    pub middleware: String,
    /// Transport of that middleware; empty for its default.
    pub transport: String,
    /// Nodes in the order of the file.
    pub nodes: Vec<Node>,
    /// Named chains; may be empty, then every source-to-sink path is looked at.
    pub chains: Vec<Chain>,
    /// How to run it.
    pub run: RunOptions,
}

/// One node: what it subscribes to, when it computes, for how long, what it publishes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Unique in the workload.
    pub name: String,
    /// Nodes with the same process name share a process; a node's own name unless said.
    pub process: String,
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// Woken by every message; a single thread. Publications with a rate are timers on the same thread.
    Arrival,
    /// Wakes at a fixed rate, takes at most one message of each queue, sleeps (study E). With no subscription that
    /// triggers, it computes and publishes at each wake.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// Fully qualified topic name.
    pub topic: String,
    /// Message type as the middleware names it; empty lets it choose by size.
    pub message_type: String,
    /// Bytes of data a message.
    pub size_bytes: u64,
    /// A timer of its own that computes and publishes; absent: published by the callback that takes an input.
    pub rate_hz: Option<f64>,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
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
    /// Domain of the middleware; absent: a free one is chosen.
    pub domain: Option<u32>,
    /// Each node also keeps an in-program clock of its callbacks, written to `RUN/clock/<node>.csv`: the independent
    /// answer that tests compare the recorder with.
    pub in_node_clock: bool,
}
