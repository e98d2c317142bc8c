//! Simulated systems whose figures follow from a formula.

mod simulated;

use simulated::{chain, simulated_with, workload, CHAIN};
use std::sync::atomic::AtomicBool;
use tacho_events::run::RunDirectory;
use tacho_simulate::{Costs, Simulator};
use tacho_tables::summary::Summary;
use tacho_workload::Workload;

/// Simulates a repeat without any costs on this many CPUs.
fn simulated(workload: &Workload, cpus: usize, repeat: u32) -> (tempfile::TempDir, Summary) {
    simulated_with(&Costs::default(), workload, cpus, repeat)
}

#[test]
fn a_chain_on_arrival_takes_the_sum_of_its_work() {
    let (folder, summary) = simulated(&workload(CHAIN), 2, 0);
    let chain = chain(&summary, "chain");
    let times = chain.end_to_end_ms.as_ref().expect("times");
    assert_eq!(times.count, 50);
    assert!((times.min - 8.0).abs() < 1e-6 && (times.max - 8.0).abs() < 1e-6, "{times:?}");
    assert_eq!(chain.lost, 0);
    // 8 ms each 100 ms; nothing else takes CPU time.
    let info = RunDirectory::new(folder.path()).info().expect("run.json");
    let cpu_percent = tacho_simulate::prediction::cpu_percent(&info).expect("CPU time");
    assert!((cpu_percent - 8.0).abs() < 0.2, "{cpu_percent}");
}

#[test]
fn what_a_simulation_that_was_interrupted_used_is_not_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let (costs, interrupted) = (Costs::default(), AtomicBool::new(true));
    let long = workload(&CHAIN.replace("5 s", "5000 s"));
    let run = RunDirectory::new(folder.path());
    let done = Simulator::new(&costs, 2, &interrupted).simulated(&long, 0, &run, &mut |_| {}).expect("a part");
    assert_eq!((done.info.cut_short, done.cpu_percent), (true, None));
}

/// A planner that asks a router for a route before it plans.
const ASKS: &str = "
middleware: inproc
nodes:
  planner:
    subscribes: {/route: {work: 3 ms}}
    publishes: {/request: {rate: 10 Hz, work: 1 ms}, /plan: {from: /route}}
  router: {subscribes: [/request], publishes: [/route], work: 5 ms}
  act:    {subscribes: [/plan], work: 2 ms}
chains: {back: [planner, router, planner], through: [planner, router, planner, act]}
run: {duration: 5 s, seed: 3}
";

#[test]
fn a_chain_that_passes_a_node_again_has_the_work_of_both_callbacks() {
    let (_folder, summary) = simulated(&workload(ASKS), 2, 0);
    assert_eq!(summary.chains.len(), 2, "no other chain is one of these");
    for (name, ms) in [("back", 1.0 + 5.0 + 3.0), ("through", 1.0 + 5.0 + 3.0 + 2.0)] {
        let times = chain(&summary, name).end_to_end_ms.as_ref().expect("times");
        assert_eq!(times.count, 50, "{name}");
        assert!((times.min - ms).abs() < 1e-6 && (times.max - ms).abs() < 1e-6, "{name}: {times:?}");
    }
}

#[test]
fn on_one_cpu_nodes_that_get_one_message_wait_for_each_other() {
    let text = CHAIN.replace("act:", "also: {subscribes: [/a], work: 3 ms}\n  act:").replace("5 s", "20 s");
    let (_folder, summary) = simulated(&workload(&text), 1, 0);
    let times = chain(&summary, "chain").end_to_end_ms.as_ref().expect("times");
    // The CPU computes 1 + 5 + 3 + 2 ms; the chain has all of them or lacks a part of `also`.
    assert!(times.min >= 8.0 - 1e-6 && times.max <= 11.0 + 1e-6 && times.max > 8.5, "{times:?}");
}

#[test]
fn a_queue_that_is_too_short_loses_what_its_node_has_no_time_for() {
    let text = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 100 Hz}}}
  slow:   {subscribes: {/a: {depth: 1}}, publishes: [/b], work: 25 ms}
  act:    {subscribes: [/b]}
chains: {chain: [source, slow, act]}
run: {duration: 10 s}
";
    let (_folder, summary) = simulated(&workload(text), 2, 0);
    let topic = summary.topics.iter().find(|topic| topic.topic == "/a").expect("the topic");
    // Its node takes one each 25 ms of 10 s, of 1000.
    assert!((599..=601).contains(&topic.lost.expect("counted")), "{:?}", topic.lost);
}

#[test]
fn study_e_s_chain_has_the_expected_alignment() {
    let text = std::fs::read_to_string("../../workloads/autoware-localisation.yaml").expect("the workload");
    let (sweep, _) = tacho_workload::sweep(&text, "autoware-localisation.yaml", &Default::default()).expect("read");
    let mut workload = sweep.points[0].workload.clone();
    workload.run.repeats = 13;
    let means: Vec<f64> = (0..13)
        .map(|repeat| {
            let (_folder, summary) = simulated(&workload, 8, repeat);
            summary
                .chains
                .iter()
                .find(|chain| chain.critical)
                .and_then(|c| c.end_to_end_ms.clone())
                .expect("times")
                .mean
        })
        .collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    // 24.66 ms of work and eight waits of 50 ms on the average (workloads/autoware-localisation.yaml).
    assert!((mean - 424.66).abs() < 15.0, "{mean} of {means:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let bytes = |text: &str| {
        let (folder, _) = simulated(&workload(text), 2, 0);
        let mut files: Vec<_> = std::fs::read_dir(folder.path().join("events")).expect("events").collect();
        files.sort_by_key(|file| file.as_ref().expect("a file").file_name());
        let read = files.iter().map(|file| std::fs::read(file.as_ref().expect("a file").path()).expect("bytes"));
        read.collect::<Vec<_>>()
    };
    let jittery = CHAIN.replace("work: 5 ms", "work: {uniform: [3 ms, 9 ms]}");
    assert_eq!(bytes(&jittery), bytes(&jittery));
    assert_ne!(bytes(&jittery), bytes(&jittery.replace("seed: 3", "seed: 4")));
}

#[test]
fn whoever_has_the_cpu_is_named() {
    let text = CHAIN.replace("seed: 3", "cpus: {all: [0]}, background: {cpu: 2}");
    let (_folder, summary) = simulated(&workload(&text), 1, 0);
    let verdict = summary.verdict.expect("a verdict");
    assert!(verdict.culprits.iter().any(|culprit| culprit.text.contains("background")), "{}", verdict.text);
}

#[test]
fn an_exact_match_joins_a_picture_with_what_was_made_of_it() {
    // What is made of a picture comes 80 ms after it, when there is a newer picture already.
    let text = "
middleware: inproc
nodes:
  camera: {publishes: {/image: {rate: 20 Hz}}}
  detect: {subscribes: [/image], work: 40 ms, publishes: [/boxes]}
  refine: {subscribes: [/boxes], work: 40 ms, publishes: [/objects]}
  draw: {on: match exact, subscribes: [/image, /objects], work: 2 ms, publishes: [/drawn]}
  display: {subscribes: [/drawn]}
chains: {direct: [camera, draw, display], made: [camera, detect, refine, draw, display]}
run: {duration: 5 s}
";
    let (_folder, summary) = simulated(&workload(text), 4, 0);
    for name in ["direct", "made"] {
        let times = chain(&summary, name).end_to_end_ms.as_ref().expect("times");
        assert!(times.count > 90, "{name}: {}", times.count);
        assert!((times.min - 82.0).abs() < 1e-6 && (times.max - 82.0).abs() < 1e-6, "{name}: {times:?}");
    }
}

#[test]
fn an_approximate_match_waits_for_the_next_message_unless_its_stamp_has_a_lower_bound() {
    let text = "
middleware: inproc
nodes:
  one: {publishes: {/one: {rate: 10 Hz}}}
  other: {publishes: {/other: {rate: 10 Hz}}}
  fusion: {on: match approximate, subscribes: [/one, /other], publishes: [/fused]}
  sink: {subscribes: [/fused]}
chains: {one: [one, fusion, sink], other: [other, fusion, sink]}
run: {duration: 5 s, seed: 4}
";
    let latencies = |text: &str| -> Vec<f64> {
        let (_folder, summary) = simulated(&workload(text), 4, 0);
        let mut of: Vec<f64> = ["one", "other"]
            .iter()
            .map(|name| {
                let times = chain(&summary, name).end_to_end_ms.clone().expect("times");
                assert!(times.count >= 48 && times.max - times.min < 1e-6, "{name}: {times:?}");
                times.max
            })
            .collect();
        of.sort_by(f64::total_cmp);
        of
    };
    let without = latencies(text);
    let bounds = "approximate, match: {lower_bounds: {/one: 100 ms, /other: 100 ms}}";
    let with = latencies(&text.replace("approximate", bounds));
    // The phases are less than half a period apart: the later message of a set completes it, if the next of the earlier
    // one cannot come before its period is over. Otherwise that next one does.
    assert!(with[0] < 1e-6 && with[1] > 1.0 && with[1] < 50.0, "{with:?}");
    assert!((without[1] - 100.0).abs() < 1e-6 && (without[0] + with[1] - 100.0).abs() < 1e-6, "{without:?} {with:?}");
}

/// Means of three nodes of 15 ms each that get a message at once, on an executor with this option.
fn means_of_three(option: &str, cpus: usize) -> Vec<f64> {
    let end = |name: &str| format!("  {name}: {{thread: many, {option}subscribes: [/a], work: 15 ms}}\n");
    let ends = ["first", "second", "third"].map(end).concat();
    let text = format!(
        "middleware: inproc\nnodes:\n  source: {{publishes: {{/a: {{rate: 20 Hz}}}}}}\n{ends}\
         chains: {{one: [source, first], two: [source, second], three: [source, third]}}\nrun: {{duration: 5 s}}\n"
    );
    let (_folder, summary) = simulated(&workload(&text), cpus, 0);
    let mean = |name| {
        let chain = chain(&summary, name);
        let times = chain.end_to_end_ms.as_ref().expect("times");
        assert_eq!((times.count, chain.lost), (100, 0), "{name}");
        assert!(times.max - times.min < 1e-6, "{name}: {times:?}");
        times.mean
    };
    ["one", "two", "three"].map(mean).to_vec()
}

#[test]
fn threads_of_an_executor_run_as_many_nodes_beside_each_other() {
    for (option, cpus, expected) in [
        ("", 4, [15.0, 30.0, 45.0]),
        ("threads: 2, ", 4, [15.0, 15.0, 30.0]),
        ("threads: 3, ", 4, [15.0, 15.0, 15.0]),
        ("threads: 8, ", 4, [15.0, 15.0, 15.0]),
        ("threads: 2, ", 2, [15.0, 15.0, 30.0]),
    ] {
        let means = means_of_three(option, cpus);
        let off = means.iter().zip(expected).map(|(mean, expected)| (mean - expected).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6, "`{option}` on {cpus} CPUs: {means:?}");
    }
}

#[test]
fn callbacks_of_one_node_exclude_each_other_on_any_number_of_threads() {
    let text = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 20 Hz}}}
  other: {thread: many, threads: 4, subscribes: [/a], publishes: [/b]}
  node:
    thread: many
    subscribes: {/a: {work: 15 ms}, /b: {work: 5 ms}}
  idle: {thread: many, sleep: 20 ms, subscribes: [/a]}
chains: {direct: [source, node], round: [source, other, node]}
run: {duration: 5 s}
";
    let (_folder, summary) = simulated(&workload(text), 4, 0);
    let mean = |name| chain(&summary, name).end_to_end_ms.as_ref().expect("times").mean;
    // What came over `other` waits for the 15 ms of the message that came first.
    assert!((mean("direct") - 15.0).abs() < 1e-6 && (mean("round") - 20.0).abs() < 1e-6, "{}", mean("round"));
}

#[test]
fn a_callback_in_a_group_of_its_own_keeps_no_other_of_its_node_waiting() {
    let text = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 20 Hz}}}
  node:
    thread: many
    threads: THREADS
    subscribes: {/a: {work: 5 ms}}
    timers: {reload: {rate: 20 Hz, sleep: 30 ms, GROUP}}
    publishes: {/b: {from: /a}}
  idle: {thread: many, subscribes: [/b]}
  sink: {subscribes: [/b]}
chains: {chain: [source, node, sink]}
run: {duration: 5 s, seed: 11}
";
    let mean = |threads: &str, group: &str| {
        let text = text.replace("THREADS", threads).replace("GROUP", group);
        let (_folder, summary) = simulated(&workload(&text.replace(", }", "}")), 4, 0);
        chain(&summary, "chain").end_to_end_ms.as_ref().expect("times").mean
    };
    let (apart, together) = (mean("2", "group: slow"), mean("2", ""));
    assert!((apart - 5.0).abs() < 1e-6, "{apart}");
    // The phases of this seed let messages come while the timer's callback sleeps.
    assert!(together > 5.0 + 1.0 && together < 35.0, "{together}");
}

/// /a comes at 0, 1, 2 and 3 ms, and each takes 4 ms. A timer is due every 10 ms and sleeps 25 ms.
#[test]
fn callbacks_of_a_reentrant_group_run_beside_themselves() {
    let of = |threads: u32, group: &str, does: &str, python: &str| {
        let text = format!(
            "
middleware: inproc
nodes:
  camera: {{phase: 0 %, publishes: {{/a: {{sent_at: [0 ms, 1 ms, 2 ms, 3 ms], again: 100 ms}}}}}}
  node:
    {python}
    thread: many
    threads: {threads}
    subscribes: {{/a: {{group: {group}, {does}}}}}
    publishes: {{/b: {{from: /a}}}}
  beside: {{thread: many, subscribes: [/b]}}
  clock:
    thread: clock
    threads: 4
    timers: {{tick: {{rate: 100 Hz, group: {group}, sleep: 25 ms}}, idle: {{rate: 1 Hz}}}}
    publishes: {{/tick: {{from: tick}}}}
  sink: {{subscribes: [/b, /tick]}}
chains: {{a: [camera, node, sink], tick: [clock, sink]}}
run: {{duration: 5 s}}
"
        );
        let (_folder, summary) = simulated(&workload(&text), 4, 0);
        let longest = chain(&summary, "a").end_to_end_ms.as_ref().expect("times").max;
        let ticks = chain(&summary, "tick");
        (longest, ticks.instances, ticks.end_to_end_ms.as_ref().expect("times").max)
    };
    // A second thread of two takes the third message when the first one is done, at 4 ms.
    for (threads, group, does, python, longest) in [
        (4, "reentrant", "work: 4 ms", "", 4.0),
        (2, "reentrant", "work: 4 ms", "", 6.0),
        (4, "one", "work: 4 ms", "", 13.0),
        (4, "reentrant", "sleep: 4 ms", "python: true", 4.0),
        (4, "reentrant", "work: 4 ms", "python: true", 13.0),
    ] {
        let (found, ticks, tick_ms) = of(threads, group, does, python);
        assert!((found - longest).abs() < 1e-6, "{threads} {group} {does} {python}: {found}");
        // Alone, it runs every 25 ms.
        let expected = if group == "one" { 200..=200 } else { 500 - 3..=500 };
        assert!(expected.contains(&ticks), "{group}: {ticks}");
        assert!((tick_ms - 25.0).abs() < 1e-6, "{group}: {tick_ms}");
    }
}

/// A thread looks around, takes what is there, and looks again. The rest of the CPU time around callbacks passes before
/// it waits.
/// /a comes at 0, 1, 2 and 3 ms and takes 5 ms, /b at 1.5 ms and takes 1 ms, a timer is due at 2.5 ms and takes 1 ms.
#[test]
fn an_events_executor_runs_what_came_first() {
    let text = "
middleware: inproc
nodes:
  camera: {phase: 0 %, publishes: {/a: {sent_at: [0 ms, 1 ms, 2 ms, 3 ms], again: 100 ms}}}
  lidar:  {phase: 1.5 %, publishes: {/b: {rate: 10 Hz}}}
  joins:
    phase: 2.5 %
    subscribes: {/b: {work: 1 ms}, /a: {work: 5 ms}}
    publishes: {/of_a: {from: /a}, /of_b: {from: /b}, /tick: {rate: 10 Hz, work: 1 ms}}
  of_a: {subscribes: [/of_a]}
  of_b: {subscribes: [/of_b]}
  clock: {subscribes: [/tick]}
chains: {a: [camera, joins, of_a], b: [lidar, joins, of_b], tick: [joins, clock]}
run: {duration: 5 s}
";
    let events = text.replace("    phase: 2.5 %", "    executor: events\n    phase: 2.5 %");
    let of_rclpy = events.replace("executor: events\n", "executor: events\n    python: true\n");
    let longest = [text, &events, &of_rclpy].map(|text| {
        let (_folder, summary) = simulated(&workload(text), 4, 0);
        ["a", "b"].map(|name| chain(&summary, name).end_to_end_ms.as_ref().expect("times").max)
    });
    // By wait set: a0 until 5 ms, then the timer, b and a1 until 12 ms, a2 until 17 ms, a3 until 22 ms.
    // By events: a0 and a1 until 10 ms, b, a2, the timer, and a3 until 22 ms.
    // On rclpy, the timer is behind all that came until the first look after it was due.
    for (found, expected) in longest.iter().flatten().zip([19.0, 5.5, 19.0, 9.5, 18.0, 9.5]) {
        assert!((found - expected).abs() < 1e-6, "{longest:?}");
    }
}

/// Two nodes of one process, on threads of their own: one computes for 40 ms, and a message to the other comes 3 ms
/// after it has begun.
#[test]
fn callbacks_in_python_compute_in_turn() {
    let of = |python: &str, process: &str, sleep: &str| {
        format!(
            "
middleware: inproc
nodes:
  camera: {{phase: 0 %, publishes: {{/image: {{rate: 10 Hz}}}}}}
  lidar:  {{phase: 3 %, publishes: {{/points: {{rate: 10 Hz}}}}}}
  detector: {{process: p, {python} work: 40 ms, subscribes: [/image], publishes: [/boxes]}}
  filter: {{process: {process}, {python} work: 12 ms, {sleep}subscribes: [/points], publishes: [/filtered]}}
  display: {{subscribes: [/boxes]}}
  planner: {{subscribes: [/filtered]}}
chains: {{detected: [camera, detector, display], filtered: [lidar, filter, planner]}}
run: {{duration: 5 s}}
"
        )
    };
    let longest = |text: &str| {
        let (_folder, summary) = simulated(&workload(text), 4, 0);
        ["detected", "filtered"].map(|name| chain(&summary, name).end_to_end_ms.as_ref().expect("times").max)
    };
    assert_eq!(longest(&of("", "p", "")).map(f64::round), [40.0, 12.0], "beside each other");
    assert_eq!(longest(&of("python: true,", "other", "")).map(f64::round), [40.0, 12.0], "two interpreters");
    // The filter waits from 3 ms on and has the lock from 8 to 13, 18 to 23 and 28 to 30 ms; the detector between them.
    let found = longest(&of("python: true,", "p", ""));
    assert!((found[0] - 52.0).abs() < 1e-6 && (found[1] - 27.0).abs() < 1e-6, "{found:?}");
    // A sleep gives the lock away: it has it from 8 to 13, 18 to 23 and 28 to 30, and from 42 ms on for no time.
    let found = longest(&of("python: true,", "p", "sleep: 12 ms, "));
    assert!((found[0] - 52.0).abs() < 1e-6, "{found:?}");
    assert!((found[1] - (47.0 - 3.0)).abs() < 1e-6, "{found:?}");
}

#[test]
fn one_thread_in_python_has_its_interpreter_for_itself() {
    let text = CHAIN.replace("work: 5 ms", "work: 50 ms, sleep: 3 ms");
    let both = [text.clone(), text.replace("subscribes: [/a],", "python: true, subscribes: [/a],")];
    let longest = both.map(|text| {
        let (_folder, summary) = simulated(&workload(&text), 2, 0);
        chain(&summary, "chain").end_to_end_ms.as_ref().expect("times").max
    });
    assert_eq!(longest[0], longest[1]);
}
