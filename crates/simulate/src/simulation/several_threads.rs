//! Executors with several threads, in the order of `tacho-node` (`runner/node/executor/several_threads.rs`): one of
//! them looks for work and waits, and another takes over while it runs what it found. Callbacks of reentrant nodes run
//! beside each other: each thread has its own.

use super::Simulation;
use crate::executor::{Ready, Turn};
use crate::node::{Node, Step, Subscription, Waits};
use crate::queue::What;
use tacho_events::files::Failed;
use tacho_events::number;

impl Simulation {
    /// Lets a thread find a callback to run, wait for one, or wait for its turn.
    pub(super) fn find(&mut self, worker: usize, now: i64) -> Result<(), Failed> {
        let executor = self.workers[worker].executor;
        match self.executors[executor].looks {
            Some(other) if other != worker => {
                self.executors[executor].idle.push_back(worker);
                let waits = matches!(self.workers[other].waits, Waits::ForMessage | Waits::ForTime);
                if waits && self.has_work(executor, now) {
                    self.call(other, worker, now);
                }
                return Ok(());
            }
            _ => self.executors[executor].looks = Some(worker),
        }
        let mut until_ns = None;
        let mut found = self.take(executor, now);
        if found.is_none() {
            until_ns = self.look(executor, now);
            found = self.take(executor, now);
        }
        let stream = self.workers[worker].stream;
        match found {
            Some(node) => {
                self.trace.put(stream, now, number::rclcpp_executor_get_next_ready, &[])?;
                let of = &mut self.nodes[node];
                (of.worker, of.is_busy) = (worker, !of.is_reentrant);
                self.workers[worker].agenda.push_back(Turn::Of(node));
                let next = self.executors[executor].idle.pop_front();
                self.executors[executor].looks = next;
                if let Some(next) = next {
                    self.call(next, worker, now);
                }
            }
            None => {
                let timeout_ns = until_ns.map_or(0, |until_ns| until_ns - now) as u64;
                self.trace.put(stream, now, number::rclcpp_executor_wait_for_work, &[timeout_ns])?;
                match until_ns {
                    Some(until_ns) => self.rest(worker, until_ns, Waits::ForMessage),
                    None => self.workers[worker].waits = Waits::ForMessage,
                }
            }
        }
        Ok(())
    }

    /// The reentrant node whose callback a thread is at.
    fn reentrant_of(&self, worker: usize) -> Option<usize> {
        match self.workers[worker].agenda.front() {
            Some(Turn::Of(node)) if self.nodes[*node].is_reentrant => Some(*node),
            _ => None,
        }
    }

    /// A thread goes on with the callback of a reentrant node that it is at.
    pub(super) fn take_up(&mut self, worker: usize) {
        if let Some((node, begun)) = self.reentrant_of(worker).zip(self.workers[worker].begun.take()) {
            self.nodes[node].go_on(begun);
        }
    }

    /// A thread lets time pass: other threads run callbacks of the reentrant node that it is at.
    pub(super) fn set_aside(&mut self, worker: usize) {
        if let Some(node) = self.reentrant_of(worker) {
            self.workers[worker].begun = Some(self.nodes[node].set_aside());
        }
    }

    /// Calls a thread from another one, to look for work.
    fn call(&mut self, worker: usize, by: usize, now: i64) {
        let by = self.workers[by].thread;
        let of = &mut self.workers[worker];
        of.waits = Waits::Not;
        of.alarm += 1;
        of.agenda.push_back(Turn::Find);
        self.queue.push(now, What::Called { worker, by });
    }

    /// Whether a node that is free has a message or a timer that is due.
    fn has_work(&self, executor: usize, now: i64) -> bool {
        let free = self.executors[executor].running(&self.nodes, now).map(|node| &self.nodes[node]);
        let has = |node: &Node| {
            node.subscriptions.iter().any(Subscription::has_message) || node.dues_ns().any(|(_, due_ns)| due_ns <= now)
        };
        free.filter(|node| !node.is_busy).any(has)
    }

    /// Looks around: timers that are due, then subscriptions that have a message. Returns when something is due next.
    fn look(&mut self, executor: usize, now: i64) -> Option<i64> {
        let of = &self.executors[executor];
        let (mut timers, mut inputs, mut next_ns) = (Vec::new(), Vec::new(), None);
        for node in of.running(&self.nodes, now) {
            let of = &self.nodes[node];
            let (due, later): (Vec<_>, Vec<_>) = of.dues_ns().partition(|(_, due_ns)| *due_ns <= now);
            timers.extend(due.into_iter().map(|(timer, _)| Ready::Timer(node, timer)));
            next_ns = later.into_iter().map(|(_, due_ns)| due_ns).chain(next_ns).chain([of.end_ns]).min();
            let waiting = of.subscriptions.iter().enumerate().filter(|(_, s)| s.has_message());
            inputs.extend(waiting.map(|(subscription, _)| Ready::Input(node, subscription)));
        }
        self.executors[executor].ready = timers.into_iter().chain(inputs).collect();
        next_ns
    }

    /// Takes the first of what was ready whose node is free, which gets its steps.
    fn take(&mut self, executor: usize, now: i64) -> Option<usize> {
        while let Some(ready) = self.executors[executor].ready.pop_front() {
            let (Ready::Timer(node, _) | Ready::Input(node, _)) = ready;
            let of = &mut self.nodes[node];
            if of.is_busy || now >= of.end_ns {
                continue;
            }
            let has_steps = match ready {
                Ready::Timer(_, timer) => of.serve_timer(timer, now, true),
                Ready::Input(_, subscription) => {
                    let input = &mut of.subscriptions[subscription];
                    let has_message = input.has_message();
                    input.claimed += usize::from(has_message);
                    of.steps.extend(has_message.then_some(Step::Take(subscription)));
                    has_message
                }
            };
            if has_steps {
                return Some(node);
            }
        }
        None
    }
}
