//! The Theil-Sen slope: the median of the slopes of all pairs. A third of the values may be wild without moving it far.
//!
//! Theil, A rank-invariant method of linear and polynomial regression analysis, 1950; Sen, Estimates of the regression
//! coefficient based on Kendall's tau, JASA 63, 1968. Over several series only pairs within one are taken, and
//! variances add up (Hirsch, Slack and Smith, Techniques of trend analysis for monthly water quality data, 1982).

use super::median;

/// 0.975 quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A slope with the bounds of its 95 % confidence interval, units of y a unit of x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slope {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

/// The common slope of series of (x, y), no x twice in one; absent without a pair. Values of a series must be
/// independent of each other for the interval to hold.
pub(crate) fn theil_sen(series: &[Vec<(f64, f64)>]) -> Option<Slope> {
    let mut slopes = Vec::new();
    for points in series {
        for (i, (x, y)) in points.iter().enumerate() {
            slopes.extend(points[..i].iter().map(|(x0, y0)| (y - y0) / (x - x0)));
        }
    }
    let estimate = median(&mut slopes)?;
    slopes.sort_by(f64::total_cmp);
    let spread = Z * series.iter().map(|points| kendall_variance(points)).sum::<f64>().sqrt();
    let (count, last) = (slopes.len() as f64, slopes.len() - 1);
    // Ranks (N - C) / 2 and (N + C) / 2 + 1, counted from 1, and rounded outwards.
    let low = ((count - spread) / 2.0).floor() as isize - 1;
    let high = ((count + spread) / 2.0).ceil() as usize;
    Some(Slope { estimate, low: slopes[low.max(0) as usize], high: slopes[high.min(last)] })
}

/// The line through all points of one series: its slope, and the median of what is left as the value at x = 0.
pub(crate) fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let slope = theil_sen(&[points.to_vec()])?.estimate;
    let mut rest: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    Some((slope, median(&mut rest)?))
}

/// Variance of Kendall's S without a trend, with its correction for equal values.
fn kendall_variance(points: &[(f64, f64)]) -> f64 {
    let of = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut values: Vec<f64> = points.iter().map(|p| p.1).collect();
    values.sort_by(f64::total_cmp);
    let equal: f64 = values.chunk_by(|a, b| a == b).map(|equal| of(equal.len() as f64)).sum();
    (of(points.len() as f64) - equal) / 18.0
}

#[cfg(test)]
mod tests {
    use super::super::noise::Draw;
    use super::*;

    #[test]
    fn a_line_is_its_own_slope_and_wild_values_do_not_move_it() {
        let mut points: Vec<(f64, f64)> = (0..21).map(|i| (f64::from(i), 3.0 + 2.0 * f64::from(i))).collect();
        assert_eq!(theil_sen(std::slice::from_ref(&points)), Some(Slope { estimate: 2.0, low: 2.0, high: 2.0 }));
        assert_eq!(line(&points), Some((2.0, 3.0)));
        [1, 6, 12, 19].iter().for_each(|i| points[*i].1 = 1e6);
        assert_eq!(line(&points).map(|l| l.0), Some(2.0));
        assert_eq!(theil_sen(&[vec![(1.0, 1.0)]]), None);
    }

    #[test]
    fn distances_between_points_need_not_be_equal() {
        // The middle of the 21 slopes, by Python's statistics.median over itertools.combinations.
        let points = [(1.0, 9.0), (2.0, 15.0), (3.0, 19.0), (4.0, 20.0), (10.0, 45.0), (12.0, 55.0), (18.0, 78.0)];
        assert_eq!(theil_sen(&[points.to_vec()]).map(|s| s.estimate), Some(4.0));
    }

    #[test]
    fn intervals_are_those_of_the_ranks() {
        // Five points, slopes of the ten pairs sorted: -3 -1 -0.5 0 1/3 1 1 1.5 3 4. Variance 5 * 4 * 15 / 18 = 16.67,
        // C = 8.0: ranks 1 and 10.
        let points = vec![(0.0, 0.0), (1.0, 4.0), (2.0, 3.0), (3.0, 0.0), (4.0, 3.0)];
        let mut slopes: Vec<f64> = Vec::new();
        for i in 0..5 {
            (0..i).for_each(|j| slopes.push((points[i].1 - points[j].1) / (points[i].0 - points[j].0)));
        }
        slopes.sort_by(f64::total_cmp);
        let found = theil_sen(&[points]).expect("slope");
        assert_eq!((found.low, found.high), (slopes[0], slopes[9]));
        assert_eq!(found.estimate, (slopes[4] + slopes[5]) / 2.0);
    }

    #[test]
    fn the_interval_holds_the_true_slope_as_often_as_it_says() {
        for repeats in [1, 3] {
            let held = (0..1000).filter(|seed| {
                let mut draw = Draw(*seed * 77 + repeats);
                let series: Vec<Vec<(f64, f64)>> = (0..repeats)
                    .map(|r| {
                        (0..40)
                            .map(|i| (f64::from(i), 100.0 * r as f64 + 0.25 * f64::from(i) + 5.0 * draw.exponential()))
                            .collect()
                    })
                    .collect();
                let found = theil_sen(&series).expect("slope");
                found.low <= 0.25 && 0.25 <= found.high
            });
            let held = held.count();
            // Binomial(1000, 0.95): mean 950, standard deviation 6.9.
            assert!((922..=978).contains(&held), "{repeats}: {held} of 1000");
        }
    }

    #[test]
    fn levels_of_repeats_do_not_make_a_slope() {
        let series = |level: f64| (0..10).map(|i| (f64::from(i), level)).collect::<Vec<_>>();
        assert_eq!(theil_sen(&[series(1.0), series(1000.0)]).map(|s| s.estimate), Some(0.0));
    }
}
