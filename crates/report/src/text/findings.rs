//! What lints found.

use super::Terminal;
use tacho_analysis::summary::Finding;

impl Terminal {
    /// Each finding with its worst cases; nothing where nobody looked.
    pub(super) fn findings(&self, out: &mut String, findings: Option<&[Finding]>) {
        let Some(findings) = findings.filter(|findings| !findings.is_empty()) else { return };
        self.heading(out, "Findings (each is explained in docs/lints.md; --allow NAME leaves one out, --deny NAME exits 1)");
        for finding in findings {
            let count = if finding.count == 1 { String::new() } else { format!(" ({} cases)", finding.count) };
            self.line(out, &format!("{}{count}: {}", finding.lint, finding.finds));
            for case in &finding.cases {
                let repeats = case.repeats.map_or(String::new(), |repeats| format!(" [in {repeats} repeats]"));
                self.line(out, &format!("- {}{repeats}: {}. Costs: {}. Next: {}.", case.subject, case.evidence, case.cost, case.next));
            }
            let more = finding.count.saturating_sub(finding.cases.len() as u64);
            if more > 0 {
                self.line(out, &format!("- and {more} more"));
            }
        }
    }
}
