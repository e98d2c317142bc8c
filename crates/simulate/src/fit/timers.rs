//! How late timers are.

use super::{Run, Samples};
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::timers::{since_due_ns, ON_TIME};
use tacho_tables::{Callback, Execution, Process};

/// The earliest starts of both halves of a recording are as late as each other but for this, ns, or the clock of the
/// timer is another one.
const STEADY_NS: i64 = 200_000;
/// Fewer starts show nothing.
const LEAST: usize = 8;

impl Run<'_> {
    /// From due to start, of timers whose thread had nothing else to do.
    pub(super) fn timers(&self, samples: &mut Samples) {
        let mut seen = None;
        let mut of_ours = BTreeSet::new();
        for publication in &self.tables.publications {
            let (Some(due_ns), Some(row)) = (publication.due_ns.get(), publication.execution) else { continue };
            // A callback that publishes several was due once.
            if seen.replace(row) == Some(row) {
                continue;
            }
            of_ours.insert(self.process_of(row));
            if let Some((ns, is_free)) = self.late(row, due_ns) {
                self.add(samples, row, |seen| seen.timer.add(ns, is_free));
            }
        }
        if self.info.is_recording() {
            self.timers_of_rcl(&of_ours, samples);
        }
    }

    /// The same of timers of rcl, which are due a period apart from their making on; those of our own nodes have a
    /// phase. Each counts for its node alone, because the lateness of all is also added to sleeps inside of callbacks,
    /// and a recording's sleeps have it already.
    fn timers_of_rcl(&self, of_ours: &BTreeSet<Row<Process>>, samples: &mut Samples) {
        let mut starts: BTreeMap<Row<Callback>, Vec<Row<Execution>>> = BTreeMap::new();
        for (row, execution) in self.tables.executions.numbered() {
            let callback = &self.tables.callbacks[execution.callback];
            let is_of_rcl = callback.armed_ns.is_some() && !of_ours.contains(&callback.process);
            if is_of_rcl && execution.resumes.is_none() && self.waiting_node(row).is_some() {
                starts.entry(execution.callback).or_default().push(row);
            }
        }
        for (callback, rows) in starts {
            let Callback { armed_ns: Some(armed_ns), period_ns: Some(period_ns), .. } = self.tables.callbacks[callback]
            else {
                continue;
            };
            let times: Vec<i64> = rows.iter().map(|row| self.tables.executions[*row].start_ns).collect();
            for (row, late_ns) in rows.into_iter().zip(lateness(&times, armed_ns, period_ns).into_iter().flatten()) {
                let due_ns = self.tables.executions[row].start_ns - late_ns;
                if let Some((ns, is_free)) = self.late(row, due_ns) {
                    self.add_to_node(samples, row, |seen| seen.timer.add(ns, is_free));
                }
            }
        }
    }

    fn process_of(&self, row: Row<Execution>) -> Row<Process> {
        self.tables.callbacks[self.tables.executions[row].callback].process
    }

    /// From an instant to the start of an execution that could run then, and whether a CPU was free.
    fn late(&self, row: Row<Execution>, due_ns: i64) -> Option<(i64, bool)> {
        let could_run = self.before(row)?.is_none_or(|end_ns| end_ns <= due_ns);
        could_run.then(|| (self.tables.executions[row].start_ns - due_ns, self.is_free(row, due_ns)))
    }
}

/// How long after its due times a timer started, ns; `None` if its due times are not a period apart from its making on:
/// it was reset, or has the time of another clock.
fn lateness(starts_ns: &[i64], armed_ns: i64, period_ns: i64) -> Option<Vec<i64>> {
    if starts_ns.len() < LEAST || period_ns <= 0 {
        return None;
    }
    let late: Vec<i64> = starts_ns.iter().map(|start_ns| since_due_ns(*start_ns, armed_ns, period_ns)).collect();
    let (first, last) = late.split_at(late.len() / 2);
    let (first_ns, last_ns) = first.iter().min().zip(last.iter().min())?;
    // The earliest starts are on time, or it was reset.
    let is_steady = *first_ns.max(last_ns) <= period_ns / ON_TIME && (first_ns - last_ns).abs() <= STEADY_NS;
    is_steady.then(|| late.into_iter().map(|ns| ns.max(0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_are_due_a_period_apart_from_their_making_on() {
        let starts = |offset_ns: i64, drift_ns: i64| -> Vec<i64> {
            (1..41).map(|k| 5_000_000 + k * 50_000_000 + offset_ns + k * drift_ns + (k % 3) * 10_000).collect()
        };
        let late = lateness(&starts(600_000, 0), 5_000_000, 50_000_000).expect("on its grid");
        assert_eq!(late[..3], [610_000, 620_000, 600_000]);
        // The event of its making came a little after the reading.
        assert_eq!(lateness(&starts(-20_000, 0), 5_000_000, 50_000_000).map(|late| late[1]), Some(0));
        assert_eq!(lateness(&starts(20_000_000, 0), 5_000_000, 50_000_000), None, "was reset");
        assert_eq!(lateness(&starts(600_000, 40_000), 5_000_000, 50_000_000), None, "another clock");
        assert_eq!(lateness(&starts(600_000, 0)[..7], 5_000_000, 50_000_000), None, "too few");
    }
}
