//! Sets that message filters make of their inputs.

use super::input_of::InputOf;
use super::{Output, Ties, FILTER_EXPLAINS};
use crate::observe::{PublicationSeen, TakeSeen, Topic};
use rustc_hash::FxHashSet as HashSet;
use tacho_tables::row::Row;
use tacho_tables::Node;

impl Ties<'_> {
    /// The inputs that a message filter (ExactTime, ApproximateTime) before this output waits for; `None`: it does not
    /// look like one. A filter publishes in the callback of whichever input completes a set, never in all, and uses
    /// each message at most once: before its k-th output every input was taken k times.
    pub(super) fn filter(&mut self, node: Row<Node>, topic: Row<Topic>) -> Option<Vec<Row<Topic>>> {
        if let Some(known) = self.filters.get(&(node, topic)) {
            return known.clone();
        }
        let outputs = self.outputs(node, Some(topic));
        let mut inputs = self.usage.inputs(node);
        inputs.retain(|input| !self.seen.legs.is_leg(*input) && self.in_same_callback(node, *input, &outputs) > 0);
        let explained = |input: &Row<Topic>| {
            let takes = self.usage.takes(node, *input);
            let enough = |(k, o): (usize, &Output)| takes.partition_point(|t| self.seen.takes[*t].time <= o.time) > k;
            outputs.iter().enumerate().filter(|(k, o)| enough((*k, o))).count() as f64
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
    pub(super) fn pair_up(&self, node: Row<Node>, input: Row<Topic>, topic: Row<Topic>) -> InputOf {
        let seen = self.seen;
        let published = |take: Row<TakeSeen>| seen.takes[take].publication.map(|p| seen.publications[p].time);
        let inputs = self.usage.inputs(node);
        let takes = self.usage.takes(node, input);
        let outputs = self.outputs(node, Some(topic));
        let mut handed_on: HashSet<Row<PublicationSeen>> = HashSet::default();
        for input in &inputs {
            handed_on.extend(self.by_stamp(node, *input, &outputs).iter().map(|(publication, _)| publication));
        }
        let stamp_of = |take: Row<TakeSeen>| Some(seen.takes[take].header_stamp).filter(|stamp| *stamp != 0);
        let (mut next, mut found) = (0, Vec::new());
        for output in outputs {
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
                found.push((output.publication, takes[chosen]));
                next = chosen + 1;
            }
        }
        found.into_iter().collect()
    }
}
