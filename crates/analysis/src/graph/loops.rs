//! Paths that come back to a node that they had passed. They are cut there.

use super::{End, Graph, Path, Search, MOST_PATHS, MOST_STEPS};
use crate::observe::{PublicationSeen, Seen, Topic, INTERNAL};
use crate::stages::Ways;
use std::collections::BTreeSet;
use tacho_tables::ends::turn;
use tacho_tables::row::{Column, Row};
use tacho_tables::{CallbackKind, Execution, Node};

/// Where a path may come back to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closes {
    /// To where it began, by a way that passes no node twice; it is named by the node half-way.
    AtFirst,
    /// To any node that it had passed; it is named by its last one.
    Anywhere,
}

impl Graph<'_> {
    /// Finds the round trips of nodes that no path from a source leads to. Each begins at a node that publishes without
    /// an input, from a timer or outside of callbacks. If all nodes publish in callbacks of what they take, it begins
    /// at the first publish call.
    pub(super) fn loops(&self, seen: &Ways, found: &mut Vec<Path>) -> bool {
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
                let mut search = Search { most: MOST_PATHS, steps: MOST_STEPS };
                whole &= self.cut(seen, Closes::AtFirst, &mut vec![node], &mut Vec::new(), found, &mut search);
                found[before..].iter().flat_map(|path| &path.nodes).for_each(|node| known[*node] = true);
            }
        }
        whole
    }

    /// Paths from sources that lead to no sink, but to a node that they had passed; false where there are too many.
    pub(super) fn returning(&self, seen: &Seen, found: &mut Vec<Path>) -> bool {
        let known: BTreeSet<Row<Node>> = found.iter().map(|path| path.nodes[0]).collect();
        let mut sources = self.sources();
        sources.retain(|source| !known.contains(source));
        Search::from_each(&sources, found, |source, found, search| {
            self.cut(seen, Closes::Anywhere, &mut vec![source], &mut Vec::new(), found, search)
        })
    }

    /// Every way from the last of `nodes` that comes back, cut there; false where there are too many.
    fn cut(
        &self,
        seen: &Seen,
        closes: Closes,
        nodes: &mut Vec<Row<Node>>,
        topics: &mut Vec<Row<Topic>>,
        found: &mut Vec<Path>,
        search: &mut Search,
    ) -> bool {
        if search.steps == 0 || found.len() >= search.most {
            return false;
        }
        search.steps -= 1;
        let (first, here) = (nodes[0], nodes[nodes.len() - 1]);
        for (topic, to) in self.out[here].iter().copied().filter(|way| !self.legs.is_leg(way.0)) {
            let returns = nodes.contains(&to);
            if returns && closes == Closes::AtFirst && to != first {
                continue;
            }
            nodes.push(to);
            topics.push(topic);
            let whole = if returns {
                let turn = turn(nodes).filter(|_| closes == Closes::AtFirst).copied().unwrap_or(here);
                let name = |n: Row<Node>| seen.nodes[n].name.trim_start_matches('/').to_string();
                let name = format!("{} to {} and back", name(first), name(turn));
                found.push(Path { end: End::Return, ..Path::new(name, nodes, topics) });
                true
            } else {
                self.cut(seen, closes, nodes, topics, found, search)
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
