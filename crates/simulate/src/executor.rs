//! Executors and the threads that run their callbacks.

use crate::kernel::Thread;
use crate::node::{Begun, Node, Waits};
use std::collections::VecDeque;

/// What a thread of an executor does next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Turn {
    /// The steps of a node.
    Of(usize),
    /// A subscription had a message when it looked.
    Take(usize, usize),
    /// It looks again if anything ran, or waits.
    Again,
    /// One of several threads looks for a callback to run.
    Find,
    /// A thread runs what came first.
    First,
}

/// What had something to do when one of several threads looked: a timer or a subscription of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ready {
    Timer(usize, usize),
    Input(usize, usize),
}

/// Nodes whose callbacks run on one thread, one at a time, or on several, one at a time of each node.
pub(crate) struct Executor {
    nodes: Vec<usize>,
    /// Number of what it takes to wake up and to look around.
    pub latencies: usize,
    /// Of an events executor.
    pub events: Option<Events>,
    pub workers: Vec<usize>,
    /// Of several threads, the one whose turn it is to look for work, and those that wait for their turn.
    pub looks: Option<usize>,
    pub idle: VecDeque<usize>,
    pub ready: VecDeque<Ready>,
}

/// What came for an events executor, with its instant, ns.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub came: VecDeque<(i64, Ready)>,
    /// In Python: how many of them it runs before it looks at its timers.
    pub before_timers: usize,
}

/// A thread of an executor.
pub(crate) struct Worker {
    pub executor: usize,
    pub process: usize,
    pub thread: Thread,
    /// Its stream of events.
    pub stream: usize,
    pub agenda: VecDeque<Turn>,
    /// The callback of a reentrant node that it is at.
    pub begun: Option<Begun>,
    pub waits: Waits,
    /// Number of its alarm; an earlier one does not count.
    pub alarm: u64,
}

impl Worker {
    /// A thread that has nothing to do yet.
    pub fn of(executor: usize, process: usize, thread: Thread, stream: usize) -> Worker {
        Worker {
            executor,
            process,
            thread,
            stream,
            agenda: VecDeque::new(),
            begun: None,
            waits: Waits::ForTime,
            alarm: 0,
        }
    }
}

impl Executor {
    /// Of its first node, with its threads; `on_events`: runs what came first.
    pub fn of(node: usize, workers: Vec<usize>, on_events: bool) -> Executor {
        let (looks, idle) = (workers.first().copied(), workers[1..].iter().copied().collect());
        let events = on_events.then(Events::default);
        Executor { nodes: vec![node], latencies: 0, events, looks, workers, idle, ready: VecDeque::new() }
    }

    /// Adds a node.
    pub fn add(&mut self, node: usize) {
        self.nodes.push(node);
    }

    /// Its first node.
    pub fn first(&self) -> usize {
        self.nodes[0]
    }

    /// Whether one thread has several nodes.
    pub fn is_shared(&self) -> bool {
        self.nodes.len() > 1
    }

    /// Whether it has several threads.
    pub fn has_several_threads(&self) -> bool {
        self.workers.len() > 1
    }

    /// Its nodes whose end has not come.
    pub fn running<'a>(&'a self, nodes: &'a [Node], now: i64) -> impl Iterator<Item = usize> + 'a {
        self.nodes.iter().copied().filter(move |node| now < nodes[*node].end_ns)
    }
}
