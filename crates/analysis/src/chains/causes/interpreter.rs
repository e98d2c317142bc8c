//! Waits for Python's interpreter, which runs one thread of a process at a time.
//!
//! CPython (`take_gil`): who waits for the interpreter asks for it after the switch interval, and gets it when the
//! thread that has it answers, blocks or ends. So a thread that ran again sooner, while another one computed on, did
//! not wait for that one: extension modules release the interpreter.

use crate::chains::Tracer;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::{Callback, Execution, Process};

/// CPython's default (`sys.getswitchinterval`), ns.
const SWITCH_NS: i64 = 5_000_000;
/// How much longer a thread sleeps that asked for so long, ns.
const SLACK_NS: i64 = 1_000_000;
/// Part of the time for which others computed, from which on they had the interpreter.
const COMPUTED: f64 = 0.5;
/// Executions beside which no other thread computed, from which on their times say what is usual; and the same of those
/// beside which one did.
const LEAST: [usize; 2] = [20, 5];
/// The call in which a thread waits for the interpreter.
const WAITS_IN: &str = "futex";

/// What had the interpreter, and from when to when.
pub(super) type Had = (Row<Execution>, i64, i64);

pub(super) struct Interpreter<'a> {
    tracer: &'a Tracer<'a>,
    /// Threads that ran callbacks in Python, of processes with several of them.
    threads: HashMap<Row<Process>, Vec<u32>>,
    /// How long executions are off the CPU while no other thread computes, ns: of callbacks for which it is longer
    /// otherwise.
    alone_ns: HashMap<Row<Callback>, i64>,
}

impl<'a> Interpreter<'a> {
    pub fn new(tracer: &'a Tracer<'a>) -> Interpreter<'a> {
        let seen = tracer.seen;
        let mut threads: BTreeMap<Row<Process>, BTreeSet<u32>> = BTreeMap::new();
        if seen.callbacks.iter().any(Callback::is_python) {
            for (row, execution) in seen.executions.numbered() {
                let callback = &seen.callbacks[execution.callback];
                if callback.is_python() {
                    threads.entry(callback.process).or_default().insert(seen.stream_of(row));
                }
            }
        }
        let threads = threads.into_iter().filter(|(_, threads)| threads.len() > 1);
        let threads = threads.map(|(process, threads)| (process, threads.into_iter().collect())).collect();
        let mut interpreter = Interpreter { tracer, threads, alone_ns: HashMap::default() };
        interpreter.alone_ns = interpreter.find_alone();
        interpreter
    }

    fn find_alone(&self) -> HashMap<Row<Callback>, i64> {
        let mut off_ns: HashMap<Row<Callback>, [Vec<i64>; 2]> = HashMap::default();
        let seen = self.tracer.seen;
        if self.threads.is_empty() {
            return HashMap::default();
        }
        for (row, execution) in seen.executions.numbered() {
            let own = &seen.callbacks[execution.callback];
            let (Some(off), Some(end), true) = (off_cpu_ns(execution), execution.end_ns.get(), own.is_python()) else {
                continue;
            };
            let beside = self.had(seen.stream_of(row), (execution.start_ns, end)).is_some();
            off_ns.entry(execution.callback).or_default()[usize::from(beside)].push(off);
        }
        let median = |mut values: Vec<i64>, least: usize| {
            values.sort_unstable();
            (values.len() >= least).then(|| values[values.len() / 2])
        };
        let longer = |(callback, [alone, beside]): (Row<Callback>, [Vec<i64>; 2])| {
            let (alone, beside) = (median(alone, LEAST[0])?, median(beside, LEAST[1])?);
            (beside - alone >= SWITCH_NS / 2).then_some((callback, alone))
        };
        off_ns.into_iter().filter_map(longer).collect()
    }

    /// What another thread of the process computed in Python between two instants, the one that did most.
    fn had(&self, stream: u32, (from, to): (i64, i64)) -> Option<Had> {
        let (seen, busy) = (self.tracer.seen, &self.tracer.busy);
        let threads = self.threads.get(&seen.streams[stream as usize].process)?;
        let others = threads.iter().filter(|other| **other != stream);
        let ran = others.flat_map(|other| busy.executions(seen, *other, from, to));
        let computed = ran.filter_map(|(row, from, to)| {
            let execution = &seen.executions[row];
            let (end_ns, cpu_ns) = execution.end_ns.get().zip(execution.cpu_ns.get())?;
            let part = cpu_ns as f64 / (end_ns - execution.start_ns).max(1) as f64;
            let is_python = seen.callbacks[execution.callback].is_python();
            is_python.then_some((part * (to - from) as f64, (row, from, to)))
        });
        let computed: Vec<(f64, Had)> = computed.collect();
        let all: f64 = computed.iter().map(|(ns, _)| ns).sum();
        let (_, most) = computed.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        (all >= COMPUTED * (most.2 - most.1) as f64).then_some(most)
    }

    /// What had it while a thread, outside of callbacks, did not begin with what it had to do.
    pub fn kept_waiting(&self, stream: u32, (from, to): (i64, i64)) -> Option<Had> {
        let had = self.had(stream, (from, to))?;
        let ended = self.tracer.seen.executions[had.0].end_ns.get().is_some_and(|end| end <= to);
        (ended || had.2 - had.1 >= SWITCH_NS).then_some(had)
    }

    /// What had it while an execution was blocked in a call: never for longer at once than until it asks.
    pub fn had_while_blocked(&self, execution: Row<Execution>, call: &str, (from, to): (i64, i64)) -> Option<Had> {
        let waits = call == WAITS_IN && to - from <= SWITCH_NS + SLACK_NS && self.is_python(execution);
        self.had(self.tracer.seen.stream_of(execution), (from, to)).filter(|_| waits)
    }

    /// What had it while an execution was off the CPU, nobody knows when, and for how long: more than is usual of one
    /// beside which no other thread computes.
    pub fn had_while_off_cpu(
        &self,
        execution: Row<Execution>,
        (from, to): (i64, i64),
    ) -> Option<(Row<Execution>, i64)> {
        let row = &self.tracer.seen.executions[execution];
        let longer_ns = off_cpu_ns(row)? - self.alone_ns.get(&row.callback)?;
        let (by, from, to) = self.had(self.tracer.seen.stream_of(execution), (from, to))?;
        Some((by, longer_ns.clamp(0, to - from)))
    }

    fn is_python(&self, execution: Row<Execution>) -> bool {
        let seen = self.tracer.seen;
        seen.callbacks[seen.executions[execution].callback].is_python()
    }
}

/// Off the CPU, and not for want of one as far as that is known.
fn off_cpu_ns(execution: &Execution) -> Option<i64> {
    let (end_ns, cpu_ns) = execution.end_ns.get().zip(execution.cpu_ns.get())?;
    Some(end_ns - execution.start_ns - cpu_ns - execution.runnable_ns.get().unwrap_or(0))
}
