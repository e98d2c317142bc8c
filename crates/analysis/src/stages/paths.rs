//! Fifth stage: the paths of nodes and topics whose instances can be followed.

use super::Ways;
use crate::graph::{self, End, Path};
use crate::notes::Place;
use crate::observe::Seen;
use crate::observe::{PublicationSeen, INTERNAL};
use crate::Asked;
use tacho_tables::row::{Column, Row};
use tacho_tables::{CallbackKind, Endpoint, Node, Note, Process};
use tacho_workload::links::Links;
use tacho_workload::model::Workload;

/// Paths, named ones first, and what they run over.
pub(crate) struct Paths {
    pub(super) ways: Ways,
    pub(super) paths: Vec<Path>,
}

impl Paths {
    /// Finds the paths that a workload or a links file names, and all others from a source to a sink if those are asked
    /// for.
    pub fn of(mut ways: Ways, workload: Option<&Workload>, stated: &Links, asked: Asked) -> Paths {
        let (mut paths, notes) = graph::paths(&ways, workload, stated, asked);
        ways.notes.add(Place::Paths, notes);
        let silent = without_callbacks(&ways);
        let notes: Vec<Note> = silent.iter().map(|process| no_callbacks(&ways, *process)).collect();
        ways.notes.add(Place::NoCallbacks, notes);
        let unseen = Unseen::of(&ways);
        paths.retain(|path| can_be_followed(&ways, path, &silent) && !unseen.is_end_of(&ways, path));
        Paths { ways, paths }
    }
}

/// Whether the events tell what becomes of an input on a path. `silent`: processes without callbacks.
fn can_be_followed(ways: &Ways, path: &Path, silent: &[Row<Process>]) -> bool {
    let process = |node: Row<Node>| ways.nodes[node].process;
    // What a chain's node does with its input is not to be seen without callbacks: no figures, not figures of zero.
    let shown = path.nodes[1..].iter().all(|node| !silent.contains(&process(*node)));
    // Nor is it known what became of an input on its way to a subscription whose messages are not linked.
    let linked = path.topics.iter().zip(&path.nodes[1..]).all(|(topic, node)| {
        let doubtful = |s: &Row<Endpoint>| ways.endpoints[*s].node == *node && ways.doubts.has(*s);
        !ways.by_topic[*topic].subscriptions.iter().any(doubtful)
    });
    // Between clocks that nothing relates no time is known, so no instance either.
    let related = || path.nodes.windows(2).all(|pair| ways.related(process(pair[0]), process(pair[1])));
    shown && linked && related()
}

/// What is not recorded of a node's inputs (rclcpp has no event of an action client that handles feedback).
struct Unseen {
    /// Subscriptions that took messages, and none in a callback.
    takes: Column<Endpoint, bool>,
    /// Nodes that published anything but answers.
    publishes: Column<Node, bool>,
}

impl Unseen {
    fn of(seen: &Ways) -> Unseen {
        let mut publishes: Column<Node, bool> = Column::of(vec![false; seen.nodes.len()]);
        for endpoint in seen.publications.iter().filter_map(|p| p.endpoint).filter(|e| *e != INTERNAL) {
            publishes[seen.endpoints[endpoint].node] |= !seen.legs.is_leg(seen.endpoints[endpoint].topic);
        }
        let mut outside: Column<Endpoint, Option<bool>> = Column::of(vec![None; seen.endpoints.len()]);
        for take in &seen.takes {
            let all = &mut outside[take.endpoint];
            *all = Some(all.unwrap_or(true) && take.execution.is_none());
        }
        Unseen { takes: Column::of(seen.endpoints.rows().map(|row| outside[row] == Some(true))), publishes }
    }

    /// Whether a path ends with such an input: all of them would count as lost. A node that publishes may go on with
    /// it, unless the path ends with the callback that took it.
    fn is_end_of(&self, ways: &Ways, path: &Path) -> bool {
        let (Some(topic), Some(node)) = (path.topics.last(), path.nodes.last()) else { return false };
        let mut own =
            ways.by_topic[*topic].subscriptions.iter().filter(|s| ways.endpoints[**s].node == *node).peekable();
        let goes_on = path.output.is_some() || (path.end == End::Output && self.publishes[*node]);
        !goes_on && own.peek().is_some() && own.all(|subscription| self.takes[*subscription])
    }
}

/// Processes that take or publish messages and never show a callback: rclpy has no callback events of its own.
fn without_callbacks(seen: &Seen) -> Vec<Row<Process>> {
    let mut works: Column<Process, bool> = Column::of(vec![false; seen.processes.len()]);
    let mut calls_back: Column<Process, bool> = Column::of(vec![false; seen.processes.len()]);
    let named = |p: &&PublicationSeen| p.endpoint.is_some_and(|e| e != INTERNAL);
    seen.takes.iter().for_each(|t| works[seen.process_of(t.endpoint)] = true);
    seen.publications.iter().filter(named).for_each(|p| works[p.process] = true);
    seen.executions.iter().for_each(|e| calls_back[seen.callbacks[e.callback].process] = true);
    seen.callbacks.iter().filter(|c| c.kind != CallbackKind::Unknown).for_each(|c| calls_back[c.process] = true);
    seen.rclpy.told().for_each(|p| calls_back[p] = true);
    seen.roscpp.processes.iter().for_each(|p| calls_back[*p] = true);
    works.rows().filter(|p| works[*p] && !calls_back[*p]).collect()
}

fn no_callbacks(seen: &Seen, process: Row<Process>) -> Note {
    let process = &seen.processes[process];
    let text = format!(
        "process {} ({}) shows no callback events, as rclpy by itself does not: callback times, chains and their \
         parts, and queueing cannot be had; topics, publishers, subscriptions, rates, and latency from publish call to \
         take can",
        process.pid, process.executable
    );
    Note { name: "no-callback-events".into(), count: 1, text }
}
