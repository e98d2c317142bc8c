//! `RUN/summary.json`: the figures of a run, every name with its unit, absent where not measured.

use crate::tables::{CauseKind, LinkEvidence, LinkRule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Latency by layers: one entry a topic, and more where not the same layers are known of all its messages.
    #[serde(default)]
    pub layers: Vec<LayerFigures>,
    /// One entry a service that was called.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub services: Vec<ServiceFigures>,
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
    pub notes: Vec<crate::tables::Note>,
}

/// What one lint found (docs/lints.md).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Name of the lint.
    pub lint: String,
    /// What it finds, in half a line.
    pub finds: String,
    /// Cases.
    pub count: u64,
    /// The worst of them, worst first; at most five.
    pub cases: Vec<FindingCase>,
}

/// One case of a finding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FindingCase {
    /// What it is about: a subscription, a callback, a thread, a chain.
    pub subject: String,
    /// Figures with units.
    pub evidence: String,
    /// What it costs.
    pub cost: String,
    /// What to try next.
    pub next: String,
    /// Repeats that show it; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeats: Option<u64>,
}

/// Calls of one service. Distributions are over complete calls: request, handling and response make the round trip.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Requests whose response was not taken, older than the slowest round trip; absent where that cannot be known (events were lost, or
    /// no call is complete).
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

/// Communication of one run as a whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Sends that were due: `sent` and `skipped`; absent where nothing is due by the clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub due: Option<u64>,
    /// Publish calls.
    pub sent: u64,
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
    /// Publish call to first line of messages with an end on an emulated board, whose clock is related to this machine's to within
    /// `boards[].clock_error_us`: emulated time, no latency.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub emulated_us: Option<Distribution>,
    /// Bytes of all Ethernet frames between the hosts in the window (discovery, acknowledgements and all), a message sent; without check
    /// sequences. Absent where they were not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wire_bytes_per_message: Option<f64>,
    /// Mean bytes of those frames that carry messages (study C's bytes on the wire).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_frame_bytes: Option<f64>,
    /// Events that the recorder could not write.
    pub dropped_events: u64,
}

/// A microcontroller of a point (study C).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Start of its middleware to every endpoint matched, by its own clock: emulated time where it is emulated. A value a repeat.
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
pub struct PublisherFigures {
    /// Node.
    pub node: String,
    /// Topic.
    pub topic: String,
    /// Sends that were due: `sent` and `skipped`; absent where nothing is due by the clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub due: Option<u64>,
    /// Publish calls.
    pub sent: u64,
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

/// Study A's fairness: the same messages, sent to several subscribers. Of several topics, the one with the greatest spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// CPU time from start to end; absent where neither scheduler events nor the CPU-time clock of the thread were recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_us: Option<Distribution>,
    /// Message there to callback start, where the arrival is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_wait_us: Option<Distribution>,
    /// What `ros2 topic hz` on the callback's output would have said: mean period of its publications, by output topic.
    #[serde(default)]
    pub output_period_ms: Vec<(String, f64)>,
}

/// A thread that executes callbacks: percentages of the time from its first to its last event in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecutorFigures {
    /// Process, in the first repeat.
    pub process_id: u32,
    /// Thread, in the first repeat.
    pub thread_id: u32,
    /// Nodes whose callbacks it ran.
    pub nodes: Vec<String>,
    /// Time that the percentages are of, s, over all repeats.
    pub over_s: f64,
    /// Inside the executor's wait; absent where waits are not recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waiting_percent: Option<f64>,
    /// Neither waiting nor executing; absent like it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ready_percent: Option<f64>,
    /// Inside callbacks.
    pub executing_percent: f64,
    /// On a CPU; absent, like all below, without scheduler events.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub running_percent: Option<f64>,
    /// Off the CPU and able to go on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub runnable_percent: Option<f64>,
    /// Off the CPU, asleep or blocked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blocked_percent: Option<f64>,
    /// Times it gave the CPU up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub voluntary_switches: Option<u64>,
    /// Times the CPU was taken from it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub involuntary_switches: Option<u64>,
    /// Woken outside of callbacks, to running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wakeup_latency_us: Option<Distribution>,
}

/// What kept callbacks from a CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreemptorFigures {
    /// Name of the thread that had the CPU; absent: none had (an idle CPU that woke up), or it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// Intervals.
    pub count: u64,
    /// Their length, added up.
    pub total_ms: f64,
    /// The longest.
    pub longest_ms: f64,
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
    /// Between hosts: those latencies are right to this, either way; absent where no message went between hosts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_uncertainty_us: Option<f64>,
}

/// Messages of a topic of which the same layers are known. Their means add up to that of the latency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerFigures {
    /// Topic; absent for those of all topics of a point.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    /// Messages.
    pub messages: u64,
    /// Publish call to first line of the callback; to the take where there are no callback events.
    pub latency_us: Distribution,
    /// Its layers, in the order of [`crate::layers::LAYERS`].
    pub layers: Vec<LayerPart>,
}

/// One layer of a latency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerPart {
    /// One of [`crate::layers::LAYERS`].
    pub layer: String,
    /// Time in it.
    pub duration_us: Distribution,
    /// Layers before it that could not be told from it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub includes: Vec<String>,
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
    /// Of the time inside those callbacks: their thread could have gone on and had no CPU. Over the instances of which it is known; it is then
    /// no part of computation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preemption_ms: Option<Distribution>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alignment_ms: Option<Distribution>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queueing_ms: Option<Distribution>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transport_ms: Option<Distribution>,
    /// An input change that was just missed to the first output that reflects it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reaction_time_ms: Option<Distribution>,
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
    /// The worst instances (those past the deadline, where there is one) with what took their time, worst first: ten of the critical chain
    /// and of those with a deadline, two of any other.
    #[serde(default)]
    pub worst: Vec<LateInstance>,
    /// What became of the inputs that led to no output, most first.
    #[serde(default)]
    pub lost_inputs: Vec<LostInputs>,
}

/// How one output of a node was tied to one of its inputs; see [`crate::tables::Link`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
}

/// An instance of a chain with everything that took its time; the parts add up to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LateInstance {
    /// Which repeat it is of; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repeat: Option<u32>,
    /// Start of the first node's callback, ns of CLOCK_MONOTONIC.
    pub start_ns: i64,
    /// First node's callback start to last node's output.
    pub end_to_end_ms: f64,
    /// In the order of the path.
    pub parts: Vec<LatePart>,
}

/// What took a part of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatePart {
    /// Nodes where it happened, in the order of the path; of transport and waits the one that receives.
    pub nodes: Vec<String>,
    /// What.
    pub kind: CauseKind,
    /// By whom.
    pub by: String,
    /// How long.
    pub ms: f64,
    /// Median of the same part over all instances; absent for a part at several nodes, and with fewer than three instances.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usual_ms: Option<f64>,
}

/// Inputs of a chain that no output descends from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
