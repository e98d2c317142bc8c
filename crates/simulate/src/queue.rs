//! What is to come, in the order of time.

use crate::kernel::{Due, Thread};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens at an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    Cpu(Due),
    Alarm {
        worker: usize,
        number: u64,
    },
    /// Another thread of its executor calls a thread.
    Called {
        worker: usize,
        by: Thread,
    },
    /// A thread whose wait ended before can run now.
    Woken {
        worker: usize,
        by: Option<Thread>,
    },
    Send {
        link: usize,
    },
    Travelled {
        link: usize,
    },
}

struct Event {
    at_ns: i64,
    order: u64,
    what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        (self.at_ns, self.order) == (other.at_ns, other.order)
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at_ns, self.order).cmp(&(other.at_ns, other.order))
    }
}

/// What is to come, in the order of time.
#[derive(Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<Event>>,
    order: u64,
}

impl Queue {
    /// Adds what happens at an instant, after all that was added of the same instant.
    pub fn push(&mut self, at_ns: i64, what: What) {
        self.order += 1;
        self.heap.push(Reverse(Event { at_ns, order: self.order, what }));
    }

    /// Takes what comes next, and when.
    pub fn pop(&mut self) -> Option<(i64, What)> {
        self.heap.pop().map(|Reverse(Event { at_ns, what, .. })| (at_ns, what))
    }
}
