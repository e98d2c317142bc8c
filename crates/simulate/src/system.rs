//! Builds the system of a workload: processes, threads, nodes, links.

mod links;

use crate::costs::Costs;
use crate::executor::{Executor, Worker};
use crate::kernel::{Kernel, Thread};
use crate::node::{Node, Publisher, Subscription, Timer};
use crate::simulation::{Named, Owner, Process, Simulation};
use crate::spread::Spread;
use crate::task::Activity;
use crate::trace::Trace;
use crate::Simulator;
use std::collections::{BTreeMap, HashMap, VecDeque};
use tacho_events::files::Failed;
use tacho_runner::instant::Grid;
use tacho_runner::node::computation::TaskOfNode;
use tacho_runner::node::matcher::Matcher;
use tacho_runner::node::timers::{timers, PlannedTimer};
use tacho_runner::node::trace::Member;
use tacho_runner::phases::{self, group_seed, node_seed};
use tacho_runner::window::Window;
use tacho_workload::callbacks::Drawing;
use tacho_workload::model::{Executor as When, Node as OfWorkload, Qos, Scheduling, Workload};
use tacho_workload::random::{mix, Draws};

/// First process id.
const FIRST_PID: u32 = 1000;
/// Threads that compute all the time belong to a process of their own.
const BACKGROUND: &str = "background";

/// A system, and what is known of it before it runs.
pub(crate) struct System {
    pub simulation: Simulation,
    pub phases: BTreeMap<String, f64>,
    /// What is asked for beyond what was measured, or is not modelled.
    pub doubts: Vec<String>,
}

/// Which node of the workload, and which of its callback groups, a node of the system is.
#[derive(Debug, Clone, Copy)]
struct Of {
    index: usize,
    group: u64,
    has_inputs: bool,
}

/// The workload with a node for each callback group that can run beside others of its node.
fn by_group(workload: &Workload) -> (Workload, Vec<Of>) {
    let (mut nodes, mut of) = (Vec::new(), Vec::new());
    for (index, node) in workload.nodes.iter().enumerate() {
        let has_inputs = !node.subscribes.is_empty();
        if workload.threads_of(node) == 1 {
            nodes.push(node.clone());
            of.push(Of { index, group: 0, has_inputs });
            continue;
        }
        for (group, part) in (0..).zip(node.callback_groups()) {
            nodes.push(part.node);
            of.push(Of { index, group, has_inputs });
        }
    }
    (Workload { nodes, ..workload.clone() }, of)
}

/// What is being built.
struct Builder<'a> {
    /// A node for each callback group, and which each is.
    workload: &'a Workload,
    of: Vec<Of>,
    costs: &'a Costs,
    repeat: u32,
    window: Window,
    now: i64,
    trace: Trace,
    kernel: Kernel,
    threads: Vec<Named>,
    processes: Vec<Process>,
    /// Numbers of processes by name.
    numbers: HashMap<String, usize>,
    nodes: Vec<Node>,
    executors: Vec<Executor>,
    workers: Vec<Worker>,
    phases: BTreeMap<String, f64>,
    doubts: Vec<String>,
    /// The task of each node, until the node is built.
    tasks: Vec<Option<TaskOfNode>>,
    publisher_id: u32,
    tid: u32,
    address: u64,
}

/// Builds the system of one repeat of a workload, whose nodes have these tasks. Its processes begin at `now`.
pub(crate) fn build(
    simulator: &Simulator<'_>,
    workload: &Workload,
    tasks: Vec<Option<TaskOfNode>>,
    repeat: u32,
    window: Window,
    now: i64,
    mut trace: Trace,
) -> Result<System, Failed> {
    let Simulator { settings, scheduler, .. } = *simulator;
    let costs = simulator.costs_of(workload);
    let (grouped, of) = by_group(workload);
    let workload = &grouped;
    let kernel_file = scheduler.then(|| trace.add_process("kernel", 0, now));
    let cpus = match kernel_file {
        Some(file) => (0..settings.cpus).map(|cpu| trace.add_stream(file, cpu as u32)).collect(),
        None => vec![],
    };
    let mut builder = Builder {
        workload,
        of,
        costs,
        repeat,
        window,
        now,
        trace,
        kernel: Kernel::new(settings),
        threads: vec![],
        processes: vec![],
        numbers: HashMap::new(),
        nodes: vec![],
        executors: vec![],
        workers: vec![],
        phases: BTreeMap::new(),
        doubts: vec![],
        tasks,
        publisher_id: 0,
        tid: FIRST_PID,
        address: 0x1000,
    };
    for (index, node) in workload.nodes.iter().enumerate() {
        builder.node(index, node)?;
    }
    for _ in 0..workload.run.background_cpu {
        builder.tid += 1;
        builder.thread(BACKGROUND, builder.tid, Owner::Background, &[], None);
    }
    let links = builder.links();
    let latencies = builder.all_latencies();
    let Builder { trace, kernel, threads, processes, nodes, executors, workers, phases, doubts, .. } = builder;
    let draws = Draws::new(mix(mix(workload.run.seed ^ 0x7369_6d75) ^ u64::from(repeat)));
    let queue = Default::default();
    let simulation = Simulation {
        kernel,
        nodes,
        executors,
        workers,
        processes,
        links,
        threads,
        cpus,
        latencies,
        warmth: costs.warmth.clone(),
        pause: Default::default(),
        trace,
        draws,
        scheduler,
        queue,
        used_ns: None,
        failure: None,
        window,
        last_ns: window.end_ns,
    };
    Ok(System { simulation, phases, doubts })
}

impl Builder<'_> {
    /// A number that stands for the address of an object.
    fn address(&mut self) -> u64 {
        self.address += 0x10;
        self.address
    }

    fn thread(&mut self, name: &str, tid: u32, owner: Owner, cpus: &[u32], scheduling: Option<Scheduling>) -> Thread {
        // As in prctl(2), a name has 15 bytes.
        let name = name.char_indices().take_while(|(at, c)| at + c.len_utf8() <= 15).map(|(_, c)| c).collect();
        self.threads.push(Named { tid, name, owner, is_named: false });
        self.kernel.add(scheduling, cpus.iter().map(|cpu| *cpu as usize).collect())
    }

    /// The process of this name, and whether it is new.
    fn process(&mut self, name: &str) -> (usize, bool) {
        if let Some(known) = self.numbers.get(name) {
            return (*known, false);
        }
        let number = self.processes.len();
        self.numbers.insert(name.into(), number);
        self.tid += 1;
        let pid = self.tid;
        self.tid += 1;
        let helper_tid = self.tid;
        let file = self.trace.add_process(name, pid, self.now);
        let helper = self.thread(name, helper_tid, Owner::Middleware(number), &[], None);
        let stream = self.trace.add_stream(file, helper_tid);
        let jobs = VecDeque::new();
        let interpreter = Default::default();
        self.processes.push(Process {
            name: name.into(),
            pid,
            file,
            helper,
            stream,
            jobs,
            other: None,
            pause: Default::default(),
            interpreter,
        });
        (number, true)
    }

    fn node(&mut self, index: usize, of: &OfWorkload) -> Result<(), Failed> {
        let (run, now) = (&self.workload.run, self.now);
        let Of { index: in_workload, group, has_inputs } = self.of[index];
        let phase = phases::of_node(run, of, in_workload, self.repeat);
        self.phases.insert(of.name.clone(), phase);
        let (process, is_first) = self.process(&of.process);
        let shares = |known: &usize| of.thread.is_some() && self.workload.nodes[*known].thread == of.thread;
        let executed_by = match (0..index).find(shares) {
            Some(first) => {
                let executor = self.nodes[first].executed_by;
                self.executors[executor].add(index);
                executor
            }
            None => {
                let executor = self.executors.len();
                let mut workers = Vec::new();
                for number in 0..self.workload.threads_of(of) {
                    let tid = if is_first && number == 0 {
                        self.processes[process].pid
                    } else {
                        self.tid += 1;
                        self.tid
                    };
                    let (owner, name) = (Owner::Worker(self.workers.len()), of.thread.as_ref().unwrap_or(&of.name));
                    let thread = self.thread(name, tid, owner, run.cpus_of(&of.name), run.priority_of(&of.name));
                    let stream = self.trace.add_stream(self.processes[process].file, tid);
                    workers.push(self.workers.len());
                    self.workers.push(Worker::of(executor, process, thread, stream));
                }
                self.executors.push(Executor::of(index, workers, self.workload.is_on_events(of)));
                executor
            }
        };
        let worker = self.executors[executed_by].workers[0];
        let stream = self.workers[worker].stream;
        let handle = match group {
            0 => {
                let handle = self.address();
                self.trace.node(stream, now, handle, &of.name)?;
                if let Some((task, signals)) = self.tasks[in_workload].as_ref().map(TaskOfNode::signals) {
                    self.trace.signals(stream, now, handle, task, signals)?;
                }
                handle
            }
            _ => self.nodes[index - 1].handle,
        };
        let has_several_threads = self.executors[executed_by].has_several_threads();
        let is_reentrant = has_several_threads && of.is_reentrant();
        let of_group = (self.address(), !is_reentrant);
        let task = if group == 0 { self.tasks[in_workload].take() } else { None };
        let mut subscriptions = Vec::new();
        for s in &of.subscribes {
            let of_subscription = [self.address(), self.address(), self.address()];
            let symbol = format!("/{} on {}", of.name, s.topic);
            let declared = (s.topic.as_str(), u64::from(s.qos.depth));
            self.trace.subscription(stream, now, handle, of_subscription, declared, &symbol)?;
            if has_several_threads {
                self.trace.in_group(stream, now, of_group, (of_subscription[1], Member::Subscription))?;
            }
            subscriptions.push(Subscription {
                handle: of_subscription[0],
                callback: of_subscription[2],
                latest: of.only_keeps(s),
                times: Drawing::of(of.load_of_input(s)),
                task: self.task_cost(task.is_some(), &symbol),
                answers: of.answers_to_input(s),
                depth: depth(&s.qos),
                around_ns: 0,
                queue: VecDeque::new(),
                claimed: 0,
            });
        }
        let matched: Vec<&str> = of.subscribes.iter().filter(|s| !s.latest).map(|s| s.topic.as_str()).collect();
        let mut publishers = Vec::new();
        for p in &of.publishes {
            let (own, message) = (self.address(), self.address());
            self.trace.publisher(stream, now, handle, own, &p.topic, u64::from(p.qos.depth))?;
            publishers.push(Publisher {
                handle: own,
                id: self.publisher_id,
                sequence: 0,
                size: p.size_bytes,
                rate_hz: p.rate_hz,
                message,
                send: Spread::default(),
                send_cpu_ns: 0,
                links: vec![],
            });
            self.publisher_id += 1;
        }
        let start_ns = self.window.start_ns;
        let mut wakes = None;
        let planned = timers(of);
        let grids = match of.executor {
            When::Spin { hz } => {
                let grid = Grid::new(start_ns, phase, hz);
                wakes = Some(grid.clone());
                let due = |p: &Publisher| match p.rate_hz {
                    Some(hz) => Some(Grid::from_first(grid.first_ns(), hz)),
                    None => (!of.is_triggered()).then(|| grid.clone()),
                };
                publishers.iter().map(due).collect()
            }
            _ => {
                let of = |timer: &PlannedTimer| Grid::of_source(start_ns, phase, timer.hz, &timer.sent_at);
                planned.iter().map(|timer| Some(of(timer))).collect::<Vec<_>>()
            }
        };
        let mut of_timers = Vec::new();
        for PlannedTimer { hz, what, load, serves, .. } in planned {
            let [own, callback] = [self.address(), self.address()];
            let period_ns = (1e9 / hz).round() as i64;
            let symbol = format!("/{} {what}", of.name);
            self.trace.timer(stream, now, handle, [own, callback], period_ns, &symbol)?;
            if has_several_threads {
                self.trace.in_group(stream, now, of_group, (callback, Member::Timer))?;
            }
            let task = self.task_cost(task.is_some(), &symbol);
            let times = Drawing::of(load);
            of_timers.push(Timer { handle: own, callback, times, task, serves });
        }
        let check_ns = match of.executor {
            When::Spin { hz } => {
                let (check_ns, doubt) = self.costs.check(hz);
                self.doubts.extend(doubt.filter(|doubt| !self.doubts.contains(doubt)));
                check_ns
            }
            _ => 0,
        };
        let cost = self.costs.of_node(&of.name);
        let after_ns = cost.and_then(|cost| cost.after_ns);
        if after_ns.is_some() && self.processes[process].other.is_none() {
            self.tid += 1;
            let name = self.processes[process].name.clone();
            let thread = self.thread(&name, self.tid, Owner::Other(process), &[], None);
            self.processes[process].other = Some((thread, 0));
        }
        let end_ns = if has_inputs { self.window.end_ns } else { self.window.stop_ns };
        self.nodes.push(Node {
            process,
            executed_by,
            worker,
            is_busy: false,
            is_reentrant,
            handle,
            name: of.name.clone(),
            executor: of.executor,
            is_in_python: self.workload.is_in_python(of),
            activity: task.map(|task| Activity::of(task, publishers.len())),
            draws: Draws::new(group_seed(node_seed(run.seed, in_workload, self.repeat), group)),
            matcher: of.matching.as_ref().map(|matching| Matcher::new(matching, &matched)),
            sets: VecDeque::new(),
            content_ns: 0,
            subscriptions,
            publishers,
            timers: of_timers,
            served: vec![0; grids.len()],
            grids,
            wakes,
            check_ns,
            timer_take_ns: cost.map_or(0, |cost| cost.timer_take_ns),
            take_ns: after_ns.and(cost).map_or(0, |cost| cost.take_ns),
            after_ns: after_ns.unwrap_or(0),
            has_clock: after_ns.is_some(),
            wake: 0,
            end_ns,
            heard: false,
            steps: VecDeque::new(),
            around_ns: 0,
            ran: false,
        });
        Ok(())
    }

    /// What a task computes in a callback.
    fn task_cost(&mut self, is_task: bool, callback: &str) -> Spread {
        let cost = self.costs.of_task(callback).filter(|_| is_task);
        if is_task && cost.is_none() {
            self.doubts.push(format!("{callback}: no run shows what its task computes, so it takes no time here"));
        }
        cost.cloned().unwrap_or_default()
    }
}

fn depth(qos: &Qos) -> usize {
    if qos.keep_all {
        usize::MAX
    } else {
        qos.depth.max(1) as usize
    }
}
