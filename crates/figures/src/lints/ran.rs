//! What threads and executors ran.

use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::near::partition_near;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Callback, Execution, ExecutorThread, MaybeNs, Process};

/// A process and one of its threads.
pub type Thread = (Row<Process>, u32);

/// An execution that ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ran {
    pub callback: Row<Callback>,
    /// Of its process.
    pub tid: u32,
    pub start_ns: i64,
    pub end_ns: i64,
    /// CPU time of its thread meanwhile, where it is known.
    pub cpu_ns: MaybeNs,
    /// For how long its thread was ready to run and had no CPU meanwhile, where it is known.
    pub runnable_ns: MaybeNs,
}

impl Ran {
    /// `None`: it did not end.
    pub fn of(execution: &Execution) -> Option<Ran> {
        let Execution { callback, tid, start_ns, end_ns, cpu_ns, runnable_ns, .. } = *execution;
        Some(Ran { callback, tid, start_ns, end_ns: end_ns.get()?, cpu_ns, runnable_ns })
    }
}

/// Threads that run callbacks of one queue, and what they ran, by start.
#[derive(Default)]
pub struct Executor {
    pub process: Row<Process>,
    pub tids: Vec<u32>,
    /// Those that ran nothing, too.
    pub threads: usize,
    pub ran: Rows<Ran>,
    /// Longest execution.
    pub longest_ns: i64,
}

impl Executor {
    /// Executions that overlap a stretch of time. `near`: where the look-up before ended.
    pub fn between(&self, from: i64, to: i64, near: &mut usize) -> impl Iterator<Item = &Ran> {
        let first = partition_near(&self.ran, near, |ran| ran.start_ns < from.saturating_sub(self.longest_ns));
        let until = self.ran[first..].iter().take_while(move |ran| ran.start_ns < to);
        until.filter(move |ran| ran.end_ns > from)
    }
}

/// Executors of threads with what they ran. `rows`: what is known of the threads.
pub fn executors<'a>(rows: &[ExecutorThread], threads: impl Iterator<Item = (Thread, &'a [Ran])>) -> Vec<Executor> {
    let rows: HashMap<Thread, &ExecutorThread> = rows.iter().map(|row| ((row.process, row.tid), row)).collect();
    let mut found: BTreeMap<(Row<Process>, Result<u32, u32>), Executor> = BTreeMap::new();
    for ((process, tid), ran) in threads {
        let row = rows.get(&(process, tid));
        let which = row.and_then(|row| row.executor).ok_or(tid);
        let executor = found.entry((process, which)).or_insert_with(|| Executor {
            process,
            tids: Vec::new(),
            threads: 1,
            ran: Rows::new(),
            longest_ns: 0,
        });
        executor.tids.push(tid);
        let told = row.and_then(|row| row.executor_threads).unwrap_or(1) as usize;
        executor.threads = executor.threads.max(told).max(executor.tids.len());
        executor.ran.extend(ran.iter().copied());
        executor.longest_ns = ran.iter().map(|ran| ran.end_ns - ran.start_ns).fold(executor.longest_ns, i64::max);
    }
    let mut found = joined(found.into_values().collect());
    for executor in &mut found {
        executor.ran = std::mem::take(&mut executor.ran).sorted_by(|one, other| one.start_ns.cmp(&other.start_ns));
    }
    found
}

/// Joins the threads of an rclpy pool into one executor. They never wait, so analysis takes them for several executors;
/// threads that ran the same callback belong together.
fn joined(found: Vec<Executor>) -> Vec<Executor> {
    let mut joined: Vec<Executor> = Vec::new();
    let mut of_callback: HashMap<Row<Callback>, usize> = HashMap::default();
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
