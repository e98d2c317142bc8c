//! Managed nodes: the state that each was in last, and how long in which.

use super::{number, table, Terminal};
use table::{Column, Table};
use tacho_analysis::summary::LifecycleFigures;

/// States in which a node stays; the others are on the way between them.
const STAYING: [&str; 4] = ["unconfigured", "inactive", "active", "finalized"];

impl Terminal {
    pub(super) fn lifecycle(&self, out: &mut String, nodes: &[LifecycleFigures]) {
        let mut columns = vec![Column::text("node"), Column::text("last state"), Column::number("transitions")];
        columns.extend(STAYING.map(Column::number));
        columns.push(Column::number("changing"));
        let mut table = Table::new(columns);
        for of in nodes {
            let mut row = vec![of.node.clone(), of.state.clone(), of.transitions.to_string()];
            row.extend(STAYING.map(|state| number(of.in_state_s.get(state).copied(), 3)));
            let changing = of.in_state_s.iter().filter(|(state, _)| !STAYING.contains(&state.as_str())).map(|(_, s)| s).sum();
            row.push(number(Some(changing), 3));
            table.row(row);
        }
        self.section(out, "Managed nodes: the state that each was in last, and seconds in each", table);
    }
}
