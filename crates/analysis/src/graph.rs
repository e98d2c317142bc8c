//! The graph of nodes and topics, and the paths through it.

mod between;

use crate::calls::Legs;
use crate::observe::{PublicationSeen, Seen, Topic, INTERNAL};
use crate::stages::Ways;
use std::collections::BTreeSet;
use tacho_tables::row::{Column, Row};
use tacho_tables::{CallbackKind, Endpoint, Execution, Node, Note};
use tacho_workload::links::Links;
use tacho_workload::model::is_called;
use tacho_workload::model::Workload;

/// Source-to-sink paths looked at; systems with more are cut, and a note says so.
const MOST_PATHS: usize = 256;
/// Steps of the search, for graphs with many ways and few sinks.
const MOST_STEPS: u32 = 100_000;

/// A path: nodes, and the topics between them (one fewer), all as indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    pub name: String,
    pub nodes: Vec<Row<Node>>,
    pub topics: Vec<Row<Topic>>,
    /// What its last node publishes, where that is stated; else whatever it publishes, or the end of its callback.
    pub output: Option<Row<Topic>>,
    /// Whether somebody asked for it.
    pub named: bool,
    /// By when an instance must be through.
    pub deadline_ns: Option<i64>,
}

impl Path {
    /// Whether it comes back to its first node over a topic: cut there, its end is the start of the callback that takes
    /// what came back, so that an instance is a round trip.
    pub fn returns(&self, legs: &Legs) -> bool {
        self.output.is_none()
            && self.nodes.first() == self.nodes.last()
            && self.topics.last().is_some_and(|topic| !legs.is_leg(*topic))
    }
}

impl Path {
    /// What the node at a position publishes on the way.
    pub fn output_of(&self, position: usize) -> Option<Row<Topic>> {
        self.topics.get(position).copied().or(self.output)
    }
}

/// A topic, and who subscribes to it.
type Way = (Row<Topic>, Row<Node>);

/// Edges between nodes: a topic that one publishes and another subscribes to, and the two ways of services that were
/// called.
struct Graph<'a> {
    /// By node: (topic, subscriber), in order.
    out: Column<Node, Vec<Way>>,
    legs: &'a Legs,
}

/// Named chains of the workload first, then every other source-to-sink path.
pub(crate) fn paths(seen: &Ways, workload: Option<&Workload>, stated: &Links) -> (Vec<Path>, Vec<Note>) {
    let graph = Graph::new(seen, workload);
    let mut notes = Vec::new();
    let mut paths = named(&graph, seen, workload, stated, &mut notes);
    for chain in &stated.chains {
        if let Some(ends) = &chain.between {
            let (found, note) = between::between(&graph, seen, &chain.name, ends);
            paths.extend(found);
            notes.extend(note);
        }
    }
    let mut all = Vec::new();
    let whole = graph.source_to_sink(seen, &mut all);
    if !whole {
        let text = format!(
            "the graph has more than {MOST_PATHS} source-to-sink paths; each source has its part of those that are \
             looked at, the others are not: name a chain in the workload or a links file"
        );
        notes.push(Note { name: "paths-cut".into(), count: 1, text });
    }
    let known = |p: &Path, paths: &[Path]| {
        paths.iter().any(|k| k.nodes == p.nodes && k.topics == p.topics && k.output == p.output)
    };
    for path in all {
        if !known(&path, &paths) {
            paths.push(path);
        }
    }
    deadlines(&mut paths, stated, &mut notes);
    (paths, notes)
}

/// Deadlines that are stated for chains that have their name already.
fn deadlines(paths: &mut [Path], stated: &Links, notes: &mut Vec<Note>) {
    for chain in &stated.chains {
        let mut found = false;
        for path in paths.iter_mut().filter(|p| p.name == chain.name) {
            path.named = true;
            path.deadline_ns = chain.deadline.map(|d| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX));
            found = true;
        }
        if !found && chain.nodes.is_empty() && chain.between.is_none() {
            let text = format!("a deadline is stated for chain {}, and no chain has that name", chain.name);
            notes.push(Note { name: "chain-not-found".into(), count: 1, text });
        }
    }
}

fn named(
    graph: &Graph<'_>,
    seen: &Seen,
    workload: Option<&Workload>,
    stated: &Links,
    notes: &mut Vec<Note>,
) -> Vec<Path> {
    let mut paths = Vec::new();
    let of_links = stated.chains.iter().filter(|c| !c.nodes.is_empty()).map(|c| (&c.name, &c.nodes));
    let of_workload = workload.into_iter().flat_map(|w| &w.chains).map(|c| (&c.name, &c.nodes));
    for (chain, wanted) in of_workload.chain(of_links) {
        let nodes: Option<Vec<Row<Node>>> = wanted
            .iter()
            .map(|name| seen.nodes.iter().position(|n| is_called(&n.name, name)).map(Row::behind))
            .collect();
        let mut found: Vec<Vec<Row<Topic>>> = vec![Vec::new()];
        for pair in nodes.iter().flat_map(|n| n.windows(2)) {
            let mut between: Vec<Row<Topic>> =
                graph.out[pair[0]].iter().filter(|e| e.1 == pair[1]).map(|e| e.0).collect();
            if between.iter().any(|topic| !graph.legs.is_leg(*topic)) {
                between.retain(|topic| !graph.legs.is_leg(*topic));
            }
            found = found.iter().flat_map(|f| between.iter().map(move |t| [f.as_slice(), &[*t]].concat())).collect();
        }
        match nodes {
            Some(nodes) if nodes.len() > 1 && !found.is_empty() => {
                let several = found.len() > 1;
                for topics in found.into_iter().take(MOST_PATHS) {
                    // Two topics between the same nodes: two paths, told apart by what they run over.
                    let over: Vec<&str> = topics.iter().map(|t| seen.topics.names[*t].as_str()).collect();
                    let name = if several { format!("{chain} over {}", over.join(" ")) } else { chain.clone() };
                    paths.push(Path {
                        name,
                        nodes: nodes.clone(),
                        topics,
                        output: None,
                        named: true,
                        deadline_ns: None,
                    });
                }
            }
            _ => notes.push(Note {
                name: "chain-not-found".into(),
                count: 1,
                text: format!(
                    "chain {chain} ({}): not all of its nodes were seen, or no topic connects two of them",
                    wanted.join(" -> ")
                ),
            }),
        }
    }
    paths
}

/// What the search from one source may still do.
struct Search {
    /// Paths, with those of the sources before.
    most: usize,
    steps: u32,
}

impl<'a> Graph<'a> {
    fn new(seen: &'a Ways, workload: Option<&Workload>) -> Graph<'a> {
        let mut out: Column<Node, BTreeSet<Way>> = Column::of(vec![BTreeSet::new(); seen.nodes.len()]);
        for (topic, of) in seen.by_topic.numbered() {
            // Simulated time is no data; a workload may use the name as it likes.
            if workload.is_none() && seen.topics.names[topic] == tacho_tables::CLOCK_TOPIC {
                continue;
            }
            let node = |e: &Row<Endpoint>| seen.endpoints[*e].node;
            for (from, to) in
                of.publishers.iter().flat_map(|p| of.subscriptions.iter().map(move |s| (node(p), node(s))))
            {
                if from != to {
                    out[from].insert((topic, to));
                }
            }
        }
        Graph { out: Column::of(out.iter().map(|edges| edges.iter().copied().collect())), legs: &seen.legs }
    }

    /// The request that a topic brings something back of to a node; `None` where it brings it there like any other.
    fn returns(&self, (topic, to): Way) -> Option<Row<Topic>> {
        let leg = self.legs.of(topic).filter(|leg| leg.is_response)?;
        self.out[to].iter().any(|way| way.0 == leg.service).then_some(leg.service)
    }

    /// Where a path may go on. No node twice, but for a client that a response comes back to: to the last request that
    /// none came to yet.
    fn ways(&self, nodes: &[Row<Node>], topics: &[Row<Topic>]) -> Vec<Way> {
        let mut open = Vec::new();
        for (topic, from) in topics.iter().zip(nodes) {
            match self.legs.of(*topic) {
                Some(leg) if leg.is_response => drop(open.pop()),
                Some(leg) => open.push((leg.service, *from)),
                None => {}
            }
        }
        let may = |way: &&Way| match self.returns(**way) {
            Some(service) => open.last() == Some(&(service, way.1)),
            None => !nodes.contains(&way.1),
        };
        self.out[nodes[nodes.len() - 1]].iter().filter(may).copied().collect()
    }

    /// Whether a path ends at its last node: a response came back to it, or nothing is published there and no request
    /// waits for its response.
    fn ends(&self, nodes: &[Row<Node>], topics: &[Row<Topic>], ways: &[Way]) -> bool {
        let Some(last) = topics.last() else { return false };
        let response = |way: Way| self.returns(way).is_some();
        let publishes = self.out[nodes[nodes.len() - 1]].iter().any(|way| !self.legs.is_leg(way.0));
        let answers = self.legs.is_leg(*last) && ways.iter().any(|way| response(*way));
        response((*last, nodes[nodes.len() - 1])) || !(publishes || answers)
    }

    /// False where there are too many. Then each source has its part of those that are looked at: what one leaves goes
    /// to the next.
    fn source_to_sink(&self, seen: &Ways, found: &mut Vec<Path>) -> bool {
        let mut has_input: Column<Node, bool> = Column::of(vec![false; self.out.len()]);
        let comes_in = |way: &&Way| self.returns(**way).is_none();
        self.out.iter().flatten().filter(comes_in).for_each(|(_, to)| has_input[*to] = true);
        let is_source = |n: &Row<Node>| !has_input[*n] && !self.out[*n].is_empty();
        let sources: Vec<Row<Node>> = self.out.rows().filter(is_source).collect();
        let mut whole = true;
        for (position, source) in sources.iter().enumerate() {
            let left = sources.len() - position;
            let most = found.len() + (MOST_PATHS - found.len()) / left;
            let mut search = Search { most, steps: MOST_STEPS / sources.len() as u32 };
            whole &= self.extend(seen, &mut vec![*source], &mut Vec::new(), found, &mut search);
        }
        whole & self.loops(seen, found)
    }

    /// Finds the round trips of nodes that no path from a source leads to. Each begins at a node that publishes without
    /// an input, from a timer or outside of callbacks. If all nodes publish in callbacks of what they take, it begins
    /// at the first publish call.
    fn loops(&self, seen: &Ways, found: &mut Vec<Path>) -> bool {
        let mut known: Column<Node, bool> = Column::of(vec![false; self.out.len()]);
        found.iter().flat_map(|path| &path.nodes).for_each(|node| known[*node] = true);
        let mut begins: Vec<(bool, i64, Row<Node>)> = Vec::new();
        for (node, ways) in self.out.numbered().filter(|(node, ways)| !known[*node] && !ways.is_empty()) {
            let by_node = |p: &&Row<PublicationSeen>| {
                let endpoint = seen.publications[**p].endpoint.filter(|e| *e != INTERNAL);
                endpoint.is_some_and(|e| seen.endpoints[e].node == node)
            };
            let topics = ways.iter().filter(|way| !self.legs.is_leg(way.0)).map(|way| way.0).collect::<BTreeSet<_>>();
            let first = topics.iter().filter_map(|topic| {
                let mut published = seen.by_topic[*topic].publications.iter().filter(by_node);
                published.next().map(|p| &seen.publications[*p])
            });
            let Some(first) = first.min_by_key(|p| p.time) else { continue };
            let on_timer = |e: Row<Execution>| seen.callbacks[seen.executions[e].callback].kind == CallbackKind::Timer;
            begins.push((!first.execution.is_none_or(on_timer), first.time, node));
        }
        begins.sort_unstable();
        let mut whole = true;
        for (_, _, node) in begins {
            if !known[node] {
                let before = found.len();
                let mut steps = MOST_STEPS;
                whole &= self.around(seen, &mut vec![node], &mut Vec::new(), found, &mut steps);
                found[before..].iter().flat_map(|path| &path.nodes).for_each(|node| known[*node] = true);
            }
        }
        whole
    }

    /// Every way back to the first of `nodes`; false where there are too many.
    fn around(
        &self,
        seen: &Seen,
        nodes: &mut Vec<Row<Node>>,
        topics: &mut Vec<Row<Topic>>,
        found: &mut Vec<Path>,
        steps: &mut u32,
    ) -> bool {
        if *steps == 0 || found.len() >= MOST_PATHS {
            return false;
        }
        *steps -= 1;
        let (first, here) = (nodes[0], nodes[nodes.len() - 1]);
        for (topic, to) in self.out[here].iter().copied().filter(|way| !self.legs.is_leg(way.0)) {
            if to != first && nodes.contains(&to) {
                continue;
            }
            nodes.push(to);
            topics.push(topic);
            let whole = if to == first {
                let name = |n: Row<Node>| seen.nodes[n].name.trim_start_matches('/').to_string();
                let name = format!("{} to {} and back", name(first), name(nodes[nodes.len() / 2]));
                let (nodes, topics) = (nodes.clone(), topics.clone());
                found.push(Path { name, nodes, topics, output: None, named: false, deadline_ns: None });
                true
            } else {
                self.around(seen, nodes, topics, found, steps)
            };
            nodes.pop();
            topics.pop();
            if !whole {
                return false;
            }
        }
        true
    }

    fn extend(
        &self,
        seen: &Seen,
        nodes: &mut Vec<Row<Node>>,
        topics: &mut Vec<Row<Topic>>,
        found: &mut Vec<Path>,
        search: &mut Search,
    ) -> bool {
        if search.steps == 0 {
            return false;
        }
        search.steps -= 1;
        let here = nodes[nodes.len() - 1];
        let ways = self.ways(nodes, topics);
        if self.ends(nodes, topics, &ways) {
            if found.len() >= search.most {
                return false;
            }
            let name = |n: Row<Node>| seen.nodes[n].name.trim_start_matches('/').to_string();
            let to = if here == nodes[0] { format!("{} and back", name(nodes[nodes.len() / 2])) } else { name(here) };
            found.push(Path {
                name: format!("{} to {to}", name(nodes[0])),
                nodes: nodes.clone(),
                topics: topics.clone(),
                output: None,
                named: false,
                deadline_ns: None,
            });
        }
        for (topic, to) in ways {
            nodes.push(to);
            topics.push(topic);
            let whole = self.extend(seen, nodes, topics, found, search);
            nodes.pop();
            topics.pop();
            if !whole {
                return false;
            }
        }
        true
    }
}
