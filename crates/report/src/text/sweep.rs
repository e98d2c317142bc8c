//! The points of a sweep beside each other, a row each.

use super::{count, figures, number, table, Terminal, ABSENT};
use std::collections::BTreeSet;
use table::{Column, Table};
use tacho_tables::summary::Point;

impl Terminal {
    pub(super) fn points(&self, out: &mut String, points: &[Point]) {
        let mut parameters: BTreeSet<&str> =
            points.iter().flat_map(|p| p.parameters.keys().map(String::as_str)).collect();
        // Points that were put side by side by hand have no parameters: what ran is what tells them apart.
        if parameters.is_empty() {
            parameters.extend(["middleware", "transport"]);
        }
        let heads = ["due", "sent", "in time", "late", "lost", "loss %", "median us", "p99 us", "max us", "cpu %"];
        let mut table = Table::new(
            parameters.iter().map(|name| Column::text(name)).chain(heads.iter().map(|head| Column::number(head))),
        );
        for point in points {
            let mut cells: Vec<String> = parameters.iter().map(|name| value(point, name)).collect();
            cells.extend([
                count(point.due),
                point.sent.to_string(),
                count(point.in_time),
                count(point.late),
                count(point.lost),
                number(point.loss_percent, 2),
            ]);
            cells.extend(figures(point.latency_us.as_ref(), |d| [d.median, d.p99, d.max], 1));
            cells.push(number(point.cpu_percent, 1));
            table.row(cells);
        }
        self.section(
            out,
            &format!("{} points: messages, latency from publish call to callback, CPU time of all nodes", points.len()),
            table,
        );
    }
}

/// What the sweep set this to; what ran, where it did not set it.
fn value(point: &Point, name: &str) -> String {
    let ran = match name {
        "middleware" => Some(&point.middleware),
        "transport" => Some(&point.transport).filter(|transport| !transport.is_empty()),
        _ => None,
    };
    point.parameters.get(name).or(ran).cloned().unwrap_or_else(|| ABSENT.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::run::RunInfo;
    use tacho_tables::summary::{Distribution, Summary};

    fn point(parameters: &[(&str, &str)], median: f64) -> Point {
        Point {
            middleware: "inproc".into(),
            parameters: parameters.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
            due: Some(600),
            sent: 599,
            in_time: Some(590),
            late: Some(8),
            lost: Some(1),
            loss_percent: Some(0.1669),
            latency_us: Distribution::of(vec![median]),
            ..Point::default()
        }
    }

    fn rows(points: Vec<Point>) -> Vec<Vec<String>> {
        let text = Terminal::default().explain(&Summary { points, ..Summary::default() }, &RunInfo::default());
        let table = text.lines().skip_while(|line| !line.contains("points: ")).skip(1);
        table
            .map(|line| line.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect())
            .collect()
    }

    #[test]
    fn a_sweep_is_a_table_with_its_parameters_as_columns() {
        let rows = rows(vec![
            point(&[("rate", "10 Hz"), ("size", "64 KiB")], 12.0),
            point(&[("rate", "100 Hz"), ("size", "16 B")], 7.25),
        ]);
        assert_eq!(
            rows[0],
            [
                "rate",
                "size",
                "due",
                "sent",
                "in time",
                "late",
                "lost",
                "loss %",
                "median us",
                "p99 us",
                "max us",
                "cpu %"
            ]
        );
        assert_eq!(rows[1], ["10 Hz", "64 KiB", "600", "599", "590", "8", "1", "0.17", "12.0", "12.0", "12.0", "–"]);
        assert_eq!(rows[2][..2], ["100 Hz", "16 B"]);
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn points_without_parameters_are_told_apart_by_what_ran() {
        let rows = rows(vec![point(&[], 1.0), Point { transport: "udp".into(), ..point(&[], 2.0) }]);
        assert_eq!((rows[1][..2].join(" "), rows[2][..2].join(" ")), ("inproc –".into(), "inproc udp".into()));
    }
}
