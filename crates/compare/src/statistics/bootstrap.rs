//! The bootstrap over runs (Efron, *Bootstrap methods: another look at the jackknife*, 1979).

use super::Interval;

/// Resamples: the bounds of a 95 % interval stray by less than a tenth of its width.
const RESAMPLES: usize = 2000;

/// Interval of a change from one side to the other, by percentiles: whole runs are drawn again, with replacement, from
/// each side. The draws are the same each time. Absent for fewer than five runs on a side, of which resamples repeat
/// themselves too often.
pub fn bootstrap(
    first: &[f64],
    second: &[f64],
    confidence: f64,
    change: impl Fn(&[f64], &[f64]) -> f64,
) -> Option<Interval> {
    if first.len().min(second.len()) < 5 {
        return None;
    }
    let mut state = 0x7ac0_u64;
    let mut drawn = |of: &[f64], into: &mut Vec<f64>| {
        into.clear();
        into.extend((0..of.len()).map(|_| of[(next(&mut state) % of.len() as u64) as usize]));
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut changes: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            drawn(first, &mut a);
            drawn(second, &mut b);
            change(&a, &b)
        })
        .collect();
    changes.sort_unstable_by(f64::total_cmp);
    let out = ((1.0 - confidence) / 2.0 * RESAMPLES as f64) as usize;
    Some(Interval { low: changes[out], high: changes[RESAMPLES - 1 - out], confidence })
}

/// SplitMix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn the_interval_of_a_mean_is_about_that_of_its_standard_error() {
        let a: Vec<f64> = (0..40).map(|v| f64::from(v * 7 % 40)).collect();
        let b: Vec<f64> = a.iter().map(|v| v + 100.0).collect();
        let found = bootstrap(&a, &b, 0.95, |a, b| mean(b) - mean(a)).expect("enough runs");
        // Standard deviation of 0..40 is 11.54; of the difference of two means of 40 of them 2.58.
        assert!((found.low - (100.0 - 1.96 * 2.58)).abs() < 0.8, "{found:?}");
        assert!((found.high - (100.0 + 1.96 * 2.58)).abs() < 0.8, "{found:?}");
        assert_eq!(bootstrap(&a, &b, 0.95, |a, b| mean(b) - mean(a)), Some(found), "the draws are the same");
        assert_eq!(bootstrap(&a[..4], &b, 0.95, |a, b| mean(b) - mean(a)), None);
    }
}
