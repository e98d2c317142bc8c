//! Chains: paths through the graph that have a name.

use super::{Node, Workload};
use serde::{Deserialize, Serialize};

/// A named path through the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// Its name.
    pub name: String,
    /// Node names, source first.
    pub nodes: Vec<String>,
    /// Of each node but the last, the topic over which the chain goes on, if that is named; empty if none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<Option<String>>,
}

impl Chain {
    /// A chain that may go over any topic from each node to the next.
    pub fn new(name: impl Into<String>, nodes: Vec<String>) -> Chain {
        Chain { name: name.into(), nodes, topics: Vec::new() }
    }

    /// A chain over these topics: it names those of nodes that have others between them, too.
    pub fn over<'n>(name: String, nodes: Vec<String>, topics: &[&str], of: impl Fn(&str) -> Option<&'n Node>) -> Chain {
        let has_others = |pair: &[String]| match (of(&pair[0]), of(&pair[1])) {
            (Some(from), Some(to)) => topics_between(from, to).count() > 1,
            _ => false,
        };
        let topics = nodes.windows(2).zip(topics);
        let named = topics.map(|(pair, topic)| has_others(pair).then(|| (*topic).to_owned())).collect();
        Chain::with_topics(name, nodes, named)
    }

    /// A chain that goes over these topics, where one is named.
    pub fn with_topics(name: String, nodes: Vec<String>, mut topics: Vec<Option<String>>) -> Chain {
        if topics.iter().all(Option::is_none) {
            topics.clear();
        }
        Chain { name, nodes, topics }
    }

    /// Topic over which it goes on from the node at a place, if that is named.
    pub fn topic(&self, place: usize) -> Option<&str> {
        self.topics.get(place)?.as_deref()
    }

    /// Whether it may go over a topic from the node at a place to the next.
    pub fn goes_over(&self, place: usize, topic: &str) -> bool {
        self.topic(place).is_none_or(|named| named == topic)
    }

    /// What says that it goes over any of several topics from one node to the next, and how to name one.
    pub fn choice(&self, workload: &Workload) -> Option<String> {
        self.nodes.windows(2).enumerate().find_map(|(place, pair)| {
            let (from, to) = (workload.node(&pair[0])?, workload.node(&pair[1])?);
            let over: Vec<&str> = topics_between(from, to).filter(|topic| self.goes_over(place, topic)).collect();
            (over.len() > 1).then(|| {
                format!(
                    "chain `{name}` goes from {from} to {to} over {}: name one of them, as in `{name}: [{from}, {}, \
                     {to}]`",
                    over.join(" and over "),
                    over[0],
                    name = self.name,
                    from = pair[0],
                    to = pair[1],
                )
            })
        })
    }

    /// Whether it may go over these, one of each node but the last.
    pub fn goes_over_all<'t>(&self, topics: impl Iterator<Item = &'t str>) -> bool {
        topics.enumerate().all(|(place, topic)| self.goes_over(place, topic))
    }

    /// Its nodes, with the topics that are named between them.
    pub fn stops(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().enumerate().flat_map(|(place, node)| [Some(node.as_str()), self.topic(place)]).flatten()
    }
}

impl Workload {
    /// Finds the chain of this name.
    pub fn chain(&self, name: &str) -> Option<&Chain> {
        self.chains.iter().find(|chain| chain.name == name)
    }
}

/// Topics that one node publishes and another one subscribes to.
pub fn topics_between<'n>(from: &'n Node, to: &'n Node) -> impl Iterator<Item = &'n str> {
    let is_taken = |topic: &&str| to.subscribes.iter().any(|subscription| subscription.topic == **topic);
    from.publishes.iter().map(|publication| publication.topic.as_str()).filter(is_taken)
}
