//! When a thread computed more slowly than it usually did, because its CPU was slower: frequency, heat, another program
//! on the same core, a hypervisor.
//!
//! Callbacks that take longer may have more to compute. So several things must agree: those that usually take the same
//! each time take longer by one factor, nearly all of them, and so do the steps of the client library, whose work does
//! not depend on any message.

use crate::observe::steps::{StepTime, BIN_NS, KINDS};
use crate::observe::StreamSeen;
use crate::stages::Ways;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::ops::Range;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{Callback, Execution, Slowdown};

/// Shorter executions mostly measure the recording of their own events.
const LEAST_NS: i64 = 100_000;
/// A callback with fewer executions has no usual time.
const LEAST_EXECUTIONS: usize = 20;
/// A callback takes the same each time if the median is at most so many times the tenth percentile.
const STEADY: f64 = 1.3;
/// The usual time of a callback comes from so many of its executions at most.
const SAMPLE: usize = 4096;
/// Executions that a window has on the average, and that a slow one must have.
const A_WINDOW: (usize, usize) = (8, 5);
/// A window has so many bins of steps at most, and a thread needs so many windows.
const LONGEST: i64 = 40;
const LEAST_WINDOWS: usize = 8;
/// A window with fewer steps has no factor of them.
const LEAST_STEPS: u32 = 5;
/// By this factor executions take longer in a slow window.
const SLOWER: f64 = 1.2;
/// Callbacks that must have taken longer at once: the data of one may have made it longer and its caches colder.
const AT_ONCE: usize = 2;
/// Threads that were slower at once differ by this factor at most.
const ALIKE: f64 = 1.25;

/// One execution of a callback that takes the same each time.
#[derive(Clone, Copy)]
struct Timed {
    callback: Row<Callback>,
    start_ns: i64,
    end_ns: i64,
    took_ns: i64,
    usual_ns: i64,
}

impl Timed {
    fn factor(&self) -> f64 {
        self.took_ns as f64 / self.usual_ns as f64
    }
}

/// Stretches in which threads were slower, in the order of time.
pub(crate) fn slowdowns(ways: &Ways) -> Vec<Slowdown> {
    let (streams, times) = (&ways.streams, ways.steps.times());
    let of_kind = |of: &StepTime| Row::new(of.stream * KINDS as u32 + u32::from(of.kind));
    let steps: Grouped<StepTime, StepTime> =
        Grouped::new(streams.len() * KINDS, || times.iter().map(|of| (of_kind(of), *of)));
    let mut found = Vec::new();
    for (index, stream) in streams.iter().enumerate() {
        let steps: [&[StepTime]; KINDS] = std::array::from_fn(|kind| steps.of(Row::behind(index * KINDS + kind)));
        if steps.iter().any(|of| !of.is_empty()) {
            found.extend(of_thread(ways, stream, steps));
        }
    }
    found.sort_by_key(|Stretch { row, .. }| (row.from_ns, row.process, row.tid));
    let longest_ns = found.iter().map(|of| of.row.to_ns - of.row.from_ns).max().unwrap_or(0);
    let is_seen_elsewhere = |Stretch { row, callbacks }: &Stretch| {
        let near = &found[found.partition_point(|other| other.row.from_ns < row.from_ns - longest_ns)..];
        let others = near.iter().take_while(|other| other.row.from_ns < row.to_ns);
        // Of one executor, several threads may run the same callback.
        let others = others.filter(|other| !other.callbacks.is_subset(callbacks));
        let others = others.map(|other| other.row).filter(|other| alike(other.callbacks_factor, row.callbacks_factor));
        let shared_ns: i64 =
            others.map(|other| (other.to_ns.min(row.to_ns) - other.from_ns.max(row.from_ns)).max(0)).sum();
        2 * shared_ns >= row.to_ns - row.from_ns
    };
    let counts = |of: &&Stretch| of.callbacks.len() >= AT_ONCE || is_seen_elsewhere(of);
    found.iter().filter(counts).map(|of| of.row).collect()
}

/// A stretch of a thread, and the callbacks that took longer in it.
struct Stretch {
    row: Slowdown,
    callbacks: HashSet<Row<Callback>>,
}

fn of_thread(ways: &Ways, stream: &StreamSeen, steps: [&[StepTime]; KINDS]) -> Vec<Stretch> {
    let timed = timed(ways, stream);
    let (Some(first), Some(last)) = (timed.first(), timed.last()) else { return Vec::new() };
    let apart_ns = (last.start_ns - first.start_ns) / timed.len() as i64;
    let bins = apart_ns * A_WINDOW.0 as i64 / BIN_NS + 1;
    let number = |of: &Timed| of.start_ns.div_euclid(bins * BIN_NS);
    if bins > LONGEST || number(last) - number(first) < LEAST_WINDOWS as i64 {
        return Vec::new();
    }
    let step_factors = step_factors(steps, bins);
    let mut slow: Vec<Slow> = Vec::new();
    let mut place = 0;
    for window in timed.chunk_by(|a, b| number(a) == number(b)) {
        let (number, places) = (number(&window[0]), place..place + window.len());
        place = places.end;
        let factors = sorted(window.iter().map(Timed::factor));
        let (median, low) = (middle(&factors), factors[factors.len() / 10]);
        let step = step_factors.get(&number).copied().filter(|step| *step >= half(median));
        if let Some(step) = step.filter(|_| window.len() >= A_WINDOW.1 && median >= SLOWER && low >= half(median)) {
            slow.push(Slow { number, places, step });
        }
    }
    let executions: usize = slow.iter().map(|window| window.places.len()).sum();
    if executions * 2 > timed.len() {
        return Vec::new();
    }
    slow.chunk_by(|before, next| next.number - before.number == 1).map(|s| stretch(stream, &timed, s)).collect()
}

/// A slow window: its number, where its executions stand, and by what factor its steps took longer.
struct Slow {
    number: i64,
    places: Range<usize>,
    step: f64,
}

/// The factor that single executions and steps must show, because each of them is less exact than the median.
fn half(factor: f64) -> f64 {
    1.0 + (factor - 1.0) / 2.0
}

fn alike(one: f64, other: f64) -> bool {
    one.max(other) <= ALIKE * one.min(other)
}

fn stretch(stream: &StreamSeen, timed: &[Timed], windows: &[Slow]) -> Stretch {
    let (first, last) = (windows[0].places.start, windows[windows.len() - 1].places.end);
    let least = half(median(timed[first..last].iter().map(Timed::factor)));
    // It began in the window before and ended in the one behind.
    let is_slow = |of: &&Timed| of.factor() >= least;
    let before = timed[..first].iter().rev().take_while(is_slow).count();
    let behind = timed[last..].iter().take_while(is_slow).count();
    let all = &timed[first - before..last + behind];
    let callbacks: HashSet<Row<Callback>> = all.iter().map(|of| of.callback).collect();
    let row = Slowdown {
        process: stream.process,
        tid: stream.tid,
        from_ns: all[0].start_ns,
        to_ns: all.iter().map(|of| of.end_ns).max().unwrap_or(all[0].end_ns),
        callbacks_factor: median(all.iter().map(Timed::factor)),
        steps_factor: median(windows.iter().map(|window| window.step)),
        executions: all.len() as u32,
        callbacks: callbacks.len() as u32,
        longer_ns: all.iter().map(|of| of.took_ns - of.usual_ns).sum(),
    };
    Stretch { row, callbacks }
}

/// Executions of a thread whose callbacks take the same each time, in order.
fn timed(ways: &Ways, stream: &StreamSeen) -> Vec<Timed> {
    let executions = || {
        let rows = stream.executions.iter().map(|row| &ways.executions[*row]);
        let rows = rows.filter(|row| row.resumes.is_none() && ways.options.judges(row.start_ns));
        rows.filter_map(|row| Some((row, took_ns(row)?)))
    };
    let mut counts: HashMap<Row<Callback>, usize> = HashMap::default();
    executions().for_each(|(row, _)| *counts.entry(row.callback).or_default() += 1);
    let mut samples: HashMap<Row<Callback>, (usize, Vec<i64>)> = HashMap::default();
    for (row, took_ns) in executions() {
        let (passed, sample) = samples.entry(row.callback).or_default();
        if passed.is_multiple_of(counts[&row.callback].div_ceil(SAMPLE)) {
            sample.push(took_ns);
        }
        *passed += 1;
    }
    let steady = samples.into_iter().filter_map(|(callback, (count, mut sample))| {
        sample.sort_unstable();
        let (low, median) = (sample[sample.len() / 10], sample[(sample.len() - 1) / 2]);
        (count >= LEAST_EXECUTIONS && median as f64 <= STEADY * low as f64).then_some((callback, median))
    });
    let usual: HashMap<Row<Callback>, i64> = steady.collect();
    let timed = executions().filter_map(|(row, took_ns)| {
        let (start_ns, end_ns, usual_ns) = (row.start_ns, row.end_ns.get()?, *usual.get(&row.callback)?);
        Some(Timed { callback: row.callback, start_ns, end_ns, took_ns, usual_ns })
    });
    timed.collect()
}

/// What an execution computed: its CPU time, or its wall time if that is not known.
fn took_ns(execution: &Execution) -> Option<i64> {
    let all_ns = execution.end_ns.get()? - execution.start_ns;
    Some(execution.cpu_ns.get().unwrap_or(all_ns)).filter(|took_ns| *took_ns >= LEAST_NS)
}

/// How many times as long as usual the steps of each window took, by its number. A window has so many bins.
fn step_factors(steps: [&[StepTime]; KINDS], bins: i64) -> HashMap<i64, f64> {
    let mut by_window: HashMap<i64, (u32, Vec<f64>)> = HashMap::default();
    for of_kind in steps.into_iter().filter(|of_kind| !of_kind.is_empty()) {
        let usual = median(of_kind.iter().map(|of| f64::from(of.median_ns)));
        for of in of_kind {
            let (count, factors) = by_window.entry(of.bin.div_euclid(bins)).or_default();
            *count += of.count;
            factors.push(f64::from(of.median_ns) / usual);
        }
    }
    let known = by_window.into_iter().filter(|(_, (count, _))| *count >= LEAST_STEPS);
    known.map(|(window, (_, factors))| (window, median(factors.into_iter()))).collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    middle(&sorted(values))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn middle(sorted: &[f64]) -> f64 {
    sorted[(sorted.len() - 1) / 2]
}
