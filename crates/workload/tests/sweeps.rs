//! Sweeps: which lists are axes, what points they make, and what is said about those that cannot be.

use std::collections::BTreeMap;
use std::time::Duration;
use tacho_workload::{parse, sweep, write, Errors, Overrides, Sweep, MAX_POINTS};

fn read(text: &str) -> Result<Sweep, Errors> {
    sweep(text, "w.yaml", &Overrides::default()).map(|(sweep, _)| sweep)
}

fn of(text: &str) -> Sweep {
    read(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"))
}

fn errors(text: &str) -> Errors {
    match read(text) {
        Ok(sweep) => panic!("an error expected for\n{text}\n{} points", sweep.points.len()),
        Err(errors) => errors,
    }
}

/// Parameters of each point, `size=16 B rate=10 Hz`.
fn points(text: &str) -> Vec<String> {
    let written = |parameters: &BTreeMap<String, String>| {
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    of(text).points.iter().map(|point| written(&point.parameters)).collect()
}

const PAIR: &str = "nodes:\n  a: {publishes: {/t: {size: 64 B, rate: 10 Hz}}}\n  b: {subscribes: [/t]}\n";

#[test]
fn a_file_without_lists_is_one_point_without_parameters() {
    let sweep = of(PAIR);
    assert_eq!((sweep.points.len(), sweep.points[0].name.as_str()), (1, "000"));
    assert!(sweep.points[0].parameters.is_empty());
    assert_eq!(sweep.text, PAIR);
    assert_eq!(parse(PAIR, "w.yaml").unwrap().0, sweep.points[0].workload);
}

#[test]
fn lists_cross_the_first_of_the_file_slowest() {
    let text = PAIR.replace("size: 64 B, rate: 10 Hz", "size: [16 B, 64 KiB], rate: [10 Hz, 100 Hz]");
    let expected =
        ["rate=10 Hz size=16 B", "rate=100 Hz size=16 B", "rate=10 Hz size=64 KiB", "rate=100 Hz size=64 KiB"];
    assert_eq!(points(&text), expected);
    let workloads: Vec<_> =
        of(&text).points.into_iter().map(|point| point.workload.nodes[0].publishes[0].clone()).collect();
    let sizes: Vec<_> = workloads.iter().map(|p| (p.size_bytes, p.rate_hz.unwrap())).collect();
    assert_eq!(sizes, [(16, 10.0), (16, 100.0), (65536, 10.0), (65536, 100.0)]);
}

#[test]
fn any_key_may_hold_a_list() {
    for (text, count) in [
        (PAIR.replace("size: 64 B", "size: [16 B]"), 1),
        (format!("middleware: [ros2, inproc]\n{PAIR}"), 2),
        (format!("transport: [udp, shm]\n{PAIR}"), 2),
        (format!("{PAIR}run: {{duration: [1 s, 2 s], repeats: [1, 2, 3]}}\n"), 6),
        (format!("{PAIR}run: [{{seed: 1}}, {{seed: 2}}]\n"), 2),
        (format!("{PAIR}run: {{background: {{cpu: [0, 1, 2]}}}}\n"), 3),
        (format!("{PAIR}run: {{start: [together, at_once]}}\n"), 2),
        (format!("{PAIR}run: {{priority: {{all: [nice 0, fifo 80]}}}}\n"), 2),
        (format!("{PAIR}run: {{priority: [{{}}, {{all: fifo 80}}]}}\n"), 2),
        (PAIR.replace("subscribes: [/t]", "subscribes: {/t: {depth: [1, 10]}}"), 2),
        (PAIR.replace("subscribes: [/t]", "subscribes: {/t: [{}, {depth: 1}]}"), 2),
        (PAIR.replace("subscribes: [/t]", "subscribes: [/t], work: [1 ms, {uniform: [1 ms, 2 ms]}]"), 2),
        (PAIR.replace("subscribes: [/t]", "subscribes: [/t], on: [arrival, timer 10 Hz]"), 2),
        ("topology: {kind: [pairs, one-to-many], nodes: [1, 2], rate: 1 Hz}".into(), 4),
        ("topology: [{kind: pairs, nodes: 1, rate: 1 Hz}, {kind: pairs, nodes: [2, 3], rate: 1 Hz}]".into(), 3),
        ("hosts: {a: {}, b: {rate: [1 Mbit/s, 1 Gbit/s], loss: [0 %, 1 %]}}\nnodes: {x: {host: [a, b]}}".into(), 8),
    ] {
        assert_eq!(of(&text).points.len(), count, "{text}");
    }
}

#[test]
fn where_a_list_is_a_value_a_sweep_is_a_list_of_lists() {
    for (text, count) in [
        (PAIR.to_string(), 1),
        (PAIR.replace("subscribes: [/t]", "subscribes: [[/t], [/t, /u]]}\n  c: {publishes: {/u: {rate: 1 Hz}}"), 0),
        (PAIR.replace("[/t]", "[[/t], {/t: {depth: 1}}]"), 2),
        (PAIR.replace("subscribes: [/t]", "subscribes: [/t], work: {uniform: [1 ms, 2 ms]}"), 1),
        (PAIR.replace("subscribes: [/t]", "subscribes: [/t], work: {uniform: [[1 ms, 2 ms], [2 ms, 3 ms]]}"), 2),
        (format!("{PAIR}run: {{cpus: {{b: [0, 1]}}}}\n"), 1),
        (format!("{PAIR}run: {{cpus: {{b: [[0], [0, 1]]}}}}\n"), 2),
        (format!("{PAIR}chains: {{x: [a, b]}}\n"), 1),
    ] {
        // A topic that one point does not take is a warning there.
        let count = if count == 0 { 2 } else { count };
        assert_eq!(of(&text).points.len(), count, "{text}");
    }
    assert_eq!(points(&format!("{PAIR}run: {{cpus: {{b: [[0], [0, 1]]}}}}\n")), ["b=[0]", "b=[0, 1]"]);
}

#[test]
fn a_transport_belongs_to_its_middleware() {
    let text = format!("middleware: [cyclonedds, {{fastdds: [udp, shm]}}, {{socket: tcp}}]\n{PAIR}");
    let expected = [
        "middleware=cyclonedds",
        "middleware=fastdds transport=udp",
        "middleware=fastdds transport=shm",
        "middleware=socket transport=tcp",
    ];
    assert_eq!(points(&text), expected);
    let sweep = of(&text);
    let of_point = |index: usize| {
        (sweep.points[index].workload.middleware.as_str(), sweep.points[index].workload.transport.as_str())
    };
    assert_eq!((of_point(0), of_point(2)), (("cyclonedds", ""), ("fastdds", "shm")));
    assert_eq!(sweep.points[2].name, "002-fastdds-shm");
    assert_eq!(points(&format!("middleware: {{fastdds: [udp, shm]}}\n{PAIR}")).len(), 2);
    // Crossed with a transport of its own, it would have two.
    let errors = errors(&format!("middleware: [inproc, {{fastdds: [udp, shm]}}]\ntransport: udp\n{PAIR}"));
    assert_eq!(errors.errors[0].name, "two-transports");
}

#[test]
fn a_parameter_stands_in_several_places() {
    let text = "sweep: {size: [16 B, 1 MiB], rate: [10 Hz, 100 Hz]}
nodes:
  a: {publishes: {/t: {size: $size, rate: $rate}, /u: {size: $size, rate: $rate}}}
  b: {subscribes: [/t, /u]}
";
    assert_eq!(points(text).len(), 4);
    for point in of(text).points {
        let [t, u] = point.workload.nodes[0].publishes.as_slice() else { panic!() };
        assert_eq!((t.size_bytes, t.rate_hz), (u.size_bytes, u.rate_hz));
    }
}

#[test]
fn named_values_vary_several_keys_together() {
    let text = "sweep:
  history:
    keep_all: {history: keep_all}
    last 1: {history: keep_last, depth: 1}
    last 10: {history: keep_last, depth: 10}
topology: {kind: pairs, nodes: 1, rate: 10 Hz, history: $history.history, depth: $history.depth}
";
    assert_eq!(points(text), ["history=keep_all", "history=last 1", "history=last 10"]);
    let qos: Vec<_> =
        of(text).points.iter().map(|p| p.workload.nodes[0].subscribes[0].qos).map(|q| (q.keep_all, q.depth)).collect();
    assert_eq!(qos, [(true, 10), (false, 1), (false, 10)]);
}

#[test]
fn a_parameter_may_be_a_whole_map_with_lists_in_it() {
    let text = "sweep:
  pair:
    near: {a: {publishes: {/t: {rate: [1 Hz, 2 Hz]}}}, b: {subscribes: [/t]}}
    far: {a: {publishes: {/t: {rate: 3 Hz}}}, b: {subscribes: [/t]}}
nodes: $pair
";
    assert_eq!(points(text), ["pair=near rate=1 Hz", "pair=near rate=2 Hz", "pair=far"]);
}

#[test]
fn parameters_have_the_last_key_as_name_or_the_whole_path_where_that_is_ambiguous() {
    let text = "nodes:
  a: {publishes: {/t: {rate: [1 Hz, 2 Hz]}, /u: {rate: [3 Hz, 4 Hz], size: [1 B, 2 B]}}}
  b: {subscribes: [/t, /u]}
";
    let names: Vec<_> = of(text).points[0].parameters.keys().cloned().collect();
    assert_eq!(names, ["nodes.a.publishes./t.rate", "nodes.a.publishes./u.rate", "size"]);
}

#[test]
fn mistakes_about_parameters_are_found() {
    let topology = "topology: {kind: pairs, nodes: 1, size: $size, rate: 1 Hz}\n";
    for (sweep, name, line) in [
        ("", "unknown-parameter", 1),
        ("sweep: {sise: [1 B]}\n", "unknown-parameter", 1),
        ("sweep: {size: [1 B], rate: [1 Hz]}\n", "unused-parameter", 2),
        ("sweep: {size: []}\n", "wrong-value", 2),
        ("sweep: {size: 1 B}\n", "wrong-value", 2),
        ("sweep: [size]\n", "wrong-value", 2),
        ("sweep: {size: [1 B, 1 B]}\n", "duplicate", 2),
        ("sweep: {size: [1 B], size: [2 B]}\n", "duplicate", 2),
        ("sweep: {1x: [1 B]}\n", "not-a-name", 2),
    ] {
        let found = errors(&format!("{topology}{sweep}"));
        assert!(found.errors.iter().any(|e| (e.name, e.line) == (name, line)), "{sweep}\n{found}");
    }
    let misspelt = errors(&format!("{topology}sweep: {{sise: [1 B]}}\n"));
    assert!(misspelt.errors[0].expected.ends_with("did you mean `$sise`?"), "{misspelt}");
    let part = errors("sweep: {q: {x: {depth: 1}}}\ntopology: {kind: pairs, nodes: 1, rate: 1 Hz, depth: $q.dept}\n");
    assert_eq!(part.errors[0].name, "unknown-parameter");
    let twice = errors("topology: {kind: pairs, nodes: 1, rate: [1 Hz, 2 Hz, 1 Hz]}\n");
    assert_eq!((twice.errors[0].name, twice.errors[0].column), ("duplicate", 54));
}

#[test]
fn a_bad_value_is_named_once_at_its_own_place() {
    let found = errors("topology:\n  {kind: pairs, nodes: [1, 2, 3], size: [1 B, 64], rate: 1 Hz}\n");
    let [error] = found.errors.as_slice() else { panic!("{found}") };
    assert_eq!((error.name, error.line, error.column, error.found.as_str()), ("missing-unit", 2, 47, "`64`"));
    assert!(error.message.ends_with(", where size: 64"), "{}", error.message);
    // Wrong everywhere: nothing to tell apart.
    let found = errors("topology: {kind: pairs, nodes: [1, 2, 3], size: 64, rate: 1 Hz}\n");
    assert_eq!((found.errors.len(), found.errors[0].message.as_str()), (1, "a number without a unit"));
}

#[test]
fn an_impossible_combination_names_its_points() {
    let text = "nodes:
  a: {spin: [10 Hz, 100 Hz], publishes: {/t: {size: [1 B, 2 B], rate: [5 Hz, 50 Hz]}}}
  b: {subscribes: [/t]}
";
    let found = errors(text);
    let [error] = found.errors.as_slice() else { panic!("{found}") };
    assert_eq!((error.name, error.line), ("rate-above-spin", 2));
    assert!(error.message.ends_with(", where rate: 50 Hz, spin: 10 Hz"), "{}", error.message);
    let depth = "topology: {kind: pairs, nodes: 1, rate: 1 Hz, history: [keep_last, keep_all], depth: [1, 2]}\n";
    let found = errors(depth);
    assert!(
        found.errors.iter().all(|e| e.name == "depth-of-keep-all" && e.message.contains("history: keep_all")),
        "{found}"
    );
}

#[test]
fn too_many_points_are_refused_before_they_are_made() {
    let hundred: Vec<String> = (1..=101).map(|n| n.to_string()).collect();
    let list = hundred.join(", ");
    let crossed = format!("topology: {{kind: pairs, nodes: [{list}], rate: 1 Hz, depth: [{list}]}}\n");
    assert_eq!(errors(&crossed).errors[0].name, "too-many-points");
    let named =
        format!("sweep: {{a: [{list}], b: [{list}]}}\ntopology: {{kind: pairs, nodes: $a, rate: 1 Hz, depth: $b}}\n");
    let found = errors(&named);
    assert_eq!(found.errors[0].name, "too-many-points");
    assert!(found.errors[0].expected.contains(&MAX_POINTS.to_string()));
}

#[test]
fn one_workload_is_asked_for_where_a_sweep_stands() {
    let text = PAIR.replace("64 B", "[16 B, 64 KiB]");
    let Err(errors) = parse(&text, "w.yaml") else { panic!("an error expected") };
    let [error] = errors.errors.as_slice() else { panic!("{errors}") };
    assert_eq!((error.name, error.line, error.column, error.found.as_str()), ("is-a-sweep", 2, 30, "2 points"));
    assert!(error.expected.contains("tacho bench"));
}

#[test]
fn the_short_form_is_put_over_the_file() {
    let text = format!(
        "{PAIR}run: {{duration: 60 s, repeats: [1, 2], seed: 5}}\nshort: {{run: {{duration: 1 s, repeats: 1}}}}\n"
    );
    let full = of(&text);
    assert_eq!((full.points.len(), full.text.as_str()), (2, text.as_str()));
    let overrides = Overrides { short: true, ..Overrides::default() };
    let (short, _) = sweep(&text, "w.yaml", &overrides).unwrap_or_else(|e| panic!("{e}"));
    let run = &short.points[0].workload.run;
    assert_eq!((short.points.len(), run.duration, run.seed), (1, Duration::from_secs(1), 5));
    // What is run is what is kept, and is a whole file by itself.
    assert_eq!(of(&short.text).points, short.points);
    assert!(!short.text.contains("short"));
    let Err(none) = sweep(PAIR, "w.yaml", &overrides) else { panic!("an error expected") };
    assert_eq!(none.errors[0].name, "no-short");
}

#[test]
fn options_are_put_over_every_point_and_into_the_text() {
    let overrides = Overrides {
        duration: Some(Duration::from_millis(100)),
        repeats: Some(4),
        seed: Some(9),
        ..Overrides::default()
    };
    for run in ["", "run: {repeats: [1, 2]}\n", "run: [{duration: 5 s}, {start: at_once}]\n", "run:\n"] {
        let text = format!("{PAIR}{run}");
        let (changed, _) = sweep(&text, "w.yaml", &overrides).unwrap_or_else(|e| panic!("{e}"));
        for point in &changed.points {
            let run = &point.workload.run;
            assert_eq!((run.duration, run.repeats, run.seed), (Duration::from_millis(100), 4, 9), "{text}");
        }
        assert_eq!(of(&changed.text).points, changed.points);
    }
}

#[test]
fn each_point_is_repeatable_by_its_own_file() {
    let text = "study: a-dds
middleware: [cyclonedds, {fastdds: [udp, shm]}]
topology: {kind: [pairs, one-to-many, many-to-one], nodes: [1, 31], size: [16 B, 64 KiB], rate: 10 Hz, deadline: 20 ms}
run: {priority: {all: [nice 5, fifo 80]}}
";
    let sweep = of(text);
    assert_eq!(sweep.points.len(), 3 * 3 * 2 * 2 * 2);
    let mut names: Vec<_> = sweep.points.iter().map(|point| point.name.as_str()).collect();
    names.dedup();
    assert_eq!(names.len(), sweep.points.len());
    for point in &sweep.points {
        assert_eq!(parse(&write(&point.workload), "point.yaml").unwrap_or_else(|e| panic!("{e}")).0, point.workload);
    }
}
