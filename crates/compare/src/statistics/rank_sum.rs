//! The test of Mann and Whitney: whether values of one side tend to be greater than those of the other.
//!
//! The distribution is that of all ways to divide the observed values between the sides, which is exact with ties, too
//! (Streitberg and Röhmel, *Exact distributions for permutation and rank tests*, 1986: the shift algorithm). Above
//! [`MOST_EXACT`] values it is the normal approximation with corrections for ties and continuity.

use super::normal::upper_tail;

/// More values than this have no exact distribution here: it would take seconds for each figure.
pub const MOST_EXACT: usize = 100;

/// Doubled ranks of the values of both sides, which ties make whole numbers, and how the sums of the second side's
/// ranks are distributed if the sides are alike.
pub struct RankSums {
    doubled: Vec<usize>,
    first: usize,
    /// Probability of each doubled sum of the second side's ranks; absent above [`MOST_EXACT`].
    exact: Option<Vec<f64>>,
}

impl RankSums {
    /// Of the values of two sides, each with at least one.
    pub fn of(first: &[f64], second: &[f64]) -> RankSums {
        let values: Vec<f64> = first.iter().chain(second).copied().collect();
        let doubled: Vec<usize> = values
            .iter()
            .map(|value| {
                let below = values.iter().filter(|other| *other < value).count();
                let alike = values.iter().filter(|other| *other == value).count();
                2 * below + alike + 1
            })
            .collect();
        let exact = (values.len() <= MOST_EXACT).then(|| distribution(&doubled, second.len()));
        RankSums { doubled, first: first.len(), exact }
    }

    /// Two-sided p: twice the smaller tail, at most 1.
    pub fn p(&self) -> f64 {
        let observed: usize = self.doubled[self.first..].iter().sum();
        let Some(exact) = &self.exact else { return self.normal_p(observed) };
        let (below, from) = exact.split_at(observed);
        let at_most: f64 = below.iter().sum::<f64>() + from[0];
        let at_least: f64 = from.iter().sum();
        (2.0 * at_most.min(at_least)).min(1.0)
    }

    /// Part of all pairs in which the second side's value is greater; ties count half.
    pub fn superiority(&self) -> f64 {
        let second = self.doubled.len() - self.first;
        let least = second * (second + 1);
        let doubled: usize = self.doubled[self.first..].iter().sum();
        (doubled - least) as f64 / (2 * self.first * second) as f64
    }

    fn normal_p(&self, observed: usize) -> f64 {
        let n = self.doubled.len() as f64;
        let (m, k) = (self.first as f64, n - self.first as f64);
        // Sums of squares of the ranks know the ties: the variance is exact.
        let mean_rank = (n + 1.0) / 2.0;
        let squares: f64 = self.doubled.iter().map(|rank| (*rank as f64 / 2.0 - mean_rank).powi(2)).sum();
        let deviation = (m * k / (n * (n - 1.0)) * squares).sqrt();
        if deviation == 0.0 {
            return 1.0;
        }
        let distance = (observed as f64 / 2.0 - k * mean_rank).abs();
        (2.0 * upper_tail((distance - 0.5).max(0.0) / deviation)).min(1.0)
    }
}

/// Probability of each sum of `chosen` of the ranks.
fn distribution(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; chosen + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for (taken, rank) in ranks.iter().enumerate() {
        reached += rank;
        for size in (1..=chosen.min(taken + 1)).rev() {
            let (smaller, larger) = ways.split_at_mut(size);
            let (smaller, larger) = (&smaller[size - 1], &mut larger[0]);
            for sum in *rank..=reached {
                larger[sum] += smaller[sum - rank];
            }
        }
    }
    let all: f64 = ways[chosen].iter().sum();
    ways.swap_remove(chosen).into_iter().map(|ways| ways / all).collect()
}

/// The least two-sided p that so many runs a side can reach: that of sides which do not overlap. 3 and 3: 0.1.
pub fn least_p(first: usize, second: usize) -> f64 {
    let ways = (1..=second).fold(1.0, |ways, k| ways * (first + k) as f64 / k as f64);
    (2.0 / ways).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to choose `chosen` of `values`, by their positions.
    fn choices(values: usize, chosen: usize) -> Vec<Vec<usize>> {
        (0..1u32 << values)
            .filter(|bits| bits.count_ones() as usize == chosen)
            .map(|bits| (0..values).filter(|at| bits >> at & 1 == 1).collect())
            .collect()
    }

    /// The same p by counting every way to divide the values.
    fn counted_p(first: &[f64], second: &[f64]) -> f64 {
        let values: Vec<f64> = first.iter().chain(second).copied().collect();
        let wins = |of: &[usize]| -> f64 {
            let others = (0..values.len()).filter(|at| !of.contains(at));
            others.flat_map(|a| of.iter().map(move |b| (a, *b))).map(|(a, b)| win(values[a], values[b])).sum()
        };
        fn win(a: f64, b: f64) -> f64 {
            if b > a {
                1.0
            } else if b == a {
                0.5
            } else {
                0.0
            }
        }
        let observed = wins(&(first.len()..values.len()).collect::<Vec<_>>());
        let all: Vec<f64> = choices(values.len(), second.len()).iter().map(|of| wins(of)).collect();
        let part = |of: &dyn Fn(f64) -> bool| all.iter().filter(|u| of(**u)).count() as f64 / all.len() as f64;
        (2.0 * part(&|u| u <= observed).min(part(&|u| u >= observed))).min(1.0)
    }

    #[test]
    fn p_is_that_of_counting_every_division_with_ties_and_without() {
        let samples: [(&[f64], &[f64]); 5] = [
            (&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]),
            (&[1.0, 4.0, 2.5, 8.0], &[2.0, 3.0, 9.0, 10.0, 11.0]),
            (&[0.0, 0.0, 0.0, 1.0, 2.0], &[0.0, 1.0, 1.0, 3.0]),
            (&[5.0; 4], &[5.0; 4]),
            (&[7.0], &[1.0, 2.0, 2.0, 7.0, 9.0]),
        ];
        for (first, second) in samples {
            let (exact, counted) = (RankSums::of(first, second).p(), counted_p(first, second));
            assert!((exact - counted).abs() < 1e-12, "{first:?} {second:?}: {exact}, counted {counted}");
        }
    }

    #[test]
    fn sides_that_do_not_overlap_reach_the_least_p() {
        for (first, second, known) in [(3, 3, 0.1), (4, 4, 2.0 / 70.0), (5, 5, 2.0 / 252.0), (1, 1, 1.0)] {
            let a: Vec<f64> = (0..first).map(|v| v as f64).collect();
            let b: Vec<f64> = (0..second).map(|v| 100.0 + v as f64).collect();
            assert!((least_p(first, second) - known).abs() < 1e-12);
            assert!((RankSums::of(&a, &b).p() - known).abs() < 1e-12);
            assert_eq!(RankSums::of(&a, &b).superiority(), 1.0);
        }
    }

    #[test]
    fn the_approximation_takes_over_where_the_exact_one_ends() {
        let a: Vec<f64> = (0..50).map(|v| f64::from(v * 2)).collect();
        let b: Vec<f64> = (0..50).map(|v| f64::from(v * 2 + 21)).collect();
        let sums = RankSums::of(&a, &b);
        let exact = sums.p();
        let approximated = sums.normal_p(sums.doubled[50..].iter().sum());
        assert!((exact - approximated).abs() < 2e-4, "{exact}, {approximated}");
    }
}
