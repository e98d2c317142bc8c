//! The tables of one run as lints look at them.

use crate::figures::Repeat;
use crate::link::queue::Traffic;
use crate::rows::grouped::Grouped;
use crate::tables::{Callback, CallbackKind, Delivery, Execution, LostIn, OffCpu, Tables};
use std::collections::{BTreeMap, HashMap, HashSet};
use tacho_events::run::Load;
use tacho_workload::model::Workload;

/// An execution that ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ran {
    pub callback: u32,
    /// Of its process.
    pub tid: u32,
    pub start_ns: i64,
    pub end_ns: i64,
    /// CPU time of its thread meanwhile, where it is known.
    pub cpu_ns: Option<i64>,
}

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
    /// Complete executions in the window, of coroutines the first part of each call, by callback, by start.
    of_callback: Grouped<Ran>,
    /// Outermost complete executions in the window, by process and thread, by start.
    of_thread: Grouped<Ran>,
    /// Place of each thread among those.
    threads: BTreeMap<(u32, u32), u32>,
    /// Publish times in the window by topic, in order.
    published: Grouped<i64>,
    /// Place of each topic among those.
    topics: HashMap<&'a str, u32>,
    /// See [`Received`], by endpoint.
    taken: Grouped<(i64, i64)>,
    lost: Grouped<(i64, Option<LostIn>)>,
    /// States of each managed node: state, from, to.
    pub states: Vec<Vec<(&'a str, i64, i64)>>,
    /// Of each callback the time inside it, ns, that its thread could have gone on and had no CPU, and that it was blocked.
    pub off_cpu: HashMap<u32, (i64, i64)>,
    /// What else the machine did.
    pub load: Option<&'a Load>,
    /// Measured window, or from the first to the last of what happened.
    pub window: (i64, i64),
}

impl<'a> Facts<'a> {
    pub fn new(repeat: &Repeat<'a>, workload: Option<&'a Workload>) -> Facts<'a> {
        let (tables, options) = (repeat.tables, repeat.options);
        let complete = |e: &Execution| {
            let (callback, tid, start_ns) = (e.callback, e.tid, e.start_ns);
            Some(Ran { callback, tid, start_ns, end_ns: e.end_ns?, cpu_ns: e.cpu_ns })
        };
        let measured = || tables.executions.iter().filter(|e| options.measures(e.start_ns));
        let ran = || measured().filter_map(complete);
        // The execution of a goal that no callback is told of is nobody's time: what of it its thread worked is not known.
        let is_told = |ran: &Ran| {
            let of = &tables.callbacks[ran.callback as usize];
            of.kind != CallbackKind::Action || of.address != 0
        };
        let thread = |ran: &Ran| (tables.callbacks[ran.callback as usize].process, ran.tid);
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        let mut threads: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for ran in ran() {
            first = first.min(ran.start_ns);
            last = last.max(ran.end_ns);
            if is_told(&ran) {
                let next = threads.len() as u32;
                threads.entry(thread(&ran)).or_insert(next);
            }
        }
        let outermost = || {
            let mut until = vec![i64::MIN; threads.len()];
            let threads = &threads;
            ran().filter(is_told).filter_map(move |ran| {
                let place = threads[&thread(&ran)];
                // Rows stand in the order of their starts; what began inside another is a part of that.
                let until = &mut until[place as usize];
                (*until <= ran.start_ns).then(|| {
                    *until = ran.end_ns;
                    (place, ran)
                })
            })
        };
        let of_callback = Grouped::new(tables.callbacks.len(), || {
            measured().filter(|e| e.resumes.is_none()).filter_map(complete).map(|ran| (ran.callback, ran))
        });
        let of_thread = Grouped::new(threads.len(), outermost);
        let mut topics: HashMap<&str, u32> = HashMap::new();
        for endpoint in &tables.endpoints {
            let next = topics.len() as u32;
            topics.entry(&endpoint.topic).or_insert(next);
        }
        let topic_of: Vec<u32> = tables.endpoints.iter().map(|endpoint| topics[endpoint.topic.as_str()]).collect();
        let mut published =
            Grouped::new(topics.len(), || tables.publications.iter().map(|row| (topic_of[row.publisher as usize], row.publish_ns)));
        for topic in 0..topics.len() {
            let times = published.of_mut(topic);
            times.sort_unstable();
            first = first.min(times.first().copied().unwrap_or(i64::MAX));
            last = last.max(times.last().copied().unwrap_or(i64::MIN));
        }
        let (messages, endpoints) = (|| tables.messages.iter(), tables.endpoints.len());
        let mut taken = Grouped::new(endpoints, || {
            let taken = messages().filter(|m| m.delivery != Delivery::Lost);
            taken.filter_map(|m| Some((m.subscription, (m.publish_ns?, m.take_ns?))))
        });
        (0..endpoints).for_each(|subscription| taken.of_mut(subscription).sort_unstable());
        let lost = Grouped::new(endpoints, || {
            let lost = messages().filter(|m| m.delivery == Delivery::Lost);
            lost.filter_map(|m| Some((m.subscription, (m.publish_ns?, m.lost_in))))
        });
        let window = (options.measured_from_ns.unwrap_or(first), options.measured_to_ns.unwrap_or(last));
        let states = (0..tables.nodes.len() as u32).map(|node| crate::figures::lifecycle::stretches(repeat, node)).collect();
        let mut off_cpu: HashMap<u32, (i64, i64)> = HashMap::new();
        for row in &tables.preemptions {
            let Some(execution) = row.execution.map(|e| &tables.executions[e as usize]).filter(|e| options.measures(e.start_ns)) else { continue };
            let (runnable, blocked) = off_cpu.entry(execution.callback).or_default();
            match row.state {
                OffCpu::Runnable => *runnable += row.to_ns - row.from_ns,
                OffCpu::Blocked => *blocked += row.to_ns - row.from_ns,
                OffCpu::Interrupted => {}
            }
        }
        let load = repeat.info.and_then(|info| info.load.as_ref());
        Facts { tables, workload, of_callback, of_thread, threads, published, topics, taken, lost, states, off_cpu, load, window }
    }

    /// Complete executions of a callback in the window, of coroutines the first part of each call, by start.
    pub fn ran(&self, callback: u32) -> &[Ran] {
        self.of_callback.of(callback as usize)
    }

    /// Threads, as (process, thread), with their outermost complete executions in the window, by start.
    pub fn threads(&self) -> impl Iterator<Item = ((u32, u32), &[Ran])> {
        self.threads.iter().map(|(thread, place)| (*thread, self.of_thread.of(*place as usize)))
    }

    /// Publish times of a topic in the window, in order.
    pub fn published(&self, topic: &str) -> &[i64] {
        self.topics.get(topic).map_or(&[][..], |place| self.published.of(*place as usize))
    }

    /// Subscriptions that were sent anything, with what came of it.
    pub fn received(&self) -> impl Iterator<Item = (u32, Received<'_>)> {
        let of = |subscription: usize| Received { taken: self.taken.of(subscription), lost: self.lost.of(subscription) };
        (0..self.tables.endpoints.len()).map(move |row| (row as u32, of(row))).filter(|(_, r)| !(r.taken.is_empty() && r.lost.is_empty()))
    }

    /// Length of the window; 0 where nothing happened.
    pub fn window_ns(&self) -> i64 {
        self.window.1.saturating_sub(self.window.0).max(0)
    }

    /// `/fusion timer 100 ms`, `/ndt /points`.
    pub fn callback(&self, callback: u32) -> String {
        let row = &self.tables.callbacks[callback as usize];
        let node = row.node.map(|n| self.tables.nodes[n as usize].name.clone());
        let node = node.unwrap_or_else(|| format!("process {}", self.tables.processes[row.process as usize].pid));
        match (&row.topic, row.period_ns) {
            (Some(topic), _) => format!("{node} {topic}"),
            (None, Some(period)) => format!("{node} timer {} ms", period as f64 / 1e6),
            _ => format!("{node} callback {:#x}", row.address),
        }
    }

    /// Node and topic of an endpoint.
    pub fn endpoint(&self, endpoint: u32) -> (String, &'a str) {
        let row = &self.tables.endpoints[endpoint as usize];
        (self.tables.nodes[row.node as usize].name.clone(), &row.topic)
    }

    /// Process of an endpoint.
    pub fn process_of(&self, endpoint: u32) -> u32 {
        self.tables.nodes[self.tables.endpoints[endpoint as usize].node as usize].process
    }

    /// What a subscription took, and all that was published on its topic.
    pub fn traffic<'b>(&'b self, subscription: u32, received: Received<'b>) -> Traffic<'b> {
        let topic = self.tables.endpoints[subscription as usize].topic.as_str();
        Traffic { taken: received.taken, published: self.published(topic) }
    }

    /// Timers with a period of real time, and their executions. Those of a node that subscribes to /clock may follow simulated time.
    pub fn timers(&self) -> impl Iterator<Item = (u32, i64, &[Ran])> {
        let simulated: HashSet<u32> = self.tables.endpoints.iter().filter(|e| crate::observe::simulated::is_clock(e)).map(|e| e.node).collect();
        let real = move |callback: &&Callback| callback.node.is_none_or(|node| !simulated.contains(&node));
        self.tables.callbacks.iter().enumerate().filter(move |(_, callback)| real(callback)).filter_map(|(row, callback)| {
            let period = callback.period_ns.filter(|p| *p > 0 && callback.kind == CallbackKind::Timer)?;
            Some((row as u32, period, self.ran(row as u32)))
        })
    }

    /// Time that a thread spent inside callbacks other than `but`, between two instants, and which of them longest.
    pub fn busy_with_others(&self, thread: (u32, u32), but: u32, from: i64, to: i64) -> (i64, Option<u32>) {
        let rows = self.threads.get(&thread).map_or(&[][..], |place| self.of_thread.of(*place as usize));
        let mut by_callback: HashMap<u32, i64> = HashMap::new();
        for ran in rows[rows.partition_point(|r| r.end_ns <= from)..].iter().take_while(|r| r.start_ns < to) {
            if ran.callback != but {
                *by_callback.entry(ran.callback).or_default() += ran.end_ns.min(to) - ran.start_ns.max(from);
            }
        }
        let most = by_callback.iter().max_by_key(|(callback, ns)| (**ns, std::cmp::Reverse(**callback)));
        (by_callback.values().sum(), most.map(|(callback, _)| *callback))
    }
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
