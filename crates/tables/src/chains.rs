//! Rows about chains: paths, their instances, how outputs were tied to inputs, what took the time of late instances.

use crate::maybe_ns::MaybeNs;
use crate::row::Row;
use crate::{Execution, Name, Node};
use serde::{Deserialize, Serialize};

/// A path through the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Name from the workload, else made of its first and last node.
    pub name: String,
    /// Node, topic, node, topic ... node; then the topic of its output, where one was stated as its end.
    pub path: Vec<String>,
    /// Of all paths that rest on no guess the one with the highest worst-case end-to-end time (study E); of all, where
    /// each rests on one.
    pub critical: bool,
    /// Publications of its first node that no output of the last descends from.
    pub lost: u64,
    /// How outputs were tied to inputs, weakest link, in words.
    pub evidence: String,
    /// By when an instance must be through, as the links file says; absent where nobody says.
    pub deadline_ns: Option<i64>,
    /// When the first executor or process on its path had ended, but for those that were killed; absent where all were.
    pub until_ns: Option<i64>,
    /// Nodes on its path whose tie of output to input is a guess ([`Link::guess`]), in order; none in older runs.
    pub guessed_at: Vec<String>,
    /// The callbacks that most of its instances pass, in order: of each node the one that publishes, or ends; before it
    /// the one that took the input, if that is another. A node that published outside of callbacks is named instead.
    /// None in older runs.
    pub callbacks: Vec<String>,
}

/// One instance of a chain: an output of its last node, followed back to the input it descends from. Its parts
/// ([`super::Parts`]) are the sums of its hops' and add up to `end_to_end_ns`. One is absent where the events cannot
/// tell it from its neighbour, and is then in that one, as [`Chain::evidence`] says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Row of [`super::Tables::chains`].
    pub chain: Row<Chain>,
    /// Start of the first node's callback.
    pub start_ns: i64,
    /// Last node's output: its publish call, or the end of its callback where it publishes nothing.
    pub end_ns: i64,
    /// end - start.
    pub end_to_end_ns: i64,
    /// Inside callbacks of the chain, from start to publish, less `off_cpu_ns` and `preemption_ns` where these are
    /// known.
    pub computation_ns: i64,
    /// Of the time inside those callbacks: the thread slept or was blocked; where `preemption_ns` is absent, it had no
    /// CPU for at least this long. Absent where CPU time is not known of all of it, and in older runs.
    pub off_cpu_ns: MaybeNs,
    /// Of the time inside those callbacks: the thread could have gone on and had no CPU: by scheduler events, or by the
    /// kernel's run delay of the whole callback. Absent where neither is known of all of it.
    pub preemption_ns: MaybeNs,
    /// Message there, executor asleep: waiting for the node to wake (study E). Absent where nothing of it is reported:
    /// without arrivals and events of an executor.
    pub alignment_ns: MaybeNs,
    /// Message there, executor busy with other callbacks.
    pub queueing_ns: i64,
    /// Taken by a callback, and kept for the later one that used it. Absent in older runs, where it is part of
    /// alignment.
    pub kept_ns: MaybeNs,
    /// Publish call to message there.
    pub transport_ns: i64,
}

/// One node of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hop {
    /// Row of [`super::Tables::instances`].
    pub instance: Row<Instance>,
    /// 0 for the first node.
    pub position: u32,
    /// Row of [`super::Tables::executions`]; absent for a first node that publishes outside of callbacks.
    pub execution: Option<Row<Execution>>,
    /// When its input was published; absent for the first.
    pub published_ns: MaybeNs,
    /// When its input was there; absent for the first, and if the events do not show it.
    pub arrival_ns: MaybeNs,
    /// Start of its callback; its publish call where there is no callback.
    pub start_ns: i64,
    /// Its output.
    pub output_ns: i64,
    /// Of the time between arrival and start: executor busy with other callbacks.
    pub queueing_ns: i64,
    /// Of the time before the start: see [`super::Parts`]. Absent for the first, if the events do not show it, and in
    /// older runs.
    pub alignment_ns: MaybeNs,
    /// See `alignment_ns`.
    pub kept_ns: MaybeNs,
    /// Of the time from start to output; absent unless it is known of all hops of the instance, and in older runs.
    pub off_cpu_ns: MaybeNs,
    /// Of the time from start to output; absent unless it is known of all hops of the instance.
    pub preemption_ns: MaybeNs,
}

/// How an output of a node follows from an input of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkRule {
    /// Carries the stamp of the input in its header.
    HeaderStamp,
    /// Published by the callback that took the input.
    SameCallback,
    /// Made of the latest input that was taken before.
    Latest,
    /// The same, where no output before was made of it: the node empties what it keeps.
    LatestOnce,
    /// Made when an input of each topic was there, each used once: message filters.
    Match,
    /// Not made of this input; no chain runs through it.
    Unrelated,
}

impl LinkRule {
    /// As a reader reads it.
    pub fn word(self) -> &'static str {
        match self {
            LinkRule::HeaderStamp => "header stamp",
            LinkRule::SameCallback => "same callback",
            LinkRule::Latest => "latest",
            LinkRule::LatestOnce => "latest once",
            LinkRule::Match => "message filter",
            LinkRule::Unrelated => "unrelated",
        }
    }
}

/// What says so, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkEvidence {
    /// The workload or the links file.
    Stated,
    /// The node's author, by a link annotation of tracetools.
    Annotated,
    /// The output was published by the callback that took the input.
    Observed,
    /// Where takes and publish calls stand in time.
    Inferred,
}

impl LinkEvidence {
    /// As a reader reads it.
    pub fn word(self) -> &'static str {
        match self {
            LinkEvidence::Stated => "stated",
            LinkEvidence::Annotated => "annotated",
            LinkEvidence::Observed => "observed",
            LinkEvidence::Inferred => "inferred",
        }
    }
}

/// How one output of a node is tied to one input of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Row of [`super::Tables::nodes`].
    pub node: Row<Node>,
    /// Topic that it takes.
    pub input: String,
    /// Topic that it publishes; absent for the last node of a chain: whatever it publishes, else the end of its
    /// callback.
    pub output: Option<String>,
    /// How.
    pub rule: LinkRule,
    /// What says so.
    pub evidence: LinkEvidence,
    /// From 0 to 1: what the rule is worth, times the part of the outputs that it explains. docs/figures-of-chains.md,
    /// "links".
    pub confidence: f64,
    /// Outputs since the first input was taken.
    pub outputs: u64,
    /// Of those, the ones that the rule finds an input for.
    pub followed: u64,
    /// Whether the rule is a guess: nothing shows that the output is made of this input, or of which of its messages.
    /// Absent in older runs.
    pub guess: Option<bool>,
}

/// One input of a chain: a publish call of its first node, on the chain's first topic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChainInput {
    /// Row of [`super::Tables::chains`].
    pub chain: Row<Chain>,
    /// Start of the first node's callback: when it read what it publishes.
    pub start_ns: i64,
    /// Start of the input before: a change just after it was missed by that one. Absent for the first.
    pub previous_ns: MaybeNs,
    /// First output that descends from this input or a later one; absent where there was none.
    pub reflected_ns: MaybeNs,
    /// Last output that descends from this input; absent where none does.
    pub last_used_ns: MaybeNs,
    /// The output after that one, which replaces it; absent where there was none.
    pub replaced_ns: MaybeNs,
}

/// What took a part of the time of a late instance, or kept an input from becoming an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// Inside a callback of the chain, on the CPU; where no kind below tells otherwise, also off it.
    Computation,
    /// Inside a callback of the chain, off the CPU: blocked or without a CPU, which of the two is not known.
    OffCpu,
    /// Inside a callback of the chain, asleep or blocked.
    Blocked,
    /// Inside a callback of the chain, with the CPU taken away.
    Preemption,
    /// Inside a callback of the chain, while its CPU served an interrupt.
    Interrupt,
    /// Publish call to message there.
    Transport,
    /// Message there, executor neither awake for it nor in a callback.
    WakeUp,
    /// The same, or the timer due that uses the message, and the executor's thread ready to run while another had its
    /// CPU.
    NoCpu,
    /// Message there, or the timer due that uses it, and the executor inside another callback.
    ExecutorBusy,
    /// The same, and another callback of the same mutually exclusive callback group running.
    GroupBusy,
    /// Inside a callback in Python, or before it, while another thread of the process had Python's interpreter.
    InterpreterBusy,
    /// Message taken and kept for a later callback, of which no more is known.
    Kept,
    /// Message taken and kept for a timer that was not due yet.
    NotDue,
    /// The timer that uses the message was due, and did not run; nothing is known to have kept it.
    TickLate,
    /// An older message was used again by each run of its timer, because messages come more seldom than the timer runs.
    UsedAgain,
    /// An older message was used again, because the next one had not been published yet.
    NoNewer,
    /// Overwritten by a later message in a queue that was full.
    Overwritten,
    /// Sent while matched, and never taken for another or no known reason.
    Lost,
    /// Sent before publisher and subscription knew each other.
    Unmatched,
    /// Sent after the subscriber was killed.
    Ended,
    /// Sent, and neither taken nor lost when the run ended.
    Pending,
    /// Never taken, and whether it was lost is not known: events were lost, or the two never exchanged a message.
    Untold,
    /// Taken, and a newer one was taken before the node made its next output.
    Superseded,
    /// Taken, and its callback published nothing.
    NoOutput,
    /// Not taken, or taken without an output, while its node was managed and not active.
    NotActive,
}

impl CauseKind {
    /// Whether it is a wait for another callback.
    pub fn is_busy(self) -> bool {
        matches!(self, CauseKind::ExecutorBusy | CauseKind::GroupBusy)
    }

    /// As a reader reads it, before by whom.
    pub fn words(self) -> &'static str {
        match self {
            CauseKind::Computation => "computation of",
            CauseKind::OffCpu => "off the CPU inside",
            CauseKind::Blocked => "blocked inside",
            CauseKind::Preemption => "preempted by",
            CauseKind::Interrupt => "interrupted by",
            CauseKind::Transport => "transport on",
            CauseKind::WakeUp => "waiting for the wake-up of",
            CauseKind::NoCpu => "kept from its CPU by",
            CauseKind::ExecutorBusy => "executor busy with",
            CauseKind::GroupBusy => "callback group busy with",
            CauseKind::InterpreterBusy => "Python's interpreter busy with",
            CauseKind::Kept => "kept for the next",
            CauseKind::NotDue => "kept until the due time of",
            CauseKind::TickLate => "late start of",
            CauseKind::UsedAgain => "used again (stale) for want of a newer",
            CauseKind::NoNewer => "used again (stale), the next one not published yet on",
            CauseKind::Overwritten => "overwritten in the",
            CauseKind::Lost => "lost on",
            CauseKind::Unmatched => "sent before it was matched with",
            CauseKind::Ended => "sent after the last event of",
            CauseKind::Pending => "on its way at the end of the run to",
            CauseKind::Untold => "never taken, it is not known why, by",
            CauseKind::Superseded => "superseded by a newer one at",
            CauseKind::NoOutput => "no output of",
            CauseKind::NotActive => "not active:",
        }
    }
}

/// A part of a late instance, with what took it; or, without an instance, why inputs led to no output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Row of [`super::Tables::chains`].
    pub chain: Row<Chain>,
    /// Row of [`super::Tables::instances`]; absent for inputs that no output descends from.
    pub instance: Option<Row<Instance>>,
    /// Node on the path where it happened, 0 for the first; of transport and waits the node that receives.
    pub position: u32,
    /// What.
    pub kind: CauseKind,
    /// By whom, in words: the callback that the executor was busy with, the thread that had the CPU, the topic, `queue
    /// of depth 1`.
    pub by: Name,
    /// Row of [`super::Tables::executions`], where it is one; of several the one of the longest part. Of
    /// [`CauseKind::NoNewer`] the one without which the next message, published in time, would have been used instead.
    pub execution: Option<Row<Execution>>,
    /// Where it, or the first of several intervals, began; absent where only its length is known.
    pub from_ns: MaybeNs,
    /// How long. Of one instance all durations add up to its end-to-end time.
    pub duration_ns: MaybeNs,
    /// Median of the same part (position, kind, by) over the chain's instances, 512 of them at most (64 if only the ten
    /// longest are explained); absent where there are fewer than three.
    pub usual_ns: MaybeNs,
    /// 1, or the inputs that ended this way.
    pub count: u64,
}

impl Cause {
    /// `by` of a wait for a CPU, if no event names who had it.
    pub const BY_UNKNOWN: &str = "what is not known";
}
