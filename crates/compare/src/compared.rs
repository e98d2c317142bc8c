//! The comparison of two sides, figure by figure.

use crate::statistics::{
    bootstrap, holm, least_p, runs_to_reach, runs_to_show_a_difference, runs_to_show_equality, shift, Interval,
    RankSums,
};
use crate::{samples, Better, Figure, Side, Subject, Unit};
use serde::Serialize;
use std::collections::BTreeSet;

/// How to judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The smallest change that matters, as a part of the figure: 0.02.
    pub matters: f64,
    /// The chance of any false alarm that is accepted, over all figures: 0.05.
    pub alpha: f64,
}

/// What a comparison finds of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It changed for the worse, by as much as matters.
    Worse,
    /// It changed for the better, by as much as matters.
    Better,
    /// These runs do not show which.
    Undecided,
    /// It did not change by as much as matters.
    Unchanged,
    /// Neither direction is better.
    NotJudged,
}

impl Verdict {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Undecided => "undecided",
            Verdict::Unchanged => "unchanged",
            Verdict::NotJudged => "not judged",
        }
    }
}

/// One figure on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What it is about.
    pub subject: Subject,
    /// Its name.
    pub figure: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// What was found.
    pub verdict: Verdict,
    /// Values of the runs before.
    pub before: Vec<f64>,
    /// Values of the runs after.
    pub after: Vec<f64>,
    /// Median of the runs before.
    pub median_before: f64,
    /// Median of the runs after.
    pub median_after: f64,
    /// The shift of Hodges and Lehmann, in the figure's unit.
    pub shift: f64,
    /// Its interval; absent for too few runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_interval: Option<Interval>,
    /// The shift in percent: of the ratio if all values are above 0, else of the mean before; absent if that is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_percent: Option<f64>,
    /// Its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_interval_percent: Option<Interval>,
    /// Of the tail of a distribution: the change in percent of its mean over runs, by the bootstrap over runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_interval_percent: Option<Interval>,
    /// Two-sided p of Mann and Whitney.
    pub p: f64,
    /// The same adjusted for all figures that are judged; absent if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// Runs a side that would decide it, if further runs are like these; absent if it is decided, or if a thousand
    /// would not do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_needed: Option<usize>,
}

/// All figures on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Runs before.
    pub runs_before: usize,
    /// Runs after.
    pub runs_after: usize,
    /// The smallest change that matters, percent.
    pub matters_percent: f64,
    /// The accepted chance of any false alarm.
    pub alpha: f64,
    /// Figures that are judged.
    pub judged: usize,
    /// The least p that so many runs can reach.
    pub least_p: f64,
    /// Runs a side from which on any single figure can be called better or worse, with so many judged.
    pub runs_to_decide_any: usize,
    /// The figures of both sides: worse first.
    pub figures: Vec<Compared>,
    /// Figures that only runs before have.
    pub only_before: Vec<String>,
    /// Figures that only runs after have.
    pub only_after: Vec<String>,
    /// Names that stand for several things in one run, which cannot be matched.
    pub ambiguous: Vec<String>,
}

impl Comparison {
    /// How many figures have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.figures.iter().filter(|figure| figure.verdict == verdict).count()
    }

    /// Whether these runs can call any figure better or worse.
    pub fn can_decide(&self) -> bool {
        self.judged > 0 && self.least_p * self.judged as f64 <= self.alpha
    }
}

/// Compares two sides, each with at least one run. `wanted` chooses figures by subject and name.
pub fn compare(before: &Side, after: &Side, options: Options, wanted: &dyn Fn(&Subject, &str) -> bool) -> Comparison {
    let (first, mut ambiguous) = samples(before);
    let (second, more) = samples(after);
    ambiguous.extend(more);
    let compared = |sample: &[&Figure]| sample.iter().any(|figure| figure.is_compared);
    let is_wanted = |key: &(&Subject, &str)| wanted(key.0, key.1);
    let mut figures: Vec<Compared> = first
        .iter()
        .filter_map(|(key, before)| Some((key, before, second.get(key)?)))
        .filter(|(key, before, after)| is_wanted(key) && (compared(before) || compared(after)))
        .map(|(_, before, after)| measured(before, after, options))
        .collect();
    let judged: Vec<usize> = (0..figures.len()).filter(|at| figures[*at].better != Better::Neutral).collect();
    let adjusted = holm(&judged.iter().map(|at| figures[*at].p).collect::<Vec<_>>());
    for (at, p) in judged.iter().zip(adjusted) {
        judge(&mut figures[*at], p, judged.len(), options);
    }
    figures.sort_by(|a, b| a.verdict.cmp(&b.verdict).then(a.p.total_cmp(&b.p)));
    let only = |of: &std::collections::BTreeMap<(&Subject, &str), Vec<&Figure>>,
                other: &std::collections::BTreeMap<(&Subject, &str), Vec<&Figure>>| {
        let missing = of.iter().filter(|(key, sample)| {
            is_wanted(key) && compared(sample) && !other.contains_key(*key) && !ambiguous.contains(key)
        });
        missing.map(|((subject, name), _)| format!("{subject} {name}")).collect::<Vec<_>>()
    };
    let named: BTreeSet<String> =
        ambiguous.iter().filter(|key| is_wanted(key)).map(|(subject, _)| subject.to_string()).collect();
    Comparison {
        runs_before: before.len(),
        runs_after: after.len(),
        matters_percent: 100.0 * options.matters,
        alpha: options.alpha,
        judged: judged.len(),
        least_p: least_p(before.len(), after.len()),
        runs_to_decide_any: runs_to_reach(options.alpha / judged.len().max(1) as f64),
        only_before: only(&first, &second),
        only_after: only(&second, &first),
        ambiguous: named.into_iter().collect(),
        figures,
    }
}

/// A figure before anything is judged.
fn measured(before: &[&Figure], after: &[&Figure], options: Options) -> Compared {
    let (first, second): (Vec<f64>, Vec<f64>) =
        (before.iter().map(|figure| figure.value).collect(), after.iter().map(|figure| figure.value).collect());
    let of = before[0];
    let confidence = 1.0 - options.alpha;
    let moved = shift(&first, &second, confidence);
    let (change, interval) = if first.iter().chain(&second).all(|value| *value > 0.0) {
        // On logarithms a shift is a ratio, and its interval is as exact.
        let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
        let ratio = shift(&logarithms(&first), &logarithms(&second), confidence);
        let percent = |logarithm: f64| 100.0 * logarithm.exp_m1();
        (Some(percent(ratio.estimate)), ratio.interval.map(|interval| interval.map(percent)))
    } else {
        let scale = mean(&first).abs();
        let percent = |shift: f64| 100.0 * shift / scale;
        match scale > 0.0 {
            true => (Some(percent(moved.estimate)), moved.interval.map(|interval| interval.map(percent))),
            false => (None, None),
        }
    };
    let tail = of.is_tail && mean(&first) > 0.0;
    let bootstrapped = tail.then(|| bootstrap(&first, &second, confidence, |a, b| 100.0 * (mean(b) / mean(a) - 1.0)));
    Compared {
        subject: of.subject.clone(),
        figure: of.name.clone(),
        unit: of.unit,
        better: of.better,
        verdict: Verdict::NotJudged,
        median_before: median(&first),
        median_after: median(&second),
        shift: moved.estimate,
        shift_interval: moved.interval,
        change_percent: change,
        change_interval_percent: interval,
        bootstrap_interval_percent: bootstrapped.flatten(),
        p: RankSums::of(&first, &second).p(),
        p_holm: None,
        runs_needed: None,
        before: first,
        after: second,
    }
}

/// Judges a figure of which `p` is the adjusted p among `judged` figures.
fn judge(of: &mut Compared, p: f64, judged: usize, options: Options) {
    // Without a scale (all values before are 0) every change matters.
    let (change, interval, matters) = match of.change_percent {
        Some(change) => (change, of.change_interval_percent, 100.0 * options.matters),
        None => (of.shift, of.shift_interval, 0.0),
    };
    of.p_holm = Some(p);
    let rises = change > 0.0;
    // A ratio of -2 % is as large as one of +2.04 %: the bound is meant in either direction.
    let is_large = change != 0.0 && change.abs() >= matters;
    let is_within = |interval: Option<Interval>| interval.is_some_and(|interval| interval.is_within(matters));
    of.verdict = if p <= options.alpha && is_large {
        match rises == (of.better == Better::Lower) {
            true => Verdict::Worse,
            false => Verdict::Better,
        }
    } else if is_within(interval)
        && (of.bootstrap_interval_percent.is_none() || is_within(of.bootstrap_interval_percent))
    {
        Verdict::Unchanged
    } else {
        Verdict::Undecided
    };
    if of.verdict != Verdict::Undecided {
        return;
    }
    let runs = of.before.len().min(of.after.len());
    of.runs_needed = if is_large {
        // As if half a pair more were won by each side: three runs a side that do not overlap are no proof that none
        // ever will.
        let pairs = (of.before.len() * of.after.len()) as f64;
        let superiority = (RankSums::of(&of.before, &of.after).superiority() * pairs + 0.5) / (pairs + 1.0);
        runs_to_show_a_difference(superiority, options.alpha / judged as f64).map(|needed| needed.max(runs + 1))
    } else {
        match interval {
            Some(interval) => runs_to_show_equality(runs, change, (interval.high - interval.low) / 2.0, matters),
            // Too few runs for an interval: as many as have one at all come first.
            None => Some(runs_to_reach(options.alpha).max(runs + 1)),
        }
    };
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    tacho_tables::summary::quantile(&sorted, 0.5).unwrap_or(f64::NAN)
}
