//! `RUN/summary.json`: the figures of a run, every name with its unit, absent where not measured.

mod action;
mod bag;
mod callback;
mod chain;
mod distribution;
mod lifecycle;
mod of_node;
mod point;
mod quality;
mod reaction;
mod verdict;
mod window;

pub use action::ActionFigures;
pub use bag::BagTopicFigures;
pub use callback::{CallbackFigures, ExecutorFigures, PreemptorFigures};
pub use chain::{ChainFigures, LateInstance, LatePart, LinkFigures, LostInputs};
pub use distribution::{quantile, Distribution};
pub use lifecycle::LifecycleFigures;
pub use point::{BoardFigures, Drift, Drives, Fairness, Point, PointChain, PublisherFigures, SubscriptionFigures};
pub use quality::QualityFigures;
pub use reaction::{ReactionFigures, ReactionStage};
pub use verdict::{Culprit, Verdict};
pub use window::WindowFigures;

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Summary {
    /// What stands out; absent for sweeps and in summaries of a time before there were verdicts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Verdict>,
    /// One entry a point of a sweep; one for a single run of a workload; none for a recorded program.
    #[serde(default)]
    pub points: Vec<Point>,
    /// One entry a callback that ran.
    #[serde(default)]
    pub callbacks: Vec<CallbackFigures>,
    /// One entry a topic.
    #[serde(default)]
    pub topics: Vec<TopicFigures>,
    /// One entry a topic of an imported bag.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub bag_topics: Vec<BagTopicFigures>,
    /// Latency by layers: one entry a topic, and more where not the same layers are known of all its messages.
    #[serde(default)]
    pub layers: Vec<LayerFigures>,
    /// One entry a service that was called; those of actions whose goals are known stand there.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub services: Vec<ServiceFigures>,
    /// One entry an action whose goals are known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub actions: Vec<ActionFigures>,
    /// One entry a managed node.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub lifecycle: Vec<LifecycleFigures>,
    /// One entry a figure of quality that the task of a node reports.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub quality: Vec<QualityFigures>,
    /// One entry a reaction of a car to an obstacle that came into its way.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reactions: Vec<ReactionFigures>,
    /// One entry a chain.
    #[serde(default)]
    pub chains: Vec<ChainFigures>,
    /// What lints found; absent in summaries of a time before there were any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub findings: Option<Vec<Finding>>,
    /// One entry a thread that executed callbacks.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub executors: Vec<ExecutorFigures>,
    /// Who had the CPU while callbacks could have gone on, most time first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub preemptors: Vec<PreemptorFigures>,
    /// What is missing, doubtful or lost.
    #[serde(default)]
    pub notes: Vec<crate::Note>,
    /// The part of a run that counts; absent for a run of a workload, of which its measured window does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<WindowFigures>,
}

impl Summary {
    /// See [`crate::Note::casts_doubt`].
    pub fn in_doubt(&self) -> impl Iterator<Item = &crate::Note> {
        self.notes.iter().filter(|note| note.casts_doubt())
    }
}

/// What one lint found (docs/lints.md).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Name of the lint.
    pub lint: String,
    /// What it finds, in half a line.
    pub finds: String,
    /// Cases.
    pub count: u64,
    /// The cases, worst first; where there are more than 1,000, those that are worst.
    pub cases: Vec<FindingCase>,
}

/// One case of a finding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct FindingCase {
    /// What it is about: a subscription, a callback, a thread, a chain.
    pub subject: String,
    /// Figures with units.
    pub evidence: String,
    /// What it costs.
    pub cost: String,
    /// What to try next.
    pub next: String,
    /// The callback that delays the subject, if a lint finds one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// By how much in all, ms.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay_ms: Option<f64>,
    /// Repeats that show it; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeats: Option<u64>,
}

/// Calls of one service. Distributions are over complete calls: request, handling and response make the round trip.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ServiceFigures {
    /// Service.
    pub service: String,
    /// Nodes that call it.
    pub clients: Vec<String>,
    /// Nodes that answer.
    pub servers: Vec<String>,
    /// Requests sent; absent where no client was recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sent: Option<u64>,
    /// Calls whose four steps were all recorded.
    pub complete: u64,
    /// Requests whose response was not taken, older than the slowest round trip; absent where that cannot be known
    /// (events were lost, or no call is complete).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unanswered: Option<u64>,
    /// rmw_send_request to rmw_take_request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request_us: Option<Distribution>,
    /// rmw_take_request to rmw_send_response.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub handling_us: Option<Distribution>,
    /// rmw_send_response to rmw_take_response.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_us: Option<Distribution>,
    /// rmw_send_request to rmw_take_response.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub round_trip_us: Option<Distribution>,
}

/// One topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
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
    /// Neither taken nor lost, over all subscriptions: each may have taken them later.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pending: Option<u64>,
    /// Sent before publisher and subscription were matched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<u64>,
    /// Sent after the executor of the subscription had ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<u64>,
    /// Not taken, and what became of them is not known: the two never exchanged a message, or events were lost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unknown: Option<u64>,
    /// Type of its messages, `std_msgs/msg/String`, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_type: Option<String>,
    /// Mean size of the messages whose size is known: all of nodes that tacho runs, one in 8 of other recordings.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean_size_bytes: Option<f64>,
    /// (publications - 1) / (last - first), over all publishers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_hz: Option<f64>,
    /// Publish call to first line of the callback; to the take where there are no callback events, and a note says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_us: Option<Distribution>,
    /// Between hosts: those latencies are right to this, either way; absent where no message went between hosts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_uncertainty_us: Option<f64>,
}

/// Messages of a topic of which the same layers are known. Their means add up to that of the latency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct LayerFigures {
    /// Topic; absent for those of all topics of a point.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    /// Messages.
    pub messages: u64,
    /// Publish call to first line of the callback; to the take where there are no callback events.
    pub latency_us: Distribution,
    /// Its layers, in the order of [`crate::LAYERS`].
    pub layers: Vec<LayerPart>,
}

/// One layer of a latency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct LayerPart {
    /// One of [`crate::LAYERS`].
    pub layer: String,
    /// Time in it.
    pub duration_us: Distribution,
    /// Layers before it that could not be told from it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub includes: Vec<String>,
}
