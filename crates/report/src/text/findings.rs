//! What lints found.

use super::Terminal;
use tacho_tables::summary::{Finding, FindingCase};

/// Cases of a finding that are reported, where there are more.
const CASES_TOLD: usize = 2;

impl Terminal {
    /// Each finding with its worst cases and what to try; nothing where nobody looked.
    pub(super) fn findings(&self, out: &mut String, findings: Option<&[Finding]>) {
        let Some(findings) = findings.filter(|findings| !findings.is_empty()) else { return };
        self.heading(
            out,
            "Findings (each is explained in docs/lints.md; --allow NAME leaves one out, --deny NAME exits 1)",
        );
        for finding in findings {
            let count = if finding.count == 1 { String::new() } else { format!(" ({} cases)", finding.count) };
            self.line(out, &format!("{}{count}: {}", finding.lint, finding.finds));
            // The line that says how many more there are has room for one.
            let many = !self.whole && finding.cases.len() > CASES_TOLD + 1;
            let told = &finding.cases[..if many { CASES_TOLD } else { finding.cases.len() }];
            for (place, case) in told.iter().enumerate() {
                let repeats = case.repeats.map_or(String::new(), |repeats| format!(" [in {repeats} repeats]"));
                self.line(out, &format!("- {}{repeats}: {}. Costs: {}.", case.subject, case.evidence, case.cost));
                // Once for all that it is the same for.
                let goes_on = told.get(place + 1).is_some_and(|after| after.next == case.next);
                if self.whole && !goes_on {
                    self.line(out, &format!("Next: {}.", case.next));
                }
            }
            let more = finding.count.saturating_sub(told.len() as u64);
            if more > 0 {
                let how = if many { ": --all shows them, --node NAME those of a node" } else { "" };
                self.line(out, &format!("- and {more} more{how}"));
            }
            if !self.whole {
                self.next(out, &finding.cases);
            }
        }
    }

    /// What to try of all cases, or of the worst where it is another for each.
    fn next(&self, out: &mut String, cases: &[FindingCase]) {
        let Some(worst) = cases.first() else { return };
        let of = if cases.iter().all(|case| case.next == worst.next) {
            String::new()
        } else {
            format!(" for {}", worst.subject)
        };
        self.line(out, &format!("Next{of}: {}.", worst.next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(lint: &str, nexts: &[&str]) -> Finding {
        let case = |(place, next): (usize, &&str)| FindingCase {
            subject: format!("/n{place}"),
            evidence: format!("evidence {place}"),
            cost: format!("cost {place}"),
            next: next.to_string(),
            ..FindingCase::default()
        };
        Finding {
            lint: lint.into(),
            finds: "something".into(),
            count: nexts.len() as u64,
            cases: nexts.iter().enumerate().map(case).collect(),
        }
    }

    fn text(whole: bool, findings: &[Finding]) -> String {
        let mut out = String::new();
        Terminal { whole, ..Terminal::default() }.findings(&mut out, Some(findings));
        out
    }

    #[test]
    fn of_many_cases_the_worst_are_told_with_one_next() {
        let found = [finding("first", &["sleep"; 40]), finding("second", &["wake", "wait", "run", "stop"])];
        let told = text(false, &found);
        assert_eq!(told.matches("Next").count(), 2);
        assert!(
            told.contains("first (40 cases)")
                && told.contains("- /n1: evidence 1. Costs: cost 1.")
                && !told.contains("/n2"),
            "{told}"
        );
        assert!(told.contains("- and 38 more: --all shows them") && told.contains("\nNext: sleep.\n"), "{told}");
        assert!(told.contains("- and 2 more") && told.contains("Next for /n0: wake."), "{told}");
    }

    #[test]
    fn three_cases_take_no_more_room_than_two_and_their_number() {
        let told = text(false, &[finding("first", &["sleep"; 3])]);
        assert!(told.contains("/n2") && !told.contains("more"), "{told}");
    }

    #[test]
    fn all_cases_are_told_where_all_are_asked_for_and_those_that_were_not_kept_are_counted() {
        let mut found = finding("second", &["wake", "wake", "run", "stop"]);
        let told = text(true, std::slice::from_ref(&found));
        assert!((0..4).all(|place| told.contains(&format!("/n{place}: evidence"))) && !told.contains("more"), "{told}");
        assert_eq!(told.matches("Next: wake.").count(), 1);
        assert!(told.contains("Next: run.") && told.contains("Next: stop."), "{told}");
        found.count = 9;
        assert!(text(true, &[found]).contains("- and 5 more\n"));
    }
}
