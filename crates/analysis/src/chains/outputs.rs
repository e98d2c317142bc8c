//! The two ends of a path's instances: publications that they begin with, and outputs that they end with.

use super::follow::Output;
use super::Tracer;
use crate::graph::{End, Path};
use crate::observe::{PublicationSeen, Topic, INTERNAL};
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Execution, LinkRule, Node};

impl Tracer<'_> {
    /// Publications of a path's first node on its first topic, in order.
    pub(super) fn origins(&self, path: &Path) -> Rows<Row<PublicationSeen>> {
        let of = &self.seen.by_topic[path.topics[0]];
        let endpoints = &self.seen.endpoints;
        let mine = |p: &&Row<PublicationSeen>| {
            self.seen.publications[**p].endpoint.is_some_and(|e| endpoints[e].node == path.nodes[0])
        };
        of.publications.iter().filter(mine).copied().collect()
    }

    /// The outputs of a path's last node that its last topic may lead to: its last publish call in each execution, on
    /// the topic that is stated where one is, else the end of each callback that took a message.
    pub(super) fn outputs(&self, path: &Path, rule: LinkRule) -> Rows<Output> {
        let seen = self.seen;
        let (node, topic) = (path.nodes[path.nodes.len() - 1], path.topics[path.topics.len() - 1]);
        let of_node = |p: &Row<PublicationSeen>| {
            seen.publications[*p].endpoint.filter(|e| *e != INTERNAL).is_some_and(|e| {
                let endpoint = &seen.endpoints[e];
                endpoint.node == node
                    && path.output.map_or(!seen.legs.is_leg(endpoint.topic), |output| endpoint.topic == output)
            })
        };
        let mut outputs = Rows::new();
        if path.end != End::Output {
            return self.ends_in_callbacks(path, (node, topic), of_node);
        }
        for execution in self.usage.publishing(node).iter() {
            if let Some(last) = self.usage.published_in(*execution).iter().rfind(|p| of_node(p)) {
                let time = seen.publications[*last].time;
                if rule != LinkRule::SameCallback || self.usage.taken_in(seen, *execution, node, topic, time).is_some()
                {
                    outputs.push(Output { execution: Some(*execution), publication: Some(*last), time });
                }
            }
        }
        if !outputs.is_empty() || rule != LinkRule::SameCallback || path.output.is_some() {
            return outputs;
        }
        let takes = self.usage.takes(node, topic);
        let mut before = None;
        let executions = takes.iter().filter_map(|t| seen.takes[*t].execution);
        let executions = executions.filter(|e| before.replace(*e) != Some(*e));
        let ends = executions.filter_map(|e| Some((e, seen.executions[e].end_ns.get()?)));
        ends.map(|(execution, time)| Output { execution: Some(execution), publication: None, time }).collect()
    }

    /// The outputs of a path that ends in callbacks that took its last message, or in those that are stated.
    fn ends_in_callbacks(
        &self,
        path: &Path,
        (node, topic): (Row<Node>, Row<Topic>),
        of_node: impl Fn(&Row<PublicationSeen>) -> bool,
    ) -> Rows<Output> {
        let seen = self.seen;
        let last = path.nodes.len() - 1;
        // In the order of the takes, and once where a callback took several.
        let mut before = None;
        let taken = self.usage.takes(node, topic).iter().map(|take| &seen.takes[*take]);
        let taken = taken.filter_map(|take| Some((take.execution?, take.time)));
        let taken = taken.filter(|(execution, _)| before.replace(*execution) != Some(*execution));
        if path.end == End::Return {
            let start = |(execution, time): (Row<Execution>, i64)| Output {
                execution: Some(execution),
                publication: None,
                time: seen.executions[execution].start_ns.max(time),
            };
            return taken.map(start).collect();
        }
        let output = |execution: Row<Execution>| {
            let publication = self.usage.published_in(execution).iter().copied().rfind(&of_node);
            let ended = seen.executions[execution].end_ns.get().filter(|_| path.output.is_none());
            let time = publication.map(|publication| seen.publications[publication].time).or(ended)?;
            Some(Output { execution: Some(execution), publication, time })
        };
        if !self.ties.takes_messages(&path.by[last]) {
            let stated = path.by[last].iter().flat_map(|callback| self.ties.executions_of(*callback));
            return stated.filter_map(|execution| output(*execution)).collect();
        }
        let runs = |execution: &Row<Execution>| path.may_run(last, Some(seen.executions[*execution].callback));
        taken.map(|of| of.0).filter(runs).filter_map(output).collect()
    }
}
