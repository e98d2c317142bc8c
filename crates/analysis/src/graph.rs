//! The graph of nodes and topics, and the paths through it.

mod between;
mod callbacks;
mod loops;
mod passing;

use crate::calls::Legs;
use crate::observe::{Seen, Topic};
use crate::stages::Ways;
use crate::Asked;
use callbacks::Callbacks;
use std::collections::BTreeSet;
use tacho_tables::ends::turn;
use tacho_tables::row::{Column, Row};
use tacho_tables::{Callback, Endpoint, Node, Note};
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
    /// What its last node publishes, where that is stated; else as `end` says.
    pub output: Option<Row<Topic>>,
    pub end: End,
    /// Of each node, the callbacks of which one must take its input or publish its output; any where it is empty.
    pub by: Vec<Vec<Row<Callback>>>,
    /// Whether somebody asked for it.
    pub named: bool,
    /// By when an instance must be through.
    pub deadline_ns: Option<i64>,
}

/// What an instance of a path ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its last node's publish call, else the end of its callback.
    Output,
    /// The publish call, else the end, of the callback that took its last message, or of the one that is stated: the
    /// node has others that go on with other things.
    Callback,
    /// The start of the callback that took its last message: it came back to a node that it had passed, and is cut
    /// there, so that an instance is a round trip.
    Return,
}

impl Path {
    /// One that nobody asked for.
    fn new(name: String, nodes: &[Row<Node>], topics: &[Row<Topic>]) -> Path {
        let (by, nodes, topics) = (vec![Vec::new(); nodes.len()], nodes.to_vec(), topics.to_vec());
        Path { name, nodes, topics, output: None, end: End::Output, by, named: false, deadline_ns: None }
    }

    /// Whether another is the same way.
    fn is_way_of(&self, other: &Path) -> bool {
        let same = self.nodes == other.nodes && self.topics == other.topics;
        same && self.output == other.output && self.end == other.end && self.by == other.by
    }

    /// Whether another is the same round trip, and is cut where it comes back.
    fn is_round_trip_of(&self, other: &Path) -> bool {
        self.named && other.end == End::Return && self.nodes == other.nodes && self.topics == other.topics
    }

    /// Whether its instances end with the same outputs as those of another.
    pub fn ends_as(&self, other: &Path) -> bool {
        let same = self.nodes.last() == other.nodes.last() && self.topics.last() == other.topics.last();
        same && self.output == other.output && self.end == other.end && self.by.last() == other.by.last()
    }

    /// Whether a callback may be the one of the node at a position.
    pub fn may_run(&self, position: usize, callback: Option<Row<Callback>>) -> bool {
        self.by[position].is_empty() || callback.is_some_and(|callback| self.by[position].contains(&callback))
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
    /// By node, topics that it publishes and takes itself, if its callback goes on with what it took.
    own: Column<Node, Vec<Row<Topic>>>,
    callbacks: Callbacks,
    /// Whether paths pass a node again, in another callback.
    passes_again: bool,
    legs: &'a Legs,
}

/// Named chains of the workload first, then every other source-to-sink path if those are asked for.
pub(crate) fn paths(seen: &Ways, workload: Option<&Workload>, stated: &Links, asked: Asked) -> (Vec<Path>, Vec<Note>) {
    let mut graph = Graph::new(seen, workload);
    let mut notes = Vec::new();
    let mut paths = named(&graph, seen, workload, stated, &mut notes);
    graph.passes_again = true;
    for chain in &stated.chains {
        if let Some(ends) = &chain.between {
            let (found, note) = between::between(&graph, seen, &chain.name, ends);
            paths.extend(found);
            notes.extend(note);
        }
    }
    if asked == Asked::All {
        let (all, whole) = graph.unnamed(seen);
        if !whole {
            let text = format!(
                "the graph has more than {MOST_PATHS} source-to-sink paths; each source has its part of those that \
                 are looked at, the others are not: name a chain in the workload or a links file"
            );
            notes.push(Note { name: "paths-cut".into(), count: 1, text });
        }
        for path in all {
            if !paths.iter().any(|known| known.is_way_of(&path) || known.is_round_trip_of(&path)) {
                paths.push(path);
            }
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
    seen: &Ways,
    workload: Option<&Workload>,
    stated: &Links,
    notes: &mut Vec<Note>,
) -> Vec<Path> {
    let mut paths = Vec::new();
    let of_links = stated.chains.iter().filter(|c| !c.nodes.is_empty()).map(|c| (&c.name, &c.nodes, None));
    let of_workload = workload.into_iter().flat_map(|w| &w.chains).map(|c| (&c.name, &c.nodes, Some(c)));
    for (chain, wanted, of_workload) in of_workload.chain(of_links) {
        let stops: Option<Vec<Stop>> = wanted.iter().map(|name| stop(seen, name)).collect();
        let mut found: Vec<Vec<Row<Topic>>> = vec![Vec::new()];
        for (place, pair) in stops.iter().flat_map(|stops| stops.windows(2)).enumerate() {
            let mut between = graph.between(seen, &pair[0], &pair[1]);
            between.retain(|topic| of_workload.is_none_or(|c| c.goes_over(place, &seen.topics.names[*topic])));
            found = found.iter().flat_map(|f| between.iter().map(move |t| [f.as_slice(), &[*t]].concat())).collect();
        }
        match stops {
            Some(stops) if stops.len() > 1 && !found.is_empty() => {
                let several = found.len() > 1;
                let nodes: Vec<Row<Node>> = stops.iter().map(|stop| stop.0).collect();
                for topics in found.into_iter().take(MOST_PATHS) {
                    // Two topics between the same nodes: two paths, told apart by what they run over.
                    let over: Vec<&str> = topics.iter().map(|t| seen.topics.names[*t].as_str()).collect();
                    let name = if several { format!("{chain} over {}", over.join(" ")) } else { chain.clone() };
                    let by: Vec<Vec<Row<Callback>>> = stops.iter().map(|stop| stop.1.clone()).collect();
                    let end = match graph.end_of(&nodes, &topics, &by[by.len() - 1]) {
                        // As with the response of a service, which a twin has as a message.
                        End::Return if of_workload.is_some() => End::Callback,
                        end => end,
                    };
                    let output = graph.callbacks.only_output(seen, &by[by.len() - 1]);
                    paths.push(Path { by, end, output, named: true, ..Path::new(name, &nodes, &topics) });
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

/// A node of a named chain, and its callbacks if they are named; else none.
type Stop = (Row<Node>, Vec<Row<Callback>>);

/// The node of this name; else the node whose callbacks have it, if that is one.
fn stop(seen: &Seen, name: &str) -> Option<Stop> {
    if let Some(node) = seen.nodes.iter().position(|node| is_called(&node.name, name)) {
        return Some((Row::behind(node), Vec::new()));
    }
    let callbacks = callbacks::of_name(seen, name);
    let mut nodes: Vec<Row<Node>> = callbacks.iter().filter_map(|c| seen.callbacks[*c].node).collect();
    nodes.dedup();
    (nodes.len() == 1).then(|| (nodes[0], callbacks))
}

/// What the search from one source may still do.
struct Search {
    /// Paths, with those of the sources before.
    most: usize,
    steps: u32,
}

impl Search {
    /// Searches from one source after the other; false where there are too many paths. Then each has its part of those
    /// that are looked at: what one leaves goes to the next.
    fn from_each(
        sources: &[Row<Node>],
        found: &mut Vec<Path>,
        mut search_from: impl FnMut(Row<Node>, &mut Vec<Path>, &mut Search) -> bool,
    ) -> bool {
        let mut whole = true;
        for (position, source) in sources.iter().enumerate() {
            let left = sources.len() - position;
            let most = found.len() + MOST_PATHS.saturating_sub(found.len()) / left;
            let mut search = Search { most, steps: MOST_STEPS / sources.len() as u32 };
            whole &= search_from(*source, found, &mut search);
        }
        whole
    }
}

impl<'a> Graph<'a> {
    fn new(seen: &'a Ways, workload: Option<&Workload>) -> Graph<'a> {
        let mut out: Column<Node, BTreeSet<Way>> = Column::of(vec![BTreeSet::new(); seen.nodes.len()]);
        let mut own: Column<Node, BTreeSet<Row<Topic>>> = Column::of(vec![BTreeSet::new(); seen.nodes.len()]);
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
                } else if !seen.legs.is_leg(topic) {
                    own[from].insert(topic);
                }
            }
        }
        let callbacks = Callbacks::of(seen);
        let private = |topic: Row<Topic>| {
            let of = &seen.by_topic[topic];
            let mut nodes = of.publishers.iter().chain(&of.subscriptions).map(|e| seen.endpoints[*e].node);
            let first = nodes.next();
            nodes.all(|node| Some(node) == first)
        };
        // What many publish and many take, as transforms, leads nowhere unless the callback goes on.
        let goes_on = |node: Row<Node>, topic: &Row<Topic>| {
            let mut published = callbacks.on_input(node, *topic);
            published.any(|published| published != *topic) || private(*topic) && callbacks.leads_to(node, *topic)
        };
        let own = Column::of(own.numbered().map(|(node, topics)| {
            topics.iter().filter(|topic| goes_on(node, topic)).copied().collect::<Vec<Row<Topic>>>()
        }));
        let out = Column::of(out.iter().map(|edges| edges.iter().copied().collect()));
        Graph { out, own, callbacks, passes_again: false, legs: &seen.legs }
    }

    /// Every path from a source to a sink, and whether these are all.
    fn unnamed(&mut self, seen: &Ways) -> (Vec<Path>, bool) {
        let mut all = Vec::new();
        // First those that pass each node once: none of them is left out for a longer way.
        self.passes_again = false;
        let mut whole = self.source_to_sink(seen, &mut all) & self.loops(seen, &mut all);
        self.passes_again = true;
        whole = whole && self.source_to_sink(seen, &mut all) && self.returning(seen, &mut all);
        (all, whole)
    }

    /// Nodes that something begins at: nothing comes in.
    fn sources(&self) -> Vec<Row<Node>> {
        let mut has_input: Column<Node, bool> = Column::of(vec![false; self.out.len()]);
        let comes_in = |way: &&Way| self.returns(**way).is_none();
        self.out.iter().flatten().filter(comes_in).for_each(|(_, to)| has_input[*to] = true);
        let is_source = |n: &Row<Node>| !(has_input[*n] || self.out[*n].is_empty() && self.own[*n].is_empty());
        self.out.rows().filter(is_source).collect()
    }

    /// False where there are too many.
    fn source_to_sink(&self, seen: &Ways, found: &mut Vec<Path>) -> bool {
        Search::from_each(&self.sources(), found, |source, found, search| {
            self.extend(seen, &mut vec![source], &mut Vec::new(), found, search)
        })
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
            let name = |n: Row<Node>| seen.nodes[n].name.trim_start_matches('/').to_string();
            let of_topic = |t: Row<Topic>| seen.topics.names[t].trim_start_matches('/').to_string();
            let comes_back = topics.last().is_some_and(|last| self.legs.is_leg(*last));
            let to = match turn(nodes).filter(|_| comes_back) {
                Some(turn) => format!("{} and back", name(*turn)),
                None => name(here),
            };
            let end = if self.passed_before(nodes, topics) { End::Callback } else { End::Output };
            let within = nodes.iter().all(|node| *node == here);
            let called = match (within, topics.as_slice()) {
                // Within one node, which may stand for all of a process, topics are what tells paths apart.
                (true, [first, .., last]) => format!("{} to {}", of_topic(*first), of_topic(*last)),
                (true, [only]) => format!("{} of {}", of_topic(*only), name(here)),
                _ => format!("{} to {to}", name(nodes[0])),
            };
            let path = Path { end, ..Path::new(called, nodes, topics) };
            if !found.iter().any(|known| known.is_way_of(&path)) {
                if found.len() >= search.most {
                    return false;
                }
                found.push(path);
            }
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
