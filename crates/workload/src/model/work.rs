//! What one activation computes or sleeps.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Computation of one activation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    #[default]
    /// No computation.
    None,
    /// Always the same time.
    Fixed(Duration),
    /// Uniform between two bounds.
    Uniform {
        /// Least time.
        min: Duration,
        /// Greatest time.
        max: Duration,
    },
    /// Normal, cut at zero and at mean + 4 std.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        std: Duration,
    },
    /// As measured. Between two quantiles it is uniform.
    Quantiles {
        /// Evenly spaced, at least two, the first the least and the last the greatest time.
        times: Vec<Duration>,
        /// Part of the activations that take as long as the one before, percent (the discrete autoregression of Jacobs
        /// and Lewis 1978): times that are k activations apart are correlated by the k-th power of it.
        autocorrelation_percent: f64,
    },
    /// A task of a library (`native/include/tacho/task.h`), which computes on the messages. Its time is not known
    /// before it runs.
    Task {
        /// Its name, unique among all libraries.
        name: String,
        /// Its parameters as written, in the order of the file.
        parameters: Vec<(String, String)>,
    },
}

impl Work {
    /// The name of the task, if it is one.
    pub fn task(&self) -> Option<&str> {
        match self {
            Work::Task { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        *self == Work::None
    }

    /// Mean of one activation. For a normal distribution, it ignores the cuts, which move the mean by less than 1 % if
    /// the standard deviation is at most half the mean. Zero for a task.
    pub fn mean(&self) -> Duration {
        match *self {
            Work::None | Work::Task { .. } => Duration::ZERO,
            Work::Fixed(time) => time,
            Work::Uniform { min, max } => (min + max) / 2,
            Work::Normal { mean, .. } => mean,
            Work::Quantiles { times: ref of, .. } => {
                let between: Duration = of.windows(2).map(|ends| (ends[0] + ends[1]) / 2).sum();
                between / (of.len().max(2) - 1) as u32
            }
        }
    }

    /// Greatest time of one activation. Zero for a task.
    pub fn longest(&self) -> Duration {
        match *self {
            Work::None | Work::Task { .. } => Duration::ZERO,
            Work::Fixed(time) => time,
            Work::Uniform { max, .. } => max,
            Work::Normal { mean, std } => mean + std * 4,
            Work::Quantiles { times: ref of, .. } => of.last().copied().unwrap_or_default(),
        }
    }

    /// Time that activations may take again and again: the longest, or the mean of what was measured, whose longest is
    /// seldom.
    pub fn sustained(&self) -> Duration {
        match self {
            Work::Quantiles { .. } => self.mean(),
            _ => self.longest(),
        }
    }
}
