//! A node in virtual time: the steps of its executor, in the order of `tacho-node` (`runner/node/executor.rs`).

use crate::spread::Spread;
use crate::task::Activity;
use std::collections::VecDeque;
use std::rc::Rc;
use tacho_runner::instant::Grid;
use tacho_runner::node::matcher::{Matcher, Set};
use tacho_runner::node::timers::Served;
use tacho_workload::callbacks::{Answer, Drawing};
use tacho_workload::model::Executor;
use tacho_workload::random::Draws;

/// A message in a queue.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub publisher_id: u32,
    pub sequence: u64,
    pub stamp_ns: i64,
    /// Stamp of its content.
    pub content_ns: i64,
    /// Address of the object that the callback gets.
    pub address: u64,
    /// How long the system had sent nothing before it, ns.
    pub pause_ns: Option<i64>,
    /// What a task filled in; absent: nobody reads it.
    pub data: Option<Rc<Vec<u8>>>,
}

/// A subscription.
pub(crate) struct Subscription {
    pub handle: u64,
    pub callback: u64,
    pub latest: bool,
    /// What its callback takes.
    pub times: Drawing,
    /// What a task computes in its callback.
    pub task: Spread,
    /// What its callback publishes.
    pub answers: Vec<Answer>,
    /// Most messages that its queue holds.
    pub depth: usize,
    /// CPU time around the callback of a message, ns.
    pub around_ns: i64,
    pub queue: VecDeque<Message>,
    /// How many of them threads are about to take.
    pub claimed: usize,
}

impl Subscription {
    /// Whether it has a message that no thread is about to take.
    pub fn has_message(&self) -> bool {
        self.queue.len() > self.claimed
    }
}

/// A publisher.
pub(crate) struct Publisher {
    pub handle: u64,
    pub id: u32,
    pub sequence: u64,
    pub size: u64,
    pub rate_hz: Option<f64>,
    /// Address of the object that is published.
    pub message: u64,
    pub send: Spread,
    /// CPU time around the callback that publishes a message, ns.
    pub send_cpu_ns: i64,
    /// Links to its subscriptions.
    pub links: Vec<usize>,
}

/// A timer: address of its handle and of its callback, what that does, and the publishers that it serves.
pub(crate) struct Timer {
    pub handle: u64,
    pub callback: u64,
    pub times: Drawing,
    /// What a task computes in its callback.
    pub task: Spread,
    pub serves: Vec<Served>,
}

/// What a node does next. All but `Compute` and the waits take no time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Use the CPU for so long, ns.
    Compute(i64),
    /// Draw the work of an activation of the callback of an input, compute it, and sleep.
    WorkOf(usize),
    /// The same of a timer.
    WorkOfTimer(usize),
    /// Leave the CPU for so long, ns, inside a callback.
    Sleep(i64),
    /// Wait until the thread has the lock of its interpreter.
    TakeInterpreter,
    /// Give it away.
    GiveInterpreter,
    /// Look for timers that are due and messages, once around.
    Look,
    /// Look again if anything ran, or wait.
    Again,
    /// Take a message of a subscription, if there is one.
    Take(usize),
    /// The callback of a subscription begins with the first message of its queue.
    Begin(usize),
    /// The callback of a timer begins.
    BeginTimer(usize),
    /// A message that is due is not sent, so many times.
    Skip(usize, u64),
    /// The message that is published next was due then.
    Due(usize, i64),
    /// What is published next has this stamp.
    Stamp(i64),
    /// The next set of messages of several inputs is what it computes on.
    Join,
    /// Publish.
    Publish(usize),
    /// A callback ends.
    End(u64),
    /// A spinning node has woken.
    Wake,
    /// What it is to publish at this wake, after it has taken its messages.
    Serve,
    /// Sleep until the next wake.
    Rest,
}

/// What a node waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Nothing: it runs or is ready.
    Not,
    /// A time alone.
    ForTime,
    /// A message or a time.
    ForMessage,
    /// The end of a sleep inside a callback.
    InCallback,
    /// The lock of its interpreter.
    ForInterpreter,
}

/// A node.
pub(crate) struct Node {
    pub process: usize,
    /// Its executor.
    pub executed_by: usize,
    /// The thread that runs its callbacks; of several, the one that ran the last.
    pub worker: usize,
    /// Whether one of several threads runs a callback of it, so that no other one can.
    pub is_busy: bool,
    /// Whether several threads run its callbacks beside each other and beside themselves.
    pub is_reentrant: bool,
    pub handle: u64,
    pub name: String,
    pub executor: Executor,
    /// Whether its callbacks need the lock of an interpreter.
    pub is_in_python: bool,
    pub draws: Draws,
    /// Its task; absent: its work is a time.
    pub activity: Option<Activity>,
    /// Makes sets of its inputs; absent: it computes on each message alone.
    pub matcher: Option<Matcher<(usize, Message)>>,
    /// Sets that it has yet to compute on.
    pub sets: VecDeque<Set<(usize, Message)>>,
    /// Stamp of the content that it publishes next.
    pub content_ns: i64,
    pub subscriptions: Vec<Subscription>,
    pub publishers: Vec<Publisher>,
    pub timers: Vec<Timer>,
    /// When its timers are due, in the order of `timers`; of a spinning node when each publisher is.
    pub grids: Vec<Option<Grid>>,
    /// How many of each were served.
    pub served: Vec<u64>,
    /// Wakes of a spinning node, and the one that is next or just now.
    pub wakes: Option<Grid>,
    /// CPU time of such a wake-up, ns.
    pub check_ns: i64,
    /// CPU time before the callback of a timer that woke it, and of others of the same look, ns.
    pub timer_take_ns: i64,
    pub take_ns: i64,
    /// CPU time behind each callback, ns.
    pub after_ns: i64,
    /// Whether the clock of its thread says what its executor computes.
    pub has_clock: bool,
    pub wake: u64,
    /// Instant from which on it does nothing more.
    pub end_ns: i64,
    /// Whether a callback that runs took a message that was sent while sources ran.
    pub heard: bool,
    pub steps: VecDeque<Step>,
    /// CPU time that its executor and the middleware take for what ran, and that is not spent yet, ns.
    pub around_ns: i64,
    /// Whether anything ran since it last looked.
    pub ran: bool,
}

/// A callback that has begun of a node whose others run beside it: what is set aside while its thread lets time pass.
pub(crate) struct Begun {
    worker: usize,
    pub steps: VecDeque<Step>,
    around_ns: i64,
    content_ns: i64,
}

impl Node {
    /// Sets the callback aside that runs.
    pub fn set_aside(&mut self) -> Begun {
        let (steps, around_ns) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.around_ns));
        Begun { worker: self.worker, steps, around_ns, content_ns: self.content_ns }
    }

    /// Goes on with a callback that was set aside.
    pub fn go_on(&mut self, begun: Begun) {
        let Begun { worker, steps, around_ns, content_ns } = begun;
        (self.worker, self.steps, self.around_ns, self.content_ns) = (worker, steps, around_ns, content_ns);
    }

    /// Whether any message makes it compute.
    pub fn is_triggered(&self) -> bool {
        !matches!(self.executor, Executor::Timer { .. }) && self.subscriptions.iter().any(|s| !s.latest)
    }

    /// Puts steps before all others.
    pub fn first(&mut self, steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>) {
        for step in steps.into_iter().rev() {
            self.steps.push_front(step);
        }
    }

    /// Steps of a wait set on one thread: timers that are due, then each subscription, one callback at a time.
    pub fn look(&mut self, now: i64) {
        self.look_at_timers(now);
        self.steps.extend((0..self.subscriptions.len()).map(Step::Take));
        self.steps.push_back(Step::Again);
    }

    /// Steps of the timers that are due.
    pub fn look_at_timers(&mut self, now: i64) {
        self.ran = false;
        for timer in 0..self.grids.len() {
            self.ran |= self.serve_timer(timer, now, !self.ran);
        }
    }

    /// Steps of a timer, if it is due; `is_first`: of a look.
    pub fn serve_timer(&mut self, timer: usize, now: i64, is_first: bool) -> bool {
        let Some(grid) = &self.grids[timer] else { return false };
        let Some((due_ns, skipped)) = grid.serve(&mut self.served[timer], now) else { return false };
        self.run_timer(timer, due_ns, skipped, is_first);
        true
    }

    /// When each of its timers is due next.
    pub fn dues_ns(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let due =
            |(timer, (grid, served)): (usize, (&Option<Grid>, &u64))| Some((timer, grid.as_ref()?.due_ns(*served)));
        self.grids.iter().zip(&self.served).enumerate().filter_map(due)
    }

    fn run_timer(&mut self, timer: usize, due_ns: i64, skipped: u64, is_first: bool) {
        let serves = &mut self.timers[timer].serves;
        if skipped > 0 {
            let clocked = serves.iter().filter(|of| of.is_clocked);
            self.steps.extend(clocked.map(|of| Step::Skip(of.answer.publication, skipped)));
        }
        self.steps.extend(self.is_in_python.then_some(Step::TakeInterpreter));
        let take_ns = if is_first { self.timer_take_ns } else { self.take_ns };
        self.steps.extend([Step::Compute(take_ns), Step::BeginTimer(timer), Step::WorkOfTimer(timer)]);
        for of in serves.iter_mut() {
            let publisher = of.answer.publication;
            let stamp = if of.is_clocked { Step::Due(publisher, due_ns) } else { Step::Stamp(due_ns) };
            for _ in 0..of.answer.turns.due() {
                self.steps.extend([stamp, Step::Publish(publisher)]);
            }
        }
        self.steps.push_back(Step::End(self.timers[timer].callback));
    }

    /// The next instant at which one of its timers is due, or its end.
    pub fn next_due_ns(&self) -> i64 {
        self.dues_ns().fold(self.end_ns, |least_ns, (_, due_ns)| due_ns.min(least_ns))
    }

    /// Steps of a wake-up of a spinning node (study E): at most one message of each queue, then what is due.
    pub fn spin(&mut self) {
        self.steps.push_back(Step::Wake);
        self.steps.extend((0..self.subscriptions.len()).map(Step::Take));
        self.steps.extend([Step::Serve, Step::Rest]);
    }

    /// What is due at a wake of a spinning node: one computation for all of it.
    pub fn serve(&mut self) {
        let Some(at) = self.wakes.as_ref().map(|wakes| wakes.due_ns(self.wake)) else { return };
        let mut due = Vec::new();
        for publisher in 0..self.publishers.len() {
            let Some(grid) = &self.grids[publisher] else { continue };
            if let Some((due_ns, skipped)) = grid.serve(&mut self.served[publisher], at) {
                if skipped > 0 {
                    due.push(Step::Skip(publisher, skipped));
                }
                due.extend([Step::Due(publisher, due_ns), Step::Publish(publisher)]);
            }
        }
        let computes_alone = !self.is_triggered() && self.publishers.is_empty();
        if due.is_empty() && !computes_alone {
            return;
        }
        let skips = due.iter().filter(|step| matches!(step, Step::Skip(..))).copied();
        let lock = self.is_in_python.then_some(Step::TakeInterpreter);
        let mut steps: Vec<Step> = skips.chain(lock).chain([Step::BeginTimer(0), Step::WorkOfTimer(0)]).collect();
        steps.extend(due.iter().filter(|step| !matches!(step, Step::Skip(..))));
        steps.push(Step::End(self.timers[0].callback));
        self.first(steps);
    }

    /// What the callback of a subscription does after its first line.
    pub fn answer(&mut self, subscription: usize, message: Message) {
        let callback = self.subscriptions[subscription].callback;
        self.content_ns = message.content_ns;
        let is_joined = self.matcher.is_some() && !self.subscriptions[subscription].latest;
        if let Some(activity) = self.activity.as_mut().filter(|_| !is_joined) {
            activity.taken = Some((subscription, message.clone()));
        }
        let place = self.subscriptions[..subscription].iter().filter(|s| !s.latest).count();
        let mut steps = Vec::new();
        if self.subscriptions[subscription].latest {
            steps.push(Step::WorkOf(subscription));
        } else {
            let of = &mut self.subscriptions[subscription];
            let mut work = |steps: &mut Vec<Step>| {
                steps.push(Step::WorkOf(subscription));
                for answer in &mut of.answers {
                    let publish = Step::Publish(answer.publication);
                    steps.extend((0..answer.turns.due()).map(|_| publish));
                }
            };
            match &mut self.matcher {
                Some(matcher) => {
                    for set in matcher.add(place, message.content_ns, (subscription, message.clone())) {
                        self.sets.push_back(set);
                        steps.push(Step::Join);
                        work(&mut steps);
                    }
                }
                None => work(&mut steps),
            }
        }
        steps.push(Step::End(callback));
        self.first(steps);
    }
}
