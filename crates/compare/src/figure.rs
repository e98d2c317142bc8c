//! The figures of a run as things that can be compared: what each is about, its unit, and which direction is better.

mod catalogue;

pub use catalogue::figures;

use serde::Serialize;
use std::fmt;

/// What a figure is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Subject {
    /// The point of a sweep, `rate: 10 Hz, size: 64 KiB`; empty for a run that is no sweep.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub point: String,
    /// Kind of thing.
    pub kind: Kind,
    /// Name of the thing; empty for a run as a whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// Kinds of things that have figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All communication of a workload.
    Run,
    /// A chain.
    Chain,
    /// A topic.
    Topic,
    /// A callback.
    Callback,
    /// A service.
    Service,
    /// An action.
    Action,
    /// What the task of a node reports of its quality; the name is the node's.
    Quality,
}

impl Kind {
    /// Every kind with its word.
    pub const WORDS: [(Kind, &'static str); 7] = [
        (Kind::Run, "run"),
        (Kind::Chain, "chain"),
        (Kind::Topic, "topic"),
        (Kind::Callback, "callback"),
        (Kind::Service, "service"),
        (Kind::Action, "action"),
        (Kind::Quality, "quality"),
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.kind.word())?;
        if !self.name.is_empty() {
            write!(out, " {}", self.name)?;
        }
        if !self.point.is_empty() {
            write!(out, " ({})", self.point)?;
        }
        Ok(())
    }
}

/// The unit of a figure's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Percent.
    Percent,
    /// Bytes.
    Bytes,
    /// Hertz, or times a second.
    Hz,
    /// Things that are counted.
    Count,
    /// The figure's name has its unit.
    Named,
}

impl Unit {
    /// As it follows a value.
    pub fn text(self) -> &'static str {
        match self {
            Unit::Us => "us",
            Unit::Ms => "ms",
            Unit::Percent => "%",
            Unit::Bytes => "B",
            Unit::Hz => "Hz",
            Unit::Count | Unit::Named => "",
        }
    }
}

/// What a difference of a figure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither is: a difference is shown and not judged.
    Neutral,
}

/// One figure of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it is about.
    pub subject: Subject,
    /// `latency p99`.
    pub name: String,
    /// Unit of the value.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Whether it is a quantile near the end of a distribution, or its end.
    pub is_tail: bool,
    /// Whether it is compared; else it is there for expectations alone, because a figure beside it says the same.
    pub is_compared: bool,
    /// The value.
    pub value: f64,
}
