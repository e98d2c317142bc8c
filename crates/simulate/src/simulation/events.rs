//! Events executors, in the order of `tacho-node` (`runner/node/executor/events.rs`): the callback of what came first,
//! message or timer, runs next.

use super::Simulation;
use crate::executor::Turn;
use crate::node::Waits;

impl Simulation {
    /// Lets a thread run what came first, or wait.
    pub(super) fn run_first(&mut self, worker: usize, now: i64) {
        let executor = self.workers[worker].executor;
        let of = &self.executors[executor];
        let running: Vec<usize> = of.running(&self.nodes, now).collect();
        let dues = running.iter().flat_map(|node| self.nodes[*node].dues_ns().map(|(timer, ns)| (ns, *node, timer)));
        let timer = dues.min_by_key(|(ns, ..)| *ns);
        let by_ns = timer.map_or(now, |(due_ns, ..)| due_ns.min(now));
        let agenda = &mut self.workers[worker].agenda;
        let events = self.executors[executor].events.as_mut();
        let came = events.and_then(|events| {
            events.front().filter(|(at_ns, ..)| *at_ns <= by_ns)?;
            events.pop_front()
        });
        match (came, timer) {
            (Some((_, node, subscription)), _) => agenda.extend([Turn::Take(node, subscription), Turn::First]),
            (None, Some((due_ns, node, timer))) if due_ns <= now => {
                self.nodes[node].serve_timer(timer, now);
                agenda.extend([Turn::Of(node), Turn::First]);
            }
            _ => {
                let ends_ns = running.iter().map(|node| self.nodes[*node].end_ns).min();
                let due_ns = timer.map(|(due_ns, ..)| due_ns);
                let Some(until_ns) = due_ns.into_iter().chain(ends_ns).min() else { return };
                let listens = running.iter().any(|node| !self.nodes[*node].subscriptions.is_empty());
                self.rest(worker, until_ns, if listens { Waits::ForMessage } else { Waits::ForTime });
            }
        }
    }
}
