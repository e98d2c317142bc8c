//! What nodes take to wake up and to look for work, as a recording shows it of each of them: an executor in Python
//! takes ten times as long as one in C++, and the longer, the more subscriptions its nodes have.

use crate::spread::Spread;
use serde::{Deserialize, Serialize};

/// Fewest samples of a latency on a free CPU that count alone.
const ENOUGH: usize = 20;

/// Part of all wake-ups that are the fastest.
const FASTEST: f64 = 0.05;

/// What a node takes, on an idle CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeCost {
    /// The node.
    pub node: String,
    /// From a timer's due time to its callback; empty if no timer shows it.
    #[serde(default, skip_serializing_if = "Spread::is_empty")]
    pub timer: Spread,
    /// From a message's arrival to its callback, without `take_ns`.
    pub wake_up: Spread,
    /// CPU time from the end of one callback to the start of the next that its thread found in the same look, ns.
    pub take_ns: i64,
    /// CPU time of a new look, without `take_ns`, ns; absent if none shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_ns: Option<i64>,
}

/// Samples of a latency, those apart in which a thread may have waited for a CPU: the simulation adds that wait itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latency {
    free: Vec<i64>,
    contended: Vec<i64>,
}

impl Latency {
    pub fn add(&mut self, ns: i64, is_free: bool) {
        let into = if is_free { &mut self.free } else { &mut self.contended };
        into.push(ns.max(0));
    }

    fn len(&self) -> usize {
        self.free.len() + self.contended.len()
    }

    /// Adds other samples if there are too few on a free CPU.
    fn or(self, other: Latency) -> Latency {
        if self.free.len() >= ENOUGH {
            return self;
        }
        Latency { free: [self.free, other.free].concat(), contended: [self.contended, other.contended].concat() }
    }

    /// Those on a free CPU; if there are too few, the faster half of all.
    pub fn spread(self) -> Spread {
        if self.free.len() >= ENOUGH || self.contended.is_empty() {
            return Spread::of(self.free);
        }
        let mut all = [self.free, self.contended].concat();
        all.sort_unstable();
        all.truncate(all.len().div_ceil(2));
        Spread::of(all)
    }
}

/// What was seen of how nodes wake up and look around.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub timer: Latency,
    pub wake_up: Latency,
    /// Wake-ups by messages that wake as many processes as there are CPUs. They count only if there are few others.
    pub wake_up_of_many: Latency,
    /// From one callback to the next of the same look around, and to the first of the next look, ns.
    pub take: Vec<i64>,
    pub look: Vec<i64>,
}

impl Seen {
    /// What that costs.
    pub fn cost(self, node: &str) -> NodeCost {
        // A few may all be stalls of the machine.
        let median = |times: Vec<i64>| (times.len() >= ENOUGH).then(|| Spread::of(times).quantile(0.5));
        let look_ns = median(self.look);
        // Without any of the same look, the gap is the same between all.
        let take_ns = median(self.take).or(look_ns).unwrap_or(0);
        let look_ns = look_ns.map(|ns| (ns - take_ns).max(0));
        let wake_up = self.wake_up.or(self.wake_up_of_many).spread().map(|ns| (ns - take_ns).max(0));
        NodeCost { node: node.to_owned(), timer: self.timer.spread(), wake_up, take_ns, look_ns }
    }

    /// The same of one node; `None` if too little was seen of it. If it never had a message waiting, its fastest
    /// wake-ups are what it computes before a callback, and it looks again as `all` do.
    pub fn cost_of_node(self, node: &str, all: &NodeCost) -> Option<NodeCost> {
        if self.wake_up.len() + self.wake_up_of_many.len() < ENOUGH {
            return None;
        }
        let has_timer = self.timer.len() >= ENOUGH;
        let has_gap = self.take.len().max(self.look.len()) >= ENOUGH;
        let own = self.cost(node);
        let (take_ns, look_ns, wake_up) = if has_gap {
            (own.take_ns, own.look_ns, own.wake_up)
        } else {
            let take_ns = own.wake_up.quantile(FASTEST);
            (take_ns, all.look_ns, own.wake_up.map(|ns| (ns - take_ns).max(0)))
        };
        let timer = if has_timer { own.timer } else { Spread::default() };
        Some(NodeCost { timer, wake_up, take_ns, look_ns, ..own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(wake_ups_ns: impl Iterator<Item = i64>, gaps_ns: impl Iterator<Item = i64>) -> Seen {
        let mut seen = Seen { look: gaps_ns.collect(), ..Seen::default() };
        wake_ups_ns.for_each(|ns| seen.wake_up.add(ns, true));
        seen
    }

    #[test]
    fn the_fastest_wake_ups_of_a_node_without_gaps_are_what_it_computes() {
        let all = NodeCost { take_ns: 7, look_ns: Some(9), ..NodeCost::default() };
        let of =
            |seen: Seen| seen.cost_of_node("node", &all).map(|of| (of.take_ns, of.look_ns, of.wake_up.quantile(1.0)));
        let ns = |k: i64| 300 + 10 * k;
        assert_eq!(of(seen((0..19).map(ns), 0..0)), None, "too few");
        assert_eq!(of(seen((0..21).map(ns), 0..0)), Some((310, Some(9), 190)));
        // Messages that waited show what it takes from one callback to the next, and that a new look takes no more.
        assert_eq!(of(seen((0..21).map(ns), 100..121)), Some((110, Some(0), 390)));
    }
}
