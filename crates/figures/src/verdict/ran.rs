//! What ran, found once for all chains that are looked at: executions by callback, and what each thread did.

use super::late::number_of;
use crate::executor_cpu::ExecutorCpu;
use crate::figures::Repeat;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{Callback, Execution, Process};

/// Of all repeats, by the number that stands for each.
pub(super) struct Ran(BTreeMap<usize, Of>);

struct Of {
    by_callback: Grouped<Callback, Row<Execution>>,
    /// Of each callback the time that half of its executions take or more, once it is asked for.
    medians_ns: Column<Callback, OnceLock<Option<i64>>>,
    /// Of each callback what its executors computed beside it, once it is asked for.
    executor_cpu: Column<Callback, OnceLock<ExecutorCpu>>,
    loads: HashMap<(Row<Process>, u32), Load>,
}

/// What a thread did in a repeat that is the only one of its executor.
pub(super) struct Load {
    /// Inside callbacks.
    pub busy_ns: i64,
    /// From its first to its last callback.
    pub over_ns: i64,
    /// Those with most of its time first.
    pub callbacks: Vec<(Row<Callback>, i64)>,
    pub nodes: usize,
}

impl Ran {
    pub fn of(repeats: &[Repeat<'_>]) -> Ran {
        let of_repeat = |repeat: &Repeat<'_>| {
            let (executions, callbacks) = (&repeat.tables.executions, repeat.tables.callbacks.len());
            let by_callback =
                Grouped::new(callbacks, || executions.numbered().map(|(row, execution)| (execution.callback, row)));
            let medians_ns = Column::of((0..callbacks).map(|_| OnceLock::new()));
            let executor_cpu = Column::of((0..callbacks).map(|_| OnceLock::new()));
            Of { by_callback, medians_ns, executor_cpu, loads: loads(repeat) }
        };
        Ran(repeats.iter().map(|repeat| (number_of(repeat), of_repeat(repeat))).collect())
    }

    /// Executions of a callback, in order.
    pub fn executions<'a>(
        &self,
        repeat: &Repeat<'a>,
        callback: Row<Callback>,
    ) -> impl Iterator<Item = &'a Execution> + use<'a, '_> {
        let rows = self.0[&number_of(repeat)].by_callback.of(callback);
        let tables = repeat.tables;
        rows.iter().map(move |row| &tables.executions[*row])
    }

    /// The longest time that at least half of a callback's executions take; `None`: none of them ended.
    pub fn median_ns(&self, repeat: &Repeat<'_>, callback: Row<Callback>) -> Option<i64> {
        *self.0[&number_of(repeat)].medians_ns[callback].get_or_init(|| {
            let executions = self.executions(repeat, callback);
            let mut times: Vec<i64> = executions.filter_map(|e| Some(e.end_ns.get()? - e.start_ns)).collect();
            let middle = times.len() / 2;
            (!times.is_empty()).then(|| *times.select_nth_unstable(middle).1)
        })
    }

    /// What executors computed between the executions of a callback and what ran before each.
    pub fn executor_cpu(&self, repeat: &Repeat<'_>, callback: Row<Callback>) -> ExecutorCpu {
        let of = &self.0[&number_of(repeat)].executor_cpu[callback];
        *of.get_or_init(|| self.executions(repeat, callback).filter_map(ExecutorCpu::of).sum())
    }

    /// What the thread of an executor with one thread did, if it ran callbacks.
    pub fn load(&self, repeat: &Repeat<'_>, process: Row<Process>, tid: u32) -> Option<&Load> {
        self.0[&number_of(repeat)].loads.get(&(process, tid))
    }
}

fn loads(repeat: &Repeat<'_>) -> HashMap<(Row<Process>, u32), Load> {
    let tables = repeat.tables;
    let mut threads: HashMap<(Row<Callback>, u32), (i64, i64, i64)> = HashMap::default();
    for execution in &tables.executions {
        let end = execution.end_ns.get().unwrap_or(execution.start_ns);
        let (ns, from, to) = threads.entry((execution.callback, execution.tid)).or_insert((0, i64::MAX, i64::MIN));
        *ns += end - execution.start_ns;
        (*from, *to) = ((*from).min(execution.start_ns), (*to).max(end));
    }
    let mut by_thread: HashMap<(Row<Process>, u32), Vec<(Row<Callback>, i64, i64, i64)>> = HashMap::default();
    for ((callback, tid), (ns, from, to)) in threads {
        by_thread.entry((tables.callbacks[callback].process, tid)).or_default().push((callback, ns, from, to));
    }
    // What waits for a thread of several waits for any of them.
    for thread in tables.executors.iter().filter(|thread| thread.executor_threads.is_some_and(|count| count > 1)) {
        by_thread.remove(&(thread.process, thread.tid));
    }
    let load = |of: Vec<(Row<Callback>, i64, i64, i64)>| {
        let (from, to) = of.iter().fold((i64::MAX, i64::MIN), |(from, to), part| (from.min(part.2), to.max(part.3)));
        let mut callbacks: Vec<(Row<Callback>, i64)> = of.iter().map(|(callback, ns, ..)| (*callback, *ns)).collect();
        callbacks.sort_unstable_by_key(|(callback, ns)| (std::cmp::Reverse(*ns), *callback));
        let nodes: BTreeSet<_> =
            callbacks.iter().filter_map(|(callback, _)| tables.callbacks[*callback].node).collect();
        let busy_ns = callbacks.iter().map(|(_, ns)| ns).sum();
        Load { busy_ns, over_ns: to - from, callbacks, nodes: nodes.len() }
    };
    by_thread.into_iter().map(|(thread, of)| (thread, load(of))).collect()
}
