//! The model of a workload: what a file says after parsing and before anything runs.
//!
//! Every list keeps the order of the file. Node processes receive the model as JSON. `parse` reads the YAML that people
//! write; `write` and `kept` write and read the YAML in a run directory.

mod by_name;
mod chain;
mod qos;
mod work;

pub use by_name::{is_called, ByName};
pub use chain::{topics_between, Chain};
pub use qos::{Qos, Unmet};
pub use work::Work;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// One point of a workload file: what runs once. `sweep` has already expanded lists that are sweeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Middleware plugin; default `ros2`.
    pub middleware: String,
    /// Transport of that middleware; empty means its default.
    pub transport: String,
    /// Nodes in the order of the file.
    pub nodes: Vec<Node>,
    /// Named chains. If there are none, every source-to-sink path is analysed.
    pub chains: Vec<Chain>,
    /// Hosts of its nodes; if empty, all run on this machine.
    #[serde(default)]
    pub hosts: Vec<Host>,
    /// `pairs`, `one-to-many` or `many-to-one` if the nodes were generated (study A); absent if they were written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topology: Option<String>,
    /// The published experiment that this repeats, such as `a-dds`: the report shows the study's figures and numbers
    /// beside ours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub study: Option<String>,
    /// How to run it.
    pub run: RunOptions,
}

/// A host of a workload. On one machine it is a network namespace of its own, joined to the others by a link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Name, unique in the workload.
    pub name: String,
    /// Its link to the others.
    pub link: Link,
}

/// A link, the same in both directions. Absent values are left as the machine has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Bit rate, bits a second.
    pub rate_bit_per_s: Option<u64>,
    /// Delay in one direction.
    pub delay: Option<Duration>,
    /// Packets lost, percent.
    pub loss_percent: Option<f64>,
}

/// One node: what it subscribes to, when it computes, for how long, what it publishes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Name, unique in the workload.
    pub name: String,
    /// Process of the node. Nodes with the same process name share a process; the default is the node's own name.
    pub process: String,
    /// Nodes of the same thread run their callbacks on it one at a time, as the components of one single-threaded
    /// executor do. Absent: the node has a thread of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thread: Option<String>,
    /// Threads that run the callbacks of all nodes of [`Node::thread`], those of each [group](Own::group) one at a
    /// time, as a multi-threaded executor does. Absent: what another of these nodes says, or one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub threads: Option<u32>,
    /// What the executor of [`Node::thread`] runs next. Absent: what another of these nodes says, or by wait set.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub order: Option<Order>,
    /// Whether its callbacks are in Python: those of all such nodes of a process compute in turn, whatever their
    /// threads.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub python: bool,
    /// Name of its host; empty if the workload has no hosts.
    #[serde(default)]
    pub host: String,
    /// Middleware of this node alone, with its transport, if it differs from the workload's (study C: a lightweight DDS
    /// beside ROS 2).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub middleware: Option<(String, String)>,
    /// When callbacks run.
    pub executor: Executor,
    /// When in its period the clock wakes the node, in percent of it from the start of the run. Absent: the seed draws
    /// it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phase_percent: Option<f64>,
    /// Under [`Executor::Arrival`]: which messages of its inputs the node computes on together. Absent: each alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matching: Option<Matching>,
    /// Subscriptions in the order in which a spinning node looks at them.
    pub subscribes: Vec<Subscription>,
    /// Publications.
    pub publishes: Vec<Publication>,
    /// Under [`Executor::Arrival`]: timers beside those of publications with a rate.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub timers: Vec<NodeTimer>,
    /// Computation of one activation before it publishes, as CPU time of its thread.
    pub work: Work,
    /// How long an activation then blocks its thread without using a CPU.
    #[serde(skip_serializing_if = "Work::is_none", default)]
    pub sleep: Work,
}

/// A timer of a node. It publishes what names it as a cause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeTimer {
    /// Name, unique in its node.
    pub name: String,
    /// Activations a second.
    pub hz: f64,
    /// What its callback computes and sleeps, if not what the node says.
    #[serde(flatten)]
    pub own: Own,
}

/// What one callback has of its own: what it computes and sleeps, if that differs from what its node says, and its
/// callback group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// See [`Node::work`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub work: Option<Work>,
    /// See [`Node::sleep`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sleep: Option<Work>,
    /// Its callback group in its node. Its callbacks exclude each other, unless it is the [reentrant](crate::groups)
    /// one. Absent: the node's default group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
}

impl Own {
    /// Whether it computes and sleeps what its node says.
    pub fn is_as_node(&self) -> bool {
        self.work.is_none() && self.sleep.is_none()
    }
}

/// A callback that makes a publication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// A topic that the node takes, or one of [`Node::timers`].
    pub name: String,
    /// Part of its activations that publish, percent.
    pub share_percent: f64,
    /// How many of its activations in a row publish; such bursts are evenly spread.
    #[serde(default = "Cause::alone")]
    pub burst: u32,
    /// How many messages each of them publishes.
    #[serde(default = "Cause::alone")]
    pub times: u32,
}

impl Cause {
    /// The burst of activations that publish one by one, and how many messages most callbacks publish.
    pub const fn alone() -> u32 {
        1
    }

    /// Each activation publishes.
    pub fn always(name: &str) -> Cause {
        Cause { name: name.into(), share_percent: 100.0, burst: Cause::alone(), times: Cause::alone() }
    }
}

/// When a node's callbacks run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    #[default]
    /// Every message wakes it; a single thread. Publications with a rate are timers on the same thread.
    Arrival,
    /// Wakes at a fixed rate, takes at most one message of each queue, and sleeps (study E). Without a triggering
    /// subscription, it computes and publishes at each wake. Publications with a rate are published at the first wake
    /// at or after each of their due times; the node computes once for all that are due at that wake. A node whose
    /// publications all have a rate, and that nothing triggers, does nothing at the other wakes. Wake k is due at
    /// `phase + round(k x 1e9 / hz)` ns and publication k at `phase + round(k x 1e9 / rate)` ns, both from the same
    /// phase. These due times are compared with each other, not with the clock, so that a rate that divides the spin
    /// rate never slips by a wake.
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

/// What an executor runs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// It looks at its timers, then at its subscriptions in their order: the executors of rclcpp and rclpy that wait
    /// for sets of entities.
    WaitSet,
    /// What came first, message or timer: the events executors.
    Events,
}

/// Which messages of several inputs are a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Those of the same stamp: ExactTime.
    #[default]
    Exact,
    /// Those whose stamps are as close as they can be: ApproximateTime.
    Approximate,
    /// The newest of each, once each has had one since the set before, whatever their stamps: as nodes that keep one
    /// message of each input do.
    Newest,
}

/// How a node makes sets of its inputs, those that are not `latest`, one message of each: as the policies ExactTime and
/// ApproximateTime of message_filters do, with the stamps of the messages; or of the newest messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matching {
    /// Which messages are a set.
    pub policy: Policy,
    /// Messages of each input that ApproximateTime keeps; incomplete sets that ExactTime keeps.
    pub queue: u32,
    /// ApproximateTime: a set whose stamps are further apart is none. Absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_interval: Option<Duration>,
    /// ApproximateTime: how much closer the stamps of a later set must be for it to be better, percent.
    pub age_penalty_percent: f64,
    /// ApproximateTime: by input, the least time between two of its stamps.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub lower_bounds: Vec<(String, Duration)>,
}

impl Default for Matching {
    /// ExactTime with a queue of 10, and the age penalty of message_filters.
    fn default() -> Self {
        let (max_interval, lower_bounds) = (None, Vec::new());
        Matching { policy: Policy::Exact, queue: 10, max_interval, age_penalty_percent: 10.0, lower_bounds }
    }
}

/// One subscription of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Subscription {
    /// Fully qualified topic name.
    pub topic: String,
    /// Requested quality of service.
    pub qos: Qos,
    /// True: the node only keeps the message as the latest; its callback publishes nothing, and computes only work of
    /// its own. Always true under [`Executor::Timer`].
    pub latest: bool,
    /// What its callback computes and sleeps, if not what the node says.
    #[serde(flatten)]
    pub own: Own,
}

/// One publication of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// Fully qualified topic name.
    pub topic: String,
    /// Message type as the middleware names it; if empty, the middleware chooses one by size.
    pub message_type: String,
    /// Bytes of data in a message.
    pub size_bytes: u64,
    /// Absent: published by the callback that takes an input, or at each activation of a timer or of a spinning node
    /// that nothing triggers. Present under [`Executor::Arrival`]: a timer of its own computes and publishes. Present
    /// under [`Executor::Spin`]: published when due, as described there. Never present under [`Executor::Timer`].
    pub rate_hz: Option<f64>,
    /// When a recorded source sent, in this order and then again. Only under [`Executor::Arrival`]. `rate_hz` is then
    /// their number by the time after which they begin again. Empty: periodic.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sent_at: Vec<Duration>,
    /// Without a rate: the callbacks that publish it; empty: those of all inputs that are not `latest`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub from: Vec<Cause>,
    /// With a rate under [`Executor::Arrival`]: what its timer computes and sleeps, if not what the node says.
    #[serde(flatten)]
    pub own: Own,
    /// Deadline of a message, after which it is late (study A); default: its period.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deadline: Option<Duration>,
    /// Offered quality of service.
    pub qos: Qos,
}

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// Time from the first publication to the last.
    pub duration: Duration,
    /// Runs of the same workload, each with different phases.
    pub repeats: u32,
    /// Seed of the phases and of work distributions.
    pub seed: u64,
    /// CPUs of a node's thread; nodes without an entry may use all.
    pub cpus: Vec<(String, Vec<u32>)>,
    /// Scheduling of a node's thread; nodes without an entry run like any program (study B 5).
    #[serde(default)]
    pub priority: Vec<(String, Scheduling)>,
    /// Threads that compute all the time beside the nodes, scheduled like any program.
    #[serde(default)]
    pub background_cpu: u32,
    /// When nodes begin to publish.
    #[serde(default)]
    pub start: Start,
    /// Domain of the middleware; if absent, tacho chooses a free one.
    pub domain: Option<u32>,
    /// Whether each node also records its callbacks with a clock of its own, in `RUN/clock/<node>.csv`: the independent
    /// answer with which tests compare the recorder.
    pub in_node_clock: bool,
    /// Whether to count the bytes on the wire between hosts.
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

/// When nodes begin to publish.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// As soon as every subscription has its publishers (study A: all subscribers are up before any publisher starts).
    #[default]
    Together,
    /// Each as soon as its own entities exist, to measure start-up (study C). Publishers with a rate then send to the
    /// subscribers that exist.
    AtOnce,
}

impl RunOptions {
    /// CPUs that a node's thread may use; empty: all.
    pub fn cpus_of(&self, node: &str) -> &[u32] {
        of_node(&self.cpus, node).map_or(&[], Vec::as_slice)
    }

    /// Scheduling of a node's thread; `None`: like any program.
    pub fn priority_of(&self, node: &str) -> Option<Scheduling> {
        of_node(&self.priority, node).copied()
    }
}

fn of_node<'a, T>(of_nodes: &'a [(String, T)], node: &str) -> Option<&'a T> {
    of_nodes.iter().find(|(name, _)| name == node).map(|(_, value)| value)
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
    /// Finds the node of this name.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// Number of threads that run the callbacks of a node.
    pub fn threads_of(&self, node: &Node) -> usize {
        threads(on_thread_of(&self.nodes, node))
    }

    /// How many callbacks of a node its threads run beside each other at most.
    pub fn at_once(&self, node: &Node) -> usize {
        match node.at_once() {
            1 => 1, // whatever its threads, which takes a look at all nodes
            groups => groups.min(self.threads_of(node)),
        }
    }

    /// Whether the executor of a node runs what came first. On rclpy, its transport says so.
    pub fn is_on_events(&self, node: &Node) -> bool {
        let transport = node.middleware.as_ref().map_or(&self.transport, |(_, transport)| transport);
        let is_on_rclpys = node.plugin(&self.middleware) == "rclpy" && transport == "events";
        is_on_rclpys || on_events(on_thread_of(&self.nodes, node).chain([node]))
    }

    /// Whether the callbacks of a node are in Python: it says so, or it runs on rclpy.
    pub fn is_in_python(&self, node: &Node) -> bool {
        node.python || node.plugin(&self.middleware) == "rclpy"
    }

    /// The lowest rate at which the clock wakes a node; infinite if it wakes none.
    pub fn slowest_hz(&self) -> f64 {
        self.nodes.iter().flat_map(Node::clock_rates).fold(f64::INFINITY, f64::min)
    }

    /// States the phases of nodes that the clock wakes, as parts of their periods by name, instead of drawing them.
    pub fn state_phases(&mut self, phases: &BTreeMap<String, f64>) {
        for node in self.nodes.iter_mut().filter(|node| node.clock_rates().next().is_some()) {
            node.phase_percent = phases.get(&node.name).map(|phase| 100.0 * phase).or(node.phase_percent);
        }
    }
}

/// The nodes that share the thread of a node, with itself; none if it has a thread of its own.
pub fn on_thread_of<'n>(nodes: &'n [Node], node: &'n Node) -> impl Iterator<Item = &'n Node> {
    nodes.iter().filter(|of| node.thread.is_some() && of.thread == node.thread)
}

/// The greatest [number of threads](Node::threads).
pub const MOST_THREADS: usize = 64;

/// Number of threads that nodes of one [`Node::thread`] have together.
pub fn threads<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> usize {
    nodes.into_iter().find_map(|node| node.threads).unwrap_or(1) as usize
}

/// Whether the executor of nodes of one [`Node::thread`] runs what came first.
pub fn on_events<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> bool {
    nodes.into_iter().any(|node| node.order == Some(Order::Events))
}

/// The host of nodes on boards: each has a microcontroller of its own (study C). Under `hosts`, it describes the link
/// of each.
pub const MICRO_HOST: &str = "micro";

impl Node {
    /// Its middleware plugin; `workloads`: that of the workload.
    pub fn plugin<'n>(&'n self, workloads: &'n str) -> &'n str {
        self.middleware.as_ref().map_or(workloads, |(plugin, _)| plugin)
    }

    /// Whether the node runs on a board.
    pub fn is_on_board(&self) -> bool {
        self.host == MICRO_HOST
    }

    /// Rates at which the clock wakes the node: of its executor, its timers and publications.
    pub fn clock_rates(&self) -> impl Iterator<Item = f64> + '_ {
        let own = match self.executor {
            Executor::Spin { hz } | Executor::Timer { hz } => Some(hz),
            Executor::Arrival => None,
        };
        let timers = self.timers.iter().map(|timer| timer.hz);
        own.into_iter().chain(timers).chain(self.publishes.iter().filter_map(|p| p.rate_hz))
    }

    /// Whether any message makes the node compute.
    pub fn is_triggered(&self) -> bool {
        !matches!(self.executor, Executor::Timer { .. }) && self.subscribes.iter().any(|s| !s.latest)
    }

    /// Whether the node has no input and computes only when a publication with a rate is due.
    pub fn computes_only_when_due(&self) -> bool {
        !self.publishes.is_empty() && self.publishes.iter().all(|p| p.rate_hz.is_some())
    }
}
