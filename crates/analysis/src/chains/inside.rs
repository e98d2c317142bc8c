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
    /// By the CPU-time clock: off the CPU for at least this long, ns.
    AtLeast {
        off_ns: i64,
        /// The part of it in which it was ready to run, as far as the rest of the execution leaves that open; `None`:
        /// the kernel's run delay is not known.
        runnable_ns: Option<i64>,
    },
}

impl Inside {
    /// Off the CPU, ns.
    pub fn off_ns(self) -> i64 {
        match self {
            Inside::Scheduled(off) => off.runnable + off.blocked,
            Inside::AtLeast { off_ns, .. } => off_ns,
        }
    }

    /// Ready to run and without a CPU, ns, as far as no scheduler event shows it.
    pub fn unseen_runnable_ns(self) -> i64 {
        match self {
            Inside::Scheduled(_) => 0,
            Inside::AtLeast { runnable_ns, .. } => runnable_ns.unwrap_or(0),
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
        let by_clock = || {
            let (end_ns, cpu_ns) = row.end_ns.get().zip(row.cpu_ns.get())?;
            let off_ns = (to - from - cpu_ns).max(0);
            // What was not ready to run elsewhere in the execution may have been so here.
            let asleep_ns = row.runnable_ns.get().map(|runnable_ns| end_ns - row.start_ns - cpu_ns - runnable_ns);
            Some(Inside::AtLeast { off_ns, runnable_ns: asleep_ns.map(|ns| (off_ns - ns.max(0)).max(0)) })
        };
        scheduled.map(Inside::Scheduled).or_else(by_clock)
    }

    /// A hop with what is known of its time off the CPU: divided where scheduler events or the run delay tell, else as
    /// a whole.
    pub(super) fn with_off_cpu(&self, hop: Hop) -> Hop {
        let (off_cpu_ns, preemption_ns) = match self.inside(hop.execution, hop.start_ns, hop.output_ns) {
            Some(Inside::Scheduled(off)) => (Some(off.blocked), Some(off.runnable)),
            Some(Inside::AtLeast { off_ns, runnable_ns }) => (Some(off_ns - runnable_ns.unwrap_or(0)), runnable_ns),
            None => (None, None),
        };
        Hop { off_cpu_ns: off_cpu_ns.into(), preemption_ns: preemption_ns.into(), ..hop }
    }
}
