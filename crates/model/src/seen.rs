//! What tables show of each callback: how often it ran, what it took, what it published.

use crate::calls::Calls;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tacho_events::run::RunInfo;
use tacho_tables::publish_calls::PublishCalls;
use tacho_tables::row::Row;
use tacho_tables::{Callback, Endpoint, Execution, OffCpu, Process, Slowdowns, Tables};

/// Topics of the client library itself.
pub fn is_of_library(topic: &str) -> bool {
    matches!(topic, "/rosout" | "/parameter_events" | "ros_discovery_info") || !topic.starts_with('/')
}

/// Executions of a callback in Python that no other one ran beside, from which on they stand for the others.
const LEAST_ALONE: usize = 20;

/// Executions of callbacks in Python during which another thread of the process ran one, too.
fn beside_another_in_python(tables: &Tables) -> HashSet<Row<Execution>> {
    let mut of_processes: BTreeMap<Row<Process>, Vec<(i64, i64, u32, Row<Execution>)>> = BTreeMap::new();
    for (row, execution) in tables.executions.numbered() {
        let callback = &tables.callbacks[execution.callback];
        if let (true, Some(end_ns)) = (callback.is_python(), execution.end_ns.get()) {
            let spans = of_processes.entry(callback.process).or_default();
            spans.push((execution.start_ns, end_ns, execution.tid, row));
        }
    }
    let mut beside = HashSet::new();
    for spans in of_processes.values_mut() {
        spans.sort_unstable();
        for (at, (_, end_ns, tid, row)) in spans.iter().enumerate() {
            let later = spans[at + 1..].iter().take_while(|(start_ns, ..)| start_ns < end_ns);
            for (.., other) in later.filter(|(_, _, other, _)| other != tid) {
                beside.extend([*row, *other]);
            }
        }
    }
    beside
}

/// A callback with its executions in the window that counts.
#[derive(Debug, Default)]
pub struct CallbackSeen {
    /// Times that it ran and ended.
    pub runs: u64,
    /// When each started, ns.
    pub started_ns: Vec<i64>,
    /// CPU time of each, without its publish calls; wall time where that is not known, ns. As on a CPU that is as fast
    /// as it usually was.
    pub work_ns: Vec<i64>,
    /// Whether that is wall time.
    pub is_wall: bool,
    /// Time of each off the CPU, ns; empty where it is not known.
    pub off_ns: Vec<i64>,
    /// Whether another thread ran a callback in Python beside each; as long as `off_ns`.
    beside: Vec<bool>,
    /// Whether those times may have waits for the interpreter.
    pub has_waits_for_interpreter: bool,
    /// Whether each published.
    pub published: Vec<bool>,
    /// What it published, by topic.
    pub topics: BTreeMap<String, Sent>,
    /// Threads that it ran on.
    pub tids: BTreeSet<u32>,
}

/// What a callback published on a topic.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    /// Publish calls.
    pub calls: u64,
    /// Executions that published.
    pub runs: u64,
    /// Stretches of executions in a row that did.
    pub bursts: u64,
    /// Number of the last execution that did, from 1.
    last: u64,
}

impl Sent {
    /// Counts a call in an execution of this number, from 1.
    pub(crate) fn add(&mut self, run: u64) {
        self.calls += 1;
        if self.last != run {
            self.runs += 1;
            self.bursts += u64::from(self.last == 0 || self.last + 1 < run);
            self.last = run;
        }
    }
}

impl CallbackSeen {
    /// A callback in Python that another one ran beside may have waited for the interpreter, which the twin does
    /// itself: the time off the CPU of the last execution without counts instead. If there are too few of these, they
    /// all keep theirs.
    fn leave_out_waits(&mut self) {
        let alone = self.beside.iter().filter(|beside| !**beside).count();
        if alone == self.beside.len() {
            return;
        }
        if alone < LEAST_ALONE {
            self.has_waits_for_interpreter = true;
            return;
        }
        let first = self.beside.iter().position(|beside| !*beside).unwrap_or(0);
        let mut last_ns = self.off_ns[first];
        for (off_ns, beside) in self.off_ns.iter_mut().zip(&self.beside) {
            if !*beside {
                last_ns = *off_ns;
            }
            *off_ns = last_ns;
        }
    }

    /// Some executions of several callbacks, as if of one: in the order in which they started, because each time may
    /// depend on the one before.
    pub fn together<'a>(
        callbacks: impl Iterator<Item = &'a CallbackSeen>,
        counts: impl Fn(&CallbackSeen, usize) -> bool,
    ) -> CallbackSeen {
        let mut all = CallbackSeen::default();
        let mut executions = Vec::new();
        for of in callbacks {
            let counted = (0..of.work_ns.len()).filter(|index| counts(of, *index));
            executions.extend(counted.map(|index| (of.started_ns[index], of.work_ns[index], of.off_ns.get(index))));
            all.is_wall |= of.is_wall;
        }
        executions.sort_by_key(|(started_ns, ..)| *started_ns);
        for (_, work_ns, off_ns) in executions {
            all.work_ns.push(work_ns);
            all.off_ns.extend(off_ns);
        }
        all
    }
}

/// All that is seen.
pub struct Seen {
    /// By callback, without what it did for service calls.
    pub callbacks: HashMap<Row<Callback>, CallbackSeen>,
    /// What took requests or responses, by their subscription; and the callback.
    pub handlers: HashMap<Row<Endpoint>, (Row<Callback>, CallbackSeen)>,
    /// Publish calls outside of callbacks by publisher: their times.
    pub outside: HashMap<Row<Endpoint>, Vec<i64>>,
    /// Whether no execution has its CPU time.
    pub is_wall: bool,
    /// Begin of the window, ns.
    pub from_ns: i64,
    /// Its end, ns.
    pub to_ns: i64,
}

impl Seen {
    /// In the tables of a run, with its service calls. `endpoints`: those of the run, and behind them those of calls.
    pub fn of(tables: &Tables, info: &RunInfo, calls: &Calls, endpoints: &[Endpoint]) -> Seen {
        let times =
            || tables.executions.iter().map(|e| e.start_ns).chain(tables.publications.iter().map(|p| p.publish_ns));
        let from_ns = info.measured_from_ns.or_else(|| times().min()).unwrap_or(0);
        let to_ns = info.measured_to_ns.or_else(|| times().max()).unwrap_or(0);
        let is_measured = |ns: i64| ns >= from_ns && ns <= to_ns;
        let mut published: HashMap<Row<Execution>, Vec<(i64, Row<Endpoint>)>> = HashMap::new();
        let mut outside: HashMap<Row<Endpoint>, Vec<i64>> = HashMap::new();
        let publications = tables.publications.iter().map(|of| (of.publish_ns, of.publisher, of.execution));
        for (at_ns, publisher, execution) in publications.chain(calls.sent()) {
            match execution {
                Some(row) => published.entry(row).or_default().push((at_ns, publisher)),
                None => outside.entry(publisher).or_default().push(at_ns),
            }
        }
        let mut blocked: HashMap<Row<Execution>, i64> = HashMap::new();
        for interval in &tables.preemptions {
            if let (Some(row), OffCpu::Blocked) = (interval.execution, interval.state) {
                *blocked.entry(row).or_default() += interval.to_ns - interval.from_ns;
            }
        }
        let beside = beside_another_in_python(tables);
        let slow = Slowdowns::of(&tables.slowdowns);
        let has_scheduler = !tables.preemptions.is_empty();
        let publish_calls = PublishCalls::of_callbacks(tables, &published);
        let taken_in = calls.taken_in();
        let mut handlers: HashMap<Row<Endpoint>, (Row<Callback>, CallbackSeen)> = HashMap::new();
        let mut callbacks: HashMap<Row<Callback>, CallbackSeen> = HashMap::new();
        for (row, execution) in tables.executions.numbered().filter(|(_, e)| is_measured(e.start_ns)) {
            let Some(end_ns) = execution.end_ns.get() else { continue };
            let callback = execution.callback;
            let of = match taken_in.get(&row) {
                Some(subscription) => {
                    &mut handlers.entry(*subscription).or_insert((callback, CallbackSeen::default())).1
                }
                None => callbacks.entry(callback).or_default(),
            };
            let sent = published.get(&row).map_or(&[][..], Vec::as_slice);
            let wall_ns = end_ns - execution.start_ns;
            let calls_ns = publish_calls.get(&callback).map_or(0, |calls| calls.took_ns(sent, execution));
            of.runs += 1;
            of.started_ns.push(execution.start_ns);
            of.is_wall |= execution.cpu_ns.get().is_none();
            let work_ns = (execution.cpu_ns.get().unwrap_or(wall_ns) - calls_ns).max(0);
            let process = tables.callbacks[callback].process;
            of.work_ns.push(match slow.at(process, execution.tid, execution.start_ns) {
                Some(slow) => (work_ns as f64 / slow.callbacks_factor) as i64,
                None => work_ns,
            });
            if let Some(cpu_ns) = execution.cpu_ns.get() {
                // What others took of its CPU is the machine's, not the callback's.
                let off_ns = match execution.runnable_ns.get() {
                    Some(runnable_ns) => wall_ns - cpu_ns - runnable_ns,
                    None if has_scheduler => blocked.get(&row).copied().unwrap_or(0),
                    None => wall_ns - cpu_ns,
                };
                of.off_ns.push(off_ns.max(0));
                of.beside.push(beside.contains(&row));
            }
            of.published.push(!sent.is_empty());
            of.tids.insert(execution.tid);
            for (_, publisher) in sent {
                of.topics.entry(endpoints[publisher.index()].topic.clone()).or_default().add(of.runs);
            }
        }
        let all = callbacks.values_mut().chain(handlers.values_mut().map(|(_, of)| of));
        all.for_each(CallbackSeen::leave_out_waits);
        let is_wall =
            !callbacks.is_empty() && tables.executions.iter().all(|execution| execution.cpu_ns.get().is_none());
        Seen { callbacks, handlers, outside, is_wall, from_ns, to_ns }
    }

    /// Length of the window, s.
    pub fn span_s(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_of_several_callbacks_are_in_the_order_of_time() {
        let of = |first_ns: i64, work_ns: i64| CallbackSeen {
            started_ns: (0..4).map(|k| first_ns + 10 * k).collect(),
            work_ns: vec![work_ns; 4],
            off_ns: vec![work_ns + 1; 4],
            ..CallbackSeen::default()
        };
        let (long, short) = (of(0, 7), of(5, 1));
        let all = CallbackSeen::together([&long, &short].into_iter(), |_, index| index > 0);
        assert_eq!(all.work_ns, [7, 1, 7, 1, 7, 1]);
        assert_eq!(all.off_ns, [8, 2, 8, 2, 8, 2]);
    }
}
