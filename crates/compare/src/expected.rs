//! Whether runs keep what is expected of them.

use crate::{Better, Figure, Kind, Side, Unit};
use serde::Serialize;
use std::collections::BTreeSet;
use tacho_workload::expect::{Bound, Expectation, Quantity};

/// Whether one expectation was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The figure as the file names it.
    pub figure: String,
    /// The limit as the file has it.
    pub limit: String,
    /// Where it stands.
    pub place: String,
    /// Whether every run that should have the figure has it and keeps it.
    pub kept: bool,
    /// One sentence with the worst value.
    pub text: String,
    /// The worst value of all runs, in the figure's unit; absent if no run has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
}

/// Holds every run of a side against every expectation. A run that did not measure a figure does not keep its limit.
/// The error is text for people: a figure that does not exist, or a unit of another kind.
pub fn expected(expectations: &[Expectation], side: &Side) -> Result<Vec<Outcome>, String> {
    expectations.iter().map(|one| held(one, side)).collect()
}

fn held(expectation: &Expectation, side: &Side) -> Result<Outcome, String> {
    let mut worst: Option<(f64, &Figure)> = None;
    let mut without = 0;
    let (mut kept, mut rises_worse) = (true, true);
    for run in side {
        let of_run = meant(&expectation.figure, run);
        without += usize::from(of_run.is_empty());
        for figure in of_run {
            let limit = in_unit(expectation, figure)?;
            let bound = expectation.bound.unwrap_or(match figure.better {
                Better::Higher => Bound::AtLeast,
                Better::Lower | Better::Neutral => Bound::AtMost,
            });
            rises_worse = matches!(bound, Bound::Below | Bound::AtMost);
            kept &= bound.is_kept(figure.value, limit);
            let is_worse = |than: f64| if rises_worse { figure.value > than } else { figure.value < than };
            if worst.is_none_or(|(than, _)| is_worse(than)) {
                worst = Some((figure.value, figure));
            }
        }
    }
    let Expectation { figure, text: limit, place, .. } = expectation;
    let text = match worst {
        None if !is_known(figure) => {
            return Err(format!("{place}: found the figure `{figure}`, which no run has; {}", known(side)))
        }
        None => format!("{figure}: {limit}: not kept, no run measured it"),
        Some((value, of)) => {
            let verdict = if kept && without == 0 { "kept" } else { "not kept" };
            let which = if rises_worse { "greatest" } else { "least" };
            let lacking = match without {
                0 => String::new(),
                runs => format!("; {runs} of {} runs did not measure it", side.len()),
            };
            let (unit, subject) = (of.unit.text(), &of.subject);
            format!("{figure}: {limit}: {verdict}, the {which} is {value:.3} {unit} ({subject}){lacking}")
        }
    };
    Ok(Outcome {
        figure: figure.clone(),
        limit: limit.clone(),
        place: place.clone(),
        kept: kept && without == 0 && worst.is_some(),
        text,
        worst: worst.map(|(value, _)| value),
    })
}

/// The figures of a run that an expectation means: `[KIND NAME] FIGURE [STATISTIC]`. Without a kind it is of the run,
/// or, if the run has no such figure of its own, of every topic. Times without a statistic mean the greatest.
fn meant<'a>(words: &str, run: &'a [Figure]) -> Vec<&'a Figure> {
    let is_named = |figure: &Figure, words: &str| {
        words == figure.name || figure.name.strip_suffix(" max").is_some_and(|name| name == words)
    };
    let of_kind =
        Kind::WORDS.iter().find_map(|(kind, word)| Some((*kind, words.strip_prefix(word)?.strip_prefix(' ')?)));
    if let Some((kind, rest)) = of_kind {
        let is_meant = |figure: &&Figure| {
            let of = &figure.subject;
            // Names have spaces: the name is what stands before the figure.
            let rest = if of.name.is_empty() { Some(rest) } else { rest.strip_prefix(&of.name).map(str::trim_start) };
            of.kind == kind && rest.is_some_and(|rest| is_named(figure, rest))
        };
        return run.iter().filter(is_meant).collect();
    }
    let of = |kind: Kind| run.iter().filter(|figure| figure.subject.kind == kind && is_named(figure, words)).collect();
    let found: Vec<&Figure> = of(Kind::Run);
    if found.is_empty() {
        of(Kind::Topic)
    } else {
        found
    }
}

/// Names of figures that some runs have and others do not: not to have been measured is then no slip of the pen.
const KNOWN: [&str; 24] = [
    "acceptance",
    "age",
    "age-held",
    "cpu",
    "duration",
    "end-to-end",
    "fairness spread",
    "handling",
    "late",
    "latency",
    "loss",
    "lost",
    "preemptions",
    "pss",
    "queue wait",
    "rate",
    "reaction",
    "result",
    "round trip",
    "rss",
    "send lateness",
    "skipped",
    "startup",
    "wakeups",
];

fn is_known(words: &str) -> bool {
    let bare = ["mean", "median", "p99", "max"]
        .iter()
        .find_map(|statistic| words.strip_suffix(statistic)?.strip_suffix(' '))
        .unwrap_or(words);
    let is_named = |name: &str| bare.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with(' '));
    KNOWN.iter().any(|name| is_named(name)) || words.starts_with("quality ")
}

fn known(side: &Side) -> String {
    let names: BTreeSet<&str> = side.iter().flatten().map(|figure| figure.name.as_str()).collect();
    match names.len() {
        0 => format!("expected one of {}", KNOWN.join(", ")),
        _ => format!("expected one of {}", names.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// The limit in the unit of the figure.
fn in_unit(expectation: &Expectation, figure: &Figure) -> Result<f64, String> {
    match (figure.unit, expectation.limit) {
        (Unit::Us, Quantity::Time(ns)) => Ok(ns / 1e3),
        (Unit::Ms, Quantity::Time(ns)) => Ok(ns / 1e6),
        (Unit::Percent, Quantity::Percent(value))
        | (Unit::Bytes, Quantity::Size(value))
        | (Unit::Hz, Quantity::Rate(value))
        | (Unit::Count | Unit::Named, Quantity::Number(value)) => Ok(value),
        (unit, _) => {
            let wanted = match unit {
                Unit::Us | Unit::Ms => "a time, `2 ms`",
                Unit::Percent => "percent, `0 %`",
                Unit::Bytes => "a size, `64 MiB`",
                Unit::Hz => "a frequency, `10 Hz`",
                Unit::Count | Unit::Named => "a number",
            };
            let Expectation { figure, text, place, .. } = expectation;
            Err(format!("{place}: found `{text}` for `{figure}`; expected {wanted}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Subject;
    use tacho_workload::expect::parse;

    fn figure(kind: Kind, subject: &str, name: &str, unit: Unit, value: f64) -> Figure {
        let subject = Subject { point: String::new(), kind, name: subject.into() };
        Figure { subject, name: name.into(), unit, better: Better::Lower, is_tail: false, is_compared: true, value }
    }

    fn kept(text: &str, side: &Side) -> Result<bool, String> {
        let outcomes = expected(&parse(text, "limits.yaml").expect("in order"), side)?;
        Ok(outcomes.iter().all(|outcome| outcome.kept))
    }

    #[test]
    fn the_worst_run_counts() {
        let run = |max| vec![figure(Kind::Chain, "/points to /brake", "reaction max", Unit::Ms, max)];
        let side = vec![run(90.0), run(120.0)];
        assert_eq!(kept("chain /points to /brake reaction: < 121 ms", &side), Ok(true));
        assert_eq!(kept("chain /points to /brake reaction: < 120 ms", &side), Ok(false));
        assert_eq!(kept("chain /points to /brake reaction max: 120 ms", &side), Ok(true));
        assert_eq!(kept("chain another reaction: < 1 s", &side), Ok(false), "nothing of it was measured");
        assert_eq!(kept("chain /points to /brake reaction: 1 s", &vec![run(90.0), vec![]]), Ok(false));
    }

    #[test]
    fn without_a_kind_it_is_of_the_run_else_of_every_topic() {
        let topics = vec![
            figure(Kind::Topic, "/a", "loss", Unit::Percent, 0.0),
            figure(Kind::Topic, "/b", "loss", Unit::Percent, 3.0),
        ];
        assert_eq!(kept("loss: 0 %", &vec![topics.clone()]), Ok(false));
        assert_eq!(kept("topic /a loss: 0 %", &vec![topics.clone()]), Ok(true));
        let with_run = [topics, vec![figure(Kind::Run, "", "loss", Unit::Percent, 0.0)]].concat();
        assert_eq!(kept("loss: 0 %", &vec![with_run]), Ok(true));
    }

    #[test]
    fn what_no_run_knows_and_units_of_another_kind_are_refused_with_their_line() {
        let side = vec![vec![figure(Kind::Run, "", "latency p99", Unit::Us, 2000.0)]];
        assert_eq!(kept("latency p99: <= 2 ms", &side), Ok(true));
        assert_eq!(kept("latency p99: < 2 ms", &side), Ok(false));
        let unit = kept("\nlatency p99: 2 %", &side).expect_err("a unit of another kind");
        assert!(unit.contains("limits.yaml:2") && unit.contains("expected a time"), "{unit}");
        let name = kept("latncy p99: 2 ms", &side).expect_err("no figure");
        assert!(name.contains("latncy") && name.contains("latency p99"), "{name}");
        assert_eq!(kept("startup mean: 1 s", &side), Ok(false), "not measured");
    }
}
