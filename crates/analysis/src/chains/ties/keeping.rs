//! What a node keeps for later: the latest input, and whether it empties what it keeps.

use super::decide::NEARLY_ALL;
use super::input_of::InputOf;
use super::{Output, Ties, NEW, NEW_EACH_TIME, NEW_OF_ANY, TIMES};
use crate::observe::Topic;
use rustc_hash::FxHashSet as HashSet;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::{Callback, CallbackKind, Execution, Node};

impl Ties<'_> {
    /// Executions of a callback, in order.
    pub(in crate::chains) fn executions_of(&self, callback: Row<Callback>) -> &[Row<Execution>] {
        let seen = self.seen;
        let by_callback = self.executions.get_or_init(|| {
            Grouped::new(seen.callbacks.len(), || seen.executions.numbered().map(|(row, e)| (e.callback, row)))
        });
        by_callback.of(callback)
    }

    /// What the rule *latest once* is worth for outputs of timers, if anything speaks for it: executions that find no
    /// new input since the last output publish nothing. An input that only ever comes with others may be kept while
    /// those are used up.
    pub(super) fn empties(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> Option<f64> {
        let seen = self.seen;
        let callbacks: HashSet<Row<Callback>> = outputs.iter().map(|o| seen.executions[o.execution].callback).collect();
        let mut executions: Rows<Row<Execution>> =
            callbacks.iter().flat_map(|c| self.executions_of(*c)).copied().collect();
        executions = executions.sorted_by(|a, b| seen.executions[*a].start_ns.cmp(&seen.executions[*b].start_ns));
        let publishing: HashSet<Row<Execution>> = outputs.iter().map(|o| o.execution).collect();
        let mut others = self.usage.inputs(node);
        others.retain(|other| *other != input && !seen.legs.is_leg(*other));
        let mut since = i64::MIN;
        let (mut near, mut near_others) = (0, vec![0; others.len()]);
        let (mut counted, mut with_new, mut with_any, mut with_this_alone, mut idle, mut idle_of_all) =
            (0, 0, 0, 0, 0, 0);
        for row in executions.iter() {
            let execution = &seen.executions[*row];
            let (start, end) = (execution.start_ns, execution.end_ns.get().unwrap_or(execution.start_ns));
            let is_new = |topic: Row<Topic>, near: &mut usize| {
                let take = self
                    .usage
                    .taken_in(seen, *row, node, topic, end)
                    .or_else(|| self.usage.taken(node, topic).latest_before(start, near));
                take.is_some_and(|take| seen.takes[take].time > since)
            };
            let (published, known) = (publishing.contains(row), !seen.lacks(since.max(start.saturating_sub(1)), end));
            let new = is_new(input, &mut near);
            let of_others = others.iter().zip(&mut near_others).any(|(other, near)| is_new(*other, near));
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
    pub(super) fn each_once(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> InputOf {
        let (mut used, mut near) = (None, 0);
        let made_of = |output: &Output| {
            let start = self.seen.executions[output.execution].start_ns;
            let own = self.usage.taken_in(self.seen, output.execution, node, input, output.time);
            let latest = || self.usage.taken(node, input).latest_before(start, &mut near);
            let take = own.or_else(latest)?;
            let is_new = used.is_none_or(|(before, by)| take > before || (take, output.execution) == (before, by));
            is_new.then(|| {
                used = Some((take, output.execution));
                (output.publication, take)
            })
        };
        outputs.iter().filter_map(made_of).collect()
    }

    /// Whether messages are taken by a callback that something else began: a timer that looks at its queues.
    pub(super) fn polls(&self, node: Row<Node>, input: Row<Topic>) -> bool {
        let takes = self.usage.takes(node, input);
        let polled = takes.iter().filter(|t| {
            let take = &self.seen.takes[**t];
            take.execution.is_some_and(|e| {
                let execution = &self.seen.executions[e];
                let kind = self.seen.callbacks[execution.callback].kind;
                kind == CallbackKind::Timer && execution.start_ns <= take.time
            })
        });
        polled.count() as f64 >= NEARLY_ALL * takes.len() as f64
    }
}
