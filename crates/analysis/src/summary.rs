//! `RUN/summary.json`: the figures of a run, every name with its unit, absent where not measured.

use serde::{Deserialize, Serialize};

/// Quartiles and moments of a set of values, in the unit of the field that holds it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Values.
    pub count: u64,
    /// Least.
    pub min: f64,
    /// First quartile, linear interpolation between closest ranks.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest.
    pub max: f64,
    /// Sample standard deviation; absent for one value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub std: Option<f64>,
}

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// One entry a point of a sweep; one for a single run of a workload; none for a recorded program.
    #[serde(default)]
    pub points: Vec<Point>,
    /// One entry a callback that ran.
    #[serde(default)]
    pub callbacks: Vec<CallbackFigures>,
    /// One entry a topic.
    #[serde(default)]
    pub topics: Vec<TopicFigures>,
    /// One entry a chain.
    #[serde(default)]
    pub chains: Vec<ChainFigures>,
    /// What is missing, doubtful or lost.
    #[serde(default)]
    pub notes: Vec<crate::tables::Note>,
}

/// Communication of one run as a whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Plugin name.
    pub middleware: String,
    /// Transport, empty for the default.
    pub transport: String,
    /// Publishers in the run.
    pub publishers: u64,
    /// Subscriptions in the run.
    pub subscribers: u64,
    /// Sends that were due.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub due: Option<u64>,
    /// Publish calls.
    pub sent: u64,
    /// Messages taken, over all subscriptions.
    pub received: u64,
    /// Sent while matched and never taken, over all subscriptions.
    pub lost: u64,
    /// lost of (received + lost).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loss_percent: Option<f64>,
    /// Taken within the deadline.
    pub in_time: u64,
    /// Taken after it.
    pub late: u64,
    /// Publish call to first line of the callback.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_us: Option<Distribution>,
    /// Events that the recorder could not write.
    pub dropped_events: u64,
}

/// Study D: one callback's own execution time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallbackFigures {
    /// Process.
    pub process_id: u32,
    /// Address in hexadecimal.
    pub callback: String,
    /// subscription, timer, service, unknown.
    pub kind: String,
    /// Node.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<String>,
    /// Topic of its subscription.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    /// Period of its timer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub period_ms: Option<f64>,
    /// Complete executions.
    pub count: u64,
    /// Start to end, wall.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_us: Option<Distribution>,
    /// Message there to callback start, where the arrival is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_wait_us: Option<Distribution>,
    /// What `ros2 topic hz` on the callback's output would have said: mean period of its publications, by output topic.
    #[serde(default)]
    pub output_period_ms: Vec<(String, f64)>,
}

/// One topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicFigures {
    /// Name.
    pub topic: String,
    /// Nodes that publish it.
    pub publishers: Vec<String>,
    /// Nodes that subscribe to it.
    pub subscribers: Vec<String>,
    /// Publish calls.
    pub sent: u64,
    /// Messages taken, over all subscriptions.
    pub received: u64,
    /// Never taken, over all subscriptions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<u64>,
    /// (publications - 1) / (last - first), over all publishers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_hz: Option<f64>,
    /// Publish call to first line of the callback; to the take where there are no callback events, and a note says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_us: Option<Distribution>,
}

/// One chain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChainFigures {
    /// Name.
    pub name: String,
    /// Node, topic, node ... node.
    pub path: Vec<String>,
    /// Highest worst case of all paths.
    pub critical: bool,
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
    /// Its parts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub computation_ms: Option<Distribution>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alignment_ms: Option<Distribution>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queueing_ms: Option<Distribution>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transport_ms: Option<Distribution>,
}
