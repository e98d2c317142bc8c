//! Chains of the twin.

use super::Maker;
use std::collections::BTreeSet;
use tacho_tables::row::{numbered, Row};
use tacho_workload::model::{topics_between, Chain};

impl Maker<'_> {
    /// Chains that the run named; otherwise the critical one and the one that is asked for. Those that are no path of
    /// the twin are told.
    pub(super) fn chains(&mut self, asked: Option<Row<tacho_tables::Chain>>) -> Vec<Chain> {
        let named: Vec<String> =
            self.known.map(|k| k.chains.iter().map(|c| c.name.clone()).collect()).unwrap_or_default();
        // A chain that the workload names by its nodes may go over several topics: a path each.
        let name_of = |chain: &tacho_tables::Chain| {
            let is_it = |name: &&String| chain.name.strip_prefix(name.as_str()).is_some_and(is_rest_of_name);
            named.iter().find(is_it).unwrap_or(&chain.name).clone()
        };
        let is_wanted = |(row, chain): &(Row<tacho_tables::Chain>, &tacho_tables::Chain)| match named.is_empty() {
            true => chain.critical || Some(*row) == asked,
            false => named.contains(&name_of(chain)),
        };
        let mut chains: Vec<Chain> = Vec::new();
        for (_, chain) in numbered(&self.tables.chains).filter(is_wanted) {
            let name = self.names.other("chain", &name_of(chain));
            let nodes: Option<Vec<String>> =
                chain.path.iter().step_by(2).map(|of| Some(self.names.of_node(of)?[1..].to_owned())).collect();
            let of = |name: &str| self.nodes.iter().find(|(node, _)| node.name == *name).map(|(node, _)| node);
            let joined = |pair: &[String]| match (of(&pair[0]), of(&pair[1])) {
                (Some(from), Some(to)) => topics_between(from, to).next().is_some(),
                _ => false,
            };
            let is_path = |nodes: &Vec<String>| {
                let ways: BTreeSet<&[String]> = nodes.windows(2).collect();
                nodes.len() > 1
                    && ways.len() == nodes.len() - 1
                    && nodes.windows(2).all(|way| way[0] != way[1] && joined(way))
            };
            match nodes.filter(is_path) {
                Some(nodes) if chains.iter().all(|known| known.name != name) => {
                    let topics = chain.path.iter().skip(1).step_by(2);
                    let topics: Vec<&str> = topics.map(|topic| self.names.of_topic(topic).unwrap_or(topic)).collect();
                    // A workload may leave open over which topics its chain goes.
                    let known = self.known.and_then(|known| known.chain(&name_of(chain)));
                    chains.push(match known {
                        Some(known) => {
                            let named = known.topics.iter().zip(topics);
                            let named = named.map(|(named, topic)| named.as_ref().map(|_| topic.to_owned()));
                            Chain::with_topics(name, nodes, named.collect())
                        }
                        None => Chain::over(name, nodes, &topics, of),
                    });
                }
                Some(_) => {}
                None => {
                    self.lacks.push(format!("chain {name}, which is no path of the twin that takes each way once."))
                }
            }
        }
        chains
    }
}

/// What may come after the name of a chain: nothing, or the topics of one of its paths.
fn is_rest_of_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(" over ")
}
