//! What it costs to send messages of a topic and to receive them.

use crate::reach::Reach;
use crate::spread::Spread;
use crate::warmth::{part, Warmth};
use serde::{Deserialize, Serialize};

/// Fewest messages that show what is usual.
const FREQUENT: u64 = 10;

/// What it costs to send messages of one topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The topic.
    pub topic: String,
    /// Bytes of data in a message.
    pub size_bytes: u64,
    /// Number of its subscriptions.
    pub subscriptions: usize,
    /// How far messages go to each of them, in the order of the workload; empty if all are other processes of the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<Reach>,
    /// Duration of the publish call.
    pub send: Spread,
    /// From the publish call to the arrival at each subscription, in the order of the workload; empty for one that no
    /// message reached.
    pub transit: Vec<Spread>,
    /// Whether arrivals were not recorded: the transit ends when the callback starts on a free thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_start: bool,
    /// CPU time outside of callbacks a message, in the process that sends it, ns.
    pub send_cpu_ns: i64,
    /// The same in each process that receives it.
    pub receive_cpu_ns: i64,
    /// From the arrival to the callback, on an idle CPU, without `take_ns`; empty if too few messages show it, or if
    /// nodes have wake-ups of their own.
    #[serde(default, skip_serializing_if = "Spread::is_empty")]
    pub wake_up: Spread,
    /// Usual pause before it is sent, ns, of the system and of the process that sends; 0 if it is not known.
    #[serde(default)]
    pub pause_ns: i64,
}

/// Costs of a topic of the workload, and how far they were measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Duration of the publish call.
    pub send: Spread,
    /// CPU time outside of callbacks a message, in the process that sends it, ns.
    pub send_cpu_ns: i64,
    /// Of each subscription, in the order of the workload.
    pub to: Vec<Receiving>,
    /// Why they are not to be trusted, in words.
    pub beyond: Option<String>,
}

/// What it costs to receive a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Receiving {
    /// From the publish call to the arrival.
    pub transit: Spread,
    /// Whether the transit has the wake-up of the receiver.
    pub until_start: bool,
    /// CPU time outside of callbacks a message, in the process that receives it, ns.
    pub cpu_ns: i64,
    /// From the arrival to the callback; empty if it is that of any message.
    pub wake_up: Spread,
}

impl Found {
    /// Costs of a topic whose subscriptions have different reaches. The publish call takes as long as the longest.
    pub(crate) fn joined(of: Vec<(Reach, Found)>, reach: &[Reach]) -> Found {
        let receiving = |(k, kind): (usize, &Reach)| {
            of.iter().find(|(known, _)| known == kind).map(|(_, found)| found.to[k].clone()).unwrap_or_default()
        };
        let to = reach.iter().enumerate().map(receiving).collect();
        let longest = of.iter().map(|(_, found)| &found.send).max_by(|a, b| a.mean_ns().total_cmp(&b.mean_ns()));
        Found {
            send: longest.cloned().unwrap_or_default(),
            send_cpu_ns: of.iter().map(|(_, found)| found.send_cpu_ns).max().unwrap_or(0),
            to,
            beyond: of.into_iter().find_map(|(_, found)| found.beyond),
        }
    }
}

impl Transfer {
    /// Whether it is to these subscriptions.
    pub(crate) fn is_to(&self, reach: &[Reach]) -> bool {
        self.subscriptions == reach.len() && (0..reach.len()).all(|k| self.reach_of(k) == reach[k])
    }

    pub(crate) fn reach_of(&self, subscription: usize) -> Reach {
        self.reach.get(subscription).copied().unwrap_or_default()
    }

    /// Whether it reached subscriptions of this reach.
    pub(crate) fn has(&self, reach: Reach) -> bool {
        (0..self.transit.len()).any(|k| self.reach_of(k) == reach && !self.transit[k].is_empty())
    }

    /// Only its subscriptions of this reach.
    pub(crate) fn part(&self, reach: Reach) -> Transfer {
        let is_kept = |(k, _): &(usize, &Spread)| self.reach_of(*k) == reach;
        let transit = self.transit.iter().enumerate().filter(is_kept).map(|(_, transit)| transit.clone()).collect();
        Transfer { transit, ..self.clone() }
    }

    pub(crate) fn found(&self, subscriptions: usize) -> Found {
        let (cpu_ns, until_start) = (self.receive_cpu_ns, self.until_start);
        let receiving = |k| Receiving {
            transit: self.transit_to(k, subscriptions),
            until_start,
            cpu_ns,
            wake_up: self.wake_up.clone(),
        };
        Found {
            send: self.send.clone(),
            send_cpu_ns: self.send_cpu_ns,
            to: (0..subscriptions).map(receiving).collect(),
            beyond: None,
        }
    }

    /// The one whose transit is the median of several of one size, to subscriptions of this reach.
    pub(crate) fn typical(of_size: impl Iterator<Item = Transfer>, reach: Reach) -> Transfer {
        let mut all: Vec<Transfer> = of_size.map(|of| of.part(reach)).collect();
        all.sort_by(|a, b| a.transit_to(0, 1).mean_ns().total_cmp(&b.transit_to(0, 1).mean_ns()));
        let median = all.len() / 2;
        if all.is_empty() {
            Transfer::default()
        } else {
            all.swap_remove(median)
        }
    }

    pub(crate) fn towards(&self, other: &Transfer, at: f64) -> Transfer {
        let count = self.transit.len().max(other.transit.len());
        let between = |one: i64, two: i64| one + ((two - one) as f64 * at).round() as i64;
        Transfer {
            topic: String::new(),
            size_bytes: between(self.size_bytes as i64, other.size_bytes as i64) as u64,
            subscriptions: self.subscriptions,
            reach: self.reach.clone(),
            send: self.send.towards(&other.send, at),
            until_start: self.until_start || other.until_start,
            transit: (0..count).map(|k| self.transit_to(k, count).towards(&other.transit_to(k, count), at)).collect(),
            send_cpu_ns: between(self.send_cpu_ns, other.send_cpu_ns),
            receive_cpu_ns: between(self.receive_cpu_ns, other.receive_cpu_ns),
            // One of them may not show it: `Costs::of_topic` looks for the sizes that do.
            wake_up: Spread::default(),
            pause_ns: between(self.pause_ns, other.pause_ns),
        }
    }

    /// The same after the longest pause of those that were measured.
    pub(crate) fn at_rest(&self, measured: &[Warmth]) -> Transfer {
        if measured.is_empty() || self.pause_ns == 0 {
            return self.clone();
        }
        let of = Warmth::after(measured, &[Some(self.pause_ns)]);
        let whole = |spread: &Spread, of: f64| spread.map(|ns| part(ns, 1.0 / of));
        Transfer {
            send: whole(&self.send, of.send),
            transit: self.transit.iter().map(|transit| whole(transit, of.transit)).collect(),
            send_cpu_ns: part(self.send_cpu_ns, 1.0 / of.send_cpu),
            receive_cpu_ns: part(self.receive_cpu_ns, 1.0 / of.receive_cpu),
            wake_up: whole(&self.wake_up, of.wake_up),
            ..self.clone()
        }
    }

    /// Whether enough messages arrived everywhere to know what is usual.
    pub(crate) fn is_frequent(&self) -> bool {
        self.transit.iter().all(|transit| transit.samples >= FREQUENT)
    }

    /// Whether it is of the same messages, at whatever rate.
    pub(crate) fn is_like(&self, other: &Transfer) -> bool {
        (&self.topic, self.size_bytes, &self.reach) == (&other.topic, other.size_bytes, &other.reach)
            && self.transit.len() == other.transit.len()
    }

    /// Medians of the transits to all subscriptions, on the average, ns.
    pub(crate) fn median_transit_ns(&self) -> i64 {
        let medians: i64 = self.transit.iter().map(|transit| transit.quantile(0.5)).sum();
        medians / self.transit.len().max(1) as i64
    }

    /// Transit to subscription `k` of `count`: to that at the same place in the order if their number differs, or if
    /// none reached it.
    pub fn transit_to(&self, k: usize, count: usize) -> Spread {
        if let Some(own) = self.transit.get(k).filter(|own| self.transit.len() == count && !own.is_empty()) {
            return own.clone();
        }
        let known: Vec<&Spread> = self.transit.iter().filter(|transit| !transit.is_empty()).collect();
        let at = (k * known.len() / count.max(1)).min(known.len().saturating_sub(1));
        known.get(at).map(|transit| (*transit).clone()).unwrap_or_default()
    }
}
