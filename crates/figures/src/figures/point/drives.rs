//! How often the vehicle of a workload drove well, over all repeats.

use crate::drive::Drive;
use crate::figures::Repeat;
use tacho_tables::summary::Drives;

/// Part of the intervals that contain the true rate, at least.
const CONFIDENCE: f64 = 0.95;
/// Halvings of [0, 1], after which a bound is exact in double precision.
const HALVINGS: usize = 60;

/// `None`: no vehicle reported a drive. A repeat without one does not count.
pub(super) fn drives(repeats: &[Repeat<'_>]) -> Option<Drives> {
    let drives: Vec<Drive> = repeats.iter().filter_map(|repeat| Drive::of(repeat.info?)).collect();
    let (good, of) = (drives.iter().filter(|drive| drive.is_good()).count() as u64, drives.len() as u64);
    (of > 0).then(|| {
        let (low, high) = interval(good, of);
        Drives {
            good,
            of,
            success_percent: 100.0 * good as f64 / of as f64,
            success_low_percent: 100.0 * low,
            success_high_percent: 100.0 * high,
        }
    })
}

/// The interval of Clopper and Pearson (*Biometrika* 26, 1934) for a rate of which `good` of `of` were seen: no rate
/// outside makes so few, or so many, with a chance of 2.5 % or more.
fn interval(good: u64, of: u64) -> (f64, f64) {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let low = if good == 0 { 0.0 } else { bisect(|p| 1.0 - at_most(good - 1, of, p) < tail) };
    let high = if good == of { 1.0 } else { bisect(|p| at_most(good, of, p) >= tail) };
    (low, high)
}

/// The rate up to which something holds.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        *if holds(middle) { &mut low } else { &mut high } = middle;
    }
    low
}

/// Chance of at most `good` successes of `of` at a rate `p`, 0 < p < 1. Sums logarithms, because the chance of each may
/// be too small for a number.
fn at_most(good: u64, of: u64, p: f64) -> f64 {
    let odds = p.ln() - (-p).ln_1p();
    let mut log = of as f64 * (-p).ln_1p();
    let mut sum = log.exp();
    for k in 1..=good {
        log += ((of - k + 1) as f64 / k as f64).ln() + odds;
        sum += log.exp();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_closed_formulas_and_tables() {
        let near = |(low, high): (f64, f64), (of_low, of_high): (f64, f64)| {
            assert!((low - of_low).abs() < 5e-5 && (high - of_high).abs() < 5e-5, "{low} {high}");
        };
        // All or none: the tail's root of 1/n.
        near(interval(1, 1), (0.025, 1.0));
        near(interval(20, 20), (0.025_f64.powf(1.0 / 20.0), 1.0));
        near(interval(0, 20), (0.0, 1.0 - 0.025_f64.powf(1.0 / 20.0)));
        // Published tables of exact limits.
        near(interval(5, 10), (0.1871, 0.8129));
        near(interval(1, 10), (0.0025, 0.4450));
        near(interval(15, 20), (0.5090, 0.9134));
        // Far more than the chance of any single count can be stored for.
        let (low, high) = interval(5_000, 10_000);
        assert!(low > 0.489 && low < 0.4903 && (low + high - 1.0).abs() < 1e-9, "{low} {high}");
    }
}
