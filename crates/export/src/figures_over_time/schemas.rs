//! JSON Schemas of the messages. That of findings is Foxglove's own Log, which its log panel shows.

use serde_json::json;

/// A kind of message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Latency,
    Lost,
    Callback,
    Chain,
    Finding,
}

/// Name and text of a schema.
pub struct Schema {
    pub name: &'static str,
    pub text: String,
}

impl Kind {
    /// Its schema.
    pub fn schema(self) -> Schema {
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

fn numbers(of: &[(&str, &str)]) -> serde_json::Value {
    let described = of.iter().map(|(name, what)| ((*name).to_owned(), json!({"type": "number", "description": what})));
    serde_json::Value::Object(described.collect())
}
