//! The verdict: at most ten lines, before everything else.

use super::Terminal;
use tacho_tables::own_name;
use tacho_tables::summary::{Culprit, Summary, Verdict};

/// Culprits after the first, of which it is told who they are, not their evidence.
const IN_SHORT: usize = 2;
/// Lines of a verdict.
const LINES: usize = 10;

impl Terminal {
    /// What stands out, whose fault it is, and what to try. Ten lines, unless the first culprit alone takes more.
    pub fn verdict(&self, verdict: &Verdict) -> String {
        let mut out = self.piece(&verdict.text, 2);
        let Some(first) = verdict.culprits.first() else { return out };
        out.push_str(&self.piece(&format!("1. {}", first.text), 3));
        out.push_str(&self.piece(&format!("   Try: {}{}", first.next, brings(verdict, first)), 3));
        let others = &verdict.culprits[1..];
        let mut told = 0;
        for (place, culprit) in others.iter().enumerate().take(IN_SHORT) {
            let piece = self.piece(&format!("{}. {}", place + 2, in_short(culprit)), 3);
            let and_more = usize::from(others.len() > place + 1);
            if lines(&out) + lines(&piece) + and_more > LINES {
                break;
            }
            out.push_str(&piece);
            told += 1;
        }
        if others.len() > told && lines(&out) < LINES {
            self.line(&mut out, &format!("and {} more (--json: verdict)", others.len() - told));
        }
        out
    }

    /// Lines of one sentence or two, those after the first indented by so much.
    fn piece(&self, text: &str, indent: usize) -> String {
        let mut out = String::new();
        self.hanging(&mut out, text, indent);
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

fn lines(text: &str) -> usize {
    text.lines().count()
}

/// Who, how, and how much of it.
fn in_short(culprit: &Culprit) -> String {
    let function = culprit.function.as_deref().map(own_name);
    let who = function.or(culprit.callback.as_deref()).or(culprit.topic.as_deref());
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
        Some(left) if verdict.late_cases > 0 => format!(", {left} of {} late", verdict.late_cases),
        _ => String::new(),
    };
    format!(" Then about {left:.0} ms at worst{late} (estimate).")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::CauseKind;

    fn culprit(function: &str) -> Culprit {
        Culprit {
            kind: Some(CauseKind::ExecutorBusy),
            node: Some("/planning/behavior_planner".into()),
            function: Some(format!("BehaviorPlanner.{function}")),
            location: Some("/opt/car/behavior_planner.py:172".into()),
            share_percent: Some(93.4),
            worst_without_ms: Some(57.2),
            late_without: Some(3),
            text: format!(
                "{function} (behavior_planner.py:172) of /planning/behavior_planner took up to 124 ms (off the CPU, \
                 blocked or waiting, for 119 ms) in 15 executions: 15 of 18 late outputs waited for it, 93 % of their \
                 lateness (executor busy with it)."
            ),
            next: format!(
                "Give {function} a callback group of its own on a multi-threaded executor, or a process of its own."
            ),
            ..Culprit::default()
        }
    }

    fn verdict(culprits: usize) -> Verdict {
        let functions = ["reload_map", "write_log", "upload_tiles", "draw_markers", "on_debug", "look_up"];
        Verdict {
            text: "/sensing/lidar_driver to /vehicle/interface: usually 43.7 ms, at worst 172 ms; 18 of 1620 outputs \
                   took over 65.6 ms."
                .into(),
            worst_ms: Some(171.9),
            late_cases: 18,
            culprits: functions[..culprits].iter().map(|function| culprit(function)).collect(),
            ..Verdict::default()
        }
    }

    #[test]
    fn ten_lines_on_any_terminal_begin_with_the_chain_and_its_culprit() {
        for (width, culprits) in [(60, 1), (60, 6), (80, 6), (100, 6), (200, 6), (100, 3)] {
            let text = Terminal { width, ..Terminal::default() }.verdict(&verdict(culprits));
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines.len() <= LINES && lines.iter().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            let head = lines[..3].join(" ");
            assert!(
                head.contains("172 ms") && head.contains("reload_map (behavior_planner.py:172)"),
                "{width}:\n{text}"
            );
            assert!(text.contains("Try: Give reload_map") && text.contains("57 ms"), "{width}:\n{text}");
            let others = lines.iter().filter(|line| line.starts_with("2. ") || line.starts_with("3. ")).count();
            let more = text.contains("more (--json");
            assert_eq!(others > 0, culprits > 1 && width > 80, "{width}:\n{text}");
            assert!(!more || others + 1 < culprits, "{width}:\n{text}");
            assert!(more || others + 1 == culprits || lines.len() == LINES, "{width}:\n{text}");
        }
    }

    #[test]
    fn a_verdict_without_culprits_is_its_sentence() {
        let text = Terminal::default().verdict(&Verdict { text: "Nothing stands out.".into(), ..Verdict::default() });
        assert_eq!(text, "Nothing stands out.\n");
    }
}
