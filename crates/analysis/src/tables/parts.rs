//! Where the time of a chain went: one meaning of each part, of a hop and of an instance alike. docs/figures.md, "parts".

use super::{Hop, Instance};
use std::iter::Sum;

/// Parts of a time, end to end: they add up to it. Those of an instance are the sums of its hops'.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// Publish call to message there; alignment, too, where that is absent.
    pub transport_ns: i64,
    /// Message there, its node asleep. Absent where the events do not tell it from transport.
    pub alignment_ns: Option<i64>,
    /// Message there, executor or callback group busy with other callbacks.
    pub queueing_ns: i64,
    /// Message taken by a callback, and kept for a later one that used it. Absent in runs of a time before it was told: then it is part of
    /// alignment.
    pub kept_ns: Option<i64>,
    /// Inside the callback, from its start to its output, less preemption where that is known.
    pub computation_ns: i64,
    /// Inside the callback: the thread could have gone on and had no CPU. Absent unless it is known of all hops of the instance: it is then
    /// part of computation, in each of them.
    pub preemption_ns: Option<i64>,
}

impl Parts {
    /// What they are parts of.
    pub fn whole_ns(&self) -> i64 {
        let told = [self.alignment_ns, self.kept_ns, self.preemption_ns];
        self.transport_ns + self.queueing_ns + self.computation_ns + told.iter().flatten().sum::<i64>()
    }
}

impl Sum for Parts {
    /// An absent part is within another, so that it counts as nothing beside those that are there.
    fn sum<I: Iterator<Item = Parts>>(all: I) -> Parts {
        let both = |a: Option<i64>, b: Option<i64>| a.map_or(b, |a| Some(a + b.unwrap_or(0)));
        all.fold(Parts::default(), |sum, one| Parts {
            transport_ns: sum.transport_ns + one.transport_ns,
            alignment_ns: both(sum.alignment_ns, one.alignment_ns),
            queueing_ns: sum.queueing_ns + one.queueing_ns,
            kept_ns: both(sum.kept_ns, one.kept_ns),
            computation_ns: sum.computation_ns + one.computation_ns,
            preemption_ns: both(sum.preemption_ns, one.preemption_ns),
        })
    }
}

impl Hop {
    /// Where the time went from the publish call of its input, or of the first from its start, to its output.
    pub fn parts(&self) -> Parts {
        let kept = self.kept_ns.unwrap_or(0);
        let from_arrival = || self.arrival_ns.map(|arrival| self.start_ns - arrival - self.queueing_ns - kept);
        let alignment_ns = self.alignment_ns.or_else(from_arrival);
        let waited = self.published_ns.map_or(0, |published| self.start_ns - published);
        Parts {
            transport_ns: waited - alignment_ns.unwrap_or(0) - self.queueing_ns - kept,
            alignment_ns,
            queueing_ns: self.queueing_ns,
            kept_ns: self.kept_ns,
            computation_ns: self.output_ns - self.start_ns - self.preemption_ns.unwrap_or(0),
            preemption_ns: self.preemption_ns,
        }
    }
}

impl Instance {
    /// Where its time went.
    pub fn parts(&self) -> Parts {
        Parts {
            transport_ns: self.transport_ns,
            alignment_ns: self.alignment_ns,
            queueing_ns: self.queueing_ns,
            kept_ns: self.kept_ns,
            computation_ns: self.computation_ns,
            preemption_ns: self.preemption_ns,
        }
    }
}
