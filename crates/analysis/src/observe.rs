//! What was seen, before it is linked over processes: the output of [`crate::Analysis::push`].

pub(crate) mod actions;
pub(crate) mod board_clock;
pub(crate) mod collect;
pub(crate) mod cpu;
pub(crate) mod dds;
mod endpoint;
pub(crate) mod groups;
pub(crate) mod handles;
pub(crate) mod interrupts;
pub(crate) mod intra_process;
pub(crate) mod lifecycle;
pub(crate) mod preemption;
pub(crate) mod rclpy;
pub(crate) mod ros1;
pub(crate) mod services;
pub(crate) mod serving;
pub(crate) mod signals;
pub(crate) mod simulated;
pub(crate) mod steps;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::Rows;
use tacho_tables::MaybeNs;
use tacho_tables::{is_feedback, Callback, Endpoint, Execution, LinkRule, Node, Note, Process};

use board_clock::BoardClock;
use dds::Dds;
pub(crate) use endpoint::{EndpointSeen, Offered};

/// Endpoint of a topic that the middleware or the client library keeps for itself: no row, no figures.
pub(crate) const INTERNAL: Row<Endpoint> = Row::LAST;

#[derive(Default)]
pub(crate) struct Seen {
    pub processes: Vec<Process>,
    /// Whether it is one of our own nodes, by process.
    pub ours: Column<Process, bool>,
    /// Whether the last event of a process is a reading of its clock, as the recorder takes one when its process ends,
    /// by process.
    pub ends_with_reading: Column<Process, bool>,
    /// Clock that a process's times are on, after hosts were related: times of two groups do not compare.
    pub clock_group: Column<Process, u32>,
    pub nodes: Vec<Node>,
    /// Those of topics have a row in the table; those of calls, which come behind them, have none.
    pub endpoints: Column<Endpoint, EndpointSeen>,
    pub topics: Topics,
    pub callbacks: Vec<Callback>,
    pub executions: Rows<Execution>,
    /// Stream of each execution.
    pub execution_stream: Rows<u32>,
    pub publications: Rows<PublicationSeen>,
    pub takes: Rows<TakeSeen>,
    pub streams: Vec<StreamSeen>,
    pub skips: Vec<SkipSeen>,
    pub refusals: Vec<RefusalSeen>,
    /// Stretches of time in which events were lost, from and to, in order.
    pub gaps: Vec<(i64, i64)>,
    /// Publication and subscription of each message that was overwritten or thrown away in an intra-process buffer.
    pub overwritten: HashSet<(Row<PublicationSeen>, Row<Endpoint>)>,
    /// The same of each message that lay in one when the events ended.
    pub lying: HashSet<(Row<PublicationSeen>, Row<Endpoint>)>,
    pub dds: Dds,
    pub roscpp: ros1::Roscpp,
    pub rclpy: rclpy::Hooked,
    pub groups: groups::Groups,
    pub lifecycle: lifecycle::Lifecycle,
    pub signals: signals::Signals,
    pub steps: steps::Steps,
    /// Clocks of microcontrollers, by process.
    pub board_clocks: HashMap<Row<Process>, BoardClock>,
    /// Link annotations: subscription, publisher, what they say; each once.
    pub annotations: Vec<(Row<Endpoint>, Row<Endpoint>, LinkRule)>,
    /// Messages on which nodes say that they computed, in order.
    pub uses: Vec<UseSeen>,
    pub counters: Counters,
}

/// A message on which the next activation of a callback computes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UseSeen {
    pub execution: Row<Execution>,
    pub time: i64,
    /// Subscription that took it.
    pub endpoint: Row<Endpoint>,
    /// Publisher and sequence number.
    pub id: (u64, u64),
}

/// A topic: what its rows are rows of.
pub(crate) struct Topic;

/// Names of topics as numbers.
#[derive(Default)]
pub(crate) struct Topics {
    pub names: Column<Topic, String>,
    feedback: Column<Topic, bool>,
    numbers: HashMap<String, Row<Topic>>,
}

#[derive(Clone, Copy)]
pub(crate) struct PublicationSeen {
    pub time: i64,
    pub process: Row<Process>,
    /// `None`: its publisher's creation was not seen.
    pub endpoint: Option<Row<Endpoint>>,
    pub execution: Option<Row<Execution>>,
    /// rmw_publish.timestamp; 0 where the release has none.
    pub source_timestamp: i64,
    /// Of the message's header; 0: it has none, or it was not recorded.
    pub header_stamp: i64,
    /// rcl_publish, where a layer above was seen before.
    pub rcl_ns: MaybeNs,
    /// rmw was entered.
    pub rmw_called_ns: MaybeNs,
    pub rmw_ns: MaybeNs,
    /// publisher id and sequence number of our own nodes.
    pub id: Option<(u64, u64)>,
    /// Of our own nodes.
    pub size_bytes: Option<u64>,
    /// When it was due by the clock; of our own nodes.
    pub due_ns: MaybeNs,
    /// Whose publish call failed; it is then of nobody ([`INTERNAL`]), as nothing was sent.
    pub refused_to: Option<Row<Endpoint>>,
    /// Handed over inside its process, whether or not it was sent as well.
    pub is_within: bool,
    /// The client library began it, and no layer above did.
    pub from_client_library: bool,
    /// rcl or a layer below was seen.
    pub reached_rcl: bool,
}

impl PublicationSeen {
    /// A publish call of which nothing more is known yet.
    pub fn new(time: i64, process: Row<Process>, execution: Option<Row<Execution>>) -> Self {
        PublicationSeen {
            time,
            process,
            endpoint: None,
            execution,
            source_timestamp: 0,
            header_stamp: 0,
            rcl_ns: MaybeNs::NONE,
            rmw_called_ns: MaybeNs::NONE,
            rmw_ns: MaybeNs::NONE,
            id: None,
            size_bytes: None,
            due_ns: MaybeNs::NONE,
            refused_to: None,
            is_within: false,
            from_client_library: false,
            reached_rcl: false,
        }
    }

    /// The instant by which it belongs to the measured window or not. A send that comes late still belongs to when it
    /// was due, so that what was due in the window is what was sent, refused and skipped, to the message.
    pub fn belongs_ns(&self) -> i64 {
        self.due_ns.get().unwrap_or(self.time)
    }
}

/// Sends that were due and did not happen, as the publisher said when it noticed.
pub(crate) struct SkipSeen {
    pub noticed_ns: i64,
    pub endpoint: Row<Endpoint>,
    pub count: u64,
    /// Publications seen before: which of them the skip lies between.
    pub publications_before: u32,
}

/// A publish call that failed.
pub(crate) struct RefusalSeen {
    pub publication: Row<PublicationSeen>,
    /// What the middleware calls the reason.
    pub code: u64,
    pub reason: String,
}

#[derive(Clone, Copy)]
pub(crate) struct TakeSeen {
    pub time: i64,
    pub endpoint: Row<Endpoint>,
    pub source_timestamp: i64,
    /// As of a publication.
    pub header_stamp: i64,
    /// Its address in the process that took it; 0: not recorded.
    pub message: u64,
    pub id: Option<(u64, u64)>,
    /// Known at once for intra-process messages; all others are linked in the end.
    pub publication: Option<Row<PublicationSeen>>,
    /// Enqueueing of an intra-process message; for others node_data_available, in the end.
    pub arrival: MaybeNs,
    pub execution: Option<Row<Execution>>,
    pub first_line: MaybeNs,
    /// The executor turned to it: rmw was entered, else rclcpp_executor_execute.
    pub called_ns: MaybeNs,
    pub rcl_ns: MaybeNs,
    /// From a buffer of the process: it went through none of the layers below the client library.
    pub intra_process: bool,
}

/// One thread.
#[derive(Default)]
pub(crate) struct StreamSeen {
    pub process: Row<Process>,
    pub tid: u32,
    /// First and last event.
    pub first_ns: i64,
    pub last_ns: i64,
    /// Times inside rclcpp_executor_wait_for_work, in order.
    pub waits: Rows<(i64, i64)>,
    /// From the end of a callback until the executor goes on, in order: a thread of an executor of several stands by
    /// then while another waits. Absent where no other thread of the process executes.
    pub standbys: Rows<(i64, i64)>,
    /// Outermost executions, in order.
    pub executions: Rows<Row<Execution>>,
    /// Messages came in on it.
    pub receives: bool,
    /// Absent where it is part of no executor.
    pub executing: Option<serving::Executing>,
}

/// What could not be linked, counted.
#[derive(Default)]
pub(crate) struct Counters {
    pub end_without_start: u64,
    pub unknown_process: u64,
    pub unknown_node: u64,
    pub unknown_subscription: u64,
    pub intra_unlinked: u64,
    /// Publish calls that rcl did not take, of a context that is shut down.
    pub after_shutdown: u64,
    pub unknown_annotation: u64,
}

impl Topics {
    pub fn intern(&mut self, name: &str) -> Row<Topic> {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let number = self.names.push(name.to_string());
        self.feedback.push(is_feedback(name));
        self.numbers.insert(name.to_string(), number);
        number
    }

    /// Whether it is the feedback of an action.
    pub fn is_feedback(&self, topic: Row<Topic>) -> bool {
        self.feedback[topic]
    }
}

/// Topics of the client library and the middleware: every node has them, no chain runs through them.
pub(crate) fn is_internal(topic: &str) -> bool {
    const NAMES: [&str; 5] =
        ["/rosout", "/rosout_agg", "/parameter_events", "ros_discovery_info", "/ros_discovery_info"];
    NAMES.contains(&topic) || topic.starts_with("rq/") || topic.starts_with("rr/") || topic.ends_with("/_action/status")
}

/// Counts of what ROS 1 recordings contain and linking cannot follow.
pub(crate) struct UnlinkedOfRos1 {
    /// Service requests of which only the callback was seen.
    pub requests: u64,
    /// Messages that a latched publisher had published before their subscriber came.
    pub latched: u64,
    /// Messages that came over UDPROS and are like others of the same connection.
    pub alike: u64,
}

impl Seen {
    /// Topic of an endpoint that has a row.
    pub fn topic_of(&self, endpoint: Row<Endpoint>) -> Row<Topic> {
        self.endpoints[endpoint].topic
    }

    /// Stream of an execution.
    pub fn stream_of(&self, execution: Row<Execution>) -> u32 {
        self.execution_stream[execution.index()]
    }

    /// Process of an endpoint that has a row.
    pub fn process_of(&self, endpoint: Row<Endpoint>) -> Row<Process> {
        self.nodes[self.endpoints[endpoint].node].process
    }

    /// Whether one execution is another, or goes on with what it began, as parts of one coroutine do.
    pub fn continues(&self, execution: Row<Execution>, began: Row<Execution>) -> bool {
        let mut part = Some(execution);
        while part.is_some_and(|part| part > began) {
            part = part.and_then(|part| self.executions[part].resumes);
        }
        part == Some(began)
    }

    /// Whether events of the time between two instants may have been lost.
    pub fn lacks(&self, from: i64, to: i64) -> bool {
        self.gaps.iter().any(|gap| gap.0 < to && from <= gap.1)
    }

    /// Whether times of two processes compare.
    pub fn related(&self, one: Row<Process>, other: Row<Process>) -> bool {
        self.clock_group[one] == self.clock_group[other]
    }

    /// When the last event of all programs was.
    pub fn end_ns(&self) -> i64 {
        self.processes.iter().filter(|p| p.events > 0 && p.pid != 0).map(|p| p.last_ns).max().unwrap_or(i64::MIN)
    }

    /// Until when a process was there to take messages: to its last event if that tells when it ended or it was killed,
    /// else (it ended in order, when is not known) to the end of all.
    pub fn alive_until(&self, process: Row<Process>) -> i64 {
        let row = &self.processes[process];
        if row.ended == Some(true) && !self.ends_with_reading[process] {
            self.end_ns()
        } else {
            row.last_ns
        }
    }

    /// Whether a process is an emulated board.
    pub fn is_emulated(&self, process: Row<Process>) -> bool {
        self.processes[process].is_emulated()
    }

    /// How far a time of a process may be off from this machine's clock, beyond what all times may.
    pub fn clock_error_ns(&self, process: Row<Process>) -> i64 {
        self.processes[process].clock_error_ns.unwrap_or(0)
    }

    /// Describes what the recording lacks; `unlinked` counts what linking then left out of it.
    pub fn notes(&self, unlinked: &UnlinkedOfRos1) -> Vec<Note> {
        let counters = &self.counters;
        let mut notes = Vec::new();
        let mut add = |name: &str, count: u64, text: &str| {
            if count > 0 {
                notes.push(Note { name: name.into(), count, text: text.into() });
            }
        };
        add(
            "callback-end-without-start",
            counters.end_without_start,
            "callbacks that ended without a start: events before were not recorded; not in the callback times",
        );
        add(
            "event-of-unknown-process",
            counters.unknown_process,
            "events of a process that was not announced; left out",
        );
        add(
            "unknown-node",
            counters.unknown_node,
            "publishers or subscriptions of nodes whose creation was not recorded; left out of topics and chains",
        );
        add(
            "unknown-subscription",
            counters.unknown_subscription,
            "messages taken by subscriptions whose creation was not recorded: recording began late, or events were \
             dropped; left out",
        );
        add(
            "intra-process-not-linked",
            counters.intra_unlinked,
            "messages taken from intra-process buffers whose subscription or publication was not recorded; left out",
        );
        add(
            "services-not-linked",
            unlinked.requests,
            "service requests: in the callback times, but not in messages or chains",
        );
        add(
            "unknown-annotation",
            counters.unknown_annotation,
            "link annotations that name a subscription or publisher whose creation was not recorded; left out",
        );
        add(
            "unknown-signal",
            self.signals.unknown,
            "values of signals that no task announced: recording began late, or events were dropped; left out",
        );
        add(
            "latched",
            unlinked.latched,
            "messages that a latched publisher had published before their subscriber came: received, without \
             publication and latency",
        );
        add(
            "alike-over-udpros",
            unlinked.alike,
            "messages that came over UDPROS and are like others of the same connection: which publications they are \
             cannot be told; without latency, and what that connection lost is not told",
        );
        add(
            "published-after-shutdown",
            counters.after_shutdown,
            "publish calls that rcl did not take, after the last one of their process that it took: once a context is \
             shut down (^C, rclcpp::shutdown) or a publisher is gone, rcl refuses to publish; nothing was sent and \
             nothing is lost",
        );
        let unknown = self.publications.iter().filter(|p| p.endpoint.is_none()).count() as u64;
        add(
            "unknown-publisher",
            unknown,
            "publish calls of publishers whose creation was not recorded (under Humble /rosout is among them); \
             left out",
        );
        for process in &self.processes {
            if process.pid == 0 {
                continue; // the kernel: what it lost is said with the figures that it touches
            }
            if process.dropped_events > 0 {
                add(
                    "dropped-events",
                    process.dropped_events,
                    &format!(
                        "events of process {} ({}) that the recorder could not write: its counts are too low, its \
                         losses are not told",
                        process.pid, process.executable
                    ),
                );
            }
            if let Some(board) = process.board.as_ref().filter(|_| process.is_emulated()) {
                let how = match process.clock_error_ns {
                    Some(error) => format!("related to this machine's to within {} us", error as f64 / 1e3),
                    None => "not related to this machine's: no message went each way".into(),
                };
                add(
                    "emulated-board",
                    1,
                    &format!(
                        "{} ran on an {board}: times there are emulated time, {how}; messages from and to it have no \
                         latency, and what it did in chains and callbacks took emulated time, not that of hardware",
                        process.host
                    ),
                );
            }
            if process.ended == Some(false) {
                add(
                    "process-did-not-end-in-order",
                    1,
                    &format!(
                        "process {} ({}) was killed or still ran when it was read; messages after its last event are \
                         not counted as lost",
                        process.pid, process.executable
                    ),
                );
            }
        }
        notes
    }
}
