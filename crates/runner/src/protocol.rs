//! What the runner and its node processes say to each other: JSON, a line each, on the node's stdin and stdout.
//!
//! The runner sends [`Plan`]; the process answers `Ready` when all entities are there; then `Unmatched` until every
//! endpoint has its peers, and `Matched`; the runner sends `Start`; the process answers `Done` after the end of the
//! window or after `Stop`, and keeps its endpoints until its stdin is closed: one that went early would unmatch others
//! that still measure, and take messages with it that are not delivered yet. What cannot be done is a `Failed`, and the
//! process ends.
//!
//! Where nodes begin at once ([`Start::AtOnce`](tacho_workload::model::Start)), `Start` follows the plan without
//! waiting for an answer, with an instant that has passed: the process says `Ready` and begins. Then nothing is said of
//! peers, and `Stop` ends the run.

use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use tacho_events::run::Board;
use tacho_workload::model::{Node, Scheduling};

/// All that a process must know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// Folder of the plugins.
    pub libraries: PathBuf,
    /// Plugin.
    pub middleware: String,
    /// Its transport; empty for the default.
    pub transport: String,
    /// Its domain.
    pub domain: u32,
    /// IPv4 address of the interface to use; empty: nothing leaves this machine.
    #[serde(default)]
    pub address: String,
    /// Where in-node clocks are written; absent: there are none.
    pub clock: Option<PathBuf>,
    /// Nodes, a thread each.
    pub nodes: Vec<NodePlan>,
    /// The board that its one node runs on; absent: this machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub board: Option<BoardPlan>,
}

/// What a keeper must know besides its node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BoardPlan {
    /// What runs on it.
    pub image: PathBuf,
    /// Its address.
    pub address: Ipv4Addr,
    /// Begins at once, whoever is there.
    pub at_once: bool,
}

/// One node of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodePlan {
    /// As the workload says.
    pub node: Node,
    /// Where in its period it wakes, 0 to 1.
    pub phase: f64,
    /// Of its work and its data.
    pub seed: u64,
    /// CPUs it may run on; empty for all.
    pub cpus: Vec<u32>,
    /// How its thread is scheduled, and that thread alone: those of the middleware keep what the process has. Absent:
    /// as any.
    #[serde(default)]
    pub scheduling: Option<Scheduling>,
    /// Of each subscription in order: publishers that will match, and bytes of data a message carries at most.
    pub inputs: Vec<Input>,
    /// Of each publication in order.
    pub outputs: Vec<Output>,
}

/// What is known of a subscription's topic.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Input {
    /// Publishers of the topic.
    pub publishers: usize,
    /// Greatest of their sizes.
    pub size_bytes: u64,
    /// Message type of the topic; empty lets the middleware choose.
    pub message_type: String,
}

/// What is known of a publication.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Output {
    /// Unique in the run.
    pub publisher_id: u32,
    /// Subscriptions of the topic.
    pub subscribers: usize,
}

/// From the runner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Run from one instant of CLOCK_MONOTONIC to another, ns.
    Start {
        /// Phases count from here, or from when the process is ready if that is later.
        start_ns: i64,
        /// Nothing is sent by a node without inputs from here on.
        stop_ns: i64,
        /// Nodes with inputs go on until here, so that what was sent can arrive.
        end_ns: i64,
    },
    /// Stop now.
    Stop,
}

/// From a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// All entities are there.
    Ready {
        /// Of the middleware.
        version: String,
        /// Entering main, ns of CLOCK_MONOTONIC.
        #[serde(default)]
        main_ns: Option<i64>,
        /// All entities made.
        #[serde(default)]
        ready_ns: Option<i64>,
        /// Transport of its middleware where the plan names none; absent where that is not known.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        default_transport: Option<String>,
    },
    /// Still waiting for peers: the first endpoint that lacks some.
    Unmatched {
        /// Its node.
        node: String,
        /// Its topic.
        topic: String,
        /// Peers it has.
        found: usize,
        /// Peers it should have.
        expected: usize,
    },
    /// Every endpoint has its peers.
    Matched,
    /// Over.
    Done {
        /// A node each.
        nodes: Vec<NodeFigures>,
        /// The board that it ran on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        board: Option<Board>,
    },
    /// It cannot be done.
    Failed {
        /// Why.
        cause: String,
    },
}

/// What a node says of itself in the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFigures {
    /// Its name.
    pub node: String,
    /// CPU time of its thread, from start to stop.
    pub cpu_ns: u64,
    /// First line of its first callback of a message, ns of CLOCK_MONOTONIC; absent where none came.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_message_ns: Option<i64>,
    /// Wakes of a spinning node.
    pub wakes: u64,
    /// Callbacks that ran.
    pub callbacks: u64,
    /// Of each publication, in order.
    pub outputs: Vec<OutputFigures>,
    /// Messages taken, of each subscription, in order.
    pub taken: Vec<u64>,
}

impl NodeFigures {
    /// Sends that were refused, in words.
    pub fn refusals(&self) -> Vec<String> {
        let of_output = |output: &OutputFigures| {
            let words = |r: &Refusal| {
                let code = if r.code == 1 { String::new() } else { format!(" (code {})", r.code) };
                format!(
                    "node {}, topic {}: {} sends were refused{code}: {}",
                    self.node, output.topic, r.count, r.reason
                )
            };
            output.refused.iter().map(words).collect::<Vec<_>>()
        };
        self.outputs.iter().flat_map(of_output).collect()
    }
}

/// What a publication counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFigures {
    /// Its topic.
    pub topic: String,
    /// Publish calls that the middleware took.
    pub sent: u64,
    /// Sends that were due and did not happen (study A). Absent where messages are published in answer
    /// to others, when nothing is due by the clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<u64>,
    /// Publish calls that failed, not among those sent: sent + skipped + refused were due.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub refused: Vec<Refusal>,
}

/// Why a middleware refused sends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What the middleware calls the reason; 1 where it gives words alone.
    pub code: u32,
    /// Its words.
    pub reason: String,
    /// Sends.
    pub count: u64,
}
