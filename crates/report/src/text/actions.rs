//! Actions: what became of their goals, and where their time goes.

use super::{figures, table, Terminal};
use table::{Column, Table};
use tacho_tables::summary::ActionFigures;

impl Terminal {
    pub(super) fn actions(&self, out: &mut String, actions: &[ActionFigures]) {
        let names =
            ["action", "sent", "accepted", "rejected", "succeeded", "canceled", "aborted", "unfinished", "feedback"];
        let mut goals =
            Table::new(names.map(|name| if name == "action" { Column::text(name) } else { Column::number(name) }));
        let names = ["ms", "acceptance", "result", "p99", "max", "execution", "CPU", "feedback", "feedback Hz"];
        let mut times =
            Table::new(names.map(|name| if name == "ms" { Column::text(name) } else { Column::number(name) }));
        for of in actions {
            let told = |count: Option<u64>| count.map_or(String::new(), |count| count.to_string());
            let mut cells = vec![of.action.clone(), told(of.sent)];
            let counts = [of.accepted, of.rejected, of.succeeded, of.canceled, of.aborted, of.unfinished].map(Some);
            cells.extend(counts.into_iter().chain([of.feedback]).map(told));
            goals.row(cells);
            let mut cells = vec![of.action.clone()];
            cells.extend(figures(of.acceptance_us.as_ref(), |d| [d.median / 1e3], 3));
            cells.extend(figures(of.result_us.as_ref(), |d| [d.median, d.p99, d.max].map(|us| us / 1e3), 3));
            for time in [&of.execution_us, &of.execution_cpu_us, &of.feedback_latency_us] {
                cells.extend(figures(time.as_ref(), |d| [d.median / 1e3], 3));
            }
            cells.push(of.feedback_rate_hz.map_or(String::new(), |hz| format!("{hz:.2}")));
            times.row(cells);
        }
        self.section(out, "Actions: what became of their goals", goals);
        self.section(out, "Times of goals: medians; result from sending the goal on", times);
    }
}
