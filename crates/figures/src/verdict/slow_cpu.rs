//! Late instances that were on their way while a CPU was slower.

use super::late::{number_of, Case, Late};
use super::{count, Suspect};
use crate::figures::Repeat;
use crate::lints::{SLOW_CPU, SLOW_CPU_NEXT};
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::summary::{ChainFigures, Culprit};
use tacho_tables::{Process, Slowdown, Slowdowns};

/// Part of the late instances, and how many of them.
const OF_LATE: (f64, usize) = (0.5, 3);
/// So many times as often a late instance must have been on its way then as any.
const OFTENER: f64 = 2.0;

pub(super) fn suspect(repeats: &[Repeat<'_>], late: &Late<'_>, chain: &ChainFigures) -> Option<Suspect> {
    let slow: BTreeMap<usize, Vec<Slowdown>> =
        repeats.iter().map(|repeat| (number_of(repeat), of_chain(repeat, chain))).collect();
    let most = slow.values().flatten().max_by_key(|row| row.to_ns - row.from_ns)?;
    let is_in = |repeat: &Repeat<'_>, (from, to): (i64, i64)| {
        slow[&number_of(repeat)].iter().any(|stretch| stretch.from_ns < to && from < stretch.to_ns)
    };
    let is_case_in = |case: &&Case<'_>| case.parts.first().is_some_and(|(repeat, _)| is_in(repeat, case.span_ns));
    let (inside, outside): (Vec<&Case<'_>>, Vec<&Case<'_>>) = late.cases.iter().partition(is_case_in);
    let (mut all, mut all_in) = (0u64, 0u64);
    for repeat in repeats {
        let row = repeat.tables.chain(&chain.name, &chain.path);
        for instance in repeat.tables.instances.iter().filter(|instance| Some(instance.chain) == row) {
            all += 1;
            all_in += u64::from(is_in(repeat, (instance.start_ns, instance.end_ns)));
        }
    }
    let share = inside.len() as f64 / late.cases.len().max(1) as f64;
    if share < OF_LATE.0 || inside.len() < OF_LATE.1 || share * (all as f64) < OFTENER * all_in as f64 {
        return None;
    }
    let by_repeat: Vec<Slowdowns<'_>> = slow.values().map(|rows| Slowdowns::of(rows)).collect();
    let threads: usize = by_repeat.iter().map(|of| of.by_thread().count()).max()?;
    let length_ns: i64 = by_repeat.iter().map(Slowdowns::length_ns).sum();
    let weight = inside.iter().map(|case| late.above_usual_ms(case)).sum::<f64>() / late.all_ms();
    let worst_of_others = outside.iter().map(|case| case.end_to_end_ms).fold(late.worst_of_others_ms, f64::max);
    let culprit = Culprit {
        lint: Some(SLOW_CPU.name.into()),
        share_percent: Some(100.0 * weight),
        instances: inside.len() as u64,
        worst_without_ms: Some(worst_of_others),
        text: format!(
            "The CPU of {} was {:.1} times slower for {:.2} s: {} of {} late outputs were on their way then. All \
             callbacks took longer by one factor, and so did steps whose work is always the same.",
            count(threads as u64, "thread", "threads"),
            most.callbacks_factor,
            length_ns as f64 / 1e9,
            inside.len(),
            late.cases.len(),
        ),
        next: format!("See {SLOW_CPU_NEXT}."),
        ..Culprit::default()
    };
    Some(Suspect { culprit, weight })
}

/// Slow stretches of threads that run callbacks of the chain's nodes.
fn of_chain(repeat: &Repeat<'_>, chain: &ChainFigures) -> Vec<Slowdown> {
    let tables = repeat.tables;
    if tables.slowdowns.is_empty() {
        return Vec::new();
    }
    let on_it = |name: &String| chain.path.iter().step_by(2).any(|node| node == name);
    let mut threads: BTreeSet<(Row<Process>, u32)> = BTreeSet::new();
    for execution in &tables.executions {
        let callback = &tables.callbacks[execution.callback];
        if callback.node.is_some_and(|node| on_it(&tables.nodes[node].name)) {
            threads.insert((callback.process, execution.tid));
        }
    }
    tables.slowdowns.iter().filter(|row| threads.contains(&(row.process, row.tid))).copied().collect()
}
