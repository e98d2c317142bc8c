//! Applies a tuning to a workload: changes the nodes of a chain and nothing else.

use serde::{Deserialize, Serialize};
use std::fmt;
use tacho_workload::model::{Executor, Node, Workload};
use tacho_workload::units::format_frequency;
use thiserror::Error;

/// A tuned workload and what was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// The tuned workload, which can be run unchanged.
    pub workload: Workload,
    /// What was changed, in the order of the chain.
    pub changes: Vec<Change>,
}

/// One change, in words for the user: `ndt_matching: spin 10 Hz -> spin 300 Hz`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The node's name.
    pub node: String,
    /// Its setting before.
    pub before: String,
    /// Its setting after.
    pub after: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.node, self.before, self.after)
    }
}

/// Why a workload cannot be tuned this way.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ApplyError {
    /// The workload has no such chain.
    #[error("no chain `{0}` in the workload")]
    UnknownChain(String),
    /// The chain names a node that the workload does not have.
    #[error("chain `{chain}`: node `{node}` is not in the workload")]
    UnknownNode {
        /// The chain's name.
        chain: String,
        /// The node's name.
        node: String,
    },
    /// The spin rate is not a positive frequency.
    #[error("a spin rate of {0} Hz: expected more than 0")]
    BadRate(f64),
    /// A node publishes more often than it would wake.
    #[error(
        "`{node}` publishes `{topic}` at {rate_hz} Hz and cannot spin at {hz} Hz: expected a spin rate of at least that"
    )]
    RateAboveSpin {
        /// The node's name.
        node: String,
        /// The topic's name.
        topic: String,
        /// The rate of the topic.
        rate_hz: f64,
        /// The requested spin rate.
        hz: f64,
    },
}

/// Study E: all nodes of a chain spin at one rate.
///
/// Sources keep the rate at which they sent: what they published at each wake gets that rate as its own. Nodes inside
/// the chain that sampled their latest input on a timer now answer each message of their predecessor.
pub fn apply_common_rate(workload: &Workload, chain: &str, hz: f64) -> Result<Tuned, ApplyError> {
    if !(hz.is_finite() && hz > 0.0) {
        return Err(ApplyError::BadRate(hz));
    }
    apply(workload, chain, |node, inputs| {
        match inputs {
            None => keep_sending_rate(node),
            Some(topics) => answer(node, topics),
        }
        if let Some(publication) = node.publishes.iter().find(|p| p.rate_hz.is_some_and(|rate| rate > hz)) {
            return Err(ApplyError::RateAboveSpin {
                node: node.name.clone(),
                topic: publication.topic.clone(),
                rate_hz: publication.rate_hz.unwrap_or(hz),
                hz,
            });
        }
        node.executor = Executor::Spin { hz };
        Ok(())
    })
}

/// Event-driven: each message wakes the nodes of a chain, which therefore need not poll.
///
/// Sources stay driven by their rate: a timer if they had a timer, the rates of their publications if they spun.
pub fn apply_arrival(workload: &Workload, chain: &str) -> Result<Tuned, ApplyError> {
    apply(workload, chain, |node, inputs| {
        match inputs {
            Some(topics) => {
                answer(node, topics);
                node.executor = Executor::Arrival;
            }
            None if matches!(node.executor, Executor::Spin { .. }) => wake_on_arrival(node),
            None => {}
        }
        Ok(())
    })
}

/// Lets a spinning node wake when a message arrives, and send as often as before.
pub(crate) fn wake_on_arrival(node: &mut Node) {
    keep_sending_rate(node);
    node.executor = Executor::Arrival;
    let rates: Vec<_> = node.publishes.iter().map(|p| p.rate_hz).collect();
    // A wake computes several publications of one rate together; on arrival, each would be computed by itself.
    if let [Some(hz), others @ ..] = rates.as_slice() {
        if !node.is_triggered() && !others.is_empty() && others.iter().all(|rate| *rate == Some(*hz)) {
            node.executor = Executor::Timer { hz: *hz };
            node.publishes.iter_mut().for_each(|p| p.rate_hz = None);
            node.subscribes.iter_mut().for_each(|s| s.latest = true);
        }
    }
}

/// Changes each node of a chain. `change` receives the topics of the predecessor, none for the source.
fn apply(
    workload: &Workload,
    chain: &str,
    change: impl Fn(&mut Node, Option<&[String]>) -> Result<(), ApplyError>,
) -> Result<Tuned, ApplyError> {
    let names = &workload.chain(chain).ok_or_else(|| ApplyError::UnknownChain(chain.into()))?.nodes;
    let mut tuned = workload.clone();
    let mut changes = Vec::new();
    let mut inputs: Option<Vec<String>> = None;
    for name in names {
        let node = tuned.nodes.iter_mut().find(|node| node.name == *name);
        let node = node.ok_or_else(|| ApplyError::UnknownNode { chain: chain.into(), node: name.clone() })?;
        let before = node.clone();
        change(node, inputs.as_deref())?;
        changes.extend(describe(&before, node));
        inputs = Some(node.publishes.iter().map(|p| p.topic.clone()).collect());
    }
    Ok(Tuned { workload: tuned, changes })
}

/// Gives the node's spin rate to whatever it published at each wake.
pub(crate) fn keep_sending_rate(node: &mut Node) {
    let (Executor::Spin { hz } | Executor::Timer { hz }) = node.executor else { return };
    if !node.is_triggered() {
        node.publishes.iter_mut().filter(|p| p.rate_hz.is_none()).for_each(|p| p.rate_hz = Some(hz));
    }
}

/// A node that samples its predecessor's latest message answers each of its messages instead, unless all that it
/// publishes has a rate of its own.
fn answer(node: &mut Node, topics: &[String]) {
    let from_predecessor = |topic: &String| topics.contains(topic);
    if node.computes_only_when_due() || node.subscribes.iter().any(|s| !s.latest && from_predecessor(&s.topic)) {
        return;
    }
    node.subscribes.iter_mut().filter(|s| from_predecessor(&s.topic)).for_each(|s| s.latest = false);
}

/// Lists the differences as a user would edit them in the file.
pub(crate) fn describe(before: &Node, after: &Node) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut change = |was: String, is: String| {
        if was != is {
            changes.push(Change { node: after.name.clone(), before: was, after: is });
        }
    };
    change(executor(before), executor(after));
    for (was, is) in before.publishes.iter().zip(&after.publishes) {
        let rate = |rate_hz: Option<f64>, node: &Node| match (rate_hz, node.executor) {
            (Some(hz), _) => format!("{} at {}", was.topic, format_frequency(hz)),
            (None, Executor::Spin { .. }) if !node.is_triggered() => format!("{} at each wake", was.topic),
            (None, Executor::Timer { .. }) => format!("{} at each activation", was.topic),
            (None, _) => format!("{} for each input", was.topic),
        };
        change(rate(was.rate_hz, before), rate(is.rate_hz, after));
    }
    for (was, is) in before.subscribes.iter().zip(&after.subscribes) {
        let use_of = |latest| if latest { format!("latest of {}", was.topic) } else { format!("each {}", was.topic) };
        change(use_of(was.latest), use_of(is.latest));
    }
    changes
}

fn executor(node: &Node) -> String {
    match node.executor {
        Executor::Arrival => "on arrival".into(),
        Executor::Spin { hz } => format!("spin {}", format_frequency(hz)),
        Executor::Timer { hz } => format!("on timer {}", format_frequency(hz)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_workload::{parse, rates, write};

    fn read(text: &str) -> Workload {
        parse(text, "w.yaml").unwrap_or_else(|e| panic!("{e}")).0
    }

    fn words(tuned: &Tuned) -> Vec<String> {
        tuned.changes.iter().map(Change::to_string).collect()
    }

    /// A tuned workload can be written, read and checked like any other.
    fn assert_right(tuned: &Tuned) {
        let text = write(&tuned.workload);
        assert_eq!(read(&text), tuned.workload, "{text}");
    }

    const SPINNING: &str = "nodes:
  source: {spin: 10 Hz, publishes: [/a]}
  middle: {spin: 10 Hz, subscribes: [/a], publishes: [/b]}
  sink:   {spin: 20 Hz, subscribes: [/b]}
  aside:  {spin: 10 Hz, subscribes: [/a]}
chains: {x: [source, middle, sink]}
";

    #[test]
    fn a_common_rate_changes_wakes_and_not_what_is_sent() {
        let before = read(SPINNING);
        let tuned = apply_common_rate(&before, "x", 300.0).expect("tuned");
        assert_eq!(
            words(&tuned),
            [
                "source: spin 10 Hz -> spin 300 Hz",
                "source: /a at each wake -> /a at 10 Hz",
                "middle: spin 10 Hz -> spin 300 Hz",
                "sink: spin 20 Hz -> spin 300 Hz",
            ]
        );
        assert_eq!(rates(&tuned.workload), rates(&before));
        assert_eq!(tuned.workload.node("aside"), before.node("aside"));
        assert_right(&tuned);
    }

    #[test]
    fn arrival_wakes_nodes_by_messages_and_keeps_the_source_at_its_rate() {
        let before = read(SPINNING);
        let tuned = apply_arrival(&before, "x").expect("tuned");
        assert_eq!(
            words(&tuned),
            [
                "source: spin 10 Hz -> on arrival",
                "source: /a at each wake -> /a at 10 Hz",
                "middle: spin 10 Hz -> on arrival",
                "sink: spin 20 Hz -> on arrival",
            ]
        );
        assert_eq!(rates(&tuned.workload), rates(&before));
        assert_right(&tuned);
    }

    #[test]
    fn the_autoware_workload_is_tuned_in_its_spin_rates_alone() {
        let before = read(include_str!("../../../workloads/autoware-localisation.yaml"));
        for tuned in [apply_common_rate(&before, "localisation", 300.0), apply_arrival(&before, "localisation")] {
            let tuned = tuned.expect("tuned");
            assert_eq!(tuned.changes.len(), 9, "{:?}", words(&tuned));
            assert!(tuned.changes.iter().all(|change| change.before == "spin 10 Hz"));
            assert_eq!(rates(&tuned.workload), rates(&before));
            assert_right(&tuned);
        }
    }

    #[test]
    fn several_publications_of_one_source_are_still_computed_together() {
        let before = read(
            "nodes:
  source: {spin: 10 Hz, work: 1 ms, publishes: [/a, /b]}
  sink:   {spin: 10 Hz, subscribes: [/a, /b]}
chains: {x: [source, sink]}
",
        );
        let common = apply_common_rate(&before, "x", 100.0).expect("tuned");
        let arrival = apply_arrival(&before, "x").expect("tuned");
        for tuned in [&common, &arrival] {
            assert_eq!(rates(&tuned.workload), rates(&before));
            assert_right(tuned);
        }
        assert_eq!(words(&arrival)[0], "source: spin 10 Hz -> on timer 10 Hz");
    }

    #[test]
    fn nodes_that_sample_their_predecessor_answer_it() {
        let before = read(
            "nodes:
  source: {on: timer 10 Hz, publishes: [/a]}
  planner: {on: timer 5 Hz, subscribes: [/a, /map], publishes: [/b]}
  map: {publishes: {/map: {rate: 1 Hz}}}
  sink: {subscribes: [/b]}
chains: {x: [source, planner, sink]}
",
        );
        let common = apply_common_rate(&before, "x", 50.0).expect("tuned");
        assert_eq!(rates(&common.workload).topics_hz["/b"], 10.0);
        assert_right(&common);
        let tuned = apply_arrival(&before, "x").expect("tuned");
        assert_eq!(
            words(&tuned),
            [
                "planner: on timer 5 Hz -> on arrival",
                "planner: /b at each activation -> /b for each input",
                "planner: latest of /a -> each /a",
            ]
        );
        let planner = tuned.workload.node("planner").expect("the planner");
        assert_eq!(planner.subscribes.iter().map(|s| s.latest).collect::<Vec<_>>(), [false, true]);
        assert_right(&tuned);
    }

    #[test]
    fn what_cannot_be_applied_says_why() {
        let before = read(SPINNING);
        assert_eq!(apply_arrival(&before, "y"), Err(ApplyError::UnknownChain("y".into())));
        assert_eq!(apply_common_rate(&before, "x", 0.0), Err(ApplyError::BadRate(0.0)));
        assert!(matches!(apply_common_rate(&before, "x", 5.0), Err(ApplyError::RateAboveSpin { .. })));
    }
}
