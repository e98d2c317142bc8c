//! The ready-made experiments of the studies: as many points as published, and a short form for a small machine.

use std::path::Path;
use std::time::Duration;
use tacho_workload::{sweep, Overrides, Sweep};

/// Study, points, points of the short form.
const STUDIES: [(&str, usize, usize); 14] = [
    // Three implementations, three networks, three sizes.
    ("a-dds", 3 * 3 * 3, 3 * 3 * 3),
    // 1-1; 1-N and N-1 with 7, 31 and 63; 4, 16 and 32 pairs. Five sizes, two rates.
    ("a-stack", (1 + 2 * 3 + 3) * 5 * 2, 5 * 3 * 2),
    // Eight transports of the study and three floors; six sizes, two rates; any CPU or one.
    ("b-transport", 11 * 6 * 2 * 2, 11 * 2 * 2),
    // Four histories, three sizes, two reliabilities, two durabilities.
    ("b-qos", 4 * 3 * 2 * 2, 4 * 2 * 2 * 2),
    ("b-fanout", 22 * 5 * 2, 22 * 2),
    ("b-rate", 3 * 10 * 2, 3 * 5 * 2),
    // Three middlewares, three priorities, CPUs, load, three sizes.
    ("b-scheduling", 3 * 3 * 2 * 2 * 3, 3 * 2 * 2 * 2),
    ("b-v2x", 8 * 2 * 5, 8 * 2 * 2),
    // The seven rows of the table, and three on emulated microcontrollers.
    ("c-pairs", 7 + 3, 7 + 3),
    ("c-drift", 4, 4),
    ("c-size", 4 * 5, 4 * 5),
    // One to four as publishers or as subscribers.
    ("c-nodes", 4 * 4, 4 * 4),
    // Two by two of ROS 2; without transient local of best effort, of the light one, and of that on an emulated microcontroller.
    ("c-qos", 4 + 3 + 3, 4 + 3 + 3),
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
