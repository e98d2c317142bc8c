//! Reads a node: when it computes, what it takes and publishes.

use super::on::On;
use crate::diagnostic::Span;
use crate::document::{Value, Yaml};
use crate::grammar::{self, Form, Place};
use crate::model::*;
use crate::rates::mean_hz;
use crate::values::{Fields, Reader, MAX_HZ};
use std::collections::HashSet;
use std::time::Duration;

/// Longest computation of one activation.
const MAX_WORK: Duration = Duration::from_secs(3600);
/// Longest deadline.
const MAX_DEADLINE: Duration = MAX_WORK;
/// Latest recorded time at which a source sent.
const MAX_SENT_AT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Places of a node's parts.
pub(crate) struct NodePlaces {
    pub name: Span,
    pub process: Span,
    pub thread: Span,
    pub threads: Span,
    pub order: Span,
    pub host: Span,
    pub phase: Span,
    pub work: Span,
    pub task: TaskPlaces,
    pub subscribes: Vec<Span>,
    pub publishes: Vec<Span>,
    pub timers: Vec<Span>,
    /// False if its executor, a rate or its work could not be read.
    pub whole: bool,
}

/// Places of a task: of its name, and of each parameter's name and value.
#[derive(Default)]
pub(crate) struct TaskPlaces {
    pub name: Span,
    pub parameters: Vec<(Span, Span)>,
}

impl Reader<'_, '_> {
    /// Reads a plugin and its transport, which is empty if absent.
    pub(super) fn middleware(&mut self, yaml: &Yaml) -> Option<(String, String)> {
        let Value::Map(entries) = &yaml.value else {
            return Some((self.named_in(yaml, Form::Middleware)?, String::new()));
        };
        let [(plugin, transport)] = entries.as_slice() else {
            self.wrong(yaml, Form::Middleware);
            return None;
        };
        let (plugin, transport) = (self.word(plugin), self.word(transport));
        Some((plugin?, transport?))
    }

    fn order(&mut self, yaml: &Yaml) -> Option<Order> {
        let order = self.one_of(yaml, grammar::ORDERS, Form::OneOf(grammar::ORDERS))?;
        Some([Order::WaitSet, Order::Events][order])
    }

    pub(super) fn node(&mut self, name: String, key: &Yaml, yaml: &Yaml) -> (Node, NodePlaces) {
        let errors_before = self.report.errors.len();
        let fields = self.fields(yaml, &grammar::NODE).unwrap_or_default();
        let thread = fields.get("thread").and_then(|y| self.name(y));
        let mut node = Node {
            process: fields
                .get("process")
                .and_then(|y| self.name(y))
                .or_else(|| thread.clone())
                .unwrap_or_else(|| name.clone()),
            thread,
            threads: fields
                .get("threads")
                .and_then(|y| self.whole_number(y, 2, MOST_THREADS as u64))
                .map(|threads| threads as u32),
            order: fields.get("executor").and_then(|y| self.order(y)),
            python: fields.get("python").and_then(|y| self.flag(y)).unwrap_or(false),
            host: fields.get("host").and_then(|y| self.name(y)).unwrap_or_default(),
            middleware: fields.get("middleware").and_then(|y| self.middleware(y)),
            phase_percent: fields.get("phase").and_then(|y| self.percent(y)),
            name,
            ..Node::default()
        };
        let mut places = NodePlaces {
            name: key.span,
            process: fields.get("process").map_or(key.span, |y| y.span),
            thread: fields.get("thread").map_or(key.span, |y| y.span),
            threads: fields.get("threads").map_or(key.span, |y| y.span),
            order: fields.get("executor").map_or(key.span, |y| y.span),
            host: fields.get("host").map_or(key.span, |y| y.span),
            phase: fields.get("phase").map_or(key.span, |y| y.span),
            work: fields.get("work").map_or(key.span, |y| y.span),
            task: TaskPlaces::default(),
            subscribes: Vec::new(),
            publishes: Vec::new(),
            timers: Vec::new(),
            whole: true,
        };
        let mut on = On::Executor(Executor::Arrival);
        match (fields.get("on"), fields.get("spin")) {
            (Some(_), Some(_)) => self.report.error(
                "two-executors",
                fields.key_span("spin").unwrap_or(key.span),
                format!("node `{}` has both `on` and `spin`", node.name),
                "two executors",
                "one of them: on: arrival, on: timer 10 Hz, or spin: 10 Hz",
            ),
            (Some(yaml), None) => on = self.on(yaml).unwrap_or(On::Executor(Executor::Arrival)),
            (None, Some(spin)) => {
                on = On::Executor(self.frequency(spin).map_or(Executor::Arrival, |hz| Executor::Spin { hz }))
            }
            (None, None) => {}
        }
        if let On::Executor(executor) = on {
            node.executor = executor;
        }
        if let Some(work) = fields.get("work") {
            node.work = self.work(work, &mut places.task).unwrap_or(Work::None);
        }
        if let Some(sleep) = fields.get("sleep") {
            node.sleep = self.time(sleep).unwrap_or(Work::None);
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
                if let (On::First(first), Some(yaml)) = (&on, fields.get("latest")) {
                    self.latest_beside_first(yaml, latest, *first == name);
                }
                let latest = latest || matches!(&on, On::First(first) if *first != name);
                let own = self.own(&fields);
                node.subscribes.push(Subscription { topic: name, qos: self.qos(&fields, Qos::default()), latest, own });
                places.subscribes.push(topic.span);
            }
        }
        if let Some(yaml) = fields.get("timers").filter(|y| !y.is_null()) {
            for (_, key, value) in self.entries(yaml, Form::Timers, "timer").unwrap_or_default() {
                let Some(name) = self.name(key) else { continue };
                let Some(fields) = self.fields(value, &grammar::TIMER) else { continue };
                let Some(rate) = fields.get("rate") else {
                    let (message, found) = (format!("timer `{name}` without `rate`"), "no key `rate`");
                    self.report.error("missing-value", key.span, message, found, Form::Timer.expected());
                    continue;
                };
                let Some(hz) = self.frequency(rate) else { continue };
                node.timers.push(NodeTimer { name, hz, own: self.own(&fields) });
                places.timers.push(key.span);
            }
        }
        if let Some(yaml) = fields.get("publishes") {
            for (topic, value) in self.topics(yaml, Form::Publications, "publication") {
                let Some(name) = self.topic(topic) else { continue };
                let fields = value.and_then(|y| self.fields(y, &grammar::PUBLICATION)).unwrap_or_default();
                node.publishes.push(Publication { topic: name, ..self.publication(&fields) });
                places.publishes.push(topic.span);
            }
        }
        match (&on, fields.get("on")) {
            (On::First(first), Some(yaml)) if !node.subscribes.iter().any(|s| s.topic == *first) => self.report.error(
                "unknown-input",
                yaml.span,
                format!("`{}` does not subscribe to `{first}`", node.name),
                yaml.describe(),
                "`first` and one of the topics under `subscribes`",
            ),
            (On::Match { policy }, _) => node.matching = self.matching(*policy, fields.get("match")),
            (_, _) => {
                if let Some(span) = fields.key_span("match") {
                    self.report.error(
                        "match-without-on",
                        span,
                        format!("`{}` makes no sets of its inputs", node.name),
                        "`match` without `on: match`",
                        "`on: match exact`, `on: match approximate` or `on: match newest`, or no `match`",
                    );
                }
            }
        }
        places.whole = self.report.errors.len() == errors_before;
        (node, places)
    }

    /// Reads a publication's options, whatever its topic.
    pub(super) fn publication(&mut self, fields: &Fields) -> Publication {
        let message_type = fields.get("type").and_then(|y| self.word(y)).unwrap_or_default();
        let size = fields.get("size").and_then(|y| self.size(y));
        let rate_hz = fields.get("rate").and_then(|y| self.frequency(y));
        let (sent_at, times_hz) = self.sent_at(fields).unwrap_or_default();
        Publication {
            topic: String::new(),
            size_bytes: size.unwrap_or_else(|| default_size(&message_type)),
            message_type,
            rate_hz: rate_hz.or(times_hz),
            sent_at,
            from: fields.get("from").map(|y| self.causes(y)).unwrap_or_default(),
            own: self.own(fields),
            deadline: fields.get("deadline").and_then(|y| self.positive(y, MAX_DEADLINE)),
            qos: self.qos(fields, Qos::default()),
        }
    }

    /// Reads what a callback has of its own.
    fn own(&mut self, fields: &Fields) -> Own {
        let mut time = |key| fields.get(key).and_then(|y| self.time(y));
        let (work, sleep) = (time("work"), time("sleep"));
        Own { work, sleep, group: fields.get("group").and_then(|y| self.name(y)) }
    }

    /// Reads the callbacks that make a publication.
    fn causes(&mut self, yaml: &Yaml) -> Vec<Cause> {
        let mut causes: Vec<Cause> = Vec::new();
        let mut add = |reader: &mut Self, key: &Yaml, share: Option<&Yaml>| {
            let Some(name) = reader.text(key, Form::Causes).map(str::to_owned) else { return };
            if causes.iter().any(|known| known.name == name) {
                let message = "callback stands here a second time";
                reader.report.error("duplicate", key.span, message, key.describe(), "each input or timer once");
                return;
            }
            let share = share.filter(|y| !y.is_null()).and_then(|y| reader.share(y));
            causes.push(Cause { name: name.clone(), ..share.unwrap_or(Cause::always(&name)) });
        };
        match &yaml.value {
            Value::List(items) if !items.is_empty() => items.iter().for_each(|item| add(self, item, None)),
            Value::Map(entries) if !entries.is_empty() => {
                entries.iter().for_each(|(key, share)| add(self, key, Some(share)));
            }
            Value::Scalar(..) => add(self, yaml, None),
            _ => self.wrong(yaml, Form::Causes),
        }
        causes
    }

    /// Reads which activations publish, how many of them in a row, and how often each; the cause has no name yet.
    fn share(&mut self, yaml: &Yaml) -> Option<Cause> {
        let always = Cause::always("");
        if !matches!(yaml.value, Value::Map(_)) {
            return Some(Cause { share_percent: self.percent(yaml)?, ..always });
        }
        let fields = self.fields(yaml, &grammar::SHARE)?;
        let mut number = |key, most| fields.get(key).and_then(|y| self.whole_number(y, 1, most));
        let (burst, times) = (number("burst", 1_000_000), number("times", 1_000));
        let alone = |number: Option<u64>| number.map_or(Cause::alone(), |number| number as u32);
        let share_percent = match fields.get("part") {
            Some(part) => self.percent(part)?,
            None => always.share_percent,
        };
        Some(Cause { share_percent, burst: alone(burst), times: alone(times), ..always })
    }

    fn work(&mut self, yaml: &Yaml, places: &mut TaskPlaces) -> Option<Work> {
        match &yaml.value {
            Value::Map(entries) if entries.iter().any(|(key, _)| key.is(grammar::TASK)) => self.task(yaml, places),
            _ => self.drawn(yaml, Form::Work, &grammar::WORK),
        }
    }

    /// Reads work that is no task.
    fn time(&mut self, yaml: &Yaml) -> Option<Work> {
        self.drawn(yaml, Form::Time, &grammar::TIME)
    }

    fn drawn(&mut self, yaml: &Yaml, form: Form, place: &'static Place) -> Option<Work> {
        match &yaml.value {
            Value::Scalar(..) if !yaml.is_null() => {
                let time = self.quantity(yaml, form, crate::units::parse_duration)?;
                let expected = format!("a time of at most {}", crate::units::format_duration(MAX_WORK));
                self.bounded(yaml, Work::Fixed(time), time <= MAX_WORK, expected)
            }
            Value::Map(_) => {
                let fields = self.fields(yaml, place)?;
                let autocorrelation = fields.get("autocorrelation");
                match (fields.get("uniform"), fields.get("normal"), fields.get("quantiles")) {
                    (Some(range), None, None) if autocorrelation.is_none() => self.uniform(range),
                    (None, Some(normal), None) if autocorrelation.is_none() => self.normal(normal),
                    (None, None, Some(quantiles)) => self.quantiles(quantiles, autocorrelation),
                    _ => {
                        self.wrong(yaml, form);
                        None
                    }
                }
            }
            _ => {
                self.wrong(yaml, form);
                None
            }
        }
    }

    /// Reads times of which each is at least as long as the one before.
    fn times(&mut self, yaml: &Yaml, most: Duration) -> Option<Vec<Duration>> {
        let items = match &yaml.value {
            Value::List(items) if items.len() >= 2 => items,
            _ => {
                self.wrong(yaml, Form::Times);
                return None;
            }
        };
        let mut times: Vec<Duration> = Vec::with_capacity(items.len());
        for item in items {
            let time = self.duration(item, most)?;
            let least = times.last().copied().unwrap_or_default();
            let expected = format!("a time of at least {}, as the one before", crate::units::format_duration(least));
            times.push(self.bounded(item, time, time >= least, expected)?);
        }
        Some(times)
    }

    /// Reads when a source sent: times, and their number by the time after which they begin again.
    fn sent_at(&mut self, fields: &Fields) -> Option<(Vec<Duration>, Option<f64>)> {
        let Some(yaml) = fields.get("sent_at") else {
            if let Some(span) = fields.key_span("again") {
                let found = "`again` without `sent_at`";
                self.report.error("rate-beside-times", span, "nothing begins again", found, "`sent_at`, or no `again`");
            }
            return None;
        };
        if fields.get("rate").is_some() {
            let found = "`rate` and `sent_at`";
            self.report.error("rate-beside-times", yaml.span, "published by two clocks", found, "one of them");
        }
        let times = self.times(yaml, MAX_SENT_AT)?;
        let least = times.last()?.saturating_sub(*times.first()?);
        let hz = match fields.get("again") {
            None => mean_hz(&times),
            Some(yaml) => {
                let again = self.positive(yaml, MAX_SENT_AT)?;
                let expected = format!("at least {}, from the first to the last", crate::units::format_duration(least));
                Some(times.len() as f64 / self.bounded(yaml, again, again >= least, expected)?.as_secs_f64())
            }
        };
        let fits = hz.is_some_and(|hz| hz <= MAX_HZ);
        self.bounded(yaml, (times, hz), fits, "times of a mean interval of at least 1 us".into())
    }

    fn quantiles(&mut self, yaml: &Yaml, autocorrelation: Option<&Yaml>) -> Option<Work> {
        let times = self.times(yaml, MAX_WORK)?;
        let autocorrelation_percent = match autocorrelation {
            Some(of) => self.percent(of)?,
            None => 0.0,
        };
        Some(Work::Quantiles { times, autocorrelation_percent })
    }

    fn task(&mut self, yaml: &Yaml, places: &mut TaskPlaces) -> Option<Work> {
        let (mut task, mut parameters) = (None, Vec::new());
        for (key, name, value) in self.entries(yaml, Form::Work, "parameter")? {
            if key == grammar::TASK {
                places.name = value.span;
                task = self.word(value);
            } else if let (Some(key), Some(text)) = (self.name(name), self.text(value, Form::TaskParameter)) {
                places.parameters.push((name.span, value.span));
                parameters.push((key, text.to_owned()));
            }
        }
        Some(Work::Task { name: task?, parameters })
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

    /// Reads topics with their options, from a list or a map.
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

    /// Reads QoS policies. Absent ones are those of `unless_said`.
    pub(super) fn qos(&mut self, fields: &Fields, unless_said: Qos) -> Qos {
        let word = |reader: &mut Self, name, words| fields.get(name).and_then(|y| reader.second_of(y, words));
        let best_effort = word(self, "reliability", &["reliable", "best_effort"]);
        let transient_local = word(self, "durability", &["volatile", "transient_local"]);
        let keep_all = word(self, "history", &["keep_last", "keep_all"]).unwrap_or(unless_said.keep_all);
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
            reliable: best_effort.map_or(unless_said.reliable, |b| !b),
            transient_local: transient_local.unwrap_or(unless_said.transient_local),
            keep_all,
            depth: if keep_all { Qos::default().depth } else { depth.map_or(unless_said.depth, |d| d as u32) },
        }
    }
}

/// Bytes of data in a message if its size is not given: what its type holds, or 64 B.
pub(crate) fn default_size(message_type: &str) -> u64 {
    match message_type {
        "TwistStamped" => 48,
        "PointCloud1m" => 1 << 20,
        _ => 64,
    }
}
