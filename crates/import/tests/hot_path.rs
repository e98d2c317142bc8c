//! Finds the hot path of the Autoware reference graph without being given it, and compares it with the output of the
//! reference system: the time from the later of the two lidars' callbacks to that of ObjectCollisionEstimator, of each
//! sample that reaches VehicleDBWSystem.

mod fixture;

use fixture::Fixture;
use std::collections::{BTreeMap, HashSet};
use tacho_events::run::RunInfo;
use tacho_events::RunDirectory;
use tacho_import::{import, Reader};
use tacho_tables::row::Row;
use tacho_tables::{Execution, Link, LinkRule, Tables};

const HOT: [&str; 6] = [
    "PointsTransformer",
    "PointCloudFusion",
    "RayGroundFilter",
    "EuclideanClusterDetector",
    "ObjectCollisionEstimator",
    "BehaviorPlanner",
];

/// The run of a trace, analysed.
fn analysed(fixture: &Fixture) -> Tables {
    let folder = tempfile::tempdir().expect("folder");
    let run = RunDirectory::new(folder.path());
    import(Reader::open(&[fixture.trace()]).expect("trace"), &run, RunInfo::default(), &mut |_| true)
        .expect("imported");
    tacho_analysis::analyse(&run, None, &mut |_| {}).expect("analysed")
}

/// Whether each chain is the hot path and what follows it to the sink.
fn hot(tables: &Tables) -> Vec<bool> {
    let is_hot = |path: &[String]| {
        let nodes: Vec<&str> = path.iter().step_by(2).map(|name| name.trim_start_matches('/')).collect();
        nodes.last() == Some(&"VehicleDBWSystem")
            && ["FrontLidarDriver", "RearLidarDriver"].contains(&nodes[0])
            && HOT.iter().zip(&nodes[1..]).all(|(hot, node)| node.starts_with(hot))
    };
    let hot: Vec<bool> = tables.chains.iter().map(|chain| is_hot(&chain.path)).collect();
    assert!(
        hot.iter().filter(|hot| **hot).count() >= 2,
        "{:?}",
        tables.chains.iter().map(|c| &c.path).collect::<Vec<_>>()
    );
    hot
}

/// ns from each lidar's callback to the estimator's, by the estimator's execution; the lesser of the two lidars.
fn latencies(fixture: &Fixture) -> BTreeMap<Row<Execution>, i64> {
    let tables = analysed(fixture);
    let hot = hot(&tables);
    let mut found = BTreeMap::new();
    for hop in tables.hops.iter().filter(|hop| hop.position == 5) {
        let instance = &tables.instances[hop.instance];
        if hot[instance.chain.index()] {
            let latency = hop.start_ns - instance.start_ns;
            let least = found.entry(hop.execution.expect("in a callback")).or_insert(latency);
            *least = latency.min(*least);
        }
    }
    found
}

/// Whether each sample that the reference system printed of VehicleDBWSystem had the hot path in it: its behaviour
/// planner empties what it keeps whenever it publishes, so that a sample has nothing of what an earlier one had.
const HAS_HOT_PATH: &str = "hhhhh-h-h-hh-h-h-hh-h-hhhh-hh-";

#[test]
fn a_sample_of_a_planner_that_empties_its_cache_has_the_hot_path_exactly_where_the_program_says_so() {
    let tables = analysed(&Fixture::unpack("autoware_single_5s"));
    let hot = hot(&tables);
    let of_sink = |e: &Execution| {
        let callback = &tables.callbacks[e.callback];
        callback.topic.as_deref() == Some("/VehicleInterface")
            && callback.node.is_some_and(|node| tables.nodes[node].name.ends_with("VehicleDBWSystem"))
    };
    let sinks = tables.executions.numbered().filter(|(_, e)| of_sink(e)).map(|(row, _)| row);
    let of_hot = tables.hops.iter().filter(|hop| hot[tables.instances[hop.instance].chain.index()]);
    let reached: HashSet<Row<Execution>> = of_hot.filter_map(|hop| hop.execution).collect();
    let found: String = sinks.map(|sink| if reached.contains(&sink) { 'h' } else { '-' }).collect();
    // The program does not print the first samples.
    assert_eq!(&found[found.len() - HAS_HOT_PATH.len()..], HAS_HOT_PATH);
    let planner = |link: &&Link| tables.nodes[link.node].name.ends_with("BehaviorPlanner");
    let rules: Vec<_> = tables.links.iter().filter(planner).map(|link| (link.rule, link.guess)).collect();
    assert_eq!(rules, [(LinkRule::LatestOnce, Some(false)); 6]);
}

#[test]
fn the_hot_path_takes_what_the_reference_system_says() {
    let fixture = Fixture::unpack("autoware_single_5s");
    let truth = &fixture.truth["reference_system_replay"]["per_node"]["VehicleDBWSystem"]["hot_path_from_trace_ns"];
    let found: Vec<i64> = latencies(&fixture).into_values().collect();
    // The program does not print a callback that reaches the sink more than once, or with the first samples: the
    // printed ones are some of ours.
    let printed = truth["count"].as_u64().expect("count");
    let sum = (truth["mean"].as_f64().expect("mean") * printed as f64).round() as i64;
    let excess = found.iter().sum::<i64>() - sum;
    assert!(
        without(&found, found.len() - printed as usize, excess),
        "no {printed} of {found:?} have the mean of {truth}"
    );
    assert_eq!(found.iter().max().copied(), truth["max"].as_i64());
    assert!(found.contains(&truth["min"].as_i64().expect("min")));
}

/// Whether `count` of the values add up to `sum`, to the ns.
fn without(values: &[i64], count: usize, sum: i64) -> bool {
    match values.split_first() {
        _ if count == 0 => sum == 0,
        Some((first, rest)) => without(rest, count - 1, sum - first) || without(rest, count, sum),
        None => false,
    }
}

/// Parses `hot path latency: 45.8527ms [min=36.0299ms, max=81.0205ms, average=51.3225ms, ...`, which the reference
/// system printed after each sample: the latency of that sample, and the mean so far; ns.
fn printed(name: &str) -> Vec<(f64, f64)> {
    let path = format!("{}/../../tests/fixtures/ctf/{name}.printed", env!("CARGO_MANIFEST_DIR"));
    let ns = |line: &str, before: &str| {
        let ms = line.split(before).nth(1).and_then(|rest| rest.split("ms").next()).expect("a time");
        ms.trim().parse::<f64>().expect("a number") * 1e6
    };
    let text = std::fs::read_to_string(&path).expect("what it printed");
    text.lines().map(|line| (ns(line, "hot path latency:"), ns(line, "average="))).collect()
}

/// The program reads its clock up to 1 us from the events, and prints six digits: 0.5 us of hundreds of milliseconds.
const PRINTED_TO_NS: f64 = 1_600.0;

#[test]
fn every_latency_that_the_reference_system_printed_is_one_of_ours() {
    for name in ["autoware_single_5s", "autoware_prio_discards_5s"] {
        let mut left: Vec<f64> = latencies(&Fixture::unpack(name)).into_values().map(|ns| ns as f64).collect();
        let (printed, mut matched) = (printed(name), Vec::new());
        assert!(printed.len() >= 20, "{name}");
        for (latency, _) in &printed {
            let nearest =
                left.iter().enumerate().min_by(|a, b| (a.1 - latency).abs().total_cmp(&(b.1 - latency).abs()));
            let (place, found) = nearest.map(|(place, found)| (place, *found)).expect("as many as were printed");
            assert!((found - latency).abs() <= PRINTED_TO_NS, "{name}: printed {latency}, nearest {found}");
            matched.push(left.swap_remove(place));
        }
        // Each value counts once, so that the mean is the program's, too.
        let mean = matched.iter().sum::<f64>() / matched.len() as f64;
        let said = printed[printed.len() - 1].1;
        assert!((mean - said).abs() <= PRINTED_TO_NS, "{name}: mean {mean}, printed {said}");
    }
}
