//! The two ways of a service, or an action, as topics.

use crate::observe::Topics;
use std::collections::HashMap;

/// One way of a service, or an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leg {
    /// The topic of its requests: what names it.
    pub service: u32,
    pub is_response: bool,
}

/// Topics that stand for a way of a service.
#[derive(Default)]
pub(crate) struct Legs(HashMap<u32, Leg>);

impl Legs {
    /// The topics of a service, or an action, that stand for its two ways.
    pub fn both(&mut self, topics: &mut Topics, request: &str, response: &str) -> [u32; 2] {
        let [request, response] = [request, response].map(|name| topics.intern(name));
        self.0.insert(request, Leg { service: request, is_response: false });
        self.0.insert(response, Leg { service: request, is_response: true });
        [request, response]
    }

    /// A topic that brings back something of a request, too.
    pub fn also_returns(&mut self, topics: &mut Topics, topic: &str, request: u32) {
        self.0.insert(topics.intern(topic), Leg { service: request, is_response: true });
    }

    pub fn of(&self, topic: u32) -> Option<Leg> {
        self.0.get(&topic).copied()
    }

    pub fn is_leg(&self, topic: u32) -> bool {
        self.0.contains_key(&topic)
    }

    /// Whether what is taken on one topic is the request that what goes out on the other responds to.
    pub fn answers(&self, input: u32, output: u32) -> bool {
        let (request, response) = (self.of(input), self.of(output));
        request.zip(response).is_some_and(|(i, o)| !i.is_response && o.is_response && i.service == o.service)
    }
}
