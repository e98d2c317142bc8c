//! What each execution took and published, and what each node took on each topic.

use crate::observed::{Observed, INTERNAL};
use std::collections::HashMap;

/// Look-ups over one run. Rows are indices into [`Observed`].
pub(crate) struct Usage {
    /// Takes by (node, topic), in order.
    takes: HashMap<(u32, u32), Vec<u32>>,
    taken_in: Grouped,
    published_in: Grouped,
    /// Executions that published something, by publishing node, in order.
    publishing: HashMap<u32, Vec<u32>>,
}

/// Rows by execution, in two flat lists: runs have many executions with a row or none each.
struct Grouped {
    /// Where the rows of each execution begin; one more than there are executions.
    begins: Vec<u32>,
    rows: Vec<u32>,
}

impl Grouped {
    /// `of`: (execution, row), rows ascending.
    fn new(executions: usize, of: impl Iterator<Item = (u32, u32)> + Clone) -> Grouped {
        let mut begins = vec![0u32; executions + 1];
        of.clone().for_each(|(execution, _)| begins[execution as usize + 1] += 1);
        for position in 1..begins.len() {
            begins[position] += begins[position - 1];
        }
        let mut next = begins.clone();
        let mut rows = vec![0; begins[executions] as usize];
        for (execution, row) in of {
            rows[next[execution as usize] as usize] = row;
            next[execution as usize] += 1;
        }
        Grouped { begins, rows }
    }

    fn of(&self, execution: u32) -> &[u32] {
        let execution = execution as usize;
        &self.rows[self.begins[execution] as usize..self.begins[execution + 1] as usize]
    }
}

impl Usage {
    pub fn new(seen: &Observed) -> Usage {
        let mut takes: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        for (row, take) in seen.takes.iter().enumerate() {
            let endpoint = &seen.endpoints[take.endpoint as usize];
            takes.entry((endpoint.node, endpoint.topic)).or_default().push(row as u32);
        }
        let mut publishing: HashMap<u32, Vec<u32>> = HashMap::new();
        for publication in &seen.publications {
            if let (Some(execution), Some(endpoint)) =
                (publication.execution, publication.endpoint.filter(|e| *e != INTERNAL))
            {
                let of_node = publishing.entry(seen.endpoints[endpoint as usize].node).or_default();
                if of_node.last() != Some(&execution) {
                    of_node.push(execution);
                }
            }
        }
        let executions = seen.executions.len();
        let taken = seen.takes.iter().enumerate().filter_map(|(row, t)| Some((t.execution?, row as u32)));
        let published = seen.publications.iter().enumerate().filter_map(|(row, p)| {
            p.endpoint.filter(|e| *e != INTERNAL)?;
            Some((p.execution?, row as u32))
        });
        let (taken_in, published_in) = (Grouped::new(executions, taken), Grouped::new(executions, published));
        Usage { takes, taken_in, published_in, publishing }
    }

    /// Takes of a node on a topic, in order.
    pub fn takes(&self, node: u32, topic: u32) -> &[u32] {
        self.takes.get(&(node, topic)).map_or(&[][..], Vec::as_slice)
    }

    /// Topics that a node took anything on.
    pub fn inputs(&self, node: u32) -> Vec<u32> {
        let mut topics: Vec<u32> = self.takes.keys().filter(|(n, _)| *n == node).map(|(_, topic)| *topic).collect();
        topics.sort_unstable();
        topics
    }

    /// Executions in which a node published anything, in order.
    pub fn publishing(&self, node: u32) -> &[u32] {
        self.publishing.get(&node).map_or(&[][..], Vec::as_slice)
    }

    /// Publications of an execution, in order.
    pub fn published_in(&self, execution: u32) -> &[u32] {
        self.published_in.of(execution)
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
            if let Some(take) = self.taken_in.of(execution).iter().copied().rfind(of) {
                return Some(take);
            }
            part = seen.executions[execution as usize].resumes;
        }
        None
    }

    /// The last message that a node took on a topic, no later than `until`.
    pub fn latest_before(&self, seen: &Observed, node: u32, topic: u32, until: i64) -> Option<u32> {
        let takes = self.takes(node, topic);
        let before = takes.partition_point(|t| seen.takes[*t as usize].time <= until);
        before.checked_sub(1).map(|last| takes[last])
    }
}
