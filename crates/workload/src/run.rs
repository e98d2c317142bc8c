//! Reads and writes the options of a run.

use crate::diagnostic::Span;
use crate::document::{scalar, Value, Yaml};
use crate::grammar::{self, Form};
use crate::model::*;
use crate::units::format_duration;
use crate::values::Reader;
use std::fmt::Write;
use std::time::Duration;

/// Longest run, a week.
const MAX_RUN: Duration = Duration::from_secs(7 * 24 * 3600);
/// Stands for every node in maps of nodes.
const ALL: &str = "all";

/// Places of the options of single nodes.
#[derive(Default)]
pub(crate) struct RunPlaces {
    /// Places of [`RunOptions::cpus`].
    pub cpus: Vec<Span>,
    /// Places of [`RunOptions::priority`].
    pub priority: Vec<Span>,
}

impl Reader<'_, '_> {
    /// Reads the options of a run of these nodes.
    pub fn run(&mut self, yaml: &Yaml, nodes: &[Node]) -> (RunOptions, RunPlaces) {
        let fields = self.fields(yaml, &grammar::RUN).unwrap_or_default();
        let (mut run, mut places) = (RunOptions::default(), RunPlaces::default());
        if let Some(yaml) = fields.get("duration") {
            run.duration = self.positive(yaml, MAX_RUN).unwrap_or(run.duration);
        }
        if let Some(repeats) = fields.get("repeats").and_then(|y| self.whole_number(y, 1, 100_000)) {
            run.repeats = repeats as u32;
        }
        if let Some(seed) = fields.get("seed").and_then(|y| self.whole_number(y, 0, u64::MAX)) {
            run.seed = seed;
        }
        run.domain = fields.get("domain").and_then(|y| self.whole_number(y, 0, 232)).map(|d| d as u32);
        run.in_node_clock = fields.get("in_node_clock").and_then(|y| self.flag(y)).unwrap_or(false);
        run.wire = fields.get("wire").and_then(|y| self.flag(y)).unwrap_or(false);
        if let Some(start) = fields.get("start").and_then(|y| self.second_of(y, grammar::STARTS)) {
            run.start = if start { Start::AtOnce } else { Start::Together };
        }
        if let Some(yaml) = fields.get("background") {
            let load = self.fields(yaml, &grammar::BACKGROUND).unwrap_or_default();
            run.background_cpu = load.get("cpu").and_then(|y| self.whole_number(y, 0, 1024)).unwrap_or(0) as u32;
        }
        if let Some(yaml) = fields.get("cpus").filter(|y| !y.is_null()) {
            (run.cpus, places.cpus) = self.of_nodes(yaml, Form::Cpus, nodes, Self::cpu_list);
        }
        if let Some(yaml) = fields.get("priority").filter(|y| !y.is_null()) {
            (run.priority, places.priority) = self.of_nodes(yaml, Form::Priorities, nodes, Self::scheduling);
        }
        (run, places)
    }

    /// Reads a map of nodes. The value of `all` applies to every node without an entry of its own, unless a node has
    /// that name.
    fn of_nodes<T: Clone>(
        &mut self,
        yaml: &Yaml,
        form: Form,
        nodes: &[Node],
        read: fn(&mut Self, &Yaml) -> Option<T>,
    ) -> (Vec<(String, T)>, Vec<Span>) {
        let mut entries: Vec<(String, T)> = Vec::new();
        let mut spans = Vec::new();
        let mut for_all = None;
        for (_, key, value) in self.entries(yaml, form, "node").unwrap_or_default() {
            let Some(name) = self.name(key) else { continue };
            let Some(value) = read(self, value) else { continue };
            if name == ALL && nodes.iter().all(|node| node.name != ALL) {
                for_all = Some((value, key.span));
            } else {
                entries.push((name, value));
                spans.push(key.span);
            }
        }
        if let Some((value, span)) = for_all {
            let others: Vec<_> = nodes.iter().filter(|n| entries.iter().all(|(name, _)| *name != n.name)).collect();
            spans.extend(others.iter().map(|_| span));
            entries.extend(others.into_iter().map(|node| (node.name.clone(), value.clone())));
        }
        (entries, spans)
    }

    fn cpu_list(&mut self, yaml: &Yaml) -> Option<Vec<u32>> {
        let Value::List(items) = &yaml.value else {
            self.wrong(yaml, Form::CpuList);
            return None;
        };
        if items.is_empty() {
            self.wrong(yaml, Form::CpuList);
            return None;
        }
        let mut cpus: Vec<u32> = Vec::new();
        for item in items {
            let Some(cpu) = self.whole_number(item, 0, 1023) else { continue };
            if cpus.contains(&(cpu as u32)) {
                let message = "CPU stands here a second time";
                self.report.error("duplicate", item.span, message, item.describe(), "each CPU once");
            } else {
                cpus.push(cpu as u32);
            }
        }
        Some(cpus)
    }

    /// Reads `fifo 80`, `round_robin 10`, `nice -5`; limits are those of sched(7).
    fn scheduling(&mut self, yaml: &Yaml) -> Option<Scheduling> {
        let text = self.text(yaml, Form::Scheduling)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let real_time = |text: &str| text.parse().ok().filter(|priority| (1..=99).contains(priority));
        let read = match words.as_slice() {
            ["fifo", priority] => real_time(priority).map(Scheduling::Fifo),
            ["round_robin", priority] => real_time(priority).map(Scheduling::RoundRobin),
            ["nice", nice] => nice.parse().ok().filter(|nice| (-20..=19).contains(nice)).map(Scheduling::Nice),
            _ => None,
        };
        if read.is_none() {
            self.wrong(yaml, Form::Scheduling);
        }
        read
    }
}

/// Writes the options of a run. Omits those that equal a default, except the first three.
pub(crate) fn write(out: &mut String, workload: &Workload) {
    let run = &workload.run;
    out.push_str("run:\n");
    let _ = writeln!(out, "  duration: {}", format_duration(run.duration));
    let _ = writeln!(out, "  repeats: {}", run.repeats);
    let _ = writeln!(out, "  seed: {}", run.seed);
    write_of_nodes(out, "cpus", &run.cpus, &workload.nodes, |cpus| {
        format!("[{}]", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
    });
    write_of_nodes(out, "priority", &run.priority, &workload.nodes, |scheduling| match scheduling {
        Scheduling::Nice(nice) => format!("nice {nice}"),
        Scheduling::Fifo(priority) => format!("fifo {priority}"),
        Scheduling::RoundRobin(priority) => format!("round_robin {priority}"),
    });
    if run.background_cpu > 0 {
        let _ = writeln!(out, "  background: {{cpu: {}}}", run.background_cpu);
    }
    if run.start == Start::AtOnce {
        out.push_str("  start: at_once\n");
    }
    if let Some(domain) = run.domain {
        let _ = writeln!(out, "  domain: {domain}");
    }
    if run.in_node_clock {
        out.push_str("  in_node_clock: true\n");
    }
    if run.wire {
        out.push_str("  wire: true\n");
    }
}

/// Writes a map of nodes; uses `all` if every node has the same value.
fn write_of_nodes<T: PartialEq>(
    out: &mut String,
    key: &str,
    entries: &[(String, T)],
    nodes: &[Node],
    write: impl Fn(&T) -> String,
) {
    let Some((_, first)) = entries.first() else { return };
    let every_node = entries.len() == nodes.len() && nodes.iter().zip(entries).all(|(n, (name, _))| n.name == *name);
    let alike = nodes.len() > 1 && every_node && entries.iter().all(|(name, value)| value == first && name != ALL);
    let written = if alike {
        format!("{ALL}: {}", write(first))
    } else {
        let entries = entries.iter().map(|(node, value)| format!("{}: {}", scalar(node), write(value)));
        entries.collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(out, "  {key}: {{{written}}}");
}
