//! Reads what makes a node compute: its executor, and how it joins its inputs.

use crate::diagnostic::did_you_mean;
use crate::document::{Value, Yaml};
use crate::grammar::{self, Form};
use crate::model::{Executor, Matching, Policy};
use crate::values::Reader;
use std::time::Duration;

/// Longest times between stamps.
const MAX_BETWEEN: Duration = Duration::from_secs(3600);

/// The value of `on`, or of `spin`.
pub(super) enum On {
    Executor(Executor),
    /// A message of this input makes the node compute, with the latest of the others (study B: Cyber RT's way). The
    /// model has it as [`Executor::Arrival`] whose other inputs are `latest`.
    First(String),
    Match {
        policy: Policy,
    },
}

impl Reader<'_, '_> {
    pub(super) fn on(&mut self, yaml: &Yaml) -> Option<On> {
        let text = self.text(yaml, Form::Executor)?.trim();
        let (word, rest) = text.split_once(' ').map_or((text, ""), |(word, rest)| (word, rest.trim()));
        let part = || Yaml { span: yaml.span, value: Value::Scalar(rest.to_string(), true) };
        match (word, rest) {
            ("arrival", "") => Some(On::Executor(Executor::Arrival)),
            ("timer", rate) if !rate.is_empty() => {
                self.frequency(&part()).map(|hz| On::Executor(Executor::Timer { hz }))
            }
            ("first", topic) if !topic.is_empty() => self.topic(&part()).map(On::First),
            ("match", "exact") => Some(On::Match { policy: Policy::Exact }),
            ("match", "approximate") => Some(On::Match { policy: Policy::Approximate }),
            ("match", "newest") => Some(On::Match { policy: Policy::Newest }),
            _ => {
                let hint = if did_you_mean(text, ["arrival"]).is_some() { "; did you mean `arrival`?" } else { "" };
                let expected = Form::Executor.expected() + hint;
                self.report.error("wrong-value", yaml.span, "no such executor", yaml.describe(), expected);
                None
            }
        }
    }

    /// Under `on: first` this option says what `first` says already, so it can only contradict it.
    pub(super) fn latest_beside_first(&mut self, yaml: &Yaml, latest: bool, is_first: bool) {
        if latest == is_first {
            self.report.error(
                "latest-beside-first",
                yaml.span,
                "under `on: first`, that input makes the node compute, and the others are `latest`",
                format!("`latest: {latest}`"),
                "no `latest`, or `on: arrival`",
            );
        }
    }

    /// Reads the parameters of `on: match`.
    pub(super) fn matching(&mut self, policy: Policy, yaml: Option<&Yaml>) -> Option<Matching> {
        let unless_said = Matching { policy, ..Matching::default() };
        let Some(yaml) = yaml else { return Some(unless_said) };
        let fields = self.fields(yaml, &grammar::MATCH)?;
        for key in ["max_interval", "age_penalty", "lower_bounds"] {
            if let (false, Some(span)) = (policy == Policy::Approximate, fields.key_span(key)) {
                self.report.error(
                    "not-of-exact",
                    span,
                    format!("`{key}` has no meaning with this `match`"),
                    format!("`{key}`"),
                    "`queue` alone, or `on: match approximate`",
                );
            }
        }
        let queue = fields.get("queue").and_then(|y| self.whole_number(y, 1, 1_000_000));
        let mut lower_bounds = Vec::new();
        if let Some(bounds) = fields.get("lower_bounds") {
            for (_, topic, time) in self.entries(bounds, Form::Bounds, "bound")? {
                if let (Some(topic), Some(time)) = (self.topic(topic), self.duration(time, MAX_BETWEEN)) {
                    lower_bounds.push((topic, time));
                }
            }
        }
        Some(Matching {
            policy,
            queue: queue.map_or(unless_said.queue, |queue| queue as u32),
            max_interval: fields.get("max_interval").and_then(|y| self.duration(y, MAX_BETWEEN)),
            age_penalty_percent: fields
                .get("age_penalty")
                .and_then(|y| self.percent(y))
                .unwrap_or(unless_said.age_penalty_percent),
            lower_bounds,
        })
    }
}
