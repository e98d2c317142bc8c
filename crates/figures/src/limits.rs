//! Limits of a chain's worst case, for CI: `reaction 150 ms` is kept or it is not, and what was not measured keeps
//! nothing.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use tacho_tables::summary::{ChainFigures, Distribution};
use tacho_workload::units;

/// A figure of a chain whose maximum is limited; docs/figures-of-chains.md, "chains", has the definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limited {
    EndToEnd,
    Reaction,
    Age,
    AgeHeld,
}

impl Limited {
    const WORDS: [(Limited, &'static str); 4] = [
        (Limited::EndToEnd, "end-to-end"),
        (Limited::Reaction, "reaction"),
        (Limited::Age, "age"),
        (Limited::AgeHeld, "age-held"),
    ];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(known, _)| *known == self).map_or("", |(_, word)| word)
    }

    /// Its maximum in ms, or more where an input still waited at the end.
    fn worst_ms(self, chain: &ChainFigures) -> Option<f64> {
        let of = |figure: &Option<Distribution>| figure.as_ref().map(|d| d.max);
        match self {
            Limited::EndToEnd => of(&chain.end_to_end_ms),
            Limited::Reaction => {
                [of(&chain.reaction_time_ms), chain.reaction_pending_ms].into_iter().flatten().reduce(f64::max)
            }
            Limited::Age => of(&chain.data_age_ms),
            Limited::AgeHeld => of(&chain.data_age_held_ms),
        }
    }
}

/// `end-to-end 100 ms`, `reaction 150 ms`, `age 200 ms`, `age-held 250 ms`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    figure: Limited,
    ms: f64,
}

impl Limit {
    /// Where it is one of each instance's end-to-end time.
    pub fn of_instances(&self) -> Option<Duration> {
        (self.figure == Limited::EndToEnd).then(|| Duration::from_secs_f64(self.ms / 1e3))
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        let expected =
            "expected a figure and a time, such as 'reaction 150 ms'; figures are end-to-end, reaction, age, age-held";
        let (word, time) = text.trim().split_once(' ').ok_or(expected)?;
        let (figure, _) =
            Limited::WORDS.iter().find(|(_, known)| *known == word).ok_or_else(|| format!("{word}: {expected}"))?;
        let time = units::parse_duration(time.trim()).map_err(|error| format!("{time}: {error}"))?;
        Ok(Limit { figure: *figure, ms: time.as_secs_f64() * 1e3 })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ms", self.figure.word(), self.ms)
    }
}

/// Whether a limit was kept, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// False also where nothing was measured.
    pub kept: bool,
    /// `reaction 150 ms: kept, the worst of /points to /brake is 83.210 ms`.
    pub text: String,
}

/// Judges a limit on all chains of a name, which are several where several paths have it: the worst of them counts.
pub fn judge(limit: &Limit, name: &str, chains: &[ChainFigures]) -> Verdict {
    let worst = chains
        .iter()
        .filter(|chain| chain.name == name)
        .filter_map(|chain| limit.figure.worst_ms(chain))
        .reduce(f64::max);
    match worst {
        None => Verdict {
            kept: false,
            text: format!("{limit}: not kept, nothing of {name} was measured: no instance came through"),
        },
        Some(worst) => {
            let kept = worst <= limit.ms;
            let guessed = chains.iter().filter(|chain| chain.name == name).find(|chain| !chain.guessed_at.is_empty());
            let guessed = guessed
                .map_or(String::new(), |chain| format!("; it rests on a guess at {}", chain.guessed_at.join(", ")));
            Verdict {
                kept,
                text: format!(
                    "{limit}: {}, the worst of {name} is {worst:.3} ms{guessed}",
                    if kept { "kept" } else { "not kept" }
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(name: &str, reaction: Option<f64>, pending: Option<f64>) -> ChainFigures {
        let reaction_time_ms = reaction.map(|max| Distribution { count: 1, max, ..Distribution::default() });
        ChainFigures { name: name.into(), reaction_time_ms, reaction_pending_ms: pending, ..ChainFigures::default() }
    }

    fn kept(limit: &str, chains: &[ChainFigures]) -> bool {
        judge(&limit.parse().expect("a limit"), "/points to /brake", chains).kept
    }

    #[test]
    fn the_worst_path_counts_and_what_was_not_measured_is_not_kept() {
        let name = "/points to /brake";
        let both = [chain(name, Some(90.0), None), chain(name, Some(120.0), None), chain("another", Some(500.0), None)];
        assert!(kept("reaction 120 ms", &both));
        assert!(!kept("reaction 119ms", &both));
        assert!(!kept("age 1 s", &both), "not measured");
        assert!(!kept("reaction 1 s", &[chain("another", Some(1.0), None)]), "no such chain");
    }

    #[test]
    fn an_input_that_still_waits_at_the_end_has_waited_so_long_at_least() {
        assert!(!kept("reaction 1 s", &[chain("/points to /brake", Some(90.0), Some(4_000.0))]));
    }

    #[test]
    fn what_is_no_limit_is_refused_with_what_was_expected() {
        for text in ["reaction", "reacts 5 ms", "reaction 5", ""] {
            assert!(
                text.parse::<Limit>().is_err_and(|error| error.contains("expected") || error.contains("unit")),
                "{text}"
            );
        }
        assert_eq!("age-held 250us".parse::<Limit>().map(|l| l.to_string()), Ok("age-held 0.25 ms".into()));
    }
}
