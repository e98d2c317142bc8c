//! What the runner and a node process say to each other: one JSON value a line, on the process's stdin and stdout.
//!
//! ```text
//! runner  -> process   Plan               what to be
//! process -> runner    Created            all nodes, publishers, subscriptions are there
//! process -> runner    Matched            each of them found the peers it should have; or Unmatched
//! runner  -> process   Start              when, on CLOCK_MONOTONIC; sent once all processes are matched
//! runner  -> process   Stop               earlier than said (optional)
//! process -> runner    Finished           figures of each node
//! runner  -> process   Close              all are finished: endpoints may go
//! process -> runner    Failed             instead of any of the above: why it ends
//! ```

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use tacho_workload::model::Node;

/// What a node process is to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the plugin.
    pub middleware: String,
    /// Folder that it lies in.
    pub plugins: PathBuf,
    /// Domain to join.
    pub domain: u32,
    /// Transport; empty for the default.
    pub transport: String,
    /// Nodes, each on a thread of its own.
    pub nodes: Vec<PlannedNode>,
    /// Folder for in-program clocks, where they are asked for.
    pub clock: Option<PathBuf>,
    /// How long peers may take to be found, s.
    pub match_timeout_s: f64,
}

/// One node of a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedNode {
    /// As the workload says.
    pub node: Node,
    /// Phase, in parts of its period.
    pub phase: f64,
    /// Seed of its draws of work and of the bytes it sends.
    pub seed: u64,
    /// CPUs that its thread may run on; empty for all.
    pub cpus: Vec<u32>,
    /// One entry a subscription, in their order.
    pub inputs: Vec<Input>,
    /// One entry a publication, in their order.
    pub outputs: Vec<Output>,
}

/// What a subscription needs to know of its topic's publishers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Message type; empty lets the middleware choose by size.
    pub message_type: String,
    /// Largest message, bytes of data.
    pub size_bytes: u64,
    /// Publishers that it will be matched with.
    pub publishers: usize,
}

/// What a publication needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Its number, unique in the run.
    pub id: u32,
    /// Subscriptions that it will be matched with.
    pub subscriptions: usize,
}

/// From the runner to a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The first line.
    Plan(Plan),
    /// Times of CLOCK_MONOTONIC, ns.
    Start(Window),
    /// End now.
    Stop,
    /// Destroy the endpoints and exit.
    Close,
}

/// When a run goes on, ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Origin of all periods.
    pub start_ns: i64,
    /// No source sends from here on.
    pub stop_ns: i64,
    /// Nodes with inputs go on until here, so that what was sent can arrive.
    pub end_ns: i64,
}

/// From a process to the runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// All entities are there.
    Created {
        /// Version of the middleware.
        version: String,
    },
    /// All have found their peers.
    Matched,
    /// Some have not, in time.
    Unmatched(Vec<Unmatched>),
    /// The run is over.
    Finished(Vec<NodeFigures>),
    /// It cannot go on.
    Failed {
        /// Why.
        cause: String,
    },
}

/// A publisher or subscription that lacks peers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmatched {
    /// Node.
    pub node: String,
    /// Topic.
    pub topic: String,
    /// `publisher` or `subscription`.
    pub kind: String,
    /// Peers found.
    pub found: usize,
    /// Peers expected.
    pub expected: usize,
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmatched { node, topic, kind, found, expected } = self;
        let peers = if kind == "publisher" { "subscriptions" } else { "publishers" };
        write!(f, "{kind} of {topic} in node {node}: found {found} {peers}, expected {expected}")
    }
}

/// What a node counted of itself, over the whole run, warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFigures {
    /// Node.
    pub node: String,
    /// CPU time of its thread while it ran, ns.
    pub cpu_ns: u64,
    /// Wakes of a spinning or timed node; of an arrival-driven one, returns from waiting.
    pub wakes: u64,
    /// Callbacks executed.
    pub callbacks: u64,
    /// Study E's callback check: mean CPU time of the thread from a wake that found nothing to the next wake, ns. Absent
    /// where there was no such wake, and for nodes that do not spin.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub check_cpu_ns: Option<f64>,
    /// One entry a publication.
    pub outputs: Vec<OutputFigures>,
    /// One entry a subscription: messages taken.
    pub taken: Vec<u64>,
}

/// What one publication counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFigures {
    /// Topic.
    pub topic: String,
    /// Publish calls.
    pub sent: u64,
    /// Sends that were due and did not happen (study A). sent + skipped are those that were due. Absent where messages
    /// are published in answer to others, when nothing is due by the clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<u64>,
}
