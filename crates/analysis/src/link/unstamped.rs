//! Publications that carry no source timestamp (tracetools before Jazzy), linked by the time of their rmw_publish.
//!
//! The middleware stamps a message inside its write. Up to Iron, rmw_fastrtps and rmw_cyclonedds fire `rmw_publish`
//! before they write, so that a stamp lies some us to some 100 us *after* its event. Programs that were built with an
//! rmw which writes first fire it after the stamp. Nothing in a trace names the order, so the run itself decides: a
//! stamp lies near its own event and about anywhere between two others.

use crate::observe::{PublicationSeen, TakeSeen};
use rustc_hash::FxHashSet as HashSet;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;

/// A stamp and its own event are no further apart than this: another event belongs to another message.
const APART_NS: i64 = 20_000_000;
/// This many of a hundred stamps must agree on the order.
const AGREE_PERCENT: u64 = 90;

/// What a message gets first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// Its `rmw_publish`, as up to Iron.
    Event,
    /// Its source timestamp.
    Stamp,
}

/// How many stamps lie nearer behind an event, or nearer before one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Votes {
    event_first: u64,
    stamp_first: u64,
}

impl Votes {
    /// Of one stamp on CLOCK_MONOTONIC.
    pub fn add(&mut self, events: &Unstamped, stamp: i64) {
        let behind = events.before(stamp, 0).map(|(time, _)| stamp - time);
        let before = events.behind(stamp, 0).map(|(time, _)| time - stamp);
        let near = |distance: Option<i64>| distance.filter(|ns| *ns <= APART_NS).unwrap_or(i64::MAX);
        match near(behind).cmp(&near(before)) {
            std::cmp::Ordering::Less => self.event_first += 1,
            std::cmp::Ordering::Greater => self.stamp_first += 1,
            std::cmp::Ordering::Equal => {}
        }
    }

    pub fn and(self, other: Votes) -> Votes {
        Votes { event_first: self.event_first + other.event_first, stamp_first: self.stamp_first + other.stamp_first }
    }

    /// The order of the run; `None` if its stamps do not agree, or there are none.
    pub fn decision(self) -> Option<First> {
        let enough = |votes: u64| votes > 0 && votes * 100 >= (self.event_first + self.stamp_first) * AGREE_PERCENT;
        if enough(self.event_first) {
            return Some(First::Event);
        }
        enough(self.stamp_first).then_some(First::Stamp)
    }
}

/// The unstamped publications of one topic: time of rmw_publish and row, in order.
pub(super) struct Unstamped(pub Rows<(i64, Row<PublicationSeen>)>);

impl Unstamped {
    /// The publication of a stamp on CLOCK_MONOTONIC, which is right to this error, and the time of its event.
    pub fn of(&self, stamp: i64, first: First, error_ns: i64) -> Option<(i64, Row<PublicationSeen>)> {
        let (time, row) = match first {
            First::Event => self.before(stamp, error_ns)?,
            First::Stamp => self.behind(stamp, error_ns)?,
        };
        (time.abs_diff(stamp) <= APART_NS as u64).then_some((time, row))
    }

    fn before(&self, stamp: i64, error_ns: i64) -> Option<(i64, Row<PublicationSeen>)> {
        let behind = self.0.partition_point(|(time, _)| *time <= stamp.saturating_add(error_ns));
        Some(self.0[behind.checked_sub(1)?])
    }

    fn behind(&self, stamp: i64, error_ns: i64) -> Option<(i64, Row<PublicationSeen>)> {
        self.0.get(self.0.partition_point(|(time, _)| *time < stamp.saturating_sub(error_ns))).copied()
    }
}

/// Publications that takes with different stamps were linked to: two publishers of a topic sent at once, and which
/// message is whose cannot be known. `found`: take and publication; `stamp_of` is asked in the order of `found`.
pub(super) fn with_several_stamps(
    found: impl Iterator<Item = (Row<TakeSeen>, Row<PublicationSeen>)>,
    mut stamp_of: impl FnMut(Row<TakeSeen>) -> i64,
) -> HashSet<Row<PublicationSeen>> {
    let stamped: Rows<(Row<PublicationSeen>, i64)> =
        found.map(|(take, publication)| (publication, stamp_of(take))).collect();
    let stamped = stamped.sorted_by(Ord::cmp);
    stamped.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1).map(|pair| pair[0].0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(times: impl IntoIterator<Item = i64>) -> Unstamped {
        Unstamped(times.into_iter().zip((0..).map(Row::new)).collect())
    }

    fn votes(events: &Unstamped, stamps: impl IntoIterator<Item = i64>) -> Option<First> {
        let mut votes = Votes::default();
        stamps.into_iter().for_each(|stamp| votes.add(events, stamp));
        votes.decision()
    }

    #[test]
    fn stamps_shortly_behind_their_events_are_told_from_stamps_shortly_before_them() {
        let sent = || (0..100).map(|n| n * 50_000_000);
        let late = |n: i64| 1_800 + n * 3_000; // 1.8 to 300 us, as Humble's Cyclone DDS
        assert_eq!(votes(&events(sent()), sent().zip(0..).map(|(t, n)| t + late(n))), Some(First::Event));
        assert_eq!(votes(&events(sent()), sent().map(|t| t - 4_000)), Some(First::Stamp));
    }

    #[test]
    fn stamps_that_lie_anywhere_decide_nothing() {
        let all = events((0..100).map(|n| n * 10_000_000));
        assert_eq!(votes(&all, (0..100).map(|n| n * 10_000_000 + n * 97_000)), None);
        assert_eq!(votes(&all, []), None);
    }

    #[test]
    fn what_is_too_far_from_every_event_is_nobodys() {
        let one = events([1_000]);
        assert_eq!(one.of(1_000 + APART_NS, First::Event, 0), Some((1_000, Row::new(0))));
        assert_eq!(one.of(1_001 + APART_NS, First::Event, 0), None);
        assert_eq!(one.of(999, First::Event, 0), None);
        assert_eq!(one.of(999, First::Event, 1), Some((1_000, Row::new(0))));
        assert_eq!(one.of(999, First::Stamp, 0), Some((1_000, Row::new(0))));
    }
}
