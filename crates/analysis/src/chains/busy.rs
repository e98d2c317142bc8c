//! What kept a callback that could have run from running: its executor's threads in other callbacks, or its callback
//! group.
//!
//! Threads that ran callbacks of one executor are that executor's, where executors are reported (CARET); else threads
//! that ran the same callback are, as in roscpp. A thread of it that ran none is told by its waits: threads of rclcpp's
//! multi-threaded executor wait in turn, under one mutex, never at once (`MultiThreadedExecutor::run`). In rclpy's, one
//! thread waits and gives callbacks to the threads of a pool, which never wait for work.

use crate::observe::{Seen, StreamSeen};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use std::hash::Hash;
use tacho_tables::near::partition_near;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::{Callback, Execution};

/// Start and end of an execution, and the busy time of its thread before it.
type Span = (i64, i64, i64);

pub(crate) struct Busy {
    /// Outermost executions of each thread, so that the busy part of any interval is two look-ups.
    spans: Grouped<StreamSeen, Span>,
    /// Of each execution, its place among those of its thread, or where it would stand.
    places: Rows<u32>,
    /// Executor of each thread, as an index into `teams`; absent where it is the only one.
    team: Vec<Option<u32>>,
    teams: Vec<Team>,
    /// Mutually exclusive group of callbacks that run in teams.
    group: HashMap<Row<Callback>, u32>,
    /// Executions of each such group, in order.
    of_group: HashMap<u32, Rows<(i64, i64, Row<Execution>)>>,
}

/// Threads of one executor.
pub(crate) struct Team {
    pub threads: Vec<u32>,
    /// Waits of all of them, in order; no two at once.
    waits: Rows<(i64, i64)>,
}

/// A stretch of time in which a callback could not run, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub from: i64,
    pub to: i64,
    /// One of its own mutually exclusive group; else what every thread of its executor ran.
    pub by: By,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    Group(Row<Execution>),
    /// An execution of each thread.
    Threads(Vec<Row<Execution>>),
}

impl Busy {
    pub fn new(seen: &Seen) -> Busy {
        let threads = || (0..).zip(&seen.streams);
        let spans = Grouped::new(seen.streams.len(), || {
            threads().flat_map(|(index, stream)| spans(seen, index, &stream.executions))
        });
        let mut next = vec![0; seen.streams.len()];
        let place = |(row, stream): (usize, &u32)| {
            let next: &mut u32 = &mut next[*stream as usize];
            let place = *next;
            // What began inside another is not among them.
            let own = &seen.streams[*stream as usize].executions;
            *next += u32::from(own.get(place as usize) == Some(&Row::behind(row)));
            place
        };
        let places = seen.execution_stream.iter().enumerate().map(place).collect();
        let teams = teams(seen);
        let mut team = vec![None; seen.streams.len()];
        for (index, members) in teams.iter().enumerate() {
            members.threads.iter().for_each(|thread| team[*thread as usize] = Some(index as u32));
        }
        let mut busy = Busy { spans, places, team, teams, group: HashMap::default(), of_group: HashMap::default() };
        busy.find_groups(seen);
        busy
    }

    fn find_groups(&mut self, seen: &Seen) {
        if self.teams.is_empty() {
            return;
        }
        self.group = seen.groups.exclusive().collect();
        for (row, execution) in seen.executions.numbered() {
            let of_team = self.team[seen.stream_of(row) as usize].is_some();
            if let Some(group) = self.group.get(&execution.callback).filter(|_| of_team) {
                let executions = self.of_group.entry(*group).or_default();
                // One that never ended kept its group until the next one began, or for good.
                if let Some(before) = executions.last_mut() {
                    before.1 = before.1.min(execution.start_ns);
                }
                executions.push((execution.start_ns, execution.end_ns.get().unwrap_or(i64::MAX), row));
            }
        }
    }

    /// Where a look-up of what its thread did just before this execution begins.
    pub fn near(&self, execution: Row<Execution>) -> usize {
        self.places[execution.index()] as usize
    }

    /// Number of the executor of a thread, where it has several threads.
    pub fn team_number(&self, stream: u32) -> Option<u32> {
        self.team[stream as usize]
    }

    /// The executor of a thread, where it has several threads.
    pub fn team_of(&self, stream: u32) -> Option<&Team> {
        self.team[stream as usize].map(|team| &self.teams[team as usize])
    }

    /// Time between two instants in which a callback could not run on the executor of a thread.
    /// `near`: where the look-up before ended.
    pub fn between(
        &self,
        seen: &Seen,
        (stream, callback): (u32, Option<Row<Callback>>),
        (from, to): (i64, i64),
        near: &mut usize,
    ) -> i64 {
        match self.team_of(stream) {
            None => {
                let spans = self.spans.of(Row::new(stream));
                let before = until(spans, from, near);
                until(spans, to, near) - before
            }
            Some(_) => self.held(seen, stream, callback, from, to).iter().map(|held| held.to - held.from).sum(),
        }
    }

    /// The same, stretch by stretch, with what ran meanwhile.
    pub fn held(&self, seen: &Seen, stream: u32, callback: Option<Row<Callback>>, from: i64, to: i64) -> Vec<Held> {
        let of_thread =
            |thread: u32| self.executions(seen, thread, from, to).into_iter().map(|(e, from, to)| (from, to, vec![e]));
        let Some(team) = self.team_of(stream) else {
            return of_thread(stream).map(|(from, to, by)| Held { from, to, by: By::Threads(by) }).collect();
        };
        let mut held: Vec<Held> = Vec::new();
        let executions = callback.and_then(|c| self.group.get(&c)).and_then(|group| self.of_group.get(group));
        for (start, end, execution) in executions.map_or(&[][..], |all| &all[all.partition_point(|e| e.1 <= from)..]) {
            if *start >= to {
                break;
            }
            held.push(Held { from: (*start).max(from), to: (*end).min(to), by: By::Group(*execution) });
        }
        let mut all_busy: Vec<Ran> = vec![(from, to, Vec::new())];
        for thread in &team.threads {
            let own: Vec<_> = of_thread(*thread).collect();
            all_busy = both(&all_busy, &own);
        }
        let group = held.clone();
        for (from, to, by) in all_busy {
            let free = without((from, to), &group);
            held.extend(free.into_iter().map(|(from, to)| Held { from, to, by: By::Threads(by.clone()) }));
        }
        held.sort_by_key(|held| held.from);
        held
    }

    /// Whether a thread of the same executor may have been free while a callback waited for its group, of which nothing
    /// is known.
    pub fn may_wait_for_group(&self, seen: &Seen, stream: u32, callback: Row<Callback>) -> bool {
        let process = seen.callbacks[callback].process;
        let has_groups = !seen.roscpp.processes.contains(&process);
        self.team_of(stream).is_some() && has_groups && !seen.groups.are_told(process)
    }

    /// Time inside the executor's waits between two instants; of an executor of several threads that in which a
    /// callback could have run.
    pub fn waited(&self, seen: &Seen, stream: u32, callback: Option<Row<Callback>>, from: i64, to: i64) -> i64 {
        let within = |waits: &[(i64, i64)]| -> Vec<(i64, i64)> {
            let first = waits.partition_point(|w| w.1 <= from);
            waits[first..].iter().take_while(|w| w.0 < to).map(|w| (w.0.max(from), w.1.min(to))).collect()
        };
        let length = |of: &[(i64, i64)]| of.iter().map(|(from, to)| to - from).sum();
        match self.team_of(stream) {
            None => length(&within(&seen.streams[stream as usize].waits)),
            Some(team) => {
                let held = self.held(seen, stream, callback, from, to);
                within(&team.waits).into_iter().map(|wait| length(&without(wait, &held))).sum()
            }
        }
    }

    /// The outermost executions of a thread between two instants, each with its part of that time.
    pub fn executions(&self, seen: &Seen, stream: u32, from: i64, to: i64) -> Vec<(Row<Execution>, i64, i64)> {
        let spans = self.spans.of(Row::new(stream));
        let first = spans.partition_point(|s| s.1 <= from);
        let rows = spans[first..].iter().zip(&seen.streams[stream as usize].executions[first..]);
        rows.take_while(|(span, _)| span.0 < to)
            .map(|(span, execution)| (*execution, span.0.max(from), span.1.min(to)))
            .collect()
    }
}

/// A stretch of time, and what ran all through it.
type Ran = (i64, i64, Vec<Row<Execution>>);

/// What is in stretches of both, with the executions of both. Each stand in order and apart.
fn both(one: &[Ran], other: &[Ran]) -> Vec<Ran> {
    let (mut at, mut of_other, mut found) = (0, 0, Vec::new());
    while let (Some(a), Some(b)) = (one.get(at), other.get(of_other)) {
        let (from, to) = (a.0.max(b.0), a.1.min(b.1));
        if from < to {
            found.push((from, to, a.2.iter().chain(&b.2).copied().collect()));
        }
        // The one that ends first meets no other.
        if a.1 <= b.1 {
            at += 1
        } else {
            of_other += 1
        }
    }
    found
}

/// What is left of a stretch without others, which stand in order and apart.
pub(crate) fn without((from, to): (i64, i64), others: &[Held]) -> Vec<(i64, i64)> {
    let mut left = Vec::new();
    let mut free_from = from;
    let first = others.partition_point(|other| other.to <= from);
    for other in others[first..].iter().take_while(|other| other.from < to) {
        if other.from > free_from {
            left.push((free_from, other.from));
        }
        free_from = free_from.max(other.to);
    }
    if free_from < to {
        left.push((free_from, to));
    }
    left
}

/// Executors of several threads.
pub(crate) fn teams(seen: &Seen) -> Vec<Team> {
    let mut of: Vec<u32> = (0..seen.streams.len() as u32).collect();
    fn first(of: &mut [u32], stream: u32) -> u32 {
        let mut at = stream;
        while of[at as usize] != at {
            at = of[at as usize];
        }
        of[stream as usize] = at;
        at
    }
    let together = ran_the_same(seen, |stream| !stream.waits.is_empty(), Some);
    let waits = |stream: u32| &seen.streams[stream as usize].waits;
    // A node that another thread's executor spun before is not both threads' at once.
    for (one, other) in together.into_iter().filter(|(one, other)| wait_in_turn(waits(*one), waits(*other))) {
        let (one, other) = (first(&mut of, one), first(&mut of, other));
        of[one.max(other) as usize] = one.min(other);
    }
    for (one, other) in told_together(seen).into_iter().chain(pools(seen)).chain(same_queue(seen)) {
        let (one, other) = (first(&mut of, one), first(&mut of, other));
        of[one.max(other) as usize] = one.min(other);
    }
    let mut threads: HashMap<u32, Vec<u32>> = HashMap::default();
    for index in 0..seen.streams.len() as u32 {
        threads.entry(first(&mut of, index)).or_default().push(index);
    }
    let mut found: Vec<Vec<u32>> = threads.into_values().filter(|threads| threads.len() > 1).collect();
    found.sort();
    let idle = (0u32..).zip(&seen.streams).filter(|(_, s)| s.executions.is_empty() && !s.waits.is_empty());
    for (index, stream) in idle {
        let of_process = |threads: &&mut Vec<u32>| seen.streams[threads[0] as usize].process == stream.process;
        let in_turn = |threads: &&mut Vec<u32>| {
            threads.iter().all(|other| wait_in_turn(&stream.waits, &seen.streams[*other as usize].waits))
        };
        if let Some(threads) = found.iter_mut().filter(of_process).find(in_turn) {
            threads.push(index);
        }
    }
    found
        .into_iter()
        .map(|threads| {
            let all: Rows<(i64, i64)> =
                threads.iter().flat_map(|thread| seen.streams[*thread as usize].waits.iter().copied()).collect();
            let mut waits: Rows<(i64, i64)> = Rows::new();
            // Two that each take turns with a third may have waited at once: time counts once.
            for wait in all.sorted_by(Ord::cmp).iter() {
                match waits.last_mut() {
                    Some(last) if wait.0 < last.1 => last.1 = last.1.max(wait.1),
                    _ => waits.push(*wait),
                }
            }
            Team { threads, waits }
        })
        .collect()
}

/// Pairs of threads, of those that count, that ran callbacks with the same key one after the other.
fn ran_the_same<K: Hash + Eq>(
    seen: &Seen,
    counts: impl Fn(&StreamSeen) -> bool,
    key: impl Fn(Row<Callback>) -> Option<K>,
) -> BTreeSet<(u32, u32)> {
    let (mut ran, mut together) = (HashMap::default(), BTreeSet::new());
    for (index, stream) in (0u32..).zip(&seen.streams).filter(|(_, stream)| counts(stream)) {
        for execution in stream.executions.iter() {
            let other = key(seen.executions[*execution].callback).and_then(|key| ran.insert(key, index));
            if let Some(other) = other.filter(|other| *other != index) {
                together.insert((other, index));
            }
        }
    }
    together
}

/// Pairs of threads that ran callbacks of one executor of several threads, where executors are reported.
fn told_together(seen: &Seen) -> BTreeSet<(u32, u32)> {
    ran_the_same(seen, |_| seen.groups.any_multi_threaded(), |callback| seen.groups.multi_threaded(callback))
}

/// Pairs of threads of the pool of rclpy's multi-threaded executor, where a process has one such executor.
fn pools(seen: &Seen) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for process in seen.rclpy.told() {
        let own = || (0u32..).zip(&seen.streams).filter(|(_, stream)| stream.process == process);
        let waiting = own().filter(|(_, s)| s.executions.is_empty() && !s.waits.is_empty());
        let mut pool = own().filter(|(_, s)| !s.executions.is_empty() && s.waits.is_empty()).map(|(index, _)| index);
        if let (1, Some(first)) = (waiting.count(), pool.next()) {
            pairs.extend(pool.map(|other| (first, other)));
        }
    }
    pairs
}

/// Pairs of threads that ran the same callback of roscpp: both serve its callback queue (ros::MultiThreadedSpinner).
fn same_queue(seen: &Seen) -> BTreeSet<(u32, u32)> {
    ran_the_same(seen, |stream| seen.roscpp.processes.contains(&stream.process), Some)
}

/// Whether two threads that lived at the same time never waited at once.
fn wait_in_turn(one: &[(i64, i64)], other: &[(i64, i64)]) -> bool {
    let (Some(first), Some(last)) = (one.first(), one.last()) else { return false };
    let lived_together = other.first().is_some_and(|w| w.0 <= last.1) && other.last().is_some_and(|w| w.1 >= first.0);
    let at_once = |wait: &(i64, i64)| {
        let next = other.partition_point(|w| w.1 <= wait.0);
        other.get(next).is_some_and(|w| w.0 < wait.1)
    };
    lived_together && !one.iter().any(at_once)
}

/// Spans of one thread with its number.
fn spans<'a>(
    seen: &'a Seen,
    stream: u32,
    executions: &'a [Row<Execution>],
) -> impl Iterator<Item = (Row<StreamSeen>, Span)> + 'a {
    let mut before = 0i64;
    executions.iter().enumerate().map(move |(position, execution)| {
        let row = &seen.executions[*execution];
        // One that never ended kept its thread until the next one began, or for good.
        let next = executions.get(position + 1).map(|n| seen.executions[*n].start_ns);
        let end = row.end_ns.get().or(next).unwrap_or(i64::MAX).min(next.unwrap_or(i64::MAX));
        let span = (row.start_ns, end, before);
        before = before.saturating_add(end.saturating_sub(row.start_ns));
        (Row::new(stream), span)
    })
}

/// Busy time of a thread before an instant.
fn until(spans: &[Span], instant: i64, near: &mut usize) -> i64 {
    match partition_near(spans, near, |s| s.0 <= instant).checked_sub(1) {
        Some(last) => {
            let (start, end, before) = spans[last];
            before + (instant.min(end) - start)
        }
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stretches in order and apart, some of which touch.
    fn stretches(seed: u64, execution: u32) -> Vec<Ran> {
        let mut state = seed;
        let mut next = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % most) as i64
        };
        let mut at = 0;
        (0..12)
            .map(|_| {
                let from = at + next(4);
                at = from + 1 + next(5);
                (from, at, vec![Row::new(execution)])
            })
            .collect()
    }

    fn covers(of: &[Ran], instant: i64) -> bool {
        of.iter().any(|ran| ran.0 <= instant && instant < ran.1)
    }

    #[test]
    fn what_two_threads_did_at_once_and_what_is_left_is_so_at_each_instant() {
        for seed in 0..50 {
            let (one, other) = (stretches(seed, 1), stretches(seed + 1_000, 2));
            let found = both(&one, &other);
            assert!(
                found.windows(2).all(|pair| pair[0].1 <= pair[1].0)
                    && found.iter().all(|ran| ran.2 == [1, 2].map(Row::new))
            );
            let held: Vec<Held> =
                one.iter().map(|ran| Held { from: ran.0, to: ran.1, by: By::Group(Row::new(0)) }).collect();
            let left: Vec<Ran> = without((5, 40), &held).into_iter().map(|(from, to)| (from, to, Vec::new())).collect();
            for instant in 0..120 {
                assert_eq!(covers(&found, instant), covers(&one, instant) && covers(&other, instant));
                assert_eq!(covers(&left, instant), (5..40).contains(&instant) && !covers(&one, instant));
            }
        }
    }
}
