//! Which rule ties an output to an input, where nobody states it: by what most outputs of the run show.
//!
//! docs/figures-of-chains.md, "links", defines rules, evidence and confidence. What stands at the edges of what was
//! recorded is left out, because a callback that is seen in part shows another tie than a whole one.

use super::{rule_of, Output, Ties, TIMES};
use super::{Tie, BESIDE_A_STAMP, FREED, LATEST_BESIDE_ANOTHER_INPUT, LATEST_ON_TIMER, MATCHED, SAME_CALLBACK};
use crate::observe::Topic;
use rustc_hash::FxHashSet as HashSet;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Callback, CallbackKind, EndpointKind, Execution, LinkEvidence, LinkRule, Node};

/// Part of the outputs that must show something for all to be taken for it.
pub(super) const NEARLY_ALL: f64 = 0.95;
/// What a message filter pairs if no stamp says which message of each input belongs to a set.
const MATCHED_WITHOUT_STAMPS: f64 = 0.5;
/// A response has the number of the request that it answers.
const ANSWERS: f64 = 1.0;
/// A header stamp that is handed on.
const HANDED_ON: f64 = 1.0;

impl Ties<'_> {
    /// How outputs on a topic are tied to an input.
    pub(super) fn infer(&mut self, node: Row<Node>, input: Row<Topic>, topic: Row<Topic>) -> Tie {
        let outputs = self.outputs(node, Some(topic));
        let asked = |ties: &Self, rule, evidence, worth| ties.tie(node, input, &outputs, rule, evidence, worth);
        if let Some(rule) = self.stated_rule(node, input, topic) {
            return asked(self, rule, LinkEvidence::Stated, 1.0);
        }
        if let Some(rule) = self.annotated(node, input, topic) {
            return asked(self, rule, LinkEvidence::Annotated, 1.0);
        }
        // Of a call only what happens in its callbacks is told: a latest response is too seldom what a node works with.
        if self.seen.legs.is_leg(input) || self.seen.legs.is_leg(topic) {
            let same = self.in_same_callback(node, input, &outputs);
            let worth = if self.seen.legs.answers(input, topic) { ANSWERS } else { SAME_CALLBACK };
            let rule = if same > 0 { LinkRule::SameCallback } else { LinkRule::Unrelated };
            return asked(self, rule, LinkEvidence::Observed, worth);
        }
        if self.hands_on_stamps(node, input, &outputs) {
            return asked(self, LinkRule::HeaderStamp, LinkEvidence::Observed, HANDED_ON);
        }
        let whole = self.seen_whole(&outputs);
        if let Some(worth) = self.behind_a_filter(node, input, &whole) {
            return asked(self, LinkRule::Match, LinkEvidence::Inferred, worth);
        }
        let same = self.in_same_callback(node, input, &whole);
        if !whole.is_empty() && same == whole.len() {
            let worth = if self.stamped_by_another(node, input, &outputs) { BESIDE_A_STAMP } else { SAME_CALLBACK };
            return asked(self, LinkRule::SameCallback, LinkEvidence::Observed, worth);
        }
        let on_timer = self.on_timers(node, input, &whole);
        if !whole.is_empty() && self.is_chance(node, input, same, whole.len()) {
            if self.comes_back(node, input, &outputs) {
                return asked(self, LinkRule::Unrelated, LinkEvidence::Observed, SAME_CALLBACK);
            }
            let timer = on_timer as f64 >= NEARLY_ALL * whole.len() as f64;
            if !timer && self.is_independent(node, input, topic, &whole) {
                return asked(self, LinkRule::Unrelated, LinkEvidence::Observed, SAME_CALLBACK);
            }
            if self.frees(node, input, &outputs) {
                return asked(self, LinkRule::LatestOnce, LinkEvidence::Inferred, FREED);
            }
            if let Some(worth) = timer.then(|| self.empties(node, input, &outputs)).flatten() {
                return asked(self, LinkRule::LatestOnce, LinkEvidence::Inferred, worth);
            }
            let worth = if timer { LATEST_ON_TIMER } else { LATEST_BESIDE_ANOTHER_INPUT };
            return asked(self, LinkRule::Latest, LinkEvidence::Inferred, worth);
        }
        if self.polls(node, input) {
            return asked(self, LinkRule::Latest, LinkEvidence::Observed, SAME_CALLBACK);
        }
        if self.filter(node, topic).is_some_and(|inputs| inputs.contains(&input)) {
            return asked(self, LinkRule::Match, LinkEvidence::Inferred, MATCHED);
        }
        if 2 * on_timer > whole.len() {
            return asked(self, LinkRule::Latest, LinkEvidence::Inferred, LATEST_ON_TIMER);
        }
        self.tie(node, input, &outputs, LinkRule::SameCallback, LinkEvidence::Observed, SAME_CALLBACK)
    }

    /// The same of the last node of a chain: whatever it publishes, else the end of its callback.
    pub(super) fn last_node(&mut self, node: Row<Node>, input: Row<Topic>) -> Tie {
        let outputs = self.outputs(node, None);
        if let Some(n) = self.workload_node(node) {
            if let Some(s) = n.subscribes.iter().find(|s| s.topic == self.seen.topics.names[input]) {
                return self.tie(node, input, &outputs, rule_of(n, s, None), LinkEvidence::Stated, 1.0);
            }
        }
        if self.hands_on_stamps(node, input, &outputs) {
            return self.tie(node, input, &outputs, LinkRule::HeaderStamp, LinkEvidence::Observed, HANDED_ON);
        }
        let whole = self.seen_whole(&outputs);
        let same = self.in_same_callback(node, input, &whole);
        let chance = self.is_chance(node, input, same, whole.len());
        if chance && !outputs.is_empty() && !self.seen.legs.is_leg(input) {
            let worth = LATEST_BESIDE_ANOTHER_INPUT;
            return self.tie(node, input, &outputs, LinkRule::Latest, LinkEvidence::Inferred, worth);
        }
        if outputs.is_empty() || same == 0 {
            // The end of the callback that took the message is its output by definition.
            return self.of_callback(node, input, &[]);
        }
        self.tie(node, input, &outputs, LinkRule::SameCallback, LinkEvidence::Observed, SAME_CALLBACK)
    }

    /// The outputs of executions that were seen whole: not the first or the last of its thread, begun and ended, and
    /// without lost events. All of them, where that leaves too few.
    fn seen_whole(&self, outputs: &[Output]) -> Rows<Output> {
        let seen = self.seen;
        let is_whole = |o: &&Output| {
            let execution = &seen.executions[o.execution];
            let of_thread = &seen.streams[seen.stream_of(o.execution) as usize].executions;
            let at_an_edge = of_thread.first() == Some(&o.execution) || of_thread.last() == Some(&o.execution);
            !at_an_edge && execution.end_ns.get().is_some_and(|end| !seen.lacks(execution.start_ns, end))
        };
        let whole: Rows<Output> = outputs.iter().filter(is_whole).copied().collect();
        if whole.len() < TIMES {
            outputs.iter().copied().collect()
        } else {
            whole
        }
    }

    /// Whether outputs in the callback that took an input are so few, of the outputs and of the input's callbacks, that
    /// they say nothing of the others.
    fn is_chance(&self, node: Row<Node>, input: Row<Topic>, same: usize, outputs: usize) -> bool {
        let few = (same as f64) < (1.0 - NEARLY_ALL) * outputs as f64;
        same == 0 || few && 2 * same < self.usage.takes(node, input).len()
    }

    /// Outputs of timers that did not take the input themselves.
    fn on_timers(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> usize {
        let on_timer = |o: &&Output| {
            let callback = self.seen.executions[o.execution].callback;
            self.seen.callbacks[callback].kind == CallbackKind::Timer
                && self.usage.taken_in(self.seen, o.execution, node, input, o.time).is_none()
        };
        outputs.iter().filter(on_timer).count()
    }

    /// Whether outputs that the callbacks of other inputs publish have nothing to do with an input that has outputs of
    /// its own: a node of two independent ways. It does, if those callbacks published nothing until it was there.
    fn is_independent(&mut self, node: Row<Node>, input: Row<Topic>, topic: Row<Topic>, outputs: &[Output]) -> bool {
        let mut others = self.usage.inputs(node);
        others.retain(|other| *other != input);
        let of_another = |o: &&Output| {
            others.iter().any(|other| self.usage.taken_in(self.seen, o.execution, node, *other, o.time).is_some())
        };
        let of_others = outputs.iter().filter(of_another).count();
        of_others as f64 >= NEARLY_ALL * outputs.len() as f64
            && self.own_outputs(node, input).iter().any(|own| *own != topic)
            && !self.waits_for(node, input, outputs)
    }

    /// Topics on which a node publishes in the callbacks of an input: in most of these, or most of what it publishes.
    fn own_outputs(&mut self, node: Row<Node>, input: Row<Topic>) -> &[Row<Topic>] {
        if !self.own_outputs.contains_key(&(node, input)) {
            let of_node = |e: &&crate::observe::EndpointSeen| e.node == node && e.kind == EndpointKind::Publisher;
            let mut topics: Vec<Row<Topic>> = self.seen.endpoints.iter().filter(of_node).map(|e| e.topic).collect();
            topics.sort_unstable();
            topics.dedup();
            let takes = self.usage.takes(node, input).len();
            topics.retain(|topic| {
                let outputs = self.outputs(node, Some(*topic));
                let same = self.in_same_callback(node, input, &outputs);
                same > 0 && (2 * same >= takes || 2 * same >= outputs.len())
            });
            self.own_outputs.insert((node, input), topics);
        }
        &self.own_outputs[&(node, input)]
    }

    /// Whether the callbacks that publish ran in vain until an input was there for the first time.
    fn waits_for(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> bool {
        let seen = self.seen;
        let Some(first) = self.usage.takes(node, input).first().map(|take| seen.takes[*take].time) else {
            return false;
        };
        let callbacks: HashSet<Row<Callback>> = outputs.iter().map(|o| seen.executions[o.execution].callback).collect();
        let before = |execution: &Row<Execution>| seen.executions[*execution].start_ns < first;
        let in_vain = callbacks.iter().flat_map(|c| self.executions_of(*c)).filter(|e| before(e)).count();
        in_vain >= TIMES && !outputs.iter().any(|o| o.time < first)
    }

    /// What the rule *match* is worth for an input that a message filter of the client library takes (its callback says
    /// so), if such a callback completes the sets. Stamps say what belongs to a set; without them only that it is one.
    fn behind_a_filter(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> Option<f64> {
        let filtered = |input: Row<Topic>| {
            let take = self.usage.takes(node, input).iter().find_map(|take| self.seen.takes[*take].execution);
            let callback = take.map(|execution| &self.seen.callbacks[self.seen.executions[execution].callback]);
            callback.and_then(|callback| callback.symbol.as_deref()).is_some_and(|s| s.contains("message_filters"))
        };
        if outputs.is_empty() || !filtered(input) {
            return None;
        }
        let inputs: Vec<Row<Topic>> = self.usage.inputs(node).into_iter().filter(|input| filtered(*input)).collect();
        let completes = |o: &&Output| {
            inputs.iter().any(|i| self.usage.taken_in(self.seen, o.execution, node, *i, o.time).is_some())
        };
        let completed = outputs.iter().filter(completes).count();
        if inputs.len() < 2 || (completed as f64) < NEARLY_ALL * outputs.len() as f64 {
            return None;
        }
        let stamped = inputs.iter().any(|input| self.carries_stamps(node, *input, outputs));
        Some(if stamped { MATCHED } else { MATCHED_WITHOUT_STAMPS })
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
}
