//! Sets of messages that belong together by their stamps, as the policies of message_filters make them.
//!
//! ExactTime: all messages of a set have one stamp. ApproximateTime is the adaptive algorithm that
//! <https://wiki.ros.org/message_filters/ApproximateTime> describes: each message is in at most one set, sets do not
//! cross, and the last message of a set, the pivot, gets the set whose stamps are closest. A test compares both with
//! message_filters itself.

use std::collections::{BTreeMap, VecDeque};
use tacho_workload::model::{Matching, Policy};

/// A message of each input, with its stamp, in the order of the inputs.
pub type Set<M> = Vec<(i64, M)>;

/// Makes sets of the messages of several inputs.
pub enum Matcher<M> {
    /// All of a set have the same stamp.
    Exact(Exact<M>),
    /// Those of a set are as close as they can be.
    Approximate(Approximate<M>),
    /// The newest message of each input since the last set.
    Newest(Vec<Option<(i64, M)>>),
}

impl<M> Matcher<M> {
    /// Of the inputs with these topics.
    pub fn new(of: &Matching, topics: &[&str]) -> Matcher<M> {
        match of.policy {
            Policy::Exact => {
                return Matcher::Exact(Exact { inputs: topics.len(), most: of.queue as usize, sets: BTreeMap::new() })
            }
            Policy::Newest => return Matcher::Newest(topics.iter().map(|_| None).collect()),
            Policy::Approximate => {}
        }
        let bound = |topic: &&str| {
            let bound = of.lower_bounds.iter().find(|(of, _)| of == topic);
            bound.map_or(0, |(_, bound)| bound.as_nanos() as i64)
        };
        let input =
            |topic: &&str| Input { queue: VecDeque::new(), past: 0, lower_bound_ns: bound(topic), has_dropped: false };
        Matcher::Approximate(Approximate {
            inputs: topics.iter().map(input).collect(),
            most: of.queue as usize,
            max_interval_ns: of.max_interval.map_or(i64::MAX, |most| most.as_nanos() as i64),
            scale: 1.0 + of.age_penalty_percent / 100.0,
            candidate: None,
        })
    }

    /// Takes a message; returns the sets that it completes, in order.
    pub fn add(&mut self, input: usize, stamp_ns: i64, message: M) -> Vec<Set<M>> {
        match self {
            Matcher::Exact(exact) => exact.add(input, stamp_ns, message).into_iter().collect(),
            Matcher::Approximate(approximate) => approximate.add(input, stamp_ns, message),
            Matcher::Newest(newest) => {
                newest[input] = Some((stamp_ns, message));
                let is_whole = newest.iter().all(Option::is_some);
                let set = || newest.iter_mut().filter_map(Option::take).collect();
                is_whole.then(set).into_iter().collect()
            }
        }
    }
}

/// ExactTime.
pub struct Exact<M> {
    inputs: usize,
    /// Most incomplete sets that it keeps; then the oldest goes.
    most: usize,
    sets: BTreeMap<i64, Vec<Option<M>>>,
}

impl<M> Exact<M> {
    fn add(&mut self, input: usize, stamp_ns: i64, message: M) -> Option<Set<M>> {
        let inputs = self.inputs;
        let set = self.sets.entry(stamp_ns).or_insert_with(|| (0..inputs).map(|_| None).collect());
        set[input] = Some(message);
        if set.iter().any(Option::is_none) {
            while self.sets.len() > self.most {
                self.sets.pop_first();
            }
            return None;
        }
        let set = self.sets.remove(&stamp_ns)?;
        // What is older can no longer be in order.
        self.sets = self.sets.split_off(&stamp_ns);
        Some(set.into_iter().flatten().map(|message| (stamp_ns, message)).collect())
    }
}

/// ApproximateTime.
pub struct Approximate<M> {
    inputs: Vec<Input<M>>,
    /// Most messages that an input keeps; then the oldest goes.
    most: usize,
    max_interval_ns: i64,
    /// 1 + age penalty.
    scale: f64,
    /// The best set so far: the oldest message that each input keeps.
    candidate: Option<Candidate>,
}

struct Input<M> {
    queue: VecDeque<(i64, M)>,
    /// So many of them, the oldest, the search has passed.
    past: usize,
    lower_bound_ns: i64,
    /// Whether it dropped a message that might have been in a better set.
    has_dropped: bool,
}

impl<M> Input<M> {
    /// Stamp of the first message that the search has not passed.
    fn front_ns(&self) -> Option<i64> {
        self.queue.get(self.past).map(|(stamp, _)| *stamp)
    }

    /// The same, if there is none the earliest that it can have.
    fn earliest_ns(&self, pivot_ns: i64) -> i64 {
        let next = || self.past.checked_sub(1).map_or(pivot_ns, |last| self.queue[last].0 + self.lower_bound_ns);
        self.front_ns().unwrap_or_else(|| next().max(pivot_ns))
    }
}

#[derive(Clone, Copy)]
struct Candidate {
    start_ns: i64,
    end_ns: i64,
    /// The input whose message was the last of the first set that was found.
    pivot: usize,
    pivot_ns: i64,
}

/// First and last of one message of each input: stamp and index of the input.
struct Interval {
    start: (i64, usize),
    end: (i64, usize),
}

impl Interval {
    /// Of equal stamps, the first input starts and the last one ends.
    fn of(stamps: impl Iterator<Item = i64>) -> Option<Interval> {
        stamps.enumerate().map(|(index, stamp)| (stamp, index)).fold(None, |known: Option<Interval>, of| match known {
            None => Some(Interval { start: of, end: of }),
            Some(Interval { start, end }) => Some(Interval { start: start.min(of), end: end.max(of) }),
        })
    }
}

impl<M> Approximate<M> {
    fn add(&mut self, input: usize, stamp_ns: i64, message: M) -> Vec<Set<M>> {
        let mut sets = Vec::new();
        let of = &mut self.inputs[input];
        of.queue.push_back((stamp_ns, message));
        if of.queue.len() - of.past == 1 {
            self.search(&mut sets);
        }
        let of = &mut self.inputs[input];
        if of.queue.len() > self.most {
            of.queue.pop_front();
            of.has_dropped = true;
            self.inputs.iter_mut().for_each(|input| input.past = 0);
            // The message belonged to the candidate, which rests on the oldest of each.
            if self.candidate.take().is_some() {
                self.search(&mut sets);
            }
        }
        sets
    }

    /// First and last of the messages next in the search; `None` if an input has none.
    fn interval(&self) -> Option<Interval> {
        self.inputs.iter().all(|input| input.front_ns().is_some()).then_some(())?;
        Interval::of(self.inputs.iter().filter_map(Input::front_ns))
    }

    /// Whether `later` outweighs `earlier` with the age penalty. Rounded to a nanosecond, as message_filters does.
    fn outweighs(&self, later_ns: i64, earlier_ns: i64) -> bool {
        (later_ns as f64 * self.scale).round() as i64 >= earlier_ns
    }

    fn search(&mut self, sets: &mut Vec<Set<M>>) {
        while let Some(Interval { start, end }) = self.interval() {
            for (index, input) in self.inputs.iter_mut().enumerate() {
                // No dropped message could have been better than the present ones.
                input.has_dropped &= index == end.1;
            }
            let candidate = match self.candidate {
                None if end.0 - start.0 > self.max_interval_ns || self.inputs[end.1].has_dropped => {
                    self.inputs[start.1].queue.pop_front();
                    continue;
                }
                None => self.prefer(start.0, end.0, (end.1, end.0)),
                Some(best) if self.outweighs(end.0 - best.end_ns, start.0 - best.start_ns) => best,
                Some(best) => self.prefer(start.0, end.0, (best.pivot, best.pivot_ns)),
            };
            self.inputs[start.1].past += 1;
            let is_exhausted = start.1 == candidate.pivot;
            // Every later set would contain the time from the pivot to this end.
            let is_best = self.outweighs(end.0 - candidate.end_ns, candidate.pivot_ns - candidate.start_ns);
            if is_exhausted || is_best || self.interval().is_none() && self.is_provably_best(candidate) {
                sets.push(self.make_set());
            }
        }
    }

    /// Makes the messages next in the search the candidate, and drops those before them.
    fn prefer(&mut self, start_ns: i64, end_ns: i64, (pivot, pivot_ns): (usize, i64)) -> Candidate {
        for input in &mut self.inputs {
            input.queue.drain(..input.past);
            input.past = 0;
        }
        *self.candidate.insert(Candidate { start_ns, end_ns, pivot, pivot_ns })
    }

    /// Whether no message that is still to come can make a better set, by the least times between stamps.
    fn is_provably_best(&mut self, candidate: Candidate) -> bool {
        let before: Vec<usize> = self.inputs.iter().map(|input| input.past).collect();
        let is_best = loop {
            let stamps = self.inputs.iter().map(|input| input.earliest_ns(candidate.pivot_ns));
            let Some(Interval { start, end }) = Interval::of(stamps) else { break false };
            let later_ns = end.0 - candidate.end_ns;
            if self.outweighs(later_ns, candidate.pivot_ns - candidate.start_ns) {
                break true;
            }
            // An input without a message starts no earlier than the pivot, for which the first condition holds.
            if !self.outweighs(later_ns, start.0 - candidate.start_ns) || self.inputs[start.1].front_ns().is_none() {
                break false;
            }
            self.inputs[start.1].past += 1;
        };
        for (input, past) in self.inputs.iter_mut().zip(before) {
            input.past = past;
        }
        is_best
    }

    /// The candidate as a set. The search begins anew behind it.
    fn make_set(&mut self) -> Set<M> {
        self.candidate = None;
        self.inputs.iter_mut().for_each(|input| input.past = 0);
        self.inputs.iter_mut().filter_map(|input| input.queue.pop_front()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_each_input_are_a_set_once_each_has_a_new_one() {
        let of = Matching { policy: Policy::Newest, ..Matching::default() };
        let mut matcher = Matcher::new(&of, &["/a", "/b"]);
        let mut add = |input, message| matcher.add(input, 0, message);
        assert!(add(0, 1).is_empty() && add(0, 2).is_empty());
        assert_eq!(add(1, 10), [vec![(0, 2), (0, 10)]]);
        assert!(add(1, 11).is_empty());
        assert_eq!(add(0, 3), [vec![(0, 3), (0, 11)]]);
    }
}
