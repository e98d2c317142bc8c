//! Every path between two ends that somebody states: topics, or nodes. "From /points to /brake" is how an obstacle-to-brake delay is asked for.

use super::{Graph, Path, MOST_PATHS, MOST_STEPS};
use crate::link::Linked;
use crate::observe::{is_called, Observed};
use crate::tables::Note;
use tacho_workload::links::Between;

/// Where a path may end.
struct Ends {
    /// Topic that it must begin on, where one is stated.
    first: Option<u32>,
    /// Topic that its last node publishes, where one is stated.
    output: Option<u32>,
    /// Nodes that it may end at.
    last: Vec<u32>,
}

/// The paths, all of one name; a note where there is none, or more than are looked at.
pub(super) fn between(graph: &Graph<'_>, seen: &Observed, linked: &Linked, name: &str, stated: &Between) -> (Vec<Path>, Option<Note>) {
    let note = |name: &str, text: String| Some(Note { name: name.into(), count: 1, text });
    let ((first, from), (output, last)) = match (end(seen, linked, &stated.from), end(seen, linked, &stated.to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(why), _) | (_, Err(why)) => return (Vec::new(), note("chain-not-found", format!("chain {name}: {why}"))),
    };
    let ends = Ends { first, output, last };
    let leads = graph.leads_to(&ends.last);
    let (mut found, mut steps) = (Vec::new(), MOST_STEPS);
    let whole = from.iter().all(|node| graph.walk(name, &ends, &leads, &mut vec![*node], &mut Vec::new(), &mut found, &mut steps));
    let told = match (found.is_empty(), whole) {
        (true, _) => note("chain-not-found", format!("chain {name}: no topics and nodes lead from {} to {}", stated.from, stated.to)),
        (false, false) => note("paths-cut", format!("chain {name}: of the ways from {} to {}, {} are looked at; name its nodes in a links file", stated.from, stated.to, found.len())),
        (false, true) => None,
    };
    (found, told)
}

/// A topic and the nodes that publish it, or the nodes of this name; why it is neither, or both. `node:` and `topic:` before it decide.
fn end(seen: &Observed, linked: &Linked, stated: &str) -> Result<(Option<u32>, Vec<u32>), String> {
    let (node_only, topic_only) = (stated.strip_prefix("node:"), stated.strip_prefix("topic:"));
    let name = node_only.or(topic_only).unwrap_or(stated);
    let is_it = |topic: &usize| is_called(&seen.topics.names[*topic], name) && !linked.topics[*topic].publishers.is_empty();
    let topic = if node_only.is_some() { None } else { (0..linked.topics.len()).find(is_it) };
    let of_name = |node: &u32| topic_only.is_none() && is_called(&seen.nodes[*node as usize].name, name);
    let nodes: Vec<u32> = (0..seen.nodes.len() as u32).filter(of_name).collect();
    match (topic, nodes.is_empty()) {
        (Some(_), false) => Err(format!("{name} is a topic and a node: topic:{name} is the one, node:{name} the other")),
        (Some(topic), true) => {
            let mut nodes: Vec<u32> = linked.topics[topic].publishers.iter().map(|p| seen.endpoints[*p as usize].node).collect();
            nodes.sort_unstable();
            nodes.dedup();
            Ok((Some(topic as u32), nodes))
        }
        (None, false) => Ok((None, nodes)),
        (None, true) if node_only.is_some() => Err(format!("{name} is no recorded node")),
        (None, true) if topic_only.is_some() => Err(format!("{name} is no topic that a recorded node publishes")),
        (None, true) => Err(format!("{name} is no topic that a recorded node publishes, and no recorded node")),
    }
}

impl Graph<'_> {
    /// Whether each node leads to one of `last`.
    fn leads_to(&self, last: &[u32]) -> Vec<bool> {
        let mut into = vec![Vec::new(); self.out.len()];
        self.out.iter().enumerate().for_each(|(from, ways)| ways.iter().for_each(|(_, to)| into[*to as usize].push(from as u32)));
        let mut leads = vec![false; self.out.len()];
        let mut open = last.to_vec();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut leads[node as usize], true) {
                open.extend(&into[node as usize]);
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
        leads: &[bool],
        nodes: &mut Vec<u32>,
        topics: &mut Vec<u32>,
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
        for (topic, to) in self.ways(nodes, topics) {
            let begins = !topics.is_empty() || ends.first.is_none_or(|first| first == topic);
            // Over the last topic and on is a way past the end.
            if !begins || Some(topic) == ends.output || !leads[to as usize] {
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
