//! The file of expectations: limits of figures, one a line.
//!
//! ```
//! let text = "
//! loss: 0 %
//! latency p99: < 2 ms
//! chain localisation reaction: < 150 ms
//! ";
//! let expected = tacho_workload::expect::parse(text, "limits.yaml")?;
//! assert_eq!(expected[1].figure, "latency p99");
//! assert_eq!(expected[1].bound, Some(tacho_workload::expect::Bound::Below));
//! # Ok::<(), tacho_workload::Errors>(())
//! ```

use crate::diagnostic::{Errors, Report, Span};
use crate::document::{self, Value, Yaml};
use crate::units;
use std::fmt;

const EXPECTED: &str = "a limit with its unit: `0 %`, `< 2 ms`, `at least 9.5 Hz`";

/// How a figure is held against its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

impl Bound {
    /// Longer signs first, because the shorter ones begin them.
    /// YAML wants quotes around what begins with `>`; words need none.
    const SIGNS: [(&'static str, Bound); 6] = [
        ("<=", Bound::AtMost),
        (">=", Bound::AtLeast),
        ("<", Bound::Below),
        (">", Bound::Above),
        ("at most", Bound::AtMost),
        ("at least", Bound::AtLeast),
    ];

    /// Whether a value keeps a limit.
    pub fn is_kept(self, value: f64, limit: f64) -> bool {
        match self {
            Bound::Below => value < limit,
            Bound::AtMost => value <= limit,
            Bound::Above => value > limit,
            Bound::AtLeast => value >= limit,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(Bound::SIGNS.iter().find(|(_, bound)| bound == self).map_or("", |(sign, _)| sign))
    }
}

/// A limit with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// A time, ns.
    Time(f64),
    /// A part, percent.
    Percent(f64),
    /// A size, bytes.
    Size(f64),
    /// A frequency, Hz.
    Rate(f64),
    /// A number without a unit: of things that are counted, or of a figure that has its unit in its name.
    Number(f64),
}

/// What is expected of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// `chain localisation reaction`, as written.
    pub figure: String,
    /// Absent: the value is the worst that is accepted.
    pub bound: Option<Bound>,
    /// The limit.
    pub limit: Quantity,
    /// The limit as written: `< 150 ms`.
    pub text: String,
    /// Where it stands: `limits.yaml:3`.
    pub place: String,
}

/// Reads a file of expectations. `file` is only its name in messages. All mistakes are reported at once.
pub fn parse(text: &str, file: &str) -> Result<Vec<Expectation>, Errors> {
    let mut report = Report::new(file, text);
    let mut found: Vec<Expectation> = Vec::new();
    match document::parse(text) {
        Err(error) => report.error("syntax", error.span, error.message, error.found, error.expected),
        Ok(Some(Yaml { value: Value::Map(pairs), .. })) => {
            for (key, value) in &pairs {
                if let Some(one) = expectation(key, value, file, &mut report) {
                    if let Some(first) = found.iter().find(|first| first.figure == one.figure) {
                        let first = format!("`{}`, first in {}", one.figure, first.place);
                        report.error("duplicate", key.span, "stands here a second time", first, "each once");
                    }
                    found.push(one);
                }
            }
        }
        Ok(root) => {
            let (span, what) = root
                .map_or((Span { line: 1, column: 1, width: 1 }, "nothing".into()), |root| (root.span, root.describe()));
            report.error("not-a-map", span, "no expectations", what, "a map of a figure to a limit, `loss: 0 %`");
        }
    }
    let (errors, warnings) = report.finish();
    if errors.is_empty() {
        Ok(found)
    } else {
        Err(Errors { errors, warnings })
    }
}

fn expectation(key: &Yaml, value: &Yaml, file: &str, report: &mut Report<'_>) -> Option<Expectation> {
    let Value::Scalar(figure, _) = &key.value else {
        report.error("not-a-name", key.span, "no figure", key.describe(), "the name of a figure, `latency p99`");
        return None;
    };
    let text = match &value.value {
        Value::Scalar(text, _) if !value.is_null() => text.trim(),
        _ => {
            report.error("no-limit", value.span, "no limit", value.describe(), EXPECTED);
            return None;
        }
    };
    let sign = Bound::SIGNS.iter().find(|(sign, _)| text.starts_with(sign));
    let number = sign.map_or(text, |(sign, _)| text[sign.len()..].trim_start());
    match quantity(number) {
        Some(limit) => Some(Expectation {
            figure: figure.split_whitespace().collect::<Vec<_>>().join(" "),
            bound: sign.map(|(_, bound)| *bound),
            limit,
            text: text.to_owned(),
            place: format!("{file}:{}", key.span.line),
        }),
        None => {
            report.error("not-a-limit", value.span, "not a limit", value.describe(), EXPECTED);
            None
        }
    }
}

fn quantity(text: &str) -> Option<Quantity> {
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(Quantity::Number(number));
    }
    units::parse_duration(text)
        .map(|time| Quantity::Time(time.as_nanos() as f64))
        .or_else(|_| units::parse_percent(text).map(Quantity::Percent))
        .or_else(|_| units::parse_size(text).map(|bytes| Quantity::Size(bytes as f64)))
        .or_else(|_| units::parse_frequency(text).map(Quantity::Rate))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_signs_and_units() {
        let text = "loss: 0 %\nlatency  p99: < 2 ms\ntopic /a rate: '>= 9.5 Hz'\n\
                    topic /b rate: at least 1 kHz\npss: <=64 MiB\nquality /car x_m: <0.5\n";
        let found = parse(text, "limits.yaml").expect("in order");
        let limits: Vec<_> = found.iter().map(|one| (one.figure.as_str(), one.bound, one.limit)).collect();
        assert_eq!(
            limits,
            [
                ("loss", None, Quantity::Percent(0.0)),
                ("latency p99", Some(Bound::Below), Quantity::Time(2e6)),
                ("topic /a rate", Some(Bound::AtLeast), Quantity::Rate(9.5)),
                ("topic /b rate", Some(Bound::AtLeast), Quantity::Rate(1000.0)),
                ("pss", Some(Bound::AtMost), Quantity::Size(64.0 * 1_048_576.0)),
                ("quality /car x_m", Some(Bound::Below), Quantity::Number(0.5)),
            ]
        );
        assert_eq!(found[2].place, "limits.yaml:3");
    }

    #[test]
    fn mistakes_name_their_line_and_what_was_expected() {
        let mistakes = parse("loss: few\nlatency:\nloss: 0 %\nloss: 1 %\n", "limits.yaml").expect_err("mistakes");
        let lines: Vec<usize> = mistakes.errors.iter().map(|error| error.line).collect();
        assert_eq!(lines, [1, 2, 4]);
        assert!(mistakes.to_string().contains("`< 2 ms`"), "{mistakes}");
        assert!(parse("", "limits.yaml").is_err());
        assert!(parse("- loss\n", "limits.yaml").is_err());
    }
}
