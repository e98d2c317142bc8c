//! JSON Schemas of the messages. That of findings is Foxglove's own Log, which its log panel shows.

use serde_json::{json, Value};
use tacho_tables::{Signal, Tables};

/// A kind of message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Latency,
    Lost,
    Callback,
    Chain,
    Finding,
    /// Of this node.
    Signals(u32),
}

/// Name and text of a schema.
pub struct Schema {
    pub name: &'static str,
    pub text: String,
}

impl Kind {
    /// Its schema.
    pub fn schema(self, tables: &Tables) -> Schema {
        let (name, properties) = match self {
            Kind::Latency => (
                "tacho.Latency",
                numbers(&[
                    (
                        "latency_us",
                        "From the publish call to the callback; to the take if there are no callback events.",
                    ),
                    ("to_arrival_us", "From the publish call until the middleware announced the message."),
                ]),
            ),
            Kind::Lost => ("tacho.Lost", numbers(&[("lost", "Messages lost until now.")])),
            Kind::Callback => (
                "tacho.Callback",
                numbers(&[("duration_ms", "From its start to its end."), ("cpu_ms", "CPU time of its thread.")]),
            ),
            Kind::Chain => (
                "tacho.Chain",
                numbers(&[
                    ("end_to_end_ms", "From the publication of its first node to its end."),
                    ("computation_ms", "Inside its callbacks."),
                    ("off_cpu_ms", "Inside its callbacks, asleep or blocked."),
                    ("preemption_ms", "Inside its callbacks, without a CPU."),
                    ("transport_ms", "From publish calls to arrivals."),
                    ("alignment_ms", "Message there, executor asleep."),
                    ("queueing_ms", "Message there, executor busy."),
                    ("kept_ms", "Message taken, waiting for the callback that uses it."),
                ]),
            ),
            Kind::Signals(node) => ("tacho.Signals", signals(tables, node)),
            Kind::Finding => (
                "foxglove.Log",
                json!({
                    "timestamp": {
                        "type": "object",
                        "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}},
                    },
                    "level": {"type": "integer"}, "message": {"type": "string"}, "name": {"type": "string"},
                    "file": {"type": "string"}, "line": {"type": "integer"},
                }),
            ),
        };
        Schema { name, text: json!({"title": name, "type": "object", "properties": properties}).to_string() }
    }
}

/// The signals of a node.
fn signals(tables: &Tables, node: u32) -> Value {
    let of_node = tables.signals.iter().filter(|signal| signal.node.number() == node);
    let property = |signal: &Signal| match signal.list {
        true => json!({"type": "array", "items": {"type": "number"}}),
        false => json!({"type": "number"}),
    };
    Value::Object(of_node.map(|signal| (named(signal), property(signal))).collect())
}

/// The name of a signal with its unit: `speed_m_per_s`.
pub fn named(signal: &Signal) -> String {
    let unit = signal.unit.replace("/s^2", "_per_s2").replace("/s", "_per_s").replace('%', "percent");
    if unit.is_empty() {
        signal.name.clone()
    } else {
        format!("{}_{unit}", signal.name)
    }
}

fn numbers(of: &[(&str, &str)]) -> Value {
    let described = of.iter().map(|(name, what)| ((*name).to_owned(), json!({"type": "number", "description": what})));
    Value::Object(described.collect())
}
