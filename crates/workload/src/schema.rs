//! Generates the JSON Schema of the workload file, for editors, from the parser's tables.

use crate::grammar::{self, Form, Place};
use crate::names::{NAME_PATTERN, PARAMETER_PATTERN, TOPIC_PATTERN, WORD_PATTERN};
use serde_json::{json, Map, Value};

/// JSON Schema, draft 2020-12. It accepts every file that [`crate::parse`] or [`crate::sweep`] accept, except for names
/// that YAML takes for something else unless they are quoted (`true`, `null`, `42`). Only the parser checks what needs
/// the whole graph (topics without ends, chains, QoS).
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for (name, of) in DEFINITIONS {
        definitions.insert((*name).into(), place(of));
    }
    let mut schema = place(&grammar::TOP);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Tachograph workload");
    schema["description"] = json!("What a system of ROS nodes does, whatever it runs on.");
    schema["anyOf"] = json!([{"required": ["nodes"]}, {"required": ["topology"]}]);
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// A topic, or the name of a timer.
const CAUSE_PATTERN: &str = "^((/[A-Za-z_][A-Za-z0-9_]*)+|[A-Za-z_][A-Za-z0-9_]{0,254})$";

/// Maps with known keys, and their names in the schema.
const DEFINITIONS: &[(&str, &Place)] = &[
    ("node", &grammar::NODE),
    ("topology", &grammar::TOPOLOGY),
    ("end", &grammar::END),
    ("host", &grammar::HOST),
    ("subscription", &grammar::SUBSCRIPTION),
    ("publication", &grammar::PUBLICATION),
    ("timer", &grammar::TIMER),
    ("share", &grammar::SHARE),
    ("work", &grammar::WORK),
    ("time", &grammar::TIME),
    ("normal", &grammar::NORMAL),
    ("run", &grammar::RUN),
    ("match", &grammar::MATCH),
    ("background", &grammar::BACKGROUND),
];

/// Describes a map with known keys and no others.
fn place(place: &Place) -> Value {
    let mut properties = Map::new();
    for key in place.keys {
        let mut value = swept(key.form);
        value["description"] = json!(key.meaning);
        properties.insert(key.name.to_string(), value);
    }
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

/// Describes a value, a list of values, or a parameter of the sweep.
fn swept(of: Form) -> Value {
    match of {
        Form::Sweep | Form::Short => form(of),
        Form::Middleware => {
            let word = json!({"type": "string", "pattern": WORD_PATTERN});
            let transports = json!({"anyOf": [word, {"type": "array", "items": word, "minItems": 1}, parameter()]});
            let one = json!({"type": "object", "minProperties": 1, "maxProperties": 1,
                "propertyNames": {"pattern": WORD_PATTERN}, "additionalProperties": transports});
            let item = json!({"anyOf": [word, one, parameter()]});
            json!({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})
        }
        _ => json!({"anyOf": [form(of), {"type": "array", "items": form(of), "minItems": 1}, parameter()]}),
    }
}

/// Describes `$size`.
fn parameter() -> Value {
    json!({"type": "string", "pattern": PARAMETER_PATTERN})
}

fn or_nothing(of: Value) -> Value {
    json!({"anyOf": [of, {"type": "null"}]})
}

/// Refers to a map with known keys by its name.
fn defined(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// A map of the keys of a time, of which one says how it is drawn.
fn drawn(name: &str) -> Value {
    let by = |key: &str| json!({"required": [key]});
    let mut of = defined(name);
    of["oneOf"] = json!([by("uniform"), by("normal"), by("quantiles")]);
    of["dependentRequired"] = json!({"autocorrelation": ["quantiles"]});
    of
}

fn quantity(units: &[&str], example: &str) -> Value {
    json!({"type": "string", "pattern": format!("^[0-9]+(\\.[0-9]+)? *({})$", units.join("|")), "examples": [example]})
}

fn duration() -> Value {
    quantity(&["ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "s", "min"], "2.4 ms")
}

fn named(pattern: &str, value: Value) -> Value {
    json!({"type": "object", "propertyNames": {"pattern": pattern}, "additionalProperties": value})
}

fn topics(of: Form) -> Value {
    let topic = json!({"anyOf": [{"type": "string", "pattern": TOPIC_PATTERN}, parameter()]});
    let list = json!({"type": "array", "uniqueItems": true, "items": topic});
    json!({"anyOf": [list, named(TOPIC_PATTERN, swept(of))]})
}

fn form(form: Form) -> Value {
    let name = || json!({"type": "string", "pattern": NAME_PATTERN});
    let topic = TOPIC_PATTERN.trim_start_matches('^').trim_end_matches('$');
    let or_parameter = |of: Value| json!({"anyOf": [of, parameter()]});
    match form {
        Form::Word => json!({"type": "string", "pattern": WORD_PATTERN}),
        Form::Name => name(),
        Form::Frequency => quantity(&["Hz", "kHz"], "10 Hz"),
        Form::Duration => duration(),
        Form::Size => quantity(&["B", "KiB", "MiB", "GiB", "kB", "MB", "GB"], "64 KiB"),
        Form::BitRate => quantity(&["bit/s", "kbit/s", "Mbit/s", "Gbit/s"], "50 Mbit/s"),
        Form::Percent => quantity(&["%"], "0.5 %"),
        Form::Whole(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
        Form::Flag => json!({"type": "boolean"}),
        Form::OneOf(words) => json!({"enum": words}),
        Form::Middleware => swept(Form::Middleware),
        Form::Executor => json!({
            "type": "string",
            "pattern": format!(
                "^(arrival|timer +[0-9]+(\\.[0-9]+)? *(Hz|kHz)|first +{topic}|match +(exact|approximate|newest))$"
            ),
            "examples": ["arrival", "timer 10 Hz", "first /points", "match approximate"]
        }),
        Form::Match => or_nothing(defined("match")),
        Form::Bounds => or_nothing(named(TOPIC_PATTERN, swept(Form::Duration))),
        Form::Scheduling => json!({
            "type": "string",
            "pattern": "^((fifo|round_robin) +[0-9]+|nice +-?[0-9]+)$",
            "examples": ["fifo 80", "round_robin 10", "nice 5"]
        }),
        Form::Work => {
            let task = json!({"type": "object", "required": [grammar::TASK], "propertyNames": {"pattern": NAME_PATTERN},
                "additionalProperties": swept(Form::TaskParameter)});
            json!({"anyOf": [duration(), drawn("work"), task]})
        }
        Form::Time => {
            json!({"anyOf": [duration(), drawn("time")]})
        }
        Form::Timers => or_nothing(named(NAME_PATTERN, swept(Form::Timer))),
        Form::Timer => json!({"$ref": "#/$defs/timer", "required": ["rate"]}),
        Form::Causes => {
            let one = json!({"type": "string", "pattern": CAUSE_PATTERN});
            let list = json!({"type": "array", "items": or_parameter(one.clone()), "minItems": 1, "uniqueItems": true});
            let mut shares = named(CAUSE_PATTERN, or_nothing(swept(Form::Share)));
            shares["minProperties"] = json!(1);
            json!({"anyOf": [one, list, shares]})
        }
        Form::Share => json!({"anyOf": [swept(Form::Percent), {"$ref": "#/$defs/share"}]}),
        Form::Times => json!({"type": "array", "items": or_parameter(duration()), "minItems": 2}),
        // The task determines what it is.
        Form::TaskParameter => json!({"type": ["string", "number"], "minLength": 1, "examples": ["5 m/s"]}),
        Form::Range => json!({"type": "array", "items": or_parameter(duration()), "minItems": 2, "maxItems": 2}),
        Form::Normal => json!({"$ref": "#/$defs/normal", "required": ["mean", "std"]}),
        Form::Nodes => {
            let mut nodes = named(NAME_PATTERN, swept(Form::Node));
            nodes["minProperties"] = json!(1);
            nodes
        }
        // Of two parameters, one may be left out at each point of a sweep.
        Form::Node => or_nothing(json!({"$ref": "#/$defs/node",
            "not": {"required": ["on", "spin"], "patternProperties": {"^on$": {"not": parameter()}}}})),
        Form::Topology => json!({"anyOf": [{"enum": grammar::TOPOLOGIES}, defined("topology")]}),
        Form::End => or_nothing(defined("end")),
        Form::Hosts => or_nothing(named(NAME_PATTERN, swept(Form::Host))),
        Form::Host => or_nothing(defined("host")),
        Form::Chains => or_nothing(named(NAME_PATTERN, swept(Form::Chain))),
        Form::Chain => {
            let stop = json!({"anyOf": [name(), {"type": "string", "pattern": TOPIC_PATTERN}]});
            json!({"type": "array", "items": or_parameter(stop), "minItems": 2})
        }
        Form::Cpus => or_nothing(named(NAME_PATTERN, swept(Form::CpuList))),
        Form::CpuList => {
            let cpu = or_parameter(json!({"type": "integer", "minimum": 0, "maximum": 1023}));
            json!({"type": "array", "items": cpu, "minItems": 1, "uniqueItems": true})
        }
        Form::Priorities => or_nothing(named(NAME_PATTERN, swept(Form::Scheduling))),
        Form::Background => or_nothing(defined("background")),
        Form::Subscriptions => topics(Form::Subscription),
        Form::Subscription => or_nothing(defined("subscription")),
        Form::Publications => topics(Form::Publication),
        Form::Publication => or_nothing(defined("publication")),
        Form::Run => or_nothing(defined("run")),
        // The place of a parameter determines its type.
        Form::Sweep => or_nothing(json!({
            "type": "object",
            "propertyNames": {"pattern": NAME_PATTERN},
            "additionalProperties": {
                "anyOf": [{"type": "array", "minItems": 1}, {"type": "object", "minProperties": 1}]
            }
        })),
        // Parts of a workload, in which nothing removes a key.
        Form::Short => {
            let keys: Vec<_> = grammar::TOP.keys.iter().map(|key| key.name).filter(|key| *key != "short").collect();
            json!({"type": ["object", "null"], "propertyNames": {"enum": keys}})
        }
    }
}
