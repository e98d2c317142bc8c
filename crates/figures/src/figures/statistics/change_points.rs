//! Where the level of a series changes: binary segmentation with Pettitt's test.
//!
//! Pettitt, A non-parametric approach to the change-point problem, Applied Statistics 28, 1979. A series in which the
//! test finds a change is cut there, and each part is searched in turn; then every change is found anew between its
//! neighbours and must pass again, since the first cut was made with the others still inside (Bai, Estimating multiple
//! breaks one at a time, 1997).
//!
//! A steady slope is no change of level: changes are reported only where levels describe the series better than one
//! straight line, by Schwarz's criterion on absolute deviations.

use super::median;
use super::rank::ranks;
use super::slope::line;

/// Where the level of a series changes, as indices of the first value after it, ascending. `false_alarm` is the
/// probability that a stretch of independent values without a change is cut.
pub(crate) fn changes(points: &[(f64, f64)], false_alarm: f64) -> Vec<usize> {
    let values: Vec<f64> = points.iter().map(|p| p.1).collect();
    let mut found = Vec::new();
    segment(&values, 0, false_alarm, &mut found);
    let found = refine(&values, found, false_alarm);
    if found.is_empty()
        || description(deviation_from_line(points), points.len(), 2)
            <= description(deviation_from_levels(&values, &found), points.len(), 1 + 2 * found.len())
    {
        return vec![];
    }
    found
}

/// Changes of `values`, which begin at `offset` of the whole.
fn segment(values: &[f64], offset: usize, false_alarm: f64, found: &mut Vec<usize>) {
    if let Some(at) = change(values, false_alarm) {
        segment(&values[..at], offset, false_alarm, found);
        found.push(offset + at);
        segment(&values[at..], offset + at, false_alarm, found);
    }
}

fn refine(values: &[f64], mut found: Vec<usize>, false_alarm: f64) -> Vec<usize> {
    if found.len() < 2 {
        return found;
    }
    let mut index = 0;
    while index < found.len() {
        let from = if index == 0 { 0 } else { found[index - 1] };
        let to = found.get(index + 1).copied().unwrap_or(values.len());
        match change(&values[from..to], false_alarm) {
            Some(at) => {
                found[index] = from + at;
                index += 1;
            }
            None => drop(found.remove(index)),
        }
    }
    found
}

/// The one change of a series that has at most one, where Pettitt's test finds it.
fn change(values: &[f64], false_alarm: f64) -> Option<usize> {
    let n = values.len() as f64;
    let mut sum = 0.0;
    let mut greatest: (f64, usize) = (0.0, 0);
    for (index, rank) in ranks(values).into_iter().enumerate() {
        sum += rank;
        let count = (index + 1) as f64;
        let statistic = (2.0 * sum - count * (n + 1.0)).abs();
        if statistic > greatest.0 {
            greatest = (statistic, index + 1);
        }
    }
    let chance = 2.0 * (-6.0 * greatest.0.powi(2) / (n.powi(3) + n.powi(2))).exp();
    (greatest.1 > 0 && chance <= false_alarm).then_some(greatest.1)
}

fn deviation_from_line(points: &[(f64, f64)]) -> f64 {
    let Some((slope, level)) = line(points) else { return 0.0 };
    points.iter().map(|(x, y)| (y - level - slope * x).abs()).sum()
}

fn deviation_from_levels(values: &[f64], changes: &[usize]) -> f64 {
    let ends = changes.iter().copied().chain([values.len()]);
    let mut from = 0;
    ends.map(|to| {
        let part = &values[from..to];
        from = to;
        let level = median(&mut part.to_vec()).unwrap_or(0.0);
        part.iter().map(|v| (v - level).abs()).sum::<f64>()
    })
    .sum()
}

/// Schwarz's criterion with errors of Laplace's distribution; less is better.
fn description(deviation: f64, values: usize, parameters: usize) -> f64 {
    let n = values as f64;
    n * (deviation / n).max(f64::MIN_POSITIVE).ln() + parameters as f64 * n.ln()
}

#[cfg(test)]
mod tests {
    use super::super::noise::Draw;
    use super::*;

    const FALSE_ALARM: f64 = 0.01;

    fn series(count: usize, mut value: impl FnMut(usize) -> f64) -> Vec<(f64, f64)> {
        (0..count).map(|i| (i as f64, value(i))).collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        assert_eq!(changes(&series(100, |i| if i < 37 { 5.0 } else { 6.0 }), FALSE_ALARM), [37]);
        let (mut near, mut more) = (0, 0);
        for seed in 0..200 {
            let mut draw = Draw(seed);
            let found = changes(&series(100, |i| if i < 60 { 0.0 } else { 3.0 } + draw.normal()), FALSE_ALARM);
            assert!(!found.is_empty(), "seed {seed}");
            near += usize::from(found.iter().any(|at| at.abs_diff(60) <= 2));
            more += found.len() - 1;
        }
        assert!(near >= 190, "{near} of 200");
        // Two stretches without a change are left each time, each cut once in a hundred at most.
        assert!(more <= 10, "{more} of 400");
    }

    #[test]
    fn several_steps_are_all_found() {
        let level = |i| [10.0, 14.0, 11.0, 18.0][i / 32];
        for seed in 0..20 {
            let mut draw = Draw(1000 + seed);
            let found = changes(&series(128, |i| level(i) + 0.5 * draw.normal()), FALSE_ALARM);
            assert_eq!(found.len(), 3, "seed {seed}: {found:?}");
            assert!(found.iter().zip([32, 64, 96]).all(|(at, step)| at.abs_diff(step) <= 1), "seed {seed}: {found:?}");
        }
    }

    #[test]
    fn white_noise_is_cut_no_more_often_than_stated() {
        for (name, noise) in [("normal", Draw::normal as fn(&mut Draw) -> f64), ("exponential", Draw::exponential)] {
            for count in [20, 128] {
                let found = (0..2000u64).filter(|seed| {
                    let mut draw = Draw(seed * 31 + 5);
                    !changes(&series(count, |_| noise(&mut draw)), FALSE_ALARM).is_empty()
                });
                let found = found.count();
                // Binomial(2000, 0.01) exceeds 34 once in a thousand times. Pettitt's approximation errs to the safe
                // side.
                assert!(found <= 34, "{name}, {count} values: {found} of 2000");
            }
        }
    }

    #[test]
    fn a_steady_slope_is_no_change_of_level() {
        assert_eq!(changes(&series(100, |i| 0.1 * i as f64), FALSE_ALARM), [0usize; 0]);
        let cut = (0..200).filter(|seed| {
            let mut draw = Draw(7 * seed);
            !changes(&series(128, |i| 0.1 * i as f64 + draw.normal()), FALSE_ALARM).is_empty()
        });
        assert!(cut.count() <= 6);
    }

    #[test]
    fn what_comes_and_goes_with_a_short_period_is_no_change() {
        for period in [2.0, 3.7, 7.0] {
            let found = changes(&series(128, |i| (std::f64::consts::TAU * i as f64 / period).sin()), FALSE_ALARM);
            assert_eq!(found, [0usize; 0], "period {period}");
        }
    }

    #[test]
    fn values_all_alike_have_no_change() {
        assert_eq!(changes(&series(100, |_| 4.0), FALSE_ALARM), [0usize; 0]);
        assert_eq!(changes(&[], FALSE_ALARM), [0usize; 0]);
    }
}
