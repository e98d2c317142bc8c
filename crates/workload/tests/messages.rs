//! Each mistake has its own name, its place, what was found and what was expected.

use tacho_workload::model::Executor;
use tacho_workload::{parse, Diagnostic, Severity};

/// All findings about a text, errors first.
fn findings(text: &str) -> Vec<Diagnostic> {
    match parse(text, "w.yaml") {
        Ok((_, warnings)) => warnings,
        Err(errors) => errors.errors.into_iter().chain(errors.warnings).collect(),
    }
}

/// The only finding about a text.
fn only(text: &str) -> Diagnostic {
    let mut all = findings(text);
    assert_eq!(all.len(), 1, "one finding expected for\n{text}\ngot\n{all:#?}");
    all.remove(0)
}

/// Name, line and column of all findings.
fn places(text: &str) -> Vec<(&'static str, usize, usize)> {
    findings(text).iter().map(|d| (d.name, d.line, d.column)).collect()
}

/// A pair of nodes that is right, with options put in.
fn pair(publication: &str, subscription: &str, node: &str, rest: &str) -> String {
    format!(
        "nodes:\n  a: {{publishes: {{/t: {{{publication}}}}}}}\n  b: {{subscribes: {{/t: {{{subscription}}}}}{node}}}\n\
         {rest}"
    )
}

#[test]
fn a_right_workload_has_no_findings() {
    assert_eq!(findings(&pair("rate: 10 Hz", "", "", "")), []);
}

#[test]
fn an_error_is_rendered_with_its_line_and_what_was_expected() {
    let text = pair("rate: 10", "", "", "");
    assert_eq!(
        only(&text).to_string(),
        "w.yaml:2:30: error: a number without a unit [missing-unit]\n  |\n\
         2 |   a: {publishes: {/t: {rate: 10}}}\n  |                              ^^\n  \
         = found: `10`\n  = expected: a frequency with its unit (Hz, kHz), such as 10 Hz"
    );
}

#[test]
fn bare_numbers_and_wrong_units_are_errors() {
    for (text, name) in [
        (pair("rate: 10", "", "", ""), "missing-unit"),
        (pair("rate: 10 ms", "", "", ""), "unknown-unit"),
        (pair("rate: fast", "", "", ""), "wrong-value"),
        (pair("rate: 0 Hz", "", "", ""), "out-of-range"),
        (pair("rate: 10 Hz, size: 64", "", "", ""), "missing-unit"),
        (pair("rate: 10 Hz, size: 0 B", "", "", ""), "out-of-range"),
        (pair("rate: 10 Hz, size: 4 GiB", "", "", ""), "out-of-range"),
        (pair("rate: 10 Hz", "", ", work: 2.4", ""), "missing-unit"),
        (pair("rate: 10 Hz", "", ", work: {uniform: [1, 2 ms]}", ""), "missing-unit"),
        (pair("rate: 10 Hz", "", ", work: {uniform: [2 ms, 1 ms]}", ""), "out-of-range"),
        (pair("rate: 10 Hz", "", ", work: {normal: {mean: 2 ms}}", ""), "wrong-value"),
        (pair("rate: 10 Hz", "", ", spin: 10", ""), "missing-unit"),
        (pair("rate: 10 Hz", "", ", on: timer 10", ""), "missing-unit"),
        (pair("rate: 10 Hz", "", ", on: timer", ""), "wrong-value"),
        (pair("rate: 10 Hz", "depth: 0", "", ""), "wrong-value"),
        (pair("rate: 10 Hz", "", "", "run: {duration: 5}"), "missing-unit"),
        (pair("rate: 10 Hz", "", "", "run: {duration: 0 s}"), "out-of-range"),
        (pair("rate: 10 Hz", "", "", "run: {repeats: 0}"), "wrong-value"),
        (pair("rate: 10 Hz", "", "", "run: {in_node_clock: yes}"), "wrong-value"),
    ] {
        assert_eq!(only(&text).name, name, "{text}");
    }
}

#[test]
fn unknown_keys_are_errors_with_a_suggestion() {
    let found = only(&pair("rate: 10 Hz", "", ", wrok: 1 ms", ""));
    assert_eq!((found.name, found.line), ("unknown-key", 3));
    assert!(found.expected.contains("did you mean `work`?"), "{}", found.expected);
    let found = only(&pair("rate: 10 Hz", "", "", "colour: blue"));
    assert_eq!(found.name, "unknown-key");
    assert_eq!(
        found.expected,
        "one of study, middleware, transport, hosts, topology, nodes, chains, run, sweep, short"
    );
}

/// A node that takes `/t` and `/u`.
fn joining(subscribes: &str, options: &str) -> String {
    format!(
        "nodes:\n  a: {{publishes: {{/t: {{rate: 10 Hz}}, /u: {{rate: 10 Hz}}}}}}\n  \
         b: {{subscribes: {{{subscribes}}}{options}}}\n"
    )
}

#[test]
fn first_makes_one_input_trigger_and_the_others_latest() {
    let (workload, _) = parse(&joining("/t: , /u: ", ", on: first /u"), "test.yaml").unwrap();
    let latest: Vec<bool> = workload.nodes[1].subscribes.iter().map(|s| s.latest).collect();
    assert_eq!((workload.nodes[1].executor, latest), (Executor::Arrival, vec![true, false]));
    for (text, name) in [
        (joining("/t: , /u: ", ", on: first /v"), "unknown-input"),
        (joining("/t: , /u: ", ", on: first u"), "not-a-topic"),
        (joining("/t: {latest: false}, /u: ", ", on: first /u"), "latest-beside-first"),
        (joining("/t: , /u: {latest: true}", ", on: first /u"), "latest-beside-first"),
    ] {
        assert_eq!(only(&text).name, name, "{text}");
    }
}

#[test]
fn matching_needs_inputs_and_parameters_that_mean_something() {
    let approximate = ", on: match approximate, match: {queue: 5, age_penalty: 20 %, lower_bounds: {/u: 90 ms}}";
    let (workload, _) = parse(&joining("/t: , /u: ", approximate), "test.yaml").unwrap();
    let matching = workload.nodes[1].matching.clone().unwrap();
    assert_eq!(
        (matching.policy, matching.queue, matching.age_penalty_percent),
        (tacho_workload::model::Policy::Approximate, 5, 20.0)
    );
    assert_eq!(matching.lower_bounds, [("/u".into(), std::time::Duration::from_millis(90))]);
    for (text, name) in [
        (joining("/t: , /u: ", ", on: match"), "wrong-value"),
        (joining("/t: , /u: {latest: true}", ", on: match exact"), "nothing-to-match"),
        (joining("/t: , /u: ", ", on: match exact, match: {max_interval: 5 ms}"), "not-of-exact"),
        (joining("/t: , /u: ", ", on: match approximate, match: {queue: 0}"), "wrong-value"),
        (joining("/t: , /u: ", ", on: match approximate, match: {lower_bounds: {/v: 5 ms}}"), "unknown-input"),
        (joining("/t: , /u: ", ", match: {queue: 3}"), "match-without-on"),
        (joining("/t: , /u: ", ", on: match exact, middleware: rclpy"), "match-unsupported"),
    ] {
        assert_eq!(only(&text).name, name, "{text}");
    }
}

#[test]
fn duplicates_are_found_and_name_the_first() {
    let text = "nodes:\n  a: {publishes: {/t: {rate: 1 Hz}}}\n  b: {subscribes: [/t]}\n  a: {}\n";
    let found = only(text);
    assert_eq!((found.name, found.line, found.column), ("duplicate", 4, 3));
    assert_eq!(found.found, "`a`, first in line 2");
    assert_eq!(only(&pair("rate: 10 Hz", "", "", "run: {cpus: {b: [1, 1]}}")).name, "duplicate");
    assert_eq!(only(&pair("rate: 10 Hz, rate: 9 Hz", "", "", "")).name, "duplicate");
    assert_eq!(only("nodes:\n  a: {publishes: {/t: {rate: 1 Hz}}}\n  b: {subscribes: [/t, /t]}\n").name, "duplicate");
}

#[test]
fn a_topic_needs_both_ends() {
    let found = only("nodes:\n  a: {publishes: {/points: {rate: 1 Hz}}}\n  b: {subscribes: [/points, /pionts]}\n");
    assert_eq!((found.name, found.severity), ("nobody-publishes", Severity::Error));
    assert!(found.expected.contains("did you mean `/points`?"));
    let found = only("nodes:\n  a: {publishes: {/t: {rate: 1 Hz}}}\n");
    assert_eq!((found.name, found.severity, found.line, found.column), ("nobody-subscribes", Severity::Warning, 2, 19));
}

#[test]
fn chains_follow_topics_and_pass_no_way_twice() {
    let with = |chains: &str| pair("rate: 10 Hz", "", ", publishes: [/u]}\n  c: {subscribes: [/u]", chains);
    assert_eq!(findings(&with("chains: {x: [a, b, c]}")), []);
    let found = only(&with("chains: {x: [a, c]}"));
    assert_eq!((found.name, found.line, found.column), ("broken-chain", 5, 17));
    assert_eq!(found.found, "`a` publishes /t; `c` subscribes to /u");
    assert_eq!(findings(&with("chains: {x: [a, /t, b, /u, c]}")), []);
    let found = only(&with("chains: {x: [a, b, /t, c]}"));
    assert_eq!((found.name, found.line, found.column), ("broken-chain", 5, 24));
    assert_eq!(found.message, "/t is no topic that leads from `b` to `c` in chain `x`");
    for (wrong, column) in [("/t, a, b", 14), ("a, b, /u", 20), ("a, /t, /t, b", 21)] {
        let found = only(&with(&format!("chains: {{x: [{wrong}]}}")));
        assert_eq!((found.name, found.line, found.column), ("wrong-value", 5, column), "{wrong}");
        assert!(found.expected.contains("between two of them one topic at most"), "{}", found.expected);
    }
    assert_eq!(only(&with("chains: {x: [a, b, a]}")).name, "broken-chain");
    assert_eq!(only(&with("chains: {x: [a, a, b]}")).found, "a -> a");
    let asks = "nodes:\n  a: {subscribes: [/u], publishes: {/t: {rate: 1 Hz}}}\n  \
                b: {subscribes: [/t], publishes: [/u]}\nchains: {x: [a, b, a WAY]}\n";
    assert_eq!(findings(&asks.replace(" WAY", "")), [], "what comes back passes a node again");
    let found = only(&asks.replace(" WAY", ", b"));
    assert_eq!((found.name, found.found.as_str()), ("cycle", "a -> b -> a -> b"));
    let found = only(&with("chains: {x: [a, b, cc]}"));
    assert_eq!((found.name, found.found.as_str()), ("unknown-node", "`cc`"));
    assert_eq!(only(&with("chains: {x: [a]}")).name, "short-chain");
    assert_eq!(only(&with("run: {cpus: {d: [0]}}")).name, "unknown-node");
}

#[test]
fn work_longer_than_its_period_is_a_warning() {
    for (node, name) in [
        (", work: 120 ms", "work-exceeds-period"),
        (", spin: 10 Hz, work: 120 ms", "work-exceeds-period"),
        (", on: timer 100 Hz, work: 12 ms", "work-exceeds-period"),
        (", work: {uniform: [1 ms, 101 ms]}", "work-exceeds-period"),
        (", work: {quantiles: [1 ms, 100 ms, 300 ms]}", "work-exceeds-period"),
        (", spin: 300 Hz, work: 12 ms", "work-exceeds-spin"),
    ] {
        let found = only(&pair("rate: 10 Hz", "", node, ""));
        assert_eq!((found.name, found.severity), (name, Severity::Warning), "{node}");
    }
    assert_eq!(findings(&pair("rate: 10 Hz", "", ", spin: 10 Hz, work: 100 ms", "")), []);
    // The longest of what was measured is seldom.
    assert_eq!(findings(&pair("rate: 10 Hz", "", ", work: {quantiles: [1 ms, 1 ms, 1 ms, 150 ms]}", "")), []);
}

#[test]
fn nodes_that_trigger_each_other_are_a_warning() {
    let with = |option: &str| {
        format!(
            "nodes:
  a: {{publishes: {{/a: {{rate: 10 Hz}}}}}}
  b: {{subscribes: [/a, /d], publishes: [/b]}}
  c: {{spin: 10 Hz, subscribes: [/b], publishes: [/c]}}
  d: {{subscribes: {{/c: {{{option}}}}}, publishes: {{/d: {{rate: 1 Hz}}, /e: {{}}}}}}
  e: {{subscribes: {{/e: {{}}}}, publishes: [/f]}}
  f: {{subscribes: [/f]}}
"
        )
    };
    // /d has a rate: the ring is cut there.
    assert_eq!(findings(&with("")), []);
    let found = only(&with("").replace("/d: {rate: 1 Hz}", "/d: {}"));
    assert_eq!((found.name, found.line, found.found.as_str()), ("endless-loop", 3, "b -> c -> d -> b"));
    let own = only("nodes:\n  a: {publishes: {/t: {rate: 1 Hz}}}\n  b: {subscribes: [/t], publishes: [/t]}\n");
    assert_eq!((own.name, own.found.as_str()), ("endless-loop", "b -> b"));
}

#[test]
fn qos_that_never_matches_is_an_error() {
    let found = only(&pair("rate: 10 Hz, reliability: best_effort", "", "", ""));
    assert_eq!((found.name, found.line), ("incompatible-qos", 3));
    assert_eq!(found.found, "reliability: reliable requested, reliability: best_effort offered");
    assert_eq!(only(&pair("rate: 10 Hz", "durability: transient_local", "", "")).name, "incompatible-qos");
    assert_eq!(findings(&pair("rate: 10 Hz, durability: transient_local", "reliability: best_effort", "", "")), []);
    assert_eq!(only(&pair("rate: 10 Hz", "history: keep_all, depth: 3", "", "")).name, "depth-of-keep-all");
    let found = only(&pair("rate: 10 Hz", "reliability: best-effort", "", ""));
    assert!(found.expected.contains("did you mean `best_effort`?"));
}

#[test]
fn a_node_has_one_executor_and_every_publication_a_cause() {
    assert_eq!(only(&pair("rate: 10 Hz", "", ", on: arrival, spin: 10 Hz", "")).name, "two-executors");
    assert_eq!(only(&pair("", "", "", "")).name, "never-published");
    let timer = "nodes:\n  a: {on: timer 1 Hz, publishes: {/t: {rate: 1 Hz}}}\n  b: {subscribes: [/t]}\n";
    assert_eq!(only(timer).name, "rate-on-timer");
    let woken = "nodes:\n  a: {publishes: {/t: {rate: 1 Hz}}}\n  b: {phase: 10 %, subscribes: [/t]}\n";
    assert_eq!(only(woken).name, "phase-without-clock");
    let spin = "nodes:\n  a: {spin: 1 Hz, publishes: {/t: {rate: 2 Hz}}}\n  b: {subscribes: [/t]}\n";
    assert_eq!(only(spin).name, "rate-above-spin");
    assert_eq!(findings("nodes:\n  a: {on: timer 1 Hz, publishes: [/t]}\n  b: {subscribes: [/t]}\n"), []);
    let types = "nodes:\n  a: {spin: 1 Hz, publishes: {/t: {type: A}}}\n  \
                 b: {spin: 1 Hz, publishes: {/t: {type: B}}}\n  c: {subscribes: [/t]}\n";
    assert_eq!(only(types).name, "two-types");
}

#[test]
fn recorded_times_stand_alone_and_in_their_order() {
    let found = |options: &str| only(&pair(options, "", "", ""));
    assert_eq!(findings(&pair("sent_at: [0 ms, 3 ms, 3 ms, 10 ms]", "", "", "")), []);
    assert_eq!(findings(&pair("sent_at: [0 ms, 3 ms], again: 3 ms", "", "", "")), []);
    assert_eq!(found("sent_at: [0 ms, 3 ms], rate: 10 Hz").name, "rate-beside-times");
    assert_eq!(found("rate: 10 Hz, again: 1 s").name, "rate-beside-times");
    assert_eq!(found("sent_at: [3 ms, 2 ms]").expected, "a time of at least 3 ms, as the one before");
    assert_eq!(found("sent_at: [1 ms, 9 ms], again: 7 ms").expected, "at least 8 ms, from the first to the last");
    assert_eq!(found("sent_at: [1 ms, 1 ms]").expected, "times of a mean interval of at least 1 us");
    let spinning = "nodes:\n  a: {spin: 1 kHz, publishes: {/t: {sent_at: [0 ms, 3 ms]}}}\n  b: {subscribes: [/t]}\n";
    assert_eq!(only(spinning).name, "rate-beside-times");
    assert_eq!(
        only(&format!("middleware: rclpy\n{}", pair("sent_at: [0 ms, 3 ms]", "", "", ""))).name,
        "times-unsupported"
    );
}

#[test]
fn names_are_those_of_ros() {
    for (text, name) in [
        ("nodes: {a-b: {}}", "not-a-name"),
        ("nodes: {../a: {}}", "not-a-name"),
        ("nodes: {a: {subscribes: [points]}}", "not-a-topic"),
        ("nodes: {a: {subscribes: [/]}}", "not-a-topic"),
        ("nodes: {a: {process: 'x y'}}", "not-a-name"),
        ("middleware: ../evil\nnodes: {a: {}}", "not-a-name"),
    ] {
        assert_eq!(only(text).name, name, "{text}");
    }
}

#[test]
fn what_is_no_workload_says_so() {
    for (text, name) in [
        ("", "no-nodes"),
        ("# only a comment\n", "no-nodes"),
        ("nodes: {}\n", "no-nodes"),
        ("run: {seed: 2}\n", "no-nodes"),
        ("- a\n", "not-a-map"),
        ("nodes: [a]\n", "wrong-value"),
        ("nodes: {a: 3}\n", "not-a-map"),
        ("nodes: {a: {}\n", "not-yaml"),
        ("nodes: {a: {}}\n---\nnodes: {b: {}}\n", "not-yaml"),
        ("nodes: !tag {a: {}}\n", "not-yaml"),
    ] {
        assert!(findings(text).iter().any(|d| d.name == name), "{text}\n{:#?}", findings(text));
    }
}

#[test]
fn all_mistakes_are_reported_at_once_in_the_order_of_the_file() {
    let text = "middleware: ros2
nodes:
  a: {spin: 10, publishes: {/t: {size: 0 B}}}
  b: {subscribes: [/t], work: soon, colour: blue}
chains: {x: [a, b, a]}
run: {duration: 5}
";
    let expected = [
        ("missing-unit", 3, 13),
        ("out-of-range", 3, 40),
        ("wrong-value", 4, 31),
        ("unknown-key", 4, 37),
        ("broken-chain", 5, 20),
        ("missing-unit", 6, 17),
    ];
    assert_eq!(places(text), expected);
    let Err(errors) = parse(text, "w.yaml") else { panic!("six errors expected") };
    assert!(errors.to_string().ends_with("6 errors"), "{errors}");
}

#[test]
fn a_mistake_in_one_place_does_not_hide_those_in_others() {
    let text = "nodes:
  a: {publishes: {/t: {rate: 10}}}
  b: {subscribes: [/u], on: arival, wrok: 1 ms}
  b: {}
chains: {x: [a, c]}
";
    let names: Vec<_> = places(text).iter().map(|(name, ..)| *name).collect();
    let expected = [
        "missing-unit",
        "nobody-publishes",
        "wrong-value",
        "unknown-key",
        "duplicate",
        "unknown-node",
        "nobody-subscribes",
    ];
    assert_eq!(names, expected);
    // A misspelt `publishes` may be the missing end: nothing is said about ends that only seem to be missing.
    assert_eq!(only("nodes: {a: {publish: {/t: {rate: 1 Hz}}}, b: {subscribes: [/t]}}").name, "unknown-key");
}

#[test]
fn anchors_and_aliases_are_read_and_bombs_refused() {
    let text = "nodes:\n  a: {publishes: {/t: &t {rate: 10 Hz}, /u: *t}}\n  b: {subscribes: [/t, /u]}\n";
    assert_eq!(findings(text), []);
    let mut bomb = String::from("a: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let before = format!("*a{}, ", i - 1).repeat(10);
        bomb.push_str(&format!("b{i}: &a{i} [{before}]\n"));
    }
    assert_eq!(only(&bomb).name, "not-yaml");
    assert_eq!(only(&"[".repeat(100_000)).name, "not-yaml");
}

#[test]
fn real_time_priorities_and_nice_values_keep_the_limits_of_linux() {
    let with = |scheduling: &str| pair("rate: 10 Hz", "", "", &format!("run: {{priority: {{b: {scheduling}}}}}"));
    for right in ["fifo 1", "fifo 99", "round_robin 10", "nice -20", "nice 19", "nice 0"] {
        assert_eq!(findings(&with(right)), [], "{right}");
    }
    for wrong in ["fifo 0", "fifo 100", "round_robin", "nice 20", "nice -21", "80", "idle 3", "fifo 80 1"] {
        let found = only(&with(wrong));
        assert_eq!((found.name, found.line, found.column), ("wrong-value", 4, 21), "{wrong}");
    }
    assert_eq!(only(&pair("rate: 10 Hz", "", "", "run: {priority: {c: fifo 80}}")).name, "unknown-node");
}

#[test]
fn all_stands_for_every_node_that_is_not_named() {
    let text = pair("rate: 10 Hz", "", "", "run: {cpus: {all: [0], b: [1]}, priority: {all: fifo 80}}");
    let (workload, _) = parse(&text, "w.yaml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(workload.run.cpus, [("b".into(), vec![1]), ("a".into(), vec![0])]);
    let fifo = tacho_workload::model::Scheduling::Fifo(80);
    assert_eq!(workload.run.priority, [("a".into(), fifo), ("b".into(), fifo)]);
    // A node of that name is meant itself.
    let text = "nodes: {all: {publishes: {/t: {rate: 1 Hz}}}, b: {subscribes: [/t]}}\nrun: {cpus: {all: [0]}}\n";
    let (workload, _) = parse(text, "w.yaml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(workload.run.cpus, [("all".into(), vec![0])]);
}

#[test]
fn where_there_are_hosts_every_node_names_one() {
    let on = |a: &str, b: &str, hosts: &str| {
        format!("{hosts}nodes:\n  a: {{{a}publishes: {{/t: {{rate: 1 Hz}}}}}}\n  b: {{{b}subscribes: [/t]}}\n")
    };
    let hosts = "hosts: {vehicle: , roadside: {rate: 50 Mbit/s, delay: 2 ms, loss: 0.5 %}}\n";
    assert_eq!(findings(&on("host: vehicle, ", "host: roadside, ", hosts)), []);
    let found = only(&on("host: vehicle, ", "", hosts));
    assert_eq!((found.name, found.line, found.expected.as_str()), ("no-host", 4, "one of vehicle, roadside"));
    let found = only(&on("host: vehicle, ", "host: roadsid, ", hosts));
    assert_eq!((found.name, found.line, found.column), ("unknown-host", 4, 13));
    assert!(found.expected.ends_with("did you mean `roadside`?"));
    assert_eq!(only(&on("host: vehicle, ", "", "")).name, "unknown-host");
    let generated = format!("{hosts}topology: {{kind: pairs, nodes: 3, rate: 1 Hz}}\n");
    assert_eq!(only(&generated).name, "no-host");
}

#[test]
fn links_have_a_rate_a_delay_and_a_loss() {
    let with = |link: &str| format!("hosts: {{h: {{{link}}}}}\nnodes: {{a: {{host: h}}}}\n");
    for (link, name) in [
        ("rate: 0 bit/s", "out-of-range"),
        ("rate: 50", "missing-unit"),
        ("rate: 50 MB/s", "unknown-unit"),
        ("loss: 101 %", "out-of-range"),
        ("loss: 0.5", "missing-unit"),
        ("delay: 2 min", "out-of-range"),
        ("speed: 2", "unknown-key"),
    ] {
        assert_eq!(only(&with(link)).name, name, "{link}");
    }
}

#[test]
fn a_process_is_on_one_host_and_speaks_one_middleware() {
    let nodes =
        |a: &str, b: &str| format!("hosts: {{h: , g: }}\nnodes: {{a: {{process: p, {a}}}, b: {{process: p, {b}}}}}\n");
    assert_eq!(findings(&nodes("host: h", "host: h")), []);
    assert_eq!(only(&nodes("host: h", "host: g")).name, "split-process");
    let found = only(&nodes("host: h, middleware: {ros2: udp}", "host: h"));
    assert_eq!((found.name, found.found.as_str()), ("split-process", "`ros2`, and `ros2` udp of `a`"));
}

#[test]
fn a_middleware_names_its_transport_once() {
    let with = |top: &str| pair("rate: 10 Hz", "", "", top);
    let (workload, _) = parse(&with("middleware: {fastdds: shm}\n"), "w.yaml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((workload.middleware.as_str(), workload.transport.as_str()), ("fastdds", "shm"));
    assert_eq!(only(&with("middleware: {fastdds: shm}\ntransport: udp\n")).name, "two-transports");
    assert_eq!(only(&with("middleware: {fastdds: shm, socket: udp}\n")).name, "wrong-value");
}

#[test]
fn a_topology_is_whole_or_says_what_it_lacks() {
    for (text, name) in [
        ("topology: {kind: pairs, nodes: 2}", "missing-value"),
        ("topology: {kind: star, nodes: 2, rate: 1 Hz}", "wrong-value"),
        ("topology: {kind: pairs, nodes: 0, rate: 1 Hz}", "wrong-value"),
        ("topology: pairs", "no-nodes"),
        ("topology: {kind: pairs, nodes: 2, rate: 1 Hz}\nnodes: {a: {}}", "two-topologies"),
        ("topology: {kind: pairs, nodes: 2, rate: 1 Hz}\nrun: {cpus: {subscriber_03: [0]}}", "unknown-node"),
    ] {
        assert_eq!(only(text).name, name, "{text}");
    }
    let named =
        "topology: {kind: one-to-many, nodes: 2, rate: 1 Hz}\nrun: {cpus: {publisher: [0], subscriber_02: [1]}}";
    assert_eq!(findings(named), []);
}

#[test]
fn what_a_board_cannot_do_is_told_at_its_place() {
    let board = |options: &str| {
        places(&format!(
            "nodes:\n  a: {{publishes: {{/t: {{rate: 10 Hz}}}}}}\n  b: {{host: micro, subscribes: [/t]{options}}}\n"
        ))
        .into_iter()
        .map(|(name, line, _)| (name, line))
        .collect::<Vec<_>>()
    };
    assert_eq!(board(""), []);
    assert_eq!(board(", middleware: micro"), []);
    assert_eq!(board(", work: 1 ms"), [("work-on-board", 3)]);
    assert_eq!(board(", spin: 10 Hz"), [("spin-on-board", 3)]);
    assert_eq!(board(", middleware: ros2"), [("middleware-on-board", 3)]);
    assert_eq!(board(", process: a"), [("process-on-board", 3), ("split-process", 3)]);
    let beside = |middleware: &str| {
        findings(&format!(
            "middleware: {middleware}\nnodes:\n  a: {{publishes: {{/t: {{rate: 10 Hz}}}}}}\n  \
             b: {{host: micro, subscribes: [/t]}}\n"
        ))
        .iter()
        .map(|d| d.name)
        .collect::<Vec<_>>()
    };
    assert!(beside("ros2").is_empty() && beside("dustdds").is_empty());
    assert_eq!(beside("cyclonedds"), ["not-heard-on-board"]);
    // Its link may be said without any other host.
    assert_eq!(
        findings(
            "hosts: {micro: {rate: 10 Mbit/s}}\nnodes:\n  a: {publishes: {/t: {rate: 10 Hz}}}\n  \
             b: {host: micro, subscribes: [/t]}\n"
        ),
        []
    );
}
