//! Nodes that stand for publishers which were not recorded.

use super::messages::UNKNOWN_SIZE;
use super::node::rounded_hz;
use super::Maker;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::EndpointKind;
use tacho_workload::model::*;

impl Maker<'_> {
    /// Nodes that stand for publishers which were not recorded; subscriptions of which nothing came are left out.
    pub(super) fn sources(&mut self) {
        let topics: BTreeMap<String, String> = self
            .endpoints
            .iter()
            .filter_map(|e| Some((self.names.of_topic(&e.topic)?.to_owned(), e.topic.clone())))
            .collect();
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        for (node, _) in &self.nodes {
            wanted.extend(node.subscribes.iter().map(|s| s.topic.clone()));
        }
        let mut source = Node::default();
        for topic in wanted {
            let Some(recorded) = topics.get(&topic).filter(|recorded| !self.published.contains(*recorded)) else {
                continue;
            };
            let takes =
                || self.endpoints.iter().filter(|e| e.topic == *recorded && e.kind == EndpointKind::Subscription);
            match takes().map(|e| e.count).max().unwrap_or(0) {
                0 => {
                    for (node, remarks) in &mut self.nodes {
                        let before = node.subscribes.len();
                        node.subscribes.retain(|s| s.topic != topic);
                        node.publishes.iter_mut().for_each(|p| p.from.retain(|cause| cause.name != topic));
                        if node.subscribes.len() < before {
                            remarks.push(format!("{topic} had no message, and is left out."));
                        }
                    }
                }
                count => source.publishes.push(Publication {
                    topic,
                    size_bytes: UNKNOWN_SIZE,
                    qos: Qos { transient_local: takes().any(|e| e.transient_local == Some(true)), ..Qos::default() },
                    rate_hz: Some(rounded_hz(count as f64 / self.seen.span_s.max(1e-9))),
                    ..Publication::default()
                }),
            }
        }
        if !source.publishes.is_empty() {
            source.name = self.names.node("outside");
            source.process = source.name.clone();
            let remark = "Stands for publishers that were not recorded, at their mean rates.".to_owned();
            self.nodes.push((source, vec![remark]));
        }
    }
}
