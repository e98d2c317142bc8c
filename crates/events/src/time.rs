//! Time and duration as events carry them.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// An instant: ns of CLOCK_MONOTONIC of the host that wrote it. Instants of two hosts cannot be compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// A span of time in ns; may be negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(i64);

impl Time {
    /// Makes an instant from ns of CLOCK_MONOTONIC.
    pub const fn from_monotonic_ns(ns: i64) -> Self {
        Time(ns)
    }

    /// Returns ns of CLOCK_MONOTONIC.
    pub const fn as_ns(self) -> i64 {
        self.0
    }
}

impl Duration {
    /// The duration 0.
    pub const ZERO: Duration = Duration(0);

    /// Makes a duration from ns.
    pub const fn from_ns(ns: i64) -> Self {
        Duration(ns)
    }

    /// Returns ns.
    pub const fn as_ns(self) -> i64 {
        self.0
    }
}

impl Sub for Time {
    type Output = Duration;
    fn sub(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, span: Duration) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.unsigned_abs() {
            0..=999 => write!(f, "{} ns", self.0),
            1_000..=999_999 => write!(f, "{:.3} us", self.0 as f64 / 1e3),
            1_000_000..=999_999_999 => write!(f, "{:.3} ms", self.0 as f64 / 1e6),
            _ => write!(f, "{:.3} s", self.0 as f64 / 1e9),
        }
    }
}
