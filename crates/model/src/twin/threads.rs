//! Processes and threads that nodes share.

use super::{groups, Maker};
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::{numbered, Row};
use tacho_tables::{Node, Process, Tables};
use tacho_workload::model::Executor;

/// The executor that ran callbacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Home {
    /// One thread, by its id.
    Thread(u32),
    /// Several threads, by the executor's number, and how many.
    Threads(u32, u32),
}

/// Where a node ran.
struct Place {
    name: String,
    process: Row<Process>,
    homes: BTreeSet<Home>,
    /// Whether its callbacks ran beside each other.
    overlaps: bool,
}

impl Maker<'_> {
    /// Processes and threads that nodes share.
    pub(super) fn threads(&mut self, rows: &[Row<Node>]) {
        let tables = self.tables;
        let mut several: BTreeMap<(Row<Process>, u32), Home> = BTreeMap::new();
        for thread in &tables.executors {
            if let (Some(executor), Some(threads)) = (thread.executor, thread.executor_threads) {
                several.insert((thread.process, thread.tid), Home::Threads(executor, threads));
            }
        }
        let overlapping = overlapping(tables);
        let mut places = Vec::new();
        for row in rows.iter().copied() {
            let Some(name) = self.names.of_node(&tables.nodes[row].name) else { continue };
            let process = tables.nodes[row].process;
            let home = |tid| several.get(&(process, tid)).copied().unwrap_or(Home::Thread(tid));
            let (homes, overlaps) = (self.tids(row).map(home).collect(), overlapping.contains(&row));
            places.push(Place { name: name[1..].to_owned(), process, homes, overlaps });
        }
        for Place { name, process, homes, overlaps } in &places {
            let Some(at) = self.nodes.iter().position(|(node, _)| node.name == *name) else { continue };
            let beside = places.iter().filter(|of| of.process == *process).count();
            let has_groups = || self.nodes[at].0.at_once() > 1;
            let shares = match homes.first().filter(|_| homes.len() == 1) {
                Some(Home::Threads(..)) if has_groups() => true,
                Some(_) => places.iter().any(|of| of.name != *name && of.process == *process && of.homes == *homes),
                None => false,
            };
            let recorded = &tables.processes[*process];
            let file = recorded.executable.rsplit('/').next().filter(|file| !file.is_empty()).unwrap_or("process");
            let key = format!("{file} pid {}", recorded.pid);
            let process_name = (beside > 1).then(|| self.names.other("process", &key));
            let home = homes.first().filter(|_| shares);
            let (number, threads) = match home {
                Some(Home::Thread(tid)) => (Some(tid.to_string()), None),
                Some(Home::Threads(executor, threads)) => (Some(format!("executor {executor}")), Some(*threads)),
                None => (None, None),
            };
            let key = |number| format!("{file}_thread pid {} {number}", recorded.pid);
            let thread = number.map(|number| self.names.other("thread", &key(number)));
            let (node, remarks) = &mut self.nodes[at];
            if let Some(process_name) = process_name {
                node.process = process_name;
            }
            if !matches!(node.executor, Executor::Spin { .. }) {
                (node.thread, node.threads) = (thread, threads);
            }
            let merged = groups::settle(node);
            if !merged.is_empty() {
                let topics = merged.join(", ");
                remarks.push(format!("Callbacks of several groups publish {topics}: here they are of one group."));
            }
            if *overlaps && node.at_once() == 1 {
                remarks.push("Its callbacks ran beside each other, here one at a time.".into());
                self.lacks.push(format!("{name} ran its callbacks beside each other (callback groups)."));
            } else if homes.len() > 1 {
                remarks.push(format!("Its callbacks ran on {} executors, here on one.", homes.len()));
                self.lacks.push(format!("{name} had {} executors.", homes.len()));
            }
        }
    }
}

impl<'a> Maker<'a> {
    /// Threads on which the callbacks of a node ran.
    pub(super) fn tids(&self, node: Row<Node>) -> impl Iterator<Item = u32> + use<'_, 'a> {
        let of_node = numbered(&self.tables.callbacks).filter(move |(_, of)| of.node == Some(node));
        let of_calls = self.seen.handlers.iter().filter(move |(to, _)| self.endpoints[to.index()].node == node);
        let of_node = of_node.filter_map(|(row, _)| self.seen.callbacks.get(&row));
        of_node.chain(of_calls.map(|(_, (_, of))| of)).flat_map(|of| of.tids.iter().copied())
    }
}

/// Nodes whose callbacks ran beside each other on several threads.
fn overlapping(tables: &Tables) -> BTreeSet<Row<Node>> {
    let mut of_nodes: BTreeMap<Row<Node>, Vec<(i64, i64, u32)>> = BTreeMap::new();
    for of in &tables.executions {
        if let (Some(node), Some(end_ns)) = (tables.callbacks[of.callback].node, of.end_ns.get()) {
            of_nodes.entry(node).or_default().push((of.start_ns, end_ns, of.tid));
        }
    }
    let is_beside = |spans: &mut Vec<(i64, i64, u32)>| {
        spans.sort_unstable();
        let mut last = (i64::MIN, 0);
        spans.iter().any(|(start_ns, end_ns, tid)| {
            let beside = *start_ns < last.0 && *tid != last.1;
            last = last.max((*end_ns, *tid));
            beside
        })
    };
    of_nodes.into_iter().filter_map(|(node, mut spans)| is_beside(&mut spans).then_some(node)).collect()
}
