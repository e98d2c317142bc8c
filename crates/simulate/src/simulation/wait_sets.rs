//! Executors of one thread and several nodes that look at wait sets, in the order of `tacho-node`
//! (`runner/node/executor/arrival.rs`).

use super::Simulation;
use crate::executor::Turn;
use crate::node::{Step, Waits};

impl Simulation {
    /// Lets an executor of several nodes look once around: the timers of all that are due, then at most one message of
    /// each subscription that has one now, before the timers run.
    pub(super) fn look_around(&mut self, worker: usize, now: i64) {
        let of = &mut self.workers[worker];
        let running: Vec<usize> = self.executors[of.executor].running(&self.nodes, now).collect();
        if running.is_empty() {
            return;
        }
        running.iter().for_each(|node| self.nodes[*node].look_at_timers(now));
        of.agenda.extend(running.iter().map(|node| Turn::Of(*node)));
        for node in running {
            let waiting = self.nodes[node].subscriptions.iter().enumerate().filter(|(_, s)| !s.queue.is_empty());
            of.agenda.extend(waiting.map(|(subscription, _)| Turn::Take(node, subscription)));
        }
        of.agenda.push_back(Turn::Again);
    }

    /// Lets an executor of several nodes look again if anything ran, or wait.
    pub(super) fn again(&mut self, worker: usize, now: i64) {
        let of = &self.executors[self.workers[worker].executor];
        let first = of.first();
        let (mut ran, mut has_messages, mut listens) = (false, false, false);
        let (mut until_ns, mut around_ns) = (i64::MAX, 0);
        let running: Vec<usize> = of.running(&self.nodes, now).collect();
        for node in running.iter().map(|node| &self.nodes[*node]) {
            ran |= node.ran;
            has_messages |= node.subscriptions.iter().any(|s| !s.queue.is_empty());
            listens |= !node.subscriptions.is_empty();
            until_ns = until_ns.min(node.next_due_ns());
            around_ns += node.around_ns;
        }
        let is_ready = has_messages || until_ns <= now;
        if let Some(ns) = self.latencies[of.latencies].spent(ran, is_ready, around_ns) {
            running.iter().for_each(|node| (self.nodes[*node].ran, self.nodes[*node].around_ns) = (false, 0));
            self.nodes[first].around_ns = around_ns - ns;
            self.nodes[first].steps.push_back(Step::Compute(ns));
            self.workers[worker].agenda.extend([Turn::Of(first), Turn::Again]);
        } else if ran || is_ready {
            self.nodes[first].steps.push_back(Step::Look);
            self.workers[worker].agenda.push_back(Turn::Of(first));
        } else if until_ns < i64::MAX {
            self.rest(worker, until_ns, if listens { Waits::ForMessage } else { Waits::ForTime });
        }
    }
}
