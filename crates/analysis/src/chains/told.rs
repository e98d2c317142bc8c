//! Instances of chains that are told one by one: they have hops, and causes can be told of them, whatever the length
//! of the run.

use rustc_hash::FxHashSet as HashSet;
use std::cmp::Reverse;
use std::ops::Range;
use tacho_tables::late::late_above_ns;
use tacho_tables::row::{rows_of, Row};
use tacho_tables::Instance;

/// Instances explained where nobody states a deadline: the worst of each chain.
const WORST: usize = 10;
/// Instances explained of those that missed a stated deadline, and of late ones of chains that matter most, worst
/// first.
const MOST_LATE: usize = 200;
/// Instances that the usual time of each part is taken from at most, evenly spread over the run.
const SAMPLE: usize = 512;
/// The same of a chain of which only the worst are explained.
const FEW: usize = 64;

/// Rows of the late instances of a chain, worst first; of those that share an input the worst. Where nobody states a
/// deadline, the worst, and `all_late` of those that take longer than usual.
pub(super) fn late(
    all: &[Instance],
    of_chain: Range<u32>,
    deadline_ns: Option<i64>,
    all_late: bool,
) -> Vec<Row<Instance>> {
    let of_chain = of_chain.map(Row::new);
    let whole = |row: &Row<Instance>| all[*row].end_to_end_ns;
    let above = match deadline_ns {
        Some(deadline) => Some(deadline),
        None if all_late => late_above_ns(of_chain.clone().map(|row| whole(&row)).collect()),
        None => None,
    };
    let mut rows: Vec<Row<Instance>> = match deadline_ns {
        Some(deadline) => of_chain.filter(|row| whole(row) > deadline).collect(),
        None => of_chain.collect(),
    };
    rows.sort_by_key(|row| (Reverse(whole(row)), *row));
    let mut inputs = HashSet::default();
    rows.retain(|row| inputs.insert(all[*row].start_ns));
    let late = above.map_or(0, |above| rows.partition_point(|row| whole(row) > above).min(MOST_LATE));
    rows.truncate(if deadline_ns.is_some() { late } else { late.max(WORST) });
    rows
}

/// A sample of them, evenly spread.
pub(super) fn sample(of_chain: Range<u32>) -> impl ExactSizeIterator<Item = Row<Instance>> {
    let step = of_chain.len().div_ceil(SAMPLE).max(1);
    of_chain.step_by(step).map(Row::new)
}

/// A few of that sample, evenly spread.
pub(super) fn few(of_chain: Range<u32>) -> impl Iterator<Item = Row<Instance>> {
    let sample = sample(of_chain);
    let step = sample.len().div_ceil(FEW).max(1);
    sample.step_by(step)
}

/// All of these of one chain that nobody named, and which so has no deadline, in order, with its best, median and
/// worst, which the page draws.
pub(super) fn told(instances: &[Instance]) -> Vec<Row<Instance>> {
    let all = 0..instances.len() as u32;
    let mut by_length: Vec<Row<Instance>> = rows_of(instances).collect();
    by_length.sort_by_key(|row| (instances[*row].end_to_end_ns, *row));
    let drawn = [Some(0), by_length.len().checked_sub(1).map(|last| last / 2), by_length.len().checked_sub(1)];
    let drawn = drawn.into_iter().flatten();
    let mut rows: Vec<Row<Instance>> = drawn.filter_map(|place| by_length.get(place).copied()).collect();
    rows.extend(late(instances, all.clone(), None, true));
    rows.extend(sample(all));
    rows.sort_unstable();
    rows.dedup();
    rows
}
