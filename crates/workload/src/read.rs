//! From the YAML tree to the model, remembering where each part stands. What parts mean together is for `check`.

use crate::diagnostic::{did_you_mean, Report, Span};
use crate::document::{Value, Yaml};
use crate::grammar::{self, Form};
use crate::model::*;
use crate::values::{Fields, Reader};
use std::collections::HashSet;
use std::time::Duration;

/// A workload as far as it could be read, and where its parts stand.
pub(crate) struct Reading {
    pub workload: Workload,
    /// As [`Workload::nodes`].
    pub nodes: Vec<NodePlaces>,
    /// As [`Workload::chains`]: the name, then its nodes.
    pub chains: Vec<(Span, Vec<Span>)>,
    /// As [`RunOptions::cpus`].
    pub cpus: Vec<Span>,
    /// False where a node, topic or chain could not be read: what seems to be missing may stand there.
    pub whole: bool,
}

/// Where the parts of a node stand.
pub(crate) struct NodePlaces {
    pub name: Span,
    pub work: Span,
    pub subscribes: Vec<Span>,
    pub publishes: Vec<Span>,
    /// False where its executor, a rate or its work could not be read.
    pub whole: bool,
}

/// Longest computation of one activation.
const MAX_WORK: Duration = Duration::from_secs(3600);
/// Longest run, a week.
const MAX_RUN: Duration = Duration::from_secs(7 * 24 * 3600);

/// Reads the tree; every mistake goes into the report, and what is left is read on.
pub(crate) fn read(root: &Yaml, report: &mut Report) -> Reading {
    let mut reader = Reader { report, whole: true };
    let fields = reader.fields(root, &grammar::TOP).unwrap_or_default();
    let mut reading = Reading {
        workload: Workload {
            middleware: fields.get("middleware").and_then(|y| reader.middleware(y)).unwrap_or_else(|| "ros2".into()),
            transport: fields.get("transport").and_then(|y| reader.word(y)).unwrap_or_default(),
            ..Workload::default()
        },
        nodes: Vec::new(),
        chains: Vec::new(),
        cpus: Vec::new(),
        whole: true,
    };
    match fields.get("nodes") {
        Some(yaml) => reader.nodes(yaml, &mut reading),
        None => {
            reader.whole = false;
            reader.report.error(
                "no-nodes",
                root.span,
                "a workload without nodes",
                "no key `nodes`",
                Form::Nodes.expected(),
            );
        }
    }
    if let Some(yaml) = fields.get("chains") {
        reader.chains(yaml, &mut reading);
    }
    if let Some(yaml) = fields.get("run") {
        reader.run(yaml, &mut reading);
    }
    reading.whole = reader.whole;
    reading
}

impl Reader<'_, '_> {
    fn middleware(&mut self, yaml: &Yaml) -> Option<String> {
        if matches!(yaml.value, Value::List(_)) {
            let message = "several middlewares in one workload (a sweep) are not yet supported";
            self.report.error("not-yet", yaml.span, message, yaml.describe(), Form::Word.expected());
            return None;
        }
        self.word(yaml)
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

    fn node(&mut self, name: String, key: &Yaml, yaml: &Yaml) -> (Node, NodePlaces) {
        let errors_before = self.report.errors.len();
        let fields = self.fields(yaml, &grammar::NODE).unwrap_or_default();
        let mut node = Node {
            process: fields.get("process").and_then(|y| self.name(y)).unwrap_or_else(|| name.clone()),
            name,
            ..Node::default()
        };
        let mut places = NodePlaces {
            name: key.span,
            work: fields.get("work").map_or(key.span, |y| y.span),
            subscribes: Vec::new(),
            publishes: Vec::new(),
            whole: true,
        };
        match (fields.get("on"), fields.get("spin")) {
            (Some(_), Some(_)) => self.report.error(
                "two-executors",
                fields.key_span("spin").unwrap_or(key.span),
                format!("node `{}` has both `on` and `spin`", node.name),
                "two executors",
                "one of them: on: arrival, on: timer 10 Hz, or spin: 10 Hz",
            ),
            (Some(on), None) => node.executor = self.executor(on).unwrap_or(Executor::Arrival),
            (None, Some(spin)) => {
                node.executor = self.frequency(spin).map_or(Executor::Arrival, |hz| Executor::Spin { hz })
            }
            (None, None) => {}
        }
        if let Some(work) = fields.get("work") {
            node.work = self.work(work).unwrap_or(Work::None);
        }
        if let Some(yaml) = fields.get("subscribes") {
            for (topic, value) in self.topics(yaml, Form::Subscriptions, "subscription") {
                let Some(name) = self.topic(topic) else { continue };
                let fields = value.and_then(|y| self.fields(y, &grammar::SUBSCRIPTION)).unwrap_or_default();
                let latest = fields.get("latest").and_then(|y| self.flag(y));
                if let (Executor::Timer { .. }, Some(false), Some(yaml)) = (node.executor, latest, fields.get("latest"))
                {
                    self.report.error(
                        "latest-on-timer",
                        yaml.span,
                        "a timer-driven node only keeps the latest of each input",
                        "`latest: false` under `on: timer`",
                        "no `latest`, or `on: arrival`",
                    );
                }
                let latest = latest.unwrap_or(false) || matches!(node.executor, Executor::Timer { .. });
                node.subscribes.push(Subscription { topic: name, qos: self.qos(&fields), latest });
                places.subscribes.push(topic.span);
            }
        }
        if let Some(yaml) = fields.get("publishes") {
            for (topic, value) in self.topics(yaml, Form::Publications, "publication") {
                let Some(name) = self.topic(topic) else { continue };
                let fields = value.and_then(|y| self.fields(y, &grammar::PUBLICATION)).unwrap_or_default();
                let message_type = fields.get("type").and_then(|y| self.word(y)).unwrap_or_default();
                let size = fields.get("size").and_then(|y| self.size(y));
                node.publishes.push(Publication {
                    topic: name,
                    size_bytes: size.unwrap_or_else(|| default_size(&message_type)),
                    message_type,
                    rate_hz: fields.get("rate").and_then(|y| self.frequency(y)),
                    deadline: None,
                    qos: self.qos(&fields),
                });
                places.publishes.push(topic.span);
            }
        }
        places.whole = self.report.errors.len() == errors_before;
        (node, places)
    }

    fn executor(&mut self, yaml: &Yaml) -> Option<Executor> {
        let text = self.text(yaml, Form::Executor)?.trim();
        if text == "arrival" {
            return Some(Executor::Arrival);
        }
        if let Some(rate) = text.strip_prefix("timer").filter(|rest| rest.starts_with(' ')) {
            let rate = Yaml { span: yaml.span, value: Value::Scalar(rate.trim().to_string(), true) };
            return self.frequency(&rate).map(|hz| Executor::Timer { hz });
        }
        if text == "match" || text.starts_with("first ") {
            let message = "fusion of inputs is not yet supported";
            self.report.error("not-yet", yaml.span, message, yaml.describe(), Form::Executor.expected());
        } else {
            let hint = if did_you_mean(text, ["arrival"]).is_some() { "; did you mean `arrival`?" } else { "" };
            let expected = Form::Executor.expected() + hint;
            self.report.error("wrong-value", yaml.span, "no such executor", yaml.describe(), expected);
        }
        None
    }

    fn work(&mut self, yaml: &Yaml) -> Option<Work> {
        match &yaml.value {
            Value::Scalar(..) if !yaml.is_null() => {
                let time = self.quantity(yaml, Form::Work, crate::units::parse_duration)?;
                let expected = format!("a time of at most {}", crate::units::format_duration(MAX_WORK));
                self.bounded(yaml, Work::Fixed(time), time <= MAX_WORK, expected)
            }
            Value::Map(_) => {
                let fields = self.fields(yaml, &grammar::WORK)?;
                match (fields.get("uniform"), fields.get("normal")) {
                    (Some(range), None) => self.uniform(range),
                    (None, Some(normal)) => self.normal(normal),
                    _ => {
                        self.wrong(yaml, Form::Work);
                        None
                    }
                }
            }
            _ => {
                self.wrong(yaml, Form::Work);
                None
            }
        }
    }

    fn uniform(&mut self, yaml: &Yaml) -> Option<Work> {
        let Value::List(bounds) = &yaml.value else {
            self.wrong(yaml, Form::Range);
            return None;
        };
        let [min, max] = bounds.as_slice() else {
            self.wrong(yaml, Form::Range);
            return None;
        };
        let (least, most) = (self.duration(min, MAX_WORK), self.duration(max, MAX_WORK));
        let (least, most) = (least?, most?);
        self.bounded(max, (), least <= most, "the greater of the two times second".into())?;
        Some(Work::Uniform { min: least, max: most })
    }

    fn normal(&mut self, yaml: &Yaml) -> Option<Work> {
        let fields = self.fields(yaml, &grammar::NORMAL)?;
        let (Some(mean), Some(std)) = (fields.get("mean"), fields.get("std")) else {
            self.wrong(yaml, Form::Normal);
            return None;
        };
        let (mean, std) = (self.duration(mean, MAX_WORK), self.duration(std, MAX_WORK));
        Some(Work::Normal { mean: mean?, std: std? })
    }

    /// Topics with their options, from a list or a map.
    fn topics<'y>(&mut self, yaml: &'y Yaml, form: Form, what: &str) -> Vec<(&'y Yaml, Option<&'y Yaml>)> {
        let Value::List(items) = &yaml.value else {
            let entries = self.entries(yaml, form, what).unwrap_or_default();
            return entries.into_iter().map(|(_, key, value)| (key, Some(value))).collect();
        };
        let mut topics: Vec<(&Yaml, Option<&Yaml>)> = Vec::new();
        let mut seen = HashSet::new();
        for item in items {
            let Value::Scalar(name, _) = &item.value else {
                self.wrong(item, form);
                self.whole = false;
                continue;
            };
            if item.is_null() {
                self.wrong(item, form);
                self.whole = false;
            } else if !seen.insert(name) {
                let message = format!("{what} stands here a second time");
                self.report.error("duplicate", item.span, message, item.describe(), "each topic once");
            } else {
                topics.push((item, None));
            }
        }
        topics
    }

    fn qos(&mut self, fields: &Fields) -> Qos {
        let default = Qos::default();
        let word = |reader: &mut Self, name, words| fields.get(name).and_then(|y| reader.second_of(y, words));
        let best_effort = word(self, "reliability", &["reliable", "best_effort"]);
        let transient_local = word(self, "durability", &["volatile", "transient_local"]);
        let keep_all = word(self, "history", &["keep_last", "keep_all"]).unwrap_or(default.keep_all);
        let depth = fields.get("depth").and_then(|y| self.whole_number(y, 1, 1_000_000));
        if let (true, Some(_), Some(yaml)) = (keep_all, depth, fields.get("depth")) {
            self.report.error(
                "depth-of-keep-all",
                yaml.span,
                "`depth` has no meaning with `history: keep_all`",
                format!("depth {}", yaml.describe()),
                "`depth` with keep_last, or no `depth`",
            );
        }
        Qos {
            reliable: best_effort.map_or(default.reliable, |b| !b),
            transient_local: transient_local.unwrap_or(default.transient_local),
            keep_all,
            depth: depth.filter(|_| !keep_all).map_or(default.depth, |d| d as u32),
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
            let mut nodes = Vec::new();
            let mut spans = Vec::new();
            for item in items {
                if let Some(node) = self.name(item) {
                    nodes.push(node);
                    spans.push(item.span);
                }
            }
            reading.workload.chains.push(Chain { name, nodes });
            reading.chains.push((key.span, spans));
        }
    }

    fn run(&mut self, yaml: &Yaml, reading: &mut Reading) {
        let fields = self.fields(yaml, &grammar::RUN).unwrap_or_default();
        let run = &mut reading.workload.run;
        if let Some(yaml) = fields.get("duration") {
            if let Some(duration) = self.duration(yaml, MAX_RUN) {
                let expected = "a time above 0 s".into();
                run.duration = self.bounded(yaml, duration, !duration.is_zero(), expected).unwrap_or(run.duration);
            }
        }
        if let Some(repeats) = fields.get("repeats").and_then(|y| self.whole_number(y, 1, 100_000)) {
            run.repeats = repeats as u32;
        }
        if let Some(seed) = fields.get("seed").and_then(|y| self.whole_number(y, 0, u64::MAX)) {
            run.seed = seed;
        }
        run.domain = fields.get("domain").and_then(|y| self.whole_number(y, 0, 232)).map(|d| d as u32);
        run.in_node_clock = fields.get("in_node_clock").and_then(|y| self.flag(y)).unwrap_or(false);
        let Some(yaml) = fields.get("cpus").filter(|y| !y.is_null()) else { return };
        for (_, key, value) in self.entries(yaml, Form::Cpus, "node").unwrap_or_default() {
            let Some(node) = self.name(key) else { continue };
            let mut cpus: Vec<u32> = Vec::new();
            match &value.value {
                Value::List(items) if !items.is_empty() => {
                    for item in items {
                        let Some(cpu) = self.whole_number(item, 0, 1023) else { continue };
                        if cpus.contains(&(cpu as u32)) {
                            let message = "CPU stands here a second time";
                            self.report.error("duplicate", item.span, message, item.describe(), "each CPU once");
                        } else {
                            cpus.push(cpu as u32);
                        }
                    }
                }
                _ => self.wrong(value, Form::Cpus),
            }
            reading.workload.run.cpus.push((node, cpus));
            reading.cpus.push(key.span);
        }
    }
}

/// Bytes of data of a message whose size is not said: what its type holds, else 64 B.
pub(crate) fn default_size(message_type: &str) -> u64 {
    match message_type {
        "TwistStamped" => 48,
        "PointCloud1m" => 1 << 20,
        _ => 64,
    }
}
