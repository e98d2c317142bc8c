//! What tasks compute in each of their callbacks.

use super::{Run, Samples};
use std::collections::HashMap;
use tacho_tables::row::Row;
use tacho_tables::Execution;
use tacho_workload::model::Work;

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
        for (row, execution) in self.tables.executions.numbered() {
            let callback = &self.tables.callbacks[execution.callback];
            let node = callback.node.and_then(|node| self.nodes[node]);
            let has_task = node.is_some_and(|node| matches!(node.work, Work::Task { .. }));
            let (true, Some(symbol), Some(end_ns)) = (has_task, &callback.symbol, execution.end_ns) else { continue };
            let until_ns = first_ns.get(&row).copied().unwrap_or(end_ns);
            let off_ns = execution.cpu_ns.map_or(0, |cpu_ns| end_ns - execution.start_ns - cpu_ns);
            let work_ns = (until_ns - execution.start_ns - off_ns).max(0);
            samples.tasks.entry(symbol.clone()).or_default().push(work_ns);
        }
    }
}
