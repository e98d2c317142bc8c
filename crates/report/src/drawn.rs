//! Distributions as they are drawn.

use serde::Serialize;
use tacho_tables::summary::quantile;

/// Most points of a distribution that are drawn; more cannot be told apart on a screen.
const DRAWN_POINTS: usize = 400;

/// A distribution of values in one unit, by default ms.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Drawn {
    /// Values that it is made of.
    pub count: usize,
    /// True where not every value is among `points`.
    pub thinned: bool,
    /// (part of the values not above, value), ascending; the least and the greatest are always among them.
    pub points: Vec<(f64, f64)>,
    /// Box as study A draws it.
    pub whiskers: Whiskers,
}

/// Box plot: quartiles by linear interpolation between closest ranks, whiskers to the last value within 1.5 times the
/// distance of the quartiles (study A, figures 9 and 10).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Whiskers {
    /// End of the lower whisker.
    pub low: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// End of the upper whisker.
    pub high: f64,
    /// Values beyond the whiskers.
    pub beyond: usize,
}

impl Drawn {
    /// A distribution of ascending values, thinned to evenly spaced ranks where there are many; absent without a value.
    pub fn of(sorted: &[f64]) -> Option<Drawn> {
        let (count, last) = (sorted.len(), sorted.len().checked_sub(1)?);
        let drawn = count.min(DRAWN_POINTS);
        let points = (0..drawn).map(|i| {
            let rank = if drawn == 1 { 0 } else { i * last / (drawn - 1) };
            ((rank + 1) as f64 / count as f64, sorted[rank])
        });
        Some(Drawn { count, thinned: drawn < count, points: points.collect(), whiskers: Whiskers::of(sorted)? })
    }
}

impl Whiskers {
    /// The box of ascending values; absent without a value.
    pub fn of(sorted: &[f64]) -> Option<Whiskers> {
        let (q1, median, q3) = (quantile(sorted, 0.25)?, quantile(sorted, 0.5)?, quantile(sorted, 0.75)?);
        let reach = 1.5 * (q3 - q1);
        let from = sorted.partition_point(|&v| v < q1 - reach);
        let to = sorted.partition_point(|&v| v <= q3 + reach);
        // Interpolated quartiles always have values on either side within their own distance, so there are some within.
        Some(Whiskers { low: sorted[from], q1, median, q3, high: sorted[to - 1], beyond: sorted.len() - (to - from) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_no_distribution() {
        assert_eq!(Drawn::of(&[]), None);
    }

    #[test]
    fn a_small_distribution_is_drawn_whole() {
        let drawn = Drawn::of(&[1.0, 2.0, 3.0, 4.0, 100.0]).unwrap();
        assert_eq!(drawn.points, [(0.2, 1.0), (0.4, 2.0), (0.6, 3.0), (0.8, 4.0), (1.0, 100.0)]);
        assert_eq!(drawn.whiskers, Whiskers { low: 1.0, q1: 2.0, median: 3.0, q3: 4.0, high: 4.0, beyond: 1 });
        assert!(!drawn.thinned);
    }

    #[test]
    fn a_large_distribution_is_thinned_and_keeps_both_ends() {
        let values: Vec<f64> = (0..100_000).map(f64::from).collect();
        let drawn = Drawn::of(&values).unwrap();
        assert_eq!((drawn.count, drawn.thinned, drawn.points.len()), (100_000, true, DRAWN_POINTS));
        assert_eq!(drawn.points[0].1, 0.0);
        assert_eq!(drawn.points[DRAWN_POINTS - 1], (1.0, 99_999.0));
        assert!(drawn.points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    }

    #[test]
    fn one_value_is_its_own_box() {
        let drawn = Drawn::of(&[7.0]).unwrap();
        assert_eq!(drawn.points, [(1.0, 7.0)]);
        assert_eq!(drawn.whiskers, Whiskers { low: 7.0, q1: 7.0, median: 7.0, q3: 7.0, high: 7.0, beyond: 0 });
    }
}
