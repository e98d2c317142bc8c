//! The two ways of a service as topics.

use std::collections::HashMap;

/// One way of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leg {
    /// The topic of its requests: what names the service.
    pub service: u32,
    pub is_response: bool,
}

/// Topics that stand for a way of a service.
#[derive(Default)]
pub(crate) struct Legs(HashMap<u32, Leg>);

impl Legs {
    pub fn insert(&mut self, topic: u32, leg: Leg) {
        self.0.insert(topic, leg);
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
