//! Errors and warnings that point at the place in the file, as a good compiler does.

use std::fmt;
use tacho_printing::{is_obeyed, Visible};

/// Characters of a line that are shown at most: a twin has lines of thousands.
const SHOWN: usize = 160;
/// Those of them that stand before a place far behind the beginning of its line.
const BEFORE: usize = 40;

/// A part of one line of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// Characters to underline, at least 1.
    pub width: usize,
}

/// Whether the workload can still run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The workload cannot run.
    Error,
    /// The workload can run, but will probably not do what was intended.
    Warning,
}

/// One finding about a workload file. Its `Display` renders it completely: place, line, underlining, found, expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Short stable name of the kind of finding, such as `missing-unit`.
    pub name: &'static str,
    /// The file, as the caller of [`crate::parse`] named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// Characters that the finding covers, at least 1.
    pub width: usize,
    /// What is wrong.
    pub message: String,
    /// What the file contains there.
    pub found: String,
    /// What it should contain.
    pub expected: String,
    /// The line of the file.
    pub source: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let (file, message) = (Visible(&self.file), Visible(&self.message));
        writeln!(f, "{file}:{}:{}: {severity}: {message} [{}]", self.line, self.column, self.name)?;
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let at = self.column - 1;
        let from = if at + self.width <= SHOWN { 0 } else { at.saturating_sub(BEFORE) };
        let source: Vec<char> = self.source.chars().skip(from).collect();
        // Keeps tabs, so that the underlining is below the right characters however wide the terminal shows tabs.
        let indent: String = source.iter().take(at - from).map(|c| if *c == '\t' { '\t' } else { ' ' }).collect();
        // Replaces each character by exactly one, so that the underlining stays in place.
        let visible = source.iter().take(SHOWN).map(|c| if is_obeyed(*c) && *c != '\t' { '\u{fffd}' } else { *c });
        let cut = if from == 0 { "" } else { "…" };
        let visible: String = cut.chars().chain(visible.skip(cut.chars().count())).collect();
        let rest = if source.len() > SHOWN { "…" } else { "" };
        let underlining = "^".repeat(self.width.min(SHOWN - (at - from)));
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {visible}{rest}")?;
        writeln!(f, "{margin} | {indent}{underlining}")?;
        writeln!(f, "{margin} = found: {}", Visible(&self.found))?;
        write!(f, "{margin} = expected: {}", Visible(&self.expected))
    }
}

/// A finding that does not keep a workload from running.
pub type Warning = Diagnostic;

/// Why a file is not a workload: all its mistakes, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errors {
    /// The errors, at least one.
    pub errors: Vec<Diagnostic>,
    /// Warnings about the same file.
    pub warnings: Vec<Warning>,
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in self.errors.iter().chain(&self.warnings) {
            writeln!(f, "{diagnostic}\n")?;
        }
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        write!(f, "{}", count(self.errors.len(), "error"))?;
        if !self.warnings.is_empty() {
            write!(f, ", {}", count(self.warnings.len(), "warning"))?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// Collects the findings about one file.
pub(crate) struct Report<'a> {
    file: &'a str,
    lines: Vec<&'a str>,
    pub errors: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
}

impl<'a> Report<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        // Line ends are those of YAML 1.2: CR LF, LF, CR.
        let lines = text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r')).collect();
        Report { file, lines, errors: Vec::new(), warnings: Vec::new() }
    }

    pub fn error(
        &mut self,
        name: &'static str,
        span: Span,
        message: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        let diagnostic = self.diagnostic(Severity::Error, name, span, message.into(), found.into(), expected.into());
        self.errors.push(diagnostic);
    }

    pub fn warning(
        &mut self,
        name: &'static str,
        span: Span,
        message: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        let diagnostic = self.diagnostic(Severity::Warning, name, span, message.into(), found.into(), expected.into());
        self.warnings.push(diagnostic);
    }

    /// Returns errors and warnings, each in the order of the file.
    pub fn finish(mut self) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        self.errors.sort_by_key(|d| (d.line, d.column));
        self.warnings.sort_by_key(|d| (d.line, d.column));
        (self.errors, self.warnings)
    }

    fn diagnostic(
        &self,
        severity: Severity,
        name: &'static str,
        span: Span,
        message: String,
        found: String,
        expected: String,
    ) -> Diagnostic {
        let source = self.lines.get(span.line.saturating_sub(1)).copied().unwrap_or_default().to_string();
        let length = source.chars().count();
        let column = span.column.clamp(1, length + 1);
        let width = span.width.clamp(1, (length + 1).saturating_sub(column).max(1));
        Diagnostic {
            severity,
            name,
            file: self.file.to_string(),
            line: span.line,
            column,
            width,
            message,
            found,
            expected,
            source,
        }
    }
}

/// Returns the known word that a mistyped one most likely stands for: at most a third of its letters differ.
pub(crate) fn did_you_mean<'w>(found: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    if found.chars().count() > 64 {
        return None;
    }
    known
        .into_iter()
        .map(|word| (edit_distance(&found.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(distance, word)| *distance <= (word.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            rows[i][j] = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                rows[i][j] = rows[i][j].min(rows[i - 2][j - 2] + 1);
            }
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_is_recognised_and_a_foreign_one_is_not() {
        let known = ["subscribes", "publishes", "work", "spin"];
        assert_eq!(did_you_mean("subscribe", known), Some("subscribes"));
        assert_eq!(did_you_mean("pubilshes", known), Some("publishes"));
        assert_eq!(did_you_mean("wrok", known), Some("work"));
        assert_eq!(did_you_mean("colour", known), None);
    }

    #[test]
    fn the_underlining_stands_under_the_place() {
        let mut report = Report::new("w.yaml", "a:\n\trate: 10\n");
        report.error("missing-unit", Span { line: 2, column: 8, width: 2 }, "no unit", "10", "10 Hz");
        let (errors, _) = report.finish();
        assert_eq!(
            errors[0].to_string(),
            "w.yaml:2:8: error: no unit [missing-unit]\n  |\n2 | \trate: 10\n  | \t      ^^\n  = found: 10\n  \
             = expected: 10 Hz"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("a: [{}, x, {}]\n", "1".repeat(1000), "2".repeat(1000));
        let mut report = Report::new("w.yaml", &text);
        report.error("no-number", Span { line: 1, column: 1007, width: 1 }, "no number", "x", "a number");
        report.error("no-list", Span { line: 1, column: 4, width: 2000 }, "no list", "a list", "a map");
        let (errors, _) = report.finish();
        let lines = |place: usize| Vec::from_iter(errors[place].to_string().lines().map(str::to_owned));
        let (shown, under) = (&lines(1)[2], &lines(1)[3]);
        assert_eq!(*shown, format!("1 | …{}, x, {}…", "1".repeat(37), "2".repeat(117)));
        assert_eq!(*under, format!("  | {}^", " ".repeat(40)));
        let (shown, under) = (&lines(0)[2], &lines(0)[3]);
        assert_eq!(*shown, format!("1 | a: [{}…", "1".repeat(156)));
        assert_eq!(*under, format!("  | {}{}", " ".repeat(3), "^".repeat(157)));
    }
}
