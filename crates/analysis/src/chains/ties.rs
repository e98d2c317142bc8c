//! How a node ties what it publishes to what it takes: stated, annotated, or inferred from where takes and publish
//! calls stand.
//!
//! docs/figures.md, "links", defines rules, evidence and confidence.

mod stamps;

use crate::chains::usage::Usage;
use crate::observe::{PublicationSeen, TakeSeen, Topic};
use crate::stages::Ways;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::{far_apart, Rows};
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
    pub outputs: u64,
    pub followed: u64,
}

/// What a rule is worth where it explains every output.
const HANDED_ON: f64 = 1.0;
const SAME_CALLBACK: f64 = 0.95;
/// The output carries the stamp of another input: this one may have completed a set that it does not belong to.
const BESIDE_A_STAMP: f64 = 0.5;
const LATEST_ON_TIMER: f64 = 0.8;
/// Each output has a new input of this kind: whether the node empties what it keeps or not, the ties are the same.
const NEW_EACH_TIME: f64 = 0.8;
/// Each output has a new input of some kind, and this kind suffices: an older one of it may still be kept.
const NEW_OF_ANY: f64 = 0.55;
const MATCHED: f64 = 0.75;
const LATEST_BESIDE_ANOTHER_INPUT: f64 = 0.5;
/// A response has the number of the request that it answers.
const ANSWERS: f64 = 1.0;
/// Part of the outputs that a message filter must explain; the first ones may have begun before recording did.
const FILTER_EXPLAINS: f64 = 0.99;
/// Executions without a new input that publish nothing, and outputs for which one input suffices: fewer may be chance.
const TIMES: usize = 3;
/// Part of the outputs that must have a new input: a thread may take one just before another thread begins to publish
/// without it.
const NEW: f64 = 0.99;

/// Infers ties, each once.
pub(crate) struct Ties<'a> {
    seen: &'a Ways,
    usage: &'a Usage,
    workload: Option<&'a Workload>,
    stated: &'a Links,
    known: HashMap<Pair, Tie>,
    /// For each pair whose rule finds the input of each output over the whole run: takes by publication.
    inputs: HashMap<Pair, HashMap<Row<PublicationSeen>, Row<TakeSeen>>>,
    filters: HashMap<(Row<Node>, Row<Topic>), Option<Vec<Row<Topic>>>>,
    /// Executions by callback, once they are asked for.
    executions: OnceLock<Grouped<Callback, Row<Execution>>>,
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
            known: HashMap::new(),
            inputs: HashMap::new(),
            filters: HashMap::new(),
            executions: OnceLock::new(),
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
            (LinkRule::Match, Some(topic)) => Some(self.pair_up(node, input, topic)),
            _ => None,
        };
        self.inputs.extend(found.map(|found| (pair, found)));
        self.known.insert(pair, tie);
        tie
    }

    /// The input of a publication, by a rule that finds it over the whole run.
    pub fn input_of(&self, pair: Pair, publication: Row<PublicationSeen>) -> Option<Row<TakeSeen>> {
        self.inputs.get(&pair)?.get(&publication).copied()
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
        };
        pairs.into_iter().map(row).collect()
    }

    fn infer(&mut self, node: Row<Node>, input: Row<Topic>, topic: Row<Topic>) -> Tie {
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
        if self.hands_on_stamps(node, input, &outputs) {
            return asked(LinkRule::HeaderStamp, LinkEvidence::Observed, HANDED_ON);
        }
        if !outputs.is_empty() && same == outputs.len() {
            let worth = if self.stamped_by_another(node, input, &outputs) { BESIDE_A_STAMP } else { SAME_CALLBACK };
            return asked(LinkRule::SameCallback, LinkEvidence::Observed, worth);
        }
        if same == 0 && !outputs.is_empty() {
            if self.comes_back(node, input, &outputs) {
                return asked(LinkRule::Unrelated, LinkEvidence::Observed, SAME_CALLBACK);
            }
            let on_timer = |o: &Output| {
                let callback = self.seen.executions[o.execution].callback;
                self.seen.callbacks[callback].kind == CallbackKind::Timer
            };
            let timer = far_apart(outputs.iter()).all(on_timer);
            if let Some(worth) = timer.then(|| self.empties(node, input, &outputs)).flatten() {
                return asked(LinkRule::LatestOnce, LinkEvidence::Inferred, worth);
            }
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

    fn last_node(&mut self, node: Row<Node>, input: Row<Topic>) -> Tie {
        let outputs = self.outputs(node, None);
        if let Some(n) = self.workload_node(node) {
            if let Some(s) = n.subscribes.iter().find(|s| s.topic == self.seen.topics.names[input]) {
                let rule = if s.latest && !n.publishes.is_empty() { LinkRule::Latest } else { LinkRule::SameCallback };
                return self.tie(node, input, &outputs, rule, LinkEvidence::Stated, 1.0);
            }
        }
        if self.hands_on_stamps(node, input, &outputs) {
            return self.tie(node, input, &outputs, LinkRule::HeaderStamp, LinkEvidence::Observed, HANDED_ON);
        }
        let same = self.in_same_callback(node, input, &outputs);
        if same == 0 && !outputs.is_empty() && !self.seen.legs.is_leg(input) {
            return self.tie(
                node,
                input,
                &outputs,
                LinkRule::Latest,
                LinkEvidence::Inferred,
                LATEST_BESIDE_ANOTHER_INPUT,
            );
        }
        if outputs.is_empty() || same == 0 {
            // The end of the callback that took the message is its output by definition.
            let count = self.usage.takes(node, input).len() as u64;
            let (rule, evidence) = (LinkRule::SameCallback, LinkEvidence::Observed);
            return Tie { rule, evidence, confidence: 1.0, outputs: count, followed: count };
        }
        self.tie(node, input, &outputs, LinkRule::SameCallback, LinkEvidence::Observed, SAME_CALLBACK)
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
        Tie { rule, evidence, confidence, outputs, followed }
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
        let kept = subscription.latest && !node.publishes.is_empty();
        Some(if kept { LinkRule::Latest } else { LinkRule::SameCallback })
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
        for execution in far_apart(self.usage.publishing(node).iter()) {
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
        far_apart(outputs.iter()).filter(took).count()
    }

    /// Whether an input goes out with a request and most outputs are made of the response: then the way through the
    /// call is the one.
    fn comes_back(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> bool {
        let back = |topic: &Row<Topic>| {
            let Some(leg) = self.seen.legs.of(*topic).filter(|leg| leg.is_response) else { return false };
            let requests = self.outputs(node, Some(leg.service));
            !requests.is_empty()
                && self.in_same_callback(node, input, &requests) == requests.len()
                && self.in_same_callback(node, *topic, outputs) > outputs.len() / 2
        };
        self.usage.inputs(node).iter().any(back)
    }

    /// What the rule *latest once* is worth for outputs of timers, if anything speaks for it: executions that find no
    /// new input since the last output publish nothing. An input that only ever comes with others may be kept while
    /// those are used up.
    fn empties(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> Option<f64> {
        let seen = self.seen;
        let callbacks: HashSet<Row<Callback>> =
            far_apart(outputs.iter()).map(|o| seen.executions[o.execution].callback).collect();
        let by_callback = self.executions.get_or_init(|| {
            Grouped::new(seen.callbacks.len(), || seen.executions.numbered().map(|(row, e)| (e.callback, row)))
        });
        let mut executions: Rows<Row<Execution>> = callbacks.iter().flat_map(|c| by_callback.of(*c)).copied().collect();
        executions = executions.sorted_by(|a, b| seen.executions[*a].start_ns.cmp(&seen.executions[*b].start_ns));
        let publishing: HashSet<Row<Execution>> = far_apart(outputs.iter()).map(|o| o.execution).collect();
        let mut others = self.usage.inputs(node);
        others.retain(|other| *other != input && !seen.legs.is_leg(*other));
        let mut since = i64::MIN;
        let (mut counted, mut with_new, mut with_any, mut with_this_alone, mut idle, mut idle_of_all) =
            (0, 0, 0, 0, 0, 0);
        for row in far_apart(executions.iter()) {
            let execution = &seen.executions[*row];
            let (start, end) = (execution.start_ns, execution.end_ns.unwrap_or(execution.start_ns));
            let is_new = |topic: Row<Topic>| {
                let take = self
                    .usage
                    .taken_in(seen, *row, node, topic, end)
                    .or_else(|| self.usage.latest_before(seen, node, topic, start));
                take.is_some_and(|take| seen.takes[take].time > since)
            };
            let (published, known) = (publishing.contains(row), !seen.lacks(since.max(start.saturating_sub(1)), end));
            let (new, of_others) = (is_new(input), others.iter().any(|other| is_new(*other)));
            if published {
                since = start;
            }
            match (known, published) {
                (false, _) => {}
                (true, true) => {
                    counted += 1;
                    with_new += usize::from(new);
                    with_any += usize::from(new || of_others);
                    with_this_alone += usize::from(new && !of_others);
                }
                (true, false) => {
                    idle += usize::from(!new);
                    idle_of_all += usize::from(!new && !of_others);
                }
            }
        }
        let most = |of: usize| of as f64 >= NEW * counted as f64;
        if idle >= TIMES && most(with_new) {
            return Some(NEW_EACH_TIME);
        }
        (idle_of_all >= TIMES && with_this_alone >= TIMES && most(with_any)).then_some(NEW_OF_ANY)
    }

    /// The latest input that was there for each output, unless an earlier output was made of it. Publish calls of one
    /// callback are made of the same.
    fn each_once(
        &self,
        node: Row<Node>,
        input: Row<Topic>,
        outputs: &[Output],
    ) -> HashMap<Row<PublicationSeen>, Row<TakeSeen>> {
        let (mut used, mut found) = (None, HashMap::new());
        for output in far_apart(outputs.iter()) {
            let start = self.seen.executions[output.execution].start_ns;
            let own = self.usage.taken_in(self.seen, output.execution, node, input, output.time);
            let Some(take) = own.or_else(|| self.usage.latest_before(self.seen, node, input, start)) else { continue };
            if used.is_none_or(|(before, by)| take > before || (take, output.execution) == (before, by)) {
                found.insert(output.publication, take);
                used = Some((take, output.execution));
            }
        }
        found
    }

    /// Whether messages are taken by a callback that something else began: a timer that looks at its queues.
    fn polls(&self, node: Row<Node>, input: Row<Topic>) -> bool {
        far_apart(self.usage.takes(node, input).iter()).all(|t| {
            let take = &self.seen.takes[*t];
            take.execution.is_some_and(|e| {
                let execution = &self.seen.executions[e];
                let kind = self.seen.callbacks[execution.callback].kind;
                kind == CallbackKind::Timer && execution.start_ns <= take.time
            })
        })
    }

    /// The inputs that a message filter (ExactTime, ApproximateTime) before this output waits for; `None`: it does not
    /// look like one. A filter publishes in the callback of whichever input completes a set, never in all, and uses
    /// each message at most once: before its k-th output every input was taken k times.
    fn filter(&mut self, node: Row<Node>, topic: Row<Topic>) -> Option<Vec<Row<Topic>>> {
        if let Some(known) = self.filters.get(&(node, topic)) {
            return known.clone();
        }
        let outputs = self.outputs(node, Some(topic));
        let mut inputs = self.usage.inputs(node);
        inputs.retain(|input| !self.seen.legs.is_leg(*input) && self.in_same_callback(node, *input, &outputs) > 0);
        let explained = |input: &Row<Topic>| {
            let takes = self.usage.takes(node, *input);
            let enough = |(k, o): (usize, &Output)| takes.partition_point(|t| self.seen.takes[*t].time <= o.time) > k;
            far_apart(outputs.iter().enumerate()).filter(|(k, o)| enough((*k, o))).count() as f64
                >= FILTER_EXPLAINS * outputs.len() as f64
        };
        let found = (inputs.len() > 1 && inputs.iter().all(explained)).then_some(inputs);
        self.filters.insert((node, topic), found.clone());
        found
    }

    /// Pairs outputs with messages of one input as a filter does, of those taken since the one that was used last. An
    /// output that carries the stamp of some input: the message whose stamp is nearest to it, because the message that
    /// completes a set need not belong to it (ApproximateTime). Otherwise the message that the callback itself took, or
    /// the one whose publish time is nearest to that of the message which completed the set.
    fn pair_up(
        &self,
        node: Row<Node>,
        input: Row<Topic>,
        topic: Row<Topic>,
    ) -> HashMap<Row<PublicationSeen>, Row<TakeSeen>> {
        let seen = self.seen;
        let published = |take: Row<TakeSeen>| seen.takes[take].publication.map(|p| seen.publications[p].time);
        let inputs = self.usage.inputs(node);
        let takes = self.usage.takes(node, input);
        let outputs = self.outputs(node, Some(topic));
        let handed_on: HashSet<Row<PublicationSeen>> =
            inputs.iter().flat_map(|input| self.by_stamp(node, *input, &outputs).into_keys()).collect();
        let stamp_of = |take: Row<TakeSeen>| Some(seen.takes[take].header_stamp).filter(|stamp| *stamp != 0);
        let (mut next, mut found) = (0, HashMap::new());
        for output in far_apart(outputs.into_iter()) {
            let own = self.usage.taken_in(seen, output.execution, node, input, output.time);
            let until = takes.partition_point(|t| seen.takes[*t].time <= output.time);
            let candidates = next.min(until)..until;
            let stamp = seen.publications[output.publication].header_stamp;
            let stamped = handed_on.contains(&output.publication);
            let chosen = match own {
                _ if stamped && candidates.clone().all(|p| stamp_of(takes[p]).is_some()) => {
                    candidates.filter_map(|p| Some((stamp_of(takes[p])?.abs_diff(stamp), p))).min().map(|(_, p)| p)
                }
                Some(own) => takes[candidates].iter().position(|t| *t == own).map(|p| p + next),
                None => {
                    let completing =
                        inputs.iter().find_map(|i| self.usage.taken_in(seen, output.execution, node, *i, output.time));
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
