//! Figures of managed nodes: how long in which state.

use crate::figures::Repeat;
use crate::summary::LifecycleFigures;
use crate::tables::NodeState;
use std::collections::BTreeMap;

/// From when to when a node was in which state, in the measured window and until its process ended.
pub(crate) fn stretches<'a>(repeat: &Repeat<'a>, node: u32) -> Vec<(&'a str, i64, i64)> {
    let (tables, options) = (repeat.tables, &repeat.options);
    let rows: Vec<&NodeState> = tables.states.iter().filter(|row| row.node == node).collect();
    let last = tables.processes[tables.nodes[node as usize].process as usize].last_ns;
    let (from, to) = (options.measured_from_ns.unwrap_or(i64::MIN), options.measured_to_ns.unwrap_or(i64::MAX).min(last));
    let end = |position: usize| rows.get(position + 1).map_or(last, |next| next.from_ns).min(to);
    let all = rows.iter().enumerate().map(|(position, row)| (row.state.as_str(), row.from_ns.max(from), end(position)));
    all.filter(|(_, from, to)| to >= from).collect()
}

/// Figures of every managed node, over all repeats.
pub(crate) fn figures(repeats: &[Repeat<'_>]) -> Vec<LifecycleFigures> {
    let mut nodes: BTreeMap<&str, LifecycleFigures> = BTreeMap::new();
    for repeat in repeats {
        for (node, row) in repeat.tables.nodes.iter().enumerate() {
            let stretches = stretches(repeat, node as u32);
            let Some((last, ..)) = stretches.last() else { continue };
            let figures = nodes.entry(&row.name).or_insert_with(|| LifecycleFigures { node: row.name.clone(), ..Default::default() });
            figures.state = last.to_string();
            figures.transitions += stretches.len() as u64 - 1;
            for (state, from, to) in stretches {
                *figures.in_state_s.entry(state.into()).or_default() += (to - from) as f64 / 1e9;
            }
        }
    }
    nodes.into_values().collect()
}
