//! The communication of one run as a whole: one point of a sweep, over all its repeats.

mod boards;
mod drift;
mod drives;
mod fairness;
mod publishing;
mod resources;
mod subscribing;
mod wire;

use crate::figures::{latency_us, Repeat};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use tacho_analysis::promise::{self, Promise};
use tacho_tables::row::{rows_of, Row};
use tacho_tables::summary::{ChainFigures, Distribution, Point, PointChain};
use tacho_tables::{Endpoint, EndpointKind, Tables};
use tacho_workload::model::{Start, Workload};

const NS_PER_US: f64 = 1e3;

/// The figures of a workload that ran, of which `chains` are all.
pub(crate) fn point(repeats: &[Repeat<'_>], workload: &Workload, chains: &[ChainFigures]) -> Point {
    let publishing = publishing::publishing(repeats, workload);
    let subscribing = subscribing::subscribing(repeats);
    let count = |kind| {
        let of = |tables: &Tables| tables.endpoints.iter().filter(|e| e.kind == kind).count() as u64;
        repeats.iter().map(|r| of(r.tables)).max().unwrap_or(0)
    };
    let dropped_events = repeats.iter().flat_map(|r| &r.tables.processes).map(|p| p.dropped_events).sum();
    let (sent, received) = (publishing.sent(), subscribing.iter().map(|s| s.received).sum::<u64>());
    let lost: Option<u64> = subscribing.iter().map(|s| s.lost).sum();
    let (skipped, refused) = (publishing.skipped(), publishing.refused());
    let latencies = repeats.iter().flat_map(|r| &r.tables.messages).filter_map(latency_us);
    Point {
        middleware: workload.middleware.clone(),
        transport: workload.transport.clone(),
        parameters: repeats.iter().find_map(|r| Some(r.info?.parameters.clone())).unwrap_or_default(),
        topology: workload.topology.clone(),
        size_bytes: same(workload, |p| Some(p.size_bytes())),
        rate_hz: same(workload, |p| p.rate_hz()),
        repeats: repeats.len() as u64,
        publishers: count(EndpointKind::Publisher),
        subscribers: count(EndpointKind::Subscription),
        due: skipped.map(|skipped| sent + skipped + refused.unwrap_or(0)),
        sent,
        refused,
        skipped,
        sent_late: publishing.sent_late(),
        received,
        lost,
        loss_percent: lost
            .filter(|lost| received + lost > 0)
            .map(|lost| 100.0 * lost as f64 / (received + lost) as f64),
        in_time: subscribing.iter().map(|s| s.in_time).sum(),
        late: subscribing.iter().map(|s| s.late).sum(),
        latency_us: Distribution::of(latencies.collect()),
        send_lateness_us: publishing.send_lateness_us(),
        fairness: fairness::fairness(repeats),
        drift: drift::drift(repeats),
        startup_ms: (workload.run.start == Start::AtOnce).then(|| resources::startup_ms(repeats)).flatten(),
        cpu_percent: resources::cpu_percent(repeats),
        pss_bytes: resources::pss_bytes(repeats),
        rss_bytes: resources::rss_bytes(repeats),
        shared_bytes: resources::shared_bytes(repeats),
        wakeups_per_s: resources::wakeups_per_s(repeats),
        preemptions_per_s: resources::preemptions_per_s(repeats),
        layers: crate::figures::layers::figures_of_all(repeats),
        publishing: publishing.figures(),
        subscribing,
        boards: boards::boards(repeats),
        emulated_us: boards::emulated_us(repeats),
        wire_bytes_per_message: wire::bytes_per_message(repeats, sent),
        data_frame_bytes: wire::data_frame_bytes(repeats),
        chains: named(workload, chains),
        drives: drives::drives(repeats),
        dropped_events,
    }
}

/// The chains that the workload names.
fn named(workload: &Workload, chains: &[ChainFigures]) -> BTreeMap<String, PointChain> {
    let names = |chain: &&ChainFigures| workload.chain(&chain.name).is_some();
    let figures = |chain: &ChainFigures| PointChain {
        instances: chain.instances,
        lost: chain.lost,
        end_to_end_ms: chain.end_to_end_ms.clone(),
        communication_percent: communication_percent(chain),
    };
    chains.iter().filter(names).map(|chain| (chain.name.clone(), figures(chain))).collect()
}

/// Both means are over the same instances, so their ratio is that of the sums.
fn communication_percent(chain: &ChainFigures) -> Option<f64> {
    let whole = chain.end_to_end_ms.as_ref()?.mean;
    (whole > 0.0).then_some(100.0 * chain.parts.as_ref()?.transport.mean / whole)
}

/// What every publication of a workload has alike; absent where they differ.
fn same<T: PartialEq>(workload: &Workload, of: impl Fn(Promise<'_>) -> Option<T>) -> Option<T> {
    let mut all = promise::all(workload).map(of);
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// An end of a topic over all repeats: the n-th of its node there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct End {
    node: String,
    topic: String,
    ordinal: usize,
}

/// The publishers or the subscriptions of one repeat, in the order in which they were made: row of the table, and which
/// end it is.
fn ends(tables: &Tables, kind: EndpointKind) -> Vec<(Row<Endpoint>, End)> {
    let mut rows: Vec<Row<Endpoint>> =
        rows_of(&tables.endpoints).filter(|e| tables.endpoints[*e].kind == kind).collect();
    rows.sort_by_key(|row| tables.endpoints[*row].created_ns);
    let mut ordinals: HashMap<(&str, &str), usize> = HashMap::default();
    let end = |row: Row<Endpoint>| {
        let endpoint = &tables.endpoints[row];
        let node = tables.nodes[endpoint.node].name.as_str();
        let ordinal = ordinals.entry((node, &endpoint.topic)).or_default();
        *ordinal += 1;
        (row, End { node: node.to_owned(), topic: endpoint.topic.clone(), ordinal: *ordinal })
    };
    rows.into_iter().map(end).collect()
}

/// Ends over several repeats with something of each, in the order in which they were first seen.
struct Ends<T> {
    order: Vec<(End, T)>,
    known: HashMap<End, usize>,
}

impl<T: Default> Ends<T> {
    fn new() -> Self {
        Ends { order: Vec::new(), known: HashMap::default() }
    }

    /// Whether it was seen.
    fn knows(&self, end: &End) -> bool {
        self.known.contains_key(end)
    }

    /// Which one this is; a new one if it was not seen.
    fn index(&mut self, end: End) -> usize {
        *self.known.entry(end.clone()).or_insert_with(|| {
            self.order.push((end, T::default()));
            self.order.len() - 1
        })
    }
}
