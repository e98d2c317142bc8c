//! Runs a system in virtual time: nodes on the kernel's CPUs, messages between them.

mod callbacks;
mod ending;
mod events;
mod interpreter;
mod latencies;
mod messages;
mod several_threads;
mod wait_sets;

use callbacks::Callback;
use interpreter::Interpreter;
pub(crate) use latencies::Latencies;

use crate::executor::{Executor, Turn, Worker};
use crate::kernel::{Kernel, Thread};
use crate::node::{Message, Node, Step, Waits};
use crate::queue::{Queue, What};
use crate::spread::Spread;
use crate::trace::Trace;
use crate::warmth::{part, Pause, Warmth};
use std::collections::VecDeque;
use tacho_events::files::Failed;
use tacho_events::number;
use tacho_runner::window::Window;
use tacho_workload::random::Draws;

/// One publisher's way to one subscription.
pub(crate) struct Link {
    pub node: usize,
    pub subscription: usize,
    /// From the publish call to the arrival, without what hosts add.
    pub transit: Spread,
    /// From the arrival to the callback; empty if it is that of any message.
    pub wake_up: Spread,
    /// Whether the transit has the wake-up of the receiver.
    pub until_start: bool,
    /// What links between hosts add, ns, and how long one message occupies them.
    pub delay_ns: i64,
    pub occupies_ns: i64,
    /// Part of the messages that is lost on the way.
    pub loss: f64,
    /// CPU time of the middleware's threads at the receiver before a message is there, ns. They begin when it is sent:
    /// on a free CPU they are done before it arrives, as the transit was measured with them.
    pub receive_cpu_ns: i64,
    pub in_flight: VecDeque<Message>,
    /// How many of those in flight have had the time of their transit.
    pub travelled: usize,
    /// How many of those in flight the middleware's threads are done with.
    pub received: usize,
    /// When the last message arrived: none overtakes another.
    pub last_ns: i64,
    pub free_ns: i64,
}

/// A process, and the thread that stands for those of its middleware.
pub(crate) struct Process {
    pub name: String,
    pub pid: u32,
    pub helper: Thread,
    /// Its event file.
    pub file: usize,
    pub stream: usize,
    /// What that thread has to compute, ns, and the link whose message is there when it is done.
    pub jobs: VecDeque<(i64, usize)>,
    /// The thread that stands for all others of it, and what it has to compute after what it does now, ns; absent if
    /// that is not known apart from its executors.
    pub other: Option<(Thread, i64)>,
    /// How long it sent and took nothing.
    pub pause: Pause,
    /// Whose lock its callbacks in Python need.
    pub interpreter: Interpreter,
}

/// Whose thread it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Owner {
    Worker(usize),
    Middleware(usize),
    /// Of a process, but for its executors and its middleware.
    Other(usize),
    Background,
}

/// Thread ids and names, for the kernel's events.
pub(crate) struct Named {
    pub tid: u32,
    pub name: String,
    pub owner: Owner,
    pub is_named: bool,
}

/// A system in virtual time.
pub(crate) struct Simulation {
    pub kernel: Kernel,
    pub nodes: Vec<Node>,
    pub executors: Vec<Executor>,
    pub workers: Vec<Worker>,
    pub processes: Vec<Process>,
    pub links: Vec<Link>,
    pub threads: Vec<Named>,
    pub cpus: Vec<usize>,
    /// Of executors, by their number for it.
    pub latencies: Vec<Latencies>,
    /// What is left of costs after a pause.
    pub warmth: Vec<Warmth>,
    /// How long nobody sent anything.
    pub pause: Pause,
    pub trace: Trace,
    pub draws: Draws,
    /// Whether to write the kernel's events.
    pub scheduler: bool,
    pub queue: Queue,
    /// CPU time of each process until sources stop, ns; absent until then.
    pub used_ns: Option<Vec<i64>>,
    /// Why the task of a node failed, which ends the simulation.
    pub failure: Option<String>,
    /// When nodes run, unless they linger.
    pub window: Window,
    /// When the last of them ends, as known so far.
    pub last_ns: i64,
}

impl Simulation {
    /// Runs until nothing is left to do or all nodes ended. `progress` gets the time now and then. CPU time is counted
    /// until sources stop.
    pub fn run(&mut self, progress: &mut dyn FnMut(i64) -> bool) -> Result<bool, Failed> {
        let Window { start_ns, stop_ns, .. } = self.window;
        for thread in 0..self.threads.len() {
            if let Owner::Background = self.threads[thread].owner {
                self.wake(thread, i64::MAX / 4, 0, start_ns, None)?;
            }
        }
        for executor in 0..self.executors.len() {
            let of = &self.executors[executor];
            let begins_ns = self.nodes[of.first()].wakes.as_ref().map_or(start_ns, |wakes| wakes.due_ns(0));
            self.rest(of.workers[0], begins_ns, Waits::ForTime);
        }
        let mut looked = 0u32;
        while let Some((now, what)) = self.queue.pop() {
            if now >= stop_ns && self.used_ns.is_none() {
                self.used_ns = Some(self.used_so_far_ns());
            }
            if now > self.last_ns || self.failure.is_some() {
                break;
            }
            looked += 1;
            if looked.is_multiple_of(1 << 16) && !progress(now) {
                return Ok(false);
            }
            match what {
                What::Cpu(due) => {
                    if let Some(thread) = self.kernel.look(due, now) {
                        self.done(thread, now)?;
                    }
                }
                What::Alarm { worker, number } => {
                    let Worker { alarm, waits, .. } = self.workers[worker];
                    if alarm == number && waits == Waits::ForInterpreter {
                        self.ask_for_interpreter(worker, now)?;
                    } else if alarm == number && waits != Waits::Not {
                        let latencies = &self.latencies[self.executors[self.workers[worker].executor].latencies];
                        let of = match waits {
                            Waits::InCallback => &latencies.sleep,
                            _ => &latencies.timer,
                        };
                        let latency_ns = of.draw(&mut self.draws);
                        let process = self.workers[worker].process;
                        let latency_ns = part(latency_ns, self.warmth(process, self.pause.until(now), now).timer);
                        self.rouse(worker, latency_ns, now, None)?;
                    }
                }
                What::Called { worker, by } => {
                    let latency_ns = self.wake_up_ns(worker);
                    self.wake(self.workers[worker].thread, 0, latency_ns, now, Some(by))?;
                }
                What::Woken { worker, by } => self.wake(self.workers[worker].thread, 0, 0, now, by)?,
                What::Travelled { link } => {
                    self.links[link].travelled += 1;
                    self.deliver(link, now)?;
                }
                What::Send { link } => self.send(link, now)?,
            }
            self.follow_kernel(now)?;
        }
        self.used_ns = self.used_ns.take().or_else(|| Some(self.used_so_far_ns()));
        self.skip_rest()?;
        Ok(true)
    }

    fn used_so_far_ns(&self) -> Vec<i64> {
        let mut used_ns = vec![0; self.processes.len()];
        for (thread, named) in self.threads.iter().enumerate() {
            let process = match named.owner {
                Owner::Worker(worker) => self.workers[worker].process,
                Owner::Middleware(process) | Owner::Other(process) => process,
                Owner::Background => continue,
            };
            used_ns[process] += self.kernel.used_ns(thread);
        }
        used_ns
    }

    /// Takes over what the kernel decided.
    fn follow_kernel(&mut self, now: i64) -> Result<(), Failed> {
        for due in self.kernel.take_dues() {
            self.queue.push(due.at_ns, What::Cpu(due));
        }
        if !self.scheduler {
            self.kernel.take_switches();
            return Ok(());
        }
        for switch in self.kernel.take_switches() {
            let tid = |thread: Option<Thread>| thread.map_or(0, |thread| u64::from(self.threads[thread].tid));
            let words = [tid(switch.from), u64::from(!switch.preempted), tid(switch.to)];
            let is_new = |thread: &Thread| !self.threads[*thread].is_named;
            let news = [switch.from, switch.to].map(|thread| thread.filter(is_new));
            let stream = self.cpus[switch.cpu];
            let names = news.map(|thread| thread.map_or("", |thread| self.threads[thread].name.as_str()));
            self.trace.named(stream, now, number::sched_switch, &words, &names)?;
            news.into_iter().flatten().for_each(|thread| self.threads[thread].is_named = true);
        }
        Ok(())
    }

    /// Wakes a thread, for the waker `by`.
    fn wake(
        &mut self,
        thread: Thread,
        need_ns: i64,
        latency_ns: i64,
        now: i64,
        by: Option<Thread>,
    ) -> Result<(), Failed> {
        self.follow_kernel(now)?;
        self.kernel.wake(thread, need_ns, latency_ns, now);
        if self.scheduler {
            let cpu = self.kernel.cpu(thread);
            let by = by.map_or(0, |by| u64::from(self.threads[by].tid));
            let words = [u64::from(self.threads[thread].tid), cpu as u64, by];
            let name = if self.threads[thread].is_named { "" } else { self.threads[thread].name.as_str() };
            self.trace.named(self.cpus[cpu], now, number::sched_wakeup, &words, &[name])?;
            self.threads[thread].is_named = true;
        }
        self.follow_kernel(now)
    }

    /// A thread has done what it had to.
    fn done(&mut self, thread: Thread, now: i64) -> Result<(), Failed> {
        match self.threads[thread].owner {
            Owner::Worker(worker) => self.advance(worker, now),
            Owner::Middleware(process) => {
                let job = self.processes[process].jobs.pop_front();
                if let Some((_, link)) = job {
                    self.links[link].received += 1;
                    self.deliver(link, now)?;
                }
                match self.processes[process].jobs.front() {
                    Some((need_ns, _)) => self.kernel.go_on(thread, *need_ns, now),
                    None => self.kernel.sleep(thread, now),
                }
                Ok(())
            }
            Owner::Other(process) => {
                let left_ns = self.processes[process].other.as_mut().map_or(0, |(_, left_ns)| std::mem::take(left_ns));
                match left_ns {
                    0 => self.kernel.sleep(thread, now),
                    _ => self.kernel.go_on(thread, left_ns, now),
                }
                Ok(())
            }
            Owner::Background => {
                self.kernel.go_on(thread, i64::MAX / 4, now);
                Ok(())
            }
        }
    }

    /// Ends the wait of a thread of an executor.
    fn rouse(&mut self, worker: usize, latency_ns: i64, now: i64, by: Option<Thread>) -> Result<(), Failed> {
        let of = &mut self.workers[worker];
        let waited = std::mem::replace(&mut of.waits, Waits::Not);
        of.alarm += 1;
        let executor = &self.executors[of.executor];
        // Of a recorded node, the middleware takes this long, too, not only a CPU that was idle.
        let waits_first = waited != Waits::InCallback && self.nodes[executor.first()].has_clock;
        if waited != Waits::InCallback && executor.has_several_threads() {
            of.agenda.push_back(Turn::Find);
        } else if waited != Waits::InCallback && executor.events.is_some() {
            of.agenda.push_back(Turn::First);
        } else if waited != Waits::InCallback {
            // Its first node stands for all of them.
            let first = &mut self.nodes[executor.first()];
            match first.wakes {
                Some(_) => first.spin(),
                None => first.steps.push_back(Step::Look),
            }
            of.agenda.push_back(Turn::Of(executor.first()));
        }
        if waits_first && latency_ns > 0 {
            self.queue.push(now + latency_ns, What::Woken { worker, by });
            return Ok(());
        }
        self.wake(self.workers[worker].thread, 0, latency_ns, now, by)
    }

    /// Lets a thread of an executor wait until a time.
    fn rest(&mut self, worker: usize, until_ns: i64, waits: Waits) {
        let of = &mut self.workers[worker];
        of.waits = waits;
        of.alarm += 1;
        self.queue.push(until_ns, What::Alarm { worker, number: of.alarm });
    }

    /// The next step of a thread of an executor, and whose it is.
    fn next_step(&mut self, worker: usize, now: i64) -> Result<Option<(usize, Step)>, Failed> {
        loop {
            let of = &mut self.workers[worker];
            let Some(turn) = of.agenda.front().copied() else { return Ok(None) };
            match turn {
                Turn::Of(node) => match self.nodes[node].steps.pop_front() {
                    Some(step) => return Ok(Some((node, step))),
                    None => {
                        of.agenda.pop_front();
                        if self.executors[of.executor].has_several_threads() {
                            self.nodes[node].is_busy = false;
                            of.agenda.push_back(Turn::Find);
                        }
                    }
                },
                Turn::Take(node, subscription) => {
                    of.agenda.pop_front();
                    if now < self.nodes[node].end_ns {
                        of.agenda.push_front(Turn::Of(node));
                        self.nodes[node].steps.push_back(Step::Take(subscription));
                    }
                }
                Turn::Again => {
                    of.agenda.pop_front();
                    self.again(worker, now);
                }
                Turn::Find => {
                    of.agenda.pop_front();
                    self.find(worker, now)?;
                }
                Turn::First => {
                    of.agenda.pop_front();
                    self.run_first(worker, now);
                }
            }
        }
    }

    /// Lets a thread of an executor do what comes next, until that takes time.
    fn advance(&mut self, worker: usize, now: i64) -> Result<(), Failed> {
        self.take_up(worker);
        let done = self.go_on(worker, now);
        self.set_aside(worker);
        done
    }

    fn go_on(&mut self, worker: usize, now: i64) -> Result<(), Failed> {
        let Worker { executor, thread, stream, .. } = self.workers[worker];
        let is_shared = self.executors[executor].is_shared();
        while let Some((node, step)) = self.next_step(worker, now)? {
            let of = &mut self.nodes[node];
            match step {
                Step::Compute(ns) if ns > 0 => {
                    self.kernel.go_on(thread, ns, now);
                    return Ok(());
                }
                Step::Compute(_) => {}
                Step::WorkOf(subscription) => self.work(node, Callback::Input(subscription), now)?,
                Step::WorkOfTimer(timer) => self.work(node, Callback::Timer(timer), now)?,
                Step::Sleep(ns) if ns > 0 => {
                    self.rest(worker, now + ns, Waits::InCallback);
                    self.kernel.sleep(thread, now);
                    return Ok(());
                }
                Step::Sleep(_) => {}
                Step::TakeInterpreter => {
                    if !self.take_interpreter(worker, node, now) {
                        return Ok(());
                    }
                }
                Step::GiveInterpreter => self.give_interpreter(worker, node, now)?,
                Step::Stamp(content_ns) => of.content_ns = content_ns,
                Step::Look if is_shared => self.look_around(worker, now),
                Step::Look if now >= of.end_ns => {}
                Step::Look => of.look(now),
                Step::Again => {
                    let until_ns = of.next_due_ns();
                    let has_messages = of.subscriptions.iter().any(|s| !s.queue.is_empty());
                    if now >= of.end_ns {
                        break;
                    }
                    let is_ready = has_messages || until_ns <= now;
                    let latencies = &self.latencies[self.executors[executor].latencies];
                    if let Some(ns) = latencies.spent(of.ran, is_ready, of.around_ns) {
                        (of.ran, of.around_ns) = (false, of.around_ns - ns);
                        of.steps.extend([Step::Compute(ns), Step::Again]);
                    } else if of.ran || is_ready {
                        of.steps.push_back(Step::Look);
                    } else {
                        let waits = if of.subscriptions.is_empty() { Waits::ForTime } else { Waits::ForMessage };
                        self.rest(worker, until_ns, waits);
                    }
                }
                Step::Take(subscription) => {
                    if !of.subscriptions[subscription].queue.is_empty() {
                        of.ran = true;
                        let take_ns = self.latencies[self.executors[executor].latencies].take_ns;
                        of.first([Step::Compute(take_ns), Step::Begin(subscription)]);
                        of.first(of.is_in_python.then_some(Step::TakeInterpreter));
                    }
                }
                Step::Begin(subscription) => self.begin(node, subscription, now)?,
                Step::BeginTimer(timer) => {
                    let (handle, callback) = (of.timers[timer].handle, of.timers[timer].callback);
                    self.trace.put(stream, now, number::rclcpp_executor_execute, &[handle])?;
                    self.start(node, callback, now)?;
                }
                Step::Skip(publisher, count) => {
                    let words = [of.publishers[publisher].handle, count];
                    self.trace.put(stream, now, number::node_skipped, &words)?;
                }
                Step::Join => self.join(node, now)?,
                Step::Due(publisher, _) | Step::Publish(publisher) if !of.publishes(publisher) => {}
                Step::Due(publisher, due_ns) => {
                    of.content_ns = due_ns;
                    let of = &of.publishers[publisher];
                    self.trace.put(stream, now, number::node_due, &[of.handle, of.sequence, due_ns as u64])?;
                }
                Step::Publish(publisher) => self.publish(node, publisher, now)?,
                Step::End(callback) => {
                    self.trace.put(stream, now, number::callback_end, &[callback])?;
                    let used_ns = self.kernel.used_ns(thread) as u64;
                    self.trace.put(stream, now, number::callback_cpu, &[used_ns, 1])?;
                    if std::mem::take(&mut of.heard) {
                        self.linger(node, now);
                    }
                    let of = &mut self.nodes[node];
                    // Otherwise the thread spends it when it looks again, and before it waits.
                    of.first(of.is_in_python.then_some(Step::GiveInterpreter));
                    let executor = &self.executors[executor];
                    let is_in_the_gap = self.latencies[executor.latencies].take_ns == 0 || of.wakes.is_some();
                    if is_in_the_gap || executor.has_several_threads() || executor.events.is_some() {
                        let around_ns = std::mem::take(&mut of.around_ns);
                        of.first([Step::Compute(around_ns)]);
                    }
                }
                Step::Wake => {
                    self.trace.put(stream, now, number::node_wake, &[of.handle])?;
                    of.first([Step::Compute(of.check_ns)]);
                }
                Step::Serve => of.serve(),
                Step::Rest => {
                    let Some(wakes) = &of.wakes else { break };
                    of.wake = (of.wake + 1).max(wakes.due_by(now));
                    let at = wakes.due_ns(of.wake);
                    if at < of.end_ns {
                        self.rest(worker, at, Waits::ForTime);
                    }
                }
            }
        }
        self.kernel.sleep(thread, now);
        Ok(())
    }
}
