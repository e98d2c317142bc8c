//! Executors that have more to do than time, or that take time for nothing.

use super::facts::{time, Facts, Ran, Thread};
use super::{Case, Lint};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tacho_tables::row::Row;
use tacho_tables::{named, Callback, ExecutorThread, Process};

/// Part of the window inside callbacks from which a thread counts as full: beyond it, waiting grows without bound
/// (queueing theory's knee).
const FULL: f64 = 0.8;
/// Threads that a case names.
const NAMED: usize = 8;

pub const BOTTLENECK: Lint = Lint {
    name: "single-threaded-bottleneck",
    finds:
        "an executor's one thread, or all of them, run several callbacks and have a fifth of their time left or less",
    check: |facts| {
        let waits = message_waits(facts);
        executors(facts).iter().filter_map(|executor| bottleneck(facts, executor, &waits)).collect()
    },
};

/// Threads that run callbacks of one queue, and what they ran, by start.
#[derive(Default)]
pub(super) struct Executor {
    pub process: Row<Process>,
    tids: Vec<u32>,
    /// Those that ran nothing, too.
    pub threads: usize,
    pub ran: Vec<Ran>,
    /// Longest execution.
    pub longest_ns: i64,
}

impl Executor {
    /// Executions that overlap a stretch of time.
    pub fn between(&self, from: i64, to: i64) -> impl Iterator<Item = &Ran> {
        let first = self.ran.partition_point(|ran| ran.start_ns < from.saturating_sub(self.longest_ns));
        let until = self.ran[first..].iter().take_while(move |ran| ran.start_ns < to);
        until.filter(move |ran| ran.end_ns > from)
    }
}

pub(super) fn executors(facts: &Facts<'_>) -> Vec<Executor> {
    let rows: HashMap<Thread, &ExecutorThread> =
        facts.tables.executors.iter().map(|row| ((row.process, row.tid), row)).collect();
    let mut found: BTreeMap<(Row<Process>, Result<u32, u32>), Executor> = BTreeMap::new();
    for ((process, tid), ran) in facts.threads() {
        let row = rows.get(&(process, tid));
        let which = row.and_then(|row| row.executor).ok_or(tid);
        let executor = found.entry((process, which)).or_insert_with(|| Executor {
            process,
            tids: Vec::new(),
            threads: 1,
            ran: Vec::new(),
            longest_ns: 0,
        });
        executor.tids.push(tid);
        let told = row.and_then(|row| row.executor_threads).unwrap_or(1) as usize;
        executor.threads = executor.threads.max(told).max(executor.tids.len());
        executor.ran.extend(ran);
        executor.longest_ns = ran.iter().map(|ran| ran.end_ns - ran.start_ns).fold(executor.longest_ns, i64::max);
    }
    let mut found = joined(found.into_values().collect());
    found.iter_mut().for_each(|executor| executor.ran.sort_by_key(|ran| ran.start_ns));
    found
}

/// Joins the threads of an rclpy pool into one executor. They never wait, so analysis takes them for several executors;
/// threads that ran the same callback belong together.
fn joined(found: Vec<Executor>) -> Vec<Executor> {
    let mut joined: Vec<Executor> = Vec::new();
    let mut of_callback: HashMap<Row<Callback>, usize> = HashMap::new();
    for executor in found {
        let callbacks: BTreeSet<Row<Callback>> = executor.ran.iter().map(|ran| ran.callback).collect();
        let mut known: Vec<usize> =
            callbacks.iter().filter_map(|callback| of_callback.get(callback).copied()).collect();
        known.sort_unstable();
        known.dedup();
        let Some((first, others)) = known.split_first() else {
            of_callback.extend(callbacks.into_iter().map(|callback| (callback, joined.len())));
            joined.push(executor);
            continue;
        };
        // Those that it connects become one; the others stay behind, empty.
        let mut parts = vec![executor];
        parts.extend(others.iter().map(|other| std::mem::take(&mut joined[*other])));
        of_callback.values_mut().filter(|place| others.contains(place)).for_each(|place| *place = *first);
        of_callback.extend(callbacks.into_iter().map(|callback| (callback, *first)));
        let executor = &mut joined[*first];
        for part in parts {
            executor.tids.extend(part.tids);
            executor.ran.extend(part.ran);
            executor.threads = executor.threads.max(part.threads).max(executor.tids.len());
            executor.longest_ns = executor.longest_ns.max(part.longest_ns);
        }
    }
    joined.retain(|executor| !executor.tids.is_empty());
    joined
}

/// What ran at once: callbacks that did beside any other execution, those beside one of their own, and the time in
/// which any ran.
fn at_once(ran: &[Ran], until: i64) -> (BTreeSet<Row<Callback>>, BTreeSet<Row<Callback>>, i64) {
    let (mut beside, mut beside_itself, mut union_ns, mut end) = (BTreeSet::new(), BTreeSet::new(), 0, i64::MIN);
    let mut running: Vec<Ran> = Vec::new();
    for one in ran {
        running.retain(|other| other.end_ns > one.start_ns);
        for other in &running {
            beside.extend([one.callback, other.callback]);
            beside_itself.extend((one.callback == other.callback).then_some(one.callback));
        }
        running.push(*one);
        let to = one.end_ns.min(until);
        union_ns += (to - one.start_ns.max(end)).max(0);
        end = end.max(to);
    }
    (beside, beside_itself, union_ns)
}

fn bottleneck(facts: &Facts<'_>, executor: &Executor, waits: &HashMap<Thread, (i64, i64)>) -> Option<Case> {
    let (window, threads) = (facts.window_ns(), executor.threads);
    let mut by_callback: HashMap<Row<Callback>, i64> = HashMap::new();
    let clipped = |r: &Ran| r.end_ns.min(facts.window.1) - r.start_ns;
    executor.ran.iter().for_each(|r| *by_callback.entry(r.callback).or_default() += clipped(r));
    if by_callback.len() < 2 || window == 0 {
        return None;
    }
    let busy: i64 = by_callback.values().sum();
    let mut most: Vec<(Row<Callback>, i64)> = by_callback.into_iter().collect();
    most.sort_by_key(|(callback, ns)| (std::cmp::Reverse(*ns), *callback));
    let first = facts.callback(most[0].0);
    let (beside, beside_itself, union_ns) = at_once(&executor.ran, facts.window.1);
    let is_full = busy as f64 >= FULL * (window * threads as i64) as f64;
    let (of, next) = match threads {
        1 if is_full => (
            String::new(),
            format!(
                "{first} in an executor, with its thread, or a process of its own: on one thread a callback group \
                 changes nothing"
            ),
        ),
        1 => return None,
        // A thread for each callback, and none that runs beside itself: nobody waits for a thread.
        _ if is_full && (most.len() > threads || !beside_itself.is_empty()) => {
            let next = format!(
                "more threads than {threads}, where CPUs are free; or {first} in an executor or a process of its own"
            );
            (format!(" of {threads} threads together"), next)
        }
        _ if beside.is_empty() && union_ns as f64 >= FULL * window as f64 => (
            format!(" on {threads} threads, never two at once"),
            format!(
                "{first} in a callback group of its own: callbacks of one mutually exclusive group, as all are by \
                 default, run in turn on any number of threads"
            ),
        ),
        _ => return None,
    };
    let time_of = window * if of.ends_with("together") { threads as i64 } else { 1 };
    let share = |ns: i64| 100.0 * ns as f64 / time_of as f64;
    let names: Vec<String> =
        most.iter().take(3).map(|(c, ns)| format!("{} {:.0} %", facts.callback(*c), share(*ns))).collect();
    let (because, next) = match facts.doubt(executor.ran.iter(), "them") {
        Some(doubt) => (doubt.evidence, doubt.next),
        None => (String::new(), next),
    };
    let of_threads = executor.tids.iter().filter_map(|tid| waits.get(&(executor.process, *tid)));
    let (sum, count) = of_threads.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    Some(Case {
        subject: subject(facts, executor),
        evidence: format!(
            "{:.0} % of {}{of} inside {} callbacks: {}{because}",
            share(busy),
            time(window),
            most.len(),
            names.join(", ")
        ),
        cost: match count {
            0 => format!("{} are left for whatever else comes to it", time(time_of - busy)),
            _ => format!(
                "messages wait {} for their callback on the average, from their arrival or, where that is not \
                 recorded, publish call",
                time(sum / count)
            ),
        },
        next,
        weight: busy as f64,
    })
}

fn subject(facts: &Facts<'_>, executor: &Executor) -> String {
    let pid = facts.tables.processes[executor.process].pid;
    match executor.tids.as_slice() {
        [tid] => format!("process {pid} thread {tid}"),
        tids => format!("process {pid} threads {}", named(tids, NAMED)),
    }
}

/// Of each thread, what messages waited from their arrival, or publish call where that is not recorded, to the start of
/// their callback, together, and how many did. What a callback took that ran already did not wait for it.
fn message_waits(facts: &Facts<'_>) -> HashMap<Thread, (i64, i64)> {
    let mut waits: HashMap<Thread, (i64, i64)> = HashMap::new();
    for message in facts.messages() {
        let Some((execution, there)) = message.execution.zip(message.arrival_ns.or(message.publish_ns)) else {
            continue;
        };
        let execution = &facts.tables.executions[execution];
        let process = facts.tables.callbacks[execution.callback].process;
        if there <= execution.start_ns {
            let (sum, count) = waits.entry((process, execution.tid)).or_default();
            *sum += execution.start_ns - there;
            *count += 1;
        }
    }
    waits
}

/// Waits a second that find nothing, from which on a thread counts as spinning: an executor that waits for something is
/// woken as often as it has work.
const SPINS_HZ: f64 = 1_000.0;
/// Waits for each callback, beyond which they are not wake-ups by other threads of the executor, of which each callback
/// may cause one.
const SPINS_A_CALLBACK: u64 = 10;

pub const SPINNING: Lint = Lint {
    name: "spinning-executor",
    finds: "an executor looks for work over and over and finds none",
    check: |facts| {
        let ran: HashMap<Thread, &[Ran]> = facts.threads().collect();
        let case = |thread: &ExecutorThread| {
            let span_ns = thread.to_ns - thread.from_ns;
            let (empty, waiting_ns) = (thread.empty_waits?, thread.waiting_ns?);
            let ran = ran.get(&(thread.process, thread.tid)).map_or(0, |ran| ran.len() as u64);
            let hz = empty as f64 / (span_ns as f64 / 1e9);
            if hz < SPINS_HZ || empty < SPINS_A_CALLBACK * ran {
                return None;
            }
            let idle_ns = thread.running_ns.map(|running| (running - thread.executing_ns).max(0));
            Some(Case {
                subject: format!("process {} thread {}", facts.tables.processes[thread.process].pid, thread.tid),
                evidence: format!("{empty} waits ended with nothing to run, {hz:.0} a second, beside {ran} callbacks"),
                cost: match idle_ns {
                    Some(ns) => format!("on a CPU for {} of {} outside of callbacks", time(ns), time(span_ns)),
                    None => format!(
                        "of {} it was in waits for {} and in callbacks for {}, and in neither for the rest",
                        time(span_ns),
                        time(waiting_ns),
                        time(thread.executing_ns)
                    ),
                },
                next: "spin() in place of spin_some() in a loop; where rclcpp's multi-threaded executor has messages \
                       for a callback group that is busy: shorter callbacks in that group, a reentrant group, or an \
                       executor of its own"
                    .into(),
                weight: hz,
            })
        };
        facts.tables.executors.iter().filter_map(case).collect()
    },
};
