//! What each execution took and published, and what each node took on each topic.

use crate::observe::{PublicationSeen, TakeSeen, Topic, INTERNAL};
use crate::stages::Ways;
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::near::partition_near;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{Endpoint, Execution, Node};

/// What a node takes on one topic: what its rows are rows of.
struct Input;

/// Look-ups over one run. Rows are indices into [`Ways`].
pub(crate) struct Usage {
    inputs: HashMap<(Row<Node>, Row<Topic>), Row<Input>>,
    /// Takes of each input, in order.
    takes: Grouped<Input, Row<TakeSeen>>,
    /// When each of them was: beside each other, because most are looked for by their time.
    take_times: Grouped<Input, i64>,
    /// Takes and publications by execution, in order.
    taken_in: Grouped<Execution, Row<TakeSeen>>,
    published_in: Grouped<Execution, Row<PublicationSeen>>,
    /// Executions that published something, by publishing node, in order.
    publishing: Grouped<Node, Row<Execution>>,
}

impl Usage {
    pub fn new(seen: &Ways) -> Usage {
        let mut inputs: HashMap<(Row<Node>, Row<Topic>), Row<Input>> = HashMap::default();
        let input_of: Column<Endpoint, Row<Input>> = Column::of(seen.endpoints.iter().map(|endpoint| {
            let next = Row::behind(inputs.len());
            *inputs.entry((endpoint.node, endpoint.topic)).or_insert(next)
        }));
        let taken = || seen.takes.numbered();
        let published = || {
            let named = |p: &PublicationSeen| p.endpoint.filter(|e| *e != INTERNAL);
            seen.publications
                .numbered()
                .filter_map(move |(row, p)| Some((p.execution?, row, seen.endpoints[named(p)?].node)))
        };
        // Of each node the executions, one that publishes several times in a row once.
        let publishing = || {
            let mut last: Column<Node, Option<Row<Execution>>> = Column::of(vec![None; seen.nodes.len()]);
            published().filter_map(move |(execution, _, node)| {
                (last[node].replace(execution) != Some(execution)).then_some((node, execution))
            })
        };
        let executions = seen.executions.len();
        Usage {
            takes: Grouped::new(inputs.len(), || taken().map(|(row, take)| (input_of[take.endpoint], row))),
            take_times: Grouped::new(inputs.len(), || taken().map(|(_, take)| (input_of[take.endpoint], take.time))),
            taken_in: Grouped::new(executions, || taken().filter_map(|(row, take)| Some((take.execution?, row)))),
            published_in: Grouped::new(executions, || published().map(|(execution, row, _)| (execution, row))),
            publishing: Grouped::new(seen.nodes.len(), publishing),
            inputs,
        }
    }

    /// Takes of a node on a topic, in order.
    pub fn takes(&self, node: Row<Node>, topic: Row<Topic>) -> &[Row<TakeSeen>] {
        self.inputs.get(&(node, topic)).map_or(&[][..], |input| self.takes.of(*input))
    }

    /// The same, with their times.
    pub fn taken(&self, node: Row<Node>, topic: Row<Topic>) -> Taken<'_> {
        let input = self.inputs.get(&(node, topic));
        input.map_or(Taken::default(), |of| Taken { takes: self.takes.of(*of), times: self.take_times.of(*of) })
    }

    /// Topics that a node took anything on.
    pub fn inputs(&self, node: Row<Node>) -> Vec<Row<Topic>> {
        let taken = self.inputs.iter().filter(|((n, _), input)| *n == node && !self.takes.of(**input).is_empty());
        let mut topics: Vec<Row<Topic>> = taken.map(|((_, topic), _)| *topic).collect();
        topics.sort_unstable();
        topics
    }

    /// Executions in which a node published anything, in order.
    pub fn publishing(&self, node: Row<Node>) -> &[Row<Execution>] {
        self.publishing.of(node)
    }

    /// Publications of an execution, in order.
    pub fn published_in(&self, execution: Row<Execution>) -> &[Row<PublicationSeen>] {
        self.published_in.of(execution)
    }

    /// The last message that an execution, or what it resumes, took on a topic, no later than `until`: a callback that
    /// polls uses the newest.
    pub fn taken_in(
        &self,
        seen: &Ways,
        execution: Row<Execution>,
        node: Row<Node>,
        topic: Row<Topic>,
        until: i64,
    ) -> Option<Row<TakeSeen>> {
        let of = |take: &Row<TakeSeen>| {
            let take = &seen.takes[*take];
            let endpoint = &seen.endpoints[take.endpoint];
            (endpoint.node, endpoint.topic) == (node, topic) && take.time <= until
        };
        let mut part = Some(execution);
        while let Some(execution) = part {
            if let Some(take) = self.taken_in.of(execution).iter().copied().rfind(of) {
                return Some(take);
            }
            part = seen.executions[execution].resumes;
        }
        None
    }

    /// The message that a publication of an execution answers, where it does: a response may be sent long after the
    /// callback that took its request. Else as [`Usage::taken_in`].
    pub fn answered_or_taken_in(
        &self,
        seen: &Ways,
        publication: Option<Row<PublicationSeen>>,
        execution: Row<Execution>,
        node: Row<Node>,
        topic: Row<Topic>,
        until: i64,
    ) -> Option<Row<TakeSeen>> {
        let of = |take: &Row<TakeSeen>| {
            let endpoint = &seen.endpoints[seen.takes[*take].endpoint];
            (endpoint.node, endpoint.topic) == (node, topic)
        };
        let answered = publication.and_then(|publication| seen.legs.answered(publication)).filter(of);
        answered.or_else(|| self.taken_in(seen, execution, node, topic, until))
    }
}

/// What a node took on a topic, in order.
#[derive(Clone, Copy, Default)]
pub(crate) struct Taken<'a> {
    takes: &'a [Row<TakeSeen>],
    times: &'a [i64],
}

impl Taken<'_> {
    /// The last message that was taken no later than `until`. `near`: where the look-up before ended.
    pub fn latest_before(&self, until: i64, near: &mut usize) -> Option<Row<TakeSeen>> {
        let before = partition_near(self.times, near, |time| *time <= until);
        before.checked_sub(1).map(|last| self.takes[last])
    }
}
