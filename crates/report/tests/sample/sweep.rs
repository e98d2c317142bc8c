//! A made-up sweep: two middlewares, two sizes, two topologies; one point could not run.

use std::collections::BTreeMap;
use tacho_events::run::RunInfo;
use tacho_report::sweep::{Sweep, SweepPoint};
use tacho_tables::row::Row;
use tacho_tables::summary::{Distribution, Drift, Fairness, Point, PublisherFigures, SubscriptionFigures};
use tacho_tables::{Delivery, MaybeNs, Message, Tables};

const MANY: u64 = 31;

/// The sweep of study `a-dds`.
pub fn sweep() -> Sweep {
    let mut points = Vec::new();
    for (middleware, cost) in [("cyclonedds", 1.0), ("fastdds", 1.3)] {
        for (size, size_bytes) in [("16 B", 16u64), ("1 MiB", 1 << 20)] {
            for topology in ["one-to-many", "many-to-one"] {
                points.push(point(points.len(), middleware, cost, size, size_bytes, topology));
            }
        }
    }
    let info = RunInfo {
        parameters: parameters("connext", "16 B", "one-to-many"),
        missing: vec!["connext: no licence file; expected one in RTI_LICENSE_FILE".into()],
        ..RunInfo::default()
    };
    points.push(SweepPoint::new(format!("{:03}-connext-16-B", points.len()), &info, None, &[]));
    Sweep::new(points, Some("a-dds"))
}

fn parameters(middleware: &str, size: &str, topology: &str) -> BTreeMap<String, String> {
    let network = if topology == "one-to-many" { "1-31" } else { "31-1" };
    [("middleware", middleware), ("size", size), ("kind", topology), ("network", network)]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into()
}

fn point(index: usize, middleware: &str, cost: f64, size: &str, size_bytes: u64, topology: &str) -> SweepPoint {
    let (publishers, subscribers) = if topology == "one-to-many" { (1, MANY) } else { (MANY, 1) };
    let base_us = cost * (150.0 + size_bytes as f64 / 400.0);
    // A staircase: each subscription a little later than the one before.
    let latency_us = |endpoint: u64, k: u64| {
        base_us * (1.0 + 0.03 * endpoint as f64) + ((k * 7919 + endpoint * 104_729) % 97) as f64
    };
    let messages: Vec<Message> = (0..MANY)
        .flat_map(|endpoint| (0..60).map(move |k| (endpoint, k)))
        .map(|(endpoint, k)| {
            let publish_ns = 1_000_000_000 + k as i64 * 100_000_000;
            let taken = Some(publish_ns + (latency_us(endpoint, k) * 1e3) as i64);
            Message {
                publisher: Some(Row::new(0)),
                subscription: Row::new(1 + endpoint as u32),
                sequence: Some(k),
                publish_ns: publish_ns.into(),
                arrival_ns: MaybeNs::NONE,
                take_ns: taken.into(),
                callback_ns: taken.into(),
                execution: None,
                published_in: None,
                delivery: Delivery::InTime,
                lost_in: None,
                emulated: false,
            }
        })
        .collect();
    let of = |endpoint: u64| distribution((0..60).map(|k| latency_us(endpoint, k)).collect());
    let due = 60 * publishers;
    let sent = due - if size_bytes > 1000 { 12 * publishers } else { 0 };
    let lost = if size_bytes > 1000 { 9 } else { 0 };
    let received = sent * subscribers - lost;
    let late = lost * 3;
    let figures = Point {
        middleware: middleware.into(),
        transport: "udp".into(),
        parameters: parameters(middleware, size, topology),
        topology: Some(topology.into()),
        size_bytes: Some(size_bytes),
        rate_hz: Some(10.0),
        repeats: 1,
        publishers,
        subscribers,
        due: Some(due),
        sent,
        received,
        lost: lost.into(),
        loss_percent: Some(100.0 * lost as f64 / (received + lost) as f64),
        in_time: Some(received - late),
        late: Some(late),
        latency_us: Some(distribution(
            (0..MANY).flat_map(|e| (0..60).map(move |k| (e, k))).map(|(e, k)| latency_us(e, k)).collect(),
        )),
        fairness: (subscribers > 1).then(|| Fairness {
            subscriptions: subscribers,
            spread_us: base_us * 0.9,
            staircase: Some(1.0),
            staircase_p: Some(1e-9),
            topic: "/data".into(),
            messages: 60,
        }),
        drift: Some(Drift {
            slope_us_per_s: 0.01,
            slope_low_us_per_s: -0.2,
            slope_high_us_per_s: 0.3,
            changes_at_s: vec![],
            stretches: 12,
        }),
        cpu_percent: Some(base_us / 40.0),
        pss_bytes: Some(40 << 20),
        publishing: vec![PublisherFigures {
            node: "publisher".into(),
            topic: "/data".into(),
            due: Some(due),
            sent,
            ..PublisherFigures::default()
        }],
        subscribing: (0..subscribers)
            .map(|e| SubscriptionFigures {
                node: format!("subscriber_{:02}", e + 1),
                topic: "/data".into(),
                received: 60,
                lost: 0u64.into(),
                latency_us: Some(of(e)),
                ..SubscriptionFigures::default()
            })
            .collect(),
        ..Point::default()
    };
    let info = RunInfo {
        parameters: figures.parameters.clone(),
        measured_from_ns: Some(1_000_000_000),
        measured_to_ns: Some(7_000_000_000),
        ..RunInfo::default()
    };
    let tables = Tables { messages: messages.into(), ..Tables::default() };
    let name = format!("{index:03}-{middleware}-{}-{topology}", size.replace(' ', "-"));
    SweepPoint::new(name, &info, Some(figures), &[(info.clone(), tables)])
}

fn distribution(mut values: Vec<f64>) -> Distribution {
    values.sort_by(f64::total_cmp);
    let at = |part: f64| values[(part * (values.len() - 1) as f64) as usize];
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let std = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt();
    Distribution {
        count: values.len() as u64,
        min: at(0.0),
        q1: at(0.25),
        median: at(0.5),
        q3: at(0.75),
        mean,
        p99: at(0.99),
        max: at(1.0),
        std: Some(std),
    }
}
