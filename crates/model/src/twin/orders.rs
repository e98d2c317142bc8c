//! What executors run next: an events executor shows no waits, where those of the others are recorded.

use super::Maker;
use std::collections::BTreeSet;
use tacho_events::run::RunInfo;
use tacho_tables::row::Row;
use tacho_tables::{Node, Process};
use tacho_workload::model::{Executor, Order};

impl Maker<'_> {
    /// Lets the nodes of threads without waits run what came first, if the recording would have such waits: it has
    /// those of another thread, or our module of rclpy wrote what is there.
    pub(super) fn orders(&mut self, info: &RunInfo, rows: &[Row<Node>]) {
        let tables = self.tables;
        let has_waits = tables.executors.iter().any(|thread| thread.waiting_ns.is_some());
        let of_python = |process: Row<Process>| {
            let is_ours = info.verb == "record";
            is_ours && tables.callbacks.iter().any(|callback| callback.process == process && callback.is_python())
        };
        let without_waits: BTreeSet<(Row<Process>, u32)> = tables
            .executors
            .iter()
            .filter(|thread| thread.waiting_ns.is_none() && thread.executor.is_none())
            .filter(|thread| has_waits || of_python(thread.process))
            .map(|thread| (thread.process, thread.tid))
            .collect();
        for row in rows.iter().copied() {
            let Some(name) = self.names.of_node(&tables.nodes[row].name) else { continue };
            let process = tables.nodes[row].process;
            let tids: BTreeSet<u32> = self.tids(row).collect();
            let is_on_events = !tids.is_empty() && tids.iter().all(|tid| without_waits.contains(&(process, *tid)));
            let Some(at) = self.nodes.iter().position(|(node, _)| node.name == name[1..]) else { continue };
            let (node, remarks) = &mut self.nodes[at];
            if is_on_events && node.executor == Executor::Arrival && node.threads.is_none() {
                node.order = Some(Order::Events);
                remarks.push("Its executor showed no waits, as an events executor.".into());
            }
        }
    }
}
