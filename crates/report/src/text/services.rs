//! Service calls: how many, how many without an answer, and where their time goes.

use super::{figures, table, Terminal};
use table::{Column, Table};
use tacho_tables::summary::ServiceFigures;

impl Terminal {
    pub(super) fn services(&self, out: &mut String, services: &[ServiceFigures]) {
        let names = [
            "service",
            "sent",
            "complete",
            "unanswered",
            "request us",
            "handling us",
            "response us",
            "round trip us",
            "p99 us",
            "max us",
        ];
        let mut table =
            Table::new(names.map(|name| if name == "service" { Column::text(name) } else { Column::number(name) }));
        let (told, more) = self.told(services, |of| of.round_trip_us.as_ref().map_or(f64::NEG_INFINITY, |d| d.max));
        for of in told {
            let count = |count: Option<u64>| count.map_or(String::new(), |count| count.to_string());
            let mut cells = vec![of.service.clone(), count(of.sent), of.complete.to_string(), count(of.unanswered)];
            for step in [&of.request_us, &of.handling_us, &of.response_us] {
                cells.extend(figures(step.as_ref(), |d| [d.median], 1));
            }
            cells.extend(figures(of.round_trip_us.as_ref(), |d| [d.median, d.p99, d.max], 1));
            table.row(cells);
        }
        self.section(out, "Services: medians of each step of a call", table);
        self.and_more(out, more, "have the longest round trips");
    }
}
