//! The ready-made experiments of the studies: as many points as published, and a short form for a small machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use tacho_workload::model::{Node, Qos};
use tacho_workload::{sweep, Overrides, Sweep, SweepPoint, Workload};

/// Study, points, points of the short form.
const STUDIES: [(&str, usize, usize); 16] = [
    // Three implementations, three networks, three sizes.
    ("a-dds", 3 * 3 * 3, 3 * 3 * 3),
    // 1-1; 1-N and N-1 with 7, 31 and 63; 4, 16 and 32 pairs. Five sizes, two rates. ROS 2 on Cyclone DDS and on Fast
    // DDS, Cyclone DDS below rmw.
    ("a-stack", 3 * (1 + 2 * 3 + 3) * 5 * 2, 2 * 4 * 3 * 2),
    // Eight transports of the study and three floors; six sizes, two rates; any CPU or one.
    ("b-transport", 11 * 6 * 2 * 2, 11 * 2 * 2 * 2),
    // Four histories, three sizes, two reliabilities, two durabilities.
    ("b-qos", 4 * 3 * 2 * 2, 4 * 2 * 2 * 2),
    ("b-fanout", 22 * 5 * 2, 22 * 2),
    // Eleven ways to join inputs, two sets of rates.
    ("b-fusion", 11 * 2, 11),
    // Seven transports of the study and threads of one process.
    ("b-comp", 8, 8),
    ("b-rate", 3 * 10 * 2, 3 * 5 * 2),
    // Three middlewares, three priorities, CPUs, load, three sizes.
    ("b-scheduling", 3 * 3 * 2 * 2 * 3, 3 * 2 * 2 * 2),
    // Eight methods; one host, a wired and a wireless link.
    ("b-v2x", 8 * 3 * 5, 8 * 3 * 2),
    // The seven rows of the table, and three on emulated microcontrollers.
    ("c-pairs", 7 + 3, 7 + 3),
    ("c-drift", 4, 4),
    // ROS 2 and UDP on one host and across, the light one and that on an emulated microcontroller across; five sizes.
    ("c-size", (2 * 2 + 2) * 5, (2 * 2 + 2) * 5),
    // One to four as publishers or as subscribers.
    ("c-nodes", 4 * 4, 4 * 4),
    // Two by two of ROS 2, on one host and across; without transient local of best effort, of the light one, and of
    // that on an emulated microcontroller.
    ("c-qos", 2 * 4 + 3 + 3, 2 * 4 + 3 + 3),
    ("c-startup", 7, 7),
];

fn read(study: &str, short: bool) -> Sweep {
    let name = format!("study-{study}.yaml");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads").join(&name))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    sweep(&text, &name, &Overrides { short, ..Overrides::default() }).unwrap_or_else(|errors| panic!("{errors}")).0
}

/// What starting, matching, warming up and ending took on two cores: a second, and a twentieth of one for each node.
fn about(sweep: &Sweep) -> Duration {
    let of_run = |nodes: usize| Duration::from_millis(1000 + 50 * nodes as u64);
    let around: Duration =
        sweep.points.iter().map(|point| of_run(point.workload.nodes.len()) * point.workload.run.repeats).sum();
    sweep.measured() + around
}

#[test]
fn every_study_has_the_points_that_it_published() {
    for (study, full, short) in STUDIES {
        assert_eq!(read(study, false).points.len(), full, "{study}");
        assert_eq!(read(study, true).points.len(), short, "{study}");
    }
}

#[test]
fn every_short_form_fits_three_minutes() {
    for (study, ..) in STUDIES {
        let about = about(&read(study, true));
        assert!(about <= Duration::from_secs(180), "{study}: {about:?}");
    }
}

#[test]
fn every_point_names_its_study_and_what_it_varies() {
    for (study, ..) in STUDIES {
        for point in read(study, false).points {
            assert_eq!(point.workload.study.as_deref(), Some(study));
            assert!(!point.parameters.is_empty());
        }
    }
}

#[test]
fn study_a_asks_for_its_durations_and_rates() {
    for (study, rates) in [("a-dds", vec![10.0]), ("a-stack", vec![10.0, 100.0])] {
        let mut found = Vec::new();
        for point in read(study, false).points {
            assert_eq!(point.workload.run.duration, Duration::from_secs(60));
            found.extend(point.workload.nodes.iter().flat_map(|node| &node.publishes).filter_map(|p| p.rate_hz));
        }
        found.sort_by(f64::total_cmp);
        found.dedup();
        assert_eq!(found, rates, "{study}");
    }
}

#[test]
fn rates_of_study_b_lie_on_both_sides_of_the_processing_time() {
    let sweep = read("b-rate", false);
    let relation = |point: &tacho_workload::SweepPoint| {
        let nodes = &point.workload.nodes;
        nodes[0].publishes[0].rate_hz.unwrap_or(0.0) * nodes[1].work.mean().as_secs_f64()
    };
    let (below, above): (Vec<f64>, Vec<f64>) = sweep.points.iter().map(relation).partition(|load| *load < 1.0);
    assert!(below.len() >= 10 && above.len() >= 10 && above.iter().all(|load| *load > 1.0));
}

/// The plugin that a node speaks.
fn speaks<'a>(node: &'a Node, workload: &'a Workload) -> &'a str {
    match &node.middleware {
        _ if node.is_on_board() => "micro",
        Some((plugin, _)) => plugin,
        None => &workload.middleware,
    }
}

fn hosts(workload: &Workload) -> BTreeSet<&str> {
    workload.nodes.iter().map(|node| node.host.as_str()).collect()
}

#[test]
fn study_a_asks_for_ros_2_on_cyclone_dds_and_stands_in_for_it() {
    let runs_on = |short| -> BTreeSet<(String, String)> {
        let points = read("a-stack", short).points;
        points.into_iter().map(|point| (point.workload.middleware, point.workload.transport)).collect()
    };
    let named = |plugin: &str, transport: &str| (plugin.to_string(), transport.to_string());
    let everywhere = BTreeSet::from([named("ros2", "udp"), named("cyclonedds", "udp")]);
    assert_eq!(runs_on(true), everywhere);
    assert_eq!(runs_on(false), &everywhere | &BTreeSet::from([named("ros2", "rmw_cyclonedds_cpp")]));
}

#[test]
fn study_b_shares_the_cpus_in_its_short_form_too() {
    for short in [true, false] {
        let pinned = |point: &&SweepPoint| {
            point.workload.run.cpus.iter().all(|(_, cpus)| cpus == &[0]) && !point.workload.run.cpus.is_empty()
        };
        let points = read("b-transport", short).points;
        assert_eq!(points.iter().filter(pinned).count() * 2, points.len());
    }
}

#[test]
fn study_b_s_round_trips_are_local_too() {
    for point in read("b-v2x", false).points {
        let local = point.parameters["link"] == "local";
        assert_eq!(hosts(&point.workload).len(), if local { 1 } else { 2 }, "{}", point.name);
        let shaped = point
            .workload
            .hosts
            .iter()
            .any(|host| host.link.rate_bit_per_s.is_some() && host.link.loss_percent.is_some());
        assert_eq!(shaped, point.parameters["link"] == "wireless", "{}", point.name);
        assert!(point.workload.chain("round_trip").is_some());
    }
}

#[test]
fn study_c_has_the_qos_of_its_table_2() {
    let keeps = |depth| Qos { depth, ..Qos::default() };
    let best_effort = |depth| Qos { reliable: false, ..keeps(depth) };
    for study in ["c-pairs", "c-drift", "c-size", "c-nodes"] {
        let mut seen = BTreeSet::new();
        for point in read(study, false).points {
            for node in &point.workload.nodes {
                let plugin = speaks(node, &point.workload);
                let (offers, asks) = match plugin {
                    "ros2" => (keeps(7), best_effort(5)),
                    "micro" => (best_effort(1), best_effort(1)),
                    _ => (best_effort(10), best_effort(10)),
                };
                assert!(node.publishes.iter().all(|p| p.qos == offers), "{study} {}: {node:?}", point.name);
                assert!(node.subscribes.iter().all(|s| s.qos == asks), "{study} {}: {node:?}", point.name);
                seen.insert((plugin.to_string(), node.publishes.is_empty()));
            }
        }
        assert!(seen.len() >= 4, "{study}: {seen:?}");
    }
}

#[test]
fn study_c_s_points_run_where_their_names_say() {
    for (study, name) in [("c-size", "via"), ("c-qos", "via"), ("c-pairs", "pair")] {
        let mut one_host = BTreeSet::new();
        for point in read(study, false).points {
            let value = &point.parameters[name];
            if value.ends_with("one host") {
                assert_eq!(hosts(&point.workload).len(), 1, "{study}: {value}");
                one_host.insert(value.clone());
            } else if value.contains("across") {
                assert_eq!(hosts(&point.workload).len(), 2, "{study}: {value}");
            }
        }
        // In the study only ROS 2 and UDP had both ends on one board.
        let expected: &[&str] = match study {
            "c-size" => &["ros2 one host", "udp one host"],
            "c-qos" => &["ros2 one host"],
            _ => &[],
        };
        assert_eq!(one_host.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{study}");
    }
}
