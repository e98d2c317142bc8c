//! Figures of managed nodes: how long in which state.

use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::LifecycleFigures;
use tacho_tables::{Node, NodeState};

/// From when to when a node was in which state, in the measured window and until its process ended.
pub(crate) fn stretches<'a>(repeat: &Repeat<'a>, node: Row<Node>) -> Vec<(&'a str, i64, i64)> {
    let (tables, options) = (repeat.tables, &repeat.options);
    let rows: Vec<&NodeState> = tables.states.iter().filter(|row| row.node == node).collect();
    let last = tables.processes[tables.nodes[node].process].last_ns;
    let (from, to) =
        (options.measured_from_ns.unwrap_or(i64::MIN), options.measured_to_ns.unwrap_or(i64::MAX).min(last));
    let end = |position: usize| rows.get(position + 1).map_or(last, |next| next.from_ns).min(to);
    let all = rows.iter().enumerate().map(|(position, row)| (row.state.as_str(), row.from_ns.max(from), end(position)));
    all.filter(|(_, from, to)| to >= from).collect()
}

/// Figures of every managed node, over all repeats.
pub(crate) fn figures(repeats: &[Repeat<'_>]) -> Vec<LifecycleFigures> {
    let mut nodes: BTreeMap<&str, LifecycleFigures> = BTreeMap::new();
    for repeat in repeats {
        for (node, row) in numbered(&repeat.tables.nodes) {
            let stretches = stretches(repeat, node);
            let Some((last, ..)) = stretches.last() else { continue };
            let figures = nodes
                .entry(&row.name)
                .or_insert_with(|| LifecycleFigures { node: row.name.clone(), ..Default::default() });
            figures.state = last.to_string();
            figures.transitions += stretches.len() as u64 - 1;
            for (state, from, to) in stretches {
                *figures.in_state_s.entry(state.into()).or_default() += (to - from) as f64 / 1e9;
            }
        }
    }
    nodes.into_values().collect()
}
