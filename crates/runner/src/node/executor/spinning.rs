//! A node that wakes at a fixed rate.

use super::publishing::Due;
use super::NodeExecutor;
use crate::instant::{sleep_until, Grid};
use crate::node::failure::Failure;
use tacho_recording::clock::monotonic_ns;

impl NodeExecutor {
    /// Study E: wake, take at most one message of each queue, sleep. After a late wake, it continues with the next wake
    /// of the grid.
    pub(super) fn spin(&mut self, wakes: Grid) -> Result<(), Failure> {
        let triggered = self.subscriptions.iter().any(|s| !s.latest);
        // When each publisher is due: at its rate, or at every wake of a node that nothing triggers.
        let due: Vec<Option<Grid>> = self
            .publishers
            .iter()
            .map(|p| match p.rate_hz {
                Some(hz) => Some(Grid::from_first(wakes.first_ns(), hz)),
                None => (!triggered).then(|| wakes.clone()),
            })
            .collect();
        let mut served = vec![0u64; due.len()];
        let mut wake = 0;
        loop {
            let at = wakes.due_ns(wake);
            if at < self.ending.ns() {
                sleep_until(at);
            }
            if at >= self.ending.ns() {
                break;
            }
            self.trace.node_wake(self.handle.0);
            self.figures.wakes += 1;
            for index in 0..self.subscriptions.len() {
                self.take_one(index)?;
            }
            self.ending.at(monotonic_ns());
            let mut now_due = Vec::new();
            for (index, grid) in due.iter().enumerate() {
                let Some(grid) = grid else { continue };
                if let Some((due_ns, skipped)) = grid.serve(&mut served[index], at) {
                    self.skip(index, skipped);
                    now_due.push(Due { publisher: index, due_ns, is_clocked: true });
                }
            }
            let computes = !triggered && self.publishers.is_empty();
            if computes || !now_due.is_empty() {
                self.timer_callback(0, &now_due)?;
            }
            wake = (wake + 1).max(wakes.due_by(monotonic_ns()));
        }
        // Counts as due what a wake before the end would have sent.
        if let Some(last) = wakes.due_by(self.ending.ns() - 1).checked_sub(1) {
            for (index, grid) in due.iter().enumerate() {
                if let Some(grid) = grid {
                    self.skip(index, grid.due_by(wakes.due_ns(last)).saturating_sub(served[index]));
                }
            }
        }
        Ok(())
    }
}
