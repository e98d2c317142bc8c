//! Topics: what was sent, what arrived, and how late.

use super::table::{Column, Table};
use super::{count, figures, number, Terminal};
use tacho_tables::summary::{Summary, TopicFigures};

impl Terminal {
    pub(super) fn topics(&self, out: &mut String, summary: &Summary) {
        let mut table = Table::new([
            Column::text("topic"),
            Column::number("sent"),
            Column::number("received"),
            Column::number("lost"),
            Column::number("rate Hz"),
            Column::number("median us"),
            Column::number("p99 us"),
            Column::number("max us"),
        ]);
        let latest = |topic: &TopicFigures| topic.latency_us.as_ref().map_or(f64::NEG_INFINITY, |d| d.max);
        let (told, more) = self.told(&summary.topics, latest);
        for topic in told {
            let latency = topic.latency_us.as_ref();
            let within = topic.latency_uncertainty_us.map_or(String::new(), |us| format!(" ±{us:.0}"));
            let mut cells = vec![
                topic.topic.clone(),
                topic.sent.to_string(),
                topic.received.to_string(),
                count(topic.lost),
                number(topic.rate_hz, 2),
            ];
            cells.extend(figures(latency, |d| [d.median, d.p99, d.max], 0).map(|us| us + &within));
            table.row(cells);
        }
        // rclpy has no callback events: its messages end at the take.
        let until = if summary.notes.iter().any(|note| note.name == "latency-to-take") {
            "callback, or take"
        } else {
            "callback"
        };
        self.section(out, &format!("Topics: latency from publish call to {until}"), table);
        self.and_more(out, more, "have the greatest maxima");
    }
}
