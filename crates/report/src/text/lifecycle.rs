//! Managed nodes: the state that each was in last, and how long in which.

use super::{number, table, Terminal};
use table::{Column, Table};
use tacho_tables::summary::LifecycleFigures;

/// States in which a node stays; the others are on the way between them.
const STAYING: [&str; 4] = ["unconfigured", "inactive", "active", "finalized"];

impl Terminal {
    pub(super) fn lifecycle(&self, out: &mut String, nodes: &[LifecycleFigures]) {
        let mut columns = vec![Column::text("node"), Column::text("last state"), Column::number("transitions")];
        columns.extend(STAYING.map(Column::number));
        columns.push(Column::number("changing"));
        let mut table = Table::new(columns);
        let (told, more) = self.told(nodes, |of| if of.state == "active" { 0.0 } else { 1.0 });
        for of in told {
            let mut row = vec![of.node.clone(), of.state.clone(), of.transitions.to_string()];
            row.extend(STAYING.map(|state| number(of.in_state_s.get(state).copied(), 3)));
            let changing =
                of.in_state_s.iter().filter(|(state, _)| !STAYING.contains(&state.as_str())).map(|(_, s)| s).sum();
            row.push(number(Some(changing), 3));
            table.row(row);
        }
        self.section(out, "Managed nodes: the state that each was in last, and seconds in each", table);
        self.and_more(out, more, "are those that are not active, then others");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_nodes_than_are_told_those_that_are_not_active_are() {
        let node = |index: usize| LifecycleFigures {
            node: format!("/node_{index:02}"),
            state: if index == 59 { "inactive" } else { "active" }.into(),
            in_state_s: [("inactive", 0.5), ("activating", 0.125), ("active", 2.0)]
                .map(|(state, s)| (state.to_owned(), s))
                .into(),
            ..LifecycleFigures::default()
        };
        let nodes: Vec<LifecycleFigures> = (0..60).map(node).collect();
        let mut text = String::new();
        Terminal::default().lifecycle(&mut text, &nodes);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("/node")).collect();
        assert_eq!(rows.len(), 40);
        let first: Vec<&str> = rows[0].split_whitespace().collect();
        assert_eq!(first, ["/node_59", "inactive", "0", "–", "0.500", "2.000", "–", "0.125"]);
        assert!(text.contains("and 20 more:"), "{text}");
        let mut few = String::new();
        Terminal::default().lifecycle(&mut few, &nodes[57..]);
        let order: Vec<&str> =
            few.lines().filter_map(|line| line.strip_prefix("/node_")).map(|line| &line[..2]).collect();
        assert_eq!(order, ["57", "58", "59"], "all are told, in their order");
    }
}
