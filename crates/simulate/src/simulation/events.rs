//! Events executors, in the order of `tacho-node` (`runner/node/executor/events.rs`): the callback of what came first,
//! message or timer, runs next. That of rclpy looks at its timers after it has run what had come at its last look.

use super::Simulation;
use crate::executor::{Ready, Turn};
use crate::node::Waits;

impl Simulation {
    /// Lets a thread run what came first, or wait.
    pub(super) fn run_first(&mut self, worker: usize, now: i64) {
        let executor = self.workers[worker].executor;
        let of = &self.executors[executor];
        let is_in_python = self.nodes[of.first()].is_in_python;
        let running: Vec<usize> = of.running(&self.nodes, now).collect();
        let mut dues: Vec<(i64, Ready)> = Vec::new();
        for node in running.iter().copied() {
            dues.extend(self.nodes[node].dues_ns().map(|(timer, due_ns)| (due_ns, Ready::Timer(node, timer))));
        }
        dues.sort_by_key(|(due_ns, _)| *due_ns);
        let first_due = dues.first().copied();
        let Some(events) = &mut self.executors[executor].events else { return };
        if is_in_python && events.before_timers == 0 {
            events.came.extend(dues.into_iter().take_while(|(due_ns, _)| *due_ns <= now).map(|(_, of)| (now, of)));
            events.before_timers = events.came.len();
        }
        let by_ns = first_due.filter(|_| !is_in_python).map_or(now, |(due_ns, _)| due_ns.min(now));
        let first = match events.came.front() {
            Some((at_ns, _)) if *at_ns <= by_ns => events.came.pop_front(),
            _ => first_due.filter(|(due_ns, _)| !is_in_python && *due_ns <= now),
        };
        events.before_timers = events.before_timers.saturating_sub(1);
        let agenda = &mut self.workers[worker].agenda;
        match first {
            Some((_, Ready::Input(node, subscription))) => agenda.extend([Turn::Take(node, subscription), Turn::First]),
            Some((_, Ready::Timer(node, timer))) => {
                self.nodes[node].serve_timer(timer, now, true);
                agenda.extend([Turn::Of(node), Turn::First]);
            }
            None => {
                let ends_ns = running.iter().map(|node| self.nodes[*node].end_ns).min();
                let due_ns = first_due.map(|(due_ns, _)| due_ns);
                let Some(until_ns) = due_ns.into_iter().chain(ends_ns).min() else { return };
                let listens = running.iter().any(|node| !self.nodes[*node].subscriptions.is_empty());
                self.rest(worker, until_ns, if listens { Waits::ForMessage } else { Waits::ForTime });
            }
        }
    }
}
