//! How a node ties what it publishes to what it takes: stated, annotated, or inferred from where takes and publish
//! calls stand.
//!
//! docs/figures-of-chains.md, "links", defines rules, evidence and confidence.

mod decide;
mod filters;
mod freed;
pub(super) mod input_of;
mod keeping;
mod stamps;
mod used;

use crate::chains::usage::Usage;
use crate::observe::{PublicationSeen, Topic};
use crate::stages::Ways;
use input_of::InputOf;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tacho_tables::in_order::in_order;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::{Callback, CallbackKind, Endpoint, Execution, Link, LinkEvidence, LinkRule, Node};
use tacho_workload::links::{Links, Rule};
use tacho_workload::model::is_called;
use tacho_workload::model::Workload;

/// One input of a node and one of its outputs; no output: the end of the callback, in a node that publishes nothing.
pub(crate) type Pair = (Row<Node>, Row<Topic>, Option<Row<Topic>>);

/// A tie with what speaks for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tie {
    pub rule: LinkRule,
    pub evidence: LinkEvidence,
    /// See [`Link::confidence`].
    pub confidence: f64,
    /// Whether the rule is worth so little that the tie is a guess.
    pub guess: bool,
    pub outputs: u64,
    pub followed: u64,
}

/// A rule that is worth less is a guess: nothing shows that the output is made of this input, or of which one.
const GUESSED_BELOW: f64 = 0.6;
/// What a rule is worth where it explains every output.
const SAME_CALLBACK: f64 = 0.95;
/// The output carries the stamp of another input: this one may have completed a set that it does not belong to.
const BESIDE_A_STAMP: f64 = 0.5;
const LATEST_ON_TIMER: f64 = 0.8;
/// Each output has a new input of this kind: whether the node empties what it keeps or not, the ties are the same.
const NEW_EACH_TIME: f64 = 0.8;
/// Each output has a new input of some kind, and this kind suffices: an older one of it may still be kept.
const NEW_OF_ANY: f64 = 0.55;
/// What it was made of was freed when it was made.
const FREED: f64 = 0.9;
const MATCHED: f64 = 0.75;
const LATEST_BESIDE_ANOTHER_INPUT: f64 = 0.5;
/// Part of the outputs that a message filter must explain; the first ones may have begun before recording did.
const FILTER_EXPLAINS: f64 = 0.99;
/// Executions without a new input that publish nothing, and outputs for which one input suffices: fewer may be chance.
const TIMES: usize = 3;
/// Part of the outputs that must have a new input: a thread may take one just before another thread begins to publish
/// without it.
const NEW: f64 = 0.99;

/// How a node of a workload ties what it publishes, on one topic or on any, to a subscription.
fn rule_of(
    node: &tacho_workload::model::Node,
    of: &tacho_workload::model::Subscription,
    output: Option<&str>,
) -> LinkRule {
    let mut outputs = node.publishes.iter().filter(|p| output == Some(p.topic.as_str()));
    // Another callback publishes it, and does not look at this input.
    let is_of_others = outputs.any(|p| !p.from.is_empty() && p.from.iter().all(|cause| cause.name != of.topic));
    match (of.latest, node.publishes.is_empty()) {
        (true, false) => LinkRule::Latest,
        (false, false) if node.matching.is_some() => LinkRule::Match,
        (false, false) if is_of_others => LinkRule::Unrelated,
        _ => LinkRule::SameCallback,
    }
}

/// Infers ties, each once.
pub(crate) struct Ties<'a> {
    seen: &'a Ways,
    usage: &'a Usage,
    workload: Option<&'a Workload>,
    stated: &'a Links,
    known: HashMap<Pair, Tie>,
    /// For each pair whose rule finds the input of each output over the whole run: takes by publication.
    inputs: HashMap<Pair, InputOf>,
    filters: HashMap<(Row<Node>, Row<Topic>), Option<Vec<Row<Topic>>>>,
    /// By node and input, what it publishes in the callbacks of this input.
    own_outputs: HashMap<(Row<Node>, Row<Topic>), Vec<Row<Topic>>>,
    /// Where nodes say what they computed on.
    used: Arc<used::Used>,
    /// Executions by callback, once they are asked for.
    executions: Arc<OnceLock<Grouped<Callback, Row<Execution>>>>,
}

/// A publish call of a node on a topic, inside a callback.
#[derive(Clone, Copy)]
struct Output {
    publication: Row<PublicationSeen>,
    execution: Row<Execution>,
    time: i64,
}

impl<'a> Ties<'a> {
    pub fn new(seen: &'a Ways, usage: &'a Usage, workload: Option<&'a Workload>, stated: &'a Links) -> Self {
        Ties {
            seen,
            usage,
            workload,
            stated,
            known: HashMap::default(),
            inputs: HashMap::default(),
            filters: HashMap::default(),
            own_outputs: HashMap::default(),
            used: Arc::new(used::Used::of(seen)),
            executions: Arc::default(),
        }
    }

    /// Those of the same run, of which nothing is inferred yet.
    fn anew(&self) -> Ties<'a> {
        Ties {
            known: HashMap::default(),
            inputs: HashMap::default(),
            filters: HashMap::default(),
            own_outputs: HashMap::default(),
            used: self.used.clone(),
            executions: self.executions.clone(),
            ..*self
        }
    }

    /// Infers the ties of all these pairs, nodes side by side: a tie depends on its own node alone.
    pub fn infer_all(&mut self, pairs: impl Iterator<Item = Pair>) {
        let mut of_nodes: BTreeMap<Row<Node>, Vec<Pair>> = BTreeMap::new();
        pairs.for_each(|pair| of_nodes.entry(pair.0).or_default().push(pair));
        let mut inferred: Vec<Ties<'a>> = Vec::new();
        let alone = |pairs: Vec<Pair>| {
            let mut ties = self.anew();
            for (node, input, output) in pairs {
                ties.of(node, input, output);
            }
            ties
        };
        // The node with most to look at first: else all would wait for it at the end.
        let mut of_nodes: Vec<Vec<Pair>> = of_nodes.into_values().collect();
        let work = |pairs: &Vec<Pair>| pairs.len() * self.usage.publishing(pairs[0].0).len();
        of_nodes.sort_by_cached_key(|pairs| std::cmp::Reverse(work(pairs)));
        in_order(of_nodes.into_iter(), alone, |ties| inferred.push(ties));
        for Ties { known, inputs, filters, own_outputs, .. } in inferred {
            self.known.extend(known);
            self.inputs.extend(inputs);
            self.filters.extend(filters);
            self.own_outputs.extend(own_outputs);
        }
    }

    /// How `node` ties what it publishes on `output` to what it takes on `input`.
    pub fn of(&mut self, node: Row<Node>, input: Row<Topic>, output: Option<Row<Topic>>) -> Tie {
        let pair = (node, input, output);
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        let tie = match output {
            Some(topic) => self.infer(node, input, topic),
            // The last node of a chain: whatever it publishes, else the end of its callback.
            None => self.last_node(node, input),
        };
        let found = match (tie.rule, output) {
            (LinkRule::HeaderStamp, _) => Some(self.by_stamp(node, input, &self.outputs(node, output))),
            (LinkRule::LatestOnce, _) => Some(self.each_once(node, input, &self.outputs(node, output))),
            (LinkRule::Match, _) if self.used.says(node) => {
                Some(self.as_used(node, input, &self.outputs(node, output)))
            }
            (LinkRule::Match, Some(topic)) => Some(self.pair_up(node, input, topic)),
            _ => None,
        };
        self.inputs.extend(found.map(|found| (pair, found)));
        self.known.insert(pair, tie);
        tie
    }

    /// Of a path that ends with the callback itself which takes an input, or with one of these. A timer uses what was
    /// taken last.
    pub fn of_callback(&self, node: Row<Node>, input: Row<Topic>, by: &[Row<Callback>]) -> Tie {
        if self.takes_messages(by) {
            let count = self.usage.takes(node, input).len() as u64;
            let (rule, evidence) = (LinkRule::SameCallback, LinkEvidence::Observed);
            return Tie { rule, evidence, confidence: 1.0, guess: false, outputs: count, followed: count };
        }
        let count = by.iter().map(|callback| self.executions_of(*callback).len() as u64).sum();
        let (rule, evidence) = (LinkRule::Latest, LinkEvidence::Inferred);
        Tie { rule, evidence, confidence: LATEST_ON_TIMER, guess: false, outputs: count, followed: count }
    }

    /// Whether callbacks are those of messages, or any.
    pub fn takes_messages(&self, by: &[Row<Callback>]) -> bool {
        by.iter().all(|callback| self.seen.callbacks[*callback].kind == CallbackKind::Subscription)
    }

    /// The input of each output, if the rule of a pair finds it over the whole run.
    pub fn inputs_of(&self, pair: Pair) -> Option<&InputOf> {
        self.inputs.get(&pair)
    }

    /// Ties of these pairs, which were asked for, as rows.
    pub fn links(&self, pairs: &HashSet<Pair>) -> Vec<Link> {
        let name = |topic: Row<Topic>| self.seen.topics.names[topic].clone();
        // What was found to have nothing to do with each other is no link; what somebody states is.
        let told = |tie: &Tie| tie.rule != LinkRule::Unrelated || tie.evidence == LinkEvidence::Stated;
        let mut pairs: Vec<(&Pair, &Tie)> =
            self.known.iter().filter(|(pair, tie)| pairs.contains(pair) && told(tie)).collect();
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
            guess: Some(tie.guess),
        };
        pairs.into_iter().map(row).collect()
    }

    fn tie(
        &self,
        node: Row<Node>,
        input: Row<Topic>,
        outputs: &[Output],
        rule: LinkRule,
        evidence: LinkEvidence,
        worth: f64,
    ) -> Tie {
        let first = self.usage.takes(node, input).first().map_or(i64::MAX, |t| self.seen.takes[*t].time);
        let since = &outputs[outputs.partition_point(|o| o.time < first)..];
        let followed = match rule {
            LinkRule::SameCallback => self.in_same_callback(node, input, since),
            LinkRule::HeaderStamp => self.by_stamp(node, input, since).len(),
            LinkRule::LatestOnce => self.each_once(node, input, since).len(),
            LinkRule::Latest | LinkRule::Match => since.len(),
            LinkRule::Unrelated => 0,
        };
        let (outputs, followed) = (since.len() as u64, followed as u64);
        let stated = matches!(evidence, LinkEvidence::Stated | LinkEvidence::Annotated);
        let confidence = match (stated, outputs) {
            (true, _) => 1.0,
            (false, 0) => 0.0,
            // It explains an output without an input, too.
            (false, _) if rule == LinkRule::LatestOnce => worth,
            (false, _) => worth * followed as f64 / outputs as f64,
        };
        Tie { rule, evidence, confidence, guess: !stated && worth < GUESSED_BELOW, outputs, followed }
    }

    fn workload_node(&self, node: Row<Node>) -> Option<&'a tacho_workload::model::Node> {
        let name = &self.seen.nodes[node].name;
        self.workload.and_then(|w| w.nodes.iter().find(|n| is_called(name, &n.name)))
    }

    fn stated_rule(&self, node: Row<Node>, input: Row<Topic>, topic: Row<Topic>) -> Option<LinkRule> {
        let seen = self.seen;
        let names = &seen.topics.names;
        let here = |link: &&tacho_workload::links::StatedLink| {
            is_called(&seen.nodes[node].name, &link.node) && link.input == names[input] && link.output == names[topic]
        };
        if let Some(link) = self.stated.links.iter().find(here) {
            return Some(match link.rule {
                Rule::HeaderStamp => LinkRule::HeaderStamp,
                Rule::SameCallback => LinkRule::SameCallback,
                Rule::Latest => LinkRule::Latest,
                Rule::LatestOnce => LinkRule::LatestOnce,
                Rule::Match => LinkRule::Match,
                Rule::Unrelated => LinkRule::Unrelated,
            });
        }
        let node = self.workload_node(node)?;
        let subscription = node.subscribes.iter().find(|s| s.topic == names[input])?;
        Some(rule_of(node, subscription, Some(&names[topic])))
    }

    fn annotated(&self, node: Row<Node>, input: Row<Topic>, topic: Row<Topic>) -> Option<LinkRule> {
        let is = |endpoint: Row<Endpoint>, topic: Row<Topic>| {
            let endpoint = &self.seen.endpoints[endpoint];
            (endpoint.node, endpoint.topic) == (node, topic)
        };
        let here = self.seen.annotations.iter().find(|(from, to, _)| is(*from, input) && is(*to, topic));
        here.map(|(_, _, rule)| *rule)
    }

    /// Publish calls of a node inside callbacks, in order; on any topic for `None`, what goes to and from services
    /// apart.
    fn outputs(&self, node: Row<Node>, topic: Option<Row<Topic>>) -> Rows<Output> {
        let seen = self.seen;
        let mut outputs = Rows::new();
        for execution in self.usage.publishing(node).iter() {
            for publication in self.usage.published_in(*execution) {
                let row = &seen.publications[*publication];
                let endpoint = row.endpoint.map(|e| &seen.endpoints[e]);
                let asked = |t: Row<Topic>| topic.map_or_else(|| !seen.legs.is_leg(t), |topic| topic == t);
                if endpoint.is_some_and(|e| e.node == node && asked(e.topic)) {
                    outputs.push(Output { publication: *publication, execution: *execution, time: row.time });
                }
            }
        }
        outputs.sorted_by(|a, b| a.time.cmp(&b.time))
    }

    fn in_same_callback(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> usize {
        let took = |o: &&Output| {
            self.usage.answered_or_taken_in(self.seen, Some(o.publication), o.execution, node, input, o.time).is_some()
        };
        outputs.iter().filter(took).count()
    }
}
