//! Verdicts as JUnit XML, which CI systems show beside other tests.

use crate::{Comparison, Outcome, Verdict};
use std::fmt::Write;

/// One test case a judged figure and one an expectation. Worse figures and expectations that were not kept are
/// failures; undecided figures are skipped, because nothing is known of them.
pub fn junit(comparison: Option<&Comparison>, outcomes: &[Outcome]) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    if let Some(comparison) = comparison {
        let judged: Vec<_> = comparison.figures.iter().filter(|of| of.verdict != Verdict::NotJudged).collect();
        let cases = judged.iter().map(|of| {
            let what = crate::markdown::change(of);
            let inner = match of.verdict {
                Verdict::Worse => element("failure", &format!("worse: {what}")),
                Verdict::Undecided => element("skipped", &format!("undecided: {what}")),
                _ => String::new(),
            };
            case(&of.subject.to_string(), &of.figure, &inner)
        });
        let (worse, skipped) = (comparison.count(Verdict::Worse), comparison.count(Verdict::Undecided));
        suite(&mut suites, "comparison", judged.len(), worse, skipped, cases.collect());
        (tests, failures) = (tests + judged.len(), failures + worse);
    }
    if !outcomes.is_empty() {
        let cases = outcomes.iter().map(|of| {
            let inner = if of.kept { String::new() } else { element("failure", &of.text) };
            case(&of.place, &format!("{}: {}", of.figure, of.limit), &inner)
        });
        let failed = outcomes.iter().filter(|of| !of.kept).count();
        suite(&mut suites, "expectations", outcomes.len(), failed, 0, cases.collect());
        (tests, failures) = (tests + outcomes.len(), failures + failed);
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tacho compare\" tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"0\">\n{suites}</testsuites>\n"
    )
}

fn suite(out: &mut String, name: &str, tests: usize, failures: usize, skipped: usize, cases: String) {
    writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n\
         {cases}  </testsuite>"
    )
    .unwrap_or_else(|_| unreachable!("a string takes all text"));
}

fn case(class: &str, name: &str, inner: &str) -> String {
    let (class, name) = (escaped(class), escaped(name));
    match inner {
        "" => format!("    <testcase classname=\"{class}\" name=\"{name}\"/>\n"),
        inner => format!("    <testcase classname=\"{class}\" name=\"{name}\">{inner}</testcase>\n"),
    }
}

fn element(name: &str, message: &str) -> String {
    format!("<{name} message=\"{}\"/>", escaped(message))
}

/// Text inside an attribute. XML 1.0 has no way to write control characters: they become U+FFFD.
fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", u32::from(c))),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_topics_are_text_whatever_they_hold() {
        assert_eq!(escaped("a<b>&\"c\"\u{1b}\n"), "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd}&#10;");
    }
}
