//! What the scheduler did: executor states, and who kept callbacks from a CPU. Told where scheduler events were
//! recorded.

use super::table::{Column, Table};
use super::{count, figures, number, Terminal, ABSENT};
use tacho_tables::summary::{ExecutorFigures, PreemptorFigures};

/// Those that had the CPU for less are reported with --all.
const PREEMPTORS: usize = 10;

impl Terminal {
    pub(super) fn executors(&self, out: &mut String, executors: &[ExecutorFigures]) {
        if executors.iter().all(|thread| thread.running_percent.is_none()) {
            return;
        }
        let mut table = Table::new([
            Column::text("nodes"),
            Column::number("thread"),
            Column::number("waiting %"),
            Column::number("ready %"),
            Column::number("executing %"),
            Column::number("on CPU %"),
            Column::number("kept off %"),
            Column::number("gave up"),
            Column::number("taken"),
            Column::number("wake-up us: median"),
            Column::number("max"),
        ]);
        let (told, more) = self.told(executors, |thread| thread.executing_percent);
        for thread in told {
            let mut cells = vec![
                if thread.nodes.is_empty() { ABSENT.into() } else { thread.nodes.join(" ") },
                thread.thread_id.to_string(),
                number(thread.waiting_percent, 1),
                number(thread.ready_percent, 1),
                number(Some(thread.executing_percent), 1),
                number(thread.running_percent, 1),
                number(thread.runnable_percent, 1),
                count(thread.voluntary_switches),
                count(thread.involuntary_switches),
            ];
            cells.extend(figures(thread.wakeup_latency_us.as_ref(), |d| [d.median, d.max], 0));
            table.row(cells);
        }
        self.section(
            out,
            "Executor threads: states; times they gave the CPU up, and that it was taken; woken to running",
            table,
        );
        self.and_more(out, more, "execute most");
    }

    pub(super) fn preemptors(&self, out: &mut String, preemptors: &[PreemptorFigures]) {
        let mut table = Table::new([
            Column::text("thread or interrupt"),
            Column::number("times"),
            Column::number("total ms"),
            Column::number("longest ms"),
        ]);
        for preemptor in preemptors.iter().take(self.most(PREEMPTORS)) {
            table.row(vec![
                preemptor.by.clone().unwrap_or_else(|| "(none, or not known)".into()),
                preemptor.count.to_string(),
                number(Some(preemptor.total_ms), 3),
                number(Some(preemptor.longest_ms), 3),
            ]);
        }
        self.section(out, "Who had the CPU while a callback could have gone on", table);
    }
}
