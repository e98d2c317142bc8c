//! What a chain's worst instances waited for, how its outputs were tied to its inputs, and where inputs ended.

use super::table::{Column, Table};
use super::{number, Terminal, ABSENT};
use tacho_events::wall::to_the_microsecond;
use tacho_tables::summary::{ChainFigures, LateInstance, LatePart};

/// Instances of which every part is reported, also if all are; the others get a line.
const IN_FULL: usize = 1;
const IN_FULL_OF_ALL: usize = 2;
/// Instances that are reported, where there are more.
const TOLD: usize = 5;
/// Parts that are told of each, greatest first; the rest is added up.
const PARTS_TOLD: usize = 8;

impl Terminal {
    /// A row a node.
    pub(super) fn links(&self, out: &mut String, chain: &ChainFigures) {
        let mut table = Table::new([
            Column::text("node"),
            Column::text("input"),
            Column::text("output"),
            Column::text("tied by"),
            Column::text("evidence"),
            Column::number("confidence"),
        ]);
        for link in &chain.links {
            table.row(vec![
                link.node.clone(),
                link.input.clone(),
                link.output.clone().unwrap_or_else(|| ABSENT.into()),
                link.rule.word().into(),
                format!("{}{}", link.evidence.word(), if link.guess { ", a guess" } else { "" }),
                number(Some(link.confidence), 2),
            ]);
        }
        self.section(out, "Which input made which output (to correct it: --suggest, --links)", table);
    }

    /// The worst instances, worst first: their parts, greatest first, each with what is usual.
    pub(super) fn worst(&self, out: &mut String, chain: &ChainFigures) {
        if chain.worst.is_empty() {
            return;
        }
        let title = match (chain.deadline_ms, chain.late_instances) {
            (Some(deadline), Some(late)) => {
                format!("Causes: {late} of {} instances later than {deadline} ms, worst first", chain.instances)
            }
            _ => "Causes: the worst instances, worst first".into(),
        };
        self.heading(out, &title);
        let in_full = if self.whole { IN_FULL_OF_ALL } else { IN_FULL };
        let told = self.most(TOLD);
        for (place, instance) in chain.worst.iter().enumerate().take(told) {
            if place < in_full {
                self.in_full(out, instance);
            } else {
                self.line(out, &format!("{:.2} ms{}{}", instance.end_to_end_ms, when(instance), in_short(instance)));
            }
        }
        if chain.worst.len() > told {
            self.line(out, &format!("and {} more: --all shows them", chain.worst.len() - told));
        }
    }

    fn in_full(&self, out: &mut String, instance: &LateInstance) {
        self.line(out, &format!("{:.2} ms{}", instance.end_to_end_ms, when(instance)));
        let mut parts: Vec<_> = instance.parts.iter().collect();
        parts.sort_by(|a, b| b.ms.total_cmp(&a.ms));
        let mut table = Table::new([
            Column::number("ms"),
            Column::number("usual ms"),
            Column::number("share"),
            Column::words("cause"),
            Column::text("at"),
        ]);
        let share = |ms: f64| {
            if instance.end_to_end_ms > 0.0 {
                format!("{:.1} %", 100.0 * ms / instance.end_to_end_ms)
            } else {
                ABSENT.into()
            }
        };
        for part in parts.iter().take(PARTS_TOLD) {
            table.row(vec![
                number(Some(part.ms), 3),
                number(part.usual_ms, 3),
                share(part.ms),
                format!("{} {}", part.kind.words(), part.by),
                at(&part.nodes),
            ]);
        }
        if parts.len() > PARTS_TOLD {
            self.line(out, &format!("{}.", by_kind(instance)));
            let rest: f64 = parts[PARTS_TOLD..].iter().map(|part| part.ms).sum();
            let words = format!("{} smaller parts", parts.len() - PARTS_TOLD);
            table.row(vec![number(Some(rest), 3), ABSENT.into(), share(rest), words, String::new()]);
        }
        out.push_str(&table.render(self.width()));
        out.push('\n');
    }

    pub(super) fn lost_inputs(&self, out: &mut String, chain: &ChainFigures) {
        let mut table =
            Table::new([Column::number("inputs"), Column::words("what became of them"), Column::text("at")]);
        for lost in &chain.lost_inputs {
            table.row(vec![lost.inputs.to_string(), format!("{} {}", lost.kind.words(), lost.by), lost.node.clone()]);
        }
        self.section(out, "Inputs that led to no output", table);
    }
}

/// The part that is furthest above what is usual: what made this instance late.
fn in_short(instance: &LateInstance) -> String {
    let above = |part: &LatePart| part.ms - part.usual_ms.unwrap_or(0.0);
    let told = |part: &LatePart| {
        let usual = part.usual_ms.map_or(String::new(), |usual| format!(" (usually {usual:.2})"));
        format!(": {:.2} ms {} {}{usual}", part.ms, part.kind.words(), part.by)
    };
    instance.parts.iter().max_by(|a, b| above(a).total_cmp(&above(b))).map_or(String::new(), told)
}

/// What its parts are of, greatest first.
fn by_kind(instance: &LateInstance) -> String {
    let mut kinds: Vec<(&'static str, f64)> = Vec::new();
    for part in &instance.parts {
        let words = part.kind.words();
        match kinds.iter_mut().find(|(known, _)| *known == words) {
            Some((_, ms)) => *ms += part.ms,
            None => kinds.push((words, part.ms)),
        }
    }
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names = kinds.iter().map(|(words, ms)| {
        let name = [" of", " on", " by", " with", " inside", " for the next"]
            .iter()
            .find_map(|end| words.strip_suffix(end))
            .unwrap_or(words);
        format!("{ms:.3} ms {name}")
    });
    names.collect::<Vec<_>>().join(", ")
}

/// One node by name, several by number.
fn at(nodes: &[String]) -> String {
    match nodes {
        [node] => node.clone(),
        nodes => format!("{} nodes", nodes.len()),
    }
}

/// On the run's own clock, on the wall clock where that is known, and of which repeat.
fn when(instance: &LateInstance) -> String {
    let repeat = instance.repeat.map_or(String::new(), |repeat| format!(" of repeat {repeat}"));
    let realtime = instance.start_realtime_ns.map_or(String::new(), |ns| format!(" ({})", to_the_microsecond(ns)));
    format!(" at {:.6} s{realtime}{repeat}", instance.start_ns as f64 / 1e9)
}
