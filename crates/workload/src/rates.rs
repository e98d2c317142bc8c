//! Derives how often nodes run and topics are published from the workload alone.

use crate::model::{Executor, Node, Workload};
use std::collections::BTreeMap;

/// Rates that hold if every message arrives and every node keeps up.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Activations that compute, a second, for each of [`Workload::nodes`]; `None` if a loop of nodes that trigger each
    /// other leaves it open.
    pub activations_hz: Vec<Option<f64>>,
    /// Messages a second on each topic, over all its publishers.
    pub topics_hz: BTreeMap<String, f64>,
}

/// Derives the rates, from the sources through the graph.
pub fn rates(workload: &Workload) -> Rates {
    let nodes = &workload.nodes;
    let mut inputs: Vec<Option<f64>> = vec![None; nodes.len()];
    let mut topics_hz = BTreeMap::new();
    // Each pass settles at least one more node, except in loops, which stay open.
    for _ in 0..=nodes.len() {
        topics_hz = topics(nodes, &inputs);
        let next: Vec<_> = nodes.iter().map(|node| input_rate(node, &topics_hz)).collect();
        if next == inputs {
            break;
        }
        inputs = next;
    }
    let activations_hz = nodes.iter().zip(&inputs).map(|(node, input)| input.map(|hz| activations(node, hz))).collect();
    Rates { activations_hz, topics_hz }
}

/// Rates of topics all of whose publishers' rates are known.
fn topics(nodes: &[Node], inputs: &[Option<f64>]) -> BTreeMap<String, f64> {
    let mut known: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    for (node, input) in nodes.iter().zip(inputs) {
        for publication in &node.publishes {
            let hz = publication.rate_hz.or(*input);
            let sum = known.entry(&publication.topic).or_insert(Some(0.0));
            *sum = sum.zip(hz).map(|(a, b)| a + b);
        }
    }
    known.into_iter().filter_map(|(topic, hz)| Some((topic.to_string(), hz?))).collect()
}

/// Activations a second by inputs or by the node's own timer, which publications without a rate follow.
fn input_rate(node: &Node, topics_hz: &BTreeMap<String, f64>) -> Option<f64> {
    match node.executor {
        Executor::Timer { hz } => Some(hz),
        Executor::Spin { hz } if !node.is_triggered() => Some(if node.computes_only_when_due() { 0.0 } else { hz }),
        Executor::Spin { hz } => sum(node, |topic| topics_hz.get(topic).map(|rate| rate.min(hz))),
        Executor::Arrival if node.matching.is_some() => sets(node, topics_hz),
        Executor::Arrival => sum(node, |topic| topics_hz.get(topic).copied()),
    }
}

fn sum(node: &Node, rate: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    node.subscribes.iter().filter(|s| !s.latest).map(|s| rate(&s.topic)).sum()
}

/// At most one set for each message of the slowest input.
fn sets(node: &Node, topics_hz: &BTreeMap<String, f64>) -> Option<f64> {
    let inputs = node.subscribes.iter().filter(|s| !s.latest);
    let rates: Option<Vec<f64>> = inputs.map(|s| topics_hz.get(&s.topic).copied()).collect();
    rates?.into_iter().reduce(f64::min)
}

/// Adds publications that have a rate of their own to the inputs. A spinning node computes once for all that are due at
/// a wake, so publications of one rate count once.
fn activations(node: &Node, input_hz: f64) -> f64 {
    let mut own: Vec<f64> = node.publishes.iter().filter_map(|p| p.rate_hz).collect();
    match node.executor {
        Executor::Timer { .. } => input_hz,
        Executor::Arrival => input_hz + own.iter().sum::<f64>(),
        Executor::Spin { hz } => {
            own.sort_by(f64::total_cmp);
            own.dedup();
            input_hz + own.iter().map(|rate| rate.min(hz)).sum::<f64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates_of(text: &str) -> Rates {
        let (workload, _) = crate::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}"));
        rates(&workload)
    }

    #[test]
    fn rates_follow_the_graph() {
        let rates = rates_of(
            "nodes:
  a: {publishes: {/a: {rate: 10 Hz}}}
  b: {spin: 20 Hz, publishes: [/b]}
  c: {subscribes: [/a, /b], publishes: [/c]}
  d: {spin: 25 Hz, subscribes: [/c], publishes: [/d]}
  e: {on: timer 5 Hz, subscribes: [/d], publishes: [/e]}
  f: {subscribes: {/a: {latest: true}, /e: }}
",
        );
        let expected = [10.0, 20.0, 30.0, 25.0, 5.0, 5.0].map(Some);
        assert_eq!(rates.activations_hz, expected);
        assert_eq!(rates.topics_hz["/c"], 30.0);
    }

    #[test]
    fn a_node_that_matches_its_inputs_computes_no_more_often_than_the_slowest_sends() {
        let rates = rates_of(
            "nodes:
  a: {publishes: {/a: {rate: 10 Hz}, /b: {rate: 30 Hz}}}
  b: {on: match approximate, subscribes: [/a, /b], publishes: [/c]}
  c: {on: first /b, subscribes: [/a, /b, /c]}
",
        );
        assert_eq!(rates.activations_hz, [40.0, 10.0, 30.0].map(Some));
    }

    #[test]
    fn a_spinning_source_with_a_rate_computes_only_when_due() {
        let rates = rates_of(
            "nodes:
  a: {spin: 300 Hz, publishes: {/a: {rate: 10 Hz}, /b: {rate: 10 Hz}}}
  b: {subscribes: [/a, /b]}
",
        );
        assert_eq!(rates.activations_hz, [Some(10.0), Some(20.0)]);
    }

    #[test]
    fn a_loop_leaves_rates_open() {
        let rates = rates_of(
            "nodes:
  a: {publishes: {/a: {rate: 10 Hz}}}
  b: {subscribes: [/a, /c], publishes: [/b]}
  c: {subscribes: [/b], publishes: [/c]}
",
        );
        assert_eq!(rates.activations_hz, [Some(10.0), None, None]);
    }
}
