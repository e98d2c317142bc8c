//! The tables of one run as lints look at them.

use super::ran::{executors, Executor, Ran, Thread};
use crate::figures::Repeat;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use tacho_analysis::queue::Traffic;
use tacho_analysis::Options;
use tacho_events::run::Load;
use tacho_tables::near::partition_near;
use tacho_tables::row::{numbered, rows_of, Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{
    Callback, CallbackKind, Delivery, Endpoint, Execution, LostIn, Message, Node, Process, Publication, Tables,
};
use tacho_workload::model::{self, ByName, Workload};

/// Why callbacks in Python get no callback groups (docs/explain.md has the measurement): until a thread of the pool
/// begins with a callback, the main thread submits it again and again, and gives the interpreter away only after
/// `sys.getswitchinterval()`, which is 5 ms.
pub(crate) const POOL_DELAYS: &str = "rclpy's MultiThreadedExecutor may delay every callback by milliseconds";

/// A topic: what its rows are rows of.
pub struct Topic;

/// What one subscription got, and what it did not.
#[derive(Clone, Copy)]
pub struct Received<'a> {
    /// (publish time, take time) by publish time.
    pub taken: &'a [(i64, i64)],
    /// The lost ones: publish time, and where, if it is recorded.
    pub lost: &'a [(i64, Option<LostIn>)],
}

pub struct Facts<'a> {
    pub tables: &'a Tables,
    pub workload: Option<&'a Workload>,
    by_name: Option<ByName<'a>>,
    /// Complete executions in the window, of coroutines the first part of each call, by callback, by start.
    of_callback: Grouped<Callback, Ran>,
    /// Outermost complete executions in the window, by process and thread, by start.
    of_thread: Grouped<Thread, Ran>,
    /// Place of each thread among those.
    threads: BTreeMap<Thread, Row<Thread>>,
    /// Publish times in the window by topic, in order.
    published: Grouped<Topic, i64>,
    /// Place of each topic among those.
    topics: HashMap<&'a str, Row<Topic>>,
    /// See [`Received`], by endpoint.
    taken: Grouped<Endpoint, (i64, i64)>,
    lost: Grouped<Endpoint, (i64, Option<LostIn>)>,
    /// States of each managed node: state, from, to.
    pub states: Column<Node, Vec<(&'a str, i64, i64)>>,
    /// Of each callback the time inside it, ns, that its thread could have gone on and had no CPU, and that it was
    /// blocked.
    off_cpu: HashMap<Row<Callback>, (i64, i64)>,
    /// What else the machine did.
    pub load: Option<&'a Load>,
    /// The transport that the workload names, or else the one that its middleware took; empty where neither is known.
    pub transport: &'a str,
    /// What is judged: the measured window without the start-up of the system, or from the first to the last of what
    /// happened.
    pub window: (i64, i64),
    options: Options,
    /// Once they are asked for.
    executors: OnceLock<Vec<Executor>>,
    ros1: OnceLock<HashSet<Row<Process>>>,
}

impl<'a> Facts<'a> {
    pub fn new(repeat: &Repeat<'a>, workload: Option<&'a Workload>) -> Facts<'a> {
        let (tables, options) = (repeat.tables, repeat.options);
        let measured = || tables.executions.iter().filter(|e| options.judges(e.start_ns));
        let ran = || measured().filter_map(Ran::of);
        // The execution of a goal that no callback is told of is nobody's time: what of it its thread worked is not
        // known.
        let is_told = |ran: &Ran| {
            let of = &tables.callbacks[ran.callback];
            of.kind != CallbackKind::Action || of.address != 0
        };
        let thread = |ran: &Ran| (tables.callbacks[ran.callback].process, ran.tid);
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        let mut threads: BTreeMap<Thread, Row<Thread>> = BTreeMap::new();
        for ran in ran() {
            first = first.min(ran.start_ns);
            last = last.max(ran.end_ns);
            if is_told(&ran) {
                let next = Row::behind(threads.len());
                threads.entry(thread(&ran)).or_insert(next);
            }
        }
        let outermost = || {
            let mut until: Column<Thread, i64> = Column::of(vec![i64::MIN; threads.len()]);
            let threads = &threads;
            ran().filter(is_told).filter_map(move |ran| {
                let place = threads[&thread(&ran)];
                // Rows stand in the order of their starts; what began inside another is a part of that.
                let until = &mut until[place];
                (*until <= ran.start_ns).then(|| {
                    *until = ran.end_ns;
                    (place, ran)
                })
            })
        };
        let of_callback = Grouped::new(tables.callbacks.len(), || {
            measured().filter(|e| e.resumes.is_none()).filter_map(Ran::of).map(|ran| (ran.callback, ran))
        });
        let of_thread = Grouped::new(threads.len(), outermost);
        let mut topics: HashMap<&str, Row<Topic>> = HashMap::default();
        for endpoint in &tables.endpoints {
            let next = Row::behind(topics.len());
            topics.entry(&endpoint.topic).or_insert(next);
        }
        let topic_of: Column<Endpoint, Row<Topic>> =
            Column::of(tables.endpoints.iter().map(|endpoint| topics[endpoint.topic.as_str()]));
        let mut published = Grouped::new(topics.len(), || {
            publications(tables, options).map(|row| (topic_of[row.publisher], row.publish_ns))
        });
        for topic in topics.values().copied() {
            let times = published.of_mut(topic);
            times.sort_unstable();
            first = first.min(times.first().copied().unwrap_or(i64::MAX));
            last = last.max(times.last().copied().unwrap_or(i64::MIN));
        }
        let (messages, endpoints) = (|| messages(tables, options), tables.endpoints.len());
        let mut taken = Grouped::new(endpoints, || {
            let taken = messages().filter(|m| m.delivery != Delivery::Lost);
            taken.filter_map(|m| Some((m.subscription, (m.publish_ns.get()?, m.take_ns.get()?))))
        });
        rows_of(&tables.endpoints).for_each(|subscription| taken.of_mut(subscription).sort_unstable());
        let lost = Grouped::new(endpoints, || {
            let lost = messages().filter(|m| m.delivery == Delivery::Lost);
            lost.filter_map(|m| Some((m.subscription, (m.publish_ns.get()?, m.lost_in))))
        });
        let from = options.measured_from_ns.max(options.started_ns);
        let window = (from.unwrap_or(first), options.measured_to_ns.unwrap_or(last));
        let states = Column::of(rows_of(&tables.nodes).map(|node| crate::figures::lifecycle::stretches(repeat, node)));
        let load = repeat.info.and_then(|info| info.load.as_ref());
        let mut off_cpu: HashMap<Row<Callback>, (i64, i64)> = HashMap::default();
        for execution in measured() {
            if let Some((runnable_ns, blocked_ns)) = execution.off_cpu_ns() {
                let (runnable, blocked) = off_cpu.entry(execution.callback).or_default();
                (*runnable, *blocked) = (*runnable + runnable_ns, *blocked + blocked_ns);
            }
        }
        let default = |w: &Workload| Some(repeat.info?.transports.get(&w.middleware)?.first()?.as_str());
        let transport =
            workload.and_then(|w| Some(w.transport.as_str()).filter(|t| !t.is_empty()).or_else(|| default(w)));
        Facts {
            tables,
            workload,
            by_name: workload.map(ByName::of),
            of_callback,
            of_thread,
            threads,
            published,
            topics,
            taken,
            lost,
            states,
            off_cpu,
            load,
            transport: transport.unwrap_or(""),
            window,
            options,
            executors: OnceLock::new(),
            ros1: OnceLock::new(),
        }
    }

    /// Time inside a callback, ns, that its thread could have gone on and had no CPU, and that it was blocked; zeros if
    /// the two are not told apart.
    pub fn off_cpu_ns(&self, callback: Row<Callback>) -> (i64, i64) {
        let of = self.off_cpu.get(&callback).copied();
        of.filter(|(runnable, blocked)| self.are_told_apart(*runnable, *blocked)).unwrap_or_default()
    }

    /// Whether the hypervisor took much, and no scheduler event shows what it took.
    pub fn is_stolen(&self) -> bool {
        self.tables.preemptions.is_empty() && self.load.is_some_and(Load::steals_much)
    }

    /// Whether time off the CPU, ns, is known to be sleep if most of it was not ready to run. Steal is no sleep: all of
    /// it may have hit these executions.
    pub fn are_told_apart(&self, runnable_ns: i64, blocked_ns: i64) -> bool {
        let stolen_s = self.load.filter(|_| self.is_stolen()).and_then(Load::stolen_s);
        runnable_ns >= blocked_ns || blocked_ns as f64 > 1e9 * stolen_s.unwrap_or(0.0)
    }

    /// The node of the workload that has this full name.
    pub fn node(&self, full_name: &str) -> Option<&'a model::Node> {
        self.by_name.as_ref()?.called(full_name)
    }

    /// Whether an instant is judged.
    pub fn judges(&self, ns: i64) -> bool {
        self.options.judges(ns)
    }

    /// Whether a process is of ROS 1, whose timers and services are put into a queue.
    pub fn is_ros1(&self, process: Row<Process>) -> bool {
        let ros1 = self.ros1.get_or_init(|| {
            let queued = self.tables.executions.iter().filter(|execution| execution.queued_ns.get().is_some());
            queued.map(|execution| self.tables.callbacks[execution.callback].process).collect()
        });
        ros1.contains(&process)
    }

    /// What to do with a callback in Python that others wait for.
    pub fn apart_in_python(&self, name: &str, shared: &str) -> String {
        format!(
            "{name} on a thread of its own if it waits{shared}, in a process of its own if it computes, because \
             threads of Python take turns in one interpreter ({POOL_DELAYS}); or less work in it"
        )
    }

    /// Executors, and what their threads ran.
    pub fn executors(&self) -> &[Executor] {
        self.executors.get_or_init(|| executors(&self.tables.executors, self.threads()))
    }

    /// Executions that are judged, whether or not they ended.
    pub fn executions(&self) -> impl Iterator<Item = &'a Execution> {
        let options = self.options;
        self.tables.executions.iter().filter(move |execution| options.judges(execution.start_ns))
    }

    /// Publish calls that are judged.
    pub fn publications(&self) -> impl Iterator<Item = &'a Publication> {
        publications(self.tables, self.options)
    }

    /// Messages that are judged.
    pub fn messages(&self) -> impl Iterator<Item = &'a Message> {
        messages(self.tables, self.options)
    }

    /// Complete executions of a callback in the window, of coroutines the first part of each call, by start.
    pub fn ran(&self, callback: Row<Callback>) -> &[Ran] {
        self.of_callback.of(callback)
    }

    /// Threads, as (process, thread), with their outermost complete executions in the window, by start.
    pub fn threads(&self) -> impl Iterator<Item = (Thread, &[Ran])> {
        self.threads.iter().map(|(thread, place)| (*thread, self.of_thread.of(*place)))
    }

    /// Publish times of a topic in the window, in order.
    pub fn published(&self, topic: &str) -> &[i64] {
        self.topics.get(topic).map_or(&[][..], |place| self.published.of(*place))
    }

    /// Subscriptions that were sent anything, with what came of it.
    pub fn received(&self) -> impl Iterator<Item = (Row<Endpoint>, Received<'_>)> {
        let of = |subscription| Received { taken: self.taken.of(subscription), lost: self.lost.of(subscription) };
        rows_of(&self.tables.endpoints)
            .map(move |row| (row, of(row)))
            .filter(|(_, r)| !(r.taken.is_empty() && r.lost.is_empty()))
    }

    /// Length of the window; 0 where nothing happened.
    pub fn window_ns(&self) -> i64 {
        self.window.1.saturating_sub(self.window.0).max(0)
    }

    /// As people know it.
    pub fn callback(&self, callback: Row<Callback>) -> String {
        self.tables.callbacks[callback].name(&self.tables.nodes, &self.tables.processes).to_string()
    }

    /// Whether a subscription of a callback's node lost messages.
    pub fn loses_inputs(&self, callback: Row<Callback>) -> bool {
        let Some(node) = self.tables.callbacks[callback].node else { return false };
        let mut endpoints = numbered(&self.tables.endpoints);
        endpoints.any(|(row, endpoint)| endpoint.node == node && !self.lost.of(row).is_empty())
    }

    /// Node and topic of an endpoint.
    pub fn endpoint(&self, endpoint: Row<Endpoint>) -> (String, &'a str) {
        let row = &self.tables.endpoints[endpoint];
        (self.tables.nodes[row.node].name.clone(), &row.topic)
    }

    /// Process of an endpoint.
    pub fn process_of(&self, endpoint: Row<Endpoint>) -> Row<Process> {
        self.tables.nodes[self.tables.endpoints[endpoint].node].process
    }

    /// What a subscription took, and all that was published on its topic.
    pub fn traffic<'b>(&'b self, subscription: Row<Endpoint>, received: Received<'b>) -> Traffic<'b> {
        let topic = self.tables.endpoints[subscription].topic.as_str();
        Traffic { taken: received.taken, published: self.published(topic) }
    }

    /// Timers with a period of real time, and their executions. Those of a node that subscribes to /clock may follow
    /// simulated time.
    pub fn timers(&self) -> impl Iterator<Item = (Row<Callback>, i64, &[Ran])> {
        let simulated: HashSet<Row<Node>> =
            self.tables.endpoints.iter().filter(|e| e.is_clock()).map(|e| e.node).collect();
        let real = move |callback: &&Callback| callback.node.is_none_or(|node| !simulated.contains(&node));
        numbered(&self.tables.callbacks).filter(move |(_, callback)| real(callback)).filter_map(|(row, callback)| {
            let period = callback.period_ns.filter(|p| *p > 0 && callback.kind == CallbackKind::Timer)?;
            Some((row, period, self.ran(row)))
        })
    }

    /// Time that a thread spent inside callbacks other than `but`, between two instants, and which of them longest.
    /// `near`: where the look-up before ended.
    pub fn busy_with_others(
        &self,
        thread: Thread,
        but: Row<Callback>,
        (from, to): (i64, i64),
        near: &mut usize,
    ) -> (i64, Option<Row<Callback>>) {
        let rows = self.threads.get(&thread).map_or(&[][..], |place| self.of_thread.of(*place));
        // A few: looking through all is fastest.
        let mut by_callback: Vec<(Row<Callback>, i64)> = Vec::new();
        for ran in rows[partition_near(rows, near, |r| r.end_ns <= from)..].iter().take_while(|r| r.start_ns < to) {
            if ran.callback != but {
                let ns = ran.end_ns.min(to) - ran.start_ns.max(from);
                match by_callback.iter_mut().find(|(callback, _)| *callback == ran.callback) {
                    Some((_, known)) => *known += ns,
                    None => by_callback.push((ran.callback, ns)),
                }
            }
        }
        let most = by_callback.iter().max_by_key(|(callback, ns)| (*ns, std::cmp::Reverse(*callback)));
        (by_callback.iter().map(|(_, ns)| ns).sum(), most.map(|(callback, _)| *callback))
    }
}

/// Tables have those of the measured window; of them the ones that were sent once the system had started.
fn publications(tables: &Tables, options: Options) -> impl Iterator<Item = &Publication> {
    let started = move |ns: i64| options.started_ns.is_none_or(|started| ns >= started);
    tables.publications.iter().filter(move |row| started(row.publish_ns))
}

fn messages(tables: &Tables, options: Options) -> impl Iterator<Item = &Message> {
    let started = move |ns: i64| options.started_ns.is_none_or(|started| ns >= started);
    tables.messages.iter().filter(move |row| row.publish_ns.get().or(row.take_ns.get()).is_none_or(started))
}

/// `12.3 ms`, `45.6 us`.
pub fn time(ns: i64) -> String {
    match ns.unsigned_abs() {
        0..=999 => format!("{ns} ns"),
        1_000..=999_999 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// `12.3 %`.
pub fn percent(part: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}
