//! The protocol between the runner and its node processes: one JSON document a line, on the node's stdin and stdout.
//!
//! The runner sends [`Plan`]; the process answers `Ready` when all its entities exist, then `Unmatched` until every
//! endpoint has its peers, and `Matched`. The runner sends `Start`; the process answers `Done` after the end of the
//! window or after `Stop`. It keeps its endpoints until its stdin is closed: if it closed them earlier, it would
//! unmatch others that still measure, and lose messages that are not delivered yet. A process that cannot do its task
//! answers `Failed` and ends.
//!
//! If nodes begin at once ([`Start::AtOnce`](tacho_workload::model::Start)), `Start` follows the plan without waiting
//! for an answer, with an instant in the past: the process answers `Ready` and begins. It then reports nothing about
//! peers, and `Stop` ends the run.

use crate::phases::group_seed;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use tacho_events::run::{Board, Quality, TaskQuality};
use tacho_workload::groups::CallbackGroup;
use tacho_workload::model::{Node, Scheduling};

/// Everything that a process must know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// Folder of the plugins.
    pub libraries: PathBuf,
    /// Name of the plugin.
    pub middleware: String,
    /// Its transport; empty means the default.
    pub transport: String,
    /// Its domain.
    pub domain: u32,
    /// IPv4 address of the interface to use; if empty, nothing leaves this machine.
    #[serde(default)]
    pub address: String,
    /// Folder for the logs of in-node clocks; absent if they are not requested.
    pub clock: Option<PathBuf>,
    /// Nodes, each on a thread of its own.
    pub nodes: Vec<NodePlan>,
    /// The board that its only node runs on; absent means this machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub board: Option<BoardPlan>,
}

/// What a keeper must know besides its node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BoardPlan {
    /// The image that runs on the board.
    pub image: PathBuf,
    /// Its address.
    pub address: Ipv4Addr,
    /// Whether it begins at once, without waiting for peers.
    pub at_once: bool,
}

/// One node of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodePlan {
    /// The node as in the workload.
    pub node: Node,
    /// When in its period it wakes, 0 to 1.
    pub phase: f64,
    /// Seed of its work and its data.
    pub seed: u64,
    /// CPUs that it may use; empty means all.
    pub cpus: Vec<u32>,
    /// Scheduling of its thread. Threads of the middleware keep that of the process. Absent: like any program.
    #[serde(default)]
    pub scheduling: Option<Scheduling>,
    /// What is known of each subscription's topic, in order.
    pub inputs: Vec<Input>,
    /// What is known of each publication, in order.
    pub outputs: Vec<Output>,
    /// The library of its task; absent if its work is a time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task_library: Option<PathBuf>,
}

impl NodePlan {
    /// A plan for each group of its callbacks, which draws on its own.
    pub fn by_group(&self) -> Vec<NodePlan> {
        let of_group = |(number, group): (u64, CallbackGroup)| NodePlan {
            seed: group_seed(self.seed, number),
            inputs: group.inputs.iter().map(|at| self.inputs[*at].clone()).collect(),
            outputs: group.outputs.iter().map(|at| self.outputs[*at].clone()).collect(),
            node: group.node,
            ..self.clone()
        };
        (0..).zip(self.node.callback_groups()).map(of_group).collect()
    }
}

/// What is known of a subscription's topic.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Input {
    /// Publishers of the topic.
    pub publishers: usize,
    /// Greatest message size of its publishers.
    pub size_bytes: u64,
    /// Message type of the topic; if empty, the middleware chooses.
    pub message_type: String,
}

/// What is known of a publication.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Output {
    /// Id, unique in the run.
    pub publisher_id: u32,
    /// Number of subscriptions of the topic.
    pub subscribers: usize,
}

/// A message from the runner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Run from one instant of CLOCK_MONOTONIC to another, ns.
    Start {
        /// Phases count from this instant, or from when the process is ready if that is later.
        start_ns: i64,
        /// A node without inputs sends nothing from this instant on.
        stop_ns: i64,
        /// Nodes with inputs continue until this instant, so that sent messages can arrive.
        end_ns: i64,
    },
    /// Stop now.
    Stop,
}

/// A message from a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// All its entities exist.
    Ready {
        /// Version of the middleware.
        version: String,
        /// When it entered main, ns of CLOCK_MONOTONIC.
        #[serde(default)]
        main_ns: Option<i64>,
        /// When all its entities existed.
        #[serde(default)]
        ready_ns: Option<i64>,
        /// Transports of its middleware, first the one that it uses if the plan names none; empty if that is not known.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        transports: Vec<String>,
    },
    /// Still waits for peers. Names the first endpoint that lacks some.
    Unmatched {
        /// Its node.
        node: String,
        /// Its topic.
        topic: String,
        /// Number of peers it has.
        found: usize,
        /// Number of peers it should have.
        expected: usize,
    },
    /// Every endpoint has its peers.
    Matched,
    /// The window has ended.
    Done {
        /// Figures of each node.
        nodes: Vec<NodeFigures>,
        /// Figures of the board that it ran on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        board: Option<Board>,
        /// Nodes that ended before, with the reason.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        failures: Vec<String>,
    },
    /// The process cannot do its task.
    Failed {
        /// Why.
        cause: String,
    },
}

/// Figures that a node reports at its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFigures {
    /// Its name.
    pub node: String,
    /// CPU time of its thread, from start to stop, ns.
    pub cpu_ns: u64,
    /// First line of its first callback of a message, ns of CLOCK_MONOTONIC; absent if no message came.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_message_ns: Option<i64>,
    /// Number of wakes of a spinning node.
    pub wakes: u64,
    /// Number of callbacks that ran.
    pub callbacks: u64,
    /// Figures of each publication, in order.
    pub outputs: Vec<OutputFigures>,
    /// Number of messages taken, for each subscription, in order.
    pub taken: Vec<u64>,
    /// Number of sets that it made of its inputs; absent if it computes on each message alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sets: Option<u64>,
    /// What its task reports of its quality; absent if its work is a time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<TaskFigures>,
}

/// What the task of a node reports of its quality.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskFigures {
    /// Name of the task.
    pub task: String,
    /// Its figures.
    pub quality: Vec<Quality>,
}

impl NodeFigures {
    /// The figures of a node whose callback groups have these, in the order of its plan.
    pub fn of_groups(plan: &NodePlan, groups: &[(NodePlan, NodeFigures)]) -> NodeFigures {
        let output = |topic: &str| groups.iter().flat_map(|(_, of)| &of.outputs).find(|of| of.topic == topic).cloned();
        let taken = |topic: &str| {
            let of_group = |(plan, of): &(NodePlan, NodeFigures)| {
                let at = plan.node.subscribes.iter().position(|s| s.topic == topic)?;
                of.taken.get(at).copied()
            };
            groups.iter().find_map(of_group)
        };
        NodeFigures {
            node: plan.node.name.clone(),
            cpu_ns: groups.iter().map(|(_, of)| of.cpu_ns).sum(),
            first_message_ns: groups.iter().filter_map(|(_, of)| of.first_message_ns).min(),
            callbacks: groups.iter().map(|(_, of)| of.callbacks).sum(),
            outputs: plan.node.publishes.iter().filter_map(|p| output(&p.topic)).collect(),
            taken: plan.node.subscribes.iter().filter_map(|s| taken(&s.topic)).collect(),
            ..NodeFigures::default()
        }
    }

    /// The quality of its task, for `run.json`.
    pub fn quality(&self) -> Option<TaskQuality> {
        let TaskFigures { task, quality } = self.task.clone()?;
        Some(TaskQuality { node: self.node.clone(), task, figures: quality })
    }

    /// Describes the sends that were refused.
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

/// Counts of a publication.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFigures {
    /// Its topic.
    pub topic: String,
    /// Publish calls that the middleware accepted.
    pub sent: u64,
    /// Sends that were due but did not happen (study A). Absent if messages answer others, so that none is due by the
    /// clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<u64>,
    /// Publish calls that failed; they are not counted as sent: sent + skipped + refused were due.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub refused: Vec<Refusal>,
}

/// Why a middleware refused sends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The middleware's code for the reason; 1 if it gives only a text.
    pub code: u32,
    /// The middleware's text.
    pub reason: String,
    /// Number of sends.
    pub count: u64,
}
