//! Figures of a chain: its times, its links, its worst instances, its lost inputs.

use super::Distribution;
use crate::{CauseKind, LinkEvidence, LinkRule, Parts};
use serde::{Deserialize, Serialize};

/// One chain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ChainFigures {
    /// Name.
    pub name: String,
    /// Node, topic, node ... node; then the topic of its output, where one was stated as its end.
    pub path: Vec<String>,
    /// Highest worst case of all paths that rest on no guess; of all, where each rests on one.
    pub critical: bool,
    /// Nodes on its path whose tie of output to input is a guess, in order: its times are only as good as these.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub guessed_at: Vec<String>,
    /// The callbacks that most of its instances pass, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub callbacks: Vec<String>,
    /// How outputs were tied to inputs.
    pub evidence: String,
    /// Instances that came through.
    pub instances: u64,
    /// Inputs that led to no output.
    pub lost: u64,
    /// First node's callback start to last node's output.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_to_end_ms: Option<Distribution>,
    /// Mean end-to-end time of each repeat that had instances: nodes that spin at one rate keep the phases they started
    /// with, so that one repeat is one draw. Absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeat_means_ms: Option<Distribution>,
    /// Its parts, over all instances; preemption over those of which it is known. Absent without an instance.
    #[serde(flatten)]
    pub parts: Option<Parts<Distribution>>,
    /// An input change that was just missed to the first output that reflects it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reaction_time_ms: Option<Distribution>,
    /// At the end, so long had a change waited that no output reflects: the reaction to it takes longer. Absent where
    /// none waited.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reaction_pending_ms: Option<f64>,
    /// From an input to the last output that still uses it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_age_ms: Option<Distribution>,
    /// From an input to the moment when an output of another one replaces the last that uses it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_age_held_ms: Option<Distribution>,
    /// By when an instance must be through; absent where nobody says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deadline_ms: Option<f64>,
    /// Instances that took longer than that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late_instances: Option<u64>,
    /// Where it runs over several hosts: a time between two of them is right to this, either way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock_uncertainty_ms: Option<f64>,
    /// How outputs were tied to inputs at each node, in the order of the path.
    #[serde(default)]
    pub links: Vec<LinkFigures>,
    /// The worst instances (those past the deadline, where there is one) with what took their time, worst first: ten of
    /// the critical chain and of those with a deadline, two of any other.
    #[serde(default)]
    pub worst: Vec<LateInstance>,
    /// What became of the inputs that led to no output, most first.
    #[serde(default)]
    pub lost_inputs: Vec<LostInputs>,
}

/// How one output of a node was tied to one of its inputs; see [`crate::Link`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct LinkFigures {
    /// Node.
    pub node: String,
    /// Topic that it takes.
    pub input: String,
    /// Topic that it publishes; absent for the last node.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<String>,
    /// How.
    pub rule: LinkRule,
    /// What says so.
    pub evidence: LinkEvidence,
    /// From 0 to 1.
    pub confidence: f64,
    /// Outputs since the first input was taken.
    pub outputs: u64,
    /// Of those, the ones that the rule finds an input for.
    pub followed: u64,
    /// Whether the rule is a guess: nothing shows that the output is made of this input, or of which of its messages.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub guess: bool,
}

/// An instance of a chain with everything that took its time; the parts add up to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct LateInstance {
    /// Which repeat it is of; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeat: Option<u32>,
    /// Start of the first node's callback, ns of CLOCK_MONOTONIC.
    pub start_ns: i64,
    /// The same on the wall clock, ns since 1970, by its reading at the start of the run; absent where no clock of
    /// the run told the day.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_realtime_ns: Option<i64>,
    /// First node's callback start to last node's output.
    pub end_to_end_ms: f64,
    /// In the order of the path.
    pub parts: Vec<LatePart>,
}

/// What took a part of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct LatePart {
    /// Nodes where it happened, in the order of the path; of transport and waits the one that receives.
    pub nodes: Vec<String>,
    /// What.
    pub kind: CauseKind,
    /// By whom.
    pub by: String,
    /// How long.
    pub ms: f64,
    /// Median of the same part over all instances; absent for a part at several nodes, and with fewer than three
    /// instances.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usual_ms: Option<f64>,
}

/// Inputs of a chain that no output descends from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct LostInputs {
    /// Node where they ended.
    pub node: String,
    /// How.
    pub kind: CauseKind,
    /// By whom.
    pub by: String,
    /// How many.
    pub inputs: u64,
}
