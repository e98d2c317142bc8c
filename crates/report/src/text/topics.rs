//! Topics: what was sent, what arrived, and how late.

use super::table::{Column, Table};
use super::{count, figures, number, Terminal};
use tacho_tables::summary::{Summary, TopicFigures};

/// What became of messages that were neither received nor lost: its name, and how many.
type End = (&'static str, fn(&TopicFigures) -> Option<u64>);
const ENDS: [End; 4] = [
    ("before match", |topic| topic.before),
    ("after end", |topic| topic.after),
    ("pending", |topic| topic.pending),
    ("unknown", |topic| topic.unknown),
];

impl Terminal {
    pub(super) fn topics(&self, out: &mut String, summary: &Summary) {
        let mut columns =
            vec![Column::text("topic"), Column::number("sent"), Column::number("received"), Column::number("lost")];
        // Few systems have any of these.
        let ends: Vec<End> = ENDS
            .into_iter()
            .filter(|(_, of)| summary.topics.iter().any(|topic| of(topic).is_some_and(|count| count > 0)))
            .collect();
        columns.extend(ends.iter().map(|(name, _)| Column::number(name)));
        let are_sized = summary.topics.iter().any(|topic| topic.mean_size_bytes.is_some());
        columns.extend(are_sized.then(|| Column::number("mean B")));
        columns.extend(["rate Hz", "median us", "p99 us", "max us"].map(Column::number));
        let mut table = Table::new(columns);
        let latest = |topic: &TopicFigures| topic.latency_us.as_ref().map_or(f64::NEG_INFINITY, |d| d.max);
        let (told, more) = self.told(&summary.topics, latest);
        for topic in told {
            let latency = topic.latency_us.as_ref();
            let within = topic.latency_uncertainty_us.map_or(String::new(), |us| format!(" ±{us:.0}"));
            let mut cells =
                vec![topic.topic.clone(), topic.sent.to_string(), topic.received.to_string(), count(topic.lost)];
            cells.extend(ends.iter().map(|(_, of)| count(of(topic))));
            cells.extend(are_sized.then(|| number(topic.mean_size_bytes, 0)));
            cells.push(number(topic.rate_hz, 2));
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
