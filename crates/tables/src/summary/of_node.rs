//! What of the figures is about some nodes: one can find one's own among hundreds.

use super::Summary;

impl Summary {
    /// Leaves what concerns a node with `text` in its name, whatever its case: its callbacks, topics with their layers,
    /// chains, services, actions, threads, states, and of each finding the told cases that name it. What is of the
    /// whole run (points, who preempted, what a bag holds) goes; notes stay. The nodes that were found, by name.
    pub fn leave_nodes(&mut self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let mut found: Vec<String> =
            self.nodes().filter(|node| node.to_lowercase().contains(&text)).map(str::to_owned).collect();
        found.sort();
        found.dedup();
        let is_one = |node: &String| found.contains(node);
        self.callbacks.retain(|callback| callback.node.as_ref().is_some_and(is_one));
        self.topics.retain(|topic| topic.publishers.iter().chain(&topic.subscribers).any(is_one));
        let topics: Vec<&String> = self.topics.iter().map(|topic| &topic.topic).collect();
        self.layers.retain(|layers| layers.topic.as_ref().is_some_and(|topic| topics.contains(&topic)));
        self.chains.retain(|chain| chain.path.iter().step_by(2).any(is_one));
        self.services.retain(|service| service.clients.iter().chain(&service.servers).any(is_one));
        self.actions.retain(|action| action.clients.iter().chain(&action.servers).any(is_one));
        self.executors.retain(|thread| thread.nodes.iter().any(is_one));
        self.lifecycle.retain(|node| is_one(&node.node));
        for finding in self.findings.iter_mut().flatten() {
            finding.cases.retain(|case| {
                [&case.subject, &case.evidence].iter().any(|said| found.iter().any(|node| names(said, node)))
            });
            finding.count = finding.cases.len() as u64;
        }
        self.findings.iter_mut().for_each(|findings| findings.retain(|finding| !finding.cases.is_empty()));
        self.verdict = None;
        self.points.clear();
        self.preemptors.clear();
        self.bag_topics.clear();
        found
    }

    /// Every node that the figures name, some more than once.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        let of_callbacks = self.callbacks.iter().filter_map(|callback| callback.node.as_ref());
        let of_topics = self.topics.iter().flat_map(|topic| topic.publishers.iter().chain(&topic.subscribers));
        let of_chains = self.chains.iter().flat_map(|chain| chain.path.iter().step_by(2));
        let of_services = self.services.iter().flat_map(|service| service.clients.iter().chain(&service.servers));
        let of_actions = self.actions.iter().flat_map(|action| action.clients.iter().chain(&action.servers));
        of_callbacks
            .chain(of_topics)
            .chain(of_chains)
            .chain(of_services)
            .chain(of_actions)
            .chain(self.lifecycle.iter().map(|of| &of.node))
            .map(String::as_str)
    }
}

/// Whether a text names a node: as a word of its own.
fn names(text: &str, node: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || c == ',' || c == ':').any(|word| word == node)
}

#[cfg(test)]
mod tests {
    use crate::summary::*;

    #[test]
    fn what_is_about_a_node_stays_and_the_rest_goes() {
        let callback = |node: &str| CallbackFigures { node: Some(node.into()), ..CallbackFigures::default() };
        let topic = |name: &str, from: &str, to: &str| TopicFigures {
            topic: name.into(),
            publishers: vec![from.into()],
            subscribers: vec![to.into()],
            ..TopicFigures::default()
        };
        let chain = |path: &[&str]| ChainFigures {
            path: path.iter().map(|of| of.to_string()).collect(),
            ..ChainFigures::default()
        };
        let case = |subject: &str| FindingCase { subject: subject.into(), ..FindingCase::default() };
        let finding = Finding {
            count: 7,
            cases: vec![case("/fusion /points"), case("/fusion2 timer 1 ms")],
            ..Finding::default()
        };
        let mut summary = Summary {
            callbacks: vec![callback("/lidar"), callback("/fusion"), CallbackFigures::default()],
            topics: vec![topic("/points", "/lidar", "/fusion"), topic("/fusion", "/lidar", "/display")],
            chains: vec![chain(&["/lidar", "/points", "/fusion"]), chain(&["/lidar", "/fusion", "/display"])],
            actions: ["/fusion", "/display"]
                .map(|server| ActionFigures { servers: vec![server.into()], ..ActionFigures::default() })
                .into(),
            points: vec![Point::default()],
            findings: Some(vec![finding, Finding { cases: vec![case("/lidar")], ..Finding::default() }]),
            ..Summary::default()
        };
        assert_eq!(summary.leave_nodes("Fusion"), ["/fusion"]);
        assert_eq!(summary.callbacks.len(), 1);
        assert_eq!(summary.topics.iter().map(|topic| topic.topic.as_str()).collect::<Vec<_>>(), ["/points"]);
        assert_eq!((summary.chains.len(), summary.points.len()), (1, 0));
        assert_eq!((summary.actions.len(), &summary.actions[0].servers[..]), (1, &["/fusion".to_string()][..]));
        let findings = summary.findings.as_ref().unwrap();
        assert_eq!(
            (findings.len(), findings[0].count, findings[0].cases[0].subject.as_str()),
            (1, 1, "/fusion /points")
        );
        assert!(summary.leave_nodes("radar").is_empty() && summary.callbacks.is_empty());
    }
}
