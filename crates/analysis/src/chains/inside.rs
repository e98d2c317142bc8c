//! What of the time inside the callbacks of a chain was no time on a CPU.

use super::Tracer;
use crate::observe::preemption::OffNs;
use tacho_tables::row::Row;
use tacho_tables::{Execution, Hop};

/// What is known of a stretch of time, such as that from a hop's start to its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    /// All of it, by scheduler events.
    Scheduled(OffNs),
    /// By the CPU-time clock: off the CPU, for whatever reason, for at least this long, ns.
    AtLeast(i64),
}

impl Inside {
    /// Off the CPU, ns.
    pub fn off_ns(self) -> i64 {
        match self {
            Inside::Scheduled(off) => off.runnable + off.blocked,
            Inside::AtLeast(off_ns) => off_ns,
        }
    }
}

impl Tracer<'_> {
    /// What is known of a stretch inside an execution; `None`: nothing.
    pub(crate) fn inside(&self, execution: Option<Row<Execution>>, from: i64, to: i64) -> Option<Inside> {
        let Some(execution) = execution else {
            return (from == to).then_some(Inside::Scheduled(OffNs::default()));
        };
        let (row, stream) = (&self.seen.executions[execution], self.seen.stream_of(execution));
        // It has parts, and while the one before awaited, it had no need of a CPU.
        if from < row.start_ns {
            return None;
        }
        let scheduled = self.seen.scheduled.off_ns(execution, stream, from, to);
        // The clock was read at both ends of the execution alone. All its CPU time may have been in this stretch.
        let by_clock = || row.cpu_ns.get().map(|cpu_ns| (to - from - cpu_ns).max(0));
        scheduled.map(Inside::Scheduled).or_else(|| by_clock().map(Inside::AtLeast))
    }

    /// A hop with what is known of its time off the CPU: divided where scheduler events tell, else as a whole.
    pub(super) fn with_off_cpu(&self, hop: Hop) -> Hop {
        let (off_cpu_ns, preemption_ns) = match self.inside(hop.execution, hop.start_ns, hop.output_ns) {
            Some(Inside::Scheduled(off)) => (Some(off.blocked), Some(off.runnable)),
            Some(Inside::AtLeast(off_ns)) => (Some(off_ns), None),
            None => (None, None),
        };
        Hop { off_cpu_ns: off_cpu_ns.into(), preemption_ns: preemption_ns.into(), ..hop }
    }
}
