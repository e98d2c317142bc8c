//! What truly happened in a system.

use std::collections::BTreeMap;

/// A message and what it descends from: of each path (nodes) that leads to it, the start of the first callback.
#[derive(Clone, Debug)]
pub struct Sent {
    pub publisher: usize,
    pub sequence: u64,
    pub publish_ns: i64,
    pub origins: BTreeMap<Vec<usize>, i64>,
}

/// What a subscription took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    pub node: usize,
    pub publisher: usize,
    pub sequence: u64,
    pub take_ns: i64,
}

/// A callback that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ran {
    pub node: usize,
    pub start_ns: i64,
    pub end_ns: i64,
    pub cpu_ns: i64,
}

/// What truly happened.
#[derive(Default)]
pub struct Truth {
    pub sent: Vec<Sent>,
    pub taken: Vec<Taken>,
    pub ran: Vec<Ran>,
    /// Ends of chains: path, start of the first callback, output.
    pub outputs: Vec<(Vec<usize>, i64, i64)>,
    /// Outputs of each last node, whatever they descend from, by the node's input.
    pub last_outputs: BTreeMap<(usize, usize), Vec<i64>>,
    /// When each node was killed.
    pub killed: BTreeMap<usize, i64>,
    /// Publishers that each node subscribes to.
    pub inputs: Vec<Vec<usize>>,
    pub publishes: Vec<bool>,
    pub end_ns: i64,
    /// Last event of the others: their recorders' closing reading of the clock.
    pub closed_ns: i64,
    /// When the executor of each node ended that shut down before the others, and left its process doing other things.
    pub left: BTreeMap<usize, i64>,
    /// When each node that was killed had its last event.
    pub last_events: BTreeMap<usize, i64>,
    /// Publish calls that failed, by node.
    pub refused: BTreeMap<usize, u64>,
    /// Nodes of tacho's own, all matched from the first message on.
    pub ours: bool,
    /// Whether there are scheduler events.
    pub scheduled: bool,
}

impl Truth {
    /// Until when a node was there to take messages, as its events tell.
    pub fn alive_until(&self, node: usize) -> i64 {
        let closed = self.last_events.get(&node).copied().unwrap_or(self.closed_ns);
        self.left.get(&node).copied().unwrap_or(closed).min(closed)
    }
}
