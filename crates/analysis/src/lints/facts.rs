//! The tables of one run as lints look at them.

use crate::figures::Repeat;
use crate::queue::Traffic;
use crate::tables::{Callback, CallbackKind, Delivery, Execution, LostIn, Message, Tables};
use std::collections::{HashMap, HashSet};
use tacho_workload::model::Workload;

/// An execution that ended.
#[derive(Debug, Clone, Copy)]
pub struct Ran {
    pub callback: u32,
    /// Of its process.
    pub tid: u32,
    pub start_ns: i64,
    pub end_ns: i64,
}

/// What one subscription got, and what it did not.
#[derive(Default)]
pub struct Received {
    /// (publish time, take time) by publish time.
    pub taken: Vec<(i64, i64)>,
    /// The lost ones: publish time, and where, if it is recorded.
    pub lost: Vec<(i64, Option<LostIn>)>,
}

pub struct Facts<'a> {
    pub tables: &'a Tables,
    pub workload: Option<&'a Workload>,
    /// Complete executions in the window, by callback, by start.
    pub of_callback: Vec<Vec<Ran>>,
    /// Outermost complete executions in the window, by process and thread, by start.
    pub of_thread: HashMap<(u32, u32), Vec<Ran>>,
    /// Publish times in the window by topic, in order.
    pub published: HashMap<&'a str, Vec<i64>>,
    /// By subscription.
    pub received: HashMap<u32, Received>,
    /// States of each managed node: state, from, to.
    pub states: Vec<Vec<(&'a str, i64, i64)>>,
    /// Measured window, or from the first to the last of what happened.
    pub window: (i64, i64),
}

impl<'a> Facts<'a> {
    pub fn new(repeat: &Repeat<'a>, workload: Option<&'a Workload>) -> Facts<'a> {
        let (tables, options) = (repeat.tables, repeat.options);
        let mut of_callback = vec![Vec::new(); tables.callbacks.len()];
        let mut of_thread: HashMap<(u32, u32), Vec<Ran>> = HashMap::new();
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        let complete = |e: &Execution| {
            let (callback, tid, start_ns) = (e.callback, e.tid, e.start_ns);
            Some(Ran { callback, tid, start_ns, end_ns: e.end_ns? })
        };
        let rows = tables.executions.iter().filter(|e| options.measures(e.start_ns));
        for ran in rows.filter_map(complete) {
            first = first.min(ran.start_ns);
            last = last.max(ran.end_ns);
            of_callback[ran.callback as usize].push(ran);
            let process = tables.callbacks[ran.callback as usize].process;
            let thread = of_thread.entry((process, ran.tid)).or_default();
            // Rows stand in the order of their starts; what began inside another is a part of that.
            if thread.last().is_none_or(|outer: &Ran| outer.end_ns <= ran.start_ns) {
                thread.push(ran);
            }
        }
        let mut published: HashMap<&str, Vec<i64>> = HashMap::new();
        for row in &tables.publications {
            first = first.min(row.publish_ns);
            last = last.max(row.publish_ns);
            published.entry(&tables.endpoints[row.publisher as usize].topic).or_default().push(row.publish_ns);
        }
        published.values_mut().for_each(|times| times.sort_unstable());
        let mut received: HashMap<u32, Received> = HashMap::new();
        for Message { subscription, publish_ns, take_ns, delivery, lost_in, .. } in &tables.messages {
            let of = received.entry(*subscription).or_default();
            match (publish_ns, take_ns, delivery) {
                (Some(published), _, Delivery::Lost) => of.lost.push((*published, *lost_in)),
                (Some(published), Some(taken), _) => of.taken.push((*published, *taken)),
                _ => {}
            }
        }
        received.values_mut().for_each(|of| of.taken.sort_unstable());
        let window = (options.measured_from_ns.unwrap_or(first), options.measured_to_ns.unwrap_or(last));
        let states = (0..tables.nodes.len() as u32).map(|node| crate::lifecycle::stretches(repeat, node)).collect();
        Facts { tables, workload, of_callback, of_thread, published, received, states, window }
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
    pub fn traffic<'b>(&'b self, subscription: u32, received: &'b Received) -> Traffic<'b> {
        let topic = self.tables.endpoints[subscription as usize].topic.as_str();
        Traffic { taken: &received.taken, published: self.published.get(topic).map_or(&[][..], Vec::as_slice) }
    }

    /// Timers with a period of real time, and their executions. Those of a node that subscribes to /clock may follow simulated time.
    pub fn timers(&self) -> impl Iterator<Item = (u32, i64, &[Ran])> {
        let simulated: HashSet<u32> = self.tables.endpoints.iter().filter(|e| crate::simulated::is_clock(e)).map(|e| e.node).collect();
        let real = move |callback: &&Callback| callback.node.is_none_or(|node| !simulated.contains(&node));
        self.tables.callbacks.iter().enumerate().filter(move |(_, callback)| real(callback)).filter_map(|(row, callback)| {
            let period = callback.period_ns.filter(|p| *p > 0 && callback.kind == CallbackKind::Timer)?;
            Some((row as u32, period, self.of_callback[row].as_slice()))
        })
    }

    /// Time that a thread spent inside callbacks other than `but`, between two instants, and which of them longest.
    pub fn busy_with_others(&self, thread: (u32, u32), but: u32, from: i64, to: i64) -> (i64, Option<u32>) {
        let rows = self.of_thread.get(&thread).map_or(&[][..], Vec::as_slice);
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
