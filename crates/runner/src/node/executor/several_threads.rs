//! Nodes that several threads run together, as a multi-threaded executor of rclcpp does: one thread looks for work and
//! waits, and the next one takes over while it runs what it found. The callbacks of one node exclude each other, unless
//! they are of a [reentrant](super::reentrant) group.

use super::arrival::{Timed, Waiting};
use super::NodeExecutor;
use crate::node::failure::Failure;
use crate::node::interpreter::Interpreter;
use crate::node::signal::Signal;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tacho_recording::clock::{monotonic_ns, thread_cpu_ns};

/// What had something to do at the last look.
#[derive(Debug, Clone, Copy)]
enum Ready {
    /// Number of a timer among those of all nodes.
    Timer(usize),
    /// Node and subscription.
    Input(usize, usize),
}

/// A callback that is to run.
enum Callback {
    Timer { timer: usize, due_ns: i64, skipped: u64 },
    Input(usize),
}

/// What the thread has whose turn it is to look for work.
struct Turn {
    timed: Vec<Timed>,
    waiting: Waiting,
    is_over: Vec<bool>,
    ready: VecDeque<Ready>,
    result: Result<(), (String, Failure)>,
}

/// A node that no other thread uses at the moment.
type Free<'s, 'n> = MutexGuard<'s, &'n mut NodeExecutor>;

struct Shared<'n> {
    nodes: Vec<Mutex<&'n mut NodeExecutor>>,
    turn: Mutex<Turn>,
    signal: Arc<Signal>,
}

impl NodeExecutor {
    /// Runs nodes on several threads, of which the calling one is the first. Returns the CPU time of the others, ns.
    pub(super) fn on_threads(
        nodes: &mut [NodeExecutor],
        threads: usize,
        start_ns: i64,
    ) -> Result<u64, (String, Failure)> {
        let turn = Turn {
            timed: Timed::of(nodes, start_ns),
            waiting: Waiting::of(nodes)?,
            is_over: vec![false; nodes.len()],
            ready: VecDeque::with_capacity(nodes.iter().map(|of| of.timers.len() + of.subscriptions.len()).sum()),
            result: Ok(()),
        };
        let signal = turn.waiting.signal.clone();
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let shared = Shared { nodes: nodes.iter_mut().map(Mutex::new).collect(), turn: Mutex::new(turn), signal };
        let others_ns = std::thread::scope(|scope| {
            let run = || {
                shared.run();
                thread_cpu_ns()
            };
            let others: Vec<_> =
                (1..threads).map(|_| std::thread::Builder::new().name(name.clone()).spawn_scoped(scope, run)).collect();
            shared.run();
            let ended = |other: std::io::Result<std::thread::ScopedJoinHandle<'_, u64>>| {
                other.map_err(|error| error.to_string())?.join().map_err(|_| "a thread panicked".to_owned())
            };
            others.into_iter().map(ended).sum::<Result<u64, String>>()
        });
        let Shared { nodes, turn, .. } = shared;
        let Turn { timed, result, .. } = turn.into_inner().unwrap_or_else(PoisonError::into_inner);
        for of in timed {
            let mut node = lock(&nodes[of.node]);
            let left = of.left_before(node.ending.ns());
            node.skip_all(of.timer, left);
        }
        result?;
        others_ns.map_err(|error| (lock(&nodes[0]).name.clone(), Failure::Thread(error)))
    }
}

impl<'n> Shared<'n> {
    /// Runs callbacks on the calling thread until all nodes have come to their end, or one has failed.
    fn run(&self) {
        while let Some((number, node, callback)) = self.next() {
            let done = match node.is_reentrant {
                true => self.run_beside_itself(number, node, callback),
                false => self.run_alone(node, callback),
            };
            if let Err(failure) = done {
                let name = lock(&self.nodes[number]).name.clone();
                lock(&self.turn).result = Err((name, failure));
                self.signal.raise();
            }
        }
    }

    /// Runs a callback, and no other of its node meanwhile.
    fn run_alone(&self, mut node: Free<'_, 'n>, callback: Callback) -> Result<(), Failure> {
        let done = match callback {
            Callback::Timer { timer, due_ns, skipped } => node.on_timer(timer, due_ns, skipped),
            Callback::Input(index) => node.take_one(index).map(drop),
        };
        drop(node);
        // What waits for this node can run now.
        self.signal.raise();
        done
    }

    /// Runs a callback that others of its node may run beside, and itself.
    fn run_beside_itself(&self, number: usize, node: Free<'_, 'n>, callback: Callback) -> Result<(), Failure> {
        let interpreter = node.interpreter;
        let Some(of_python) = interpreter else { return self.begin_and_end(number, node, callback, None) };
        // A callback has the interpreter when it ends, and needs the node then.
        drop(node);
        of_python.take();
        let done = self.begin_and_end(number, lock(&self.nodes[number]), callback, interpreter);
        of_python.give();
        done
    }

    fn begin_and_end(
        &self,
        number: usize,
        mut node: Free<'_, 'n>,
        callback: Callback,
        interpreter: Option<&Interpreter>,
    ) -> Result<(), Failure> {
        let begun = match callback {
            Callback::Timer { timer, due_ns, skipped } => Some(node.begin_timer(timer, due_ns, skipped)),
            Callback::Input(index) => node.begin_input(index)?,
        };
        drop(node);
        // A thread that looked meanwhile found the node locked.
        self.signal.raise();
        let Some(begun) = begun else { return Ok(()) };
        begun.spend(interpreter);
        lock(&self.nodes[number]).end(begun)
    }

    /// Waits for a callback to run, and for the turn to do so.
    fn next(&self) -> Option<(usize, Free<'_, 'n>, Callback)> {
        let mut turn = lock(&self.turn);
        let mut until_ns = None;
        loop {
            if turn.result.is_err() {
                return None;
            }
            if let Some(found) = self.take(&mut turn) {
                return Some(found);
            }
            // What was not taken belongs to nodes that are busy: their threads raise the signal.
            if let Some(ns) = until_ns {
                turn.waiting.until_as_rclcpp(ns);
            }
            match self.look(&mut turn) {
                Ok(_) if turn.is_over.iter().all(|is_over| *is_over) => return None,
                Ok(next_ns) => until_ns = Some(next_ns),
                Err(failure) => turn.result = Err(failure),
            }
        }
    }

    /// The first of what was ready whose node is free.
    fn take(&self, turn: &mut Turn) -> Option<(usize, Free<'_, 'n>, Callback)> {
        while let Some(ready) = turn.ready.pop_front() {
            let node = match ready {
                Ready::Timer(number) => turn.timed[number].node,
                Ready::Input(node, _) => node,
            };
            let Ok(mut free) = self.nodes[node].try_lock() else { continue };
            let now = monotonic_ns();
            if now >= free.ending.at(now) {
                continue; // it came while the node was busy; the next look ends it
            }
            let callback = match ready {
                Ready::Input(_, index) => Some(Callback::Input(index)),
                Ready::Timer(number) => {
                    let of = &mut turn.timed[number];
                    let due = of.serve(now);
                    due.map(|(due_ns, skipped)| Callback::Timer { timer: of.timer, due_ns, skipped })
                }
            };
            if let Some(callback) = callback {
                return Some((node, free, callback));
            }
        }
        None
    }

    /// Looks around: timers that are due, then subscriptions that have a message. Returns when something is due next.
    fn look(&self, turn: &mut Turn) -> Result<i64, (String, Failure)> {
        let now = monotonic_ns();
        let mut next_ns = i64::MAX;
        let Turn { timed, is_over, ready, .. } = turn;
        ready.clear();
        for (node, is_over) in self.nodes.iter().zip(is_over.iter_mut()).filter(|(_, is_over)| !**is_over) {
            // A node that is busy is looked at when it is done.
            let Ok(mut node) = node.try_lock() else { continue };
            *is_over = node.is_over(now)?;
            if !*is_over {
                next_ns = next_ns.min(node.ending.ns());
            }
        }
        for (number, of) in timed.iter().enumerate().filter(|(_, of)| !is_over[of.node]) {
            match of.next_ns() {
                due_ns if due_ns <= now => ready.push_back(Ready::Timer(number)),
                due_ns => next_ns = next_ns.min(due_ns),
            }
        }
        ready
            .extend(turn.waiting.inputs().filter(|(node, _)| !is_over[*node]).map(|(node, at)| Ready::Input(node, at)));
        Ok(next_ns)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
