//! The verdict: at most ten lines, before everything else.

use super::Terminal;
use tacho_tables::summary::{Culprit, Summary, Verdict};

/// Culprits of which the evidence is told; of others a line each.
const IN_FULL: usize = 1;
const IN_SHORT: usize = 2;

impl Terminal {
    /// What stands out, whose fault it is, and what to try.
    pub fn verdict(&self, verdict: &Verdict) -> String {
        let mut out = String::new();
        self.line(&mut out, &verdict.text);
        for (place, culprit) in verdict.culprits.iter().enumerate().take(IN_FULL + IN_SHORT) {
            let number = format!("{}. ", place + 1);
            let text = if place < IN_FULL { culprit.text.clone() } else { in_short(culprit) };
            self.line(&mut out, &format!("{number}{text}"));
            if place < IN_FULL {
                self.line(&mut out, &format!("   Try: {}{}", culprit.next, brings(verdict, culprit)));
            }
        }
        let more = verdict.culprits.len().saturating_sub(IN_FULL + IN_SHORT);
        if more > 0 {
            self.line(&mut out, &format!("and {more} more (tacho explain --json: verdict)"));
        }
        out
    }

    /// The same at the head of what is explained.
    pub(super) fn verdict_of(&self, out: &mut String, summary: &Summary) {
        if let Some(verdict) = &summary.verdict {
            out.push_str(&self.verdict(verdict));
            out.push('\n');
        }
    }
}

/// Who, how, and how much of it.
fn in_short(culprit: &Culprit) -> String {
    let who = culprit.function.as_ref().or(culprit.callback.as_ref()).or(culprit.topic.as_ref());
    let (Some(who), Some(kind), Some(share)) = (who, culprit.kind, culprit.share_percent) else {
        return culprit.text.clone();
    };
    let at =
        culprit.location.as_ref().map_or(String::new(), |at| format!(" ({})", at.rsplit('/').next().unwrap_or(at)));
    let node = culprit.node.as_ref().map_or(String::new(), |node| format!(" at {node}"));
    format!("{} {who}{at}{node}: {share:.0} %", kind.words())
}

/// What would be left without it.
fn brings(verdict: &Verdict, culprit: &Culprit) -> String {
    let (Some(worst), Some(left)) = (verdict.worst_ms, culprit.worst_without_ms) else { return String::new() };
    if left >= worst {
        return String::new();
    }
    let late = match culprit.late_without {
        Some(left) if verdict.late_cases > 0 => format!(", {left} of {} late outputs left", verdict.late_cases),
        _ => String::new(),
    };
    format!(" Worst case then about {left:.0} ms in place of {worst:.0} ms{late} (estimate).")
}
