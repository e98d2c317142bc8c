//! CPU time of processes outside of their callbacks, a message.

use super::{Run, Samples};
use tacho_tables::row::{numbered, Column};
use tacho_tables::{EndpointKind, Execution, Process};
use tacho_workload::model::Executor;

/// What a process did in the measured window.
#[derive(Default, Clone)]
struct Did {
    /// CPU time of its callbacks; their wall time if that is unknown, ns.
    in_callbacks_ns: i64,
    /// Messages that it sent or took, and wake-ups of its spinning nodes.
    times: i64,
    /// The rate of the fastest of those nodes; 0 if none spins.
    spins_mhz: u64,
}

impl Run<'_> {
    /// The rest of each process's CPU time, for each message that it sent or took and each wake-up.
    pub(super) fn around(&self, samples: &mut Samples) {
        let (Some(from_ns), Some(to_ns)) = (self.info.measured_from_ns, self.info.measured_to_ns) else { return };
        let did = self.did(from_ns, to_ns);
        let rest = |process: &Process, did: &Did| {
            let exit = self.info.processes.iter().find(|exit| exit.pid == process.pid)?;
            let resources = exit.resources.as_ref()?;
            let part = (to_ns - from_ns) as f64 / resources.over_ns.max(1) as f64;
            ((resources.cpu_ns as f64 * part) as i64 - did.in_callbacks_ns).max(0).checked_div(did.times)
        };
        let each = Column::of(numbered(&self.tables.processes).map(|(row, process)| rest(process, &did[row])));
        for (process, each_ns) in each.numbered().filter(|(process, _)| did[*process].spins_mhz > 0) {
            samples.checks.entry(did[process].spins_mhz).or_default().extend(each_ns);
        }
        for (row, endpoint) in numbered(&self.tables.endpoints) {
            let each_ns = each[self.tables.nodes[endpoint.node].process];
            let Some(each_ns) = each_ns else { continue };
            for topic in &self.topics[row] {
                let of = samples.of_topic(topic);
                match endpoint.kind {
                    EndpointKind::Publisher => of.send_cpu.push(each_ns),
                    EndpointKind::Subscription => of.receive_cpu.push(each_ns),
                }
            }
        }
    }

    fn did(&self, from_ns: i64, to_ns: i64) -> Column<Process, Did> {
        let tables = self.tables;
        let mut did = Column::of(tables.processes.iter().map(|_| Did::default()));
        let is_measured = |ns: i64| ns >= from_ns && ns < to_ns;
        let own_ns =
            |execution: &Execution| execution.cpu_ns.get().or(Some(execution.end_ns.get()? - execution.start_ns));
        for execution in tables.executions.iter().filter(|execution| is_measured(execution.start_ns)) {
            did[tables.callbacks[execution.callback].process].in_callbacks_ns += own_ns(execution).unwrap_or(0);
        }
        let sent = tables.publications.iter().filter(|p| is_measured(p.publish_ns)).map(|p| p.publisher);
        let taken = tables.messages.iter().filter(|m| m.take_ns.get().is_some_and(is_measured)).map(|m| m.subscription);
        for endpoint in sent.chain(taken) {
            did[tables.nodes[tables.endpoints[endpoint].node].process].times += 1;
        }
        for (row, node) in numbered(&tables.nodes) {
            if let Some(Executor::Spin { hz }) = self.nodes[row].map(|node| node.executor) {
                let wakes = (hz * (to_ns - from_ns) as f64 / 1e9) as i64;
                let did = &mut did[node.process];
                did.times += wakes;
                did.spins_mhz = did.spins_mhz.max((hz * 1e3) as u64);
            }
        }
        did
    }
}
