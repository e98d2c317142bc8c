//! Every key of the workload file, once: the parser accepts these and no others, and the schema is made of them.

use crate::units::{DURATION_UNITS, FREQUENCY_UNITS, SIZE_UNITS};

/// What stands behind a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// Name of a plugin, transport or message type.
    Word,
    /// Name of a process.
    Name,
    Frequency,
    Duration,
    Size,
    /// Whole number between two bounds.
    Whole(u64, u64),
    Flag,
    OneOf(&'static [&'static str]),
    Executor,
    Work,
    /// Node name to [`NODE`].
    Nodes,
    /// Chain name to list of node names.
    Chains,
    /// Node name to list of CPUs.
    Cpus,
    /// A list of topics, or topic to [`SUBSCRIPTION`].
    Subscriptions,
    /// A list of topics, or topic to [`PUBLICATION`].
    Publications,
    /// [`RUN`].
    Run,
    /// Two durations, least and most.
    Range,
    /// [`NORMAL`].
    Normal,
}

/// A key of a map.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub form: Form,
    /// For editors.
    pub meaning: &'static str,
}

/// A map with known keys.
#[derive(Debug)]
pub(crate) struct Place {
    /// "the workload", "a node"
    pub what: &'static str,
    pub keys: &'static [Key],
    /// Keys of the design that this version does not have, so that they are not taken for misspellings.
    pub planned: &'static [&'static str],
}

const fn key(name: &'static str, form: Form, meaning: &'static str) -> Key {
    Key { name, form, meaning }
}

pub(crate) const TOP: Place = Place {
    what: "a workload",
    keys: &[
        key("middleware", Form::Word, "Middleware plugin; ros2 unless said."),
        key("transport", Form::Word, "Transport of that middleware; its default unless said."),
        key("nodes", Form::Nodes, "The nodes, in the order in which they are started."),
        key("chains", Form::Chains, "Paths that somebody cares about: a name and its nodes, source first."),
        key("run", Form::Run, "How to run it."),
    ],
    planned: &["sweep"],
};

pub(crate) const NODE: Place = Place {
    what: "a node",
    keys: &[
        key("process", Form::Name, "Nodes with the same process name share a process; one of its own unless said."),
        key(
            "on",
            Form::Executor,
            "arrival: woken by every message (the default). timer R Hz: computes and publishes at that rate.",
        ),
        key("spin", Form::Frequency, "Wakes at this rate, takes at most one message of each queue, sleeps."),
        key("work", Form::Work, "What one activation computes: CPU time of its thread. Nothing unless said."),
        key("subscribes", Form::Subscriptions, "Topics it takes."),
        key("publishes", Form::Publications, "Topics it publishes."),
    ],
    planned: &["threads", "priority"],
};

pub(crate) const SUBSCRIPTION: Place = Place {
    what: "a subscription",
    keys: &[
        key("latest", Form::Flag, "true: the message is only kept; it neither makes the node compute nor publish."),
        RELIABILITY,
        DURABILITY,
        HISTORY,
        DEPTH,
    ],
    planned: &["deadline"],
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
        RELIABILITY,
        DURABILITY,
        HISTORY,
        DEPTH,
    ],
    planned: &["deadline"],
};

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
        key("cpus", Form::Cpus, "CPUs that a node may run on; all unless said."),
        key("domain", Form::Whole(0, 232), "Domain of the middleware; a free one unless said."),
        key(
            "in_node_clock",
            Form::Flag,
            "true: nodes also keep a clock of their own callbacks, to check the recorder by.",
        ),
    ],
    planned: &["priority", "background"],
};

pub(crate) const WORK: Place = Place {
    what: "work",
    keys: &[
        key("uniform", Form::Range, "Uniform between two times: [1 ms, 2 ms]."),
        key("normal", Form::Normal, "Normal, cut at zero and at mean + 4 std."),
    ],
    planned: &["task"],
};

pub(crate) const NORMAL: Place = Place {
    what: "a normal distribution",
    keys: &[key("mean", Form::Duration, "Mean."), key("std", Form::Duration, "Standard deviation.")],
    planned: &[],
};

impl Form {
    /// For `expected:`.
    pub fn expected(self) -> String {
        match self {
            Form::Word => "a name, such as ros2".into(),
            Form::Name => NAME_RULE.into(),
            Form::Frequency => format!("a frequency with its unit ({FREQUENCY_UNITS}), such as 10 Hz"),
            Form::Duration => format!("a time with its unit ({DURATION_UNITS}), such as 2.4 ms"),
            Form::Size => format!("a size with its unit ({SIZE_UNITS}), such as 64 KiB"),
            Form::Whole(min, u64::MAX) => format!("a whole number from {min}"),
            Form::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Form::Flag => "true or false".into(),
            Form::OneOf(words) => words.join(" or "),
            Form::Executor => "arrival, or timer and its rate, such as timer 10 Hz".into(),
            Form::Work => {
                "a time such as 2.4 ms, {uniform: [1 ms, 2 ms]} or {normal: {mean: 2 ms, std: 0.2 ms}}".into()
            }
            Form::Nodes => "a map of nodes, such as {lidar: {publishes: {/points: {rate: 10 Hz}}}}".into(),
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

/// Rule of node and process names: those of ROS 2 node names, which are also good file names.
pub(crate) const NAME_RULE: &str = "letters, digits and underscores, not a digit first, at most 255";
/// The same, for the schema.
pub(crate) const NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_]{0,254}$";
/// Rule of topic names: ROS 2's, fully qualified.
pub(crate) const TOPIC_RULE: &str = "a fully qualified topic name, such as /points or /lidar/points";
/// The same, for the schema.
pub(crate) const TOPIC_PATTERN: &str = "^(/[A-Za-z_][A-Za-z0-9_]*)+$";
/// Rule of plugin, transport and type names.
pub(crate) const WORD_PATTERN: &str = "^[A-Za-z0-9_][A-Za-z0-9_./:-]*$";

/// Whether a text follows [`NAME_RULE`].
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.len() <= 255
}

/// Whether a text follows [`TOPIC_RULE`].
pub(crate) fn is_topic(text: &str) -> bool {
    text.len() <= 255 && text.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_name))
}

/// Whether a text names a plugin, transport or message type.
pub(crate) fn is_word(text: &str) -> bool {
    text.len() <= 255
        && text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_./:-".contains(c))
}
