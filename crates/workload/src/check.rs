//! Checks how the parts of a workload fit together: the graph, its chains, QoS, and whether nodes can keep up.

mod boards;
mod callbacks;
mod groups;
mod hosts;
mod matching;
mod tasks;

use crate::diagnostic::{did_you_mean, Report, Span};
use crate::model::*;
use crate::rates::rates;
use crate::read::Reading;
use crate::tasks::TaskKind;
use crate::units::{format_duration, format_frequency};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// An endpoint: index of its node, index within the node.
type At = (usize, usize);

/// Checks everything that needs more than one line of the file.
/// Checks tasks only if their kinds are known.
pub(crate) fn check(reading: &Reading, tasks: Option<&[TaskKind]>, report: &mut Report) {
    let check = Check { reading, nodes: &reading.workload.nodes };
    check.topics(report);
    check.sources(report);
    check.matching(report);
    check.callbacks(report);
    check.chains(report);
    check.hosts(report);
    check.boards(report);
    check.processes(report);
    check.run_options(report);
    check.tasks(tasks, report);
    check.loops(report);
    check.work(report);
}

struct Check<'a> {
    reading: &'a Reading,
    nodes: &'a [Node],
}

impl Check<'_> {
    fn place(&self, (node, index): At, publication: bool) -> Span {
        let places = &self.reading.nodes[node];
        if publication {
            places.publishes[index]
        } else {
            places.subscribes[index]
        }
    }

    /// Checks that every topic has both ends.
    fn topics(&self, report: &mut Report) {
        let mut publishers: BTreeMap<&str, Vec<At>> = BTreeMap::new();
        let mut subscribers: BTreeMap<&str, Vec<At>> = BTreeMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            for (index, publication) in node.publishes.iter().enumerate() {
                publishers.entry(&publication.topic).or_default().push((at, index));
            }
            for (index, subscription) in node.subscribes.iter().enumerate() {
                subscribers.entry(&subscription.topic).or_default().push((at, index));
            }
        }
        // A node or topic that could not be read may be the missing end.
        if self.reading.whole {
            for (topic, ends) in subscribers.iter().filter(|(topic, _)| !publishers.contains_key(*topic)) {
                let meant = did_you_mean(topic, publishers.keys().copied());
                let hint = meant.map(|topic| format!("; did you mean `{topic}`?")).unwrap_or_default();
                for &end in ends {
                    report.error(
                        "nobody-publishes",
                        self.place(end, false),
                        format!("nobody publishes `{topic}`"),
                        format!("a subscription of `{}`", self.nodes[end.0].name),
                        format!("a node that publishes `{topic}`{hint}"),
                    );
                }
            }
            for (topic, ends) in publishers.iter().filter(|(topic, _)| !subscribers.contains_key(*topic)) {
                report.warning(
                    "nobody-subscribes",
                    self.place(ends[0], true),
                    format!("nobody subscribes to `{topic}`"),
                    format!("a publication of `{}`", self.nodes[ends[0].0].name),
                    format!("a node that subscribes to `{topic}`"),
                );
            }
        }
        for (topic, publishing) in &publishers {
            self.types(topic, publishing, report);
            for &publication in publishing {
                for &subscription in subscribers.get(topic).into_iter().flatten() {
                    self.qos(topic, publication, subscription, report);
                }
            }
        }
    }

    /// Checks that each topic has one type, as DDS demands.
    fn types(&self, topic: &str, publishing: &[At], report: &mut Report) {
        let type_of = |(node, index): At| self.nodes[node].publishes[index].message_type.as_str();
        let mut named = publishing.iter().copied().filter(|at| !type_of(*at).is_empty());
        let Some(first) = named.next() else { return };
        for other in named.filter(|at| type_of(*at) != type_of(first)) {
            report.error(
                "two-types",
                self.place(other, true),
                format!("`{topic}` has two types"),
                format!("{}, and {} from `{}`", type_of(other), type_of(first), self.nodes[first.0].name),
                "one type a topic",
            );
        }
    }

    /// DDS 1.4, 2.2.3: the offered QoS must be at least the requested one; otherwise the two never match.
    fn qos(&self, topic: &str, publication: At, subscription: At, report: &mut Report) {
        let offered = self.nodes[publication.0].publishes[publication.1].qos;
        let requested = self.nodes[subscription.0].subscribes[subscription.1].qos;
        let place = self.place(subscription, false);
        let from = format!("`{}` (line {})", self.nodes[publication.0].name, self.place(publication, true).line);
        for Unmet { policy, asked, offered } in offered.unmet(&requested) {
            report.error(
                "incompatible-qos",
                place,
                format!("QoS of this subscription never matches the publication of `{topic}` by {from}"),
                format!("{policy}: {asked} requested, {policy}: {offered} offered"),
                format!("{policy}: {offered} on the subscription, or {policy}: {asked} on the publication"),
            );
        }
    }

    /// Checks that everything that a node publishes has a cause.
    fn sources(&self, report: &mut Report) {
        for (at, node) in self.nodes.iter().enumerate() {
            if !self.reading.nodes[at].whole {
                continue;
            }
            if node.phase_percent.is_some() && node.clock_rates().next().is_none() {
                report.error(
                    "phase-without-clock",
                    self.reading.nodes[at].phase,
                    format!("no clock wakes `{}`", node.name),
                    "a phase",
                    "spin, on: timer, a timer or a publication with a rate; or no `phase`",
                );
            }
            for (index, publication) in node.publishes.iter().enumerate() {
                let place = self.place((at, index), true);
                match (node.executor, publication.rate_hz) {
                    (Executor::Timer { hz }, Some(rate)) => report.error(
                        "rate-on-timer",
                        place,
                        format!("node `{}` is driven by its timer and publishes at its rate", node.name),
                        format!("on: timer {}, and rate: {}", format_frequency(hz), format_frequency(rate)),
                        "no `rate`, or `on: arrival`",
                    ),
                    (Executor::Arrival, None) if !node.is_triggered() && publication.from.is_empty() => report.error(
                        "never-published",
                        place,
                        format!("nothing makes `{}` publish `{}`", node.name, publication.topic),
                        "neither a rate nor an input that triggers",
                        "rate: 10 Hz on the publication, an input, `from` a timer, or spin or on: timer on the node",
                    ),
                    (Executor::Spin { hz }, Some(rate)) if rate > hz => report.error(
                        "rate-above-spin",
                        place,
                        "published more often than the node wakes",
                        format!("rate: {}, spin: {}", format_frequency(rate), format_frequency(hz)),
                        format!("a rate of at most {}", format_frequency(hz)),
                    ),
                    _ => {}
                }
            }
        }
    }

    fn chains(&self, report: &mut Report) {
        for (chain, (name_span, spans)) in self.reading.workload.chains.iter().zip(&self.reading.chains) {
            if chain.nodes.len() < 2 {
                report.error(
                    "short-chain",
                    *name_span,
                    format!("chain `{}` leads nowhere", chain.name),
                    format!("{} nodes", chain.nodes.len()),
                    "at least two nodes",
                );
            }
            for (index, (name, &span)) in chain.nodes.iter().zip(spans).enumerate() {
                let Some(node) = self.known(name, span, report) else { continue };
                // A node may be passed again, as by what comes back of a request, but not on the same way.
                let from = index.checked_sub(1);
                let stays = from.filter(|from| chain.nodes[*from] == *name);
                let again = from
                    .and_then(|from| chain.nodes[..index].windows(2).position(|way| way == &chain.nodes[from..=index]));
                if let Some(first) = again.or(stays) {
                    report.error(
                        "cycle",
                        span,
                        format!("a cycle in chain `{}`", chain.name),
                        format!("{} -> {name}", chain.nodes[first..index].join(" -> ")),
                        "each way from node to node once, from a source to a sink",
                    );
                    continue;
                }
                let Some(previous) = index.checked_sub(1).and_then(|i| self.reading.workload.node(&chain.nodes[i]))
                else {
                    continue;
                };
                let topic = chain.topic(index - 1);
                let joined = topics_between(previous, node).any(|over| chain.goes_over(index - 1, over));
                if !joined && self.reading.whole {
                    let list = |topics: Vec<&str>| if topics.is_empty() { "nothing".into() } else { topics.join(", ") };
                    report.error(
                        "broken-chain",
                        span,
                        format!(
                            "{} leads from `{}` to `{name}` in chain `{}`",
                            topic.map_or("no topic".into(), |topic| format!("{topic} is no topic that")),
                            previous.name,
                            chain.name
                        ),
                        format!(
                            "`{}` publishes {}; `{name}` subscribes to {}",
                            previous.name,
                            list(previous.publishes.iter().map(|p| p.topic.as_str()).collect()),
                            list(node.subscribes.iter().map(|s| s.topic.as_str()).collect()),
                        ),
                        "neighbours that share a topic",
                    );
                }
            }
        }
    }

    fn run_options(&self, report: &mut Report) {
        let run = &self.reading.workload.run;
        let cpus = run.cpus.iter().map(|(node, _)| node).zip(&self.reading.run.cpus);
        let priority = run.priority.iter().map(|(node, _)| node).zip(&self.reading.run.priority);
        for (node, &span) in cpus.chain(priority) {
            self.known(node, span, report);
        }
    }

    fn known(&self, name: &str, span: Span, report: &mut Report) -> Option<&Node> {
        let node = self.reading.workload.node(name);
        if node.is_none() && self.reading.whole {
            let names = || self.nodes.iter().map(|node| node.name.as_str());
            let meant = did_you_mean(name, names());
            let expected = match meant {
                Some(meant) => format!("a node of this workload; did you mean `{meant}`?"),
                None => format!("one of {}", names().collect::<Vec<_>>().join(", ")),
            };
            report.error("unknown-node", span, "no such node", format!("`{name}`"), expected);
        }
        node
    }

    /// Finds nodes that trigger each other in a ring, in which the first message would circulate for ever.
    fn loops(&self, report: &mut Report) {
        // An input of the one node makes it publish what makes the other compute: pairs of inputs would be exact, and
        // a node whose inputs answer on different topics is rare.
        let mut answering: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.is_triggered()) {
            for input in node.subscribes.iter().filter(|s| !node.answers_to_input(s).is_empty()) {
                answering.entry(&input.topic).or_default().push(at);
            }
        }
        let follows = |from: &Node| {
            let answers = from.subscribes.iter().filter(|_| from.is_triggered()).flat_map(|s| from.answers_to_input(s));
            let topics = answers.map(|answer| from.publishes[answer.publication].topic.as_str());
            let all: BTreeSet<usize> = topics.flat_map(|topic| answering.get(topic)).flatten().copied().collect();
            all.into_iter().collect()
        };
        let successors: Vec<Vec<usize>> = self.nodes.iter().map(follows).collect();
        let mut told = vec![false; self.nodes.len()];
        let mut reached: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut queue: Vec<usize> = Vec::new();
        for start in 0..self.nodes.len() {
            // Breadth first from `start`; remembers for each node the one before it.
            queue.drain(..).for_each(|node| reached[node] = None);
            reached[start] = None;
            queue.push(start);
            let mut next = 0;
            while next < queue.len() && reached[start].is_none() {
                let from = queue[next];
                next += 1;
                for &to in &successors[from] {
                    if reached[to].is_none() {
                        reached[to] = Some(from);
                        queue.push(to);
                    }
                }
            }
            let Some(mut at) = reached[start] else { continue };
            let mut ring = vec![start];
            while at != start {
                ring.push(at);
                at = reached[at].unwrap_or(start);
            }
            if ring.iter().any(|node| std::mem::replace(&mut told[*node], true)) {
                continue;
            }
            ring.push(start);
            let names: Vec<_> = ring.iter().rev().map(|node| self.nodes[*node].name.as_str()).collect();
            report.warning(
                "endless-loop",
                self.reading.nodes[start].name,
                "these nodes trigger each other without end",
                names.join(" -> "),
                "`latest: true` on one of the inputs, or a rate on one of the publications",
            );
        }
    }

    /// Checks that each node can do its work in the time between its activations.
    fn work(&self, report: &mut Report) {
        if !self.reading.whole || !report.errors.is_empty() {
            return;
        }
        let rates = rates(&self.reading.workload);
        let of_nodes = rates.activations_hz.iter().zip(&rates.most_busy);
        for ((node, places), (activations, busy)) in self.nodes.iter().zip(&self.reading.nodes).zip(of_nodes) {
            // The mean over its callbacks, if they differ.
            let sustained = match (activations, busy) {
                (Some(hz), Some(busy)) if *hz > 0.0 => Duration::from_secs_f64(busy / hz),
                _ => node.load().sustained(),
            };
            let mut longer = |name, between: String, period: Duration, consequence: &str| {
                report.warning(
                    name,
                    places.work,
                    format!("work of `{}` is longer than {between}: {consequence}", node.name),
                    format!("{} of work, {} for it", format_duration(sustained), format_duration(period)),
                    format!("work of at most {}", format_duration(period)),
                );
            };
            let at_once = self.reading.workload.at_once(node);
            let period = |hz: f64| Duration::from_secs_f64(at_once as f64 / hz);
            // A part in a million absorbs the rounding of 1/hz.
            let exceeds = |hz: f64| sustained.as_secs_f64() * hz > at_once as f64 + 1e-6;
            match (node.executor, *activations) {
                (_, Some(hz)) if hz > 0.0 && exceeds(hz) => longer(
                    "work-exceeds-period",
                    match at_once {
                        1 => format!("the time between its activations ({} a second)", trim(hz)),
                        _ => format!("the time between its activations ({} a second, {at_once} at once)", trim(hz)),
                    },
                    period(hz),
                    "it falls behind",
                ),
                (Executor::Spin { hz }, _) if exceeds(hz) => longer(
                    "work-exceeds-spin",
                    format!("its spin period ({})", format_frequency(hz)),
                    period(hz),
                    "it misses wakes while it computes",
                ),
                _ => {}
            }
        }
    }
}

fn trim(hz: f64) -> String {
    let text = format!("{hz:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
