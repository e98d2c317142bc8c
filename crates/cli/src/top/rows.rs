//! Topics, callbacks and chains of a window's figures, as rows of text with a number to sort by.

use tacho_printing::visible;
use tacho_tables::summary::{ChainFigures, Distribution, Summary};
use tacho_tables::{own_name, Parts};

/// One of the three tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Topics,
    Callbacks,
    Chains,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Topics, Kind::Callbacks, Kind::Chains];

    pub fn title(self) -> &'static str {
        match self {
            Kind::Topics => "Topics",
            Kind::Callbacks => "Callbacks",
            Kind::Chains => "Chains",
        }
    }

    /// Headings with their units; the first is the name.
    pub fn headings(self) -> &'static [&'static str] {
        match self {
            Kind::Topics => &["topic", "rate Hz", "median us", "p99 us", "max us", "sent", "received", "lost"],
            Kind::Callbacks => &["callback", "count", "busy %", "median us", "p99 us", "max us", "wait p99 us"],
            Kind::Chains => &[
                "chain",
                "instances",
                "mean ms",
                "p99 ms",
                "max ms",
                "computation ms",
                "alignment ms",
                "queueing ms",
                "transport ms",
                "lost",
            ],
        }
    }

    /// The heading by which the worst come first.
    pub fn worst_first(self) -> usize {
        let by = match self {
            Kind::Topics => "p99 us",
            Kind::Callbacks => "busy %",
            Kind::Chains => "p99 ms",
        };
        self.headings().iter().position(|heading| *heading == by).unwrap_or(0)
    }
}

/// A row: a name, and one value a column behind it. A value that was not measured is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub name: String,
    /// Characters at the end of the name that are never cut off.
    pub kept: usize,
    pub values: Vec<Option<f64>>,
}

/// What the name of the critical chain begins with.
pub const CRITICAL: &str = "* ";
/// What the name of a chain that rests on a guess begins with.
pub const GUESSED: &str = "? ";

/// The rows of a table, over a window of `window_s`; their names are visible to the last character.
pub fn rows(kind: Kind, summary: &Summary, window_s: f64) -> Vec<Row> {
    let mut rows = all(kind, summary, window_s);
    for row in &mut rows {
        let end: String = row.name.chars().skip(row.name.chars().count() - row.kept).collect();
        (row.kept, row.name) = (visible(&end).chars().count(), visible(&row.name).into_owned());
    }
    rows
}

fn all(kind: Kind, summary: &Summary, window_s: f64) -> Vec<Row> {
    let of = |distribution: &Option<Distribution>, value: fn(&Distribution) -> f64| distribution.as_ref().map(value);
    match kind {
        Kind::Topics => {
            let row = |topic: &tacho_tables::summary::TopicFigures| Row {
                name: topic.topic.clone(),
                kept: 0,
                values: vec![
                    topic.rate_hz,
                    of(&topic.latency_us, |d| d.median),
                    of(&topic.latency_us, |d| d.p99),
                    of(&topic.latency_us, |d| d.max),
                    Some(topic.sent as f64),
                    Some(topic.received as f64),
                    topic.lost.map(|lost| lost as f64),
                ],
            };
            summary.topics.iter().map(row).collect()
        }
        Kind::Callbacks => {
            let row = |callback: &tacho_tables::summary::CallbackFigures| {
                let (name, function) = (callback.name(), callback.function.as_deref());
                let busy = callback.duration_us.as_ref().filter(|_| window_s > 0.0);
                Row {
                    name: format!("{} {} {}", name.node(), name.what(), function.unwrap_or("")).trim_end().to_owned(),
                    kept: function.map_or(0, |function| own_name(function).chars().count()),
                    values: vec![
                        Some(callback.count as f64),
                        busy.map(|duration| duration.mean * duration.count as f64 / (window_s * 1e6) * 100.0),
                        of(&callback.duration_us, |d| d.median),
                        of(&callback.duration_us, |d| d.p99),
                        of(&callback.duration_us, |d| d.max),
                        of(&callback.queue_wait_us, |d| d.p99),
                    ],
                }
            };
            summary.callbacks.iter().map(row).collect()
        }
        Kind::Chains => {
            let row = |chain: &ChainFigures| Row {
                // In front, because a narrow terminal cuts off the end.
                name: format!("{}{}", mark(chain), distinct(chain, &summary.chains)),
                kept: 0,
                values: vec![
                    Some(chain.instances as f64),
                    of(&chain.end_to_end_ms, |d| d.mean),
                    of(&chain.end_to_end_ms, |d| d.p99),
                    of(&chain.end_to_end_ms, |d| d.max),
                    part(chain, |parts| Some(parts.computation)),
                    part(chain, |parts| parts.alignment),
                    part(chain, |parts| Some(parts.queueing)),
                    part(chain, |parts| Some(parts.transport)),
                    Some(chain.lost as f64),
                ],
            };
            summary.chains.iter().map(row).collect()
        }
    }
}

/// The mark of the critical chain, and of one that rests on a guess.
fn mark(chain: &ChainFigures) -> String {
    let guess = if chain.guessed_at.is_empty() { "" } else { GUESSED };
    format!("{}{guess}", if chain.critical { CRITICAL } else { "" })
}

/// Mean of a part of a chain's times.
fn part(chain: &ChainFigures, of: fn(Parts<f64>) -> Option<f64>) -> Option<f64> {
    of(chain.parts.as_ref()?.map(|times| times.mean))
}

/// The name of a chain. If several paths have it, the topics of this one follow.
fn distinct(chain: &ChainFigures, chains: &[ChainFigures]) -> String {
    if chains.iter().filter(|other| other.name == chain.name).count() == 1 {
        return chain.name.clone();
    }
    let topics: Vec<&str> = chain.path.iter().skip(1).step_by(2).map(String::as_str).collect();
    format!("{} by {}", chain.name, topics.join(" "))
}

/// Rows whose name holds `filter`, in upper or lower case, ordered by a column: greatest first, or least first. Rows
/// without a value come last.
pub fn arrange(mut rows: Vec<Row>, filter: &str, column: usize, ascending: bool) -> Vec<Row> {
    let filter = filter.to_lowercase();
    rows.retain(|row| row.name.to_lowercase().contains(&filter));
    rows.sort_by(|a, b| match column.checked_sub(1) {
        None if ascending => a.name.cmp(&b.name),
        None => b.name.cmp(&a.name),
        Some(column) => {
            let value = |row: &Row| row.values.get(column).copied().flatten();
            match (value(a), value(b)) {
                (Some(a), Some(b)) if ascending => a.total_cmp(&b),
                (Some(a), Some(b)) => b.total_cmp(&a),
                (one, other) => other.is_some().cmp(&one.is_some()),
            }
            .then_with(|| a.name.cmp(&b.name))
        }
    });
    rows
}

/// Formats a value with four digits; empty if it was not measured.
pub fn shown(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value == value.trunc() && value.abs() < 1e9 => format!("{value:.0}"),
        Some(value) if value.abs() >= 1000.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 100.0 => format!("{value:.1}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::summary::{CallbackFigures, TopicFigures};

    fn row(name: &str, value: Option<f64>) -> Row {
        Row { name: name.into(), kept: 0, values: vec![value] }
    }

    fn names(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| row.name.as_str()).collect()
    }

    #[test]
    fn paths_of_one_name_are_told_apart_by_their_topics() {
        let chain = |name: &str, topic: &str| ChainFigures {
            name: name.into(),
            path: vec!["/a".into(), topic.into(), "/b".into()],
            ..ChainFigures::default()
        };
        let chains =
            vec![chain("a to b", "/x"), ChainFigures { critical: true, ..chain("a to b", "/y") }, chain("c", "/x")];
        let found = rows(Kind::Chains, &Summary { chains, ..Summary::default() }, 1.0);
        assert_eq!(names(&found), ["a to b by /x", "* a to b by /y", "c"]);
    }

    #[test]
    fn the_worst_come_first_and_what_was_not_measured_last() {
        let rows = vec![row("/a", Some(1.0)), row("/b", None), row("/c", Some(3.0)), row("/Cloud", Some(2.0))];
        assert_eq!(names(&arrange(rows.clone(), "", 1, false)), ["/c", "/Cloud", "/a", "/b"]);
        assert_eq!(names(&arrange(rows.clone(), "", 1, true)), ["/a", "/Cloud", "/c", "/b"]);
        assert_eq!(names(&arrange(rows.clone(), "/C", 1, false)), ["/c", "/Cloud"]);
        assert_eq!(names(&arrange(rows, "", 0, true)), ["/Cloud", "/a", "/b", "/c"]);
    }

    #[test]
    fn each_row_has_a_value_a_heading() {
        let distribution = Some(Distribution { count: 10, mean: 2000.0, ..Distribution::default() });
        let summary = Summary {
            topics: vec![TopicFigures { topic: "/points".into(), sent: 5, ..TopicFigures::default() }],
            callbacks: vec![CallbackFigures {
                kind: "timer".into(),
                period_ms: Some(10.0),
                function: Some("Planner.tick".into()),
                count: 10,
                duration_us: distribution,
                ..CallbackFigures::default()
            }],
            chains: vec![Default::default()],
            ..Summary::default()
        };
        for kind in Kind::ALL {
            let rows = rows(kind, &summary, 10.0);
            assert_eq!(rows[0].values.len() + 1, kind.headings().len(), "{kind:?}");
        }
        let callback = &rows(Kind::Callbacks, &summary, 10.0)[0];
        assert_eq!((callback.name.as_str(), callback.kept), ("process 0 timer 10 ms Planner.tick", 4));
        assert_eq!(callback.values[1], Some(0.2), "20 ms of 10 s");
        assert_eq!(rows(Kind::Topics, &summary, 10.0)[0].values[1], None);
    }

    #[test]
    fn values_are_shown_with_as_many_digits_as_they_bear() {
        let all = [None, Some(3.0), Some(0.1234), Some(12.345), Some(123.45), Some(1234.5)];
        assert_eq!(all.map(shown), ["", "3", "0.123", "12.35", "123.5", "1234"].map(String::from));
    }
}
