//! Derives how often nodes run and topics are published from the workload alone.

use crate::callbacks::Load;
use crate::model::{topics_between, Cause, Chain, Executor, Node, Publication, Subscription, Workload};
use std::collections::BTreeMap;
use std::time::Duration;

/// Rates that hold if every message arrives and every node keeps up.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Activations that compute, a second, for each of [`Workload::nodes`]; `None` if a loop of nodes that trigger each
    /// other leaves it open.
    pub activations_hz: Vec<Option<f64>>,
    /// Part of the time that the callbacks of each node need if activations take what they may take again and again
    /// ([`Work::sustained`]): above 1, the node falls behind. `None` if a rate is open.
    pub most_busy: Vec<Option<f64>>,
    /// Messages a second on each topic, over all its publishers.
    pub topics_hz: BTreeMap<String, f64>,
}

/// Derives the rates, from the sources through the graph.
pub fn rates(workload: &Workload) -> Rates {
    let nodes = &workload.nodes;
    let mut topics_hz = BTreeMap::new();
    // Each pass settles the topics of at least one more node, except in loops, which stay open.
    for _ in 0..=nodes.len() {
        let next = topics(nodes, &topics_hz);
        if next == topics_hz {
            break;
        }
        topics_hz = next;
    }
    let activations_hz: Vec<_> =
        nodes.iter().map(|node| input_rate(node, &topics_hz).map(|input_hz| activations(node, input_hz))).collect();
    let most_busy = nodes.iter().zip(&activations_hz).map(|(node, hz)| most_busy(node, *hz, &topics_hz)).collect();
    Rates { activations_hz, most_busy, topics_hz }
}

/// Instances a second of a chain: messages that its first node sends to its second, or activations of its only node.
/// `None` if this is unknown or 0.
pub fn instances_hz(workload: &Workload, chain: &Chain) -> Option<f64> {
    let topics_hz = rates(workload).topics_hz;
    let from = workload.node(chain.nodes.first()?)?;
    let hz = match chain.nodes.get(1) {
        Some(second) => {
            let over = topics_between(from, workload.node(second)?).find(|topic| chain.goes_over(0, topic))?;
            let sent = from.publishes.iter().find(|publication| publication.topic == *over)?;
            publication_rate(from, sent, &topics_hz)?
        }
        None => activations(from, input_rate(from, &topics_hz)?),
    };
    (hz > 0.0).then_some(hz)
}

/// Rates of topics all of whose publishers' rates are known.
fn topics(nodes: &[Node], topics_hz: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let mut known: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    for node in nodes {
        for publication in &node.publishes {
            let hz = publication_rate(node, publication, topics_hz);
            let sum = known.entry(&publication.topic).or_insert(Some(0.0));
            *sum = sum.zip(hz).map(|(a, b)| a + b);
        }
    }
    known.into_iter().filter_map(|(topic, hz)| Some((topic.to_string(), hz?))).collect()
}

fn publication_rate(node: &Node, publication: &Publication, topics_hz: &BTreeMap<String, f64>) -> Option<f64> {
    if publication.rate_hz.is_some() || publication.from.is_empty() {
        return publication.rate_hz.or_else(|| input_rate(node, topics_hz));
    }
    let most_hz = if let Executor::Spin { hz } = node.executor { hz } else { f64::INFINITY };
    let of_cause = |cause: &Cause| {
        let timer = node.timers.iter().find(|timer| timer.name == cause.name).map(|timer| timer.hz);
        let hz = timer.or_else(|| topics_hz.get(&cause.name).copied())?;
        Some(hz.min(most_hz) * cause.share_percent / 100.0 * f64::from(cause.times))
    };
    publication.from.iter().map(of_cause).sum()
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

/// Part of the time that the callbacks of a node need if each takes what it may take again and again.
fn most_busy(node: &Node, activations_hz: Option<f64>, topics_hz: &BTreeMap<String, f64>) -> Option<f64> {
    let busy = |hz: f64, load: Load| hz * load.sustained().as_secs_f64();
    let of_inputs = |inputs: &mut dyn Iterator<Item = &Subscription>| -> Option<f64> {
        inputs.map(|s| Some(busy(topics_hz.get(&s.topic).copied()?, node.load_of_input(s)))).sum()
    };
    if node.executor != Executor::Arrival || node.matching.is_some() {
        let mut kept = node.subscribes.iter().filter(|s| s.latest);
        return Some(busy(activations_hz?, node.load()) + of_inputs(&mut kept)?);
    }
    let rated = node.publishes.iter().filter_map(|p| Some(busy(p.rate_hz?, node.load_of_publication(p))));
    let timers = node.timers.iter().map(|timer| busy(timer.hz, node.load_of_timer(timer)));
    Some(of_inputs(&mut node.subscribes.iter())? + rated.chain(timers).sum::<f64>())
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
        Executor::Arrival => input_hz + own.iter().sum::<f64>() + node.timers.iter().map(|timer| timer.hz).sum::<f64>(),
        Executor::Spin { hz } => {
            own.sort_by(f64::total_cmp);
            own.dedup();
            input_hz + own.iter().map(|rate| rate.min(hz)).sum::<f64>()
        }
    }
}

/// Mean rate of a source that sent at these times, ascending; `None` of fewer than two, or of one instant.
pub fn mean_hz(sent_at: &[Duration]) -> Option<f64> {
    let (first, last) = (sent_at.first()?, sent_at.last()?);
    let span_s = last.checked_sub(*first)?.as_secs_f64();
    (span_s > 0.0).then(|| (sent_at.len() - 1) as f64 / span_s)
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
    fn callbacks_publish_what_names_them_and_as_often_as_it_says() {
        let rates = rates_of(
            "nodes:
  a: {publishes: {/a: {rate: 20 Hz}}}
  b: {timers: {slow: {rate: 2 Hz, work: 100 ms}}, publishes: {/b: {from: slow}}}
  c:
    subscribes: {/a: {work: 2 ms}, /b: {work: 10 ms, latest: true}}
    timers: {plan: {rate: 5 Hz}}
    publishes: {/both: {from: [/a, plan]}, /some: {from: {/a: 25 %}}}
  d: {subscribes: [/both, /some]}
",
        );
        assert_eq!(rates.activations_hz, [20.0, 2.0, 25.0, 30.0].map(Some));
        assert_eq!(rates.topics_hz.values().copied().collect::<Vec<_>>(), [20.0, 2.0, 25.0, 5.0]);
        let busy: Vec<f64> = rates.most_busy.iter().map(|busy| busy.expect("known")).collect();
        assert!(busy.iter().zip([0.0, 0.2, 0.06, 0.0]).all(|(is, was)| (is - was).abs() < 1e-9), "{busy:?}");
    }

    #[test]
    fn a_chain_has_as_many_instances_as_its_first_node_sends_messages_to_its_second() {
        let of = |how: &str| {
            let text = format!(
                "nodes:
  car: {{publishes: {{/state: {{rate: 100 Hz}}}}}}
  odometry: {{{how}, subscribes: [/state], publishes: {{/other: {{rate: 5 Hz}}, /pose: {{rate: 10 Hz}}}}}}
  planner: {{subscribes: [/pose]}}
chains: {{c: [odometry, planner]}}
"
            );
            let (workload, _) = crate::parse(&text, "test.yaml").unwrap_or_else(|e| panic!("{e}"));
            instances_hz(&workload, &workload.chains[0])
        };
        assert_eq!(["on: arrival", "spin: 10 Hz", "spin: 100 Hz"].map(of), [Some(10.0); 3]);
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
