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
/// Time off the CPU below which no callback is said to sleep: a wake-up takes as long.
const SLEEPS_FROM_NS: i64 = 100_000;

/// The distribution of some times, ns; none without any.
pub fn of(mut times: Vec<i64>) -> Work {
    times.retain(|ns| *ns >= 0);
    times.sort_unstable();
    let (Some(least), Some(most)) = (times.first(), times.last()) else { return Work::None };
    let mean = times.iter().sum::<i64>() as f64 / times.len() as f64;
    let rounded = |ns: f64| Duration::from_nanos(((ns / ROUNDED_TO_NS as f64).round() as i64 * ROUNDED_TO_NS) as u64);
    if ((most - least) as f64) <= ALIKE * mean || rounded(*least as f64) == rounded(*most as f64) {
        return match rounded(mean) {
            Duration::ZERO => Work::None,
            time => Work::Fixed(time),
        };
    }
    let mut found = Work::None;
    for count in COUNTS {
        let place = |k: usize| (k * (times.len() - 1)) as f64 / (count - 1) as f64;
        found = Work::Quantiles((0..count).map(|k| rounded(between(&times, place(k)))).collect());
        if (found.mean().as_nanos() as f64 - mean).abs() <= (MEAN_OFF * mean).max(ROUNDED_TO_NS as f64) {
            break;
        }
    }
    match found {
        Work::Quantiles(of) if of.first() == of.last() => of.first().map_or(Work::None, |time| Work::Fixed(*time)),
        found => found,
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

    #[test]
    fn the_mean_is_kept_whatever_the_tail() {
        let times: Vec<i64> = (0..1000).map(|k| if k % 100 == 0 { 20_000_000 } else { 1_000_000 + 100 * k }).collect();
        let mean = times.iter().sum::<i64>() as f64 / times.len() as f64;
        let work = of(times);
        assert!((work.mean().as_nanos() as f64 / mean - 1.0).abs() < 0.01, "{work:?}");
        assert_eq!(work.longest(), Duration::from_millis(20));
    }

    #[test]
    fn times_that_are_alike_are_one_time_and_none_are_none() {
        assert_eq!(of(vec![1_000_100, 1_000_900, 1_001_900]), Work::Fixed(Duration::from_micros(1001)));
        assert_eq!((of(vec![]), of(vec![100, 200])), (Work::None, Work::None));
    }

    #[test]
    fn what_a_wake_up_takes_is_no_sleep() {
        assert_eq!(sleep(vec![5_000, 40_000, 3_000, 2_000_000]), Work::None);
        assert_eq!(sleep(vec![3_000_000; 5]), Work::Fixed(Duration::from_millis(3)));
    }
}
