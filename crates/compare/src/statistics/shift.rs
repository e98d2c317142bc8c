//! The shift between two sides (Hodges and Lehmann, *Estimates of location based on rank tests*, 1963): the median of
//! all differences between a value of the one and a value of the other.

use super::normal::upper_quantile;
use super::rank_sum::MOST_EXACT;
use super::Interval;

/// By how much the second side lies above the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Median of the differences.
    pub estimate: f64,
    /// The shifts that the test of Mann and Whitney does not reject; absent if so few values cannot give so much
    /// confidence.
    pub interval: Option<Interval>,
}

/// The shift between two sides, each with at least one value, and its interval of at least this confidence. The
/// interval is exact for values without ties; with ties its confidence is higher than stated.
pub fn shift(first: &[f64], second: &[f64], confidence: f64) -> Shift {
    let mut differences: Vec<f64> = second.iter().flat_map(|b| first.iter().map(move |a| b - a)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    let middle = differences.len() / 2;
    let estimate = if differences.len() % 2 == 1 {
        differences[middle]
    } else {
        (differences[middle - 1] + differences[middle]) / 2.0
    };
    let interval = left_out(first.len(), second.len(), (1.0 - confidence) / 2.0).map(|(out, tail)| Interval {
        low: differences[out],
        high: differences[differences.len() - 1 - out],
        confidence: 1.0 - 2.0 * tail,
    });
    Shift { estimate, interval }
}

/// How many differences lie outside on each side of an interval that leaves at most `tail` on each, and what it leaves.
fn left_out(first: usize, second: usize, tail: f64) -> Option<(usize, f64)> {
    if first + second > MOST_EXACT {
        let (m, n) = (first as f64, second as f64);
        let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
        let out = (m * n / 2.0 - upper_quantile(tail) * deviation - 0.5).floor();
        return (out >= 0.0).then_some((out as usize, tail));
    }
    let mut at_most = 0.0;
    let mut found = None;
    for (wins, part) in wins(first, second).into_iter().enumerate() {
        at_most += part;
        if at_most > tail * (1.0 + 1e-9) {
            break;
        }
        found = Some((wins, at_most));
    }
    found
}

/// Probability of each number of pairs that the second side wins, without ties, if the sides are alike (the recurrence
/// of Mann and Whitney, 1947, as products of polynomials).
fn wins(first: usize, second: usize) -> Vec<f64> {
    let mut ways = vec![0.0; first * second + 1];
    ways[0] = 1.0;
    // The Gaussian binomial: multiply by 1 - q^(first + k), divide by 1 - q^k.
    for k in 1..=second {
        for at in (first + k..ways.len()).rev() {
            ways[at] -= ways[at - first - k];
        }
        for at in k..ways.len() {
            ways[at] += ways[at - k];
        }
    }
    let all: f64 = ways.iter().sum();
    ways.into_iter().map(|ways| ways / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::RankSums;

    #[test]
    fn the_estimate_is_the_median_difference() {
        let found = shift(&[1.0, 2.0], &[10.0, 20.0], 0.95);
        assert_eq!(found.estimate, (9.0 + 18.0) / 2.0);
        assert_eq!(found.interval, None, "four values cannot give 95 %");
    }

    #[test]
    fn the_interval_has_the_confidence_of_counting() {
        // R: wilcox.test(b, a, conf.int = TRUE) on 5 and 5 values has 96.8 %: quantile 3 of 25 differences.
        let a = [1.0, 2.1, 3.3, 4.6, 6.0];
        let b = [11.0, 12.7, 13.9, 15.2, 16.6];
        let interval = shift(&a, &b, 0.95).interval.expect("5 and 5 give 95 %");
        let mut differences: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
        differences.sort_by(f64::total_cmp);
        assert_eq!((interval.low, interval.high), (differences[2], differences[22]));
        assert!((interval.confidence - (1.0 - 8.0 / 252.0)).abs() < 1e-12, "{}", interval.confidence);
        assert!(shift(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95).interval.is_none(), "3 and 3 give 90 % at most");
        assert!(shift(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.90).interval.is_some());
    }

    #[test]
    fn the_test_rejects_the_shifts_outside_of_the_interval_and_none_inside() {
        let a = [3.1, 4.7, 5.2, 6.9, 7.4, 8.8, 9.3];
        let b = [4.05, 6.15, 7.25, 9.35, 10.45, 11.55];
        let interval = shift(&a, &b, 0.95).interval.expect("enough values");
        let p = |by: f64| RankSums::of(&a, &b.map(|b| b - by)).p();
        assert!(p(interval.low - 1e-6) <= 0.05 && p(interval.high + 1e-6) <= 0.05);
        assert!(p(interval.low + 1e-6) > 0.05 && p(interval.high - 1e-6) > 0.05);
    }

    #[test]
    fn many_values_have_nearly_the_interval_of_the_exact_distribution() {
        let (exact, tail) = left_out(50, 50, 0.025).expect("enough");
        let deviation = (50.0f64 * 50.0 * 101.0 / 12.0).sqrt();
        assert!((exact as f64 - (1250.0 - 1.96 * deviation)).abs() < 2.0, "{exact}");
        assert!(tail <= 0.025 && tail > 0.024);
        assert!(left_out(51, 50, 0.025).expect("enough").0 > exact);
    }
}
