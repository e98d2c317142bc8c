//! Defines every key of the workload file once. The parser accepts these keys only, and the schema is generated from
//! them.

mod form;

pub(crate) use form::{Form, Parts};

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
        key(
            "chains",
            Form::Chains,
            "Paths that somebody cares about: a name and its nodes, source first; between two nodes perhaps a topic.",
        ),
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
            "python",
            Form::Flag,
            "true: its callbacks are in Python, so those of all such nodes of a process compute in turn.",
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
    "Its callback group: on several `threads`, callbacks of one group exclude each other; those of the group \
     `reentrant` run beside all others and beside themselves. The node's own unless said.",
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
        key("part", Form::Percent, "Part of the activations that publish; all unless said."),
        key(
            "burst",
            Form::Whole(1, 1_000_000),
            "How many in a row publish, with longer pauses between; 1 unless said.",
        ),
        key("times", Form::Whole(1, 1_000), "How many messages each of them publishes; 1 unless said."),
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
