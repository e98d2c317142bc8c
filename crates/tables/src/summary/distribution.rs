//! Quartiles and moments.

use serde::{Deserialize, Serialize};

/// Quartiles and moments of a set of values, in the unit of the field that holds it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Values.
    pub count: u64,
    /// Least.
    pub min: f64,
    /// First quartile, linear interpolation between closest ranks.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest.
    pub max: f64,
    /// Sample standard deviation; absent for one value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub std: Option<f64>,
}

impl Distribution {
    /// Of values in any order; `None` of no value. Quantiles interpolate linearly between closest ranks (R-7 of Hyndman
    /// and Fan 1996: what NumPy, R and spreadsheets do).
    pub fn of(mut values: Vec<f64>) -> Option<Distribution> {
        Distribution::of_slice(&mut values)
    }

    /// The same of values that lie elsewhere; they are sorted there.
    pub fn of_slice(values: &mut [f64]) -> Option<Distribution> {
        values.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        // Two passes: the squares of times since boot would eat the digits of microseconds.
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Some(Distribution {
            count: values.len() as u64,
            min,
            q1: quantile(values, 0.25)?,
            median: quantile(values, 0.5)?,
            q3: quantile(values, 0.75)?,
            mean,
            p99: quantile(values, 0.99)?,
            max,
            std: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
        })
    }
}

/// Quantile of ascending values, linear interpolation between closest ranks; absent without a value.
pub fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let rank = part * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    Some(below + (above - below) * rank.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_to_one_hundred_and_one_every_quantile_is_a_value() {
        let d = Distribution::of((1..=101).rev().map(f64::from).collect()).expect("values");
        assert_eq!((d.count, d.min, d.q1, d.median, d.q3, d.p99, d.max), (101, 1.0, 26.0, 51.0, 76.0, 100.0, 101.0));
        assert_eq!(d.mean, 51.0);
        // Sample variance of 1..=n is n (n + 1) / 12.
        assert!((d.std.expect("std") - (101.0f64 * 102.0 / 12.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn between_ranks_quantiles_interpolate() {
        // R: quantile(c(1, 2, 4, 8), c(.25, .5, .75, .99), type = 7) is 1.75, 3, 5, 7.88.
        let d = Distribution::of(vec![8.0, 1.0, 4.0, 2.0]).expect("values");
        assert_eq!((d.q1, d.median, d.q3), (1.75, 3.0, 5.0));
        assert!((d.p99 - 7.88).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_deviation_and_no_value_no_distribution() {
        assert_eq!(Distribution::of(vec![3.0]).expect("value").std, None);
        assert_eq!(Distribution::of(vec![]), None);
    }
}
