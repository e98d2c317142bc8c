//! Statistics over runs: pure functions of numbers, each checked against scipy or by enumeration.

mod bootstrap;
mod holm;
mod normal;
mod rank_sum;
mod runs_needed;
mod shift;

pub use bootstrap::bootstrap;
pub use holm::holm;
pub use rank_sum::{least_p, RankSums};
pub use runs_needed::{runs_to_reach, runs_to_show_a_difference, runs_to_show_equality, MOST_RUNS};
pub use shift::{shift, Shift};

use serde::Serialize;

/// Where a value lies with a stated confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Confidence, from 0 to 1: that of an exact interval is a little above the one that was asked for.
    pub confidence: f64,
}

impl Interval {
    /// Whether no value in it is further than `limit` from 0.
    pub fn is_within(&self, limit: f64) -> bool {
        self.low >= -limit && self.high <= limit
    }

    /// The same interval after a rising function.
    pub fn map(&self, of: impl Fn(f64) -> f64) -> Interval {
        Interval { low: of(self.low), high: of(self.high), confidence: self.confidence }
    }
}
