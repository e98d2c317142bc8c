//! Phases: when in their periods timers fired.

use super::Maker;
use std::collections::BTreeMap;
use tacho_events::run::RunInfo;
use tacho_tables::row::Row;
use tacho_tables::Callback;

/// Part of its period by which half of a timer's starts differ at most; otherwise it has no phase.
const STEADY: f64 = 0.05;
/// A start this early among all is hardly late.
const PUNCTUAL: f64 = 0.05;

impl Maker<'_> {
    /// The phase of a node whose timers have one rate and fire together: a part of their period from time 0 of the
    /// recording.
    pub(super) fn phase(&self, timers: impl Iterator<Item = (Row<Callback>, f64)>) -> Option<f64> {
        let mut found: Option<(f64, f64)> = None;
        for (row, hz) in timers {
            let phase = phase(&self.seen.callbacks.get(&row)?.started_ns, 1e9 / hz)?;
            match found {
                None => found = Some((phase, hz)),
                Some((first, of_first)) if hz == of_first && apart(first, phase) < STEADY => {}
                Some(_) => return None,
            }
        }
        found.map(|(phase, _)| phase)
    }

    /// The phases of the nodes of a workload of ours, which its run states.
    pub(super) fn stated_phases(&self, info: &RunInfo) -> BTreeMap<String, f64> {
        let of = |(name, phase): (&String, &f64)| {
            let twin = self.names.of_node(&format!("/{name}"))?;
            Some((twin.trim_start_matches('/').to_owned(), *phase))
        };
        info.phases.iter().filter_map(of).collect()
    }
}

/// How far two phases are apart, round the circle.
fn apart(one: f64, other: f64) -> f64 {
    let difference = (one - other).abs().fract();
    difference.min(1.0 - difference)
}

/// The phase of a timer by when its callback started; `None` if that is not steady.
fn phase(started_ns: &[i64], period_ns: f64) -> Option<f64> {
    let first_ns = *started_ns.first()?;
    let periods = |ns: i64| (ns - first_ns) as f64 / period_ns;
    let mut late: Vec<f64> = started_ns.iter().map(|ns| periods(*ns) - periods(*ns).round()).collect();
    late.sort_unstable_by(f64::total_cmp);
    let quantile = |part: f64| late[((late.len() - 1) as f64 * part) as usize];
    let is_steady = quantile(0.75) - quantile(0.25) < STEADY;
    is_steady.then(|| (first_ns as f64 / period_ns + quantile(PUNCTUAL)).rem_euclid(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_is_late_at_times_has_the_phase_of_its_due_times() {
        let late_ns = |k: i64| if k % 7 == 3 { 2_000_000 } else { 50_000 + 1_000 * (k % 5) };
        let started: Vec<i64> = (0..200).map(|k| 4_000_030_000_000 + k * 100_000_000 + late_ns(k)).collect();
        let found = phase(&started, 1e8).expect("a phase");
        assert!((found - 0.3).abs() < 0.001, "{found}");
        // The first one may be late itself, and its phase may lie at the edge.
        let edge: Vec<i64> = (3..200).map(|k| 4_000_000_000_000 - 40_000 + k * 100_000_000 + late_ns(k)).collect();
        let found = phase(&edge, 1e8).expect("a phase");
        assert!(apart(found, 0.0) < 0.001, "{found}");
    }

    #[test]
    fn what_drifts_or_comes_at_any_time_has_none() {
        let drifting: Vec<i64> = (0..200).map(|k| k * 101_000_000).collect();
        assert_eq!(phase(&drifting, 1e8), None);
        assert_eq!(phase(&[], 1e8), None);
    }
}
