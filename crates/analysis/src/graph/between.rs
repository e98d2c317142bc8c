//! Every path between two ends that somebody states: topics, nodes, or callbacks. "From /points to /brake" is how an
//! obstacle-to-brake delay is asked for.

use super::callbacks::of_name;
use super::passing::takes;
use super::{End, Graph, Path, Way, MOST_PATHS, MOST_STEPS};
use crate::observe::Topic;
use crate::stages::Ways;
use tacho_tables::row::{rows_of, Column, Row};
use tacho_tables::{Callback, Node, Note};
use tacho_workload::links::Between;
use tacho_workload::model::is_called;

/// An end of a path.
struct Stated {
    /// Topic, if that is stated.
    topic: Option<Row<Topic>>,
    /// Nodes that it may be at.
    nodes: Vec<Row<Node>>,
    /// Callbacks of these nodes, if those are stated; else none.
    callbacks: Vec<Row<Callback>>,
}

/// Both ends, and the name of all paths between them.
struct Ends<'a> {
    name: &'a str,
    from: Stated,
    to: Stated,
    /// Whether each node leads to one that it may end at.
    leads: Column<Node, bool>,
}

/// The paths, all of one name; a note where there is none, or more than are looked at.
pub(super) fn between(graph: &Graph<'_>, seen: &Ways, name: &str, stated: &Between) -> (Vec<Path>, Option<Note>) {
    let note = |name: &str, text: String| Some(Note { name: name.into(), count: 1, text });
    let (from, to) = match (end(seen, &stated.from), end(seen, &stated.to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(why), _) | (_, Err(why)) => return (Vec::new(), note("chain-not-found", format!("chain {name}: {why}"))),
    };
    let ends = Ends { name, leads: graph.leads_to(&to.nodes), from, to };
    let (mut found, mut steps) = (Vec::new(), MOST_STEPS);
    let mut walk =
        |node: &Row<Node>| graph.walk(seen, &ends, &mut vec![*node], &mut Vec::new(), &mut found, &mut steps);
    let whole = ends.from.nodes.iter().all(&mut walk);
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

/// A topic and the nodes that publish it, the nodes of this name, or callbacks of this name; why it is none of them, or
/// several. `node:`, `topic:` and `callback:` before it decide.
fn end(seen: &Ways, stated: &str) -> Result<Stated, String> {
    const KINDS: [&str; 3] = ["topic", "node", "callback"];
    let of_kind = |kind: &str| Some((kind.to_owned(), stated.strip_prefix(kind)?.strip_prefix(':')?));
    let (only, name) = KINDS.into_iter().find_map(of_kind).unwrap_or((String::new(), stated));
    let may_be = |kind: &str| only.is_empty() || only == kind;
    let is_it = |topic: &Row<Topic>| {
        is_called(&seen.topics.names[*topic], name) && !seen.by_topic[*topic].publishers.is_empty()
    };
    let topic = seen.by_topic.rows().filter(|_| may_be("topic")).find(is_it);
    let of_name_here = |node: &Row<Node>| may_be("node") && is_called(&seen.nodes[*node].name, name);
    let nodes: Vec<Row<Node>> = rows_of(&seen.nodes).filter(of_name_here).collect();
    let sorted = |mut nodes: Vec<Row<Node>>| {
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    };
    match (topic, nodes.is_empty()) {
        (Some(_), false) => {
            return Err(format!("{name} is a topic and a node: topic:{name} is the one, node:{name} the other"))
        }
        (Some(topic), true) => {
            let nodes = seen.by_topic[topic].publishers.iter().map(|p| seen.endpoints[*p].node).collect();
            return Ok(Stated { topic: Some(topic), nodes: sorted(nodes), callbacks: Vec::new() });
        }
        (None, false) => return Ok(Stated { topic: None, nodes, callbacks: Vec::new() }),
        (None, true) => {}
    }
    let callbacks = if may_be("callback") { of_name(seen, name) } else { Vec::new() };
    if callbacks.is_empty() {
        return Err(match only.as_str() {
            "node" => format!("{name} is no recorded node"),
            "topic" => format!("{name} is no topic that a recorded node publishes"),
            "callback" => format!("{name} is no recorded callback"),
            _ => format!("{name} is no topic that a recorded node publishes, no recorded node, and no callback"),
        });
    }
    let nodes = sorted(callbacks.iter().filter_map(|callback| seen.callbacks[*callback].node).collect());
    Ok(Stated { topic: None, nodes, callbacks })
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
    fn walk(
        &self,
        seen: &Ways,
        ends: &Ends<'_>,
        nodes: &mut Vec<Row<Node>>,
        topics: &mut Vec<Row<Topic>>,
        found: &mut Vec<Path>,
        steps: &mut u32,
    ) -> bool {
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        let (first, here) = (nodes[0], nodes[nodes.len() - 1]);
        let by = |row: Row<Node>, stated: &Stated| -> Vec<Row<Callback>> {
            stated.callbacks.iter().filter(|c| seen.callbacks[**c].node == Some(row)).copied().collect()
        };
        let ends_by = |(topic, to): Way| ends.to.nodes.contains(&to) && takes(seen, &by(to, &ends.to), topic);
        let push = |found: &mut Vec<Path>, nodes: &[Row<Node>], topics: &[Row<Topic>], end: End| {
            let mut path = Path::new(ends.name.to_owned(), nodes, topics);
            let last = nodes.len() - 1;
            (path.by[0], path.by[last]) = (by(nodes[0], &ends.from), by(nodes[last], &ends.to));
            let end = if path.by[last].is_empty() { end } else { End::Callback };
            let output = ends.to.topic.or_else(|| self.callbacks.only_output(seen, &path.by[last]));
            let path = Path { output, named: true, end, ..path };
            if found.len() == MOST_PATHS {
                return false;
            }
            found.push(path);
            true
        };
        let end = if self.passed_before(nodes, topics) { End::Callback } else { End::Output };
        if topics.last().is_some_and(|last| ends_by((*last, here))) && !push(found, nodes, topics, end) {
            return false;
        }
        // The end may be where it began: a round trip.
        let back = |way: &&Way| way.1 == first && ends.to.topic.is_none() && ends_by(**way) && !self.legs.is_leg(way.0);
        let back: Vec<Way> = self.out[here].iter().filter(back).copied().collect();
        let mut ways = self.ways(nodes, topics);
        ways.retain(|way| !back.contains(way));
        for (way, comes_back) in ways.iter().map(|way| (way, false)).chain(back.iter().map(|way| (way, true))) {
            let (topic, to) = *way;
            let from_here = ends.from.topic.is_none_or(|first| first == topic)
                && (ends.from.callbacks.is_empty() || self.callbacks.publish(&by(here, &ends.from), topic));
            // Over the last topic and on is a way past the end.
            if topics.is_empty() && !from_here || Some(topic) == ends.to.topic || !ends.leads[to] {
                continue;
            }
            nodes.push(to);
            topics.push(topic);
            let whole = match comes_back {
                true => push(found, nodes, topics, End::Return),
                false => self.walk(seen, ends, nodes, topics, found, steps),
            };
            nodes.pop();
            topics.pop();
            if !whole {
                return false;
            }
        }
        true
    }
}
