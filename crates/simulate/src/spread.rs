//! A distribution as measured: its quantiles.

use serde::{Deserialize, Serialize};
use tacho_workload::random::Draws;

/// Most quantiles that are kept.
const QUANTILES: usize = 257;

/// Quantiles of a duration, evenly spaced from the least to the greatest, ns. Between two of them it is uniform.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The quantiles; empty: it takes no time.
    pub quantiles_ns: Vec<i64>,
    /// Number of samples behind them.
    pub samples: u64,
}

impl Spread {
    /// The spread of samples, in any order.
    pub fn of(mut samples: Vec<i64>) -> Spread {
        samples.sort_unstable();
        let last = samples.len().saturating_sub(1);
        let quantiles_ns = match samples.len() {
            count if count <= QUANTILES => samples.clone(),
            _ => (0..QUANTILES).map(|k| between(&samples, (k * last) as f64 / (QUANTILES - 1) as f64)).collect(),
        };
        Spread { quantiles_ns, samples: samples.len() as u64 }
    }

    /// Always the same.
    pub fn fixed(ns: i64) -> Spread {
        Spread { quantiles_ns: vec![ns], samples: 0 }
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.quantiles_ns.is_empty()
    }

    /// Draws a value.
    pub fn draw(&self, draws: &mut Draws) -> i64 {
        match self.quantiles_ns.as_slice() {
            [] => 0,
            [only] => *only,
            several => between(several, draws.uniform() * (several.len() - 1) as f64),
        }
    }

    /// The value below which this part of all lies; 0 if nothing was measured.
    pub fn quantile(&self, part: f64) -> i64 {
        match self.quantiles_ns.as_slice() {
            [] => 0,
            several => between(several, part.clamp(0.0, 1.0) * (several.len() - 1) as f64),
        }
    }

    /// Mean of what is drawn.
    pub fn mean_ns(&self) -> f64 {
        match self.quantiles_ns.as_slice() {
            [] => 0.0,
            [only] => *only as f64,
            several => {
                let parts = several.windows(2).map(|ends| (ends[0] + ends[1]) as f64 / 2.0);
                parts.sum::<f64>() / (several.len() - 1) as f64
            }
        }
    }

    /// The spread in the part `at` (0 to 1) between this one and another, quantile by quantile.
    pub fn towards(&self, other: &Spread, at: f64) -> Spread {
        let count = self.quantiles_ns.len().max(other.quantiles_ns.len());
        let part = |k: usize| if count > 1 { k as f64 / (count - 1) as f64 } else { 0.5 };
        let mixed = |k: usize| {
            let (one, two) = (self.quantile(part(k)) as f64, other.quantile(part(k)) as f64);
            (one + (two - one) * at).round() as i64
        };
        Spread { quantiles_ns: (0..count).map(mixed).collect(), samples: self.samples.min(other.samples) }
    }

    /// The same, each value changed.
    pub fn map(&self, change: impl Fn(i64) -> i64) -> Spread {
        Spread { quantiles_ns: self.quantiles_ns.iter().map(|ns| change(*ns)).collect(), samples: self.samples }
    }
}

/// The value at a place between two of a sorted list.
fn between(sorted: &[i64], place: f64) -> i64 {
    let below = (place as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + ((sorted[above] - sorted[below]) as f64 * (place - below as f64)).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_has_the_mean_and_the_tail_of_the_samples() {
        let samples: Vec<i64> = (0..1000).map(|k| if k % 50 == 0 { 9_000 } else { 1_000 + k }).collect();
        let mean = samples.iter().sum::<i64>() as f64 / samples.len() as f64;
        let spread = Spread::of(samples);
        let mut draws = Draws::new(3);
        let drawn: Vec<i64> = (0..100_000).map(|_| spread.draw(&mut draws)).collect();
        let drawn_mean = drawn.iter().sum::<i64>() as f64 / drawn.len() as f64;
        assert!((drawn_mean / mean - 1.0).abs() < 0.01, "{drawn_mean} {mean}");
        assert!((spread.mean_ns() / mean - 1.0).abs() < 0.01, "{}", spread.mean_ns());
        let long = drawn.iter().filter(|ns| **ns > 5_000).count() as f64 / drawn.len() as f64;
        assert!((0.01..0.04).contains(&long), "{long}");
    }

    #[test]
    fn between_two_spreads_lie_those_of_sizes_between() {
        let (small, large) = (Spread::of(vec![10, 20, 30]), Spread::of(vec![110, 220, 330]));
        assert_eq!(small.towards(&large, 0.5).quantiles_ns, [60, 120, 180]);
        assert_eq!(small.towards(&large, 0.0).quantiles_ns, small.quantiles_ns);
        assert_eq!(Spread::default().draw(&mut Draws::new(1)), 0);
    }
}
