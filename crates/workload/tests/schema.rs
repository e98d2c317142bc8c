//! The schema for editors agrees with the parser: on the ready-made workloads, on every example of the documentation,
//! and key by key.

mod generated;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{json, Map, Value};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tacho_workload::{parse, schema, sweep, Overrides};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// YAML as JSON, by the core schema, as an editor would see it.
fn json_of(text: &str) -> Value {
    let mut open: Vec<(bool, Vec<Value>)> = Vec::new();
    let mut root = Value::Null;
    for event in Parser::new_from_str(text) {
        let done = match event.unwrap_or_else(|e| panic!("{e}")).0 {
            Event::Scalar(text, ScalarStyle::Plain, ..) => match text.as_ref() {
                "" | "~" | "null" => Value::Null,
                "true" => json!(true),
                "false" => json!(false),
                plain => plain.parse::<u64>().map_or_else(|_| json!(plain), |number| json!(number)),
            },
            Event::Scalar(text, ..) => json!(text),
            Event::SequenceStart(..) => {
                open.push((false, Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((true, Vec::new()));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some((false, items)) => Value::Array(items),
                Some((true, items)) => {
                    let pairs =
                        items.chunks(2).map(|pair| (pair[0].as_str().expect("text keys").to_string(), pair[1].clone()));
                    Value::Object(pairs.collect::<Map<_, _>>())
                }
                None => panic!("the parser closes what it opened"),
            },
            _ => continue,
        };
        match open.last_mut() {
            Some((_, items)) => items.push(done),
            None => root = done,
        }
    }
    root
}

fn validator() -> &'static jsonschema::Validator {
    static VALIDATOR: OnceLock<jsonschema::Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| jsonschema::draft202012::new(&schema()).expect("a valid schema"))
}

fn assert_valid(name: &str, text: &str) {
    let value = json_of(text);
    let errors: Vec<_> = validator().iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path)).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

/// Ready-made workloads, by file name.
fn workloads() -> Vec<(String, String)> {
    let mut found: Vec<_> = std::fs::read_dir(root().join("workloads"))
        .expect("workloads/")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("a readable file")))
        .collect();
    found.sort();
    found
}

#[test]
fn every_ready_made_workload_is_right_and_valid() {
    let all = workloads();
    assert!(all.len() >= 4, "{all:?}");
    for (name, text) in all {
        for short in [false, true] {
            if short && !text.contains("\nshort:") {
                continue;
            }
            match sweep(&text, &name, &Overrides { short, ..Overrides::default() }) {
                Ok((sweep, warnings)) => {
                    // Study B's task falls behind on purpose.
                    let meant = |name| name == "work-exceeds-period" && text.contains("study: b-rate");
                    assert!(warnings.iter().all(|warning| meant(warning.name)), "{}", warnings[0]);
                    assert_valid(&name, &sweep.text);
                    sweep
                        .points
                        .iter()
                        .for_each(|point| assert_valid(&point.name, &tacho_workload::write(&point.workload)));
                }
                Err(errors) => panic!("{errors}"),
            }
        }
        assert_valid(&name, &text);
    }
}

#[test]
fn the_reference_system_has_the_nodes_and_topics_of_its_source() {
    let text = std::fs::read_to_string(root().join("workloads/autoware-reference.yaml")).expect("the file");
    let (workload, _) = parse(&text, "autoware-reference.yaml").unwrap_or_else(|e| panic!("{e}"));
    let count = |of: fn(&tacho_workload::model::Node) -> usize| workload.nodes.iter().map(of).sum::<usize>();
    let (topics, subscriptions) = (count(|node| node.publishes.len()), count(|node| node.subscribes.len()));
    assert_eq!((workload.nodes.len(), topics, subscriptions), (24, 23, 29));
    assert!(workload.nodes.iter().all(|node| node.thread.as_deref() == Some("executor")));
}

#[test]
fn the_autoware_workload_is_the_setting_of_study_e() {
    let text = std::fs::read_to_string(root().join("workloads/autoware-localisation.yaml")).expect("the file");
    let (workload, _) = parse(&text, "autoware-localisation.yaml").unwrap_or_else(|e| panic!("{e}"));
    let chain = workload.chain("localisation").expect("the chain");
    let node = |name: &String| workload.node(name).expect("a node of the chain");
    assert_eq!(chain.nodes.len(), 9);
    let total: std::time::Duration = chain.nodes.iter().map(|name| node(name).work.mean()).sum();
    assert_eq!(total, std::time::Duration::from_micros(24_660));
    for name in &chain.nodes {
        assert_eq!(node(name).executor, tacho_workload::model::Executor::Spin { hz: 10.0 }, "{name}");
    }
    // Neighbours leave room for the chain: at most 35 % of a CPU, in bursts of at most 4 ms.
    let rates = tacho_workload::rates(&workload);
    let mut load = 0.0;
    for (node, hz) in workload.nodes.iter().zip(rates.activations_hz) {
        if !chain.nodes.contains(&node.name) {
            assert!(node.work.longest() <= std::time::Duration::from_millis(4), "{}", node.name);
            load += node.work.mean().as_secs_f64() * hz.expect("a rate that follows from the workload");
        }
    }
    assert!((0.1..=0.35).contains(&load), "{load}");
}

#[test]
fn every_example_of_the_documentation_is_right_and_valid() {
    let text = std::fs::read_to_string(root().join("docs/workload.md")).expect("docs/workload.md");
    let mut examples = 0;
    for (index, part) in text.split("```").enumerate().filter(|(index, _)| index % 2 == 1) {
        let (language, example) = part.split_once('\n').expect("a language");
        if language == "yaml" {
            if let Err(errors) = sweep(example, &format!("docs/workload.md, block {index}"), &Overrides::default()) {
                panic!("{errors}");
            }
            assert_valid("docs/workload.md", example);
            examples += 1;
        }
    }
    assert!(examples >= 5, "{examples}");
}

#[test]
fn every_generated_workload_is_valid() {
    let validator = validator();
    for seed in 0..500 {
        let mut draw = generated::Draw::new(seed);
        let text = tacho_workload::write(&if seed % 3 == 0 { draw.topology() } else { draw.workload() });
        let errors: Vec<_> =
            validator.iter_errors(&json_of(&text)).map(|e| format!("{}: {e}", e.instance_path)).collect();
        assert!(errors.is_empty(), "seed {seed}\n{text}\n{errors:#?}");
    }
}

#[test]
fn the_schema_refuses_what_the_parser_refuses() {
    let validator = validator();
    for text in [
        "nodes: {a: {spin: 10}}",
        "nodes: {a: {spin: 10 ms}}",
        "nodes: {a: {spin: 10 Hz, on: arrival}}",
        "nodes: {a: {colour: blue}}",
        "nodes: {a: {on: first points, subscribes: [/points]}}",
        "nodes: {a: {on: match nearly, subscribes: [/points, /poses]}}",
        "nodes: {a-b: {}}",
        "nodes: {a: {subscribes: [points]}}",
        "nodes: {a: {work: {uniform: [1 ms]}}}",
        "nodes: {}",
        "run: {seed: 1}",
        "topology: {kind: star, nodes: 1, rate: 1 Hz}",
        "topology: {kind: pairs, nodes: [1, 0], rate: 1 Hz}",
        "nodes: {a: {}}\nrun: {priority: {a: 80}}",
        "hosts: {h: {loss: 0.5}}\nnodes: {a: {host: h}}",
        "nodes: {a: {middleware: {ros2: }}}",
        "nodes: {a: {}}\nsweep: {x: []}",
    ] {
        assert!(parse(text, "w.yaml").is_err(), "{text}");
        assert!(!validator.is_valid(&json_of(text)), "{text}");
    }
}

/// A text that puts a key into each kind of map, by where its properties stand in the schema.
const PLACES: [(&str, &str); 15] = [
    ("", "nodes: {a: {}}\n@: 1"),
    ("/$defs/node", "nodes: {a: {@: 1}}"),
    ("/$defs/match", "nodes: {a: {on: match approximate, match: {@: 1}}}"),
    ("/$defs/work", "nodes: {a: {work: {@: 1}}}"),
    ("/$defs/normal", "nodes: {a: {work: {normal: {@: 1}}}}"),
    ("/$defs/subscription", "nodes: {a: {subscribes: {/t: {@: 1}}}}"),
    ("/$defs/publication", "nodes: {a: {publishes: {/t: {@: 1}}}}"),
    ("/$defs/share", "nodes: {a: {subscribes: [/t], publishes: {/p: {from: {/t: {@: 1}}}}}}"),
    ("/$defs/topology", "topology: {@: 1}"),
    ("/$defs/end", "topology: {kind: pairs, nodes: 1, rate: 1 Hz, publishers: {@: 1}}"),
    ("/$defs/host", "hosts: {h: {@: 1}}\nnodes: {a: {host: h}}"),
    ("/$defs/run", "nodes: {a: {}}\nrun: {@: 1}"),
    ("/$defs/background", "nodes: {a: {}}\nrun: {background: {@: 1}}"),
    ("/$defs/timer", "nodes: {a: {timers: {t: {@: 1}}}}"),
    ("/$defs/time", "nodes: {a: {sleep: {@: 1}}}"),
];

/// Every map with known keys in the schema, by its place.
fn maps(schema: &Value, place: String, found: &mut Vec<(String, Vec<String>)>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        found.push((place.clone(), properties.keys().cloned().collect()));
    }
    match schema {
        Value::Object(map) => map.iter().for_each(|(key, value)| maps(value, format!("{place}/{key}"), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| maps(value, format!("{place}/{i}"), found))
        }
        _ => {}
    }
}

#[test]
fn the_schema_knows_the_keys_of_the_parser_and_no_others() {
    let mut found = Vec::new();
    maps(&schema(), String::new(), &mut found);
    assert_eq!(found.len(), PLACES.len(), "{found:#?}");
    for (place, keys) in found {
        let (_, text) = PLACES.iter().find(|(known, _)| *known == place).unwrap_or_else(|| panic!("{place}"));
        // An unknown key makes the parser list those that it knows.
        let Err(errors) = parse(&text.replace('@', "no_such_key"), "w.yaml") else { panic!("{text}") };
        let unknown = errors.errors.iter().find(|e| e.name == "unknown-key").unwrap_or_else(|| panic!("{errors}"));
        let mut known: Vec<_> = unknown.expected.trim_start_matches("one of ").split(", ").collect();
        known.sort_unstable();
        assert_eq!(known, keys, "{place}");
        for key in keys {
            let Err(errors) = parse(&text.replace('@', &key), "w.yaml") else { continue };
            assert!(errors.errors.iter().all(|e| e.name != "unknown-key"), "{place}: {key}\n{errors}");
        }
    }
}
