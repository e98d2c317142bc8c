//! Where a path may go on, and where it ends.
//!
//! A path passes a node once, and again in another callback: if the callback that takes what came back publishes what
//! it goes on with.

use super::{End, Graph, Stop, Way};
use crate::observe::{Seen, Topic};
use tacho_tables::row::Row;
use tacho_tables::{Callback, CallbackKind, Node};

impl Graph<'_> {
    /// The request that a topic brings something back of to a node; `None` where it brings it there like any other.
    pub(super) fn returns(&self, (topic, to): Way) -> Option<Row<Topic>> {
        let leg = self.legs.of(topic).filter(|leg| leg.is_response)?;
        self.out[to].iter().any(|way| way.0 == leg.service).then_some(leg.service)
    }

    /// Whether a path had passed its last node before, and is there now in another callback. A client that a response
    /// came back to goes on with what it had begun.
    pub(super) fn passed_before(&self, nodes: &[Row<Node>], topics: &[Row<Topic>]) -> bool {
        let (here, before) = nodes.split_last().expect("a path has a node");
        before.contains(here) && topics.last().is_some_and(|topic| !self.legs.is_leg(*topic))
    }

    /// Where a path may go on. No node twice, but for a client that a response comes back to (to the last request that
    /// none came to yet), a node that takes what it published, and, where paths pass nodes again, one whose callback
    /// goes on with what it took. No callback twice.
    pub(super) fn ways(&self, nodes: &[Row<Node>], topics: &[Row<Topic>]) -> Vec<Way> {
        let mut open = Vec::new();
        for (topic, from) in topics.iter().zip(nodes) {
            match self.legs.of(*topic) {
                Some(leg) if leg.is_response => drop(open.pop()),
                Some(leg) => open.push((leg.service, *from)),
                None => {}
            }
        }
        let here = nodes[nodes.len() - 1];
        let stood =
            |(topic, to): Way| topics.iter().zip(&nodes[1..]).any(|passed| (*passed.0, *passed.1) == (topic, to));
        let again = |way: Way| {
            let goes_on = self.callbacks.on_input(way.1, way.0).next().is_some();
            self.passes_again && !self.legs.is_leg(way.0) && goes_on && !stood(way)
        };
        let may = |way: &Way| match self.returns(*way) {
            Some(service) => open.last() == Some(&(service, way.1)),
            None => !nodes.contains(&way.1) || again(*way),
        };
        let out = self.out[here].iter().copied().filter(may);
        let own = self.own[here].iter().map(|topic| (*topic, here)).filter(|way| !stood(*way));
        let passed_before = self.passed_before(nodes, topics);
        let begins = |topic: Row<Topic>| match topics.last() {
            // Of a node that takes what it publishes, what it publishes in these callbacks does not begin there.
            None => self.own[here].is_empty() || self.callbacks.begins(here, topic),
            Some(last) => !passed_before || self.callbacks.on_input(here, *last).any(|published| published == topic),
        };
        out.chain(own).filter(|way| begins(way.0)).collect()
    }

    /// Whether a path ends at its last node: a response came back to it, or nothing is published there and no request
    /// waits for its response.
    pub(super) fn ends(&self, nodes: &[Row<Node>], topics: &[Row<Topic>], ways: &[Way]) -> bool {
        let Some(last) = topics.last() else { return false };
        let here = nodes[nodes.len() - 1];
        if self.passed_before(nodes, topics) {
            let goes_on =
                |topic: Row<Topic>| self.own[here].contains(&topic) || self.out[here].iter().any(|way| way.0 == topic);
            return !self.callbacks.on_input(here, *last).any(goes_on);
        }
        let response = |way: Way| self.returns(way).is_some();
        let publishes = self.out[here].iter().any(|way| !self.legs.is_leg(way.0));
        let answers = self.legs.is_leg(*last) && ways.iter().any(|way| response(*way));
        response((*last, here)) || !(publishes || answers)
    }

    /// What a path ends with that somebody asked for. `by`: callbacks that it must end in.
    pub(super) fn end_of(&self, nodes: &[Row<Node>], topics: &[Row<Topic>], by: &[Row<Callback>]) -> End {
        let own = nodes.len() > 1 && nodes[nodes.len() - 2] == nodes[nodes.len() - 1];
        match self.passed_before(nodes, topics) {
            _ if !by.is_empty() => End::Callback,
            true if own => End::Callback,
            true => End::Return,
            false => End::Output,
        }
    }

    /// Topics from one node of a named chain to the next; calls of services only if there are no others.
    pub(super) fn between(&self, seen: &Seen, from: &Stop, to: &Stop) -> Vec<Row<Topic>> {
        let out = self.out[from.0].iter().filter(|way| way.1 == to.0).map(|way| way.0);
        let own = self.own[from.0].iter().filter(|_| from.0 == to.0).copied();
        let mut topics: Vec<Row<Topic>> = out.chain(own).filter(|topic| takes(seen, &to.1, *topic)).collect();
        if topics.iter().any(|topic| !self.legs.is_leg(*topic)) {
            topics.retain(|topic| !self.legs.is_leg(*topic));
        }
        topics
    }
}

/// Whether callbacks may use what comes over a topic: one that takes messages those of its own, any other all.
pub(super) fn takes(seen: &Seen, callbacks: &[Row<Callback>], topic: Row<Topic>) -> bool {
    let may = |row: &Row<Callback>| {
        let callback = &seen.callbacks[*row];
        let name = callback.topic.as_deref().filter(|_| callback.kind == CallbackKind::Subscription);
        name.is_none_or(|name| name == seen.topics.names[topic])
    };
    callbacks.is_empty() || callbacks.iter().any(may)
}
