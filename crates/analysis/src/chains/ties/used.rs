//! Inputs of outputs, where a node says what it computed on.

use super::input_of::InputOf;
use super::{Output, Ties};
use crate::observe::{TakeSeen, Topic};
use crate::stages::Ways;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use tacho_tables::row::Row;
use tacho_tables::{Endpoint, Execution, Node};

/// Messages on which executions computed.
pub(super) struct Used {
    /// Nodes that say so.
    nodes: HashSet<Row<Node>>,
    /// Of an execution and a subscription, in order: when it said so, and the take.
    takes: HashMap<(Row<Execution>, Row<Endpoint>), Vec<(i64, Row<TakeSeen>)>>,
}

impl Used {
    pub fn of(seen: &Ways) -> Used {
        let endpoints: HashSet<Row<Endpoint>> = seen.uses.iter().map(|used| used.endpoint).collect();
        let taken: HashMap<(Row<Endpoint>, (u64, u64)), Row<TakeSeen>> = match endpoints.is_empty() {
            true => HashMap::default(),
            false => {
                let of_them = seen.takes.numbered().filter(|(_, take)| endpoints.contains(&take.endpoint));
                of_them.filter_map(|(row, take)| Some(((take.endpoint, take.id?), row))).collect()
            }
        };
        let mut takes: HashMap<_, Vec<_>> = HashMap::default();
        for used in &seen.uses {
            if let Some(take) = taken.get(&(used.endpoint, used.id)) {
                takes.entry((used.execution, used.endpoint)).or_default().push((used.time, *take));
            }
        }
        Used { nodes: endpoints.iter().map(|endpoint| seen.endpoints[*endpoint].node).collect(), takes }
    }

    pub fn says(&self, node: Row<Node>) -> bool {
        self.nodes.contains(&node)
    }
}

impl Ties<'_> {
    /// The message of an input on which the node computed last before each publish call, in its execution.
    pub(super) fn as_used(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> InputOf {
        let endpoints = self.seen.endpoints.numbered();
        let of: Vec<Row<Endpoint>> =
            endpoints.filter(|(_, e)| (e.node, e.topic) == (node, input)).map(|(row, _)| row).collect();
        let made_of = |output: &Output| {
            let told = of.iter().find_map(|endpoint| self.used.takes.get(&(output.execution, *endpoint)))?;
            let (_, take) = told.iter().rfind(|(time, _)| *time <= output.time)?;
            Some((output.publication, *take))
        };
        outputs.iter().filter_map(made_of).collect()
    }
}
