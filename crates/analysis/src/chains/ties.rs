//! How a node ties what it publishes to what it takes: stated, annotated, or inferred from where takes and publish calls stand.
//!
//! docs/figures.md, "links", defines rules, evidence and confidence.

use crate::chains::usage::Usage;
use crate::observe::Observed;
use crate::observe::is_called;
use crate::rows::{far_apart, Rows};
use crate::tables::{CallbackKind, Link, LinkEvidence, LinkRule};
use std::collections::{HashMap, HashSet};
use tacho_workload::links::{Links, Rule};
use tacho_workload::model::Workload;

/// One input of a node and one of its outputs; no output: the end of the callback, in a node that publishes nothing.
pub(crate) type Pair = (u32, u32, Option<u32>);

/// A tie with what speaks for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tie {
    pub rule: LinkRule,
    pub evidence: LinkEvidence,
    /// See [`Link::confidence`].
    pub confidence: f64,
    pub outputs: u64,
    pub followed: u64,
}

/// What a rule is worth where it explains every output.
const SAME_CALLBACK: f64 = 0.95;
const LATEST_ON_TIMER: f64 = 0.8;
const MATCHED: f64 = 0.75;
const LATEST_BESIDE_ANOTHER_INPUT: f64 = 0.5;
/// A response has the number of the request that it answers.
const ANSWERS: f64 = 1.0;
/// Part of the outputs that a message filter must explain; the first ones may have begun before recording did.
const FILTER_EXPLAINS: f64 = 0.99;

/// Infers ties, each once.
pub(crate) struct Ties<'a> {
    seen: &'a Observed,
    usage: &'a Usage,
    workload: Option<&'a Workload>,
    stated: &'a Links,
    known: HashMap<Pair, Tie>,
    /// For each pair that is matched: the input of each output, by publication.
    matched: HashMap<Pair, HashMap<u32, u32>>,
    filters: HashMap<(u32, u32), Option<Vec<u32>>>,
}

/// A publish call of a node on a topic, inside a callback.
#[derive(Clone, Copy)]
struct Output {
    publication: u32,
    execution: u32,
    time: i64,
}

impl<'a> Ties<'a> {
    pub fn new(seen: &'a Observed, usage: &'a Usage, workload: Option<&'a Workload>, stated: &'a Links) -> Self {
        Ties { seen, usage, workload, stated, known: HashMap::new(), matched: HashMap::new(), filters: HashMap::new() }
    }

    /// How `node` ties what it publishes on `output` to what it takes on `input`.
    pub fn of(&mut self, node: u32, input: u32, output: Option<u32>) -> Tie {
        let pair = (node, input, output);
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        let tie = match output {
            Some(topic) => self.infer(node, input, topic),
            // The last node of a chain: whatever it publishes, else the end of its callback.
            None => self.last_node(node, input),
        };
        if let (LinkRule::Match, Some(topic)) = (tie.rule, output) {
            let found = self.pair_up(node, input, topic);
            self.matched.insert(pair, found);
        }
        self.known.insert(pair, tie);
        tie
    }

    /// The input that a message filter paired with an output.
    pub fn matched(&self, node: u32, input: u32, output: u32, publication: u32) -> Option<u32> {
        self.matched.get(&(node, input, Some(output)))?.get(&publication).copied()
    }

    /// Ties of these pairs, which were asked for, as rows.
    pub fn links(&self, pairs: &HashSet<Pair>) -> Vec<Link> {
        let name = |topic: u32| self.seen.topics.names[topic as usize].clone();
        // What was found to have nothing to do with each other is no link; what somebody states is.
        let told = |tie: &Tie| tie.rule != LinkRule::Unrelated || tie.evidence == LinkEvidence::Stated;
        let mut pairs: Vec<(&Pair, &Tie)> = self.known.iter().filter(|(pair, tie)| pairs.contains(pair) && told(tie)).collect();
        pairs.sort_by_key(|(pair, _)| **pair);
        let row = |(pair, tie): (&Pair, &Tie)| Link {
            node: pair.0,
            input: name(pair.1),
            output: pair.2.map(name),
            rule: tie.rule,
            evidence: tie.evidence,
            confidence: tie.confidence,
            outputs: tie.outputs,
            followed: tie.followed,
        };
        pairs.into_iter().map(row).collect()
    }

    fn infer(&mut self, node: u32, input: u32, topic: u32) -> Tie {
        let outputs = self.outputs(node, Some(topic));
        let asked = |rule, evidence, worth| self.tie(node, input, &outputs, rule, evidence, worth);
        if let Some(rule) = self.stated_rule(node, input, topic) {
            return asked(rule, LinkEvidence::Stated, 1.0);
        }
        if let Some(rule) = self.annotated(node, input, topic) {
            return asked(rule, LinkEvidence::Annotated, 1.0);
        }
        let same = self.in_same_callback(node, input, &outputs);
        // Of a call only what happens in its callbacks is told: a latest response is too seldom what a node works with.
        if self.seen.legs.is_leg(input) || self.seen.legs.is_leg(topic) {
            let worth = if self.seen.legs.answers(input, topic) { ANSWERS } else { SAME_CALLBACK };
            let rule = if same > 0 { LinkRule::SameCallback } else { LinkRule::Unrelated };
            return asked(rule, LinkEvidence::Observed, worth);
        }
        if !outputs.is_empty() && same == outputs.len() {
            return asked(LinkRule::SameCallback, LinkEvidence::Observed, SAME_CALLBACK);
        }
        if same == 0 && !outputs.is_empty() {
            if self.comes_back(node, input, &outputs) {
                return asked(LinkRule::Unrelated, LinkEvidence::Observed, SAME_CALLBACK);
            }
            let on_timer = |o: &Output| {
                let callback = self.seen.executions[o.execution as usize].callback;
                self.seen.callbacks[callback as usize].kind == CallbackKind::Timer
            };
            let timer = far_apart(outputs.iter()).all(|o| on_timer(o));
            let worth = if timer { LATEST_ON_TIMER } else { LATEST_BESIDE_ANOTHER_INPUT };
            return asked(LinkRule::Latest, LinkEvidence::Inferred, worth);
        }
        if self.polls(node, input) {
            return asked(LinkRule::Latest, LinkEvidence::Observed, SAME_CALLBACK);
        }
        if self.filter(node, topic).is_some_and(|inputs| inputs.contains(&input)) {
            return self.tie(node, input, &outputs, LinkRule::Match, LinkEvidence::Inferred, MATCHED);
        }
        self.tie(node, input, &outputs, LinkRule::SameCallback, LinkEvidence::Observed, SAME_CALLBACK)
    }

    fn last_node(&mut self, node: u32, input: u32) -> Tie {
        let outputs = self.outputs(node, None);
        if let Some(n) = self.workload_node(node) {
            if let Some(s) = n.subscribes.iter().find(|s| s.topic == self.seen.topics.names[input as usize]) {
                let rule = if s.latest && !n.publishes.is_empty() { LinkRule::Latest } else { LinkRule::SameCallback };
                return self.tie(node, input, &outputs, rule, LinkEvidence::Stated, 1.0);
            }
        }
        let same = self.in_same_callback(node, input, &outputs);
        if same == 0 && !outputs.is_empty() && !self.seen.legs.is_leg(input) {
            return self.tie(node, input, &outputs, LinkRule::Latest, LinkEvidence::Inferred, LATEST_BESIDE_ANOTHER_INPUT);
        }
        if outputs.is_empty() || same == 0 {
            // The end of the callback that took the message is its output by definition.
            let count = self.usage.takes(node, input).len() as u64;
            let (rule, evidence) = (LinkRule::SameCallback, LinkEvidence::Observed);
            return Tie { rule, evidence, confidence: 1.0, outputs: count, followed: count };
        }
        self.tie(node, input, &outputs, LinkRule::SameCallback, LinkEvidence::Observed, SAME_CALLBACK)
    }

    fn tie(&self, node: u32, input: u32, outputs: &[Output], rule: LinkRule, evidence: LinkEvidence, worth: f64) -> Tie {
        let first = self.usage.takes(node, input).first().map_or(i64::MAX, |t| self.seen.takes[*t as usize].time);
        let since = &outputs[outputs.partition_point(|o| o.time < first)..];
        let followed = match rule {
            LinkRule::SameCallback => self.in_same_callback(node, input, since),
            LinkRule::Latest | LinkRule::Match => since.len(),
            LinkRule::Unrelated => 0,
        };
        let (outputs, followed) = (since.len() as u64, followed as u64);
        let stated = matches!(evidence, LinkEvidence::Stated | LinkEvidence::Annotated);
        let confidence = match (stated, outputs) {
            (true, _) => 1.0,
            (false, 0) => 0.0,
            (false, _) => worth * followed as f64 / outputs as f64,
        };
        Tie { rule, evidence, confidence, outputs, followed }
    }

    fn workload_node(&self, node: u32) -> Option<&'a tacho_workload::model::Node> {
        let name = &self.seen.nodes[node as usize].name;
        self.workload.and_then(|w| w.nodes.iter().find(|n| is_called(name, &n.name)))
    }

    fn stated_rule(&self, node: u32, input: u32, topic: u32) -> Option<LinkRule> {
        let seen = self.seen;
        let names = &seen.topics.names;
        let here = |link: &&tacho_workload::links::StatedLink| {
            is_called(&seen.nodes[node as usize].name, &link.node)
                && link.input == names[input as usize]
                && link.output == names[topic as usize]
        };
        if let Some(link) = self.stated.links.iter().find(here) {
            return Some(match link.rule {
                Rule::SameCallback => LinkRule::SameCallback,
                Rule::Latest => LinkRule::Latest,
                Rule::Match => LinkRule::Match,
                Rule::Unrelated => LinkRule::Unrelated,
            });
        }
        let node = self.workload_node(node)?;
        let subscription = node.subscribes.iter().find(|s| s.topic == names[input as usize])?;
        let kept = subscription.latest && !node.publishes.is_empty();
        Some(if kept { LinkRule::Latest } else { LinkRule::SameCallback })
    }

    fn annotated(&self, node: u32, input: u32, topic: u32) -> Option<LinkRule> {
        let is = |endpoint: u32, topic: u32| {
            let endpoint = &self.seen.endpoints[endpoint as usize];
            (endpoint.node, endpoint.topic) == (node, topic)
        };
        let here = self.seen.annotations.iter().find(|(from, to, _)| is(*from, input) && is(*to, topic));
        here.map(|(_, _, rule)| *rule)
    }

    /// Publish calls of a node inside callbacks, in order; on any topic for `None`, what goes to and from services apart.
    fn outputs(&self, node: u32, topic: Option<u32>) -> Rows<Output> {
        let seen = self.seen;
        let mut outputs = Rows::new();
        for execution in far_apart(self.usage.publishing(node).iter()) {
            for publication in self.usage.published_in(*execution) {
                let row = &seen.publications[*publication as usize];
                let endpoint = row.endpoint.map(|e| &seen.endpoints[e as usize]);
                let asked = |t: u32| topic.map_or_else(|| !seen.legs.is_leg(t), |topic| topic == t);
                if endpoint.is_some_and(|e| e.node == node && asked(e.topic)) {
                    outputs.push(Output { publication: *publication, execution: *execution, time: row.time });
                }
            }
        }
        outputs.sorted_by(|a, b| a.time.cmp(&b.time))
    }

    fn in_same_callback(&self, node: u32, input: u32, outputs: &[Output]) -> usize {
        let took = |o: &&Output| self.usage.answered_or_taken_in(self.seen, Some(o.publication), o.execution, node, input, o.time).is_some();
        far_apart(outputs.iter()).filter(took).count()
    }

    /// Whether an input goes out with a request and most outputs are made of the response: then the way through the call is the one.
    fn comes_back(&self, node: u32, input: u32, outputs: &[Output]) -> bool {
        let back = |topic: &u32| {
            let Some(leg) = self.seen.legs.of(*topic).filter(|leg| leg.is_response) else { return false };
            let requests = self.outputs(node, Some(leg.service));
            !requests.is_empty()
                && self.in_same_callback(node, input, &requests) == requests.len()
                && self.in_same_callback(node, *topic, outputs) > outputs.len() / 2
        };
        self.usage.inputs(node).iter().any(back)
    }

    /// Whether messages are taken by a callback that something else began: a timer that looks at its queues.
    fn polls(&self, node: u32, input: u32) -> bool {
        far_apart(self.usage.takes(node, input).iter()).all(|t| {
            let take = &self.seen.takes[*t as usize];
            take.execution.is_some_and(|e| {
                let execution = &self.seen.executions[e as usize];
                let kind = self.seen.callbacks[execution.callback as usize].kind;
                kind == CallbackKind::Timer && execution.start_ns <= take.time
            })
        })
    }

    /// The inputs that a message filter (ExactTime, ApproximateTime) before this output waits for; `None`: it does not look
    /// like one. A filter publishes in the callback of whichever input completes a set, never in all, and uses each message
    /// at most once: before its k-th output every input was taken k times.
    fn filter(&mut self, node: u32, topic: u32) -> Option<Vec<u32>> {
        if let Some(known) = self.filters.get(&(node, topic)) {
            return known.clone();
        }
        let outputs = self.outputs(node, Some(topic));
        let mut inputs = self.usage.inputs(node);
        inputs.retain(|input| !self.seen.legs.is_leg(*input) && self.in_same_callback(node, *input, &outputs) > 0);
        let explained = |input: &u32| {
            let takes = self.usage.takes(node, *input);
            let enough = |(k, o): (usize, &Output)| takes.partition_point(|t| self.seen.takes[*t as usize].time <= o.time) > k;
            far_apart(outputs.iter().enumerate()).filter(|(k, o)| enough((*k, o))).count() as f64 >= FILTER_EXPLAINS * outputs.len() as f64
        };
        let found = (inputs.len() > 1 && inputs.iter().all(explained)).then_some(inputs);
        self.filters.insert((node, topic), found.clone());
        found
    }

    /// Pairs outputs with messages of one input as a filter does: the message that the callback itself took; else, of those
    /// taken since the one that was used last, the one whose publish time is nearest to that of the message which completed the set.
    fn pair_up(&self, node: u32, input: u32, topic: u32) -> HashMap<u32, u32> {
        let seen = self.seen;
        let published = |take: u32| seen.takes[take as usize].publication.map(|p| seen.publications[p as usize].time);
        let inputs = self.usage.inputs(node);
        let takes = self.usage.takes(node, input);
        let (mut next, mut found) = (0, HashMap::new());
        for output in far_apart(self.outputs(node, Some(topic)).into_iter()) {
            let own = self.usage.taken_in(seen, output.execution, node, input, output.time);
            let until = takes.partition_point(|t| seen.takes[*t as usize].time <= output.time);
            let candidates = next.min(until)..until;
            let chosen = match own {
                Some(own) => takes[candidates].iter().position(|t| *t == own).map(|p| p + next),
                None => {
                    let completing = inputs.iter().find_map(|i| self.usage.taken_in(seen, output.execution, node, *i, output.time));
                    let Some(instant) = completing.and_then(published) else { continue };
                    candidates.filter_map(|p| Some((published(takes[p])?.abs_diff(instant), p))).min().map(|(_, p)| p)
                }
            };
            if let Some(chosen) = chosen {
                found.insert(output.publication, takes[chosen]);
                next = chosen + 1;
            }
        }
        found
    }
}
