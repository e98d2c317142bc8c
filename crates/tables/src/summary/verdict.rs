//! The answer in a few lines: which chain is late, by how much, and what is to blame.

use crate::CauseKind;
use serde::{Deserialize, Serialize};

/// What a run shows, first: the chain that matters, how late it is, and the culprits. docs/figures-of-chains.md,
/// "verdict".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// One sentence: how late and how often; or that nothing stands out.
    pub text: String,
    /// Name of the chain that it is about; absent where no chain can be followed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chain: Option<String>,
    /// Its path: node, topic, node ... node.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub path: Vec<String>,
    /// Its instances.
    #[serde(default)]
    pub instances: u64,
    /// Those that took longer than `late_above_ms`.
    #[serde(default)]
    pub late_instances: u64,
    /// The same without those that share their input with a later one.
    #[serde(default)]
    pub late_cases: u64,
    /// The deadline, or half as much again as is usual and 5 ms more than that; absent for few instances.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late_above_ms: Option<f64>,
    /// The deadline that somebody stated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deadline_ms: Option<f64>,
    /// Median end-to-end time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usual_ms: Option<f64>,
    /// Longest end-to-end time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_ms: Option<f64>,
    /// What is to blame, most important first; none where the evidence is thin.
    #[serde(default)]
    pub culprits: Vec<Culprit>,
}

/// What is to blame for something: a callback, a queue, a topic, a thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Culprit {
    /// What it did to instances or inputs of chains; absent for one that a lint alone found.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<CauseKind>,
    /// The lint that found it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lint: Option<String>,
    /// Node.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<String>,
    /// Callback, as elsewhere; of several that occupied all threads all of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub callback: Option<String>,
    /// Its function.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub function: Option<String>,
    /// Where that is defined, `file:line`, where it is recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub location: Option<String>,
    /// Topic.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    /// Of the time by which all late cases together exceed what is usual (or of all that inputs were lost by).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share_percent: Option<f64>,
    /// Late cases that it delayed, or inputs that it lost.
    #[serde(default)]
    pub instances: u64,
    /// Executions of the callback that did so; absent where it is no callback.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub executions: Option<u64>,
    /// The longest of those executions; else the longest that it delayed one instance.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub longest_ms: Option<f64>,
    /// One sentence with the evidence.
    pub text: String,
    /// One sentence: what to try.
    pub next: String,
    /// Longest end-to-end time that would be left without it: an estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_without_ms: Option<f64>,
    /// Late cases that would be left without it: an estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late_without: Option<u64>,
}
