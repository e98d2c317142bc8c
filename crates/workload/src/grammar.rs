//! Defines every key of the workload file once. The parser accepts these keys only, and the schema is generated from
//! them.

use crate::names::NAME_RULE;
use crate::units::{BIT_RATE_UNITS, DURATION_UNITS, FREQUENCY_UNITS, SIZE_UNITS};

/// The form of a key's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// Name of a plugin, transport or message type.
    Word,
    /// Name of a process or host.
    Name,
    Frequency,
    Duration,
    Size,
    BitRate,
    Percent,
    /// Whole number within two bounds, inclusive.
    Whole(u64, u64),
    Flag,
    OneOf(&'static [&'static str]),
    /// A plugin, or a map of a plugin to its transport.
    Middleware,
    Executor,
    /// [`MATCH`].
    Match,
    /// Map of topics to times.
    Bounds,
    Scheduling,
    Work,
    /// Map of node names to [`NODE`].
    Nodes,
    Node,
    /// [`TOPOLOGY`], or the name of a topology.
    Topology,
    /// [`END`].
    End,
    /// Map of host names to [`HOST`].
    Hosts,
    Host,
    /// Map of chain names to lists of node names.
    Chains,
    Chain,
    /// Map of node names to lists of CPUs.
    Cpus,
    CpuList,
    /// Map of node names to [`Form::Scheduling`].
    Priorities,
    /// [`BACKGROUND`].
    Background,
    /// A list of topics, or a map of topics to [`SUBSCRIPTION`].
    Subscriptions,
    Subscription,
    /// A list of topics, or a map of topics to [`PUBLICATION`].
    Publications,
    Publication,
    /// [`RUN`].
    Run,
    /// Two durations, the least and the greatest.
    Range,
    /// Two durations or more, each at least as long as the one before.
    Times,
    /// Work that is no task.
    Time,
    /// Map of names to [`TIMER`].
    Timers,
    Timer,
    /// An input or timer, several, or a map of them to the part of their activations.
    Causes,
    /// A percentage, or [`SHARE`].
    Share,
    /// [`NORMAL`].
    Normal,
    /// Value of a task's parameter: a number with its unit.
    TaskParameter,
    /// Map of parameter names to their values.
    Sweep,
    /// Some keys of [`TOP`].
    Short,
}

/// How a value of a form consists of others.
pub(crate) enum Parts {
    /// A scalar.
    None,
    /// A map of known keys.
    Keys(&'static Place),
    /// A map of known keys, and of names that the user gives if it has this key.
    KeysOrNames(&'static Place, &'static str, Form),
    /// A map whose keys are names that the user gives.
    Names(Form),
}

impl Form {
    /// What a map of this form consists of.
    pub fn parts(self) -> Parts {
        match self {
            Form::Nodes => Parts::Names(Form::Node),
            Form::Node => Parts::Keys(&NODE),
            Form::Topology => Parts::Keys(&TOPOLOGY),
            Form::End => Parts::Keys(&END),
            Form::Hosts => Parts::Names(Form::Host),
            Form::Host => Parts::Keys(&HOST),
            Form::Chains => Parts::Names(Form::Chain),
            Form::Cpus => Parts::Names(Form::CpuList),
            Form::Priorities => Parts::Names(Form::Scheduling),
            Form::Background => Parts::Keys(&BACKGROUND),
            Form::Subscriptions => Parts::Names(Form::Subscription),
            Form::Subscription => Parts::Keys(&SUBSCRIPTION),
            Form::Publications => Parts::Names(Form::Publication),
            Form::Publication => Parts::Keys(&PUBLICATION),
            Form::Run => Parts::Keys(&RUN),
            Form::Match => Parts::Keys(&MATCH),
            Form::Bounds => Parts::Names(Form::Duration),
            Form::Work => Parts::KeysOrNames(&WORK, TASK, Form::TaskParameter),
            Form::Time => Parts::Keys(&TIME),
            Form::Timers => Parts::Names(Form::Timer),
            Form::Timer => Parts::Keys(&TIMER),
            Form::Causes => Parts::Names(Form::Share),
            Form::Share => Parts::Keys(&SHARE),
            Form::Normal => Parts::Keys(&NORMAL),
            Form::Middleware => Parts::Names(Form::Word),
            _ => Parts::None,
        }
    }

    /// Whether a list of scalars is one value of this form, so that a sweep over it is a list of lists.
    pub fn is_list(self) -> bool {
        let of_topics = matches!(self, Form::Subscriptions | Form::Publications | Form::Causes);
        of_topics || matches!(self, Form::Chain | Form::CpuList | Form::Range | Form::Times)
    }
}

/// A key of a map.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub form: Form,
    /// Description for editors.
    pub meaning: &'static str,
}

/// A map with known keys.
#[derive(Debug)]
pub(crate) struct Place {
    /// Name in messages: "the workload", "a node".
    pub what: &'static str,
    pub keys: &'static [Key],
}

const fn key(name: &'static str, form: Form, meaning: &'static str) -> Key {
    Key { name, form, meaning }
}

pub(crate) const TOP: Place = Place {
    what: "a workload",
    keys: &[
        key("study", Form::Word, "The published experiment that this repeats, such as a-dds: the report shows both."),
        key("middleware", Form::Middleware, "Middleware plugin, or {plugin: transport}; ros2 unless said."),
        key("transport", Form::Word, "Transport of that middleware; its default unless said."),
        key(
            "hosts",
            Form::Hosts,
            "Hosts that nodes are placed on, each with its link; all on this machine unless said.",
        ),
        key("topology", Form::Topology, "Nodes made by rule, as in study A, instead of `nodes`."),
        key("nodes", Form::Nodes, "The nodes, in the order in which they are started."),
        key("chains", Form::Chains, "Paths that somebody cares about: a name and its nodes, source first."),
        key("run", Form::Run, "How to run it."),
        key("sweep", Form::Sweep, "Parameters and their values: each value of `size` stands in turn where $size does."),
        key(
            "short",
            Form::Short,
            "What --short puts over the rest: maps key by key, lists as a whole; nothing removes a key.",
        ),
    ],
};

pub(crate) const HOST: Place = Place {
    what: "a host",
    keys: &[
        key("rate", Form::BitRate, "Of its link to the others, each way; as the machine gives it unless said."),
        key("delay", Form::Duration, "Of its link, one way."),
        key("loss", Form::Percent, "Packets that its link loses."),
    ],
};

/// The three topologies of study A.
pub(crate) const TOPOLOGIES: &[&str] = &["pairs", "one-to-many", "many-to-one"];
/// More nodes than any machine runs.
pub(crate) const MAX_MANY: u64 = 1000;

pub(crate) const TOPOLOGY: Place = Place {
    what: "a topology",
    keys: &[
        key(
            "kind",
            Form::OneOf(TOPOLOGIES),
            "pairs: each its own topic; one-to-many: one publisher; many-to-one: one node with all subscriptions.",
        ),
        key("nodes", Form::Whole(1, MAX_MANY), "How many the many are: pairs, subscribers, publishers."),
        key("process", Form::Name, "All nodes share a process of this name; each has one of its own unless said."),
        key("publishers", Form::End, "Host, middleware and QoS of the publishers, if they differ from the topology's."),
        key("subscribers", Form::End, "The same of the subscribers."),
        key("type", Form::Word, "Message type as the middleware names it; chosen by size unless said."),
        key("size", Form::Size, "Data of one message."),
        key("rate", Form::Frequency, "Of each publisher."),
        DEADLINE,
        RELIABILITY,
        DURABILITY,
        HISTORY,
        DEPTH,
    ],
};

const NODE_HOST: Key = key(
    "host",
    Form::Name,
    "Host that it runs on, needed where there are `hosts`; micro: an emulated microcontroller of its own.",
);
const NODE_MIDDLEWARE: Key =
    key("middleware", Form::Middleware, "Middleware of this node alone, or {plugin: transport}.");

/// Each QoS policy that is absent here is the topology's.
pub(crate) const END: Place = Place {
    what: "the publishers or subscribers of a topology",
    keys: &[NODE_HOST, NODE_MIDDLEWARE, RELIABILITY, DURABILITY, HISTORY, DEPTH],
};

/// Words of [`crate::model::Order`], in its order.
pub(crate) const ORDERS: &[&str] = &["wait_set", "events"];

pub(crate) const NODE: Place = Place {
    what: "a node",
    keys: &[
        NODE_HOST,
        NODE_MIDDLEWARE,
        key("process", Form::Name, "Nodes with the same process name share a process; one of its own unless said."),
        key(
            "thread",
            Form::Name,
            "Nodes with the same thread name run their callbacks on it one at a time; one of its own unless said.",
        ),
        key(
            "threads",
            Form::Whole(2, 64),
            "How many threads run the callbacks of all nodes with this `thread`, those of each group one at a time: \
             2 to 64; one unless said.",
        ),
        key(
            "executor",
            Form::OneOf(ORDERS),
            "What the executor of this `thread` runs next. wait_set: timers that are due, then its subscriptions in \
             their order (the default). events: what came first, message or timer.",
        ),
        key(
            "on",
            Form::Executor,
            "arrival: woken by every message (the default). timer R Hz: computes and publishes at that rate. first \
             TOPIC: a message of this input makes it compute, with the latest of the others. match exact, match \
             approximate: computes on sets, as message_filters makes them. match newest: when each input has a new \
             message.",
        ),
        key("match", Form::Match, "Parameters of `on: match`."),
        key("spin", Form::Frequency, "Wakes at this rate, takes at most one message of each queue, sleeps."),
        key(
            "phase",
            Form::Percent,
            "When in its period the clock wakes the node, from the start of the run; drawn by the seed unless said.",
        ),
        key("work", Form::Work, "What one activation computes: CPU time of its thread. Nothing unless said."),
        key("sleep", Form::Time, "How long it then blocks its thread without a CPU. Not at all unless said."),
        key("subscribes", Form::Subscriptions, "Topics it takes."),
        key("timers", Form::Timers, "Further timers, by name; `from` of a publication names the one that makes it."),
        key("publishes", Form::Publications, "Topics it publishes."),
    ],
};

const OWN_WORK: Key = key("work", Form::Time, "What its callback computes; that of the node unless said.");
const OWN_SLEEP: Key = key("sleep", Form::Time, "How long its callback then sleeps; as the node unless said.");
const GROUP: Key = key(
    "group",
    Form::Name,
    "Its callback group: on several `threads`, callbacks of one group exclude each other. The node's own unless said.",
);

pub(crate) const TIMER: Place = Place {
    what: "a timer",
    keys: &[key("rate", Form::Frequency, "Activations a second."), OWN_WORK, OWN_SLEEP, GROUP],
};

pub(crate) const MATCH: Place = Place {
    what: "the parameters of `on: match`",
    keys: &[
        key("queue", Form::Whole(1, 1_000_000), "Messages of each input that it keeps; 10 unless said."),
        key("max_interval", Form::Duration, "approximate: stamps of a set are no further apart; no limit unless said."),
        key("age_penalty", Form::Percent, "approximate: how much better a later set must be; 10 % unless said."),
        key("lower_bounds", Form::Bounds, "approximate: by topic, the least time between two of its stamps."),
    ],
};

pub(crate) const SUBSCRIPTION: Place = Place {
    what: "a subscription",
    keys: &[
        key("latest", Form::Flag, "true: the message is only kept; it neither makes the node compute nor publish."),
        OWN_WORK,
        OWN_SLEEP,
        GROUP,
        RELIABILITY,
        DURABILITY,
        HISTORY,
        DEPTH,
    ],
};

pub(crate) const PUBLICATION: Place = Place {
    what: "a publication",
    keys: &[
        key("type", Form::Word, "Message type as the middleware names it; chosen by size unless said."),
        key("size", Form::Size, "Data of one message."),
        key(
            "rate",
            Form::Frequency,
            "Published at this rate by a timer; without one, by the callback that takes an input.",
        ),
        key("sent_at", Form::Times, "Published at these recorded times, and then again."),
        key(
            "again",
            Form::Duration,
            "After which time `sent_at` begins again; a mean interval after the last unless said.",
        ),
        key(
            "from",
            Form::Causes,
            "The input or timer whose callback publishes it, or several: [/a, /b], {/a: 30 %}. All inputs unless said.",
        ),
        key("work", Form::Time, "With `rate` or `sent_at`: what its timer computes; that of the node unless said."),
        key("sleep", Form::Time, "With `rate` or `sent_at`: how long its timer then sleeps; as the node unless said."),
        key(
            "group",
            Form::Name,
            "With `rate` or `sent_at`: the callback group of its timer; the node's own unless said.",
        ),
        DEADLINE,
        RELIABILITY,
        DURABILITY,
        HISTORY,
        DEPTH,
    ],
};

const DEADLINE: Key = key("deadline", Form::Duration, "A message that takes longer is late; its period unless said.");

const RELIABILITY: Key = key("reliability", Form::OneOf(&["reliable", "best_effort"]), "QoS; reliable unless said.");
const DURABILITY: Key = key("durability", Form::OneOf(&["volatile", "transient_local"]), "QoS; volatile unless said.");
const HISTORY: Key = key("history", Form::OneOf(&["keep_last", "keep_all"]), "QoS; keep_last unless said.");
const DEPTH: Key = key("depth", Form::Whole(1, 1_000_000), "QoS, messages that keep_last keeps; 10 unless said.");

pub(crate) const RUN: Place = Place {
    what: "the run options",
    keys: &[
        key("duration", Form::Duration, "From the first publication to the last; 5 s unless said."),
        key("repeats", Form::Whole(1, 100_000), "Runs of the same workload, each with other phases; 1 unless said."),
        key("seed", Form::Whole(0, u64::MAX), "Seed of the phases and of the distributions of work; 1 unless said."),
        key("cpus", Form::Cpus, "CPUs that a node may run on, or `all` of them; any CPU unless said."),
        key(
            "priority",
            Form::Priorities,
            "How a node's thread is scheduled, or those of `all`: fifo 80, round_robin 10, nice 5; as any unless said.",
        ),
        key("background", Form::Background, "Load beside the nodes."),
        key(
            "start",
            Form::OneOf(STARTS),
            "together: when all have their peers (the default); at_once: each when it is there.",
        ),
        key("domain", Form::Whole(0, 232), "Domain of the middleware; a free one unless said."),
        key(
            "in_node_clock",
            Form::Flag,
            "true: nodes also keep a clock of their own callbacks, to check the recorder by.",
        ),
        key("wire", Form::Flag, "true: bytes on the wire between hosts are counted."),
    ],
};

/// When nodes begin to publish.
pub(crate) const STARTS: &[&str; 2] = &["together", "at_once"];

pub(crate) const BACKGROUND: Place = Place {
    what: "background load",
    keys: &[key("cpu", Form::Whole(0, 1024), "Threads that compute all the time, as any program.")],
};

/// Which activations of a callback publish.
pub(crate) const SHARE: Place = Place {
    what: "a part of activations",
    keys: &[
        key("part", Form::Percent, "Part of the activations that publish."),
        key(
            "burst",
            Form::Whole(1, 1_000_000),
            "How many in a row publish, with longer pauses between; 1 unless said.",
        ),
    ],
};

/// Makes a map of `work` that of a task, whose other keys are its parameters.
pub(crate) const TASK: &str = "task";

const UNIFORM: Key = key("uniform", Form::Range, "Uniform between two times: [1 ms, 2 ms].");
const NORMAL_KEY: Key = key("normal", Form::Normal, "Normal, cut at zero and at mean + 4 std.");
const QUANTILES: Key =
    key("quantiles", Form::Times, "As measured: evenly spaced quantiles, from the least to the greatest time.");
const AUTOCORRELATION: Key = key(
    "autocorrelation",
    Form::Percent,
    "Part of the activations that take as long as the one before; only with `quantiles`.",
);

/// Work that is no task.
pub(crate) const TIME: Place = Place { what: "a time", keys: &[UNIFORM, NORMAL_KEY, QUANTILES, AUTOCORRELATION] };

pub(crate) const WORK: Place = Place {
    what: "work",
    keys: &[
        UNIFORM,
        NORMAL_KEY,
        QUANTILES,
        AUTOCORRELATION,
        key(TASK, Form::Word, "A task of a library; the other keys are its parameters: {task: odometry, noise: 2 cm}."),
    ],
};

pub(crate) const NORMAL: Place = Place {
    what: "a normal distribution",
    keys: &[key("mean", Form::Duration, "Mean."), key("std", Form::Duration, "Standard deviation.")],
};

impl Form {
    /// Describes the form, for `expected:`.
    pub fn expected(self) -> String {
        match self {
            Form::Word => "a name, such as ros2".into(),
            Form::Name => NAME_RULE.into(),
            Form::Frequency => format!("a frequency with its unit ({FREQUENCY_UNITS}), such as 10 Hz"),
            Form::Duration => format!("a time with its unit ({DURATION_UNITS}), such as 2.4 ms"),
            Form::BitRate => format!("a bit rate with its unit ({BIT_RATE_UNITS}), such as 50 Mbit/s"),
            Form::Percent => "a percentage, such as 0.5 %".into(),
            Form::Size => format!("a size with its unit ({SIZE_UNITS}), such as 64 KiB"),
            Form::Whole(min, u64::MAX) => format!("a whole number from {min}"),
            Form::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Form::Flag => "true or false".into(),
            Form::OneOf(words) => words.join(" or "),
            Form::Middleware => "a plugin such as ros2, or one with its transport, such as {fastdds: shm}".into(),
            Form::Scheduling => {
                "fifo or round_robin and a priority from 1 to 99, or nice and a value from -20 to 19, such as fifo 80"
                    .into()
            }
            Form::Executor => {
                "arrival, timer and its rate, such as timer 10 Hz, first and an input, such as first /points, \
                 match exact, match approximate, or match newest"
                    .into()
            }
            Form::Match => "parameters of `on: match`, such as {queue: 5}".into(),
            Form::Bounds => "a map of inputs to times, such as {/points: 90 ms}".into(),
            Form::Work => {
                "a time such as 2.4 ms, {uniform: [1 ms, 2 ms]}, {normal: {mean: 2 ms, std: 0.2 ms}}, {quantiles: \
                 [1 ms, 2 ms, 5 ms]}, or a task such as {task: odometry}"
                    .into()
            }
            Form::Time => {
                "a time such as 2.4 ms, {uniform: [1 ms, 2 ms]}, {normal: {mean: 2 ms, std: 0.2 ms}}, or {quantiles: \
                 [1 ms, 2 ms, 5 ms]}"
                    .into()
            }
            Form::Timers => "a map of timers, such as {plan: {rate: 10 Hz, work: 8 ms}}".into(),
            Form::Timer => "a map such as {rate: 10 Hz, work: 8 ms}".into(),
            Form::Share => "a percentage such as 30 %, or a map such as {part: 1 %, burst: 70}".into(),
            Form::Causes => "an input or a timer, a list of them, or a map such as {/points: 30 %}".into(),
            Form::Times => {
                "two times or more, each at least as long as the one before, such as [1 ms, 2 ms, 5 ms]".into()
            }
            Form::TaskParameter => "a number with its unit, such as 5 m/s".into(),
            Form::Nodes => "a map of nodes, such as {lidar: {publishes: {/points: {rate: 10 Hz}}}}".into(),
            Form::Node => "a map of a node's keys".into(),
            Form::Topology => "a map, such as {kind: one-to-many, nodes: 31, size: 64 KiB, rate: 10 Hz}".into(),
            Form::End => "a map such as {host: vehicle, middleware: ros2, depth: 5}".into(),
            Form::Hosts => "a map of hosts, such as {vehicle: {}, roadside: {rate: 50 Mbit/s, delay: 2 ms}}".into(),
            Form::Host => "a map such as {rate: 50 Mbit/s, delay: 2 ms, loss: 0.5 %}".into(),
            Form::Chain => "nodes in their order, such as [lidar, ndt]".into(),
            Form::CpuList => "a list of CPUs, such as [1]".into(),
            Form::Priorities => "a map of nodes to their scheduling, such as {ndt: fifo 80}".into(),
            Form::Background => "a map such as {cpu: 2}".into(),
            Form::Subscription => "options of a subscription, such as {depth: 1}".into(),
            Form::Publication => "options of a publication, such as {rate: 10 Hz}".into(),
            Form::Sweep => "parameters and their values, such as {size: [16 B, 64 KiB]}".into(),
            Form::Short => "the keys of a workload, such as {run: {duration: 1 s}}".into(),
            Form::Chains => "a map of chains, such as {localisation: [lidar, ndt]}".into(),
            Form::Cpus => "a map of nodes to lists of CPUs, such as {ndt: [1]}".into(),
            Form::Subscriptions => "a list of topics, or a map such as {/map: {latest: true}}".into(),
            Form::Publications => "a map of topics, such as {/points: {size: 64 KiB, rate: 10 Hz}}".into(),
            Form::Run => "a map of run options, such as {duration: 5 s}".into(),
            Form::Range => "two times, such as [1 ms, 2 ms]".into(),
            Form::Normal => "a mean and a standard deviation, such as {mean: 2 ms, std: 0.2 ms}".into(),
        }
    }
}
