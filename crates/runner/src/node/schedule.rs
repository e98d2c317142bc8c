//! When a node wakes, and what is due then.

/// Times origin + round(k x 1e9 / hz), k = 0, 1, 2 ..., ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    origin_ns: i64,
    hz: f64,
}

impl Grid {
    /// Starts `phase` parts of a period after `start_ns`.
    pub fn new(start_ns: i64, hz: f64, phase: f64) -> Grid {
        Grid { origin_ns: start_ns + (phase * 1e9 / hz).round() as i64, hz }
    }

    /// Another rate from the same origin.
    pub fn at_rate(&self, hz: f64) -> Grid {
        Grid { hz, ..*self }
    }

    /// Time k.
    pub fn at(&self, k: u64) -> i64 {
        self.origin_ns + (k as f64 * 1e9 / self.hz).round() as i64
    }

    /// How many of the times are at or before `time_ns`.
    pub fn up_to(&self, time_ns: i64) -> u64 {
        if time_ns < self.origin_ns {
            return 0;
        }
        // Rounding may put the estimate one off in either direction.
        let mut count = (((time_ns - self.origin_ns) as f64 * self.hz / 1e9) as u64).saturating_sub(1);
        while self.at(count) <= time_ns {
            count += 1;
        }
        count
    }

    /// How many of the times are before `time_ns`.
    pub fn before(&self, time_ns: i64) -> u64 {
        self.up_to(time_ns - 1)
    }
}

/// Sends that are due by the clock, and what became of them: every one is sent or skipped, none is forgotten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Due {
    grid: Grid,
    settled: u64,
}

impl Due {
    /// Nothing settled yet.
    pub fn new(grid: Grid) -> Due {
        Due { grid, settled: 0 }
    }

    /// When the next send is due.
    pub fn next_ns(&self) -> i64 {
        self.grid.at(self.settled)
    }

    /// Settles all that are due up to `time_ns` by one send: None when nothing is due, else how many were skipped.
    pub fn settle(&mut self, time_ns: i64) -> Option<u64> {
        let due = self.grid.up_to(time_ns);
        let passed = due.checked_sub(self.settled).filter(|passed| *passed > 0)?;
        self.settled = due;
        Some(passed - 1)
    }

    /// A timer that is called at `now_ns`: settles the oldest by this send and, as rcl_timer_call does, skips those whose
    /// time has passed meanwhile; one due right now stays due. How many were skipped, of those before `end_ns`.
    pub fn call(&mut self, now_ns: i64, end_ns: i64) -> u64 {
        let sent = self.settled + 1;
        let next = sent.max(self.grid.before(now_ns));
        self.settled = next;
        next.min(self.grid.before(end_ns)).saturating_sub(sent)
    }

    /// Settles what is still due before `end_ns`, when nothing more is sent: how many were skipped.
    pub fn finish(&mut self, end_ns: i64) -> u64 {
        let due = self.grid.before(end_ns);
        let skipped = due.saturating_sub(self.settled);
        self.settled += skipped;
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn counts_and_times_of_a_grid_belong_together() {
        for hz in [0.3, 3.0, 7.0, 10.0, 300.0, 999.0] {
            let grid = Grid::new(1_000, hz, 0.37);
            for k in [0, 1, 2, 99, 100_000] {
                assert_eq!(grid.up_to(grid.at(k)), k + 1);
                assert_eq!(grid.before(grid.at(k)), k);
            }
            assert_eq!(grid.up_to(0), 0);
        }
    }

    #[test]
    fn a_rate_that_divides_the_spin_rate_is_due_at_every_nth_wake() {
        let wakes = Grid::new(5, 300.0, 0.7);
        let mut due = Due::new(wakes.at_rate(10.0));
        let sends: Vec<u64> = (0..91).filter(|k| due.settle(wakes.at(*k)).is_some()).collect();
        assert_eq!(sends, [0, 30, 60, 90]);
    }

    #[test]
    fn a_call_in_time_skips_nothing() {
        let mut due = Due::new(Grid::new(0, 100.0, 0.0));
        for k in 0..50 {
            assert_eq!(due.next_ns(), k * 10 * MS);
            assert_eq!(due.call(k * 10 * MS + 3, 1000 * MS), 0);
        }
    }

    #[test]
    fn a_late_call_skips_what_has_passed_and_every_send_is_accounted_for() {
        let end = 1000 * MS;
        let mut due = Due::new(Grid::new(0, 100.0, 0.0));
        let (mut now, mut sent, mut skipped) = (0, 0, 0);
        while due.next_ns() < end {
            now = now.max(due.next_ns());
            skipped += due.call(now, end);
            sent += 1;
            now += 25 * MS; // work of two and a half periods
        }
        skipped += due.finish(end);
        assert_eq!(sent + skipped, 100);
        assert_eq!(sent, 40);
    }

    #[test]
    fn what_was_not_sent_before_the_end_is_skipped() {
        let mut due = Due::new(Grid::new(0, 10.0, 0.0));
        due.call(0, 1000 * MS);
        assert_eq!(due.finish(1000 * MS), 9);
        assert_eq!(due.finish(1000 * MS), 0);
    }
}
