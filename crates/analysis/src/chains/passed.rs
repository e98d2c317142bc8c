//! The callbacks that the instances of a path pass.

use super::follow::Trail;
use crate::graph::Path;
use crate::observe::Seen;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::Callback;

/// The one that took the input, if it is another, and the one that ran to the output.
type AtNode = (Option<Row<Callback>>, Option<Row<Callback>>);

/// How often each, by position on the path.
#[derive(Default)]
pub(super) struct Passed(BTreeMap<(usize, AtNode), u64>);

impl Passed {
    pub fn add(&mut self, seen: &Seen, trail: &Trail) {
        let last = trail.hops.len() - 1;
        for (place, hop) in trail.hops.iter().enumerate() {
            let ran = hop.execution.map(|execution| seen.executions[execution].callback);
            let took = trail.waits.get(place).and_then(|wait| wait.callback).filter(|took| Some(*took) != ran);
            *self.0.entry((last - place, (took, ran))).or_default() += 1;
        }
    }

    /// Names of those that most instances pass, in order; none without instances.
    pub fn names(&self, seen: &Seen, path: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for (position, node) in path.nodes.iter().enumerate() {
            let here = self.0.iter().filter(|((at, _), _)| *at == position);
            let Some(((_, (took, ran)), _)) = here.min_by_key(|(at, count)| (Reverse(**count), **at)) else {
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
