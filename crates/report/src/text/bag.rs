//! Topics of a bag: how regularly messages came, and how old they were.

use super::table::{Column, Table};
use super::{figures, number, Terminal};
use tacho_tables::summary::BagTopicFigures;

impl Terminal {
    pub(super) fn bag_topics(&self, out: &mut String, topics: &[BagTopicFigures]) {
        let names = [
            "topic",
            "messages",
            "rate Hz",
            "gap ms",
            "p99",
            "max",
            "jitter p99",
            "age ms",
            "p99",
            "max",
            "publish to log ms",
        ];
        let mut table =
            Table::new(names.map(|name| if name == "topic" { Column::text(name) } else { Column::number(name) }));
        let longest = |topic: &BagTopicFigures| topic.gap_ms.as_ref().map_or(f64::NEG_INFINITY, |gap| gap.max);
        let (shown, more) = self.told(topics, longest);
        for topic in shown {
            let mut cells = vec![topic.topic.clone(), topic.messages.to_string(), number(topic.rate_hz, 2)];
            cells.extend(figures(topic.gap_ms.as_ref(), |d| [d.median, d.p99, d.max], 2));
            cells.extend(figures(topic.jitter_ms.as_ref(), |d| [d.p99], 2));
            cells.extend(figures(topic.age_ms.as_ref(), |d| [d.median, d.p99, d.max], 2));
            cells.extend(figures(topic.publish_to_log_ms.as_ref(), |d| [d.median], 2));
            table.row(cells);
        }
        self.section(out, "Topics of the bag: medians; gaps between log times, ages from stamp to log time", table);
        self.and_more(out, more, "have the longest gaps");
    }
}
