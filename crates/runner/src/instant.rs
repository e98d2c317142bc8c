//! Instants of CLOCK_MONOTONIC at which something is due, ns.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Sleeps until an instant, as a ROS node's rate does.
pub fn sleep_until(ns: i64) {
    let until = libc::timespec { tv_sec: ns.div_euclid(1_000_000_000), tv_nsec: ns.rem_euclid(1_000_000_000) };
    // SAFETY: `until` is valid. EINTR: sleep on.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &until, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}

/// The instants at which something is due: start + phase * period + round(k * 1e9 / hz) of what is periodic. Those of a
/// source with recorded times are as far from the first as they were, and begin again once as many were due as its rate
/// says.
#[derive(Debug, Clone)]
pub struct Grid {
    first_ns: i64,
    hz: f64,
    /// From the first to each, ns; `None` of what is periodic.
    recorded: Option<Arc<[i64]>>,
}

impl Grid {
    /// `phase` is a fraction of the period.
    pub fn new(start_ns: i64, phase: f64, hz: f64) -> Grid {
        Grid::from_first(start_ns + (phase * 1e9 / hz).round() as i64, hz)
    }

    /// The same, at recorded times if there are any: `hz` is their number by the time after which they begin again.
    pub fn of_source(start_ns: i64, phase: f64, hz: f64, sent_at: &[Duration]) -> Grid {
        let after_first = |time: &Duration| (*time - sent_at[0]).as_nanos() as i64;
        let recorded = (!sent_at.is_empty()).then(|| sent_at.iter().map(after_first).collect());
        Grid { recorded, ..Grid::new(start_ns, phase, hz) }
    }

    /// Makes a grid from its first instant.
    pub fn from_first(first_ns: i64, hz: f64) -> Grid {
        Grid { first_ns, hz, recorded: None }
    }

    /// The first of its instants.
    pub fn first_ns(&self) -> i64 {
        self.first_ns
    }

    /// When the k-th is due.
    pub fn due_ns(&self, k: u64) -> i64 {
        match &self.recorded {
            None => self.first_ns + (k as f64 * 1e9 / self.hz).round() as i64,
            Some(after) => {
                let (times, within) = (k / after.len() as u64, (k % after.len() as u64) as usize);
                self.first_ns + times as i64 * self.again_ns(after) + after[within]
            }
        }
    }

    /// After which time recorded times begin again, ns.
    fn again_ns(&self, after: &[i64]) -> i64 {
        (after.len() as f64 * 1e9 / self.hz).round() as i64
    }

    /// How many are due at or before an instant.
    pub fn due_by(&self, ns: i64) -> u64 {
        if ns < self.first_ns {
            return 0;
        }
        if let Some(after) = &self.recorded {
            let again_ns = self.again_ns(after);
            let (times, within) = ((ns - self.first_ns) / again_ns, (ns - self.first_ns) % again_ns);
            return times as u64 * after.len() as u64 + after.partition_point(|after| *after <= within) as u64;
        }
        let mut k = ((ns - self.first_ns) as f64 * self.hz / 1e9) as u64;
        while self.due_ns(k) <= ns {
            k += 1;
        }
        while k > 0 && self.due_ns(k - 1) > ns {
            k -= 1;
        }
        k
    }

    /// Serves what is due by an instant, if `served` are not all: returns when it was due, and how many due times it
    /// left out before. A periodic timer leaves out what it missed, as rcl's; recorded times are served one by one.
    pub fn serve(&self, served: &mut u64, now: i64) -> Option<(i64, u64)> {
        let (due, before) = (self.due_by(now), *served);
        if due <= before {
            return None;
        }
        *served = if self.recorded.is_some() { before + 1 } else { due };
        Some((self.due_ns(*served - 1), *served - before - 1))
    }
}

/// When to stop; ^C moves it forward.
#[derive(Debug)]
pub struct StopTime(AtomicI64);

impl StopTime {
    /// No stop is set yet.
    pub fn never() -> StopTime {
        StopTime(AtomicI64::new(i64::MAX))
    }

    /// Sets the instant.
    pub fn set(&self, ns: i64) {
        self.0.store(ns, Ordering::Relaxed);
    }

    /// The instant, ns of CLOCK_MONOTONIC.
    pub fn ns(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_divides_the_spin_rate_never_slips_by_a_wake() {
        let (wakes, sends) = (Grid::new(0, 0.25, 300.0), Grid::from_first(Grid::new(0, 0.25, 300.0).first_ns(), 10.0));
        for k in 0..10_000 {
            assert_eq!(sends.due_by(wakes.due_ns(k)), k / 30 + 1, "wake {k}");
        }
    }

    fn recorded(ms: &[u64], hz: f64) -> Grid {
        let sent_at: Vec<Duration> = ms.iter().map(|ms| Duration::from_millis(*ms)).collect();
        Grid::of_source(1_000_000_000, 0.0, hz, &sent_at)
    }

    #[test]
    fn due_by_counts_what_due_lists() {
        for grid in [Grid::new(1_000, 0.5, 333.3), recorded(&[7, 8, 30, 37, 57], 80.0)] {
            assert_eq!(grid.due_by(grid.first_ns() - 1), 0);
            for k in 0..1000 {
                assert_eq!(grid.due_by(grid.due_ns(k)), k + 1);
                assert_eq!(grid.due_by(grid.due_ns(k) - 1), k);
            }
        }
    }

    #[test]
    fn recorded_times_begin_again_a_mean_interval_after_the_last_and_none_is_left_out() {
        // Four intervals in 50 ms.
        let grid = recorded(&[7, 8, 30, 37, 57], 80.0);
        let due_ms = |k| (grid.due_ns(k) - 1_000_000_000) as f64 / 1e6;
        assert_eq!((0..7).map(due_ms).collect::<Vec<_>>(), [0.0, 1.0, 23.0, 30.0, 50.0, 62.5, 63.5]);
        let (mut served, late) = (0, 1_000_000_000 + 40_000_000);
        let all: Vec<_> = std::iter::from_fn(|| grid.serve(&mut served, late)).collect();
        assert_eq!(all, (0..4).map(|k| (grid.due_ns(k), 0)).collect::<Vec<_>>());
        let (periodic, mut served) = (Grid::new(0, 0.0, 100.0), 0);
        assert_eq!(periodic.serve(&mut served, 40_000_000), Some((40_000_000, 4)));
        assert_eq!(periodic.serve(&mut served, 40_000_000), None);
    }

    #[test]
    fn what_was_sent_at_one_instant_is_due_together() {
        let grid = recorded(&[0, 0, 0, 20], 150.0);
        assert_eq!((grid.due_by(999_999_999), grid.due_by(1_000_000_000), grid.due_by(1_020_000_000)), (0, 3, 4));
    }
}
