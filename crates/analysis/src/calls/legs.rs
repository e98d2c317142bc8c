//! The two ways of a service, or an action, as topics.

use crate::observe::{PublicationSeen, TakeSeen, Topic, Topics};
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;

/// One way of a service, or an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leg {
    /// The topic of its requests: what names it.
    pub service: Row<Topic>,
    pub is_response: bool,
}

/// Topics that stand for a way of a service, and what went over them.
#[derive(Default)]
pub(crate) struct Legs {
    of: HashMap<Row<Topic>, Leg>,
    /// Of each response as a publication, in their order, the take of the request that it answers.
    answered: Rows<(Row<PublicationSeen>, Row<TakeSeen>)>,
}

impl Legs {
    /// The topics of a service, or an action, that stand for its two ways.
    pub fn both(&mut self, topics: &mut Topics, request: &str, response: &str) -> [Row<Topic>; 2] {
        let [request, response] = [request, response].map(|name| topics.intern(name));
        self.of.insert(request, Leg { service: request, is_response: false });
        self.of.insert(response, Leg { service: request, is_response: true });
        [request, response]
    }

    /// A topic that brings back something of a request, too.
    pub fn also_returns(&mut self, topics: &mut Topics, topic: &str, request: Row<Topic>) {
        self.of.insert(topics.intern(topic), Leg { service: request, is_response: true });
    }

    pub fn of(&self, topic: Row<Topic>) -> Option<Leg> {
        self.of.get(&topic).copied()
    }

    pub fn is_leg(&self, topic: Row<Topic>) -> bool {
        self.of.contains_key(&topic)
    }

    /// A response, as a publication later than all before, answers the request of a take.
    pub fn answer(&mut self, publication: Row<PublicationSeen>, take: Row<TakeSeen>) {
        self.answered.push((publication, take));
    }

    /// The take of the request that a publication answers.
    pub fn answered(&self, publication: Row<PublicationSeen>) -> Option<Row<TakeSeen>> {
        self.answered.binary_search_by_key(&publication, |of| of.0).ok().map(|place| self.answered[place].1)
    }

    /// Whether what is taken on one topic is the request that what goes out on the other responds to.
    pub fn answers(&self, input: Row<Topic>, output: Row<Topic>) -> bool {
        let (request, response) = (self.of(input), self.of(output));
        request.zip(response).is_some_and(|(i, o)| !i.is_response && o.is_response && i.service == o.service)
    }
}
