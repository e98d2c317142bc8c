//! The communication of one run: what was due and sent, what arrived when, how fairly, how steadily, and at what cost.

use super::{count, figures, number, table, Terminal, ABSENT};
use table::{Column, Table};
use tacho_tables::summary::{Distribution, Drift, Drives, Fairness, Point, PublisherFigures, SubscriptionFigures};

const MIB: f64 = (1u64 << 20) as f64;

impl Terminal {
    pub(super) fn point(&self, out: &mut String, point: &Point) {
        self.heading(out, &format!("Communication: {}", circumstances(point)));
        let mut sending = Table::new(
            ["publishers", "due", "sent", "sent late", "refused", "skipped", "lateness us: median", "p99", "max"]
                .map(|name| if name == "publishers" { Column::text(name) } else { Column::number(name) }),
        );
        let mut row = |name: String, due, sent: u64, late, refused, skipped, lateness: Option<&Distribution>| {
            let mut cells = vec![name, count(due), sent.to_string(), count(late), count(refused), count(skipped)];
            cells.extend(figures(lateness, |d| [d.median, d.p99, d.max], 1));
            sending.row(cells);
        };
        row(
            format!("all {}", point.publishers),
            point.due,
            point.sent,
            point.sent_late,
            point.refused,
            point.skipped,
            point.send_lateness_us.as_ref(),
        );
        let failed = |p: &PublisherFigures| [p.sent_late, p.refused, p.skipped].into_iter().flatten().sum::<u64>();
        let behind = |p: &&PublisherFigures| failed(p) > 0;
        let shown: Vec<&PublisherFigures> =
            point.publishing.iter().filter(|_| point.publishing.len() > 1).filter(behind).collect();
        let (shown, more) = self.told(&shown, |p| failed(p) as f64 / p.due.unwrap_or(p.sent).max(1) as f64);
        for p in shown {
            row(
                format!("{} {}", p.node, p.topic),
                p.due,
                p.sent,
                p.sent_late,
                p.refused,
                p.skipped,
                p.send_lateness_us.as_ref(),
            );
        }
        out.push_str(&sending.render(self.width()));
        self.and_more(out, more, "sent the greatest part late or not at all");
        out.push('\n');

        let mut taking = Table::new(
            ["subscriptions", "received", "in time", "late", "lost", "loss %", "latency us: median", "p99", "max"]
                .map(|name| if name == "subscriptions" { Column::text(name) } else { Column::number(name) }),
        );
        let mut row =
            |name: String, received: u64, in_time, late, lost: Option<u64>, latency: Option<&Distribution>| {
                let mut cells = vec![name, received.to_string(), count(in_time), count(late), count(lost)];
                let percent =
                    lost.filter(|lost| received + lost > 0).map(|lost| 100.0 * lost as f64 / (received + lost) as f64);
                cells.push(number(percent, 2));
                cells.extend(figures(latency, |d| [d.median, d.p99, d.max], 1));
                taking.row(cells);
            };
        row(
            format!("all {}", point.subscribers),
            point.received,
            point.in_time,
            point.late,
            point.lost,
            point.latency_us.as_ref(),
        );
        let missed = |s: &SubscriptionFigures| s.late.unwrap_or(0) + s.lost.unwrap_or(0);
        let shown: Vec<&SubscriptionFigures> =
            point.subscribing.iter().filter(|s| point.subscribing.len() > 1 && missed(s) > 0).collect();
        let (shown, more) = self.told(&shown, |s| missed(s) as f64 / (s.received + s.lost.unwrap_or(0)).max(1) as f64);
        for s in shown {
            row(format!("{} {}", s.node, s.topic), s.received, s.in_time, s.late, s.lost, s.latency_us.as_ref());
        }
        out.push_str(&taking.render(self.width()));
        self.and_more(out, more, "had the greatest part late or lost");
        out.push('\n');
        let sentences = [
            point.fairness.as_ref().map(fairness),
            point.drift.as_ref().map(drift),
            point.startup_ms.as_ref().map(startup),
            wire(point),
            resources(point),
            point.drives.as_ref().map(drives),
        ];
        sentences.iter().flatten().for_each(|sentence| self.line(out, sentence));
        self.boards(out, point);
    }
}

fn drives(drives: &Drives) -> String {
    format!(
        "Drives: {} of {} kept the lane and touched nothing; at 95 %, a rate of success from {:.1} % to {:.1} %.",
        drives.good, drives.of, drives.success_low_percent, drives.success_high_percent
    )
}

fn wire(point: &Point) -> Option<String> {
    let whole =
        format!("Bytes on the wire: {:.0} a message sent, with all that goes beside it", point.wire_bytes_per_message?);
    Some(match point.data_frame_bytes {
        Some(bytes) => format!("{whole}; frames that carry messages have {bytes:.0}."),
        None => format!("{whole}."),
    })
}

/// What ran, in a line.
fn circumstances(point: &Point) -> String {
    let mut words = vec![point.middleware.clone()];
    words.extend((!point.transport.is_empty()).then(|| point.transport.clone()));
    words.extend(point.topology.clone());
    words.extend(point.size_bytes.map(|bytes| format!("{bytes} B")));
    words.extend(point.rate_hz.map(|hz| format!("{hz} Hz")));
    words.extend((point.repeats > 1).then(|| format!("{} repeats", point.repeats)));
    words.join(", ")
}

fn fairness(fairness: &Fairness) -> String {
    let staircase = fairness.staircase.map_or(String::new(), |staircase| {
        format!(
            "; rank correlation with the order of creation {staircase:.2}, by chance {}",
            chance(fairness.staircase_p)
        )
    });
    format!(
        "Fairness: of {} messages on {} that all {} subscriptions got, their mean latencies lie within {:.1} \
         us{staircase}.",
        fairness.messages, fairness.topic, fairness.subscriptions, fairness.spread_us
    )
}

fn chance(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.001 => "p < 0.001".into(),
        Some(p) => format!("p = {p:.3}"),
        None => ABSENT.into(),
    }
}

fn drift(drift: &Drift) -> String {
    let changes: Vec<String> = drift.changes_at_s.iter().map(|s| format!("{s:.1}")).collect();
    format!(
        "Drift: latency grows by {:.3} us a second (95 %: {:.3} to {:.3}){}.",
        drift.slope_us_per_s,
        drift.slope_low_us_per_s,
        drift.slope_high_us_per_s,
        if changes.is_empty() {
            "; no change of level".into()
        } else {
            format!("; its level changes at {} s", changes.join(", "))
        }
    )
}

fn startup(startup: &Distribution) -> String {
    format!(
        "Start-up: from entering main to the first message in a callback {:.1} ms (median of {} processes; {:.1} to \
         {:.1}).",
        startup.median, startup.count, startup.min, startup.max
    )
}

/// Absent where nothing was measured.
fn resources(point: &Point) -> Option<String> {
    let mib = |bytes: Option<u64>| bytes.map(|bytes| format!("{:.1} MiB", bytes as f64 / MIB));
    let known = [
        point.cpu_percent.map(|percent| format!("CPU {percent:.1} % of one")),
        point.wakeups_per_s.map(|a_second| format!("{a_second:.0} wake-ups a second")),
        point.preemptions_per_s.map(|a_second| format!("{a_second:.0} preemptions a second")),
        mib(point.pss_bytes).map(|pss| format!("PSS {pss}")),
        mib(point.rss_bytes).map(|rss| format!("greatest RSS {rss}")),
        mib(point.shared_bytes).map(|shared| format!("most shared memory {shared}")),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    (!known.is_empty()).then(|| format!("Used by all node processes: {}.", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::run::RunInfo;
    use tacho_tables::summary::{SubscriptionFigures, Summary};

    fn latency() -> Option<Distribution> {
        Distribution::of((0..101).map(f64::from).collect())
    }

    fn subscription(node: &str, lost: u64) -> SubscriptionFigures {
        SubscriptionFigures {
            node: node.into(),
            topic: "/image".into(),
            received: 99,
            lost: Some(lost),
            in_time: Some(90),
            late: Some(9),
            latency_us: latency(),
        }
    }

    fn point() -> Point {
        Point {
            middleware: "socket".into(),
            transport: "udp".into(),
            topology: Some("one-to-many".into()),
            size_bytes: Some(65536),
            rate_hz: Some(100.0),
            repeats: 1,
            publishers: 1,
            subscribers: 2,
            due: Some(103),
            sent: 100,
            refused: Some(0),
            skipped: Some(3),
            sent_late: Some(4),
            received: 198,
            lost: Some(2),
            in_time: Some(180),
            late: Some(18),
            latency_us: latency(),
            send_lateness_us: latency(),
            fairness: Some(Fairness {
                topic: "/image".into(),
                messages: 98,
                subscriptions: 2,
                spread_us: 12.34,
                staircase: Some(1.0),
                staircase_p: Some(0.0003),
            }),
            drift: Some(Drift {
                stretches: 20,
                slope_us_per_s: 0.5,
                slope_low_us_per_s: 0.4,
                slope_high_us_per_s: 0.6,
                changes_at_s: vec![3.21],
            }),
            cpu_percent: Some(12.34),
            pss_bytes: Some(3 << 20),
            publishing: vec![PublisherFigures {
                node: "/camera".into(),
                topic: "/image".into(),
                ..PublisherFigures::default()
            }],
            subscribing: vec![
                subscription("/left", 2),
                SubscriptionFigures { late: Some(0), ..subscription("/right", 0) },
            ],
            ..Point::default()
        }
    }

    fn explained(point: Point) -> String {
        let summary = Summary { points: vec![point], ..Summary::default() };
        Terminal::default().explain(&summary, &RunInfo::default())
    }

    #[test]
    fn the_communication_of_a_run_stands_in_its_explanation() {
        let text = explained(point());
        for found in [
            "Communication: socket, udp, one-to-many, 65536 B, 100 Hz",
            "mean latencies lie within 12.3 us; rank",
            "p < 0.001",
            "0.500 us a second (95 %: 0.400 to 0.600); its level changes at 3.2 s",
            "CPU 12.3 % of one, PSS 3.0 MiB.",
        ] {
            assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(found), "{found} is not in\n{text}");
        }
        let row = |start: &str| {
            let line = text
                .lines()
                .find(|line| line.starts_with(start))
                .unwrap_or_else(|| panic!("{start} is not in\n{text}"));
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(row("all 1")[2..], ["103", "100", "4", "0", "3", "50.0", "99.0", "100.0"]);
        assert_eq!(row("all 2")[2..], ["198", "180", "18", "2", "1.00", "50.0", "99.0", "100.0"]);
        assert_eq!(row("/left /image")[2..7], ["99", "90", "9", "2", "1.98"]);
        assert!(!text.contains("/right"), "nothing is wrong with it:\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn of_very_many_the_worst_are_told_and_how_many_more_there_are() {
        let publisher = |late: u64| PublisherFigures {
            node: format!("/late{late}"),
            due: Some(1000),
            sent: 1000,
            sent_late: Some(late),
            ..PublisherFigures::default()
        };
        let publishing = (1..=300).map(publisher).collect();
        let subscribing = (1..=50)
            .map(|lost| SubscriptionFigures { late: Some(0), ..subscription(&format!("/lost{lost}_of"), lost) })
            .collect();
        let text = explained(Point { publishing, subscribing, ..point() });
        let places: Vec<usize> = (261..=300).rev().filter_map(|late| text.find(&format!("/late{late} "))).collect();
        assert!(places.len() == 40 && places.is_sorted() && !text.contains("/late260 "), "{text}");
        assert!(
            text.contains("and 260 more: these sent") && text.contains("/lost50_of") && text.contains("/lost11_of"),
            "{text}"
        );
        assert!(text.contains("and 10 more: these had") && !text.contains("/lost10_of"), "{text}");
    }

    #[test]
    fn what_was_not_measured_is_not_zero() {
        let text = explained(Point {
            lost: None,
            due: None,
            skipped: None,
            sent_late: None,
            send_lateness_us: None,
            fairness: None,
            drift: None,
            cpu_percent: None,
            pss_bytes: None,
            subscribing: vec![],
            ..point()
        });
        assert!(!text.contains("Fairness") && !text.contains("Drift") && !text.contains("Used by"), "{text}");
        let row: Vec<&str> =
            text.lines().find(|line| line.starts_with("all 2")).expect("row").split_whitespace().collect();
        assert_eq!(row[2..7], ["198", "180", "18", "–", "–"]);
    }
}
