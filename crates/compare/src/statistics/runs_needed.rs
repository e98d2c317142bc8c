//! How many runs a side would decide what these runs leave open.

use super::normal::upper_quantile;
use super::rank_sum::least_p;

/// Nobody makes more runs than this: beyond it no number is named.
pub const MOST_RUNS: usize = 1000;
/// With as many runs as are named, nine of ten comparisons decide.
const POWER: f64 = 0.9;

/// Least number of runs on each of two sides that can reach this p at all.
pub fn runs_to_reach(p: f64) -> usize {
    (1..=MOST_RUNS).find(|runs| least_p(*runs, *runs) <= p).unwrap_or(MOST_RUNS)
}

/// Runs a side that show the difference at this two-sided p, if `superiority` (the part of pairs that the second side
/// wins) is as the runs so far have it: Noether, *Sample size determination for some common nonparametric tests*, 1987,
/// with a variance that shrinks as one side wins nearly all pairs; Noether keeps it, and asks for twice as many runs
/// there. Absent if the sides do not differ, or for more than [`MOST_RUNS`].
pub fn runs_to_show_a_difference(superiority: f64, p: f64) -> Option<usize> {
    let away = (superiority - 0.5).abs();
    let shrinks = (4.0 * superiority * (1.0 - superiority)).sqrt();
    let distance = upper_quantile(p / 2.0) + upper_quantile(1.0 - POWER) * shrinks;
    named((distance.powi(2) / (6.0 * away.powi(2))).max(runs_to_reach(p) as f64))
}

/// Runs a side after which an interval that is `above` its estimate and `below` it by so much now lies within `matters`
/// on either side of 0: widths shrink with the square root of the number of runs. Absent if the estimate itself lies
/// outside, or for more than [`MOST_RUNS`].
pub fn runs_to_show_equality(runs: usize, estimate: f64, half_width: f64, matters: f64) -> Option<usize> {
    let room = matters - estimate.abs();
    if room <= 0.0 {
        return None;
    }
    named((runs as f64 * (half_width / room).powi(2)).max(runs as f64 + 1.0))
}

fn named(runs: f64) -> Option<usize> {
    (runs <= MOST_RUNS as f64).then(|| runs.ceil() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_runs_a_side_never_reach_one_in_twenty() {
        assert_eq!(runs_to_reach(0.05), 4);
        assert_eq!(runs_to_reach(0.1), 3);
        assert_eq!(runs_to_reach(0.01), 5);
    }

    #[test]
    fn the_size_of_a_difference_names_the_number_of_runs() {
        // Noether: (1.960 + 1.282)^2 / (12 * 1/4 * 0.05^2) values in all, half of them a side.
        let noether: f64 = (1.959964f64 + 1.281552).powi(2) / (3.0 * 0.0025) / 2.0;
        let found = runs_to_show_a_difference(0.55, 0.05).expect("fewer than a thousand") as f64;
        assert!((found / noether - 1.0).abs() < 0.01, "{found}, {noether}");
        assert!((runs_to_reach(1e-5)..=14).contains(&runs_to_show_a_difference(1.0, 1e-5).expect("few")));
        assert_eq!(runs_to_show_a_difference(1.0, 0.05), Some(4));
        assert_eq!(runs_to_show_a_difference(0.5, 0.05), None);
    }

    #[test]
    fn twice_the_precision_takes_four_times_the_runs() {
        assert_eq!(runs_to_show_equality(5, 0.0, 4.0, 2.0), Some(20));
        assert_eq!(runs_to_show_equality(5, 3.0, 4.0, 2.0), None);
    }
}
