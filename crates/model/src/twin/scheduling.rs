//! CPUs and priorities of recorded nodes.

use super::Maker;
use std::collections::{BTreeMap, BTreeSet};
use tacho_events::run::{Policy, ThreadScheduling};
use tacho_tables::row::Row;
use tacho_tables::Node;
use tacho_workload::model::Scheduling;

/// CPUs of nodes, and their scheduling.
type OfNodes = (Vec<(String, Vec<u32>)>, Vec<(String, Scheduling)>);

impl Maker<'_> {
    /// CPUs and scheduling of nodes whose callbacks ran on threads that all have the same. `recorded`: the threads that
    /// are not scheduled like any program.
    pub(super) fn scheduling(&mut self, recorded: &[ThreadScheduling], rows: &[Row<Node>]) -> OfNodes {
        let by_thread: BTreeMap<(u32, u32), &ThreadScheduling> =
            recorded.iter().map(|of| ((of.pid, of.tid), of)).collect();
        let (mut cpus, mut priority) = (Vec::new(), Vec::new());
        for row in rows.iter().copied() {
            let node = &self.tables.nodes[row];
            let Some(name) = self.names.of_node(&node.name).map(|name| name[1..].to_owned()) else { continue };
            let Some(at) = self.nodes.iter().position(|(node, _)| node.name == name) else { continue };
            let pid = self.tables.processes[node.process].pid;
            let of_threads: BTreeSet<u32> = self.tids(row).collect();
            let mut of_threads = of_threads.into_iter().map(|tid| by_thread.get(&(pid, tid)).copied());
            let Some(first) = of_threads.next() else { continue };
            let how = |of: Option<&ThreadScheduling>| of.map(|of| (of.cpus.clone(), of.policy));
            let is_one = of_threads.all(|of| how(of) == how(first));
            let remark = match first.map(|of| of.policy) {
                _ if !is_one => Some("Its threads are scheduled in different ways, which is not expressed."),
                Some(Policy::Else(_)) => Some("Its scheduling class is not expressed."),
                _ => None,
            };
            self.nodes[at].1.extend(remark.map(str::to_owned));
            let Some(of) = first.filter(|_| is_one) else { continue };
            cpus.extend((!of.cpus.is_empty()).then(|| (name.clone(), of.cpus.clone())));
            let scheduling = match of.policy {
                Policy::Nice(0) | Policy::Else(_) => None,
                Policy::Nice(nice) => Some(Scheduling::Nice(nice)),
                Policy::Fifo(priority) => Some(Scheduling::Fifo(priority)),
                Policy::RoundRobin(priority) => Some(Scheduling::RoundRobin(priority)),
            };
            priority.extend(scheduling.map(|scheduling| (name, scheduling)));
        }
        (cpus, priority)
    }
}
