//! Messages of several inputs that a node computes on together.

use crate::node::computation::Lent;
use crate::node::entities::NodeSubscription;
use crate::node::matcher::Matcher;
use tacho_middleware::Header;
use tacho_workload::model::Node;

/// Makes sets of the inputs of a node, those that are not `latest`.
pub struct Joined {
    matcher: Matcher<Member>,
    /// Of each subscription, its place in a set and its handle.
    places: Vec<Option<(usize, u64)>>,
    count: u64,
}

/// A message of a set.
pub struct Member {
    /// Index of its subscription.
    pub input: usize,
    /// Handle of its subscription.
    pub handle: u64,
    /// Its header.
    pub header: Header,
    /// Its data, if a task computes on it.
    pub data: Vec<u8>,
}

/// A message of each input.
pub struct Together(Vec<(i64, Member)>);

impl Together {
    /// Its stamp: that of the first input.
    pub fn content_ns(&self) -> i64 {
        self.0[0].0
    }

    /// Its messages, in the order of the subscriptions.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.0.iter().map(|(_, member)| member)
    }
}

impl Joined {
    /// For a node with `on: match`; `None` for others.
    pub fn of(node: &Node, subscriptions: &[NodeSubscription]) -> Option<Joined> {
        let matching = node.matching.as_ref()?;
        let topics: Vec<&str> = node.subscribes.iter().filter(|s| !s.latest).map(|s| s.topic.as_str()).collect();
        let mut next = 0..;
        let place = |subscription: &NodeSubscription| {
            let place = (!subscription.latest).then(|| next.next()).flatten()?;
            Some((place, subscription.handle))
        };
        let places = subscriptions.iter().map(place).collect();
        Some(Joined { matcher: Matcher::new(matching, &topics), places, count: 0 })
    }

    /// Takes a message; returns the sets that it completes. `keeps`: they are made of its data, too.
    pub fn add(&mut self, lent: Lent<'_>, keeps: bool) -> Vec<Together> {
        let Lent { input, header, data } = lent;
        let Some((place, handle)) = self.places[input] else { return Vec::new() };
        let data = if keeps { data.to_vec() } else { Vec::new() };
        let sets = self.matcher.add(place, header.content_ns(), Member { input, handle, header, data });
        self.count += sets.len() as u64;
        sets.into_iter().map(Together).collect()
    }

    /// Number of sets so far.
    pub fn count(&self) -> u64 {
        self.count
    }
}
