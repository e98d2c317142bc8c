//! What tasks compute in each of their callbacks.

use super::{Run, Samples};
use crate::spread::Spread;
use std::collections::{BTreeMap, HashMap};
use tacho_tables::row::Row;
use tacho_tables::Execution;
use tacho_workload::model::Work;

/// An execution: until its first publish call, from then on, and off the CPU, ns.
type Parts = (i64, i64, i64);

impl Run<'_> {
    /// From the start of an execution to its first publish call, without the time off the CPU if that is known.
    pub(super) fn tasks(&self, samples: &mut Samples) {
        let mut first_ns: HashMap<Row<Execution>, i64> = HashMap::new();
        for publication in &self.tables.publications {
            if let Some(row) = publication.execution {
                let first_ns = first_ns.entry(row).or_insert(publication.publish_ns);
                *first_ns = publication.publish_ns.min(*first_ns);
            }
        }
        let mut of_callbacks: BTreeMap<&str, Vec<Parts>> = BTreeMap::new();
        for (row, execution) in self.tables.executions.numbered() {
            let callback = &self.tables.callbacks[execution.callback];
            let node = callback.node.and_then(|node| self.nodes[node]);
            let has_task = node.is_some_and(|node| matches!(node.work, Work::Task { .. }));
            let (true, Some(symbol), Some(end_ns)) = (has_task, &callback.symbol, execution.end_ns.get()) else {
                continue;
            };
            let until_ns = first_ns.get(&row).copied().unwrap_or(end_ns);
            let off_ns = execution.cpu_ns.get().map_or(0, |cpu_ns| end_ns - execution.start_ns - cpu_ns);
            let parts = (until_ns - execution.start_ns, end_ns - until_ns, off_ns.max(0));
            of_callbacks.entry(symbol).or_default().push(parts);
        }
        for (symbol, executions) in of_callbacks {
            let usual_ns = Spread::of(executions.iter().map(|(_, calls_ns, _)| *calls_ns).collect()).quantile(0.5);
            // Calls that took longer than usual while the thread was off the CPU were off it themselves.
            let work = |(before_ns, calls_ns, off_ns): &Parts| {
                let in_calls_ns = (calls_ns - usual_ns).clamp(0, *off_ns);
                (before_ns - (off_ns - in_calls_ns)).max(0)
            };
            samples.tasks.entry(symbol.to_owned()).or_default().extend(executions.iter().map(work));
        }
    }
}
