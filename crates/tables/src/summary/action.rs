//! Figures of actions.

use super::Distribution;
use serde::{Deserialize, Serialize};

/// The goals of one action. Counts are absent where no end that tells them was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ActionFigures {
    /// Action.
    pub action: String,
    /// Nodes that send goals.
    pub clients: Vec<String>,
    /// Nodes that work on them.
    pub servers: Vec<String>,
    /// Goals sent; absent where no client was recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sent: Option<u64>,
    /// Goals that the server accepted.
    pub accepted: u64,
    /// Goals that it rejected.
    pub rejected: u64,
    /// Goals whose cancellation a client asked for; absent like `sent`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cancel_requested: Option<u64>,
    /// Goals that ended succeeded.
    pub succeeded: u64,
    /// Goals that ended canceled.
    pub canceled: u64,
    /// Goals that ended aborted.
    pub aborted: u64,
    /// Goals that were accepted and whose end was not recorded: still under way when the run ended, or their server was
    /// killed.
    pub unfinished: u64,
    /// Goal sent (just before the call) to its acceptance or rejection taken by the client.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub acceptance_us: Option<Distribution>,
    /// Goal sent to its result taken by the client.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result_us: Option<Distribution>,
    /// Goal accepted to goal ended, at the server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_us: Option<Distribution>,
    /// CPU time of the callback that executes a goal, all parts of a coroutine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub execution_cpu_us: Option<Distribution>,
    /// Cancellation asked for to goal canceled, at the server; over canceled goals, on one host.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cancel_us: Option<Distribution>,
    /// Feedback published; absent where no server was recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub feedback: Option<u64>,
    /// Feedback taken, by all clients: each gets that of all goals. Absent where no subscription to it was recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub feedback_received: Option<u64>,
    /// Feedback of one goal: (publish calls - 1) / (last - first), over all goals with two or more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub feedback_rate_hz: Option<f64>,
    /// Publish call to first line of the callback; to the take where there are no callback events, and for what another
    /// client's goal is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub feedback_latency_us: Option<Distribution>,
}
