//! A finding: the name of a lint, its verdict, the evidence, the consequence, and the remedy.

use serde::Serialize;

/// The verdict of a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// Works, and takes something from a figure or a choice from the user.
    Costs,
    /// Does not work.
    Broken,
    /// It could not be determined.
    Unknown,
}

impl Verdict {
    /// `ok`, `costs`, `broken`, `unknown`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Costs => "costs",
            Verdict::Broken => "broken",
            Verdict::Unknown => "unknown",
        }
    }
}

/// The result of one lint on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable; what `--allow` takes.
    pub name: String,
    /// Verdict.
    pub verdict: Verdict,
    /// Whether `tacho record` or `tacho bench` cannot work without it.
    pub needed: bool,
    /// The evidence.
    pub found: String,
    /// Which figure it affects; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Commands, one a line, or advice if no command helps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mend: Vec<String>,
}

impl Finding {
    fn new(name: impl Into<String>, verdict: Verdict, found: impl Into<String>) -> Finding {
        Finding { name: name.into(), verdict, needed: false, found: found.into(), cost: None, mend: Vec::new() }
    }

    pub(crate) fn ok(name: impl Into<String>, found: impl Into<String>) -> Finding {
        Finding::new(name, Verdict::Ok, found)
    }

    pub(crate) fn costs(name: impl Into<String>, found: impl Into<String>, cost: impl Into<String>) -> Finding {
        Finding { cost: Some(cost.into()), ..Finding::new(name, Verdict::Costs, found) }
    }

    pub(crate) fn broken(name: impl Into<String>, found: impl Into<String>, cost: impl Into<String>) -> Finding {
        Finding { cost: Some(cost.into()), ..Finding::new(name, Verdict::Broken, found) }
    }

    /// `found`: what could not be read.
    pub(crate) fn unknown(name: impl Into<String>, found: impl Into<String>) -> Finding {
        Finding::new(name, Verdict::Unknown, found)
    }

    pub(crate) fn needed(self) -> Finding {
        Finding { needed: true, ..self }
    }

    /// Adds a line of what mends it.
    pub(crate) fn mend(mut self, line: impl Into<String>) -> Finding {
        self.mend.push(line.into());
        self
    }
}
