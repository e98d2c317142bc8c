//! CPU time of processes outside of their callbacks: of the threads that call them, and the rest, a message.

use super::{Run, Samples};
use crate::awake::Seen;
use std::collections::BTreeSet;
use std::ops::Range;
use tacho_tables::row::{numbered, rows_of, Column, Row};
use tacho_tables::{CallbackKind, EndpointKind, Execution, Process};
use tacho_workload::model::Executor;

/// What a process did while its CPU time was measured.
#[derive(Default, Clone)]
struct Did {
    /// When, ns.
    measured: Range<i64>,
    /// CPU time in that time, ns.
    cpu_ns: i64,
    /// CPU time of its callbacks, their wall time if that is unknown, and of their executors as far as nodes show
    /// it, ns.
    known_ns: i64,
    /// Messages that it sent or took, and wake-ups of its spinning nodes.
    times: i64,
    /// The rate of the fastest of those nodes; 0 if none spins.
    spins_mhz: u64,
}

impl Did {
    /// The rest of its CPU time, each time.
    fn each_ns(&self) -> Option<i64> {
        (self.cpu_ns - self.known_ns).max(0).checked_div(self.times)
    }
}

impl Run<'_> {
    /// The rest of each process's CPU time, for each message that it sent or took and each wake-up.
    pub(super) fn around(&self, samples: &mut Samples) {
        let did = self.did();
        let each = Column::of(did.iter().map(|did| did.as_ref().and_then(Did::each_ns)));
        for (process, did) in did.numbered() {
            let Some(did) = did.as_ref().filter(|did| did.spins_mhz > 0) else { continue };
            samples.checks.entry(did.spins_mhz).or_default().extend(each[process]);
        }
        for (row, endpoint) in numbered(&self.tables.endpoints) {
            let each_ns = each[self.tables.nodes[endpoint.node].process];
            let Some(each_ns) = each_ns else { continue };
            for topic in &self.topics[row] {
                let of = samples.of_topic(topic, self.alone_mhz);
                match endpoint.kind {
                    EndpointKind::Publisher => of.send_cpu.push(each_ns),
                    EndpointKind::Subscription => of.receive_cpu.push(each_ns),
                }
            }
        }
    }

    /// CPU time of the threads of each node of a recording since the callback before.
    pub(super) fn executors(&self, samples: &mut Samples) {
        for (row, execution) in self.tables.executions.numbered() {
            let Some(ns) = self.executor_ns(row) else { continue };
            let is_timer = self.tables.callbacks[execution.callback].kind == CallbackKind::Timer;
            self.add_to_node(samples, row, |Seen { executed, .. }| {
                executed.cpu_ns += ns;
                *if is_timer { &mut executed.timers } else { &mut executed.messages } += 1;
            });
        }
    }

    /// The same of one execution.
    fn executor_ns(&self, row: Row<Execution>) -> Option<i64> {
        self.waiting_node(row).filter(|_| self.info.is_recording())?;
        self.tables.executions[row].executor_cpu_ns.get()
    }

    /// Of each process whose CPU time is known.
    fn did(&self) -> Column<Process, Option<Did>> {
        let tables = self.tables;
        let mut did = Column::of(rows_of(&tables.processes).map(|row| self.measured(row)));
        let own_ns =
            |execution: &Execution| execution.cpu_ns.get().or(Some(execution.end_ns.get()? - execution.start_ns));
        for (row, execution) in tables.executions.numbered() {
            let Some(did) = &mut did[tables.callbacks[execution.callback].process] else { continue };
            if did.measured.contains(&execution.start_ns) {
                did.known_ns += own_ns(execution).unwrap_or(0) + self.executor_ns(row).unwrap_or(0);
            }
        }
        let sent = tables.publications.iter().map(|p| (p.publish_ns, p.publisher));
        let taken = tables.messages.iter().filter_map(|m| Some((m.take_ns.get()?, m.subscription)));
        for (at_ns, endpoint) in sent.chain(taken) {
            let Some(did) = &mut did[tables.nodes[tables.endpoints[endpoint].node].process] else { continue };
            did.times += i64::from(did.measured.contains(&at_ns));
        }
        for (row, node) in numbered(&tables.nodes) {
            let Some(Executor::Spin { hz }) = self.nodes[row].map(|node| node.executor) else { continue };
            let Some(did) = &mut did[node.process] else { continue };
            did.times += (hz * (did.measured.end - did.measured.start) as f64 / 1e9) as i64;
            did.spins_mhz = did.spins_mhz.max((hz * 1e3) as u64);
        }
        did
    }

    /// CPU time of all processes with nodes of the workload, percent of one CPU; `None` if it is not known of each.
    pub(super) fn cpu_percent(&self) -> Option<f64> {
        let of_nodes = numbered(&self.tables.nodes).filter(|(row, _)| self.nodes[*row].is_some());
        let processes: BTreeSet<Row<Process>> = of_nodes.map(|(_, node)| node.process).collect();
        let percent = |row| {
            let Did { measured, cpu_ns, .. } = self.measured(row)?;
            Some(100.0 * cpu_ns as f64 / (measured.end - measured.start) as f64)
        };
        let all: Vec<f64> = processes.into_iter().map(percent).collect::<Option<_>>()?;
        (!all.is_empty()).then(|| all.iter().sum())
    }

    /// CPU time of a process in the measured window; in a recording, from its first callback on.
    fn measured(&self, row: Row<Process>) -> Option<Did> {
        let pid = self.tables.processes[row].pid;
        let exit = self.info.processes.iter().find(|exit| exit.pid == pid);
        let window = self.info.measured_from_ns.zip(self.info.measured_to_ns);
        if let (Some((from_ns, to_ns)), Some(resources)) = (window, exit.and_then(|exit| exit.resources.as_ref())) {
            let part = (to_ns - from_ns) as f64 / resources.over_ns.max(1) as f64;
            let cpu_ns = (resources.cpu_ns as f64 * part) as i64;
            return Some(Did { measured: from_ns..to_ns, cpu_ns, ..Did::default() });
        }
        let times = self.info.cpu_times.iter().find(|times| times.pid == pid)?;
        let of_it = self.threads.iter().filter(|((process, _), _)| *process == row.index());
        let (first, last) = times.since(of_it.filter_map(|(_, of)| Some(of.first()?.0)).min()?)?;
        let cpu_ns = (last.cpu_ns - first.cpu_ns) as i64;
        Some(Did { measured: first.at_ns..last.at_ns, cpu_ns, ..Did::default() })
    }
}
