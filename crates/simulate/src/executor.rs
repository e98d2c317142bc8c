//! The executor of one node or of several that share its thread.

use crate::node::Node;
use std::collections::VecDeque;

/// What an executor does next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Turn {
    /// The steps of a node.
    Of(usize),
    /// A subscription had a message when it looked.
    Take(usize, usize),
    /// It looks again if anything ran, or waits.
    Again,
}

/// Nodes whose callbacks run on one thread, one at a time. The first stands for all where the executor waits.
pub(crate) struct Executor {
    nodes: Vec<usize>,
    pub agenda: VecDeque<Turn>,
}

impl Executor {
    /// Of its first node.
    pub fn of(node: usize) -> Executor {
        Executor { nodes: vec![node], agenda: VecDeque::new() }
    }

    /// Adds a node.
    pub fn add(&mut self, node: usize) {
        self.nodes.push(node);
    }

    /// Its first node.
    pub fn first(&self) -> usize {
        self.nodes[0]
    }

    /// Whether it has several nodes.
    pub fn is_shared(&self) -> bool {
        self.nodes.len() > 1
    }

    /// Its nodes whose end has not come.
    pub fn running<'a>(&'a self, nodes: &'a [Node], now: i64) -> impl Iterator<Item = usize> + 'a {
        self.nodes.iter().copied().filter(move |node| now < nodes[*node].end_ns)
    }
}
