//! Until when executors served the ends of topics.
//!
//! A program that shuts down ends its executors first. Its recorder's last event may come much later, and others
//! publish on: what comes then is nobody's to take. Nothing says that an executor has ended, but from then on its
//! threads do other things (they remove their nodes), or nothing, not even wait.

use crate::observe::collect::is_of_executor;
use crate::observe::{Seen, StreamSeen, INTERNAL};
use crate::Options;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use tacho_events::Payload;
use tacho_tables::row::{Column, Row};
use tacho_tables::{named, Callback, Endpoint, EndpointKind, Note, Process};

/// An end so long before that of the process, or of what was measured, is told: a program that shuts down takes less.
const LONG_BEFORE_NS: i64 = 1_000_000_000;
/// Part of its time that a thread must spend outside of its executor to be one that polls: others are outside for
/// moments.
const OUTSIDE: f64 = 0.1;
/// Periods of a poller after which its next poll has not come.
const OVERDUE: f64 = 1.5;
/// Nodes that the note names; of more it says how many.
const NAMED: usize = 3;

/// What the events of one thread tell of the executor that it is part of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Executing {
    /// Its last event as a part of it.
    last_ns: i64,
    /// Whether it waits from then on, or is inside a callback.
    goes_on: bool,
    /// Whether it ever waited.
    waited: bool,
    /// Its first event of something else since.
    left_ns: Option<i64>,
    first_ns: i64,
    /// Times that it spent outside, neither waiting nor in a callback, and came back from: their sum, and that of their
    /// squares.
    outside_ns: f64,
    outside_squared: f64,
}

impl Executing {
    /// How long a thread that polls (`spin_some()` and a sleep, again and again) is away, in most of that time; `None`:
    /// it does not poll.
    fn period_ns(&self) -> Option<f64> {
        let polls = self.outside_ns > OUTSIDE * (self.last_ns - self.first_ns) as f64;
        polls.then(|| self.outside_squared / self.outside_ns)
    }
}

impl StreamSeen {
    /// Takes an event of the thread; `calls_back`: inside a callback.
    pub fn executes(&mut self, payload: &Payload, calls_back: bool, now: i64) {
        let served = match payload {
            Payload::CallbackStart { .. } | Payload::CallbackEnd { .. } => true,
            Payload::CallbackCpu { .. } | Payload::CallbackCpuAndDelay { .. } => true,
            Payload::RmwTakeCalled { .. } | Payload::RmwTake { .. } | Payload::RclTake { .. } => true,
            Payload::RclcppTake { .. } => true,
            Payload::RmwTakeRequest { .. } | Payload::RmwSendResponse { .. } | Payload::RmwTakeResponse { .. } => true,
            Payload::RclcppRingBufferDequeue { .. } | Payload::NodeTake { .. } => true,
            Payload::DispatchSubscriptionCallback { .. } | Payload::DispatchIntraProcessSubscriptionCallback { .. } => {
                true
            }
            payload => is_of_executor(payload) || calls_back,
        };
        match &mut self.executing {
            None if !is_of_executor(payload) => {}
            Some(executing) if !served => {
                if !matches!(payload, Payload::ClockSync { .. }) {
                    executing.left_ns.get_or_insert(now);
                }
            }
            executing => {
                let waits = matches!(payload, Payload::RclcppExecutorWaitForWork { .. });
                let waited = waits || executing.is_some_and(|before| before.waited);
                let outside_ns = executing
                    .filter(|before| !before.goes_on)
                    .map_or(0.0, |before| (now - before.last_ns).max(0) as f64);
                let (sum, squared, first_ns) = executing
                    .map_or((0.0, 0.0, now), |before| (before.outside_ns, before.outside_squared, before.first_ns));
                *executing = Some(Executing {
                    last_ns: now,
                    goes_on: waits || calls_back,
                    waited,
                    left_ns: None,
                    first_ns,
                    outside_ns: sum + outside_ns,
                    outside_squared: squared + outside_ns * outside_ns,
                });
            }
        }
    }
}

/// Of each end of a topic, when the executor that served it had ended; `None`: it may have gone on until its process
/// ended.
pub(crate) struct Ended(Column<Endpoint, Option<i64>>);

impl Ended {
    /// Of one end; `None` for those that calls have as well.
    pub fn of(&self, endpoint: Row<Endpoint>) -> Option<i64> {
        self.0.get(endpoint).copied().flatten()
    }

    /// Until when messages to a subscription could be taken: while its process was there, and its executor had not
    /// ended.
    pub fn served_until(&self, seen: &Seen, subscription: Row<Endpoint>) -> i64 {
        seen.alive_until(seen.process_of(subscription)).min(self.of(subscription).unwrap_or(i64::MAX))
    }
}

/// When the executors of all ends had ended.
pub(crate) fn ended(seen: &Seen) -> Ended {
    let executors = Executors::of(seen);
    let mut streams: HashMap<Row<Endpoint>, Vec<u32>> = HashMap::default();
    let named = |endpoint: &Row<Endpoint>| *endpoint != INTERNAL;
    let published = seen.publications.iter().filter_map(|p| Some((p.endpoint.filter(named)?, p.execution?)));
    let taken = seen.takes.iter().filter_map(|take| Some((take.endpoint, take.execution?)));
    for (endpoint, execution) in published.chain(taken) {
        let executor = executors.of_stream[seen.stream_of(execution) as usize];
        let of = streams.entry(endpoint).or_default();
        if !of.contains(&executor) {
            of.push(executor);
        }
    }
    let of_endpoint = |endpoint: Row<Endpoint>| {
        let own = streams.get(&endpoint).into_iter().flatten().copied();
        let own = own.filter(|executor| executors.ended_ns.contains_key(executor));
        // Threads that never wait, as those of rclpy's pools, have their work from any executor of the process.
        match own.clone().next() {
            Some(_) => executors.ended(own),
            None => executors.ended(executors.of_process(seen, seen.process_of(endpoint))),
        }
    };
    Ended(Column::of(seen.endpoints.rows().map(of_endpoint)))
}

/// Nodes whose executors ended while their processes went on. What was sent to them since is neither lost nor late, so
/// it must be said: it may be a shutdown, and it may be what the user looks for.
pub(crate) fn note(seen: &Seen, ended: &Ended, options: &Options) -> Option<Note> {
    let mut since: BTreeMap<&str, i64> = BTreeMap::new();
    for (row, endpoint) in seen.endpoints.numbered() {
        let Some(ended) = ended.of(row).filter(|_| endpoint.kind == EndpointKind::Subscription) else {
            continue;
        };
        let until = seen.alive_until(seen.process_of(row)).min(options.measured_to_ns.unwrap_or(i64::MAX));
        if until.saturating_sub(ended) > LONG_BEFORE_NS {
            let longest = since.entry(&seen.nodes[endpoint.node].name).or_default();
            *longest = (until - ended).max(*longest);
        }
    }
    let nodes = named(since.iter().map(|(node, ns)| format!("{node} {:.1} s", *ns as f64 / 1e9)), NAMED);
    let text = format!(
        "nodes whose executors ended before their processes, by so long: {nodes}. What was sent to them from then on \
         is neither lost nor late: they were shut down, or no longer spin"
    );
    (!since.is_empty()).then(|| Note { name: "executor-ended".into(), count: since.len() as u64, text })
}

/// Threads that ran the same callback are of one executor.
struct Executors {
    /// Of each stream, the first one of its executor.
    of_stream: Vec<u32>,
    /// When each executor had ended, by its first stream.
    ended_ns: HashMap<u32, Option<i64>>,
}

impl Executors {
    fn of(seen: &Seen) -> Executors {
        let mut of_stream: Vec<u32> = (0..seen.streams.len() as u32).collect();
        let mut of_callback: HashMap<Row<Callback>, u32> = HashMap::default();
        for (execution, stream) in seen.executions.iter().zip(seen.execution_stream.iter()) {
            let other = *of_callback.entry(execution.callback).or_insert(*stream);
            let (one, other) = (first(&mut of_stream, other), first(&mut of_stream, *stream));
            of_stream[one.max(other) as usize] = one.min(other);
        }
        let mut parts: HashMap<u32, Vec<Executing>> = HashMap::default();
        let mut threads: HashMap<Row<Process>, u32> = HashMap::default();
        seen.streams
            .iter()
            .filter(|stream| stream.executing.is_some())
            .for_each(|stream| *threads.entry(stream.process).or_default() += 1);
        for stream in 0..seen.streams.len() as u32 {
            let executor = first(&mut of_stream, stream);
            parts.entry(executor).or_default().extend(seen.streams[stream as usize].executing);
        }
        // All threads end together. If none waits (of an executor whose waits are seen) or calls back from the last
        // event on, and the process was not killed, that was the end; else the first that does something else tells.
        let ended = |first: u32, parts: &[Executing]| {
            let stream = &seen.streams[first as usize];
            let killed = seen.processes[stream.process].ended == Some(false);
            let left = parts.iter().filter_map(|part| part.left_ns).min();
            let last = parts.iter().map(|part| part.last_ns).max();
            // A thread that polls is away between two polls, and gone when the next one is overdue. Where other threads
            // of its process are of executors, it may stand by while one of them waits.
            if let ([only], Some(1)) = (parts, threads.get(&stream.process)) {
                let until = seen.alive_until(stream.process);
                if only.period_ns().is_some_and(|period| ((until - only.last_ns) as f64) < OVERDUE * period) {
                    return None;
                }
            }
            let idle = !killed && parts.iter().any(|part| part.waited) && !parts.iter().any(|part| part.goes_on);
            if idle {
                last
            } else {
                last.max(left).filter(|_| left.is_some())
            }
        };
        parts.retain(|_, parts| !parts.is_empty());
        let ended_ns = parts.into_iter().map(|(executor, parts)| (executor, ended(executor, &parts))).collect();
        Executors { ended_ns, of_stream }
    }

    /// All of a process.
    fn of_process<'a>(&'a self, seen: &'a Seen, process: Row<Process>) -> impl Iterator<Item = u32> + 'a {
        let own = seen.streams.iter().zip(&self.of_stream).filter(move |(stream, _)| stream.process == process);
        own.map(|(_, executor)| *executor).filter(|executor| self.ended_ns.contains_key(executor))
    }

    /// When the last of these had ended; `None` if that is not known of all.
    fn ended(&self, executors: impl Iterator<Item = u32>) -> Option<i64> {
        let ends = executors.map(|executor| self.ended_ns.get(&executor).copied().flatten());
        ends.reduce(|a, b| Some(a?.max(b?))).flatten()
    }
}

/// The first stream of an executor, by any of its streams.
fn first(of_stream: &mut [u32], stream: u32) -> u32 {
    let mut first = stream;
    while of_stream[first as usize] != first {
        of_stream[first as usize] = of_stream[of_stream[first as usize] as usize];
        first = of_stream[first as usize];
    }
    of_stream[stream as usize] = first;
    first
}
