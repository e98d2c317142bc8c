//! Topics of a bag: how regularly messages came, and how old they were.

use super::table::{Column, Table};
use super::{figures, number, Terminal, ROWS_TOLD};
use tacho_analysis::summary::BagTopicFigures;

impl Terminal {
    pub(super) fn bag_topics(&self, out: &mut String, topics: &[BagTopicFigures]) {
        let names = ["topic", "messages", "rate Hz", "gap ms", "p99", "max", "jitter p99", "age ms", "p99", "max", "publish to log ms"];
        let mut table = Table::new(names.map(|name| if name == "topic" { Column::text(name) } else { Column::number(name) }));
        let longest = |topic: &BagTopicFigures| topic.gap_ms.as_ref().map_or(f64::NEG_INFINITY, |gap| gap.max);
        let mut shown: Vec<&BagTopicFigures> = topics.iter().collect();
        let more = shown.len().saturating_sub(ROWS_TOLD);
        if more > 0 {
            shown.sort_by(|a, b| longest(b).total_cmp(&longest(a)));
        }
        for topic in shown.into_iter().take(ROWS_TOLD) {
            let mut cells = vec![topic.topic.clone(), topic.messages.to_string(), number(topic.rate_hz, 2)];
            cells.extend(figures(topic.gap_ms.as_ref(), |d| [d.median, d.p99, d.max], 2));
            cells.extend(figures(topic.jitter_ms.as_ref(), |d| [d.p99], 2));
            cells.extend(figures(topic.age_ms.as_ref(), |d| [d.median, d.p99, d.max], 2));
            cells.extend(figures(topic.publish_to_log_ms.as_ref(), |d| [d.median], 2));
            table.row(cells);
        }
        self.section(out, "Topics of the bag: medians; gaps between log times, ages from stamp to log time", table);
        if more > 0 {
            self.line(out, &format!("and {more} more: these have the longest gaps, --json has all"));
        }
    }
}
