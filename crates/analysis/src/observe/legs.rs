//! The two ways of a service, or an action, as topics.

use crate::observe::Topics;
use crate::rows::Rows;
use std::collections::HashMap;

/// One way of a service, or an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leg {
    /// The topic of its requests: what names it.
    pub service: u32,
    pub is_response: bool,
}

/// Topics that stand for a way of a service, and what went over them.
#[derive(Default)]
pub(crate) struct Legs {
    of: HashMap<u32, Leg>,
    /// Of each response as a publication, in their order, the take of the request that it answers.
    answered: Rows<(u32, u32)>,
}

impl Legs {
    /// The topics of a service, or an action, that stand for its two ways.
    pub fn both(&mut self, topics: &mut Topics, request: &str, response: &str) -> [u32; 2] {
        let [request, response] = [request, response].map(|name| topics.intern(name));
        self.of.insert(request, Leg { service: request, is_response: false });
        self.of.insert(response, Leg { service: request, is_response: true });
        [request, response]
    }

    /// A topic that brings back something of a request, too.
    pub fn also_returns(&mut self, topics: &mut Topics, topic: &str, request: u32) {
        self.of.insert(topics.intern(topic), Leg { service: request, is_response: true });
    }

    pub fn of(&self, topic: u32) -> Option<Leg> {
        self.of.get(&topic).copied()
    }

    pub fn is_leg(&self, topic: u32) -> bool {
        self.of.contains_key(&topic)
    }

    /// A response, as a publication later than all before, answers the request of a take.
    pub fn answer(&mut self, publication: u32, take: u32) {
        self.answered.push((publication, take));
    }

    /// The take of the request that a publication answers.
    pub fn answered(&self, publication: u32) -> Option<u32> {
        self.answered.binary_search_by_key(&publication, |of| of.0).ok().map(|place| self.answered[place].1)
    }

    /// Whether what is taken on one topic is the request that what goes out on the other responds to.
    pub fn answers(&self, input: u32, output: u32) -> bool {
        let (request, response) = (self.of(input), self.of(output));
        request.zip(response).is_some_and(|(i, o)| !i.is_response && o.is_response && i.service == o.service)
    }
}
