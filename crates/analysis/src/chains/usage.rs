//! What each execution took and published, and what each node took on each topic.

use crate::observe::{Observed, PublicationSeen, INTERNAL};
use crate::rows::grouped::Grouped;
use std::collections::HashMap;

/// Look-ups over one run. Rows are indices into [`Observed`].
pub(crate) struct Usage {
    /// Numbers of (node, topic).
    inputs: HashMap<(u32, u32), u32>,
    /// Takes by that number, in order.
    takes: Grouped<u32>,
    /// Takes and publications by execution, in order.
    taken_in: Grouped<u32>,
    published_in: Grouped<u32>,
    /// Executions that published something, by publishing node, in order.
    publishing: Grouped<u32>,
}

impl Usage {
    pub fn new(seen: &Observed) -> Usage {
        let mut inputs: HashMap<(u32, u32), u32> = HashMap::new();
        let input_of: Vec<u32> = seen
            .endpoints
            .iter()
            .map(|endpoint| {
                let next = inputs.len() as u32;
                *inputs.entry((endpoint.node, endpoint.topic)).or_insert(next)
            })
            .collect();
        let taken = || seen.takes.iter().zip(0u32..);
        let published = || {
            let named = |p: &PublicationSeen| p.endpoint.filter(|e| *e != INTERNAL);
            seen.publications.iter().zip(0u32..).filter_map(move |(p, row)| Some((p.execution?, row, seen.endpoints[named(p)? as usize].node)))
        };
        // Of each node the executions, one that publishes several times in a row once.
        let publishing = || {
            let mut last: Vec<Option<u32>> = vec![None; seen.nodes.len()];
            published().filter_map(move |(execution, _, node)| (last[node as usize].replace(execution) != Some(execution)).then_some((node, execution)))
        };
        let executions = seen.executions.len();
        Usage {
            takes: Grouped::new(inputs.len(), || taken().map(|(take, row)| (input_of[take.endpoint as usize], row))),
            taken_in: Grouped::new(executions, || taken().filter_map(|(take, row)| Some((take.execution?, row)))),
            published_in: Grouped::new(executions, || published().map(|(execution, row, _)| (execution, row))),
            publishing: Grouped::new(seen.nodes.len(), publishing),
            inputs,
        }
    }

    /// Takes of a node on a topic, in order.
    pub fn takes(&self, node: u32, topic: u32) -> &[u32] {
        self.inputs.get(&(node, topic)).map_or(&[][..], |input| self.takes.of(*input as usize))
    }

    /// Topics that a node took anything on.
    pub fn inputs(&self, node: u32) -> Vec<u32> {
        let taken = self.inputs.iter().filter(|((n, _), input)| *n == node && !self.takes.of(**input as usize).is_empty());
        let mut topics: Vec<u32> = taken.map(|((_, topic), _)| *topic).collect();
        topics.sort_unstable();
        topics
    }

    /// Executions in which a node published anything, in order.
    pub fn publishing(&self, node: u32) -> &[u32] {
        self.publishing.of(node as usize)
    }

    /// Publications of an execution, in order.
    pub fn published_in(&self, execution: u32) -> &[u32] {
        self.published_in.of(execution as usize)
    }

    /// The last message that an execution, or what it resumes, took on a topic, no later than `until`: a callback that polls uses the newest.
    pub fn taken_in(&self, seen: &Observed, execution: u32, node: u32, topic: u32, until: i64) -> Option<u32> {
        let of = |take: &u32| {
            let take = &seen.takes[*take as usize];
            let endpoint = &seen.endpoints[take.endpoint as usize];
            (endpoint.node, endpoint.topic) == (node, topic) && take.time <= until
        };
        let mut part = Some(execution);
        while let Some(execution) = part {
            if let Some(take) = self.taken_in.of(execution as usize).iter().copied().rfind(of) {
                return Some(take);
            }
            part = seen.executions[execution as usize].resumes;
        }
        None
    }

    /// The message that a publication of an execution answers, where it does: a response may be sent long after the callback that took its
    /// request. Else as [`Usage::taken_in`].
    pub fn answered_or_taken_in(&self, seen: &Observed, publication: Option<u32>, execution: u32, node: u32, topic: u32, until: i64) -> Option<u32> {
        let of = |take: &u32| {
            let endpoint = &seen.endpoints[seen.takes[*take as usize].endpoint as usize];
            (endpoint.node, endpoint.topic) == (node, topic)
        };
        let answered = publication.and_then(|publication| seen.legs.answered(publication)).filter(of);
        answered.or_else(|| self.taken_in(seen, execution, node, topic, until))
    }

    /// The last message that a node took on a topic, no later than `until`.
    pub fn latest_before(&self, seen: &Observed, node: u32, topic: u32, until: i64) -> Option<u32> {
        let takes = self.takes(node, topic);
        let before = takes.partition_point(|t| seen.takes[*t as usize].time <= until);
        before.checked_sub(1).map(|last| takes[last])
    }
}
