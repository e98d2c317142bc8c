//! Work as measured: quantiles of what executions took.

use std::time::Duration;
use tacho_workload::model::Work;

/// Times that differ by less than this part of their mean are one time.
const ALIKE: f64 = 0.02;
/// The mean of what is drawn may be off by this part.
const MEAN_OFF: f64 = 0.01;
/// Numbers of quantiles, tried in turn until the mean is right.
const COUNTS: [usize; 6] = [5, 11, 21, 41, 101, 257];
/// A quantile is rounded to this, because less is noise and nobody reads it.
const ROUNDED_TO_NS: i64 = 1_000;
/// Times whose standard deviation is less are one time: it is what one wake-up differs from another.
const SCATTER_NS: f64 = 5_000.0;
/// Correlations below this part change little, and twice their standard error lies above it even in long recordings.
const CORRELATED_FROM: f64 = 0.1;
/// Standard deviation from which on a correlation is the work's: short times resemble each other by the machine's pace.
const CORRELATED_FROM_NS: f64 = 20_000.0;
/// Standard errors that a correlation must be away from none.
const STANDARD_ERRORS: f64 = 3.0;
/// Time off the CPU below which no callback is said to sleep: a wake-up takes as long.
const SLEEPS_FROM_NS: i64 = 100_000;

/// The distribution of the times of activations in their order, ns; none without any.
pub fn of(mut times: Vec<i64>) -> Work {
    times.retain(|ns| *ns >= 0);
    let autocorrelation_percent = (autocorrelation(&times) * 100.0).round();
    times.sort_unstable();
    let (Some(least), Some(most)) = (times.first(), times.last()) else { return Work::None };
    let mean = times.iter().sum::<i64>() as f64 / times.len() as f64;
    let rounded = |ns: f64| Duration::from_nanos(((ns / ROUNDED_TO_NS as f64).round() as i64 * ROUNDED_TO_NS) as u64);
    let variance = times.iter().map(|ns| (*ns as f64 - mean).powi(2)).sum::<f64>() / times.len() as f64;
    if ((most - least) as f64) <= ALIKE * mean || variance < SCATTER_NS * SCATTER_NS {
        return match rounded(mean) {
            Duration::ZERO => Work::None,
            time => Work::Fixed(time),
        };
    }
    let mut found = Work::None;
    for count in COUNTS {
        let place = |k: usize| (k * (times.len() - 1)) as f64 / (count - 1) as f64;
        let times = (0..count).map(|k| rounded(between(&times, place(k)))).collect();
        found = Work::Quantiles { times, autocorrelation_percent };
        if (found.mean().as_nanos() as f64 - mean).abs() <= (MEAN_OFF * mean).max(SCATTER_NS) {
            break;
        }
    }
    match found {
        Work::Quantiles { times, .. } if times.first() == times.last() => {
            times.first().map_or(Work::None, |time| Work::Fixed(*time))
        }
        found => found,
    }
}

/// By how much times resemble those before them, from 0 to 1: their correlation, if chance does not explain it. It is 0
/// if times alternate, because no draw repeats less often than never.
fn autocorrelation(times: &[i64]) -> f64 {
    let mean = times.iter().sum::<i64>() as f64 / times.len().max(1) as f64;
    let off = |ns: &i64| *ns as f64 - mean;
    let variance: f64 = times.iter().map(|ns| off(ns).powi(2)).sum();
    let together: f64 = times.windows(2).map(|pair| off(&pair[0]) * off(&pair[1])).sum();
    let found = together / variance;
    let least = (STANDARD_ERRORS / (times.len() as f64).sqrt()).max(CORRELATED_FROM);
    let deviates_ns = (variance / times.len().max(1) as f64).sqrt();
    // Not a number if all times are equal.
    if found >= least && deviates_ns >= CORRELATED_FROM_NS {
        found.min(1.0)
    } else {
        0.0
    }
}

/// The sleep that some times off the CPU show; none if most are what a wake-up takes, or a wait for a CPU.
pub fn sleep(times: Vec<i64>) -> Work {
    let mut sorted = times.clone();
    sorted.sort_unstable();
    match sorted.get(sorted.len() / 4) {
        Some(quarter) if *quarter >= SLEEPS_FROM_NS => of(times),
        _ => Work::None,
    }
}

fn between(sorted: &[i64], place: f64) -> f64 {
    let below = (place as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] as f64 + (sorted[above] - sorted[below]) as f64 * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_workload::random::Draws;

    #[test]
    fn the_mean_is_kept_whatever_the_tail() {
        let times: Vec<i64> = (0..1000).map(|k| if k % 100 == 0 { 20_000_000 } else { 1_000_000 + 100 * k }).collect();
        let mean = times.iter().sum::<i64>() as f64 / times.len() as f64;
        let work = of(times);
        assert!(!matches!(work, Work::Quantiles { autocorrelation_percent, .. } if autocorrelation_percent > 0.0));
        assert!((work.mean().as_nanos() as f64 / mean - 1.0).abs() < 0.01, "{work:?}");
        assert_eq!(work.longest(), Duration::from_millis(20));
    }

    #[test]
    fn times_that_are_alike_are_one_time_and_none_are_none() {
        assert_eq!(of(vec![1_000_100, 1_000_900, 1_001_900]), Work::Fixed(Duration::from_micros(1001)));
        assert_eq!((of(vec![]), of(vec![100, 200])), (Work::None, Work::None));
        assert_eq!(of([vec![2_000; 400], vec![60_000]].concat()), Work::Fixed(Duration::from_micros(2)));
    }

    #[test]
    fn times_that_resemble_those_before_them_are_drawn_so() {
        let times = [2, 3, 5, 20].map(Duration::from_millis).to_vec();
        for (planted, least, most) in [(0.0, 0.0, 0.0), (50.0, 45.0, 55.0), (90.0, 87.0, 93.0)] {
            let work = Work::Quantiles { times: times.clone(), autocorrelation_percent: planted };
            let (mut draws, mut before) = (Draws::new(7), None);
            let drawn = (0..5_000).map(|_| draws.work_ns(&work, &mut before) as i64).collect();
            let Work::Quantiles { autocorrelation_percent: found, .. } = of(drawn) else { panic!("{work:?}") };
            assert!((least..=most).contains(&found), "{planted}: {found}");
        }
        // Few of them show nothing, and neither do times that alternate.
        assert_eq!(autocorrelation(&[1, 2, 3, 4]), 0.0);
        assert_eq!(autocorrelation(&[1, 9].repeat(500)), 0.0);
        assert_eq!(autocorrelation(&[5; 500]), 0.0);
        // Nor do those that differ by a few us.
        let in_bursts = |short, long| autocorrelation(&[[short; 9], [long; 9]].concat().repeat(100));
        assert_eq!(in_bursts(60_000, 80_000), 0.0);
        assert!((0.75..0.8).contains(&in_bursts(60_000, 160_000)), "two of 18 differ from the one before");
    }

    #[test]
    fn what_a_wake_up_takes_is_no_sleep() {
        assert_eq!(sleep(vec![5_000, 40_000, 3_000, 2_000_000]), Work::None);
        assert_eq!(sleep(vec![3_000_000; 5]), Work::Fixed(Duration::from_millis(3)));
    }
}
