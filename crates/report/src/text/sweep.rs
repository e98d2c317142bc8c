//! The points of a sweep beside each other, a row each.

use super::{count, figures, number, table, Terminal, ABSENT};
use std::collections::BTreeSet;
use table::{Column, Table};
use tacho_tables::summary::Point;

impl Terminal {
    pub(super) fn points(&self, out: &mut String, points: &[Point]) {
        let parameters = parameters(points);
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
        self.chains_of_points(out, points, &parameters);
    }

    /// The chains that the workload names, a row each of each point.
    fn chains_of_points(&self, out: &mut String, points: &[Point], parameters: &BTreeSet<&str>) {
        if points.iter().all(|point| point.chains.is_empty()) {
            return;
        }
        let heads = ["instances", "median ms", "p99 ms", "mean ms", "communication %"];
        let columns = parameters.iter().copied().chain(["chain"]).map(Column::text);
        let mut table = Table::new(columns.chain(heads.into_iter().map(Column::number)));
        for point in points {
            for (name, chain) in &point.chains {
                let mut cells: Vec<String> = parameters.iter().map(|name| value(point, name)).collect();
                cells.extend([name.clone(), chain.instances.to_string()]);
                cells.extend(figures(chain.end_to_end_ms.as_ref(), |d| [d.median, d.p99, d.mean], 2));
                cells.push(number(chain.communication_percent, 1));
                table.row(cells);
            }
        }
        self.section(out, "Their chains, end to end, and the part of the mean that is transport", table);
    }
}

fn parameters(points: &[Point]) -> BTreeSet<&str> {
    let named: BTreeSet<&str> = points.iter().flat_map(|p| p.parameters.keys().map(String::as_str)).collect();
    // Points that were put side by side by hand have no parameters: what ran is what tells them apart.
    if named.is_empty() {
        return ["middleware", "transport"].into();
    }
    named
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
    use tacho_tables::summary::{Distribution, PointChain, Summary};

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
    fn chains_of_points_have_their_share_of_communication() {
        let chain = PointChain {
            instances: 9,
            end_to_end_ms: Distribution::of(vec![20.0, 40.0]),
            communication_percent: Some(12.34),
            ..PointChain::default()
        };
        let chains = [("mosse".to_owned(), chain), ("silent".to_owned(), PointChain::default())].into();
        let points = vec![Point { chains, ..point(&[("via", "udp")], 1.0) }, point(&[("via", "shm")], 1.0)];
        let text = Terminal::default().explain(&Summary { points, ..Summary::default() }, &RunInfo::default());
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(rows.iter().any(|row| row[..] == ["udp", "mosse", "9", "30.00", "39.80", "30.00", "12.3"]), "{text}");
        assert!(rows.iter().any(|row| row[..] == ["udp", "silent", "0", "–", "–", "–", "–"]), "{text}");
    }

    #[test]
    fn points_without_parameters_are_told_apart_by_what_ran() {
        let rows = rows(vec![point(&[], 1.0), Point { transport: "udp".into(), ..point(&[], 2.0) }]);
        assert_eq!((rows[1][..2].join(" "), rows[2][..2].join(" ")), ("inproc –".into(), "inproc udp".into()));
    }
}
