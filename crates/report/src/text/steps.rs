//! What to change on a system that was recorded: `tacho tune RUN`.

use super::Terminal;
use tacho_tables::summary::{Summary, WindowFigures};
use tacho_tune::Step;

impl Terminal {
    /// The verdict's sentence, then each step with its evidence and its gain.
    pub fn steps(&self, summary: &Summary, steps: &[Step]) -> String {
        let mut out = String::new();
        if let Some(verdict) = &summary.verdict {
            self.line(&mut out, &verdict.text);
        }
        let window = summary.window.as_ref().and_then(WindowFigures::sentence);
        window.iter().for_each(|text| self.line(&mut out, text));
        self.in_doubt(&mut out, summary);
        if steps.is_empty() {
            out.push('\n');
            self.line(&mut out, "No step: nothing was found that a change of this system would mend.");
            return out;
        }
        self.heading(&mut out, "Steps on the recorded system, most promising first (none was tried)");
        for (place, step) in steps.iter().enumerate() {
            self.step(&mut out, place + 1, step);
        }
        out
    }

    fn step(&self, out: &mut String, number: usize, step: &Step) {
        let node = step.node.as_ref().map_or(String::new(), |node| format!(" of {node}"));
        self.hanging(out, &format!("{number}. {}{node}: {}", step.lever.words(), step.change), 3);
        if !step.minds.is_empty() {
            let those = step.minds.join(", ");
            self.hanging(out, &format!("   Mind: it then runs beside {those}; what they share needs a lock."), 3);
        }
        let lint = step.lint.as_ref().map_or(String::new(), |lint| format!(" [{lint}]"));
        self.hanging(out, &format!("   Evidence: {}{lint}", step.evidence), 3);
        let gain = match (step.worst_ms, &step.cost) {
            (Some((worst, left)), _) => {
                let late = step.late.filter(|(all, _)| *all > 0);
                let late = late.map_or(String::new(), |(all, left)| format!(", {left} late outputs in place of {all}"));
                format!("about {left:.0} ms at worst in place of {worst:.0} ms{late} (estimate).")
            }
            (None, Some(cost)) => format!("not estimated; it costs today: {cost}."),
            (None, None) => "not estimated.".into(),
        };
        self.hanging(out, &format!("   Gain: {gain}"), 3);
    }
}
