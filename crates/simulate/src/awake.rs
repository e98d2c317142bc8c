//! What nodes take to wake up and to look for work, as a recording shows it of each of them: an executor in Python
//! takes ten times as long as one in C++, and the longer, the more subscriptions its nodes have.

use crate::spread::Spread;
use serde::{Deserialize, Serialize};

/// Fewest samples of a latency on a free CPU that count alone.
const ENOUGH: usize = 20;

/// Part of all wake-ups that are the fastest.
const FASTEST: f64 = 0.05;

/// The kernel may serve the timer of a thread in the fair class this much later (prctl(2), PR_SET_TIMERSLACK).
pub(crate) const TIMER_SLACK_NS: i64 = 50_000;

/// What a node takes, on an idle CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeCost {
    /// The node.
    pub node: String,
    /// From a timer's due time to its callback, without `timer_take_ns`; empty if no timer shows it.
    #[serde(default, skip_serializing_if = "Spread::is_empty")]
    pub timer: Spread,
    /// CPU time from a timer's wake-up to its callback, ns.
    #[serde(default)]
    pub timer_take_ns: i64,
    /// From a message's arrival to its callback, without `take_ns`.
    pub wake_up: Spread,
    /// CPU time from the end of one callback to the start of the next that its thread found in the same look, ns.
    pub take_ns: i64,
    /// CPU time of a new look, without `take_ns`, ns; absent if none shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_ns: Option<i64>,
    /// CPU time of its thread a callback, without that before the callback, ns; absent if its clock was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ns: Option<i64>,
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

    /// Those on a free CPU, if there are enough.
    pub fn spread_if_free(self) -> Spread {
        if self.free.len() >= ENOUGH {
            Spread::of(self.free)
        } else {
            Spread::default()
        }
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
    pub executed: Executed,
}

/// Callbacks before which the CPU-time clock of their thread was read, and at the end of the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Executed {
    pub messages: i64,
    pub timers: i64,
    /// CPU time between them, ns.
    pub cpu_ns: i64,
}

impl Executed {
    /// What is left of that a callback, ns, without what comes before those of messages and of timers.
    fn after_ns(self, take_ns: i64, timer_take_ns: i64) -> i64 {
        let before_ns = self.messages * take_ns + self.timers * timer_take_ns;
        (self.cpu_ns - before_ns).max(0) / (self.messages + self.timers).max(1)
    }
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
        NodeCost { node: node.to_owned(), timer: self.timer.spread(), wake_up, take_ns, look_ns, ..NodeCost::default() }
    }

    /// The same of one node; `None` if too little was seen of it. If it never had a message waiting, its fastest
    /// wake-ups are what it computes before a callback, and it looks again as `all` do. So are those of its timers but
    /// for the kernel's slack.
    pub fn cost_of_node(self, node: &str, all: &NodeCost) -> Option<NodeCost> {
        let executed = self.executed;
        let has_wake_ups = self.wake_up.len() + self.wake_up_of_many.len() >= ENOUGH;
        let has_timer = self.timer.len() >= ENOUGH;
        let has_gap = self.take.len().max(self.look.len()) >= ENOUGH;
        let has_clock = (executed.messages + executed.timers) as usize >= ENOUGH;
        if !has_wake_ups && !has_timer && !has_clock {
            return None;
        }
        let own = self.cost(node);
        let (take_ns, look_ns, wake_up) = match (has_gap, has_wake_ups) {
            (true, true) => (own.take_ns, own.look_ns, own.wake_up),
            (true, false) => (own.take_ns, own.look_ns, all.wake_up.clone()),
            (false, true) => {
                let take_ns = own.wake_up.quantile(FASTEST);
                (take_ns, all.look_ns, own.wake_up.map(|ns| (ns - take_ns).max(0)))
            }
            (false, false) => (all.take_ns, all.look_ns, all.wake_up.clone()),
        };
        let (timer_take_ns, timer) = match has_timer {
            true => {
                let take_ns = (own.timer.quantile(FASTEST) - TIMER_SLACK_NS).max(0);
                (take_ns, own.timer.map(|ns| (ns - take_ns).max(0)))
            }
            // The same executor calls it.
            false => (if has_clock { take_ns } else { 0 }, Spread::default()),
        };
        let after_ns = has_clock.then(|| executed.after_ns(take_ns, timer_take_ns));
        Some(NodeCost { node: own.node, timer, timer_take_ns, wake_up, take_ns, look_ns, after_ns })
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

    #[test]
    fn what_the_clock_of_its_thread_shows_beyond_what_comes_before_callbacks_comes_behind_them() {
        let mut seen = seen((0..21).map(|k| 300 + 10 * k), 0..0);
        (0..21).for_each(|k| seen.timer.add(TIMER_SLACK_NS + 500 + 10 * k, true));
        seen.executed = Executed { messages: 30, timers: 10, cpu_ns: 30 * 310 + 10 * 510 + 40 * 75 };
        let of = seen.clone().cost_of_node("node", &NodeCost::default()).expect("a cost");
        assert_eq!((of.take_ns, of.timer_take_ns, of.after_ns), (310, 510, Some(75)));
        assert_eq!(of.timer.quantile(1.0), TIMER_SLACK_NS + 190);
        // Without the clock, nothing is known of what comes behind.
        seen.executed = Executed::default();
        let of = seen.cost_of_node("node", &NodeCost::default()).expect("a cost");
        assert_eq!((of.timer_take_ns, of.after_ns), (510, None));
        // A source that does nothing else has no wake-ups by messages.
        let executed = Executed { timers: 20, cpu_ns: 20 * 90, ..Executed::default() };
        let source = Seen { executed, ..Seen::default() };
        let all = NodeCost { take_ns: 40, ..NodeCost::default() };
        let of = source.cost_of_node("source", &all).expect("a cost");
        assert_eq!((of.timer_take_ns, of.after_ns, of.timer.is_empty()), (40, Some(50), true));
    }
}
