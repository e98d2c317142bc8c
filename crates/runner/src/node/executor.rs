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
    /// What its timer publishes; kept to allocate nothing while it runs.
    due: Vec<Due>,
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

/// When a timer of a node is due, and how many of its due times were served.
struct Timed {
    node: usize,
    timer: usize,
    grid: Grid,
    served: u64,
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

/// The thread of one node or of several.
pub struct SharedThread {
    signal: Arc<Signal>,
    is_alone: bool,
}

impl SharedThread {
    /// Of these nodes.
    pub fn of(session: &Session, nodes: &[&NodePlan]) -> anyhow::Result<SharedThread> {
        // Messages do not wake a spinning node, so it must record when they arrived.
        let waits = |plan: &&NodePlan| !matches!(plan.node.executor, Executor::Spin { .. }) && !plan.inputs.is_empty();
        let polls = session.middleware().has_descriptors() && nodes.iter().any(waits);
        let signal = Arc::new(if polls { Signal::descriptor()? } else { Signal::condition() });
        Ok(SharedThread { signal, is_alone: nodes.len() == 1 })
    }
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
        thread: &SharedThread,
    ) -> anyhow::Result<NodeExecutor> {
        let signal = thread.signal.clone();
        let handle = entities::node(session, plan, &trace)?;
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
            && thread.is_alone
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
            due: Vec::new(),
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

    /// Runs nodes on the calling thread from `start_ns` to `stop_ns`, one callback at a time. Takes inputs until
    /// `end_ns`, and [longer](Ending) while messages still arrive, or until it is stopped, or until one of them fails.
    /// Returns the figures of each whatever ended it, and why a node ended before.
    pub fn run(
        nodes: &mut [NodeExecutor],
        start_ns: i64,
        stop_ns: i64,
        end_ns: i64,
    ) -> (Vec<NodeFigures>, Result<(), (String, Failure)>) {
        for node in nodes.iter_mut() {
            node.ending.set(stop_ns, if node.subscriptions.is_empty() { stop_ns } else { end_ns });
        }
        let last_ns = nodes.iter().map(|node| node.ending.ns()).max().unwrap_or(end_ns);
        sleep_until(start_ns.min(last_ns));
        let cpu_before = thread_cpu_ns();
        let result = match nodes {
            [node] => match node.executor {
                Executor::Spin { hz } => {
                    let wakes = Grid::new(start_ns, node.phase, hz);
                    node.spin(wakes).map_err(|failure| (node.name.clone(), failure))
                }
                _ => NodeExecutor::on_arrival(nodes, start_ns),
            },
            _ => NodeExecutor::on_arrival(nodes, start_ns),
        };
        let cpu_ns = thread_cpu_ns() - cpu_before;
        // What the thread used cannot be divided among its nodes: the first has all of it.
        let figures = nodes.iter_mut().enumerate().map(|(index, node)| node.ended(if index == 0 { cpu_ns } else { 0 }));
        (figures.collect(), result)
    }

    /// Its figures at its end.
    fn ended(&mut self, cpu_ns: u64) -> NodeFigures {
        self.figures.cpu_ns = cpu_ns;
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
        self.figures.clone()
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
    /// With several nodes, as an executor of rclcpp does: first the timers of all, then of each subscription that had a
    /// message before the first callback of the round at most one.
    fn on_arrival(nodes: &mut [NodeExecutor], start_ns: i64) -> Result<(), (String, Failure)> {
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
        let served = self.timers[timer].serves.iter_mut().filter_map(|of| of.turns.next().then_some(&*of));
        due.extend(served.map(|of| Due { publisher: of.publisher, due_ns, is_clocked: of.is_clocked }));
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
