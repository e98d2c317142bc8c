//! Generates the nodes of study A's three topologies.

use crate::model::{Node, Publication, Qos, Subscription, Workload};

/// Host and middleware of the publishers or of the subscribers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct End {
    /// Name of the host; empty if the workload has none.
    pub host: String,
    /// Middleware and transport; the workload's if absent.
    pub middleware: Option<(String, String)>,
}

/// Parameters of generated nodes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Topology {
    /// `pairs`: each with its own topic. `one-to-many`: one publisher, and each subscriber in a node of its own.
    /// `many-to-one`: publishers with a topic each, and one node that subscribes to all of them, on one thread.
    pub kind: &'static str,
    /// Number of pairs, subscribers or publishers.
    pub many: usize,
    /// The process that all share; if absent, each has its own.
    pub process: Option<String>,
    pub publishers: End,
    pub subscribers: End,
    /// Options of every publisher, without its topic.
    pub publication: Publication,
    /// QoS that every subscription requests.
    pub asked: Qos,
}

impl Topology {
    /// Generates the nodes, subscribers first: study A starts all of them before any publisher.
    pub fn nodes(&self) -> Vec<Node> {
        let one = |name: &str| vec![name.to_string()];
        let (publishers, subscribers, topics) = match self.kind {
            "one-to-many" => (one("publisher"), self.numbered("subscriber"), one("/data")),
            "many-to-one" => (self.numbered("publisher"), one("subscriber"), self.numbered("/data")),
            _ => (self.numbered("publisher"), self.numbered("subscriber"), self.numbered("/data")),
        };
        let subscription = |topic: &String| Subscription {
            topic: topic.clone(),
            qos: self.asked,
            latest: false,
            ..Default::default()
        };
        let mut nodes: Vec<Node> = Vec::new();
        for (index, name) in subscribers.iter().enumerate() {
            let taken = match self.kind {
                "one-to-many" | "many-to-one" => topics.as_slice(),
                _ => &topics[index..=index],
            };
            nodes.push(Node {
                subscribes: taken.iter().map(subscription).collect(),
                ..self.node(name, &self.subscribers)
            });
        }
        for (name, topic) in publishers.iter().zip(&topics) {
            let publication = Publication { topic: topic.clone(), ..self.publication.clone() };
            nodes.push(Node { publishes: vec![publication], ..self.node(name, &self.publishers) });
        }
        nodes
    }

    fn node(&self, name: &str, end: &End) -> Node {
        let process = self.process.clone().unwrap_or_else(|| name.into());
        let End { host, middleware } = end.clone();
        Node { name: name.into(), process, host, middleware, ..Node::default() }
    }

    /// Numbers names, `subscriber_01` ...: all as wide as the last, at least two digits.
    fn numbered(&self, name: &str) -> Vec<String> {
        let width = self.many.to_string().len().max(2);
        (1..=self.many).map(|number| format!("{name}_{number:0width$}")).collect()
    }

    /// The topology that generates exactly the nodes of a workload; `None` if they were written or changed.
    pub fn of(workload: &Workload) -> Option<Topology> {
        let kind = crate::grammar::TOPOLOGIES.iter().find(|kind| Some(**kind) == workload.topology.as_deref())?;
        let publishers = workload.nodes.iter().filter(|node| !node.publishes.is_empty()).count();
        let first = workload.nodes.iter().find(|node| !node.publishes.is_empty())?;
        let many = if *kind == "one-to-many" { workload.nodes.len() - publishers } else { publishers };
        let subscriber = workload.nodes.iter().find(|node| !node.subscribes.is_empty())?;
        let end = |node: &Node| End { host: node.host.clone(), middleware: node.middleware.clone() };
        let shared = first.process != first.name;
        let topology = Topology {
            kind,
            many,
            process: shared.then(|| first.process.clone()),
            publishers: end(first),
            subscribers: end(subscriber),
            publication: Publication { topic: String::new(), ..first.publishes[0].clone() },
            asked: subscriber.subscribes[0].qos,
        };
        let limits = 1..=crate::grammar::MAX_MANY as usize;
        let Publication { from, own, sent_at, .. } = &topology.publication;
        let has_option = !from.is_empty() || !sent_at.is_empty() || *own != crate::model::Own::default();
        let written = topology.publication.rate_hz.is_some() && limits.contains(&many) && !has_option;
        (written && topology.nodes() == workload.nodes).then_some(topology)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(kind: &'static str, many: usize) -> Vec<Node> {
        let publication = Publication { size_bytes: 16, rate_hz: Some(10.0), ..Publication::default() };
        let (publishers, subscribers) = (End::default(), End::default());
        let asked = Qos { reliable: false, depth: 5, ..Qos::default() };
        Topology { kind, many, process: None, publishers, subscribers, publication, asked }.nodes()
    }

    fn ends(nodes: &[Node]) -> (Vec<usize>, Vec<usize>) {
        let counts = |of: fn(&Node) -> usize| nodes.iter().map(of).filter(|n| *n > 0).collect();
        (counts(|n| n.publishes.len()), counts(|n| n.subscribes.len()))
    }

    #[test]
    fn each_topology_has_the_ends_of_study_a() {
        assert_eq!(ends(&nodes("pairs", 3)), (vec![1; 3], vec![1; 3]));
        assert_eq!(ends(&nodes("one-to-many", 31)), (vec![1], vec![1; 31]));
        assert_eq!(ends(&nodes("many-to-one", 31)), (vec![1; 31], vec![31]));
        // No node both publishes and subscribes.
        for kind in crate::grammar::TOPOLOGIES {
            assert!(nodes(kind, 5).iter().all(|n| n.publishes.is_empty() != n.subscribes.is_empty()));
        }
    }

    #[test]
    fn every_subscription_asks_for_what_is_its_side_s() {
        for kind in crate::grammar::TOPOLOGIES {
            let nodes = nodes(kind, 3);
            let offered: Vec<Qos> = nodes.iter().flat_map(|n| &n.publishes).map(|p| p.qos).collect();
            let asked: Vec<Qos> = nodes.iter().flat_map(|n| &n.subscribes).map(|s| s.qos).collect();
            assert!(asked.len() == 3 && asked.iter().all(|qos| !qos.reliable && qos.depth == 5), "{asked:?}");
            assert!(offered.iter().all(|qos| *qos == Qos::default()), "{offered:?}");
        }
    }

    #[test]
    fn topics_join_the_pairs_and_names_sort_as_they_are_numbered() {
        let pairs = nodes("pairs", 12);
        for pair in 0..12 {
            assert_eq!(pairs[pair].subscribes[0].topic, pairs[12 + pair].publishes[0].topic);
        }
        assert_eq!((pairs[0].name.as_str(), pairs[23].name.as_str()), ("subscriber_01", "publisher_12"));
        assert_eq!(nodes("one-to-many", 100)[0].name, "subscriber_001");
        let fan_in = nodes("many-to-one", 3);
        let topics: Vec<_> = fan_in[1..].iter().map(|n| n.publishes[0].topic.as_str()).collect();
        assert_eq!(fan_in[0].subscribes.iter().map(|s| s.topic.as_str()).collect::<Vec<_>>(), topics);
    }
}
