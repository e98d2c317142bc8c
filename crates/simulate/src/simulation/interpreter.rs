//! The lock of an interpreter, as in `tacho-node` (`runner/node/interpreter.rs`): callbacks in Python of one process
//! compute in turn.

use super::Simulation;
use crate::executor::{Turn, Worker};
use crate::node::{Step, Waits};
use std::collections::VecDeque;
use tacho_events::files::Failed;
use tacho_runner::node::interpreter::SWITCH_INTERVAL;

const SWITCH_INTERVAL_NS: i64 = SWITCH_INTERVAL.as_nanos() as i64;
/// When a thread asks again if the holder has no CPU: only a thread that runs sees that it was asked.
const ASKED_AGAIN_NS: i64 = 100_000;

/// The lock of a process.
#[derive(Debug, Default)]
pub(crate) struct Interpreter {
    holder: Option<usize>,
    /// How often a thread took it.
    takes: u64,
    /// Threads that wait for it, and how often it had been taken when the wait for the switch interval began.
    waiting: VecDeque<(usize, u64)>,
}

impl Simulation {
    fn interpreter(&mut self, node: usize) -> &mut Interpreter {
        let process = self.nodes[node].process;
        &mut self.processes[process].interpreter
    }

    /// Whether a thread has taken the lock; otherwise it waits for it now.
    pub(super) fn take_interpreter(&mut self, worker: usize, node: usize, now: i64) -> bool {
        let lock = self.interpreter(node);
        if lock.holder.is_none() {
            (lock.holder, lock.takes) = (Some(worker), lock.takes + 1);
            return true;
        }
        lock.waiting.push_back((worker, lock.takes));
        // Another thread may be faster when the lock is free.
        self.nodes[node].first([Step::TakeInterpreter]);
        self.rest(worker, now + SWITCH_INTERVAL_NS, Waits::ForInterpreter);
        self.kernel.sleep(self.workers[worker].thread, now);
        false
    }

    /// A thread gives the lock away, and wakes the first that waits.
    pub(super) fn give_interpreter(&mut self, worker: usize, node: usize, now: i64) -> Result<(), Failed> {
        let lock = self.interpreter(node);
        lock.holder = None;
        let Some((next, _)) = lock.waiting.pop_front() else { return Ok(()) };
        let by = self.workers[worker].thread;
        let of = &mut self.workers[next];
        of.waits = Waits::Not;
        of.alarm += 1;
        let thread = of.thread;
        let latency_ns = self.wake_up_ns(next);
        self.wake(thread, 0, latency_ns, now, Some(by))
    }

    /// A thread has waited for the switch interval: the holder gives the lock away if it has had it all the time.
    pub(super) fn ask_for_interpreter(&mut self, worker: usize, now: i64) -> Result<(), Failed> {
        let node = self.node_of(worker);
        let lock = self.interpreter(node);
        let takes = lock.takes;
        let asked = lock.waiting.iter_mut().find(|(waiting, _)| *waiting == worker);
        let is_same = asked.is_some_and(|(_, before)| std::mem::replace(before, takes) == takes);
        let Some(holder) = lock.holder.filter(|_| is_same) else {
            self.rest(worker, now + SWITCH_INTERVAL_NS, Waits::ForInterpreter);
            return Ok(());
        };
        let Worker { thread, .. } = self.workers[holder];
        let Some(left_ns) = self.kernel.stop(thread, now) else {
            self.rest(worker, now + ASKED_AGAIN_NS, Waits::ForInterpreter);
            return Ok(());
        };
        let of_holder = self.node_of(holder);
        let steps = match &mut self.workers[holder].begun {
            Some(begun) => &mut begun.steps,
            None => &mut self.nodes[of_holder].steps,
        };
        steps.push_front(Step::Compute(left_ns));
        steps.push_front(Step::TakeInterpreter);
        self.give_interpreter(holder, of_holder, now)?;
        let lock = self.interpreter(of_holder);
        lock.waiting.push_back((holder, lock.takes));
        self.rest(holder, now + SWITCH_INTERVAL_NS, Waits::ForInterpreter);
        // The thread that had waited longest was woken, and it may be another one.
        if self.workers[worker].waits == Waits::ForInterpreter {
            self.rest(worker, now + SWITCH_INTERVAL_NS, Waits::ForInterpreter);
        }
        Ok(())
    }

    /// The node whose steps a thread is at.
    fn node_of(&self, worker: usize) -> usize {
        match self.workers[worker].agenda.front() {
            Some(Turn::Of(node)) => *node,
            _ => self.executors[self.workers[worker].executor].first(),
        }
    }
}
