//! Runs callbacks: on arrival, at a spin rate, or on a timer.

mod arrival;
mod events;
mod publishing;
mod reentrant;
mod several_threads;
mod spinning;

use publishing::{Callback, Due};

use crate::instant::{sleep_until, Grid, StopTime};
use crate::node::clock_log::ClockLog;
use crate::node::computation::{Lent, TaskOfNode, TaskPlan};
use crate::node::ending::Ending;
use crate::node::entities::{self, NodePublisher, NodeSubscription, Timer};
use crate::node::failure::Failure;
use crate::node::interpreter::{Interpreter, INTERPRETER};
use crate::node::joined::Joined;
use crate::node::signal::{Arrivals, Interrupt, Signal};
use crate::node::timers::{timers, Served};
use crate::node::trace::{Member, Trace};
use crate::protocol::{NodeFigures, NodePlan, OutputFigures};
use std::sync::Arc;
use std::time::Duration;
use tacho_middleware::{Error, Handle, Header, NodeHandle, Received, Session};
use tacho_recording::clock::{monotonic_ns, thread_cpu_ns};
use tacho_workload::callbacks::{Answer, Drawing};
use tacho_workload::model::{on_events, threads, Executor};
use tacho_workload::random::{mix, Draws};

/// The node of which an executor runs the callbacks, or one group of them.
pub struct Whole {
    handle: NodeHandle,
    has_inputs: bool,
}

impl Whole {
    /// Makes the node itself.
    pub fn new(session: &Session, plan: &NodePlan, trace: &Trace) -> Result<Whole, Error> {
        let handle = entities::node(session, plan, trace)?;
        Ok(Whole { handle, has_inputs: !plan.node.subscribes.is_empty() })
    }
}

/// A node, or one of its callback groups, with its entities, ready to run.
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
    arrivals: Option<Arc<Arrivals>>,
    /// What its timer publishes; kept to allocate nothing while it runs.
    due: Vec<Due>,
    /// Whether several threads run its callbacks beside each other and beside themselves.
    is_reentrant: bool,
    /// Whether the thread waits inside the middleware: the middleware can do so, and one subscription is all that it
    /// waits for.
    waits_inside: bool,
    /// Whether an interrupt ends that wait, so that it needs no limit.
    is_interruptible: bool,
    /// Whether its node has inputs, so that it goes on while sent messages can arrive.
    has_inputs: bool,
    ending: Ending,
    trace: Trace,
    /// Whose lock its callbacks need, if they are in Python.
    interpreter: Option<&'static Interpreter>,
    /// The clock in the node, if requested.
    pub log: Option<ClockLog>,
    figures: NodeFigures,
}

/// What the callback of a subscription does.
struct OnInput {
    times: Drawing,
    answers: Vec<Answer>,
}

/// A timer and what its callback does.
struct OnTimer {
    timer: Timer,
    hz: f64,
    /// When a recorded source sent; empty of a periodic one.
    sent_at: Vec<Duration>,
    times: Drawing,
    serves: Vec<Served>,
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

/// The thread of one node or of several, or the threads of several.
pub struct SharedThread {
    signal: Arc<Signal>,
    /// Of an events executor: what came for its nodes.
    arrivals: Option<Arc<Arrivals>>,
    is_alone: bool,
    threads: usize,
}

impl SharedThread {
    /// Of these nodes.
    pub fn of(session: &Session, nodes: &[&NodePlan]) -> anyhow::Result<SharedThread> {
        // Messages do not wake a spinning node, so it must record when they arrived.
        let waits = |plan: &&NodePlan| !matches!(plan.node.executor, Executor::Spin { .. }) && !plan.inputs.is_empty();
        let polls = session.middleware().has_descriptors() && nodes.iter().any(waits);
        let signal = Arc::new(if polls { Signal::descriptor()? } else { Signal::condition() });
        let of_workload = || nodes.iter().map(|plan| &plan.node);
        // A single callback has no order.
        let callbacks: usize = of_workload().map(|node| node.subscribes.len() + timers(node).len()).sum();
        let arrivals = (on_events(of_workload()) && callbacks > 1).then(Arc::default);
        Ok(SharedThread { signal, arrivals, is_alone: nodes.len() == 1, threads: threads(of_workload()) })
    }

    /// How many threads they have.
    pub fn threads(&self) -> usize {
        self.threads
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
    /// Makes the entities of a node or of one of its groups.
    pub fn new(
        session: &Session,
        whole: &Whole,
        plan: &NodePlan,
        stop: Arc<StopTime>,
        trace: Trace,
        log: bool,
        thread: &SharedThread,
    ) -> anyhow::Result<NodeExecutor> {
        let signal = thread.signal.clone();
        let Whole { handle, has_inputs } = whole;
        let subscriptions = plan
            .node
            .subscribes
            .iter()
            .zip(&plan.inputs)
            .map(|(s, input)| {
                let by = (&signal, thread.arrivals.as_ref());
                entities::subscription(session, handle, s, input, plan.node.only_keeps(s), by, trace)
            })
            .collect::<Result<Vec<_>, Error>>()?;
        // A separate sequence, so that the draws of work do not depend on the content of messages.
        let mut payload = Draws::new(mix(plan.seed));
        let publishers = plan
            .node
            .publishes
            .iter()
            .zip(&plan.outputs)
            .map(|(p, output)| entities::publisher(session, handle, p, output, &mut payload, &trace))
            .collect::<Result<Vec<_>, Error>>()?;
        let timers: Vec<_> = timers(&plan.node)
            .into_iter()
            .map(|planned| OnTimer {
                timer: entities::timer(handle, planned.hz, &planned.what, &trace),
                hz: planned.hz,
                sent_at: planned.sent_at,
                times: Drawing::of(planned.load),
                serves: planned.serves,
            })
            .collect();
        let is_reentrant = thread.threads > 1 && plan.node.is_reentrant();
        if thread.threads > 1 {
            let group = entities::address();
            let join = |object, what| trace.in_group(group, object, what, !is_reentrant);
            subscriptions.iter().for_each(|s| join(s.object, Member::Subscription));
            timers.iter().for_each(|of| join(of.timer.callback, Member::Timer));
        }
        let on_input = |input| OnInput {
            times: Drawing::of(plan.node.load_of_input(input)),
            answers: plan.node.answers_to_input(input),
        };
        let on_input = plan.node.subscribes.iter().map(on_input).collect();
        let waits_inside = matches!(plan.node.executor, Executor::Arrival)
            && timers.is_empty()
            && subscriptions.len() == 1
            && thread.is_alone
            && thread.threads == 1
            && !plan.node.python
            && session.middleware().has_call_within();
        let task = TaskOfNode::of(&TaskPlan::of(plan, !timers.is_empty()))?;
        if let Some(task) = &task {
            task.announce(trace, handle.handle.0);
        }
        Ok(NodeExecutor {
            name: plan.node.name.clone(),
            handle: handle.handle,
            traced: handle.traced,
            executor: plan.node.executor,
            phase: plan.phase,
            on_input,
            joined: Joined::of(&plan.node, &subscriptions),
            content_ns: 0,
            task,
            draws: Draws::new(plan.seed),
            subscriptions,
            publishers,
            timers,
            signal,
            arrivals: thread.arrivals.clone(),
            due: Vec::new(),
            is_reentrant,
            waits_inside,
            is_interruptible: waits_inside && session.middleware().has_wake(),
            has_inputs: *has_inputs,
            ending: Ending::by(stop),
            trace,
            interpreter: plan.node.python.then_some(&INTERPRETER),
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

    /// Runs nodes from `start_ns` to `stop_ns` on the calling thread, one callback at a time, or on several threads,
    /// one callback of each node at a time. Takes inputs until `end_ns`, and [longer](Ending) while messages still
    /// arrive, or until it is stopped, or until one of them fails. Returns the figures of each whatever ended it, and
    /// why a node ended before.
    pub fn run(
        nodes: &mut [NodeExecutor],
        threads: usize,
        start_ns: i64,
        stop_ns: i64,
        end_ns: i64,
    ) -> (Vec<NodeFigures>, Result<(), (String, Failure)>) {
        for node in nodes.iter_mut() {
            node.ending.set(stop_ns, if node.has_inputs { end_ns } else { stop_ns });
        }
        let last_ns = nodes.iter().map(|node| node.ending.ns()).max().unwrap_or(end_ns);
        sleep_until(start_ns.min(last_ns));
        let cpu_before = thread_cpu_ns();
        let result = match nodes {
            _ if threads > 1 => NodeExecutor::on_threads(nodes, threads, start_ns),
            [NodeExecutor { executor: Executor::Spin { hz }, phase, name, .. }] => {
                let (wakes, name) = (Grid::new(start_ns, *phase, *hz), name.clone());
                nodes[0].spin(wakes).map(|()| 0).map_err(|failure| (name, failure))
            }
            [NodeExecutor { arrivals: Some(arrivals), .. }, ..] => {
                let arrivals = arrivals.clone();
                NodeExecutor::on_events(nodes, start_ns, &arrivals).map(|()| 0)
            }
            _ => NodeExecutor::on_arrival(nodes, start_ns).map(|()| 0),
        };
        // What threads used cannot be divided among their nodes: the first has all of it.
        let cpu_ns = thread_cpu_ns() - cpu_before + *result.as_ref().unwrap_or(&0);
        let figures = nodes.iter_mut().enumerate().map(|(index, node)| node.ended(if index == 0 { cpu_ns } else { 0 }));
        (figures.collect(), result.map(drop))
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
        if !input.available.take() {
            return Ok(false);
        }
        self.take_interpreter();
        let taken = self.take_message(input, index);
        self.give_interpreter();
        taken
    }

    fn take_interpreter(&self) {
        self.interpreter.iter().for_each(|interpreter| interpreter.take());
    }

    fn give_interpreter(&self) {
        self.interpreter.iter().for_each(|interpreter| interpreter.give());
    }

    fn take_message(&mut self, input: &mut NodeSubscription, index: usize) -> Result<bool, Failure> {
        let (trace, clocked) = (self.trace, self.is_clocked());
        trace.rclcpp_executor_execute(input.handle);
        let Some(message) = input.subscription.take()? else { return Ok(false) };
        let (header, start_ns) = first_line(trace, clocked, input.handle, input.callback, &message);
        // There may be more: the middleware need not announce them until the queue was empty.
        input.available.set_again();
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

    /// A callback took a message.
    fn hear(&mut self, header: &Header, start_ns: i64) {
        self.ending.hear(header.stamp_ns);
        self.figures.first_message_ns.get_or_insert(start_ns);
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
        self.hear(&header, start_ns);
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
        self.take_interpreter();
        let done = self.run_timer(number, timer, publishers);
        self.give_interpreter();
        done
    }

    fn run_timer(&mut self, number: usize, timer: Timer, publishers: &[Due]) -> Result<(), Failure> {
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
