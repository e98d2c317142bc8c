//! Reads the YAML tree into the model, and remembers the place of each part. `check` judges the parts together.

mod node;
mod on;

use crate::diagnostic::{Report, Span};
use crate::document::{Value, Yaml};
use crate::grammar::{self, Form};
use crate::model::*;
use crate::run::RunPlaces;
use crate::topology::{End, Topology};
use crate::values::{Fields, Reader};

pub(crate) use node::{default_size, NodePlaces, TaskPlaces};

/// A workload as far as it could be read, and the places of its parts.
pub(crate) struct Reading {
    pub workload: Workload,
    /// Places of [`Workload::nodes`].
    pub nodes: Vec<NodePlaces>,
    /// Places of [`Workload::chains`]: of the name, then of its nodes.
    pub chains: Vec<(Span, Vec<Span>)>,
    /// Places of [`Workload::run`].
    pub run: RunPlaces,
    /// False if a node, topic or chain could not be read: what seems to be missing may be there.
    pub whole: bool,
}

/// Longest delay of a link.
const MAX_DELAY: std::time::Duration = std::time::Duration::from_secs(60);

/// Reads the tree. Reports every mistake and continues with the rest.
pub(crate) fn read(root: &Yaml, report: &mut Report) -> Reading {
    let mut reader = Reader { report, whole: true };
    let fields = reader.fields(root, &grammar::TOP).unwrap_or_default();
    let (middleware, named_transport) = match fields.get("middleware").and_then(|y| reader.middleware(y)) {
        Some(read) => read,
        None => ("ros2".into(), String::new()),
    };
    let transport = fields.get("transport").and_then(|y| reader.word(y));
    if let (Some(yaml), Some(_), false) = (fields.get("transport"), &transport, named_transport.is_empty()) {
        reader.report.error(
            "two-transports",
            yaml.span,
            "the transport is said twice",
            format!("{}, and `{named_transport}` at `middleware`", yaml.describe()),
            "one of them",
        );
    }
    let mut reading = Reading {
        workload: Workload {
            middleware,
            transport: transport.unwrap_or(named_transport),
            study: fields.get("study").and_then(|y| reader.word(y)),
            hosts: fields.get("hosts").map(|y| reader.hosts(y)).unwrap_or_default(),
            ..Workload::default()
        },
        nodes: Vec::new(),
        chains: Vec::new(),
        run: RunPlaces::default(),
        whole: true,
    };
    reader.who_there_is(root, &fields, &mut reading);
    if let Some(yaml) = fields.get("chains") {
        reader.chains(yaml, &mut reading);
    }
    if let Some(yaml) = fields.get("run") {
        (reading.workload.run, reading.run) = reader.run(yaml, &reading.workload.nodes);
    }
    reading.whole = reader.whole;
    reading
}

impl Reader<'_, '_> {
    fn hosts(&mut self, yaml: &Yaml) -> Vec<Host> {
        let mut hosts = Vec::new();
        if yaml.is_null() {
            return hosts;
        }
        for (_, key, value) in self.entries(yaml, Form::Hosts, "host").unwrap_or_default() {
            let Some(name) = self.name(key) else { continue };
            let fields = self.fields(value, &grammar::HOST).unwrap_or_default();
            let link = Link {
                rate_bit_per_s: fields.get("rate").and_then(|y| self.bit_rate(y)),
                delay: fields.get("delay").and_then(|y| self.duration(y, MAX_DELAY)),
                loss_percent: fields.get("loss").and_then(|y| self.percent(y)),
            };
            hosts.push(Host { name, link });
        }
        hosts
    }

    /// Reads the nodes, from `nodes` or from `topology`.
    fn who_there_is(&mut self, root: &Yaml, fields: &Fields, reading: &mut Reading) {
        let generated = fields.get("topology").filter(|y| matches!(y.value, Value::Map(_)));
        match (fields.get("nodes"), generated) {
            (Some(yaml), None) => self.nodes(yaml, reading),
            (None, Some(yaml)) => self.generated(yaml, reading),
            (Some(_), Some(yaml)) => self.report.error(
                "two-topologies",
                yaml.span,
                "both `nodes` and a topology that makes nodes",
                yaml.describe(),
                "`nodes`, or `topology`; topology: pairs beside `nodes` only says which one they are",
            ),
            (None, None) => {
                self.whole = false;
                let expected = Form::Nodes.expected();
                self.report.error("no-nodes", root.span, "a workload without nodes", "no key `nodes`", expected);
            }
        }
        if let (Some(yaml), None) = (fields.get("topology"), generated) {
            let kind = self.one_of(yaml, grammar::TOPOLOGIES, Form::Topology);
            reading.workload.topology = kind.map(|index| grammar::TOPOLOGIES[index].to_string());
        }
    }

    /// Reads one side of a topology with its QoS. Absent policies are those of `qos`.
    fn end(&mut self, yaml: Option<&Yaml>, qos: Qos) -> (End, Qos) {
        let fields = yaml.and_then(|y| self.fields(y, &grammar::END)).unwrap_or_default();
        let end = End {
            host: fields.get("host").and_then(|y| self.name(y)).unwrap_or_default(),
            middleware: fields.get("middleware").and_then(|y| self.middleware(y)),
        };
        (end, self.qos(&fields, qos))
    }

    fn generated(&mut self, yaml: &Yaml, reading: &mut Reading) {
        let errors_before = self.report.errors.len();
        let Some(fields) = self.fields(yaml, &grammar::TOPOLOGY) else { return };
        for needed in ["kind", "nodes", "rate"].into_iter().filter(|key| fields.get(key).is_none()) {
            let message = format!("a topology without `{needed}`");
            let found = format!("no key `{needed}`");
            self.report.error("missing-value", yaml.span, message, found, Form::Topology.expected());
        }
        let kind =
            fields.get("kind").and_then(|y| self.one_of(y, grammar::TOPOLOGIES, Form::OneOf(grammar::TOPOLOGIES)));
        let many = fields.get("nodes").and_then(|y| self.whole_number(y, 1, grammar::MAX_MANY));
        let process = fields.get("process").and_then(|y| self.name(y));
        let publication = self.publication(&fields);
        let (publishers, offered) = self.end(fields.get("publishers"), publication.qos);
        let (subscribers, asked) = self.end(fields.get("subscribers"), publication.qos);
        let publication = Publication { qos: offered, ..publication };
        let (Some(kind), Some(many), true) = (kind, many, self.report.errors.len() == errors_before) else {
            self.whole = false;
            return;
        };
        let kind = grammar::TOPOLOGIES[kind];
        let topology = Topology { kind, many: many as usize, process, publishers, subscribers, publication, asked };
        reading.workload.nodes = topology.nodes();
        reading.workload.topology = Some(topology.kind.into());
        let span = yaml.span;
        let places = |node: &Node| NodePlaces {
            name: span,
            process: span,
            thread: span,
            threads: span,
            order: span,
            host: span,
            phase: span,
            work: span,
            task: TaskPlaces::default(),
            subscribes: vec![span; node.subscribes.len()],
            publishes: vec![span; node.publishes.len()],
            timers: Vec::new(),
            whole: true,
        };
        reading.nodes = reading.workload.nodes.iter().map(places).collect();
    }

    fn nodes(&mut self, yaml: &Yaml, reading: &mut Reading) {
        let Some(entries) = self.entries(yaml, Form::Nodes, "node") else { return };
        if entries.is_empty() {
            self.report.error(
                "no-nodes",
                yaml.span,
                "a workload without nodes",
                yaml.describe(),
                Form::Nodes.expected(),
            );
        }
        for (_, key, value) in entries {
            let Some(name) = self.name(key) else { continue };
            let (node, places) = self.node(name, key, value);
            reading.workload.nodes.push(node);
            reading.nodes.push(places);
        }
    }

    fn chains(&mut self, yaml: &Yaml, reading: &mut Reading) {
        if yaml.is_null() {
            return;
        }
        for (_, key, value) in self.entries(yaml, Form::Chains, "chain").unwrap_or_default() {
            let Some(name) = self.name(key) else { continue };
            let Value::List(items) = &value.value else {
                self.report.error(
                    "wrong-value",
                    value.span,
                    "a chain is a list of nodes",
                    value.describe(),
                    "nodes in their order, such as [lidar, ndt]",
                );
                continue;
            };
            let (mut nodes, mut spans) = (Vec::new(), Vec::new());
            // Behind each node, until the last one is known.
            let mut topics: Vec<Option<String>> = Vec::new();
            for item in items {
                if !matches!(&item.value, Value::Scalar(text, _) if text.starts_with('/')) {
                    if let Some(node) = self.name(item) {
                        nodes.push(node);
                        topics.push(None);
                        spans.push(item.span);
                    }
                } else if let Some(topic) = self.topic(item) {
                    match topics.last_mut() {
                        Some(open @ None) => *open = Some(topic),
                        _ => self.between_nodes(item),
                    }
                }
            }
            if topics.pop().flatten().is_some() {
                items.last().into_iter().for_each(|item| self.between_nodes(item));
            }
            reading.workload.chains.push(Chain::with_topics(name, nodes, topics));
            reading.chains.push((key.span, spans));
        }
    }

    /// Refuses a topic of a chain that stands elsewhere.
    fn between_nodes(&mut self, topic: &Yaml) {
        self.report.error(
            "wrong-value",
            topic.span,
            "a topic of a chain stands between two nodes",
            topic.describe(),
            "nodes in their order, and between two of them one topic at most, such as [lidar, /points, ndt]",
        );
    }
}
