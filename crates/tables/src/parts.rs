//! Where a time went: one meaning of each part, of a hop, an instance, a repeat and a chain alike. docs/figures.md,
//! "parts".

use super::{Hop, Instance};
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::Add;

/// Parts of a time, end to end: they add up to it. Those of an instance are the sums of its hops'.
///
/// `T` is a time of one hop or instance (`i64`, ns), the same or a mean for people (`f64`, ms), or the times of all
/// instances (a distribution, ms). As JSON they are ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema), schemars(rename = "Parts"))]
pub struct Parts<T = i64> {
    /// Inside the callback, from its start to its output, less the time off the CPU where that is known.
    #[serde(rename = "computation_ms")]
    pub computation: T,
    /// Inside the callback: the thread slept or was blocked. If `preemption` is absent: it had no CPU, for whatever
    /// reason, for at least this long. Absent unless CPU time is known of all hops of the instance: it is then part of
    /// computation, in each of them.
    #[serde(rename = "off_cpu_ms", skip_serializing_if = "Option::is_none")]
    pub off_cpu: Option<T>,
    /// Inside the callback: the thread could have gone on and had no CPU. Absent unless it is known of all hops of the
    /// instance: it is then part of `off_cpu` or, where that is absent, of computation, in each of them.
    #[serde(rename = "preemption_ms", skip_serializing_if = "Option::is_none")]
    pub preemption: Option<T>,
    /// Publish call to message there; alignment, too, where that is absent.
    #[serde(rename = "transport_ms")]
    pub transport: T,
    /// Message there, its node asleep. Absent where the events do not tell it from transport.
    #[serde(rename = "alignment_ms", skip_serializing_if = "Option::is_none")]
    pub alignment: Option<T>,
    /// Message there, executor or callback group busy with other callbacks.
    #[serde(rename = "queueing_ms")]
    pub queueing: T,
    /// Message taken by a callback, and kept for a later one that used it. Absent in runs of a time before it was told:
    /// then it is part of alignment.
    #[serde(rename = "kept_ms", skip_serializing_if = "Option::is_none")]
    pub kept: Option<T>,
}

impl<T> Parts<T> {
    /// The same parts of something else.
    pub fn map<U>(&self, of: impl Fn(&T) -> U) -> Parts<U> {
        Parts {
            computation: of(&self.computation),
            off_cpu: self.off_cpu.as_ref().map(&of),
            preemption: self.preemption.as_ref().map(&of),
            transport: of(&self.transport),
            alignment: self.alignment.as_ref().map(&of),
            queueing: of(&self.queueing),
            kept: self.kept.as_ref().map(&of),
        }
    }

    /// Computation, off the CPU, preemption, transport, alignment, queueing, kept.
    pub fn each(&self) -> [Option<&T>; 7] {
        [
            Some(&self.computation),
            self.off_cpu.as_ref(),
            self.preemption.as_ref(),
            Some(&self.transport),
            self.alignment.as_ref(),
            Some(&self.queueing),
            self.kept.as_ref(),
        ]
    }
}

impl<T: Copy + Default + Add<Output = T>> Parts<T> {
    fn whole(&self) -> T {
        self.each().into_iter().flatten().fold(T::default(), |sum, part| sum + *part)
    }
}

impl Parts<i64> {
    /// What they are parts of.
    pub fn whole_ns(&self) -> i64 {
        self.whole()
    }

    /// The same in ms.
    pub fn in_ms(&self) -> Parts<f64> {
        self.map(|ns| *ns as f64 / 1e6)
    }
}

impl Parts<f64> {
    /// What they are parts of.
    pub fn whole_ms(&self) -> f64 {
        self.whole()
    }

    /// Means, which add up to the mean of the wholes: a part that one of them lacks is absent, and in all of them
    /// within the part that it is within there. Absent for none.
    pub fn mean(all: &[Parts<f64>]) -> Option<Parts<f64>> {
        let has = |part: fn(&Parts<f64>) -> Option<f64>| all.iter().all(|one| part(one).is_some());
        let (alignment, kept) = (has(|one| one.alignment), has(|one| one.kept));
        let (off_cpu, preemption) = (has(|one| one.off_cpu), has(|one| one.preemption));
        let sum: Parts<f64> = all
            .iter()
            .map(|one| {
                let mut one = *one;
                let preempted = if preemption { 0.0 } else { one.preemption.take().unwrap_or(0.0) };
                if off_cpu {
                    one.off_cpu = one.off_cpu.map(|off_cpu| off_cpu + preempted);
                } else {
                    one.computation += preempted + one.off_cpu.take().unwrap_or(0.0);
                }
                let slept = if kept { 0.0 } else { one.kept.take().unwrap_or(0.0) };
                if alignment {
                    one.alignment = one.alignment.map(|alignment| alignment + slept);
                } else {
                    one.transport += slept + one.alignment.take().unwrap_or(0.0);
                }
                one
            })
            .sum();
        (!all.is_empty()).then(|| sum.map(|part| part / all.len() as f64))
    }
}

impl<T: Copy + Default + Add<Output = T>> Sum for Parts<T> {
    /// An absent part is within another, so that it counts as nothing beside those that are there.
    fn sum<I: Iterator<Item = Parts<T>>>(all: I) -> Parts<T> {
        let both = |a: Option<T>, b: Option<T>| a.map_or(b, |a| Some(a + b.unwrap_or_default()));
        all.fold(Parts::default(), |sum, one| Parts {
            computation: sum.computation + one.computation,
            off_cpu: both(sum.off_cpu, one.off_cpu),
            preemption: both(sum.preemption, one.preemption),
            transport: sum.transport + one.transport,
            alignment: both(sum.alignment, one.alignment),
            queueing: sum.queueing + one.queueing,
            kept: both(sum.kept, one.kept),
        })
    }
}

impl Hop {
    /// Where the time went from the publish call of its input, or of the first from its start, to its output; ns.
    pub fn parts(&self) -> Parts {
        let kept = self.kept_ns.get().unwrap_or(0);
        let from_arrival = || self.arrival_ns.get().map(|arrival| self.start_ns - arrival - self.queueing_ns - kept);
        let alignment = self.alignment_ns.get().or_else(from_arrival);
        let waited = self.published_ns.get().map_or(0, |published| self.start_ns - published);
        Parts {
            computation: self.output_ns
                - self.start_ns
                - self.off_cpu_ns.get().unwrap_or(0)
                - self.preemption_ns.get().unwrap_or(0),
            off_cpu: self.off_cpu_ns.get(),
            preemption: self.preemption_ns.get(),
            transport: waited - alignment.unwrap_or(0) - self.queueing_ns - kept,
            alignment,
            queueing: self.queueing_ns,
            kept: self.kept_ns.get(),
        }
    }
}

impl Instance {
    /// Where its time went; ns.
    pub fn parts(&self) -> Parts {
        Parts {
            computation: self.computation_ns,
            off_cpu: self.off_cpu_ns.get(),
            preemption: self.preemption_ns.get(),
            transport: self.transport_ns,
            alignment: self.alignment_ns.get(),
            queueing: self.queueing_ns,
            kept: self.kept_ns.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_parts_add_up_to_the_mean_of_the_wholes() {
        let whole = Parts {
            computation: 4.0,
            off_cpu: Some(8.0),
            preemption: Some(1.0),
            transport: 0.5,
            alignment: Some(2.0),
            queueing: 0.25,
            kept: Some(0.125),
        };
        assert_eq!(Parts::mean(&[whole, whole]), Some(whole));
        let vague = Parts { off_cpu: None, preemption: None, alignment: None, ..whole };
        let mean = Parts::mean(&[whole, vague]).expect("two");
        assert_eq!((mean.preemption, mean.alignment, mean.kept), (None, None, Some(0.125)));
        assert_eq!((mean.computation, mean.off_cpu, mean.transport), (8.5, None, 1.5));
        assert_eq!(mean.whole_ms(), (whole.whole_ms() + vague.whole_ms()) / 2.0);
        let without_events = Parts { off_cpu: Some(9.0), preemption: None, ..whole };
        let mean = Parts::mean(&[whole, without_events]).expect("two");
        assert_eq!((mean.computation, mean.off_cpu, mean.preemption), (4.0, Some(9.0), None));
        let older = Parts { kept: None, ..whole };
        assert_eq!(Parts::mean(&[whole, older]).expect("two").alignment, Some(2.0625));
        assert_eq!(Parts::mean(&[]), None);
    }
}
