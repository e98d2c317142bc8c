//! When a thread computed more slowly than it usually did.

use crate::row::Row;
use crate::Process;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A stretch of time in which all that a thread computes took longer by one factor: callbacks that usually take the
/// same each time, and steps of the client library, whose work is the same each time. So its CPU was slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slowdown {
    /// Row of [`super::Tables::processes`].
    pub process: Row<Process>,
    /// The thread.
    pub tid: u32,
    /// Start of the first execution in it.
    pub from_ns: i64,
    /// End of the last one.
    pub to_ns: i64,
    /// Median, over those executions, of their duration over the median duration of their callback.
    pub callbacks_factor: f64,
    /// The same of the steps of the client library.
    pub steps_factor: f64,
    /// Its executions of callbacks that usually take the same each time.
    pub executions: u32,
    /// Their callbacks.
    pub callbacks: u32,
    /// What these executions took above the median of their callbacks.
    pub longer_ns: i64,
}

/// The stretches of each thread.
pub struct Slowdowns<'a>(BTreeMap<(Row<Process>, u32), Vec<&'a Slowdown>>);

impl<'a> Slowdowns<'a> {
    /// Of the rows of a table.
    pub fn of(rows: &'a [Slowdown]) -> Slowdowns<'a> {
        let mut by_thread: BTreeMap<(Row<Process>, u32), Vec<&'a Slowdown>> = BTreeMap::new();
        for row in rows {
            by_thread.entry((row.process, row.tid)).or_default().push(row);
        }
        by_thread.values_mut().for_each(|rows| rows.sort_by_key(|row| row.from_ns));
        Slowdowns(by_thread)
    }

    /// The one in which a thread was at an instant.
    pub fn at(&self, process: Row<Process>, tid: u32, ns: i64) -> Option<&'a Slowdown> {
        let rows = self.0.get(&(process, tid))?;
        let last = rows[..rows.partition_point(|row| row.from_ns <= ns)].last()?;
        Some(*last).filter(|row| ns < row.to_ns)
    }

    /// For how long any of the threads was slower.
    pub fn length_ns(&self) -> i64 {
        let mut spans: Vec<(i64, i64)> = self.0.values().flatten().map(|row| (row.from_ns, row.to_ns)).collect();
        spans.sort_unstable();
        let (mut length_ns, mut until) = (0, i64::MIN);
        for (from, to) in spans {
            length_ns += (to - from.max(until)).max(0);
            until = until.max(to);
        }
        length_ns
    }

    /// Process and thread, with its stretches in the order of time.
    pub fn by_thread(&self) -> impl Iterator<Item = (Row<Process>, u32, &[&'a Slowdown])> {
        self.0.iter().map(|((process, tid), rows)| (*process, *tid, rows.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_in_the_stretch_of_its_thread() {
        let row = |tid, from_ns, to_ns| Slowdown {
            process: Row::new(0),
            tid,
            from_ns,
            to_ns,
            callbacks_factor: 1.5,
            steps_factor: 1.5,
            executions: 9,
            callbacks: 2,
            longer_ns: 1,
        };
        let rows = [row(1, 50, 60), row(1, 10, 20), row(2, 15, 30)];
        let slow = Slowdowns::of(&rows);
        let at = |tid, ns| slow.at(Row::new(0), tid, ns).map(|row| row.from_ns);
        assert_eq!([5, 10, 19, 20, 55, 60].map(|ns| at(1, ns)), [None, Some(10), Some(10), None, Some(50), None]);
        assert_eq!((at(2, 25), at(3, 25)), (Some(15), None));
        assert_eq!(slow.at(Row::new(1), 1, 15), None);
        assert_eq!(slow.length_ns(), 20 + 10);
        assert_eq!(slow.by_thread().map(|(_, tid, rows)| (tid, rows.len())).collect::<Vec<_>>(), [(1, 2), (2, 1)]);
    }
}
