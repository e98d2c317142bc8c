//! A node with its callbacks.

use super::messages::qos;
use super::sources::clock;
use super::timers::Timer;
use super::Maker;
use crate::seen::{is_of_library, CallbackSeen, Sent};
use crate::work;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tacho_tables::row::{numbered, Row};
use tacho_tables::{CallbackKind, EndpointKind, Link, LinkRule};
use tacho_workload::model::*;

/// Bursts are stated if they are so many times as long as if publishing executions were evenly spread.
const BURSTS_FROM: f64 = 1.5;
/// Fewer bursts are no habit: a node that publishes from when somebody listens makes one.
const LEAST_BURSTS: u64 = 3;

pub(super) type Callbacks<'a> = Vec<(Row<tacho_tables::Callback>, &'a tacho_tables::Callback)>;
type Endpoints<'a> = Vec<(Row<tacho_tables::Endpoint>, &'a tacho_tables::Endpoint)>;

/// Callbacks that publish a topic: the input or timer in the twin, publications, executions.
type Causes = BTreeMap<String, Vec<(String, Sent, u64)>>;

impl<'a> Maker<'a> {
    /// Adds a node to the twin, if it takes, publishes or has a timer.
    pub(super) fn node(&mut self, row: Row<tacho_tables::Node>) {
        let tables = self.tables;
        let recorded = tables.nodes[row].name.clone();
        let callbacks: Callbacks = numbered(&tables.callbacks).filter(|(_, of)| of.node == Some(row)).collect();
        let (inputs, outputs) =
            (self.endpoints(row, EndpointKind::Subscription), self.endpoints(row, EndpointKind::Publisher));
        let has_timers = callbacks.iter().any(|(row, of)| of.kind == CallbackKind::Timer && self.runs(*row) > 0);
        if inputs.is_empty() && outputs.is_empty() && !has_timers {
            return;
        }
        let name = self.names.node(&recorded);
        let known = self.known_node(&recorded).cloned();
        let mut remarks: Vec<String> = self.ties(row);
        self.others(&callbacks);
        if let Some(known) = known.clone().filter(|k| k.executor != Executor::Arrival || k.matching.is_some()) {
            self.as_it_ran(row, name, known, remarks);
            return;
        }
        let mut node = Node { process: name.clone(), name, ..Node::default() };
        if let Some(known) = &known {
            (node.host, node.middleware) = (known.host.clone(), known.middleware.clone());
        }
        let timers = self.timers(row, &callbacks, &mut remarks);
        let phase = self.phase(timers.iter().map(|timer| (timer.row, timer.hz)));
        self.phases.extend(phase.map(|phase| (node.name.clone(), phase)));
        let causes = self.causes(&callbacks, &inputs, &timers);
        let matched = self.matched(row, &inputs, &outputs, &timers, &causes);
        let held = self.held(row);
        for (endpoint, input) in &inputs {
            let topic = self.names.topic(&input.topic);
            let took = self.took(&callbacks, *endpoint, input);
            let of = took.map(|(_, of)| of);
            let publishes = of.is_some_and(|of| !of.topics.is_empty());
            let (is_held, is_matched) = (held.contains(&input.topic), matched.contains(&input.topic));
            if publishes && is_held && !is_matched {
                remarks
                    .push(format!("{topic} is also kept for the output of another callback, which is not expressed."));
            }
            remarks.extend(of.and_then(|of| self.doubts(&topic, of)));
            let known = known.as_ref().and_then(|k| k.subscribes.iter().find(|s| s.topic == input.topic));
            node.subscribes.push(Subscription {
                topic,
                qos: known.map_or_else(|| qos(input), |known| known.qos),
                latest: !is_matched && !publishes && is_held && !outputs.is_empty(),
                own: Own {
                    group: took.and_then(|(row, _)| self.group(row)),
                    ..of.filter(|_| !is_matched).map(own).unwrap_or_default()
                },
            });
        }
        if !matched.is_empty() {
            node.matching = Some(Matching { policy: Policy::Newest, ..Matching::default() });
            let of = inputs.iter().filter(|(_, input)| matched.contains(&input.topic));
            let of = of.filter_map(|(row, input)| self.took(&callbacks, *row, input).map(|(_, of)| of));
            let published = CallbackSeen::together(of, |of, index| of.published[index]);
            (node.work, node.sleep) = (work::of(published.work_ns), work::sleep(published.off_ns));
            let text = "Work is that of callbacks which published; those that only kept a message are left out.";
            remarks.push(text.into());
        }
        let mut rated: BTreeSet<&str> = BTreeSet::new();
        for (endpoint, output) in &outputs {
            let known = known.as_ref().and_then(|k| k.publishes.iter().find(|p| p.topic == output.topic));
            let of = causes.get(&output.topic).map_or(&[][..], Vec::as_slice);
            let timer = timers.iter().find(|timer| timer.alone_publishes(of));
            rated.extend(timer.map(|timer| timer.name.as_str()));
            let Some(mut publication) = self.publication(*endpoint, of, timer, !matched.is_empty(), &mut remarks)
            else {
                continue;
            };
            publication.qos = known.map_or_else(|| qos(output), |known| known.qos);
            if let Some(known) = known {
                (publication.size_bytes, publication.deadline) = (known.size_bytes, known.deadline);
                publication.message_type = known.message_type.clone();
                if !known.sent_at.is_empty() {
                    (publication.rate_hz, publication.sent_at) = (known.rate_hz, known.sent_at.clone());
                }
            }
            self.published.insert(output.topic.clone());
            node.publishes.push(publication);
        }
        for timer in timers.iter().filter(|timer| !rated.contains(timer.name.as_str())) {
            let of = self.seen.callbacks.get(&timer.row);
            remarks.extend(of.and_then(|of| self.doubts(&timer.name, of)));
            let own = Own { group: self.group(timer.row), ..of.map(own).unwrap_or_default() };
            node.timers.push(NodeTimer { name: timer.name.clone(), hz: timer.hz, own });
        }
        simplify(&mut node);
        node.python = self.known.is_none() && callbacks.iter().any(|(_, of)| of.is_python());
        self.nodes.push((node, remarks));
    }

    /// Its endpoints of a kind, one a topic.
    fn endpoints(&self, node: Row<tacho_tables::Node>, kind: EndpointKind) -> Endpoints<'a> {
        let of = numbered(self.endpoints).filter(|(_, e)| e.node == node && e.kind == kind);
        let mut seen = BTreeSet::new();
        of.filter(|(_, e)| !is_of_library(&e.topic) && seen.insert(e.topic.as_str())).collect()
    }

    /// What takes the messages of a subscription, and its callback.
    fn took(
        &self,
        callbacks: &Callbacks,
        row: Row<tacho_tables::Endpoint>,
        input: &tacho_tables::Endpoint,
    ) -> Option<(Row<tacho_tables::Callback>, &CallbackSeen)> {
        if let Some((callback, of)) = self.seen.handlers.get(&row) {
            return Some((*callback, of));
        }
        let is_of = |of: &tacho_tables::Callback| {
            of.kind == CallbackKind::Subscription && of.topic.as_deref() == Some(input.topic.as_str())
        };
        let (callback, _) = callbacks.iter().find(|(_, of)| is_of(of))?;
        Some((*callback, self.seen.callbacks.get(callback)?))
    }

    /// Which callbacks publish each topic.
    fn causes(&mut self, callbacks: &Callbacks, inputs: &Endpoints, timers: &[Timer]) -> Causes {
        let mut causes = Causes::new();
        for (row, input) in inputs {
            let Some((runs, topics)) = self.took(callbacks, *row, input).map(|(_, of)| (of.runs, of.topics.clone()))
            else {
                continue;
            };
            for (topic, sent) in &topics {
                causes.entry(topic.clone()).or_default().push((self.names.topic(&input.topic), *sent, runs));
            }
        }
        for timer in timers {
            for (topic, sent) in &timer.topics {
                causes.entry(topic.clone()).or_default().push((timer.name.clone(), *sent, timer.runs));
            }
        }
        causes
    }

    /// The inputs of which each output takes the newest message; none if the node also publishes for other reasons.
    fn matched(
        &self,
        row: Row<tacho_tables::Node>,
        inputs: &Endpoints,
        outputs: &Endpoints,
        timers: &[Timer],
        causes: &Causes,
    ) -> Vec<String> {
        let of_match = |l: &&Link| l.node == row && l.rule == LinkRule::Match;
        let links: Vec<&Link> = self.tables.links.iter().filter(of_match).collect();
        let is_matched = |input: &str| {
            let is_output = |topic: &str| outputs.iter().any(|(_, output)| output.topic == topic);
            links.iter().any(|l| l.input == input && l.output.as_deref().is_some_and(is_output))
        };
        let topics = inputs.iter().map(|(_, input)| input.topic.clone());
        let matched: Vec<String> = topics.filter(|topic| is_matched(topic)).collect();
        let by_inputs = causes.values().flatten().all(|(name, ..)| name.starts_with('/'));
        if matched.len() > 1 && timers.is_empty() && by_inputs {
            matched
        } else {
            Vec::new()
        }
    }

    /// The inputs whose messages an output of another callback uses.
    fn held(&self, node: Row<tacho_tables::Node>) -> BTreeSet<String> {
        let is_held = |l: &&Link| {
            let holds = matches!(l.rule, LinkRule::Latest | LinkRule::LatestOnce | LinkRule::Match);
            // At the end of a chain: whatever the node publishes, if it publishes at all.
            l.node == node && holds && (l.output.is_some() || l.followed > 0)
        };
        self.tables.links.iter().filter(is_held).map(|l| l.input.clone()).collect()
    }

    /// What it publishes on a topic, and why; none if it never did.
    fn publication(
        &mut self,
        endpoint: Row<tacho_tables::Endpoint>,
        causes: &[(String, Sent, u64)],
        timer: Option<&Timer>,
        matches: bool,
        remarks: &mut Vec<String>,
    ) -> Option<Publication> {
        let recorded = &self.endpoints[endpoint.index()].topic;
        let topic = self.names.topic(recorded);
        let (mut publication, about) = self.messages.publication(recorded, topic.clone());
        remarks.extend(about.filter(|_| self.known.is_none()));
        match (causes, timer) {
            (_, Some(timer)) => {
                let of = self.seen.callbacks.get(&timer.row);
                publication.rate_hz = Some(timer.hz);
                publication.own = Own { group: self.group(timer.row), ..of.map(own).unwrap_or_default() };
                remarks.extend(of.and_then(|of| self.doubts(&topic, of)));
            }
            ([], None) => {
                publication.own = Own { work: Some(Work::Fixed(Duration::ZERO)), ..Own::default() };
                let count = self.endpoints[endpoint.index()].count;
                let times = self.seen.outside.get(&endpoint).map_or(&[][..], Vec::as_slice);
                if !self.send_as(times, count, &mut publication) {
                    remarks.push(format!("{topic} was never published, and is left out."));
                    return None;
                }
                let clock = clock(&publication);
                remarks
                    .push(format!("No callback was seen to publish {topic}: a timer of {clock} stands for what did."));
            }
            _ if matches => {}
            (of, None) => {
                for (name, sent, runs) in of {
                    let (share_percent, burst) = (share(sent.runs, *runs), burst(sent, *runs));
                    let measured = sent.calls as f64 / sent.runs.max(1) as f64;
                    let times = (measured.round() as u32).clamp(1, 1_000);
                    publication.from.push(Cause { name: name.clone(), share_percent, burst, times });
                    if (measured / f64::from(times) - 1.0).abs() > 0.05 {
                        let often = if times == 1 { "once".into() } else { format!("{times} times") };
                        remarks.push(format!(
                            "{name} published {topic} {measured:.1} times on the average when it did, here {often}."
                        ));
                    }
                }
            }
        }
        Some(publication)
    }

    /// A node whose executor the events do not show: as its workload says, with the work that was measured.
    fn as_it_ran(&mut self, row: Row<tacho_tables::Node>, name: String, known: Node, mut remarks: Vec<String>) {
        let of_node = numbered(&self.tables.callbacks).filter(|(_, of)| of.node == Some(row)).map(|(row, _)| row);
        let of_node = of_node.filter_map(|row| self.seen.callbacks.get(&row));
        let all = CallbackSeen::together(of_node, |of, index| known.publishes.is_empty() || of.published[index]);
        remarks.push("Executor and rates are those of the workload that ran; work is as measured.".into());
        remarks.extend(self.doubts("work", &all));
        let mut node = Node { process: name.clone(), name, thread: None, ..known };
        (node.work, node.sleep) = (work::of(all.work_ns), work::sleep(all.off_ns));
        self.published.extend(node.publishes.iter().map(|p| p.topic.clone()));
        for s in &mut node.subscribes {
            s.topic = self.names.topic(&s.topic);
        }
        for p in &mut node.publishes {
            p.topic = self.names.topic(&p.topic);
        }
        if let Some(matching) = &mut node.matching {
            matching.lower_bounds.iter_mut().for_each(|(topic, _)| *topic = self.names.topic(topic));
        }
        self.nodes.push((node, remarks));
    }

    /// What made what, with how sure that is.
    fn ties(&mut self, row: Row<tacho_tables::Node>) -> Vec<String> {
        let tables = self.tables;
        let links = tables.links.iter().filter(|link| link.node == row);
        let mut told = BTreeSet::new();
        let mut remarks = Vec::new();
        for link in links {
            let Some(output) = &link.output else { continue };
            if link.rule == LinkRule::Unrelated || !told.insert((link.input.clone(), output.clone())) {
                continue;
            }
            remarks.push(format!(
                "{} -> {}: {}, {}, confidence {:.2}, {} of {} outputs.",
                self.names.topic(&link.input),
                self.names.topic(output),
                link.rule.word(),
                link.evidence.word(),
                link.confidence,
                link.followed,
                link.outputs
            ));
        }
        remarks
    }

    /// Counts callbacks of a node that a workload does not have.
    fn others(&mut self, callbacks: &Callbacks) {
        for (row, callback) in callbacks {
            let Some(of) = self.seen.callbacks.get(row) else { continue };
            let is_of_library =
                callback.kind == CallbackKind::Subscription && callback.topic.as_deref().is_some_and(is_of_library);
            if matches!(callback.kind, CallbackKind::Subscription | CallbackKind::Timer) && !is_of_library {
                continue;
            }
            let kind = if is_of_library { "client library" } else { callback.kind.word() };
            let (runs, ns) = self.others.entry(kind).or_default();
            (*runs, *ns) = (*runs + of.runs, *ns + of.work_ns.iter().sum::<i64>());
        }
    }

    /// Why the work of a callback may be other than what the twin says.
    fn doubts(&self, name: &str, of: &CallbackSeen) -> Option<String> {
        if of.is_wall {
            let text = format!("{name}: CPU time was not recorded, so work is wall time, with waits for a CPU.");
            return (!self.seen.is_wall).then_some(text);
        }
        let mean = |times: &[i64]| times.iter().sum::<i64>() as f64 / times.len().max(1) as f64;
        let (work_ns, off_ns) = (mean(&of.work_ns), mean(&of.off_ns));
        if of.has_waits_for_interpreter {
            return Some(format!(
                "{name}: another callback in Python ran beside nearly all of its executions, so their sleep may have \
                 waits for the interpreter, which come on top here."
            ));
        }
        let waits = work::sleep(of.off_ns.clone()).is_none() && off_ns > 0.05 * (work_ns + off_ns) && off_ns > 50_000.0;
        let off_ms = off_ns / 1e6;
        waits.then(|| {
            format!("{name}: off the CPU for {off_ms:.2} ms on the average, which is no steady sleep and is left out.")
        })
    }
}

/// What a callback does by itself.
fn own(of: &CallbackSeen) -> Own {
    let written = |work: Work| if work.is_none() { Work::Fixed(Duration::ZERO) } else { work };
    let sleep = work::sleep(of.off_ns.clone());
    let work = Some(written(work::of(of.work_ns.clone())));
    Own { work, sleep: (!sleep.is_none()).then_some(sleep), group: None }
}

/// Moves the load of an only callback to its node.
fn simplify(node: &mut Node) {
    let (subscriptions, publications) =
        (node.subscribes.iter_mut().map(|s| (s.latest, &mut s.own)), node.publishes.iter_mut());
    let rated = publications.filter(|p| p.rate_hz.is_some()).map(|p| (false, &mut p.own));
    let timers = node.timers.iter_mut().map(|timer| (false, &mut timer.own));
    let mut all: Vec<(bool, &mut Own)> = subscriptions.chain(rated).chain(timers).collect();
    let zero = Some(Work::Fixed(Duration::ZERO));
    match all.as_mut_slice() {
        [(false, own)] if node.matching.is_none() => {
            let Own { work, sleep, .. } = std::mem::take(*own);
            node.work = work.filter(|_| true).unwrap_or_default();
            node.sleep = sleep.unwrap_or_default();
            if Some(&node.work) == zero.as_ref() {
                node.work = Work::None;
            }
        }
        // What is none by default need not be written.
        all => {
            for (_, own) in all.iter_mut().filter(|(_, own)| own.work == zero) {
                own.work = None;
            }
        }
    }
    // A publication of the only triggering input needs no cause.
    let inputs: Vec<&String> = node.subscribes.iter().filter(|s| !s.latest).map(|s| &s.topic).collect();
    if let [input] = inputs.as_slice() {
        let is_it = |cause: &Cause| *cause == Cause::always(input);
        let is_plain = |p: &Publication| matches!(p.from.as_slice(), [only] if is_it(only));
        node.publishes.iter_mut().filter(|p| is_plain(p)).for_each(|p| p.from.clear());
    }
}

/// Part of the activations that publish, percent; one more or less is where the window cuts.
pub(super) fn share(count: u64, runs: u64) -> f64 {
    if count + 1 >= runs {
        100.0
    } else {
        (count as f64 / runs as f64 * 1000.0).round() / 10.0
    }
}

/// How many executions in a row publish on average, if that is many more than if they were evenly spread.
fn burst(sent: &Sent, runs: u64) -> u32 {
    let (published, all) = (sent.runs as f64, runs as f64);
    let evenly = (published / (all - published).max(1.0)).max(1.0);
    let found = published / sent.bursts.max(1) as f64;
    if share(sent.runs, runs) < 100.0 && sent.bursts >= LEAST_BURSTS && found >= BURSTS_FROM * evenly {
        (found.round() as u32).clamp(1, 1_000_000)
    } else {
        Cause::alone()
    }
}

/// To a millionth of a Hz, which a period of a second is off by a microsecond for.
pub(super) fn rounded_hz(hz: f64) -> f64 {
    ((hz * 1e6).round() / 1e6).clamp(0.001, 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_found_that_are_longer_than_those_of_an_even_spread() {
        let found = |publishes: &dyn Fn(u64) -> bool| {
            let mut sent = Sent::default();
            (1..=1_000).filter(|run| publishes(*run)).for_each(|run| sent.add(run));
            (sent.calls, burst(&sent, 1_000))
        };
        assert_eq!(found(&|run| run % 300 < 70 && run >= 300), (210, 70));
        assert_eq!(found(&|run| run > 300), (700, 1), "it once began");
        assert_eq!(found(&|run| (run - 1) % 100 < 20), (200, 20));
        assert_eq!(found(&|run| run % 10 == 3), (100, 1));
        assert_eq!(found(&|run| run % 10 != 3), (900, 1));
        assert_eq!(found(&|_| true), (1_000, 1));
        let mut twice = Sent::default();
        [1, 1, 5, 5, 9, 9].into_iter().for_each(|run| twice.add(run));
        assert_eq!((twice.calls, twice.runs, twice.bursts), (6, 3, 3));
    }
}
