//! Callbacks and what they take (study D).

use super::table::{Column, Table};
use super::{figures, number, Terminal, ABSENT, ROWS_TOLD};
use tacho_tables::summary::{CallbackFigures, Summary};

/// Its callbacks are the client library's own.
const PARAMETER_EVENTS: &str = "/parameter_events";

impl Terminal {
    pub(super) fn callbacks(&self, out: &mut String, summary: &Summary) {
        let mut columns = vec![
            Column::text("node"),
            Column::text("callback"),
            Column::number("count"),
            Column::number("min ms"),
            Column::number("mean ms"),
            Column::number("p99 ms"),
            Column::number("max ms"),
            Column::number("period ms"),
        ];
        let cpu_is_known = summary.callbacks.iter().any(|callback| callback.cpu_us.is_some());
        if cpu_is_known {
            columns.insert(7, Column::number("CPU mean ms"));
            columns.insert(8, Column::number("off CPU ms"));
        }
        let mut table = Table::new(columns);
        let total = |callback: &CallbackFigures| callback.duration_us.as_ref().map_or(0.0, |d| d.mean * d.count as f64);
        let (own, mut shown): (Vec<&CallbackFigures>, Vec<_>) =
            summary.callbacks.iter().partition(|callback| callback.topic.as_deref() == Some(PARAMETER_EVENTS));
        shown.sort_by(|a, b| total(b).total_cmp(&total(a)));
        let most = self.most(ROWS_TOLD);
        let more = shown.len().saturating_sub(most);
        for callback in shown.iter().take(most) {
            let wall = callback.duration_us.as_ref();
            let name = callback.name();
            let mut cells = vec![name.node(), name.what(), callback.count.to_string()];
            cells.extend(figures(wall, |d| [d.min, d.mean, d.p99, d.max].map(|us| us / 1e3), 3));
            if cpu_is_known {
                cells.push(number(callback.cpu_us.as_ref().map(|d| d.mean / 1e3), 3));
                cells.push(number(callback.off_cpu_us.as_ref().map(|d| d.mean / 1e3), 3));
            }
            let period =
                callback.output_period_ms.iter().map(|(_, ms)| format!("{ms:.2}")).collect::<Vec<_>>().join(", ");
            cells.push(if period.is_empty() { ABSENT.into() } else { period });
            table.row(cells);
            name.function_and_place().iter().for_each(|function| table.note(function));
        }
        self.section(
            out,
            "Callbacks: their own execution time, those with most of it first; last, the period that a rate \
             measurement of their output shows",
            table,
        );
        if more > 0 {
            self.line(out, &format!("and {more} more: --all shows them"));
        }
        if !own.is_empty() {
            let ms = own.iter().map(|callback| total(callback)).sum::<f64>() / 1e3;
            self.line(
                out,
                &format!(
                    "and of {PARAMETER_EVENTS}, which every node has: {} callback{}, {ms:.3} ms in all",
                    own.len(),
                    if own.len() == 1 { "" } else { "s" }
                ),
            );
        }
    }
}
