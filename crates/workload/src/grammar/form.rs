//! The forms of values: what each consists of, and what is expected of it in words.

use super::*;
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
