//! Managed nodes: the state that each was in last, and how long in which.

use super::{table, Terminal};
use table::{Column, Table};
use tacho_analysis::summary::LifecycleFigures;

impl Terminal {
    pub(super) fn lifecycle(&self, out: &mut String, nodes: &[LifecycleFigures]) {
        let mut table = Table::new([Column::text("node"), Column::text("last state"), Column::number("transitions"), Column::text("time in each, s")]);
        for of in nodes {
            let states: Vec<String> = of.in_state_s.iter().map(|(state, s)| format!("{state} {s:.3}")).collect();
            table.row(vec![of.node.clone(), of.state.clone(), of.transitions.to_string(), states.join(", ")]);
        }
        self.section(out, "Managed nodes", table);
    }
}
