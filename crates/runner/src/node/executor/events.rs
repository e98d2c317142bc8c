//! Nodes of one thread, whose callbacks run in the order in which their messages and timers came, as on an events
//! executor of rclcpp or rclpy.

use super::arrival::{Timed, Waiting};
use super::NodeExecutor;
use crate::node::failure::Failure;
use crate::node::signal::Arrivals;
use std::collections::VecDeque;
use tacho_recording::clock::monotonic_ns;

/// What a thread runs next.
enum Next {
    /// Number of a subscription among those of all nodes.
    Input(usize),
    /// Number of a timer among those of all nodes.
    Timer(usize),
    /// Nothing until then.
    Wait(i64),
}

/// Chooses what runs next.
struct Order<'a> {
    arrivals: &'a Arrivals,
    /// The executor of rclpy looks at its timers only after it has run what had come at its last look. Then timers that
    /// are due are behind all that came until then.
    looks_in_rounds: bool,
    /// Messages and timers of this round.
    messages: usize,
    timers: VecDeque<usize>,
}

impl Order<'_> {
    /// `dues`: numbers of the timers and when they are due.
    fn next(&mut self, dues: impl Iterator<Item = (usize, i64)>, now: i64) -> Next {
        if !self.looks_in_rounds {
            let timer = dues.min_by_key(|(_, due_ns)| *due_ns);
            let due_ns = timer.map_or(i64::MAX, |(_, due_ns)| due_ns);
            return match (self.arrivals.pop_by(now.min(due_ns)), timer) {
                (Some(subscription), _) => Next::Input(subscription),
                (None, Some((number, due_ns))) if due_ns <= now => Next::Timer(number),
                _ => Next::Wait(due_ns),
            };
        }
        let mut dues: Vec<(usize, i64)> = dues.collect();
        if self.messages == 0 && self.timers.is_empty() {
            dues.sort_unstable_by_key(|(_, due_ns)| *due_ns);
            self.messages = self.arrivals.count();
            self.timers.extend(dues.iter().filter(|(_, due_ns)| *due_ns <= now).map(|(number, _)| *number));
        }
        while self.messages > 0 {
            self.messages -= 1;
            if let Some(subscription) = self.arrivals.pop_by(now) {
                return Next::Input(subscription);
            }
        }
        match self.timers.pop_front() {
            Some(number) => Next::Timer(number),
            None => Next::Wait(dues.into_iter().map(|(_, due_ns)| due_ns).min().unwrap_or(i64::MAX)),
        }
    }
}

impl NodeExecutor {
    /// Runs the callback of what came first, one at a time.
    pub(super) fn on_events(
        nodes: &mut [NodeExecutor],
        start_ns: i64,
        arrivals: &Arrivals,
    ) -> Result<(), (String, Failure)> {
        let mut timed = Timed::of(nodes, start_ns);
        let mut waiting = Waiting::of(nodes)?;
        let mut is_over = vec![false; nodes.len()];
        let looks_in_rounds = nodes.iter().any(|node| node.interpreter.is_some());
        let mut order = Order { arrivals, looks_in_rounds, messages: 0, timers: VecDeque::new() };
        loop {
            let now = monotonic_ns();
            let Some(end_ns) = NodeExecutor::next_end(nodes, &mut is_over, now)? else { break };
            let running = timed.iter().enumerate().filter(|(_, of)| !is_over[of.node]);
            let (node, done) = match order.next(running.map(|(number, of)| (number, of.next_ns())), now) {
                Next::Input(subscription) => {
                    let (node, index) = waiting.place(subscription);
                    (node, if is_over[node] { Ok(()) } else { nodes[node].take_one(index).map(drop) })
                }
                Next::Timer(number) => {
                    let of = &mut timed[number];
                    let due = of.serve(now).filter(|_| !is_over[of.node]);
                    let done = due.map(|(due_ns, skipped)| nodes[of.node].on_timer(of.timer, due_ns, skipped));
                    (of.node, done.unwrap_or(Ok(())))
                }
                Next::Wait(due_ns) => {
                    // What came since is seen by the signal that it raised.
                    waiting.until(end_ns.min(due_ns));
                    continue;
                }
            };
            done.map_err(|failure| (nodes[node].name.clone(), failure))?;
            if waiting.is_by_descriptors() {
                waiting.until(0);
            }
        }
        NodeExecutor::skip_what_is_left(nodes, &timed);
        Ok(())
    }
}
