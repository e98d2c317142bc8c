//! The clock of a microcontroller, related to this machine's by messages in both directions.
//!
//! A message from the board was here no sooner than it was sent: it bounds the offset (CLOCK_MONOTONIC less the board's
//! clock) from above; one to the board bounds it from below. The offset is a straight line in time, as a quartz drifts;
//! of all lines that keep every bound, the one that is farthest from them is taken (Duda, Harrus, Haddad and Bernard,
//! *Estimating global time in distributed systems*, ICDCS 1987). The uncertainty is how far any other line within the
//! bounds strays from it. A clock that no line fits (an emulator that stood still) is cut in two, and each half looked
//! at again.

use crate::observe::board_clock::{BoardClock, Bounds};
use crate::observe::Seen;
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::{Column, Row};
use tacho_tables::{Endpoint, Process};

/// A quartz is off by less: 500 ppm.
const DRIFT_MAX: f64 = 5e-4;
/// Bounds of each direction that a piece of a clock should have.
const BOUNDS_MIN: usize = 4;
/// Halvings of an interval; 2^-60 of it is left.
const STEPS: usize = 60;

/// A board's clock as straight pieces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relation {
    pieces: Vec<Piece>,
    /// How far a time may be off, ns, anywhere.
    pub error_ns: i64,
}

/// From `from_ns` of the board's clock on, the offset is `offset_ns + drift * (t - origin_ns)`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    from_ns: i64,
    origin_ns: i64,
    offset_ns: f64,
    drift: f64,
}

impl Relation {
    /// The one that the bounds allow; absent without bounds of both directions.
    pub fn of(bounds: &Bounds) -> Option<Relation> {
        let mut bounds = bounds.clone();
        bounds.above.sort_unstable();
        bounds.below.sort_unstable();
        if bounds.above.is_empty() || bounds.below.is_empty() {
            return None;
        }
        let mut relation = Relation { pieces: Vec::new(), error_ns: 0 };
        relation.fit(i64::MIN, &bounds.above, &bounds.below);
        Some(relation)
    }

    /// CLOCK_MONOTONIC when the board's clock stood at `board_ns`.
    pub fn monotonic_ns(&self, board_ns: i64) -> i64 {
        let at = self.pieces.partition_point(|piece| piece.from_ns <= board_ns).saturating_sub(1);
        let piece = self.pieces[at];
        board_ns + (piece.offset_ns + piece.drift * (board_ns - piece.origin_ns) as f64).round() as i64
    }

    /// What is added at the first bound.
    pub fn first_offset_ns(&self) -> i64 {
        self.pieces.first().map_or(0, |piece| piece.offset_ns.round() as i64)
    }

    /// How fast that grows, ns a ns, at the first bound.
    pub fn first_drift(&self) -> f64 {
        self.pieces.first().map_or(0.0, |piece| piece.drift)
    }

    /// Straight pieces that it consists of.
    pub fn spans(&self) -> usize {
        self.pieces.len()
    }

    fn fit(&mut self, from_ns: i64, above: &[(i64, i64)], below: &[(i64, i64)]) {
        let first = above[0].0.min(below[0].0);
        let last = above[above.len() - 1].0.max(below[below.len() - 1].0);
        let lines = Lines::new(first, last, above, below);
        let drift = lines.farthest();
        if lines.margin(drift) < 0.0 {
            let middle = first + (last - first) / 2;
            let (a, b) =
                (above.partition_point(|bound| bound.0 < middle), below.partition_point(|bound| bound.0 < middle));
            let enough = |n: usize, of: usize| n >= BOUNDS_MIN && of - n >= BOUNDS_MIN;
            if enough(a, above.len()) && enough(b, below.len()) {
                self.fit(from_ns, &above[..a], &below[..b]);
                self.fit(middle, &above[a..], &below[b..]);
                return;
            }
        }
        self.pieces.push(Piece {
            from_ns,
            origin_ns: first,
            offset_ns: (lines.highest(drift) + lines.lowest(drift)) / 2.0,
            drift,
        });
        self.error_ns = self.error_ns.max(lines.strays(drift).ceil() as i64);
    }
}

/// Lines between bounds: times from the first, offsets from one of them, so that nothing is lost in rounding.
struct Lines {
    base: f64,
    above: Vec<(f64, f64)>,
    below: Vec<(f64, f64)>,
    span: f64,
}

impl Lines {
    fn new(first: i64, last: i64, above: &[(i64, i64)], below: &[(i64, i64)]) -> Lines {
        let base = above[0].1;
        let shifted = |bounds: &[(i64, i64)]| {
            bounds.iter().map(|(t, offset)| ((t - first) as f64, (offset - base) as f64)).collect()
        };
        Lines {
            base: base as f64,
            above: hull(shifted(above), 1.0),
            below: hull(shifted(below), -1.0),
            span: (last - first) as f64,
        }
    }

    /// Greatest offset at the first time that a line of this drift may have, and the least.
    fn highest(&self, drift: f64) -> f64 {
        self.base + self.above.iter().map(|(t, offset)| offset - drift * t).fold(f64::INFINITY, f64::min)
    }

    fn lowest(&self, drift: f64) -> f64 {
        self.base + self.below.iter().map(|(t, offset)| offset - drift * t).fold(f64::NEG_INFINITY, f64::max)
    }

    /// How far the line in the middle is from the bounds; less than 0: no line of this drift keeps them.
    fn margin(&self, drift: f64) -> f64 {
        (self.highest(drift) - self.lowest(drift)) / 2.0
    }

    /// The drift with the greatest margin, which is concave in it.
    fn farthest(&self) -> f64 {
        greatest(-DRIFT_MAX, DRIFT_MAX, |drift| self.margin(drift))
    }

    /// How far another line within the bounds is from that of this drift, at most: at one of the ends.
    fn strays(&self, drift: f64) -> f64 {
        let margin = self.margin(drift);
        if margin < 0.0 {
            return -margin;
        }
        let (least, most) = (self.edge(drift, -DRIFT_MAX), self.edge(drift, DRIFT_MAX));
        let ours = (self.highest(drift) + self.lowest(drift)) / 2.0;
        let at = |t: f64| {
            let value = ours + drift * t;
            let high = |d: f64| self.highest(d) + d * t;
            let low = |d: f64| -(self.lowest(d) + d * t);
            let above = high(greatest(least, most, high)) - value;
            let below = value + low(greatest(least, most, low));
            above.max(below)
        };
        at(0.0).max(at(self.span))
    }

    /// The drift nearest to `end` that still keeps the bounds.
    fn edge(&self, inside: f64, end: f64) -> f64 {
        if self.margin(end) >= 0.0 {
            return end;
        }
        let (mut inside, mut outside) = (inside, end);
        for _ in 0..STEPS {
            let middle = (inside + outside) / 2.0;
            if self.margin(middle) >= 0.0 {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    }
}

/// Where a concave function is greatest (ternary search).
fn greatest(mut from: f64, mut to: f64, of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..2 * STEPS {
        let (a, b) = (from + (to - from) / 3.0, to - (to - from) / 3.0);
        if of(a) < of(b) {
            from = a;
        } else {
            to = b;
        }
    }
    (from + to) / 2.0
}

/// Of points in the order of time those that a line below (`side` 1) or above (-1) all of them can touch: Andrew's
/// monotone chain.
fn hull(points: Vec<(f64, f64)>, side: f64) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for point in points {
        while let [.., a, b] = kept.as_slice() {
            let turn = (b.0 - a.0) * (point.1 - a.1) - (b.1 - a.1) * (point.0 - a.0);
            if turn * side > 0.0 {
                break;
            }
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

/// Puts the times of boards on this machine's clock, and says how far they may be off where that is known.
pub(crate) fn relate(seen: &mut Seen) {
    let mut boards = std::mem::take(&mut seen.board_clocks);
    if boards.is_empty() {
        return;
    }
    bounds_of_messages(seen, &mut boards);
    let mut processes: Vec<Row<Process>> = boards.keys().copied().collect();
    processes.sort_unstable();
    for process in processes {
        let clock = &boards[&process];
        let relation = Relation::of(&clock.bounds);
        if let Some(relation) = &relation {
            let rough = clock.rough_ns;
            put(seen, process, &|ns| relation.monotonic_ns(ns - rough), &|ns| relation.monotonic_ns(ns));
        }
        seen.processes[process].clock_error_ns = relation.map(|relation| relation.error_ns);
    }
}

/// Messages of the program bound a clock as those of tacho do: so none seems taken before it was sent.
fn bounds_of_messages(seen: &Seen, boards: &mut HashMap<Row<Process>, BoardClock>) {
    let published: HashMap<(u64, u64), (Row<Process>, i64)> =
        seen.publications.iter().filter_map(|p| Some((p.id?, (p.process, p.time)))).collect();
    for take in &seen.takes {
        let Some((from, sent_ns)) = take.id.and_then(|id| published.get(&id).copied()) else { continue };
        let (to, taken_ns) = (seen.process_of(take.endpoint), take.first_line.get().unwrap_or(take.time));
        match (boards.contains_key(&from), boards.contains_key(&to)) {
            (true, false) => {
                let Some(clock) = boards.get_mut(&from) else { continue };
                let board_ns = sent_ns - clock.rough_ns;
                clock.bounds.above.push((board_ns, taken_ns - board_ns));
            }
            (false, true) => {
                let Some(clock) = boards.get_mut(&to) else { continue };
                let board_ns = taken_ns - clock.rough_ns;
                clock.bounds.below.push((board_ns, sent_ns - board_ns));
            }
            _ => {}
        }
    }
}

/// Every time of a process; `due` those that the board itself wrote down.
fn put(seen: &mut Seen, process: Row<Process>, on: &dyn Fn(i64) -> i64, due: &dyn Fn(i64) -> i64) {
    let all = |times: &mut [&mut i64]| times.iter_mut().for_each(|time| **time = on(**time));
    let of_endpoint: Column<Endpoint, bool> = Column::of(seen.endpoints.rows().map(|e| seen.process_of(e) == process));
    let row = &mut seen.processes[process];
    all(&mut [&mut row.first_ns, &mut row.last_ns]);
    for (endpoint, _) in seen.endpoints.iter_mut().zip(of_endpoint.iter()).filter(|(_, of_it)| **of_it) {
        endpoint.created_ns = on(endpoint.created_ns);
        endpoint.arrivals.iter_mut().for_each(|time| *time = on(*time));
    }
    for publication in seen.publications.iter_mut().filter(|p| p.process == process) {
        publication.time = on(publication.time);
        publication.rmw_ns = publication.rmw_ns.get().map(on).into();
        publication.due_ns = publication.due_ns.get().map(due).into();
    }
    for take in seen.takes.iter_mut().filter(|take| of_endpoint[take.endpoint]) {
        take.time = on(take.time);
        take.first_line = take.first_line.get().map(on).into();
        take.arrival = take.arrival.get().map(on).into();
    }
    for execution in seen.executions.iter_mut().filter(|e| seen.callbacks[e.callback].process == process) {
        execution.start_ns = on(execution.start_ns);
        execution.end_ns = execution.end_ns.get().map(on).into();
        execution.queued_ns = execution.queued_ns.get().map(on).into();
    }
    for callback in seen.callbacks.iter_mut().filter(|callback| callback.process == process) {
        callback.armed_ns = callback.armed_ns.map(on);
    }
    crate::observe::lifecycle::move_times(seen, process, on);
    for skip in seen.skips.iter_mut().filter(|skip| of_endpoint.get(skip.endpoint).copied().unwrap_or(false)) {
        skip.noticed_ns = on(skip.noticed_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that runs `ppm` fast and stands at 0 when ours stands at `start`; delays from a list of draws, ns.
    fn exchange(
        start: i64,
        ppm: f64,
        seconds: i64,
        delays: impl Fn(i64) -> (i64, i64),
    ) -> (Bounds, impl Fn(i64) -> i64) {
        let board = move |ours: i64| ((ours - start) as f64 * (1.0 + ppm * 1e-6)).round() as i64;
        let mut bounds = Bounds::default();
        for i in 0..seconds * 20 {
            let sent = start + 1_000_000 + i * 50_000_000;
            let (there, back) = delays(i);
            // To the board, and from it.
            bounds.below.push((board(sent + there), sent - board(sent + there)));
            bounds.above.push((board(sent), sent + back - board(sent)));
        }
        (bounds, board)
    }

    #[test]
    fn a_drifting_clock_is_known_to_within_its_uncertainty_and_that_is_half_the_least_round_trip() {
        for ppm in [-80.0, 0.0, 35.0] {
            // Never less than 40 us there and 60 us back, up to 3 ms more.
            let noise = |i: i64, salt: i64| (i * 7919 + salt) % 101 * 30_000;
            let (bounds, board) = exchange(5_000_000_000, ppm, 60, |i| (40_000 + noise(i, 3), 60_000 + noise(i, 57)));
            let relation = Relation::of(&bounds).unwrap();
            for ours in (5_001_000_000..65_000_000_000).step_by(999_999_937) {
                let error = (relation.monotonic_ns(board(ours)) - ours).abs();
                assert!(error <= relation.error_ns, "{ppm} ppm: off by {error}, said {}", relation.error_ns);
            }
            assert!((45_000..200_000).contains(&relation.error_ns), "{ppm} ppm: {}", relation.error_ns);
        }
    }

    #[test]
    fn a_clock_that_stood_still_is_followed_in_pieces() {
        let delay = |_| (50_000, 50_000);
        let (before, first) = exchange(0, 0.0, 10, delay);
        // Ten seconds later, 3 ms behind.
        let (mut after, second) = exchange(3_000_000, 0.0, 20, delay);
        after.above.retain(|(board, _)| *board > 10_500_000_000);
        after.below.retain(|(board, _)| *board > 10_500_000_000);
        let bounds =
            Bounds { above: [before.above, after.above].concat(), below: [before.below, after.below].concat() };
        let relation = Relation::of(&bounds).unwrap();
        assert!(relation.pieces.len() >= 2);
        assert!((relation.monotonic_ns(first(4_000_000_000)) - 4_000_000_000).abs() <= 60_000);
        assert!((relation.monotonic_ns(second(19_000_000_000)) - 19_000_000_000).abs() <= 60_000);
    }

    #[test]
    fn one_direction_alone_bounds_nothing() {
        let (mut bounds, _) = exchange(0, 0.0, 1, |_| (1, 1));
        bounds.below.clear();
        assert_eq!(Relation::of(&bounds), None);
    }
}
