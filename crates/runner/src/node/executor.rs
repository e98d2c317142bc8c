//! Runs callbacks: on arrival, at a spin rate, or on a timer.

mod publishing;

use publishing::{Callback, Due};

use crate::instant::{sleep_until, Grid, StopTime};
use crate::node::clock_log::ClockLog;
use crate::node::computation::{Lent, TaskOfNode};
use crate::node::ending::Ending;
use crate::node::entities::{self, NodePublisher, NodeSubscription, Timer};
use crate::node::failure::Failure;
use crate::node::joined::Joined;
use crate::node::signal::{Interrupt, Poll, Signal};
use crate::node::timers::timers;
use crate::node::trace::Trace;
use crate::protocol::{NodeFigures, NodePlan, OutputFigures};
use std::sync::Arc;
use tacho_middleware::{Error, Handle, Header, Received, Session, NO_LIMIT};
use tacho_recording::clock::{monotonic_ns, thread_cpu_ns};
use tacho_workload::callbacks::{Load, Turns};
use tacho_workload::model::Executor;
use tacho_workload::random::{mix, Draws};

/// Longest sleep of a thread that no signal wakes for a stop, such as ^C.
const LONGEST_SLEEP_NS: i64 = 200_000_000;

/// A node with its entities, ready to run.
pub struct NodeExecutor {
    name: String,
    handle: Handle,
    traced: bool,
    executor: Executor,
    phase: f64,
    /// What the callback of each subscription does.
    on_input: Vec<OnInput>,
    /// Makes sets of its inputs; `None`: it computes on each message alone.
    joined: Option<Joined>,
    /// Stamp of the content that is published next.
    content_ns: i64,
    task: Option<TaskOfNode>,
    draws: Draws,
    subscriptions: Vec<NodeSubscription>,
    publishers: Vec<NodePublisher>,
    /// Timers of the node; when spinning, the timer of the wakes.
    timers: Vec<OnTimer>,
    signal: Arc<Signal>,
    /// Whether the thread waits inside the middleware: the middleware can do so, and one subscription is all that it
    /// waits for.
    waits_inside: bool,
    /// Whether an interrupt ends that wait, so that it needs no limit.
    is_interruptible: bool,
    ending: Ending,
    trace: Trace,
    /// The clock in the node, if requested.
    pub log: Option<ClockLog>,
    figures: NodeFigures,
}

/// What the callback of a subscription does.
struct OnInput {
    load: Load,
    /// Publishers, and the turns in which it publishes on them.
    answers: Vec<(usize, Turns)>,
}

/// A timer and what its callback does.
struct OnTimer {
    timer: Timer,
    hz: f64,
    load: Load,
    serves: Vec<Serves>,
}

/// A publisher that a timer serves.
struct Serves {
    publisher: usize,
    turns: Turns,
    /// See [`Served::is_clocked`](crate::node::timers::Served).
    is_clocked: bool,
}

/// The first line of a callback. If a clock or trace needs this instant, it is read before anything else is done with
/// the message.
fn first_line(trace: Trace, clocked: bool, subscription: u64, callback: u64, message: &Received) -> (Header, i64) {
    trace.rclcpp_take(message.handle().0);
    trace.callback_start(callback, false);
    let start_ns = if clocked { monotonic_ns() } else { 0 };
    let header = message.header();
    trace.node_take(subscription, header.publisher, header.sequence, header.stamp_ns);
    (header, start_ns)
}

/// An endpoint that still lacks peers.
#[derive(Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Its topic.
    pub topic: String,
    /// Number of peers it has.
    pub found: usize,
    /// Number of peers it should have.
    pub expected: usize,
}

impl NodeExecutor {
    /// Makes the node and its entities.
    pub fn new(
        session: &Session,
        plan: &NodePlan,
        stop: Arc<StopTime>,
        trace: Trace,
        log: bool,
    ) -> anyhow::Result<NodeExecutor> {
        let handle = entities::node(session, plan, &trace)?;
        // Messages do not wake a spinning node, so it must record when they arrived.
        let polls = session.middleware().has_descriptors()
            && !matches!(plan.node.executor, Executor::Spin { .. })
            && !plan.inputs.is_empty();
        let signal = Arc::new(if polls { Signal::descriptor()? } else { Signal::condition() });
        let on_timer = matches!(plan.node.executor, Executor::Timer { .. });
        let subscriptions = plan
            .node
            .subscribes
            .iter()
            .zip(&plan.inputs)
            .map(|(s, input)| entities::subscription(session, &handle, s, input, s.latest || on_timer, &signal, trace))
            .collect::<Result<Vec<_>, Error>>()?;
        // A separate sequence, so that the draws of work do not depend on the content of messages.
        let mut payload = Draws::new(mix(plan.seed));
        let publishers = plan
            .node
            .publishes
            .iter()
            .zip(&plan.outputs)
            .map(|(p, output)| entities::publisher(session, &handle, p, output, &mut payload, &trace))
            .collect::<Result<Vec<_>, Error>>()?;
        let timers: Vec<_> = timers(&plan.node)
            .into_iter()
            .map(|planned| OnTimer {
                timer: entities::timer(&handle, planned.hz, &planned.what, &trace),
                hz: planned.hz,
                load: planned.load,
                serves: planned
                    .serves
                    .iter()
                    .map(|served| Serves {
                        publisher: served.answer.publication,
                        turns: Turns::of(served.answer.share_percent),
                        is_clocked: served.is_clocked,
                    })
                    .collect(),
            })
            .collect();
        let on_input = |input| OnInput {
            load: plan.node.load_of_input(input),
            answers: plan
                .node
                .answers_to_input(input)
                .into_iter()
                .map(|answer| (answer.publication, Turns::of(answer.share_percent)))
                .collect(),
        };
        let on_input = plan.node.subscribes.iter().map(on_input).collect();
        let waits_inside = matches!(plan.node.executor, Executor::Arrival)
            && timers.is_empty()
            && subscriptions.len() == 1
            && session.middleware().has_call_within();
        Ok(NodeExecutor {
            name: plan.node.name.clone(),
            handle: handle.handle,
            traced: handle.traced,
            executor: plan.node.executor,
            phase: plan.phase,
            on_input,
            joined: Joined::of(&plan.node, &subscriptions),
            content_ns: 0,
            task: TaskOfNode::of(plan, !timers.is_empty())?,
            draws: Draws::new(plan.seed),
            subscriptions,
            publishers,
            timers,
            signal,
            waits_inside,
            is_interruptible: waits_inside && session.middleware().has_wake(),
            ending: Ending::by(stop),
            trace,
            log: log.then(ClockLog::new),
            figures: NodeFigures { node: plan.node.name.clone(), ..NodeFigures::default() },
        })
    }

    /// The node's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what ends its waits.
    pub fn interrupt(&self) -> Interrupt {
        let waker = if self.waits_inside { self.subscriptions[0].subscription.waker() } else { None };
        Interrupt { signal: self.signal.clone(), waker }
    }

    /// The first endpoint that lacks peers.
    pub fn unmatched(&mut self) -> Result<Option<Unmatched>, Error> {
        let lacking = |topic: &str, found: usize, expected: usize| {
            (found < expected).then(|| Unmatched { topic: topic.to_owned(), found, expected })
        };
        for s in &mut self.subscriptions {
            if let Some(unmatched) = lacking(&s.topic, s.subscription.matched()?, s.expected) {
                return Ok(Some(unmatched));
            }
        }
        for p in &mut self.publishers {
            if let Some(unmatched) = lacking(&p.topic, p.publisher.matched()?, p.expected) {
                return Ok(Some(unmatched));
            }
        }
        Ok(None)
    }

    /// Runs on the calling thread from `start_ns` to `stop_ns`. Takes inputs until `end_ns`, and [longer](Ending) while
    /// messages still arrive, or until it is stopped, or until it fails. Returns its figures whatever ended it.
    pub fn run(&mut self, start_ns: i64, stop_ns: i64, end_ns: i64) -> (NodeFigures, Result<(), Failure>) {
        self.ending.set(stop_ns, if self.subscriptions.is_empty() { stop_ns } else { end_ns });
        sleep_until(start_ns.min(self.ending.ns()));
        let cpu_before = thread_cpu_ns();
        let result = match self.executor {
            Executor::Spin { hz } => self.spin(Grid::new(start_ns, self.phase, hz)),
            Executor::Timer { .. } | Executor::Arrival => {
                let grids = self.timers.iter().map(|on| Grid::new(start_ns, self.phase, on.hz)).collect();
                self.on_arrival(grids)
            }
        };
        self.figures.cpu_ns = thread_cpu_ns() - cpu_before;
        self.figures.outputs = self
            .publishers
            .iter()
            .map(|p| OutputFigures {
                topic: p.topic.clone(),
                sent: p.sequence - p.refusals.count(),
                skipped: p.skipped,
                refused: p.refusals.figures(),
            })
            .collect();
        self.figures.taken = self.subscriptions.iter().map(|s| s.taken).collect();
        self.figures.sets = self.joined.as_ref().map(Joined::count);
        self.figures.task = self.task.as_mut().map(TaskOfNode::figures);
        (self.figures.clone(), result)
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

    /// Study E: wake, take at most one message of each queue, sleep. After a late wake, it continues with the next wake
    /// of the grid.
    fn spin(&mut self, wakes: Grid) -> Result<(), Failure> {
        let triggered = self.subscriptions.iter().any(|s| !s.latest);
        // When each publisher is due: at its rate, or at every wake of a node that nothing triggers.
        let due: Vec<Option<Grid>> = self
            .publishers
            .iter()
            .map(|p| match p.rate_hz {
                Some(hz) => Some(Grid::from_first(wakes.first_ns(), hz)),
                None => (!triggered).then_some(wakes),
            })
            .collect();
        let mut served = vec![0u64; due.len()];
        let mut wake = 0;
        loop {
            let at = wakes.due_ns(wake);
            if at < self.ending.ns() {
                sleep_until(at);
            }
            if at >= self.ending.ns() {
                break;
            }
            self.trace.node_wake(self.handle.0);
            self.figures.wakes += 1;
            for index in 0..self.subscriptions.len() {
                self.take_one(index)?;
            }
            self.ending.at(monotonic_ns());
            let mut now_due = Vec::new();
            for (index, grid) in due.iter().enumerate() {
                let Some(grid) = grid else { continue };
                let count = grid.due_by(at);
                if count > served[index] {
                    self.skip(index, count - served[index] - 1);
                    served[index] = count;
                    let due_ns = grid.due_ns(count - 1);
                    now_due.push(Due { publisher: index, due_ns, is_clocked: true });
                }
            }
            let computes = !triggered && self.publishers.is_empty();
            if computes || !now_due.is_empty() {
                self.timer_callback(0, &now_due)?;
            }
            wake = (wake + 1).max(wakes.due_by(monotonic_ns()));
        }
        // Counts as due what a wake before the end would have sent.
        if let Some(last) = wakes.due_by(self.ending.ns() - 1).checked_sub(1) {
            for (index, grid) in due.iter().enumerate() {
                if let Some(grid) = grid {
                    self.skip(index, grid.due_by(wakes.due_ns(last)).saturating_sub(served[index]));
                }
            }
        }
        Ok(())
    }

    /// A wait set on one thread: timers that are due first, then subscriptions in their order, one callback at a time.
    fn on_arrival(&mut self, grids: Vec<Grid>) -> Result<(), Failure> {
        let mut served = vec![0u64; grids.len()];
        let mut poll = self.poll()?;
        let (mut due, mut publishers) = (Vec::with_capacity(grids.len()), Vec::new());
        loop {
            let now = monotonic_ns();
            if now >= self.ending.at(now) && !self.hears_late(now)? {
                break;
            }
            // Computes the next due time before running callbacks, because any work of a source after its message would
            // delay a receiver on the same CPU.
            let mut next = self.ending.ns();
            for (index, grid) in grids.iter().enumerate() {
                let (count, before) = (grid.due_by(now), served[index]);
                if count > before {
                    served[index] = count;
                    due.push((index, grid.due_ns(count - 1), count - before - 1));
                }
                next = next.min(grid.due_ns(served[index]));
            }
            let mut ran = !due.is_empty();
            for (index, due_ns, skipped) in due.drain(..) {
                self.skip_all(index, skipped);
                publishers.clear();
                let served = self.timers[index].serves.iter_mut().filter_map(|of| of.turns.next().then_some(&*of));
                publishers.extend(served.map(|of| Due { publisher: of.publisher, due_ns, is_clocked: of.is_clocked }));
                self.timer_callback(index, &publishers)?;
            }
            for index in 0..self.subscriptions.len() {
                ran |= self.take_one(index)?;
            }
            if self.subscriptions.is_empty() {
                // Sleeps at once without further work, as above.
                sleep_until(next.min(now + LONGEST_SLEEP_NS));
            } else if !ran && self.waits_inside {
                self.wait_inside()?;
            } else if !ran {
                self.wait_until(next, &mut poll);
            }
        }
        for (index, grid) in grids.iter().enumerate() {
            let count = grid.due_by(self.ending.ns() - 1);
            self.skip_all(index, count.saturating_sub(served[index]));
        }
        Ok(())
    }

    /// What to poll if descriptors announce messages.
    fn poll(&mut self) -> Result<Option<Poll>, Error> {
        let Signal::Descriptor(event) = &*self.signal else { return Ok(None) };
        let descriptors =
            self.subscriptions.iter_mut().map(|s| s.subscription.descriptor()).collect::<Result<Vec<_>, Error>>()?;
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
    fn wait_until(&self, ns: i64, poll: &mut Option<Poll>) {
        match (&*self.signal, poll) {
            (Signal::Descriptor(event), Some(poll)) => {
                let timeout_ns = (ns - monotonic_ns()).max(0);
                self.trace.rclcpp_executor_wait_for_work(timeout_ns);
                poll.wait(timeout_ns, event);
                self.subscriptions
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| poll.readable(*index))
                    .for_each(|(_, s)| s.available.set());
            }
            (signal, _) => signal.wait_until(ns),
        }
    }

    /// Takes a message if the middleware announced one, and runs its callback; returns whether there was one. The order
    /// of events is rclcpp's: execute, takes of the layers below, take, start.
    fn take_one(&mut self, index: usize) -> Result<bool, Failure> {
        // The callback needs the node while the subscription lends the message.
        let mut subscriptions = std::mem::take(&mut self.subscriptions);
        let taken = self.take_from(&mut subscriptions[index], index);
        self.subscriptions = subscriptions;
        taken
    }

    fn take_from(&mut self, input: &mut NodeSubscription, index: usize) -> Result<bool, Failure> {
        let (trace, clocked) = (self.trace, self.is_clocked());
        if !input.available.take() {
            return Ok(false);
        }
        trace.rclcpp_executor_execute(input.handle);
        let Some(message) = input.subscription.take()? else { return Ok(false) };
        let (header, start_ns) = first_line(trace, clocked, input.handle, input.callback, &message);
        // There may be more: the middleware need not announce them until the queue was empty.
        input.available.set();
        input.taken += 1;
        let (callback, latest) = (input.callback, input.latest);
        if self.task.is_some() {
            let lent = Lent { input: index, header, data: message.data() };
            self.subscription_callback(callback, latest, lent, start_ns)?;
        } else {
            // Nobody reads the data, so the middleware gets it back before the node computes.
            drop(message);
            self.subscription_callback(callback, latest, Lent { input: index, header, data: &[] }, start_ns)?;
        }
        Ok(true)
    }

    /// Whether the next callback reads the clock.
    fn is_clocked(&self) -> bool {
        self.log.is_some() || self.figures.first_message_ns.is_none()
    }

    /// Does what the callback of a subscription does from its second line on.
    fn subscription_callback(
        &mut self,
        callback: u64,
        latest: bool,
        lent: Lent<'_>,
        start_ns: i64,
    ) -> Result<(), Failure> {
        let Lent { input, header, .. } = lent;
        self.ending.hear(header.stamp_ns);
        self.figures.first_message_ns.get_or_insert(start_ns);
        self.content_ns = header.content_ns();
        match (latest, &mut self.task) {
            (true, Some(task)) => task.hear(lent),
            (true, None) => self.spend(Callback::Input(input)),
            (false, _) if self.joined.is_some() => self.publish_joined(lent)?,
            (false, _) => self.publish_answer(input, Some(lent))?,
        }
        if let Some(log) = &mut self.log {
            log.message(header.publisher, header.sequence, header.stamp_ns, start_ns);
            log.callback(false, input as u32, start_ns, monotonic_ns());
        }
        self.figures.callbacks += 1;
        self.trace.callback_end(callback);
        Ok(())
    }

    /// Runs a timer's callback, which computes once and publishes on each of `publishers`.
    fn timer_callback(&mut self, number: usize, publishers: &[Due]) -> Result<(), Failure> {
        let timer = self.timers[number].timer;
        self.trace.rclcpp_executor_execute(timer.handle);
        self.trace.callback_start(timer.callback, false);
        let start_ns = if self.log.is_some() { monotonic_ns() } else { 0 };
        self.publish_due(number, publishers)?;
        if let Some(log) = &mut self.log {
            log.callback(true, number as u32, start_ns, monotonic_ns());
        }
        self.figures.callbacks += 1;
        self.trace.callback_end(timer.callback);
        Ok(())
    }
}
