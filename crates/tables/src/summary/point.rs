//! Figures of the communication of a workload: one point of a sweep, with its publishers, subscriptions and boards.

use super::{Distribution, LayerFigures};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Communication of one run as a whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Point {
    /// Plugin name.
    pub middleware: String,
    /// Transport, empty for the default.
    pub transport: String,
    /// What the sweep varied, as written: `size` -> `64 KiB`. Empty for a workload without lists.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// `pairs`, `one-to-many`, `many-to-one`; absent where the nodes were not generated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topology: Option<String>,
    /// Data of a message; absent where publications differ.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size_bytes: Option<u64>,
    /// Rate of the publications; absent where they differ or have none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_hz: Option<f64>,
    /// Run directories that it is made of.
    #[serde(default)]
    pub repeats: u64,
    /// Publishers in the run.
    pub publishers: u64,
    /// Subscriptions in the run.
    pub subscribers: u64,
    /// Sends that were due: `sent`, `refused` and `skipped`; absent where nothing is due by the clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub due: Option<u64>,
    /// Publish calls that the middleware took.
    pub sent: u64,
    /// Publish calls that failed; absent where nobody counts them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<u64>,
    /// Sends that were due and did not happen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<u64>,
    /// Publish calls a period or more after they were due (study A, figure 11: not sent in their period).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sent_late: Option<u64>,
    /// Messages taken, over all subscriptions.
    pub received: u64,
    /// Sent while matched and never taken, over all subscriptions; absent where events were dropped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<u64>,
    /// lost of (received + lost).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loss_percent: Option<f64>,
    /// Taken within the deadline; absent where that is not told of each, as emulated time lies between.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub in_time: Option<u64>,
    /// Taken after it; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late: Option<u64>,
    /// Publish call to first line of the callback.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_us: Option<Distribution>,
    /// Publish call less when it was due by its rate and phase (study A); absent where nothing is due by the clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub send_lateness_us: Option<Distribution>,
    /// Whether subscribers of one topic are served alike; absent with fewer than two.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fairness: Option<Fairness>,
    /// Latency over the run; absent with too few messages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drift: Option<Drift>,
    /// Entering main to the first message in a callback, over processes that got one; with `start: at once` alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub startup_ms: Option<Distribution>,
    /// CPU time of all node processes in the window, percent of one CPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_percent: Option<f64>,
    /// Proportional sets of all node processes, added up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pss_bytes: Option<u64>,
    /// Resident set of the process with the greatest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rss_bytes: Option<u64>,
    /// Resident shared memory of the process with the most.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shared_bytes: Option<u64>,
    /// Times that processes slept and were woken, a second, all together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wakeups_per_s: Option<f64>,
    /// Times that the CPU was taken from a process, a second, all together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preemptions_per_s: Option<f64>,
    /// Latency by layers, all topics together; several where not the same layers are known of all messages.
    #[serde(default)]
    pub layers: Vec<LayerFigures>,
    /// Each publisher.
    #[serde(default)]
    pub publishing: Vec<PublisherFigures>,
    /// Each subscription, in the order of creation.
    #[serde(default)]
    pub subscribing: Vec<SubscriptionFigures>,
    /// Each board.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub boards: Vec<BoardFigures>,
    /// Publish call to first line of messages with an end on an emulated board, whose clock is related to this
    /// machine's to within `boards[].clock_error_us`: emulated time, no latency.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub emulated_us: Option<Distribution>,
    /// Bytes of all Ethernet frames between the hosts in the window (discovery, acknowledgements and all), a message
    /// sent; without check sequences. Absent where they were not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wire_bytes_per_message: Option<f64>,
    /// Mean bytes of those frames that carry messages (study C's bytes on the wire).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_frame_bytes: Option<f64>,
    /// Chains that the workload names, by name: end to end over all their nodes, where `latency_us` is of one message
    /// (study B: round trips).
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub chains: BTreeMap<String, PointChain>,
    /// How often its vehicle drove well; absent where no vehicle reported a drive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drives: Option<Drives>,
    /// Events that the recorder could not write.
    pub dropped_events: u64,
}

/// Drives of a point, of which each repeat is one (study E, figures 15 to 17).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Drives {
    /// Those that kept the lane, touched nothing and drove at all.
    pub good: u64,
    /// Those that the vehicle reported.
    pub of: u64,
    /// good of `of`.
    pub success_percent: f64,
    /// 95 % interval of Clopper and Pearson for the rate of success.
    pub success_low_percent: f64,
    /// See `success_low_percent`.
    pub success_high_percent: f64,
}

/// A chain of a point; all that is known of it stands in the point's own summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct PointChain {
    /// Instances that came through.
    pub instances: u64,
    /// Inputs that led to no output.
    pub lost: u64,
    /// First node's publish call or callback start to the last node's output; absent where no instance came through.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_to_end_ms: Option<Distribution>,
    /// Part of the end-to-end time that was transport, over all instances: study B's share of communication.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub communication_percent: Option<f64>,
}

/// A microcontroller of a point (study C).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct BoardFigures {
    /// Its node.
    pub node: String,
    /// What it is.
    pub machine: String,
    /// Whether its time is an emulator's.
    pub emulated: bool,
    /// How it was joined to the others.
    pub network: String,
    /// What its flash holds.
    pub rom_bytes: u64,
    /// Variables, stack, and the storage of its messages.
    pub ram_bytes: u64,
    /// Of that, the stack that is set aside.
    pub stack_bytes: u64,
    /// How far times of its clock may be off on this machine's; absent where no message went each way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock_error_us: Option<f64>,
    /// Start of its middleware to every endpoint matched, by its own clock: emulated time where it is emulated. A value
    /// a repeat.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub own_clock_matched_ms: Option<Distribution>,
    /// The same to its first message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub own_clock_first_message_ms: Option<Distribution>,
    /// What its middleware refused or lost, by name; those of 0 are left out.
    #[serde(default)]
    pub counters: BTreeMap<String, u32>,
}

/// One publisher of a point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct PublisherFigures {
    /// Node.
    pub node: String,
    /// Topic.
    pub topic: String,
    /// Sends that were due: `sent`, `refused` and `skipped`; absent where nothing is due by the clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub due: Option<u64>,
    /// Publish calls that the middleware took.
    pub sent: u64,
    /// Publish calls that failed; absent where nobody counts them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<u64>,
    /// Sends that were due and did not happen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<u64>,
    /// Publish calls a period or more after they were due.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sent_late: Option<u64>,
    /// Publish call less when it was due.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub send_lateness_us: Option<Distribution>,
}

/// One subscription of a point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct SubscriptionFigures {
    /// Node.
    pub node: String,
    /// Topic.
    pub topic: String,
    /// Messages taken.
    pub received: u64,
    /// Sent while matched and never taken; absent where events were dropped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<u64>,
    /// Taken within the deadline; absent where that is not told of each, as emulated time lies between.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub in_time: Option<u64>,
    /// Taken after it; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late: Option<u64>,
    /// Publish call to first line of the callback.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_us: Option<Distribution>,
}

/// Study A's fairness: the same messages, sent to several subscribers. Of several topics, the one with the greatest
/// spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Fairness {
    /// The topic.
    pub topic: String,
    /// Messages that every subscription got: the means are over these alone.
    pub messages: u64,
    /// Subscriptions compared.
    pub subscriptions: u64,
    /// Greatest mean latency of a subscription less the least.
    pub spread_us: f64,
    /// Spearman's rank correlation of mean latency with order of creation: 1 is a perfect staircase. Absent with
    /// fewer than four, or where all means are alike.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub staircase: Option<f64>,
    /// Probability of so strong a correlation by chance, two-sided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub staircase_p: Option<f64>,
}

/// Study C's drift: whether latency changes over the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Drift {
    /// Stretches of the run that the figures are made of, over all repeats.
    pub stretches: u64,
    /// Theil-Sen slope of latency over time.
    pub slope_us_per_s: f64,
    /// Bounds of its 95 % confidence interval.
    pub slope_low_us_per_s: f64,
    /// See `slope_low_us_per_s`.
    pub slope_high_us_per_s: f64,
    /// Instants since the start of the window at which the level changes, s; of all repeats, ascending.
    pub changes_at_s: Vec<f64>,
}
