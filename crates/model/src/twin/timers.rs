//! The timers of a node that ran, and how often they do.

use super::node::{rounded_hz, share, Callbacks};
use super::Maker;
use crate::seen::{CallbackSeen, Sent};
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::{Callback, CallbackKind, Execution, Node};

/// A timer that ran at least this part of the times that were due keeps its period.
const RAN: f64 = 0.5;
/// Part of the time that a timer missed in which its node must have been busy to have fallen behind.
const BUSY: f64 = 0.5;

/// A timer that ran.
pub(super) struct Timer {
    pub name: String,
    pub hz: f64,
    pub row: Row<Callback>,
    pub topics: BTreeMap<String, Sent>,
    pub runs: u64,
}

impl Timer {
    /// Whether it is what publishes a topic, each time, and publishes nothing else: the publication is its timer.
    pub fn alone_publishes(&self, causes: &[(String, Sent, u64)]) -> bool {
        // One more or less is where the window cuts.
        let always = |sent: &Sent, runs: u64| share(sent.runs, runs) == 100.0 && sent.calls <= sent.runs + 1;
        matches!(causes, [(name, sent, runs)] if *name == self.name && always(sent, *runs)) && self.topics.len() == 1
    }
}

impl Maker<'_> {
    /// The timers of a node that ran. One that misses most of its periods while nothing keeps it from them was
    /// cancelled or reset, or something else held it back: it has the rate at which it ran.
    pub(super) fn timers(&self, node: Row<Node>, callbacks: &Callbacks, remarks: &mut Vec<String>) -> Vec<Timer> {
        let mut timers: Vec<Timer> = Vec::new();
        for (row, callback) in callbacks.iter().filter(|(_, of)| of.kind == CallbackKind::Timer) {
            let Some(period_ns) = callback.period_ns.filter(|ns| *ns >= 1_000) else { continue };
            let Some(of) = self.seen.callbacks.get(row).filter(|of| of.runs > 0) else { continue };
            let name = format!("timer_{}", timers.len() + 1);
            let mut hz = 1e9 / period_ns as f64;
            let (runs, from_ns) = (of.runs, of.started_ns.first().copied().unwrap_or(self.seen.to_ns));
            let due = 1.0 + ((self.seen.to_ns - from_ns) as f64 / period_ns as f64).floor();
            if (runs as f64) < 0.9 * due - 1.0 {
                let is_busy = self.busy_share(node, of, period_ns) >= BUSY;
                let why = match is_busy {
                    true => "the system fell behind.",
                    false if runs as f64 >= RAN * due => "no callback kept it from the others.",
                    false => {
                        hz *= runs as f64 / due;
                        "no callback kept it from the others. It was cancelled or reset, or its group or the machine \
                         held it back: here it has the rate at which it ran."
                    }
                };
                let period_ms = period_ns as f64 / 1e6;
                remarks.push(format!(
                    "{name} ran {runs} times, though {due:.0} were due by its period of {period_ms} ms: {why}"
                ));
            }
            timers.push(Timer { name, hz: rounded_hz(hz), row: *row, topics: of.topics.clone(), runs });
        }
        timers
    }

    /// Part of the time that a timer missed in which one of its threads or another callback of its node was busy.
    fn busy_share(&self, node: Row<Node>, of: &CallbackSeen, period_ns: i64) -> f64 {
        let next = of.started_ns.iter().skip(1).chain([&self.seen.to_ns]);
        let gaps = of.started_ns.iter().zip(next).filter(|(start, next)| 2 * (*next - *start) > 3 * period_ns);
        let missed: Vec<(i64, i64)> = gaps.map(|(start, next)| (start + period_ns, *next)).collect();
        let is_near = |execution: &&Execution| {
            of.tids.contains(&execution.tid) || self.tables.callbacks[execution.callback].node == Some(node)
        };
        let near = self.tables.executions.iter().filter(is_near);
        let mut busy: Vec<(i64, i64)> = near.filter_map(|of| Some((of.start_ns, of.end_ns.get()?))).collect();
        busy.sort_unstable();
        covered(&missed, &busy)
    }
}

/// Part of some intervals, in order and apart, that others cover, in order of their start.
fn covered(intervals: &[(i64, i64)], by: &[(i64, i64)]) -> f64 {
    let all: i64 = intervals.iter().map(|(from, to)| to - from).sum();
    let (mut sum, mut until) = (0, i64::MIN);
    for &(from, to) in by {
        let from = from.max(until);
        if to > from {
            let first = intervals.partition_point(|(_, end)| *end <= from);
            let near = intervals[first..].iter().take_while(|(start, _)| *start < to);
            sum += near.map(|(start, end)| to.min(*end) - from.max(*start)).sum::<i64>();
            until = to;
        }
    }
    sum as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_covers_once() {
        let missed = [(10, 20), (30, 40)];
        assert_eq!(covered(&missed, &[]), 0.0);
        assert_eq!(covered(&missed, &[(0, 100)]), 1.0);
        assert_eq!(covered(&missed, &[(0, 12), (5, 15), (14, 15), (18, 35), (50, 60)]), 0.6);
    }
}
