//! Runs made up for the tests of the report: study E's chain of nine spinning nodes, simulated with fixed phases.
//!
//! Only shapes are realistic; no figure here was measured, and none is printed as a result.

pub mod sweep;

use std::collections::BTreeMap;
use tacho_events::run::{Machine, ProcessExit, RunDirectory, RunInfo};
use tacho_report::ReportRun;
use tacho_tables::row::Row;
use tacho_tables::summary::{
    CallbackFigures, ChainFigures, Distribution, LayerFigures, LayerPart, Point, Summary, TopicFigures,
};
use tacho_tables::{Chain, Hop, Instance, MaybeNs, Note, OffCpu, Parts, Preemption, Tables};
use tacho_tune::{ChainNode, CommonRate, ObjectiveCurve, ObjectivePoint, Pair, Proof, RepeatFigures, Side, Spread};

/// Node of the chain and its work in ms: 24.66 in all, as in study E.
const CHAIN: [(&str, f64); 9] = [
    ("lidar_driver", 1.2),
    ("ray_ground_filter", 3.1),
    ("voxel_grid_filter", 2.4),
    ("ndt_matching", 11.26),
    ("ekf_localizer", 0.9),
    ("lane_planner", 2.6),
    ("pure_pursuit", 1.7),
    ("twist_filter", 0.6),
    ("vehicle_interface", 0.9),
];
const TOPICS: [&str; 9] = [
    "/points_raw",
    "/points_no_ground",
    "/filtered_points",
    "/ndt_pose",
    "/current_pose",
    "/final_waypoints",
    "/twist_raw",
    "/twist_cmd",
    "/vehicle_cmd",
];
/// Nodes beside the chain: name, input, output.
const BESIDE: [(&str, &str, &str); 5] = [
    ("camera_driver", "", "/image_raw"),
    ("image_detector", "/image_raw", "/objects_2d"),
    ("euclidean_cluster", "/points_no_ground", "/clusters"),
    ("costmap_generator", "/clusters", "/costmap"),
    ("map_loader", "", "/vector_map"),
];

/// How the nodes of the chain wake.
#[derive(Clone, Copy)]
pub enum Wake {
    Spin { hz: f64 },
    Arrival,
}

/// Numbers in [0, 1) that are the same at each call.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The three runs of a tuning, `untuned` with its objective curve.
pub fn tuned() -> Vec<ReportRun> {
    let mut untuned = run("untuned", Wake::Spin { hz: 10.0 });
    untuned.objective = Some(objective());
    let mut after = [run("common rate", Wake::Spin { hz: 300.0 }), run("arrival", Wake::Arrival)];
    for run in &mut after {
        run.proof = Some(proof(&untuned.tables, &run.tables));
    }
    let [common_rate, arrival] = after;
    vec![untuned, common_rate, arrival]
}

/// One simulated run of five repeats.
pub fn run(label: &str, wake: Wake) -> ReportRun {
    let path: Vec<String> = CHAIN
        .iter()
        .zip(TOPICS)
        .flat_map(|((node, _), topic)| [node.to_string(), topic.to_string()])
        .take(17)
        .collect();
    let mut tables = Tables {
        chains: vec![Chain {
            name: "localisation".into(),
            path: path.clone(),
            critical: true,
            lost: 2,
            evidence: EVIDENCE.into(),
            deadline_ns: None,
            until_ns: None,
            guessed_at: Vec::new(),
            callbacks: Vec::new(),
        }],
        ..Tables::default()
    };
    for repeat in 0..5 {
        simulate(&mut tables, wake, repeat);
    }
    let mut summary = summarise(&tables, path);
    if let Wake::Spin { hz: 10.0 } = wake {
        summary.notes.push(Note {
            name: "late-start".into(),
            count: 3,
            text: "callbacks of /map_loader ran before recording began; its execution times leave them out".into(),
        });
    }
    let directory = RunDirectory::new(format!("runs/demo/{}", label.replace(' ', "-")));
    ReportRun::new(label, directory, info(), summary, tables)
}

const EVIDENCE: &str = "each output published in the callback that took its input";

fn simulate(tables: &mut Tables, wake: Wake, repeat: u64) {
    let mut draw = Draw(repeat * 77 + 5);
    let phases: Vec<f64> = CHAIN.iter().map(|_| draw.next()).collect();
    for k in 0..40 {
        let begin = (repeat * 1_000_000 + k * 100) as f64 + 100.0 * phases[0];
        let row = tables.instances.len() as u32;
        let mut published = begin;
        for (position, (_, work)) in CHAIN.iter().enumerate() {
            let transport = if position == 0 { 0.0 } else { 0.12 + 0.2 * draw.next() * draw.next() };
            let arrival = published + transport;
            let start = match wake {
                _ if position == 0 => arrival,
                Wake::Arrival => arrival + 0.04,
                Wake::Spin { hz } => {
                    let (period, phase) = (1e3 / hz, phases[position] * 1e3 / hz);
                    ((arrival - phase) / period).ceil() * period + phase
                }
            };
            let queueing = if position == 3 && draw.next() > 0.7 { 0.4 * (start - arrival).min(3.0) } else { 0.0 };
            let output = start + work * (0.97 + 0.08 * draw.next() * draw.next());
            let hop = Hop {
                instance: Row::new(row),
                position: position as u32,
                execution: None,
                published_ns: (position > 0).then(|| ns(published)).into(),
                arrival_ns: (position > 0).then(|| ns(arrival)).into(),
                start_ns: ns(start),
                output_ns: ns(output),
                queueing_ns: ns(queueing),
                alignment_ns: MaybeNs::NONE,
                kept_ns: MaybeNs::NONE,
                off_cpu_ns: MaybeNs::NONE,
                preemption_ns: MaybeNs::NONE,
            };
            tables.hops.push(hop);
            published = output;
        }
        let hops = &tables.hops[tables.hops.len() - CHAIN.len()..];
        tables.instances.push(instance(hops));
    }
}

/// The instance that some hops make.
fn instance(hops: &[Hop]) -> Instance {
    let parts: Parts = hops.iter().map(Hop::parts).sum();
    let (start_ns, end_ns) = (hops[0].start_ns, hops[hops.len() - 1].output_ns);
    Instance {
        chain: Row::new(0),
        start_ns,
        end_ns,
        end_to_end_ns: end_ns - start_ns,
        computation_ns: parts.computation,
        off_cpu_ns: parts.off_cpu.into(),
        preemption_ns: parts.preemption.into(),
        alignment_ns: parts.alignment.into(),
        queueing_ns: parts.queueing,
        kept_ns: parts.kept.into(),
        transport_ns: parts.transport,
    }
}

/// A run with scheduler events: in each callback of a node the thread first waits for its CPU and then, blocked, for
/// something else, which is no preemption.
pub fn preempted() -> ReportRun {
    const NODE: u32 = 3;
    let mut run = run("preempted", Wake::Arrival);
    let tables = &mut run.tables;
    for (execution, hop) in (0..).zip(tables.hops.iter_mut()) {
        hop.execution = Some(Row::new(execution));
        hop.off_cpu_ns = (if hop.position == NODE { ns(4.0) } else { 0 }).into();
        hop.preemption_ns = (if hop.position == NODE { ns(1.5) } else { 0 }).into();
        if hop.position == NODE {
            let row = |state, from: f64, to: f64, by: Option<&str>| Preemption {
                process: Row::new(0),
                tid: 1,
                execution: Some(Row::new(execution)),
                state,
                from_ns: hop.start_ns + ns(from),
                to_ns: hop.start_ns + ns(to),
                cpu: 0,
                by_tid: by.map(|_| 9),
                by_comm: by.map(Into::into),
                waits_in: None,
                woken: false,
            };
            tables.preemptions.extend([
                row(OffCpu::Runnable, 1.0, 2.5, Some("burner")),
                row(OffCpu::Blocked, 4.0, 8.0, Some("feeder")),
            ]);
        }
    }
    tables.instances = tables.hops.chunks(CHAIN.len()).map(instance).collect();
    run.summary = summarise(tables, tables.chains[0].path.clone());
    run
}

#[allow(clippy::needless_update)] // a figure that analysis adds needs no value here
fn summarise(tables: &Tables, path: Vec<String>) -> Summary {
    let part = |of: fn(Parts<f64>) -> Option<f64>| {
        distribution(tables.instances.iter().filter_map(|i| of(i.parts().in_ms())).collect())
    };
    let chain = ChainFigures {
        name: "localisation".into(),
        path: path.clone(),
        critical: true,
        evidence: EVIDENCE.into(),
        instances: tables.instances.len() as u64,
        lost: 2,
        end_to_end_ms: distribution(tables.instances.iter().map(|i| i.end_to_end_ns as f64 / 1e6).collect()),
        repeat_means_ms: distribution(repeat_means(tables)),
        parts: Some(Parts {
            computation: part(|parts| Some(parts.computation)).expect("instances"),
            off_cpu: part(|parts| parts.off_cpu),
            preemption: part(|parts| parts.preemption),
            transport: part(|parts| Some(parts.transport)).expect("instances"),
            alignment: part(|parts| parts.alignment),
            queueing: part(|parts| Some(parts.queueing)).expect("instances"),
            kept: part(|parts| parts.kept),
        }),
        ..ChainFigures::default()
    };
    let beside = ChainFigures {
        name: "camera_driver to image_detector".into(),
        path: ["camera_driver", "/image_raw", "image_detector"].map(String::from).into(),
        evidence: EVIDENCE.into(),
        instances: 0,
        lost: 40,
        ..ChainFigures::default()
    };
    let mut callbacks = Vec::new();
    let mut topics = Vec::new();
    for (i, (node, work)) in CHAIN.iter().enumerate() {
        let mut draw = Draw(i as u64);
        callbacks.push(CallbackFigures {
            process_id: 4200 + i as u32,
            callback: format!("0x564c634cb{:03x}", 24 * i),
            kind: if i == 0 { "timer" } else { "subscription" }.into(),
            node: Some(node.to_string()),
            topic: (i > 0).then(|| TOPICS[i - 1].to_string()),
            period_ms: (i == 0).then_some(100.0),
            symbol: None,
            function: None,
            location: None,
            count: 200,
            duration_us: distribution((0..200).map(|_| 1e3 * work * (0.97 + 0.08 * draw.next())).collect()),
            cpu_us: None,
            off_cpu_us: None,
            queue_wait_us: None,
            output_period_ms: vec![(TOPICS[i].to_string(), 100.01)],
        });
        topics.push(TopicFigures {
            topic: TOPICS[i].into(),
            publishers: vec![node.to_string()],
            subscribers: CHAIN
                .get(i + 1)
                .iter()
                .map(|(next, _)| next.to_string())
                .chain(BESIDE.iter().filter(|(_, input, _)| *input == TOPICS[i]).map(|(node, ..)| node.to_string()))
                .collect(),
            sent: 200,
            received: if i < 8 { 200 } else { 0 },
            lost: (i < 8).then_some(if i == 2 { 2 } else { 0 }),
            rate_hz: Some(9.999),
            latency_us: if i < 8 {
                distribution((0..200).map(|_| 120.0 + 200.0 * draw.next() * draw.next()).collect())
            } else {
                None
            },
            ..TopicFigures::default()
        });
    }
    for (node, _, output) in BESIDE {
        topics.push(TopicFigures {
            topic: output.into(),
            publishers: vec![node.into()],
            subscribers: BESIDE
                .iter()
                .filter(|(_, input, _)| *input == output)
                .map(|(n, ..)| n.to_string())
                .chain((output == "/costmap" || output == "/vector_map").then(|| "lane_planner".into()))
                .collect(),
            sent: 200,
            received: 200,
            lost: None,
            rate_hz: (output != "/vector_map").then_some(10.0),
            latency_us: None,
            ..TopicFigures::default()
        });
    }
    Summary {
        services: Vec::new(),
        actions: Vec::new(),
        points: vec![Point {
            middleware: "ros2".into(),
            publishers: 14,
            subscribers: 13,
            due: Some(2800),
            sent: 2800,
            received: 2598,
            lost: 2u64.into(),
            loss_percent: Some(0.0769),
            in_time: Some(2598),
            latency_us: distribution((0..500).map(|i| 120.0 + i as f64 * 0.4).collect()),
            ..Point::default()
        }],
        callbacks,
        topics,
        layers: layers(),
        chains: vec![chain, beside],
        notes: vec![],
        findings: None,
        ..Summary::default()
    }
}

/// Messages of a program without events of the client library, and with the DDS on both sides.
fn layers() -> Vec<LayerFigures> {
    let mut draw = Draw(7);
    let mut part = |layer: &str, us: f64, includes: &[&str]| LayerPart {
        layer: layer.into(),
        duration_us: distribution((0..200).map(|_| us * (0.8 + 0.4 * draw.next())).collect()).expect("values"),
        includes: includes.iter().map(|s| s.to_string()).collect(),
    };
    let layers = vec![
        part("publish_rmw", 4.0, &["publish_rcl"]),
        part("publish_dds", 38.0, &[]),
        part("transport", 61.0, &[]),
        part("receive_dds", 24.0, &[]),
        part("executor", 70.0, &[]),
        part("take_rmw", 21.0, &[]),
        part("take_client_library", 12.0, &["take_rcl"]),
    ];
    let whole = layers.iter().map(|part| part.duration_us.mean).sum::<f64>();
    let latency_us = distribution((0..200).map(|i| whole + 0.1 * f64::from(i % 21 - 10)).collect()).expect("values");
    vec![LayerFigures { topic: Some("/points_raw".into()), messages: 200, latency_us, layers }]
}

/// Means of the repeats, which stand apart by more than any instance lasts.
fn repeat_means(tables: &Tables) -> Vec<f64> {
    let mut repeats: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for instance in &tables.instances {
        repeats.entry(instance.start_ns / 1_000_000_000_000).or_default().push(instance.end_to_end_ns as f64 / 1e6);
    }
    repeats.values().map(|times| times.iter().sum::<f64>() / times.len() as f64).collect()
}

/// What a proof of the two would say, as far as the report reads it.
fn proof(before: &Tables, after: &Tables) -> Proof {
    let figures = |mean: f64| RepeatFigures { end_to_end_ms: Some(mean), ..RepeatFigures::default() };
    let (before, after) = (repeat_means(before), repeat_means(after));
    let side = |means: &[f64]| Side {
        end_to_end_ms: Spread::of(means).expect("repeats"),
        worst_ms: 0.0,
        parts: None,
        instances: 200,
        lost: 0,
    };
    let repeats = (0..).zip(before.iter().zip(&after)).map(|(repeat, (before, after))| Pair {
        repeat,
        before: figures(*before),
        after: figures(*after),
    });
    Proof {
        chain: "localisation".into(),
        before: side(&before),
        after: side(&after),
        promise: None,
        cpu_percent: None,
        ratio: Spread::of_ratio(&before, &after).expect("pairs"),
        repeats: repeats.collect(),
        notes: vec![],
    }
}

/// Study E's objective for this chain, without its preemption by other nodes.
fn objective() -> ObjectiveCurve {
    let points: Vec<_> = (1..=100)
        .map(|i| {
            let hz = 10.0 * f64::from(i);
            let (computation_ms, alignment_ms) = (24.66, 8.0 * 1e3 / hz);
            let preemption_ms = 0.00027 * hz / 1e3 * 14.0 * 24.66 + 0.00012 * hz.powf(2.0) / 3.0;
            let response_ms = computation_ms + alignment_ms + preemption_ms;
            ObjectivePoint { hz, response_ms, computation_ms, alignment_ms, preemption_ms }
        })
        .collect();
    let best = points.iter().min_by(|a, b| a.response_ms.total_cmp(&b.response_ms)).expect("points").hz;
    let node = |(name, execution_ms): (&str, f64)| ChainNode { name: name.into(), execution_ms, check_ms: 0.00027 };
    let input = CommonRate { chain: CHAIN.map(node).into(), others: vec![], cores: 2 };
    ObjectiveCurve { input, points, diverging_hz: vec![1010.0], best_hz: best }
}

fn distribution(mut values: Vec<f64>) -> Option<Distribution> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |part: f64| {
        let rank = part * last as f64;
        let (below, above) = (values[rank.floor() as usize], values[rank.ceil() as usize]);
        below + (above - below) * rank.fract()
    };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some(Distribution {
        count: values.len() as u64,
        min: values[0],
        q1: at(0.25),
        median: at(0.5),
        q3: at(0.75),
        mean,
        p99: at(0.99),
        max: values[last],
        std: (last > 0).then(|| (square / last as f64).sqrt()),
    })
}

fn info() -> RunInfo {
    RunInfo {
        verb: "bench".into(),
        command: ["tacho", "bench", "workloads/autoware-localisation.yaml"].map(String::from).into(),
        tacho_version: "0.1.0".into(),
        started_at: "2026-11-21T01:40:00Z".into(),
        duration_s: 20.4,
        machine: Some(Machine {
            host: "bench-1".into(),
            cpu: "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz".into(),
            cpus: 2,
            memory_bytes: 8 << 30,
            kernel: "6.1.0-18-amd64".into(),
            preemption: "PREEMPT_DYNAMIC".into(),
            governor: None,
            clocksource: "tsc".into(),
        }),
        versions: BTreeMap::from([
            ("ros2".into(), "kilted".into()),
            ("rmw_fastrtps_cpp".into(), "9.3.2".into()),
            ("rcl".into(), "10.1.1".into()),
        ]),
        processes: CHAIN
            .iter()
            .enumerate()
            .map(|(i, (name, _))| ProcessExit {
                name: name.to_string(),
                pid: 4200 + i as u32,
                code: Some(0),
                ..ProcessExit::default()
            })
            .collect(),
        ..RunInfo::default()
    }
}

fn ns(ms: f64) -> i64 {
    (ms * 1e6).round() as i64
}
