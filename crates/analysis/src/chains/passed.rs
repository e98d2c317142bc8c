//! The callbacks that the instances of a path pass.

use super::follow::Trail;
use crate::graph::Path;
use crate::observe::Seen;
use std::cmp::Reverse;
use tacho_tables::row::Row;
use tacho_tables::Callback;

/// The one that took the input, if it is another, and the one that ran to the output.
type AtNode = (Option<Row<Callback>>, Option<Row<Callback>>);

/// How often each, by position on the path: a few at each.
pub(super) struct Passed(Vec<Vec<(AtNode, u64)>>);

impl Passed {
    /// Of a path with this many nodes.
    pub fn of(nodes: usize) -> Passed {
        Passed(vec![Vec::new(); nodes])
    }

    pub fn add(&mut self, seen: &Seen, trail: &Trail<'_>) {
        for (here, (took, ran)) in self.0.iter_mut().zip(trail.passed(seen)) {
            let took = took.filter(|took| Some(*took) != ran);
            match here.iter_mut().find(|(at, _)| *at == (took, ran)) {
                Some((_, count)) => *count += 1,
                None => here.push(((took, ran), 1)),
            }
        }
    }

    /// Names of those that most instances pass, in order; none without instances.
    pub fn names(&self, seen: &Seen, path: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for (here, node) in self.0.iter().zip(&path.nodes) {
            let Some(((took, ran), _)) = here.iter().min_by_key(|(at, count)| (Reverse(*count), *at)) else {
                return Vec::new();
            };
            let name =
                |callback: Row<Callback>| seen.callbacks[callback].name(&seen.nodes, &seen.processes).to_string();
            names.extend(took.map(name));
            names.push(ran.map_or_else(|| seen.nodes[*node].name.clone(), name));
        }
        names
    }
}
