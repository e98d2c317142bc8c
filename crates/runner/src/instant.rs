//! Instants of CLOCK_MONOTONIC at which something is due, ns.

use std::sync::atomic::{AtomicI64, Ordering};

/// Sleeps until an instant, as a ROS node's rate does.
pub fn sleep_until(ns: i64) {
    let until = libc::timespec { tv_sec: ns.div_euclid(1_000_000_000), tv_nsec: ns.rem_euclid(1_000_000_000) };
    // SAFETY: `until` is valid. EINTR: sleep on.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &until, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}

/// The instants at which something periodic is due: start + phase * period + round(k * 1e9 / hz).
#[derive(Debug, Clone, Copy)]
pub struct Grid {
    first_ns: i64,
    hz: f64,
}

impl Grid {
    /// `phase` is a fraction of the period.
    pub fn new(start_ns: i64, phase: f64, hz: f64) -> Grid {
        Grid { first_ns: start_ns + (phase * 1e9 / hz).round() as i64, hz }
    }

    /// Makes a grid from its first instant.
    pub fn from_first(first_ns: i64, hz: f64) -> Grid {
        Grid { first_ns, hz }
    }

    /// The first of its instants.
    pub fn first_ns(&self) -> i64 {
        self.first_ns
    }

    /// When the k-th is due.
    pub fn due_ns(&self, k: u64) -> i64 {
        self.first_ns + (k as f64 * 1e9 / self.hz).round() as i64
    }

    /// How many are due at or before an instant.
    pub fn due_by(&self, ns: i64) -> u64 {
        if ns < self.first_ns {
            return 0;
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

    #[test]
    fn due_by_counts_what_due_lists() {
        let grid = Grid::new(1_000, 0.5, 333.3);
        assert_eq!(grid.due_by(grid.first_ns() - 1), 0);
        for k in 0..1000 {
            assert_eq!(grid.due_by(grid.due_ns(k)), k + 1);
            assert_eq!(grid.due_by(grid.due_ns(k) - 1), k);
        }
    }
}
