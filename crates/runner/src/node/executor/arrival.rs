//! Nodes of one thread, whose callbacks run when their messages arrive and their timers are due.

use super::publishing::Due;
use super::{first_line, NodeExecutor, OnTimer};
use crate::instant::{sleep_until, Grid};
use crate::node::computation::Lent;
use crate::node::entities::NodeSubscription;
use crate::node::failure::Failure;
use crate::node::signal::{Available, Poll, Signal};
use crate::node::trace::Trace;
use std::sync::Arc;
use tacho_middleware::NO_LIMIT;
use tacho_recording::clock::monotonic_ns;

/// Longest sleep of a thread that no signal wakes for a stop, such as ^C.
const LONGEST_SLEEP_NS: i64 = 200_000_000;

/// When a timer of a node is due, and how many of its due times were served.
pub(super) struct Timed {
    pub node: usize,
    pub timer: usize,
    pub grid: Grid,
    pub served: u64,
}

impl Timed {
    /// The timers of these nodes.
    pub fn of(nodes: &[NodeExecutor], start_ns: i64) -> Vec<Timed> {
        let of_node = |(node, of): (usize, &NodeExecutor)| {
            let timed = |(timer, planned): (usize, &OnTimer)| {
                let grid = Grid::of_source(start_ns, of.phase, planned.hz, &planned.sent_at);
                Timed { node, timer, grid, served: 0 }
            };
            of.timers.iter().enumerate().map(timed).collect::<Vec<_>>()
        };
        nodes.iter().enumerate().flat_map(of_node).collect()
    }

    /// Serves it if it is due: returns when it was due last, and how many due times it left out before.
    pub fn serve(&mut self, now: i64) -> Option<(i64, u64)> {
        self.grid.serve(&mut self.served, now)
    }

    /// When it is due next.
    pub fn next_ns(&self) -> i64 {
        self.grid.due_ns(self.served)
    }

    /// How many of its due times before an instant were not served.
    pub fn left_before(&self, ns: i64) -> u64 {
        self.grid.due_by(ns - 1).saturating_sub(self.served)
    }
}

/// How nodes of one executor wait.
pub(super) struct Waiting {
    pub signal: Arc<Signal>,
    trace: Trace,
    poll: Option<Poll>,
    /// Node and index of each subscription, in the order in which it is polled.
    available: Vec<(usize, usize, Arc<Available>)>,
}

impl Waiting {
    /// For these nodes.
    pub fn of(nodes: &mut [NodeExecutor]) -> Result<Waiting, (String, Failure)> {
        let (signal, trace) = (nodes[0].signal.clone(), nodes[0].trace);
        let of_node = |(node, of): (usize, &NodeExecutor)| {
            let available = |(index, s): (usize, &NodeSubscription)| (node, index, s.available.clone());
            of.subscriptions.iter().enumerate().map(available).collect::<Vec<_>>()
        };
        let available = nodes.iter().enumerate().flat_map(of_node).collect();
        let poll = match &*signal {
            Signal::Condition { .. } => None,
            Signal::Descriptor(event) => {
                let mut descriptors = Vec::new();
                for node in nodes.iter_mut() {
                    for s in &mut node.subscriptions {
                        let descriptor = s.subscription.descriptor();
                        descriptors.push(descriptor.map_err(|error| (node.name.clone(), error.into()))?);
                    }
                }
                Some(Poll::new(&descriptors, event))
            }
        };
        Ok(Waiting { signal, trace, poll, available })
    }

    /// Node and index of a subscription, by its number.
    pub fn place(&self, number: usize) -> (usize, usize) {
        let (node, index, _) = self.available[number];
        (node, index)
    }

    /// Whether only a wait shows what came.
    pub fn is_by_descriptors(&self) -> bool {
        self.poll.is_some()
    }

    /// Node and index of the subscriptions that may have a message.
    pub fn inputs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.available.iter().filter(|(.., available)| available.is_set()).map(|(node, index, _)| (*node, *index))
    }

    /// Waits for a message, a stop, or an instant. As with rclcpp, a wait in which no other thread sees a message
    /// arrive is itself the event: its end is the message's arrival (docs/figures.md).
    pub fn until(&mut self, ns: i64) {
        match (&*self.signal, &mut self.poll) {
            (Signal::Descriptor(event), Some(poll)) => {
                let timeout_ns = (ns - monotonic_ns()).max(0);
                self.trace.rclcpp_executor_wait_for_work(timeout_ns);
                poll.wait(timeout_ns, event, |index| self.available[index].2.is_set());
                let readable = self.available.iter().enumerate().filter(|(index, _)| poll.readable(*index));
                readable.for_each(|(_, (_, _, available))| available.set());
            }
            (signal, _) => signal.wait_until(ns),
        }
    }

    /// The same on one of several threads, with the events of a wait whatever reports arrivals: they show which threads
    /// take turns in waiting.
    pub fn until_as_rclcpp(&mut self, ns: i64) {
        if self.poll.is_none() {
            self.trace.rclcpp_executor_wait_for_work((ns - monotonic_ns()).max(0));
        }
        self.until(ns);
        self.trace.rclcpp_executor_get_next_ready();
    }
}

impl NodeExecutor {
    /// A wait set on one thread: timers that are due first, then subscriptions in their order, one callback at a time.
    /// With several nodes, as an executor of rclcpp does: first the timers of all, then of each subscription that had a
    /// message before the first callback of the round at most one.
    pub(super) fn on_arrival(nodes: &mut [NodeExecutor], start_ns: i64) -> Result<(), (String, Failure)> {
        let is_alone = nodes.len() == 1;
        let mut timed = Timed::of(nodes, start_ns);
        let listens = nodes.iter().any(|node| !node.subscriptions.is_empty());
        let of = |nodes: &[NodeExecutor], node: usize| nodes[node].name.clone();
        let mut waiting = Waiting::of(nodes)?;
        let mut is_over = vec![false; nodes.len()];
        let (mut due, mut available) = (Vec::with_capacity(timed.len()), Vec::new());
        loop {
            let now = monotonic_ns();
            let Some(mut next) = NodeExecutor::next_end(nodes, &mut is_over, now)? else { break };
            // Computes the next due time before running callbacks, because any work of a source after its message would
            // delay a receiver on the same CPU.
            for of in timed.iter_mut().filter(|of| !is_over[of.node]) {
                due.extend(of.serve(now).map(|(due_ns, skipped)| (of.node, of.timer, due_ns, skipped)));
                next = next.min(of.next_ns());
            }
            let mut ran = !due.is_empty();
            available.clear();
            if !is_alone {
                available.extend(waiting.inputs());
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
                    _ => waiting.until(next),
                }
            }
        }
        NodeExecutor::skip_what_is_left(nodes, &timed);
        Ok(())
    }

    /// When the first of those nodes ends that are not over yet; `None` if all are.
    pub(super) fn next_end(
        nodes: &mut [NodeExecutor],
        is_over: &mut [bool],
        now: i64,
    ) -> Result<Option<i64>, (String, Failure)> {
        let mut next = None;
        for (node, is_over) in nodes.iter_mut().zip(is_over).filter(|(_, is_over)| !**is_over) {
            *is_over = node.is_over(now)?;
            if !*is_over {
                next = Some(next.map_or(node.ending.ns(), |next: i64| next.min(node.ending.ns())));
            }
        }
        Ok(next)
    }

    /// Counts what timers left out at the end.
    pub(super) fn skip_what_is_left(nodes: &mut [NodeExecutor], timed: &[Timed]) {
        for of in timed {
            let node = &mut nodes[of.node];
            node.skip_all(of.timer, of.left_before(node.ending.ns()));
        }
    }

    /// Runs a timer that was due, and counts what it left out before.
    pub(super) fn on_timer(&mut self, timer: usize, due_ns: i64, skipped: u64) -> Result<(), Failure> {
        let mut due = std::mem::take(&mut self.due);
        due.clear();
        self.now_due(timer, due_ns, skipped, &mut due);
        let done = self.timer_callback(timer, &due);
        self.due = due;
        done
    }

    /// Adds what a timer publishes that was due, and counts what it left out before.
    pub(super) fn now_due(&mut self, timer: usize, due_ns: i64, skipped: u64, due: &mut Vec<Due>) {
        self.skip_all(timer, skipped);
        for of in &mut self.timers[timer].serves {
            let publisher = Due { publisher: of.answer.publication, due_ns, is_clocked: of.is_clocked };
            due.extend((0..of.answer.turns.due()).map(|_| publisher));
        }
    }

    /// Waits inside the middleware for a message of the only subscription, whose callback runs there, as a plain
    /// program's would. As in [`Waiting::until`], the end of the wait is the message's arrival.
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

    /// Whether its end has come, and no message that arrived while it had no CPU postpones it.
    pub(super) fn is_over(&mut self, now: i64) -> Result<bool, (String, Failure)> {
        if now < self.ending.at(now) {
            return Ok(false);
        }
        self.hears_late(now).map(|hears| !hears).map_err(|failure| (self.name.clone(), failure))
    }

    /// Takes messages that arrived while the node had no CPU before its end; returns whether they postpone the end.
    fn hears_late(&mut self, now_ns: i64) -> Result<bool, Failure> {
        if !self.ending.is_stopped(now_ns) {
            for index in 0..self.subscriptions.len() {
                match self.is_reentrant {
                    true => self.take_without_interpreter(index)?,
                    false => drop(self.take_one(index)?),
                }
            }
        }
        Ok(now_ns < self.ending.at(now_ns))
    }
}
