//! Outputs that carry the stamp of an input in their header.

use super::input_of::InputOf;
use super::{Output, Ties};
use crate::observe::{TakeSeen, Topic};
use rustc_hash::FxHashSet as HashSet;
use tacho_tables::near::partition_near;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::Node;

/// Part of the outputs that must have an input of the same stamp: the first may be made of inputs from before the
/// recording.
const STAMPED: f64 = 0.95;
/// Different stamps that inputs and outputs must have in common: fewer may be chance.
const STAMPS: usize = 3;

impl Ties<'_> {
    /// The latest input before each output that carries the output's stamp.
    pub(super) fn by_stamp(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> InputOf {
        let seen = self.seen;
        let stamped = self.usage.takes(node, input).iter().map(|take| (seen.takes[*take].header_stamp, *take));
        let takes: Rows<(i64, Row<TakeSeen>)> = stamped.filter(|(stamp, _)| *stamp != 0).collect();
        let takes = takes.sorted_by(Ord::cmp);
        let mut near = 0;
        let latest = |output: &Output| {
            let stamp = seen.publications[output.publication].header_stamp;
            let to = partition_near(&takes, &mut near, |take| take.0 <= stamp);
            let same = takes[..to].iter().rev().take_while(|take| take.0 == stamp);
            let take = same.map(|(_, take)| *take).find(|take| seen.takes[*take].time <= output.time)?;
            Some((output.publication, take))
        };
        outputs.iter().filter_map(latest).collect()
    }

    /// Whether the node hands on the stamps of an input, and a stamp says something else, or more, than that the
    /// callback which took the input published the output.
    pub(super) fn hands_on_stamps(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> bool {
        let seen = self.seen;
        let first = self.usage.takes(node, input).first().map_or(i64::MAX, |t| seen.takes[*t].time);
        let since = &outputs[outputs.partition_point(|o| o.time < first)..];
        let found = self.by_stamp(node, input, since);
        let stamps: HashSet<i64> = found.iter().map(|(_, take)| seen.takes[take].header_stamp).collect();
        if stamps.len() < STAMPS || (found.len() as f64) < STAMPED * since.len() as f64 {
            return false;
        }
        let own = |o: &Output| self.usage.taken_in(seen, o.execution, node, input, o.time);
        let mut near = 0;
        !since.iter().all(|o| own(o).is_some() && own(o) == found.find(o.publication, &mut near))
    }

    /// Whether outputs carry the stamp of another input, and not of this one.
    pub(super) fn stamped_by_another(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> bool {
        let carry = |input: Row<Topic>| self.carries_stamps(node, input, outputs);
        let mut others = self.usage.inputs(node).into_iter().filter(|other| *other != input);
        !carry(input) && others.any(carry)
    }

    /// Whether outputs carry the stamps of an input.
    pub(super) fn carries_stamps(&self, node: Row<Node>, input: Row<Topic>, outputs: &[Output]) -> bool {
        let stamped = self.by_stamp(node, input, outputs).len() as f64;
        outputs.len() >= STAMPS && stamped >= STAMPED * outputs.len() as f64
    }
}
