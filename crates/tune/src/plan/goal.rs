//! What a plan is to improve, and what it must keep.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tacho_workload::units::parse_duration;

/// A figure of a system that a plan can improve or bound; less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Mean end-to-end time, ms.
    Mean,
    /// 99th percentile of the end-to-end time, ms.
    P99,
    /// Greatest end-to-end time, ms.
    Worst,
    /// Greatest reaction time, ms.
    Reaction,
    /// Greatest data age, ms.
    Age,
    /// CPU time of all nodes, percent of one CPU.
    Cpu,
    /// Time for 100 m at the greatest speed at which the car drives safely, s (docs/tune.md).
    Drive,
}

const FIGURES: [(&str, Figure); 7] = [
    ("mean", Figure::Mean),
    ("p99", Figure::P99),
    ("worst", Figure::Worst),
    ("reaction", Figure::Reaction),
    ("age", Figure::Age),
    ("cpu", Figure::Cpu),
    ("drive", Figure::Drive),
];

impl Figure {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        FIGURES.iter().find(|(_, figure)| *figure == self).map_or("", |(name, _)| name)
    }

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Figure::Cpu => "%",
            Figure::Drive => "s/100 m",
            _ => "ms",
        }
    }

    /// How far simulations of other systems are off, as a part, for most of those that were measured
    /// (benchmarks/README.md, Prediction). A changed system is another one, so a promise allows for it.
    pub fn usual_error(self) -> f64 {
        match self {
            Figure::Mean => 0.05,
            Figure::Cpu => 0.1,
            Figure::P99 | Figure::Worst | Figure::Reaction | Figure::Age => 0.15,
            // Speeds are compared, not times of chains.
            Figure::Drive => 0.0,
        }
    }

    /// Whether it is one of a chain, or else of the whole system.
    pub fn is_of_chain(self) -> bool {
        !matches!(self, Figure::Cpu | Figure::Drive)
    }
}

/// A figure of a chain, or of the whole system: `p99 localisation`, `cpu`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Goal {
    /// The figure.
    pub figure: Figure,
    /// The chain; absent for a figure of the system, and if the chain that is tuned is meant.
    pub chain: Option<String>,
}

impl Goal {
    /// The chain that it is of, if `tuned` is the one that is tuned.
    pub fn chain<'a>(&'a self, tuned: &'a str) -> &'a str {
        self.chain.as_deref().unwrap_or(tuned)
    }
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Goal, String> {
        let expected = "expected mean, p99, worst, reaction or age, and a chain if it is not the tuned one; or cpu or \
                        drive";
        let wrong = || format!("found `{text}`, {expected}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let (name, chain) = match words.as_slice() {
            [name] => (*name, None),
            [name, chain] => (*name, Some((*chain).to_owned())),
            _ => return Err(wrong()),
        };
        let figure = FIGURES.iter().find(|(known, _)| *known == name).map(|(_, figure)| *figure);
        let figure = figure.filter(|figure| chain.is_none() || figure.is_of_chain());
        Ok(Goal { figure: figure.ok_or_else(wrong)?, chain })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.chain {
            Some(chain) => write!(f, "{} {chain}", self.figure.name()),
            None => f.write_str(self.figure.name()),
        }
    }
}

impl TryFrom<String> for Goal {
    type Error = String;

    fn try_from(text: String) -> Result<Goal, String> {
        text.parse()
    }
}

impl From<Goal> for String {
    fn from(goal: Goal) -> String {
        goal.to_string()
    }
}

/// The most that a figure may be: `p99 localisation=50 ms`, `cpu=60 %`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bound {
    /// The figure.
    pub goal: Goal,
    /// The most, in the unit of the figure.
    pub most: f64,
    /// As it was written.
    text: String,
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Bound, String> {
        let wrong = |what: &str| format!("found `{text}`, expected {what}");
        let (goal, most) = text.split_once('=').ok_or_else(|| wrong("FIGURE=VALUE, such as p99=50 ms or cpu=60 %"))?;
        let (goal, most) = (goal.parse::<Goal>()?, most.trim());
        let value = match goal.figure {
            Figure::Cpu => most.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok()),
            Figure::Drive => parse_duration(most).ok().map(|time| time.as_secs_f64()),
            _ => parse_duration(most).ok().map(|time| time.as_secs_f64() * 1e3),
        };
        let unit =
            if goal.figure == Figure::Cpu { "percent of one CPU, such as cpu=60 %" } else { "a time with its unit" };
        let most = value.filter(|value| value.is_finite() && *value > 0.0).ok_or_else(|| wrong(unit))?;
        Ok(Bound { goal, most, text: text.to_owned() })
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Bound {
    type Error = String;

    fn try_from(text: String) -> Result<Bound, String> {
        text.parse()
    }
}

impl From<Bound> for String {
    fn from(bound: Bound) -> String {
        bound.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_and_bounds_are_read_as_they_are_written() {
        for text in ["mean", "p99 localisation", "cpu", "drive"] {
            assert_eq!(text.parse::<Goal>().expect("a goal").to_string(), text);
        }
        let most = |text: &str| text.parse::<Bound>().map(|bound| bound.most);
        assert_eq!(
            (most("p99 localisation=50 ms"), most("worst=0.2s"), most("cpu=60 %"), most("drive=12 s")),
            (Ok(50.0), Ok(200.0), Ok(60.0), Ok(12.0))
        );
    }

    #[test]
    fn what_is_no_goal_or_bound_is_an_error_that_quotes_it() {
        for text in ["best", "", "cpu localisation", "drive control", "p99 a b"] {
            assert!(text.parse::<Goal>().expect_err(text).contains(&format!("`{text}`")));
        }
        for text in ["p99", "p99=50", "cpu=60", "cpu=0 %", "mean=-1 ms"] {
            assert!(text.parse::<Bound>().expect_err(text).contains(&format!("`{text}`")));
        }
    }
}
