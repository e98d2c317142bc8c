//! The JSON Schema of the workload file, for editors. Made of the same tables as the parser.

use crate::grammar::{self, Form, Place, NAME_PATTERN, TOPIC_PATTERN, WORD_PATTERN};
use serde_json::{json, Map, Value};

/// JSON Schema, draft 2020-12. Accepts every file that [`crate::parse`] accepts, save for names that YAML takes for
/// something else unless they are quoted (`true`, `null`, `42`). What needs the whole graph (topics without ends, chains,
/// QoS) only the parser knows.
pub fn schema() -> Value {
    let mut schema = place(&grammar::TOP, &["nodes"]);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Tachograph workload");
    schema["description"] = json!("What a system of ROS nodes does, whatever it runs on.");
    schema
}

/// A map with known keys and no others.
fn place(place: &Place, required: &[&str]) -> Value {
    let mut properties = Map::new();
    for key in place.keys {
        let mut value = form(key.form);
        value["description"] = json!(key.meaning);
        properties.insert(key.name.to_string(), value);
    }
    let mut schema = json!({"type": "object", "additionalProperties": false, "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The same, or nothing.
fn optional(of: &Place) -> Value {
    let mut schema = place(of, &[]);
    schema["type"] = json!(["object", "null"]);
    schema
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

fn topics(of: &Place) -> Value {
    let list = json!({"type": "array", "uniqueItems": true, "items": {"type": "string", "pattern": TOPIC_PATTERN}});
    json!({"anyOf": [list, named(TOPIC_PATTERN, optional(of))]})
}

fn form(form: Form) -> Value {
    let name = || json!({"type": "string", "pattern": NAME_PATTERN});
    match form {
        Form::Word => json!({"type": "string", "pattern": WORD_PATTERN}),
        Form::Name => name(),
        Form::Frequency => quantity(&["Hz", "kHz"], "10 Hz"),
        Form::Duration => duration(),
        Form::Size => quantity(&["B", "KiB", "MiB", "GiB", "kB", "MB", "GB"], "64 KiB"),
        Form::Whole(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
        Form::Flag => json!({"type": "boolean"}),
        Form::OneOf(words) => json!({"enum": words}),
        Form::Executor => json!({
            "type": "string",
            "pattern": "^(arrival|timer +[0-9]+(\\.[0-9]+)? *(Hz|kHz))$",
            "examples": ["arrival", "timer 10 Hz"]
        }),
        Form::Work => {
            let mut distribution = place(&grammar::WORK, &[]);
            distribution["minProperties"] = json!(1);
            distribution["maxProperties"] = json!(1);
            json!({"anyOf": [duration(), distribution]})
        }
        Form::Range => json!({"type": "array", "items": duration(), "minItems": 2, "maxItems": 2}),
        Form::Normal => place(&grammar::NORMAL, &["mean", "std"]),
        Form::Nodes => {
            let mut node = optional(&grammar::NODE);
            node["not"] = json!({"required": ["on", "spin"]});
            let mut nodes = named(NAME_PATTERN, node);
            nodes["minProperties"] = json!(1);
            nodes
        }
        Form::Chains => {
            let mut chains =
                named(NAME_PATTERN, json!({"type": "array", "items": name(), "minItems": 2, "uniqueItems": true}));
            chains["type"] = json!(["object", "null"]);
            chains
        }
        Form::Cpus => {
            let cpu = json!({"type": "integer", "minimum": 0, "maximum": 1023});
            let mut cpus =
                named(NAME_PATTERN, json!({"type": "array", "items": cpu, "minItems": 1, "uniqueItems": true}));
            cpus["type"] = json!(["object", "null"]);
            cpus
        }
        Form::Subscriptions => topics(&grammar::SUBSCRIPTION),
        Form::Publications => topics(&grammar::PUBLICATION),
        Form::Run => optional(&grammar::RUN),
    }
}
