//! When a timer was due, by its period and the phase of its starts.
//!
//! rcl keeps a timer on the grid of its first due time (`rcl_timer_call`): the next due time is a period after the one
//! before, or the first of the grid that is not over when the call before began. A timer never runs early, so the
//! earliest starts of a period tell where the grid lies, and what is late is late by that much at least. If starts lie
//! all over the period, the time when the timer was made tells it.

use crate::observe::Seen;
use rustc_hash::FxHashSet as HashSet;
use tacho_tables::row::{numbered, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::timers::{since_due_ns, ON_TIME};
use tacho_tables::{Callback, CallbackKind, Execution, Node, CLOCK_TOPIC};

/// Starts before and after one that tell its grid: a timer that is reset gets another.
const AROUND: usize = 32;
/// Fewer tell no grid.
const LEAST: usize = 4;
/// Between two starts on time, by phase, lies less than this part of a period.
const APART: i64 = 50;

/// Starts of all timers with a period of real time.
pub(super) struct Ticks {
    starts: Grouped<Callback, i64>,
}

impl Ticks {
    pub fn new(seen: &Seen) -> Ticks {
        let clocks: HashSet<Row<Node>> = seen
            .endpoints
            .iter()
            .filter(|e| seen.topics.names[e.topic] == CLOCK_TOPIC)
            .map(|endpoint| endpoint.node)
            .collect();
        let is_timer = |callback: &Callback| {
            callback.kind == CallbackKind::Timer
                && callback.period_ns.is_some_and(|period| period > 0)
                && callback.node.is_none_or(|node| !clocks.contains(&node))
        };
        let starts = || {
            let first = seen.executions.iter().filter(|e| e.resumes.is_none());
            first.filter(|e| is_timer(&seen.callbacks[e.callback])).map(|e| (e.callback, e.start_ns))
        };
        let mut starts = Grouped::new(seen.callbacks.len(), starts);
        numbered(&seen.callbacks).for_each(|(callback, _)| starts.of_mut(callback).sort_unstable());
        Ticks { starts }
    }

    /// Start of the first run of a timer after an instant.
    pub fn first_after(&self, callback: Row<Callback>, instant: i64) -> Option<i64> {
        let starts = self.starts.of(callback);
        starts.get(starts.partition_point(|start| *start <= instant)).copied()
    }

    /// When the run of a timer was due that began then; no later than it began.
    pub fn due(&self, seen: &Seen, execution: Row<Execution>) -> Option<i64> {
        let row = &seen.executions[execution];
        match row.queued_ns.get() {
            Some(queued) => Some(queued.min(row.start_ns)),
            None => self.due_at(seen, row.callback, row.start_ns),
        }
    }

    /// The same of the run of a timer that began at an instant.
    pub fn due_at(&self, seen: &Seen, callback: Row<Callback>, start: i64) -> Option<i64> {
        let (starts, period) = (self.starts.of(callback), seen.callbacks[callback].period_ns?);
        let place = starts.binary_search(&start).ok()?;
        let around = &starts[place.saturating_sub(AROUND)..(place + AROUND + 1).min(starts.len())];
        let on_time = phase(around, start, period).map(|phase| start + phase);
        let grid = on_time.or_else(|| grid_of(around, seen.callbacks[callback].armed_ns?, period))?;
        let slot_after = |instant: i64| grid + ((instant - grid).div_euclid(period) + 1) * period;
        let due = match place.checked_sub(1) {
            Some(before) => slot_after(starts[before]),
            None => slot_after(start) - period,
        };
        Some(due.min(start))
    }
}

/// A due time of a timer that was made at an instant; `None` if no start is near to such a time, so that the timer was
/// perhaps reset.
fn grid_of(starts: &[i64], armed: i64, period: i64) -> Option<i64> {
    let nearest = starts.iter().map(|start| since_due_ns(*start, armed, period)).min()?;
    (starts.len() >= LEAST && nearest <= period / ON_TIME).then_some(armed + nearest.min(0))
}

/// Where the grid lies on which most starts of a timer are on time, after an instant; `None`: they are on none.
fn phase(starts: &[i64], instant: i64, period: i64) -> Option<i64> {
    let mut phases: Vec<i64> = starts.iter().map(|start| (start - instant).rem_euclid(period)).collect();
    phases.sort_unstable();
    let count = phases.len();
    if count < LEAST {
        return None;
    }
    // The next period's behind this one's, since they lie on a circle.
    let at = |place: usize| phases[place % count] + (place / count) as i64 * period;
    let (mut densest, mut most, mut to) = (0, 0, 0);
    for from in 0..count {
        while to < from + count && at(to) - at(from) <= period / ON_TIME {
            to += 1;
        }
        if to - from > most {
            (densest, most) = (from, to - from);
        }
    }
    if most * 2 < count {
        return None;
    }
    // From the middle of them down: a late one that lies near the next due time is apart from them.
    let mut first = densest + most / 2 + count;
    let least = first - count;
    while first > least && at(first) - at(first - 1) <= period / APART {
        first -= 1;
    }
    Some(at(first).rem_euclid(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 runs of a timer of 1000 ns, due at 7, 1007 ..., as late as `late` says.
    fn starts(late: impl Fn(i64) -> i64) -> Vec<i64> {
        (0..100).map(|k| 7 + 1000 * k + late(k)).collect()
    }

    #[test]
    fn the_grid_is_where_most_starts_are_on_time_wherever_the_late_ones_lie() {
        for late_by in [0, 100, 500, 900, 960, 985] {
            let starts = starts(|k| if k % 30 == 17 { late_by } else { k % 5 });
            let found = phase(&starts, starts[17], 1000).expect("a grid") + starts[17];
            let off = (7 - found).rem_euclid(1000);
            assert!(off == 0 || late_by == 985 && off <= 20, "late by {late_by}: {off}");
        }
    }

    #[test]
    fn starts_all_over_the_period_are_on_the_grid_of_the_timer_s_making() {
        let starts = starts(|k| 37 * k % 900);
        // The event of the making came 3 ns after the clock was read, then long before, and on another grid.
        assert_eq!(grid_of(&starts, 10 - 5_000, 1000), Some(7 - 5_000));
        assert_eq!(grid_of(&starts, 7 - 5_000, 1000), Some(7 - 5_000));
        assert_eq!(grid_of(&starts, 1_007, 1000).map(|grid| (grid - 7) % 1000), Some(0));
        let apart: Vec<i64> = (0..100).map(|k| 500 + 1000 * k + k).collect();
        assert_eq!(grid_of(&apart, 0, 1000), None);
    }

    #[test]
    fn starts_all_over_the_period_are_on_no_grid() {
        assert_eq!(phase(&starts(|k| 37 * k), 7, 1000), None);
        assert_eq!(phase(&starts(|_| 0)[..3], 7, 1000), None);
    }
}
