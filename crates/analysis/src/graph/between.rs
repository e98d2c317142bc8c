//! Every path between two ends that somebody states: topics, or nodes. "From /points to /brake" is how an
//! obstacle-to-brake delay is asked for.

use super::{Graph, Path, MOST_PATHS, MOST_STEPS};
use crate::observe::Topic;
use crate::stages::Ways;
use tacho_tables::row::{rows_of, Column, Row};
use tacho_tables::{Node, Note};
use tacho_workload::links::Between;
use tacho_workload::model::is_called;

/// Where a path may end.
struct Ends {
    /// Topic that it must begin on, where one is stated.
    first: Option<Row<Topic>>,
    /// Topic that its last node publishes, where one is stated.
    output: Option<Row<Topic>>,
    /// Nodes that it may end at.
    last: Vec<Row<Node>>,
}

/// The paths, all of one name; a note where there is none, or more than are looked at.
pub(super) fn between(graph: &Graph<'_>, seen: &Ways, name: &str, stated: &Between) -> (Vec<Path>, Option<Note>) {
    let note = |name: &str, text: String| Some(Note { name: name.into(), count: 1, text });
    let ((first, from), (output, last)) = match (end(seen, &stated.from), end(seen, &stated.to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(why), _) | (_, Err(why)) => return (Vec::new(), note("chain-not-found", format!("chain {name}: {why}"))),
    };
    let ends = Ends { first, output, last };
    let leads = graph.leads_to(&ends.last);
    let (mut found, mut steps) = (Vec::new(), MOST_STEPS);
    let whole = from
        .iter()
        .all(|node| graph.walk(name, &ends, &leads, &mut vec![*node], &mut Vec::new(), &mut found, &mut steps));
    let told = match (found.is_empty(), whole) {
        (true, _) => note(
            "chain-not-found",
            format!("chain {name}: no topics and nodes lead from {} to {}", stated.from, stated.to),
        ),
        (false, false) => note(
            "paths-cut",
            format!(
                "chain {name}: of the ways from {} to {}, {} are looked at; name its nodes in a links file",
                stated.from,
                stated.to,
                found.len()
            ),
        ),
        (false, true) => None,
    };
    (found, told)
}

/// A topic and the nodes that publish it, or the nodes of this name; why it is neither, or both. `node:` and `topic:`
/// before it decide.
fn end(seen: &Ways, stated: &str) -> Result<(Option<Row<Topic>>, Vec<Row<Node>>), String> {
    let (node_only, topic_only) = (stated.strip_prefix("node:"), stated.strip_prefix("topic:"));
    let name = node_only.or(topic_only).unwrap_or(stated);
    let is_it = |topic: &Row<Topic>| {
        is_called(&seen.topics.names[*topic], name) && !seen.by_topic[*topic].publishers.is_empty()
    };
    let topic = if node_only.is_some() { None } else { seen.by_topic.rows().find(is_it) };
    let of_name = |node: &Row<Node>| topic_only.is_none() && is_called(&seen.nodes[*node].name, name);
    let nodes: Vec<Row<Node>> = rows_of(&seen.nodes).filter(of_name).collect();
    match (topic, nodes.is_empty()) {
        (Some(_), false) => {
            Err(format!("{name} is a topic and a node: topic:{name} is the one, node:{name} the other"))
        }
        (Some(topic), true) => {
            let mut nodes: Vec<Row<Node>> =
                seen.by_topic[topic].publishers.iter().map(|p| seen.endpoints[*p].node).collect();
            nodes.sort_unstable();
            nodes.dedup();
            Ok((Some(topic), nodes))
        }
        (None, false) => Ok((None, nodes)),
        (None, true) if node_only.is_some() => Err(format!("{name} is no recorded node")),
        (None, true) if topic_only.is_some() => Err(format!("{name} is no topic that a recorded node publishes")),
        (None, true) => Err(format!("{name} is no topic that a recorded node publishes, and no recorded node")),
    }
}

impl Graph<'_> {
    /// Whether each node leads to one of `last`.
    fn leads_to(&self, last: &[Row<Node>]) -> Column<Node, bool> {
        let mut into: Column<Node, Vec<Row<Node>>> = Column::of(vec![Vec::new(); self.out.len()]);
        self.out.numbered().for_each(|(from, ways)| ways.iter().for_each(|(_, to)| into[*to].push(from)));
        let mut leads: Column<Node, bool> = Column::of(vec![false; self.out.len()]);
        let mut open = last.to_vec();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut leads[node], true) {
                open.extend(&into[node]);
            }
        }
        leads
    }

    /// Goes on from the last of `nodes`; false where there are too many ways.
    #[allow(clippy::too_many_arguments)]
    fn walk(
        &self,
        name: &str,
        ends: &Ends,
        leads: &Column<Node, bool>,
        nodes: &mut Vec<Row<Node>>,
        topics: &mut Vec<Row<Topic>>,
        found: &mut Vec<Path>,
        steps: &mut u32,
    ) -> bool {
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        if !topics.is_empty() && ends.last.contains(&nodes[nodes.len() - 1]) {
            if found.len() == MOST_PATHS {
                return false;
            }
            let (nodes, topics) = (nodes.clone(), topics.clone());
            found.push(Path { name: name.into(), nodes, topics, output: ends.output, named: true, deadline_ns: None });
        }
        // The end may be where it began: a round trip.
        let first = nodes[0];
        let here = &self.out[nodes[nodes.len() - 1]];
        let back = |way: &&super::Way| way.1 == first && ends.last.contains(&first) && ends.output.is_none();
        let back: Vec<super::Way> = here.iter().filter(back).filter(|way| !self.legs.is_leg(way.0)).copied().collect();
        let returned = nodes.len() > 1 && nodes[nodes.len() - 1] == first;
        let ways = if returned { Vec::new() } else { [self.ways(nodes, topics), back].concat() };
        for (topic, to) in ways {
            let begins = !topics.is_empty() || ends.first.is_none_or(|first| first == topic);
            // Over the last topic and on is a way past the end.
            if !begins || Some(topic) == ends.output || !leads[to] {
                continue;
            }
            nodes.push(to);
            topics.push(topic);
            let whole = self.walk(name, ends, leads, nodes, topics, found, steps);
            nodes.pop();
            topics.pop();
            if !whole {
                return false;
            }
        }
        true
    }
}
