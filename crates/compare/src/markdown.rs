//! Verdicts as Markdown, for the summary of a pull request.

use crate::{Compared, Comparison, Outcome, Verdict};
use std::fmt::Write;

/// Rows of each verdict at most: a summary is read on a phone.
const MOST_ROWS: usize = 30;

/// The verdict in a line, then a table of what changed, then what is expected; the rest is counted.
pub fn markdown(comparison: Option<&Comparison>, outcomes: &[Outcome]) -> String {
    let mut out = String::from("### Timing\n\n");
    if let Some(comparison) = comparison {
        out.push_str(&headline(comparison));
        out.push_str("\n\n");
        let changed: Vec<&Compared> =
            comparison.figures.iter().filter(|of| matches!(of.verdict, Verdict::Worse | Verdict::Better)).collect();
        if !changed.is_empty() {
            out.push_str("| | figure | before | after | change |\n| --- | --- | ---: | ---: | ---: |\n");
            for of in changed.iter().take(MOST_ROWS) {
                let (before, after) = (value(of, of.median_before), value(of, of.median_after));
                let name = cell(&format!("{} {}", of.subject, of.figure));
                let row = format!("| {} | {name} | {before} | {after} | {} |", of.verdict.word(), percent(of));
                line(&mut out, &row);
            }
            if changed.len() > MOST_ROWS {
                line(&mut out, &format!("\nAnd {} more.", changed.len() - MOST_ROWS));
            }
            out.push('\n');
        }
    }
    if !outcomes.is_empty() {
        out.push_str("| expected | | |\n| --- | --- | --- |\n");
        for of in outcomes {
            let verdict = if of.kept { "kept" } else { "**not kept**" };
            line(&mut out, &format!("| {} | {verdict} | {} |", cell(&of.figure), cell(&of.text)));
        }
    }
    out
}

/// The verdict in a sentence or two.
pub fn headline(comparison: &Comparison) -> String {
    let Comparison { runs_before, runs_after, judged, matters_percent, .. } = comparison;
    let of = |verdict| comparison.count(verdict);
    let mut text = format!(
        "{runs_before} against {runs_after} runs, {judged} figures: {} worse, {} better, {} undecided, {} unchanged \
         (within {matters_percent} %).",
        of(Verdict::Worse),
        of(Verdict::Better),
        of(Verdict::Undecided),
        of(Verdict::Unchanged)
    );
    if *judged > 0 && !comparison.can_decide() {
        write!(
            text,
            " So few runs cannot show a difference: the least p of {runs_before} and {runs_after} runs is {:.2}, and \
             {judged} figures need {:.2}. {} runs a side can.",
            comparison.least_p,
            Significant(comparison.alpha / *judged as f64),
            comparison.runs_to_decide_any
        )
        .unwrap_or_else(|_| unreachable!("a string takes all text"));
    }
    text
}

/// A probability with as many digits after the point as show two that count.
struct Significant(f64);

impl std::fmt::Display for Significant {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = (1.0 - self.0.log10().floor()).clamp(2.0, 12.0) as usize;
        write!(out, "{:.digits$}", self.0)
    }
}

/// `+5.1 % (+3.0 to +7.2)`; in the figure's unit if no percentage can be had.
pub fn percent(of: &Compared) -> String {
    let (value, interval, unit) = match of.change_percent {
        Some(percent) => (percent, of.change_interval_percent, "%"),
        None => (of.shift, of.shift_interval, of.unit.text()),
    };
    let interval = interval.map(|of| format!(" ({:+.1} to {:+.1})", of.low, of.high)).unwrap_or_default();
    format!("{value:+.1} {unit}{interval}")
}

/// A value with four significant digits at least, and its unit.
pub fn value(of: &Compared, value: f64) -> String {
    let digits = match value.abs() {
        large if large >= 1000.0 => 0,
        some if some >= 100.0 => 1,
        some if some >= 10.0 => 2,
        0.0 => 0,
        _ => 3,
    };
    format!("{value:.digits$} {}", of.unit.text()).trim_end().to_owned()
}

/// `412 us to 433 us, +5.1 % (+3.0 to +7.2), p 0.002`.
pub fn change(of: &Compared) -> String {
    let p = of.p_holm.map(|p| format!(", p {p:.3} over all figures")).unwrap_or_default();
    let needed = match (of.verdict, of.runs_needed) {
        (Verdict::Undecided, Some(runs)) => format!("; about {runs} runs a side would decide"),
        _ => String::new(),
    };
    format!("{} to {}, {}{p}{needed}", value(of, of.median_before), value(of, of.median_after), percent(of))
}

/// Foreign text in a cell of a table: it ends no cell, and is no mark-up.
fn cell(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
        out
    })
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_a_cell() {
        assert_eq!(cell("a|b\n*c*"), "a\\|b \\*c\\*");
    }

    #[test]
    fn small_probabilities_keep_two_digits() {
        assert_eq!(Significant(0.05).to_string(), "0.050");
        assert_eq!(Significant(0.00123).to_string(), "0.0012");
    }
}
