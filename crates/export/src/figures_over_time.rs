//! Figures over time as MCAP, for Foxglove and PlotJuggler beside a bag of the same drive: JSON messages, each kind
//! with its JSON Schema, in the order of time.

mod schemas;

use crate::{replace, Error, Watched};
use mcap::records::MessageHeader;
use mcap::{McapError, WriteOptions, Writer};
use schemas::{named, Kind, Schema};
use serde_json::{json, Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::Summary;
use tacho_tables::{Callback, Delivery, Endpoint, Execution, Instance, Message, Sample, Tables};

/// Messages between two looks at who watches.
const MESSAGES_A_STEP: usize = 1 << 14;
/// Foxglove's number of a warning.
const WARNING: u32 = 3;

/// A figure that has a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Figure {
    Reached(Row<Message>),
    Lost(Row<Message>),
    Ended(Row<Execution>),
    Arrived(Row<Instance>),
    /// What a node reported of an instant: the samples from this place in the log on.
    Reported(usize),
}

/// Writes the figures of a run to `out`. `realtime_offset_ns` is wall time minus the clock of the tables: without it,
/// times are those of the tables.
pub fn figures_over_time(
    tables: &Tables,
    summary: &Summary,
    realtime_offset_ns: Option<i64>,
    out: &Path,
    watched: &mut Watched<'_>,
) -> Result<(), Error> {
    replace(out, |part| {
        let failed = |error: McapError| Error::Io { path: part.into(), source: in_io(error) };
        let file = File::create(part).map_err(|source| Error::Io { path: part.into(), source })?;
        // Messages are uncompressed: `mcap compress` does that.
        let options = WriteOptions::new().compression(None).library(concat!("tacho ", env!("CARGO_PKG_VERSION")));
        let writer = options.create(BufWriter::new(file)).map_err(failed)?;
        let callback = |of: &Callback| as_topic(&of.name(&tables.nodes, &tables.processes).to_string());
        let way = |of: &Endpoint| format!("{}/{}", as_topic(&of.topic), as_topic(&tables.nodes[of.node].name));
        let mut log = Log {
            tables,
            writer,
            callbacks: tables.callbacks.iter().map(callback).collect(),
            ways: tables.endpoints.iter().map(way).collect(),
            offset_ns: realtime_offset_ns.unwrap_or(0),
            schemas: HashMap::new(),
            channels: HashMap::new(),
            lost: HashMap::new(),
            samples: samples(tables),
        };
        log.findings(summary).map_err(failed)?;
        let mut figures = figures(tables);
        let reported = log.samples.chunk_by(|a, b| a[..2] == b[..2]).scan(0, |place, of| {
            let first = *place;
            *place += of.len();
            Some((of[0][0], Figure::Reported(first)))
        });
        figures.extend(reported);
        figures.sort_unstable();
        for (number, (_, figure)) in figures.iter().enumerate() {
            if number.is_multiple_of(MESSAGES_A_STEP) {
                watched.step("figures", number as f64 / figures.len() as f64, out)?;
            }
            log.figure(*figure).map_err(failed)?;
        }
        log.writer.finish().map(drop).map_err(failed)
    })
}

fn in_io(error: McapError) -> io::Error {
    match error {
        McapError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// All figures in the order of their times.
fn figures(tables: &Tables) -> Vec<(i64, Figure)> {
    let mut figures = Vec::new();
    for (row, message) in numbered(&tables.messages) {
        if message.delivery == Delivery::Lost {
            figures.extend(message.publish_ns.get().map(|ns| (ns, Figure::Lost(row))));
        }
        // Between the ends of a message of an emulated board lies emulated time.
        if let (Some(ns), Some(_), false) = (reached_ns(message), message.publish_ns.get(), message.emulated) {
            figures.push((ns, Figure::Reached(row)));
        }
    }
    figures.extend(numbered(&tables.executions).filter_map(|(row, one)| Some((one.end_ns.get()?, Figure::Ended(row)))));
    figures.extend(numbered(&tables.instances).map(|(row, one)| (one.end_ns, Figure::Arrived(row))));
    figures
}

/// Samples that are numbers: the instant, the node and the row of each, in this order.
fn samples(tables: &Tables) -> Vec<[i64; 3]> {
    let finite = tables.samples.iter().enumerate().filter(|(_, sample)| sample.value.is_finite());
    let node = |sample: &Sample| i64::from(tables.signals[sample.signal].node.number());
    let mut samples: Vec<_> = finite.map(|(row, sample)| [sample.at_ns, node(sample), row as i64]).collect();
    samples.sort_unstable();
    samples
}

/// When the callback of a message began, else when it was taken.
fn reached_ns(message: &Message) -> Option<i64> {
    message.callback_ns.get().or(message.take_ns.get())
}

struct Log<'a> {
    tables: &'a Tables,
    writer: Writer<BufWriter<File>>,
    offset_ns: i64,
    /// The part of a topic that each callback is, and the one that each endpoint is.
    callbacks: Vec<String>,
    ways: Vec<String>,
    schemas: HashMap<Kind, u16>,
    /// Id and next sequence number of each channel.
    channels: HashMap<String, (u16, u32)>,
    /// Messages lost so far, by channel.
    lost: HashMap<String, u64>,
    /// See [`samples`].
    samples: Vec<[i64; 3]>,
}

impl Log<'_> {
    fn figure(&mut self, figure: Figure) -> Result<(), McapError> {
        let tables = self.tables;
        match figure {
            Figure::Reached(row) => {
                let message = &tables.messages[row.index()];
                let (Some(publish_ns), Some(reached_ns)) = (message.publish_ns.get(), reached_ns(message)) else {
                    return Ok(());
                };
                let values = [
                    ("latency_us", Some((reached_ns - publish_ns) as f64 / 1e3)),
                    ("to_arrival_us", message.arrival_ns.get().map(|ns| (ns - publish_ns) as f64 / 1e3)),
                ];
                self.write(Kind::Latency, &self.way("latency", message), (publish_ns, reached_ns), numbers(values))
            }
            Figure::Reported(first) => self.reported(first),
            Figure::Lost(row) => {
                let message = &tables.messages[row.index()];
                let (channel, at_ns) = (self.way("lost", message), message.publish_ns.get().unwrap_or_default());
                let lost = self.lost.entry(channel.clone()).or_default();
                *lost += 1;
                let value = json!({"lost": *lost});
                self.write(Kind::Lost, &channel, (at_ns, at_ns), value)
            }
            Figure::Ended(row) => {
                let execution = &tables.executions[row.index()];
                let Some(end_ns) = execution.end_ns.get() else { return Ok(()) };
                let values = [
                    ("duration_ms", Some((end_ns - execution.start_ns) as f64 / 1e6)),
                    ("cpu_ms", execution.cpu_ns.get().map(in_ms)),
                ];
                let channel = format!("/tacho/callbacks/{}", self.callbacks[execution.callback.index()]);
                self.write(Kind::Callback, &channel, (execution.start_ns, end_ns), numbers(values))
            }
            Figure::Arrived(row) => {
                let one = &tables.instances[row.index()];
                let values = [
                    ("end_to_end_ms", Some(one.end_to_end_ns)),
                    ("computation_ms", Some(one.computation_ns)),
                    ("off_cpu_ms", one.off_cpu_ns.get()),
                    ("preemption_ms", one.preemption_ns.get()),
                    ("transport_ms", Some(one.transport_ns)),
                    ("alignment_ms", one.alignment_ns.get()),
                    ("queueing_ms", Some(one.queueing_ns)),
                    ("kept_ms", one.kept_ns.get()),
                ];
                let values = values.map(|(name, ns)| (name, ns.map(in_ms)));
                let channel = format!("/tacho/chains/{}", as_topic(&tables.chains[one.chain].name));
                self.write(Kind::Chain, &channel, (one.start_ns, one.end_ns), numbers(values))
            }
        }
    }

    /// All that a node reported of an instant is one message. A list is an array.
    fn reported(&mut self, first: usize) -> Result<(), McapError> {
        let [at_ns, node, _] = self.samples[first];
        let of = self.samples[first..].iter().take_while(|of| of[..2] == [at_ns, node]);
        let mut values = Map::new();
        for [.., row] in of {
            let sample = &self.tables.samples[*row as usize];
            let signal = &self.tables.signals[sample.signal];
            let name = named(signal);
            match values.get_mut(&name) {
                Some(Value::Array(entries)) => entries.push(json!(sample.value)),
                _ if signal.list => drop(values.insert(name, json!([sample.value]))),
                _ => drop(values.insert(name, json!(sample.value))),
            }
        }
        let channel = format!("/tacho/signals/{}", as_topic(&self.tables.nodes[node as usize].name));
        self.write(Kind::Signals(node as u32), &channel, (at_ns, at_ns), Value::Object(values))
    }

    /// Findings have no time of their own: they stand at the beginning.
    fn findings(&mut self, summary: &Summary) -> Result<(), McapError> {
        let begin_ns = self.tables.processes.iter().map(|process| process.first_ns).min().unwrap_or(0);
        let wall_ns = begin_ns + self.offset_ns;
        for finding in summary.findings.iter().flatten() {
            for case in &finding.cases {
                let message = format!("{}: {} Costs: {} Next: {}", case.subject, case.evidence, case.cost, case.next);
                let log = json!({
                    "timestamp": {"sec": wall_ns.div_euclid(1_000_000_000), "nsec": wall_ns.rem_euclid(1_000_000_000)},
                    "level": WARNING, "name": finding.lint, "message": message, "file": "", "line": 0,
                });
                self.write(Kind::Finding, "/tacho/findings", (begin_ns, begin_ns), log)?;
            }
        }
        Ok(())
    }

    /// The channel of what goes over a topic to a node.
    fn way(&self, what: &str, message: &Message) -> String {
        format!("/tacho/{what}/{}", self.ways[message.subscription.index()])
    }

    fn write(
        &mut self,
        kind: Kind,
        channel: &str,
        (from_ns, at_ns): (i64, i64),
        value: Value,
    ) -> Result<(), McapError> {
        let (channel_id, sequence) = match self.channels.get_mut(channel) {
            Some((id, next)) => {
                *next += 1;
                (*id, *next - 1)
            }
            None => {
                let schema = match self.schemas.get(&kind) {
                    Some(id) => *id,
                    None => {
                        let Schema { name, text } = kind.schema(self.tables);
                        let id = self.writer.add_schema(name, "jsonschema", text.as_bytes())?;
                        self.schemas.insert(kind, id);
                        id
                    }
                };
                let id = self.writer.add_channel(schema, channel, "json", &BTreeMap::new())?;
                self.channels.insert(channel.to_owned(), (id, 1));
                (id, 0)
            }
        };
        let wall = |ns: i64| (ns + self.offset_ns).max(0) as u64;
        let header = MessageHeader { channel_id, sequence, log_time: wall(at_ns), publish_time: wall(from_ns) };
        self.writer.write_to_known_channel(&header, value.to_string().as_bytes())
    }
}

fn in_ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

/// Those that are known.
fn numbers<const COUNT: usize>(values: [(&str, Option<f64>); COUNT]) -> Value {
    let known = values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    Value::Object(known.collect::<Map<_, _>>())
}

/// A name as a part of a topic: what no name of ROS has becomes `_`.
fn as_topic(name: &str) -> String {
    let known = |c: char| if c.is_ascii_alphanumeric() || c == '/' { c } else { '_' };
    let mut topic: String = name.trim_start_matches('/').chars().map(known).collect();
    while topic.contains("__") {
        topic = topic.replace("__", "_");
    }
    topic.trim_end_matches('_').to_owned()
}
