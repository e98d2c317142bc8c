//! The tables that analysis makes of events and that everything behind it reads; the shape of the figures made of them
//! ([`summary`]), and where both are stored ([`store`]).
//!
//! Times are ns of CLOCK_MONOTONIC of the host that wrote them; durations are ns. `None` is *not measured*, never zero.

mod actions;
mod bag;
mod callbacks;
mod chains;
pub mod ends;
mod function;
pub mod in_order;
pub mod late;
mod layers;
mod maybe_ns;
mod merge;
mod name;
mod named;
pub mod near;
mod parts;
pub mod publish_calls;
pub mod row;
pub mod rows;
mod signals;
mod sizes;
mod slowdowns;
pub mod store;
pub mod summary;
mod threads;
pub mod timeline;
pub mod timers;

pub use actions::{action_of, is_feedback, Goal, GoalOutcome};
pub use callbacks::{Callback, CallbackKind, CallbackName};
pub use chains::{Cause, CauseKind, Chain, ChainInput, Hop, Instance, Link, LinkEvidence, LinkRule};
pub use function::{cut_left, is_python, own_name, Function};
pub use layers::{Layers, LAYERS};
pub use maybe_ns::MaybeNs;
pub use name::Name;
pub use named::named;
pub use parts::Parts;
pub use signals::{length, Sample, Signal};
pub use sizes::Sizes;
pub use slowdowns::{Slowdown, Slowdowns};
pub use threads::{ExecutorThread, OffCpu, Preemption};

use crate::row::Row;
use crate::rows::Rows;
use serde::{Deserialize, Serialize};
use tacho_events::bag::{BagMessage, BagTopic};

/// All tables of one run, as they stand in `RUN/tables/*.parquet`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tables {
    /// One row a process that wrote events.
    pub processes: Vec<Process>,
    /// One row a node.
    pub nodes: Vec<Node>,
    /// One row a publisher or subscription.
    pub endpoints: Vec<Endpoint>,
    /// One row a callback (a subscription's, a timer's, a service's).
    pub callbacks: Vec<Callback>,
    /// One row an execution of a callback.
    pub executions: Rows<Execution>,
    /// One row a publish call that was due inside the measured window; made inside it, where it is not known when it
    /// was due.
    pub publications: Rows<Publication>,
    /// One row a message and subscription that should have got it.
    pub messages: Rows<Message>,
    /// One row a message that was taken and did not stay inside its process's client library: its latency by layers.
    pub layers: Rows<Layers>,
    /// One row a service call, those of actions too, of which any part was recorded.
    pub services: Rows<ServiceCall>,
    /// One row a goal of an action.
    pub goals: Vec<Goal>,
    /// One row a state of a managed node, in the order of time.
    pub states: Vec<NodeState>,
    /// One row a source-to-sink path, or named chain.
    pub chains: Vec<Chain>,
    /// One row an instance of a chain.
    pub instances: Rows<Instance>,
    /// One row a node of an instance of a chain.
    pub hops: Rows<Hop>,
    /// One row an input and an output of a node on a chain: how the one was tied to the other.
    pub links: Vec<Link>,
    /// One row an input of a chain: when it was first reflected and last used.
    pub inputs: Rows<ChainInput>,
    /// One row a part of a late instance, and one row a reason why inputs of a chain led to no output.
    pub causes: Vec<Cause>,
    /// One row an interval in which a thread that executes callbacks could not go on: CPU taken away, or waiting for
    /// it, or blocked.
    pub preemptions: Rows<Preemption>,
    /// One row a thread that executes callbacks: how its time divides.
    pub executors: Vec<ExecutorThread>,
    /// One row a stretch of time in which a thread that executes callbacks computed more slowly than usual.
    pub slowdowns: Vec<Slowdown>,
    /// One row a signal that the task of a node reports over time.
    pub signals: Vec<Signal>,
    /// One row a value of a signal, in the order in which they were reported.
    pub samples: Rows<Sample>,
    /// One row a host, where there are several: how its clock was related to that of the first.
    pub clocks: Vec<HostClock>,
    /// One row a topic of an imported bag.
    pub bag_topics: Vec<BagTopic>,
    /// One row a message of an imported bag, by topic, in the order of log times.
    pub bag_messages: Rows<BagMessage>,
    /// What is missing, doubtful or lost, in words, with a count: stands beside every figure that it touches.
    pub notes: Vec<Note>,
}

impl Tables {
    /// The chain of this name along this path; several chains may have one name.
    pub fn chain(&self, name: &str, path: &[String]) -> Option<Row<Chain>> {
        row::numbered(&self.chains).find(|(_, chain)| chain.name == name && chain.path == path).map(|(row, _)| row)
    }

    /// Whether a callback is in Python, as its function says, or its program if that is not known.
    pub fn is_in_python(&self, callback: Row<Callback>) -> bool {
        let callback = &self.callbacks[callback];
        let executable = &self.processes[callback.process].executable;
        callback.is_python() || executable.rsplit('/').next().is_some_and(|name| name.starts_with("python"))
    }

    /// To what times between two processes are right, either way; absent where they are on one clock, or on two that
    /// nothing relates.
    pub fn clock_uncertainty_ns(&self, one: Row<Process>, other: Row<Process>) -> Option<i64> {
        let clock = |process: Row<Process>| self.processes[process].clock;
        let (one, other) = (clock(one)?, clock(other)?);
        let of = |clock: u32| self.clocks[clock as usize].uncertainty_ns;
        if one == other {
            None
        } else {
            Some(of(one)? + of(other)?)
        }
    }
}

/// A process that wrote events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Process id on its host.
    pub pid: u32,
    /// Executable, as a path.
    pub executable: String,
    /// Command line.
    pub command: String,
    /// Host name.
    pub host: String,
    /// Index into [`Tables::clocks`]; absent where there is one clock only.
    pub clock: Option<u32>,
    /// Events read.
    pub events: u64,
    /// Events the recorder could not write.
    pub dropped_events: u64,
    /// Whether it ended in order; false for a process that was killed or still runs, absent if nothing shows it (an
    /// imported trace).
    pub ended: Option<bool>,
    /// First and last event.
    pub first_ns: i64,
    /// See `first_ns`.
    pub last_ns: i64,
    /// The microcontroller that it is, `emulated ...` where it is no hardware; absent: a process of this machine.
    pub board: Option<String>,
    /// How far times of a board may be off, once related to this machine's clock; absent where they could not be
    /// related.
    pub clock_error_ns: Option<i64>,
}

impl Process {
    /// Whether it is an emulated board, whose times are not those of hardware.
    pub fn is_emulated(&self) -> bool {
        self.board.as_ref().is_some_and(|board| board.starts_with("emulated"))
    }
}

/// The clock of one of several hosts. All times in the tables are on the clock of the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostClock {
    /// Host name.
    pub host: String,
    /// How far it was ahead of the first host's, at its first message; absent where messages went not both ways: then
    /// its times do not compare with the first host's, and there are no latencies between the two.
    pub offset_ns: Option<i64>,
    /// How fast that grew.
    pub drift_ppm: Option<f64>,
    /// Its times are right to this, either way.
    pub uncertainty_ns: Option<i64>,
    /// Straight lines that its offset was followed by; more than one where it was slewed. 0 for the first host.
    pub spans: u32,
    /// Messages that it sent to other hosts.
    pub sent: u64,
    /// Messages that it took from other hosts.
    pub received: u64,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Row of [`Tables::processes`].
    pub process: Row<Process>,
    /// Name with namespace, `/localisation/ndt`.
    pub name: String,
}

/// Publisher or subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointKind {
    /// Writes a topic.
    Publisher,
    /// Reads a topic.
    Subscription,
}

/// A publisher or subscription of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Row of [`Tables::nodes`].
    pub node: Row<Node>,
    /// Which.
    pub kind: EndpointKind,
    /// Topic.
    pub topic: String,
    /// Type of its messages, `std_msgs/msg/String`, where it is known.
    pub message_type: Option<String>,
    /// Queue depth, where it is known; absent if it keeps all.
    pub depth: Option<u64>,
    /// Reliable or best effort; known, as the two that follow, of ROS 2 that tacho recorded.
    pub reliable: Option<bool>,
    /// Transient local or volatile.
    pub transient_local: Option<bool>,
    /// Keep all, or keep the last `depth`.
    pub keep_all: Option<bool>,
    /// When it was made.
    pub created_ns: i64,
    /// Publish calls, or messages taken.
    pub count: u64,
    /// Sends that were due by the clock and did not happen; known only for nodes that tacho runs, where something is
    /// due.
    pub skipped: Option<u64>,
    /// Publish calls that failed, not among those of `count`; known only for publishers of nodes that tacho runs on a
    /// host.
    pub refused: Option<u64>,
    /// Messages sent to a subscription that it neither took nor lost, as it may have taken them later. Absent, as the
    /// three that follow, for publishers and for subscriptions of ROS 1, whose events show losses themselves.
    pub pending: Option<u64>,
    /// Those sent before the two were matched.
    pub before: Option<u64>,
    /// Those sent after its executor had ended.
    pub after: Option<u64>,
    /// Those of which nothing is known: the two never exchanged a message, or events were lost.
    pub unknown: Option<u64>,
    /// Whether most messages of a subscription are linked to their publications; if not, its losses are not known.
    /// Absent for publishers.
    pub linked: Option<bool>,
}

/// Topic of simulated time (ROS design, "Clock and Time").
pub const CLOCK_TOPIC: &str = "/clock";

impl Endpoint {
    /// Whether it is a subscription to simulated time.
    pub fn is_clock(&self) -> bool {
        self.kind == EndpointKind::Subscription && self.topic == CLOCK_TOPIC
    }
}

/// From when on a managed node (rcl_lifecycle) was in a state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeState {
    /// Row of [`Tables::nodes`].
    pub node: Row<Node>,
    /// When it came into it; of the first, when its state machine was made.
    pub from_ns: i64,
    /// As rcl_lifecycle labels it: unconfigured, inactive, active, finalized, and those of transitions, configuring ...
    pub state: String,
}

impl NodeState {
    /// The state in which a managed node works.
    pub const ACTIVE: &str = "active";
}

/// One execution of a callback (study D).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Row of [`Tables::callbacks`].
    pub callback: Row<Callback>,
    /// Thread it ran on.
    pub tid: u32,
    /// When it was put into its callback queue; known for timers and services of ROS 1. Of a subscription's, its
    /// message's arrival says so.
    pub queued_ns: MaybeNs,
    /// callback_start.
    pub start_ns: i64,
    /// callback_end; absent where the process ended inside.
    pub end_ns: MaybeNs,
    /// CPU time of the thread from start to end: wall time less its time off the CPU where scheduler events were
    /// recorded, else by its CPU-time clock where that was; absent where neither was.
    pub cpu_ns: MaybeNs,
    /// Time from start to end in which the thread was ready to run and had no CPU: by scheduler events where these were
    /// recorded, else by the kernel's run delay of the thread, at most its time off the CPU; absent where neither was.
    pub runnable_ns: MaybeNs,
    /// CPU time of the thread from the end of the callback before it to its start: what executor and client library
    /// computed, by the thread's CPU-time clock; absent where that was not read at both.
    pub executor_cpu_ns: MaybeNs,
    /// Of the same time, for how long the thread was ready to run and had no CPU, by the kernel's run delay; absent
    /// where that was not read at both.
    pub executor_runnable_ns: MaybeNs,
    /// Row of [`Tables::executions`] of the part before, of a coroutine that awaited something and goes on.
    pub resumes: Option<Row<Execution>>,
}

impl Execution {
    /// Time off the CPU, ns: ready to run, and the rest, in which it was blocked, slept, or the hypervisor had its CPU.
    /// `None`: the two are not known apart.
    pub fn off_cpu_ns(&self) -> Option<(i64, i64)> {
        let (end_ns, cpu_ns) = self.end_ns.get().zip(self.cpu_ns.get())?;
        let runnable_ns = self.runnable_ns.get()?;
        Some((runnable_ns, (end_ns - self.start_ns - cpu_ns - runnable_ns).max(0)))
    }
}

/// A publish call, whether or not anybody subscribes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// Row of [`Tables::endpoints`].
    pub publisher: Row<Endpoint>,
    /// Just before the publish call (outermost layer seen).
    pub publish_ns: i64,
    /// When the call was due by its rate and phase; known only for nodes that tacho runs, where something is due by the
    /// clock.
    pub due_ns: MaybeNs,
    /// Sequence number, where the message carries one.
    pub sequence: Option<u64>,
    /// Data of the message, of nodes that tacho runs; otherwise its size when serialised, known for the first message
    /// of a publisher, and for one in 8.
    pub size_bytes: Option<u64>,
    /// Row of [`Tables::executions`] that published it; absent outside of callbacks.
    pub execution: Option<Row<Execution>>,
}

/// How a message did against its topic's deadline (default: its period).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Arrived within the deadline, or there is none.
    InTime,
    /// Arrived later than that.
    Late,
    /// Arrived; whether within the deadline is not reported, as emulated time lies between ([`Message::emulated`]).
    Taken,
    /// Never taken.
    Lost,
}

/// Where a lost message was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostIn {
    /// Overwritten in the publisher's outgoing queue before the transport had it.
    PublisherQueue,
    /// Handed to the transport and never received.
    Transport,
    /// Overwritten in the subscription's queue before its callback ran.
    SubscriptionQueue,
}

/// A message on its way to one subscription.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Row of [`Tables::endpoints`] of the publisher; absent where the publisher was not recorded.
    pub publisher: Option<Row<Endpoint>>,
    /// Row of [`Tables::endpoints`] of the subscription.
    pub subscription: Row<Endpoint>,
    /// Sequence number of its publisher, where the message carries one.
    pub sequence: Option<u64>,
    /// Just before the publish call (outermost layer seen).
    pub publish_ns: MaybeNs,
    /// When the middleware said that it was there.
    pub arrival_ns: MaybeNs,
    /// When it was taken.
    pub take_ns: MaybeNs,
    /// First line of the callback.
    pub callback_ns: MaybeNs,
    /// Row of [`Tables::executions`] that took it.
    pub execution: Option<Row<Execution>>,
    /// Row of [`Tables::executions`] that published it.
    pub published_in: Option<Row<Execution>>,
    /// Against its deadline.
    pub delivery: Delivery,
    /// Where it was lost; absent for one that was not, and if the events do not show it.
    pub lost_in: Option<LostIn>,
    /// An end of it was on an emulated board: between its times lies emulated time, so it has no latency.
    pub emulated: bool,
}

impl Message {
    /// A message that was published at 1 ns, and of which nothing else is known: for tests to build on.
    pub fn of(publisher: u32, subscription: u32, delivery: Delivery) -> Message {
        Message {
            publisher: Some(Row::new(publisher)),
            subscription: Row::new(subscription),
            sequence: None,
            publish_ns: 1.into(),
            arrival_ns: MaybeNs::NONE,
            take_ns: MaybeNs::NONE,
            callback_ns: MaybeNs::NONE,
            execution: None,
            published_in: None,
            delivery,
            lost_in: None,
            emulated: false,
        }
    }
}

/// A service call: request from client to server, handled, response back. What was not recorded, or did not happen, is
/// absent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ServiceCall {
    /// Name of the service; empty where neither its client's nor its server's creation was recorded.
    pub service: Name,
    /// Row of [`Tables::nodes`] of the client.
    pub client: Option<Row<Node>>,
    /// Row of [`Tables::nodes`] of the server.
    pub server: Option<Row<Node>>,
    /// Number of the request among those of its client.
    pub sequence: i64,
    /// rmw_send_request.
    pub request_ns: Option<i64>,
    /// rmw_take_request.
    pub request_taken_ns: Option<i64>,
    /// rmw_send_response.
    pub response_ns: Option<i64>,
    /// rmw_take_response.
    pub response_taken_ns: Option<i64>,
    /// Row of [`Tables::executions`] that handled it.
    pub execution: Option<Row<Execution>>,
    /// Row of [`Tables::executions`] that sent the request.
    pub requested_in: Option<Row<Execution>>,
    /// Row of [`Tables::executions`] that took the response, or went on with it.
    pub response_taken_in: Option<Row<Execution>>,
}

impl ServiceCall {
    /// When the request was sent. rmw's event comes after the write, and the other side may have taken it in between:
    /// sent by then.
    pub fn requested_ns(&self) -> Option<i64> {
        self.request_ns.map(|sent| self.request_taken_ns.map_or(sent, |taken| sent.min(taken)))
    }

    /// When the response was sent; the same holds.
    pub fn answered_ns(&self) -> Option<i64> {
        self.response_ns.map(|sent| self.response_taken_ns.map_or(sent, |taken| sent.min(taken)))
    }
}

/// Something missing, doubtful or lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Note {
    /// Short stable name, `no-callback-events`.
    pub name: String,
    /// How often.
    pub count: u64,
    /// In words, with what it touches.
    pub text: String,
}

impl Note {
    /// Whether messages could not be linked: for its sake figures are absent that a reader looks for first.
    pub fn casts_doubt(&self) -> bool {
        self.name == "not-linked"
    }
}
