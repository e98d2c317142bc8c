//! Figures of threads: executor states, wake-up latency, and who kept callbacks from a CPU.

use crate::figures::Repeat;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::summary::{Distribution, ExecutorFigures, PreemptorFigures};
use tacho_tables::{Callback, OffCpu, Process, Tables};

const NS_PER_US: f64 = 1e3;
const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;

/// One thread over all repeats.
#[derive(Default)]
struct SoFar {
    first: ExecutorFigures,
    span_ns: i64,
    executing_ns: i64,
    /// waiting, ready; running, runnable, blocked: absent as soon as one repeat lacks it.
    waiting: Option<(i64, i64)>,
    scheduled: Option<(i64, i64, i64, u64, u64)>,
    wakeups_us: Vec<f64>,
}

/// One entry a thread that executed callbacks. The same thread has another id in another repeat: it is the n-th that
/// serves the same nodes.
pub(crate) fn executors(repeats: &[Repeat<'_>]) -> Vec<ExecutorFigures> {
    let mut order: Vec<SoFar> = Vec::new();
    let mut known: HashMap<(Vec<String>, usize), usize> = HashMap::default();
    for Repeat { tables, options, .. } in repeats {
        let nodes = nodes_of_threads(tables);
        let mut ordinals: HashMap<&[String], usize> = HashMap::default();
        let mut of_thread: HashMap<Thread, usize> = HashMap::default();
        for row in &tables.executors {
            let names = nodes.get(&(row.process, row.tid)).map_or(&[][..], Vec::as_slice);
            let ordinal = ordinals.entry(names).or_default();
            let waiting = row.waiting_ns.zip(row.ready_ns);
            let scheduled = (|| {
                Some((
                    row.running_ns?,
                    row.runnable_ns?,
                    row.blocked_ns?,
                    row.voluntary_switches?,
                    row.involuntary_switches?,
                ))
            })();
            let index = *known.entry((names.to_vec(), *ordinal)).or_insert_with(|| {
                let process_id = tables.processes[row.process].pid;
                let first = ExecutorFigures {
                    process_id,
                    thread_id: row.tid,
                    nodes: names.to_vec(),
                    ..ExecutorFigures::default()
                };
                order.push(SoFar {
                    first,
                    waiting: waiting.and(Some((0, 0))),
                    scheduled: scheduled.and(Some((0, 0, 0, 0, 0))),
                    ..SoFar::default()
                });
                order.len() - 1
            });
            *ordinal += 1;
            of_thread.insert((row.process, row.tid), index);
            let so_far = &mut order[index];
            so_far.span_ns += row.to_ns - row.from_ns;
            so_far.executing_ns += row.executing_ns;
            so_far.waiting = so_far.waiting.zip(waiting).map(|(a, b)| (a.0 + b.0, a.1 + b.1));
            so_far.scheduled =
                so_far.scheduled.zip(scheduled).map(|(a, b)| (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3, a.4 + b.4));
        }
        let woken = tables
            .preemptions
            .iter()
            .filter(|row| row.execution.is_none() && row.woken && options.measures(row.from_ns));
        // Rows of one wait for a CPU, while others had it in turn, follow each other without a gap.
        let mut waits: HashMap<Thread, (i64, i64)> = HashMap::default();
        let mut add = |thread: Thread, (from, to): (i64, i64)| {
            if let Some(index) = of_thread.get(&thread) {
                order[*index].wakeups_us.push((to - from) as f64 / NS_PER_US);
            }
        };
        for row in woken {
            let thread = (row.process, row.tid);
            match waits.get_mut(&thread) {
                Some((_, to)) if *to == row.from_ns => *to = row.to_ns,
                _ => {
                    if let Some(whole) = waits.insert(thread, (row.from_ns, row.to_ns)) {
                        add(thread, whole);
                    }
                }
            }
        }
        waits.into_iter().for_each(|(thread, whole)| add(thread, whole));
    }
    let finish = |so_far: SoFar| {
        let percent = |ns: i64| 100.0 * ns as f64 / so_far.span_ns as f64;
        ExecutorFigures {
            over_s: so_far.span_ns as f64 / NS_PER_S,
            waiting_percent: so_far.waiting.map(|w| percent(w.0)),
            ready_percent: so_far.waiting.map(|w| percent(w.1)),
            executing_percent: percent(so_far.executing_ns),
            running_percent: so_far.scheduled.map(|s| percent(s.0)),
            runnable_percent: so_far.scheduled.map(|s| percent(s.1)),
            blocked_percent: so_far.scheduled.map(|s| percent(s.2)),
            voluntary_switches: so_far.scheduled.map(|s| s.3),
            involuntary_switches: so_far.scheduled.map(|s| s.4),
            wakeup_latency_us: Distribution::of(so_far.wakeups_us),
            ..so_far.first
        }
    };
    order.into_iter().map(finish).collect()
}

/// A process and one of its threads.
type Thread = (Row<Process>, u32);

/// Names of the nodes whose callbacks each thread ran.
fn nodes_of_threads(tables: &Tables) -> HashMap<Thread, Vec<String>> {
    let mut callbacks: HashMap<Thread, BTreeSet<Row<Callback>>> = HashMap::default();
    for execution in &tables.executions {
        let process = tables.callbacks[execution.callback].process;
        callbacks.entry((process, execution.tid)).or_default().insert(execution.callback);
    }
    let names = |callbacks: BTreeSet<Row<Callback>>| -> Vec<String> {
        let nodes: BTreeSet<&str> = callbacks
            .iter()
            .filter_map(|c| tables.callbacks[*c].node)
            .map(|node| tables.nodes[node].name.as_str())
            .collect();
        nodes.into_iter().map(str::to_owned).collect()
    };
    callbacks.into_iter().map(|(thread, callbacks)| (thread, names(callbacks))).collect()
}

/// Who had the CPU while a callback could have gone on, threads and interrupts, most time first.
pub(crate) fn preemptors(repeats: &[Repeat<'_>]) -> Vec<PreemptorFigures> {
    let mut by_name: BTreeMap<Option<&str>, (u64, i64, i64)> = BTreeMap::new();
    for Repeat { tables, options, .. } in repeats {
        let kept = tables
            .preemptions
            .iter()
            .filter(|row| row.execution.is_some() && row.state != OffCpu::Blocked && options.measures(row.from_ns));
        for row in kept {
            let ns = row.to_ns - row.from_ns;
            let (count, total, longest) = by_name.entry(row.by_comm.as_deref()).or_default();
            (*count, *total, *longest) = (*count + 1, *total + ns, (*longest).max(ns));
        }
    }
    let mut figures: Vec<PreemptorFigures> = by_name
        .into_iter()
        .map(|(by, (count, total, longest))| PreemptorFigures {
            by: by.map(str::to_owned),
            count,
            total_ms: total as f64 / NS_PER_MS,
            longest_ms: longest as f64 / NS_PER_MS,
        })
        .collect();
    figures.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms));
    figures
}
