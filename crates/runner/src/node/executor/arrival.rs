//! Nodes of one thread, whose callbacks run when their messages arrive and their timers are due.

use super::publishing::Due;
use super::{first_line, NodeExecutor};
use crate::instant::{sleep_until, Grid};
use crate::node::computation::Lent;
use crate::node::failure::Failure;
use crate::node::signal::{Poll, Signal};
use tacho_middleware::NO_LIMIT;
use tacho_recording::clock::monotonic_ns;

/// Longest sleep of a thread that no signal wakes for a stop, such as ^C.
const LONGEST_SLEEP_NS: i64 = 200_000_000;

/// When a timer of a node is due, and how many of its due times were served.
struct Timed {
    node: usize,
    timer: usize,
    grid: Grid,
    served: u64,
}

impl NodeExecutor {
    /// A wait set on one thread: timers that are due first, then subscriptions in their order, one callback at a time.
    /// With several nodes, as an executor of rclcpp does: first the timers of all, then of each subscription that had a
    /// message before the first callback of the round at most one.
    pub(super) fn on_arrival(nodes: &mut [NodeExecutor], start_ns: i64) -> Result<(), (String, Failure)> {
        let is_alone = nodes.len() == 1;
        let mut timed: Vec<Timed> = Vec::new();
        for (node, of) in nodes.iter().enumerate() {
            let grid = |timer: usize| Grid::new(start_ns, of.phase, of.timers[timer].hz);
            timed.extend((0..of.timers.len()).map(|timer| Timed { node, timer, grid: grid(timer), served: 0 }));
        }
        let listens = nodes.iter().any(|node| !node.subscriptions.is_empty());
        let of = |nodes: &[NodeExecutor], node: usize| nodes[node].name.clone();
        let mut poll = NodeExecutor::poll(nodes)?;
        let mut is_over = vec![false; nodes.len()];
        let (mut due, mut available) = (Vec::with_capacity(timed.len()), Vec::new());
        loop {
            let now = monotonic_ns();
            let mut next = i64::MAX;
            for (node, is_over) in nodes.iter_mut().zip(&mut is_over).filter(|(_, is_over)| !**is_over) {
                *is_over = now >= node.ending.at(now)
                    && !node.hears_late(now).map_err(|failure| (node.name.clone(), failure))?;
                if !*is_over {
                    next = next.min(node.ending.ns());
                }
            }
            if is_over.iter().all(|is_over| *is_over) {
                break;
            }
            // Computes the next due time before running callbacks, because any work of a source after its message would
            // delay a receiver on the same CPU.
            for of in timed.iter_mut().filter(|of| !is_over[of.node]) {
                let (count, before) = (of.grid.due_by(now), of.served);
                if count > before {
                    of.served = count;
                    due.push((of.node, of.timer, of.grid.due_ns(count - 1), count - before - 1));
                }
                next = next.min(of.grid.due_ns(of.served));
            }
            let mut ran = !due.is_empty();
            available.clear();
            if !is_alone {
                let has = |of: &NodeExecutor, index: usize| of.subscriptions[index].available.is_set();
                let all =
                    nodes.iter().enumerate().flat_map(|(node, of)| (0..of.subscriptions.len()).map(move |s| (node, s)));
                available.extend(all.filter(|(node, index)| has(&nodes[*node], *index)));
            }
            for (node, timer, due_ns, skipped) in due.drain(..) {
                nodes[node].on_timer(timer, due_ns, skipped).map_err(|failure| (of(nodes, node), failure))?;
            }
            if let [node] = nodes {
                for index in 0..node.subscriptions.len() {
                    ran |= node.take_one(index).map_err(|failure| (node.name.clone(), failure))?;
                }
            }
            for (node, index) in available.iter().copied().filter(|(node, _)| !is_over[*node]) {
                ran |= nodes[node].take_one(index).map_err(|failure| (of(nodes, node), failure))?;
            }
            if !listens {
                // Sleeps at once without further work, as above.
                sleep_until(next.min(now + LONGEST_SLEEP_NS));
            } else if !ran {
                match nodes {
                    [node] if node.waits_inside => {
                        node.wait_inside().map_err(|failure| (node.name.clone(), failure))?
                    }
                    _ => NodeExecutor::wait_until(nodes, next, &mut poll),
                }
            }
        }
        for Timed { node, timer, grid, served } in timed {
            let count = grid.due_by(nodes[node].ending.ns() - 1);
            nodes[node].skip_all(timer, count.saturating_sub(served));
        }
        Ok(())
    }

    /// Runs a timer that was due, and counts what it left out before.
    fn on_timer(&mut self, timer: usize, due_ns: i64, skipped: u64) -> Result<(), Failure> {
        self.skip_all(timer, skipped);
        let mut due = std::mem::take(&mut self.due);
        due.clear();
        let served = self.timers[timer].serves.iter_mut().filter_map(|of| of.answer.turns.is_due().then_some(&*of));
        due.extend(served.map(|of| Due { publisher: of.answer.publication, due_ns, is_clocked: of.is_clocked }));
        let done = self.timer_callback(timer, &due);
        self.due = due;
        done
    }

    /// What to poll if descriptors announce messages.
    fn poll(nodes: &mut [NodeExecutor]) -> Result<Option<Poll>, (String, Failure)> {
        let Some(first) = nodes.first() else { return Ok(None) };
        let signal = first.signal.clone();
        let Signal::Descriptor(event) = &*signal else { return Ok(None) };
        let mut descriptors = Vec::new();
        for node in nodes.iter_mut() {
            for s in &mut node.subscriptions {
                descriptors.push(s.subscription.descriptor().map_err(|error| (node.name.clone(), error.into()))?);
            }
        }
        Ok(Some(Poll::new(&descriptors, event)))
    }

    /// Waits inside the middleware for a message of the only subscription, whose callback runs there, as a plain
    /// program's would. As in [`wait_until`](NodeExecutor::wait_until), the end of the wait is the message's arrival.
    fn wait_inside(&mut self) -> Result<(), Failure> {
        let now = monotonic_ns();
        let is_limited = !self.is_interruptible || !self.ending.is_awaited(now);
        let limit_ns = if is_limited { (self.ending.ns() - now).clamp(1, LONGEST_SLEEP_NS) } else { NO_LIMIT };
        let (trace, clocked) = (self.trace, self.is_clocked());
        // Otherwise the middleware reports arrivals.
        if let Signal::Descriptor(_) = *self.signal {
            trace.rclcpp_executor_wait_for_work(if is_limited { limit_ns } else { -1 });
        }
        let Some(mut input) = self.subscriptions.pop() else { return Ok(()) };
        input.available.set(); // a non-blocking take then looks for further messages
        let (handle, callback, latest) = (input.handle, input.callback, input.latest);
        let mut result = Ok(());
        let called = input.subscription.call_within(limit_ns, |message| {
            trace.rclcpp_executor_execute(handle);
            let (header, start_ns) = first_line(trace, clocked, handle, callback, message);
            let lent = Lent { input: 0, header, data: message.data() };
            result = self.subscription_callback(callback, latest, lent, start_ns);
        });
        input.taken += u64::from(matches!(called, Ok(true)));
        self.subscriptions.push(input);
        called.map_err(Failure::from).and(result)
    }

    /// Waits for a message, a stop, or an instant. As with rclcpp, a wait in which no other thread sees a message
    /// arrive is itself the event: its end is the message's arrival (docs/figures.md).
    fn wait_until(nodes: &[NodeExecutor], ns: i64, poll: &mut Option<Poll>) {
        let Some(first) = nodes.first() else { return };
        match (&*first.signal, poll) {
            (Signal::Descriptor(event), Some(poll)) => {
                let timeout_ns = (ns - monotonic_ns()).max(0);
                first.trace.rclcpp_executor_wait_for_work(timeout_ns);
                poll.wait(timeout_ns, event);
                let subscriptions = nodes.iter().flat_map(|node| &node.subscriptions);
                subscriptions
                    .enumerate()
                    .filter(|(index, _)| poll.readable(*index))
                    .for_each(|(_, s)| s.available.set());
            }
            (signal, _) => signal.wait_until(ns),
        }
    }

    /// Takes messages that arrived while the node had no CPU before its end; returns whether they postpone the end.
    fn hears_late(&mut self, now_ns: i64) -> Result<bool, Failure> {
        if !self.ending.is_stopped(now_ns) {
            for index in 0..self.subscriptions.len() {
                self.take_one(index)?;
            }
        }
        Ok(now_ns < self.ending.at(now_ns))
    }
}
