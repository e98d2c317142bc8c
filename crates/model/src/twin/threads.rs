//! Processes and threads that nodes share.

use super::Maker;
use std::collections::BTreeSet;
use tacho_tables::row::{numbered, Row};
use tacho_workload::model::Executor;

impl Maker<'_> {
    /// Processes and threads that nodes share.
    pub(super) fn threads(&mut self, rows: &[Row<tacho_tables::Node>]) {
        let tables = self.tables;
        let mut places = Vec::new();
        for row in rows.iter().copied() {
            let Some(name) = self.names.of_node(&tables.nodes[row].name) else { continue };
            let of_node = numbered(&tables.callbacks).filter(|(_, of)| of.node == Some(row));
            let tids: BTreeSet<u32> =
                of_node.filter_map(|(row, _)| self.seen.callbacks.get(&row)).flat_map(|of| of.tids.clone()).collect();
            places.push((name[1..].to_owned(), tables.nodes[row].process, tids));
        }
        for (name, process, tids) in &places {
            let beside = places.iter().filter(|(_, of, _)| of == process).count();
            let shares = tids.len() == 1
                && places.iter().any(|(other, of, their)| other != name && of == process && their == tids);
            let recorded = &tables.processes[*process];
            let file = recorded.executable.rsplit('/').next().filter(|file| !file.is_empty()).unwrap_or("process");
            let key = format!("{file} pid {}", recorded.pid);
            let process_name = (beside > 1).then(|| self.names.other("process", &key));
            let thread = shares.then(|| {
                let tid = tids.first().copied().unwrap_or(0);
                self.names.other("thread", &format!("{file}_thread pid {} {tid}", recorded.pid))
            });
            let Some((node, remarks)) = self.nodes.iter_mut().find(|(node, _)| node.name == *name) else { continue };
            if let Some(process_name) = process_name {
                node.process = process_name;
            }
            let spins = matches!(node.executor, Executor::Spin { .. });
            node.thread = thread.filter(|_| !spins);
            if tids.len() > 1 {
                remarks.push(format!("Its callbacks ran on {} threads, here on one.", tids.len()));
                self.lacks.push(format!("{name} ran on a multi-threaded executor ({} threads seen).", tids.len()));
            }
        }
    }
}
