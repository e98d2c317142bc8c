//! States how far a mean over a few repeats can be trusted.

use serde::{Deserialize, Serialize};

/// A mean over repeats and its spread. One repeat is one draw of the phases: repeats are independent, the messages
/// within them are not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Arithmetic mean over repeats; for a ratio, the ratio of the means.
    pub mean: f64,
    /// Least value of a repeat.
    pub least: f64,
    /// Greatest value of a repeat.
    pub greatest: f64,
    /// 95 % confidence interval of `mean`, Student's t; absent for one repeat.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub interval: Option<[f64; 2]>,
}

/// 0.975 quantile of Student's t by degrees of freedom, 1 to 30. The value of 30 is a safe bound for more.
const T_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

impl Spread {
    /// Computes it from the values of the repeats; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mean = mean(values)?;
        let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
        Some(Spread::around(mean, values, standard_error(&deviations)))
    }

    /// Computes the ratio of two means whose repeats are pairs: the ratio estimator (Cochran, Sampling Techniques, ch.
    /// 6), whose error is that of the residuals before - ratio x after. `None` if nothing is paired or a mean is not
    /// positive.
    pub fn of_ratio(before: &[f64], after: &[f64]) -> Option<Spread> {
        let (numerator, denominator) = (mean(before)?, mean(after)?);
        if before.len() != after.len() || after.iter().any(|value| *value <= 0.0) {
            return None;
        }
        let ratio = numerator / denominator;
        let residuals: Vec<f64> = before.iter().zip(after).map(|(b, a)| b - ratio * a).collect();
        let pairs: Vec<f64> = before.iter().zip(after).map(|(b, a)| b / a).collect();
        Some(Spread::around(ratio, &pairs, standard_error(&residuals).map(|error| error / denominator)))
    }

    fn around(mean: f64, values: &[f64], standard_error: Option<f64>) -> Spread {
        let half = standard_error.map(|error| error * T_975[(values.len() - 2).min(T_975.len() - 1)]);
        Spread {
            mean,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            interval: half.map(|half| [mean - half, mean + half]),
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard error of a mean, from deviations that sum to zero; `None` for one value.
fn standard_error(deviations: &[f64]) -> Option<f64> {
    let n = deviations.len() as f64;
    (deviations.len() > 1).then(|| (deviations.iter().map(|d| d * d).sum::<f64>() / (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, 3, 4: mean 2.5, standard deviation sqrt(5/3), t(3) = 3.182.
    #[test]
    fn the_interval_of_a_mean_is_students() {
        let spread = Spread::of(&[1.0, 2.0, 3.0, 4.0]).expect("values");
        let half = 3.182 * (5.0f64 / 3.0 / 4.0).sqrt();
        let [low, high] = spread.interval.expect("four values");
        assert!((low - (2.5 - half)).abs() < 1e-12 && (high - (2.5 + half)).abs() < 1e-12);
        assert_eq!((spread.mean, spread.least, spread.greatest), (2.5, 1.0, 4.0));
    }

    #[test]
    fn one_repeat_has_no_interval_and_none_has_nothing() {
        assert_eq!(Spread::of(&[3.0]).expect("a value").interval, None);
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of_ratio(&[1.0], &[0.0]), None);
        assert_eq!(Spread::of_ratio(&[1.0, 2.0], &[1.0]), None);
    }

    /// Pairs of one proportion leave no doubt about the ratio.
    #[test]
    fn pairs_in_one_proportion_have_a_certain_ratio() {
        let spread = Spread::of_ratio(&[10.0, 20.0, 30.0], &[1.0, 2.0, 3.0]).expect("pairs");
        let [low, high] = spread.interval.expect("three pairs");
        assert!((spread.mean - 10.0).abs() < 1e-12 && (high - low).abs() < 1e-9);
    }

    /// before 8, 12; after 1, 1: ratio 10, residuals -2, 2, error 2, t(1) = 12.706.
    #[test]
    fn the_interval_of_a_ratio_is_that_of_its_residuals() {
        let [low, high] = Spread::of_ratio(&[8.0, 12.0], &[1.0, 1.0]).and_then(|s| s.interval).expect("two pairs");
        assert!((low - (10.0 - 2.0 * 12.706)).abs() < 1e-9 && (high - (10.0 + 2.0 * 12.706)).abs() < 1e-9);
    }
}
