//! Prints a diagnosis as text: one line for each finding, below it the consequence and the remedy.

use crate::{Diagnosis, Verdict};

const WIDTH: usize = 100;
/// The width of `unknown`, the longest verdict, and the gap.
const VERDICT: usize = 9;

/// Returns the diagnosis for a terminal, at most 100 columns wide.
pub fn render(diagnosis: &Diagnosis, colour: bool) -> String {
    let names = diagnosis.findings.iter().map(|finding| finding.name.chars().count()).max().unwrap_or(0);
    let indent = VERDICT + names + 2;
    let mut out = String::new();
    for finding in &diagnosis.findings {
        let word = format!("{:<VERDICT$}", finding.verdict.word());
        out.push_str(&if colour { format!("\x1b[{}m{word}\x1b[0m", escape(finding.verdict)) } else { word });
        out.push_str(&format!("{:<1$}  ", finding.name, names));
        hang(&mut out, "", &finding.found, indent);
        let below = finding.cost.iter().map(|cost| ("cost: ", cost));
        let below = below
            .chain(finding.mend.iter().enumerate().map(|(i, line)| (if i == 0 { "mend: " } else { "      " }, line)));
        for (label, line) in below {
            out.push_str(&" ".repeat(VERDICT));
            hang(&mut out, label, line, VERDICT);
        }
    }
    out.push('\n');
    hang(&mut out, "", &closing(diagnosis), 0);
    out
}

fn closing(diagnosis: &Diagnosis) -> String {
    let count = |verdict| diagnosis.findings.iter().filter(|finding| finding.verdict == verdict).count();
    let counts: Vec<String> = [Verdict::Ok, Verdict::Costs, Verdict::Broken, Verdict::Unknown]
        .into_iter()
        .map(|verdict| format!("{} {}", count(verdict), verdict.word()))
        .collect();
    let lacking: Vec<&str> = diagnosis
        .findings
        .iter()
        .filter(|finding| finding.needed && finding.verdict == Verdict::Broken)
        .map(|finding| finding.name.as_str())
        .collect();
    let allowed = match diagnosis.allowed.len() {
        0 => String::new(),
        count => format!(", {count} allowed"),
    };
    let usable = if lacking.is_empty() {
        "Nothing that record and bench need is broken".to_owned()
    } else {
        format!("Record and bench need what is broken: {}", lacking.join(", "))
    };
    format!("{usable} ({}{allowed}).", counts.join(", "))
}

fn escape(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Ok => 32,
        Verdict::Costs => 33,
        Verdict::Broken => 31,
        Verdict::Unknown => 2,
    }
}

/// Appends `text` after `label` in lines that begin at `indent`; the cursor is there already.
fn hang(out: &mut String, label: &str, text: &str, indent: usize) {
    let margin = " ".repeat(indent + label.chars().count());
    out.push_str(label);
    for (index, line) in wrap(text, WIDTH.saturating_sub(margin.len()).max(20)).iter().enumerate() {
        if index > 0 {
            out.push_str(&margin);
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Lines of at most `width` characters, broken between words, longer words anywhere. What a terminal would obey is made
/// visible: found text comes from the environment and from libraries.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split_whitespace() {
        let mut word: Vec<char> = tacho_printing::visible(word).chars().collect();
        if length > 0 && length + 1 + word.len() > width {
            lines.push(String::new());
            length = 0;
        }
        while word.len() > width {
            let rest = word.split_off(width);
            lines.last_mut().expect("never empty").extend(word);
            lines.push(String::new());
            word = rest;
        }
        let line = lines.last_mut().expect("never empty");
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        length += word.len();
        line.extend(word);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{diagnose, Facts, Finding};
    use tacho_events::run::Machine;

    fn of(findings: Vec<Finding>) -> Diagnosis {
        Diagnosis { usable: true, machine: Machine::default(), findings, allowed: vec![] }
    }

    #[test]
    fn a_finding_is_aligned_with_its_cost_and_its_mend_below() {
        let text = render(
            &of(vec![Finding::ok("smt", "none"), Finding::costs("governor", "powersave", "slow").mend("a").mend("b")]),
            false,
        );
        let expected = "\
ok       smt       none
costs    governor  powersave
         cost: slow
         mend: a
               b

Nothing that record and bench need is broken (1 ok, 1 costs, 0 broken, 0 unknown).
";
        assert_eq!(text, expected);
    }

    #[test]
    fn no_line_is_wider_than_a_hundred_columns_and_none_steers_the_terminal() {
        let long = format!("/{} \x1b[2J", "long/".repeat(60));
        let mut diagnosis = of(vec![Finding::broken("ros2", &long, long.clone()).mend(&long)]);
        diagnosis.findings.extend(diagnose(&Facts::default(), Machine::default(), &[]).unwrap().findings);
        let text = render(&diagnosis, false);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(!text.contains('\x1b'));
        assert!(render(&diagnosis, true).contains("\x1b[31mbroken"));
    }

    #[test]
    fn what_is_needed_and_broken_is_named_in_the_end() {
        let text = render(
            &of(vec![Finding::broken("recorder", "x", "y").needed(), Finding::broken("middleware-connext", "x", "y")]),
            false,
        );
        assert!(
            text.ends_with("Record and bench need what is broken: recorder (0 ok, 0 costs, 2 broken, 0 unknown).\n")
        );
    }
}
