//! From the model back to the file that people read.

use crate::model::*;
use crate::read::default_size;
use crate::units::{format_duration, format_frequency, format_size};
use std::fmt::Write;

/// Writes a workload as YAML that [`crate::parse`] reads back as the same model. What equals a default is left out.
pub fn write(workload: &Workload) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "middleware: {}", scalar(&workload.middleware));
    if !workload.transport.is_empty() {
        let _ = writeln!(out, "transport: {}", scalar(&workload.transport));
    }
    out.push_str("nodes:\n");
    for node in &workload.nodes {
        write_node(&mut out, node);
    }
    if !workload.chains.is_empty() {
        out.push_str("chains:\n");
        for chain in &workload.chains {
            let nodes: Vec<_> = chain.nodes.iter().map(|n| scalar(n)).collect();
            let _ = writeln!(out, "  {}: [{}]", scalar(&chain.name), nodes.join(", "));
        }
    }
    write_run(&mut out, &workload.run);
    out
}

fn write_node(out: &mut String, node: &Node) {
    let mut lines = Vec::new();
    if node.process != node.name {
        lines.push(format!("process: {}", scalar(&node.process)));
    }
    match node.executor {
        Executor::Arrival => {}
        Executor::Spin { hz } => lines.push(format!("spin: {}", format_frequency(hz))),
        Executor::Timer { hz } => lines.push(format!("on: timer {}", format_frequency(hz))),
    }
    match &node.work {
        Work::None => {}
        Work::Fixed(time) => lines.push(format!("work: {}", format_duration(*time))),
        Work::Uniform { min, max } => {
            lines.push(format!("work: {{uniform: [{}, {}]}}", format_duration(*min), format_duration(*max)));
        }
        Work::Normal { mean, std } => {
            let (mean, std) = (format_duration(*mean), format_duration(*std));
            lines.push(format!("work: {{normal: {{mean: {mean}, std: {std}}}}}"));
        }
    }
    if !node.subscribes.is_empty() {
        let timer = matches!(node.executor, Executor::Timer { .. });
        let options: Vec<_> = node.subscribes.iter().map(|s| subscription(s, timer)).collect();
        if options.iter().all(String::is_empty) {
            let topics: Vec<_> = node.subscribes.iter().map(|s| s.topic.as_str()).collect();
            lines.push(format!("subscribes: [{}]", topics.join(", ")));
        } else {
            lines.push("subscribes:".into());
            lines.extend(node.subscribes.iter().zip(options).map(|(s, o)| format!("  {}: {{{o}}}", s.topic)));
        }
    }
    if !node.publishes.is_empty() {
        lines.push("publishes:".into());
        lines.extend(node.publishes.iter().map(|p| format!("  {}: {{{}}}", p.topic, publication(p))));
    }
    if lines.is_empty() {
        let _ = writeln!(out, "  {}: {{}}", scalar(&node.name));
        return;
    }
    let _ = writeln!(out, "  {}:", scalar(&node.name));
    for line in lines {
        let _ = writeln!(out, "    {line}");
    }
}

fn subscription(subscription: &Subscription, timer: bool) -> String {
    let mut options = Vec::new();
    if subscription.latest && !timer {
        options.push("latest: true".to_string());
    }
    qos(&mut options, subscription.qos);
    options.join(", ")
}

fn publication(publication: &Publication) -> String {
    let mut options = Vec::new();
    if !publication.message_type.is_empty() {
        options.push(format!("type: {}", scalar(&publication.message_type)));
    }
    if publication.size_bytes != default_size(&publication.message_type) {
        options.push(format!("size: {}", format_size(publication.size_bytes)));
    }
    if let Some(hz) = publication.rate_hz {
        options.push(format!("rate: {}", format_frequency(hz)));
    }
    qos(&mut options, publication.qos);
    options.join(", ")
}

fn qos(options: &mut Vec<String>, qos: Qos) {
    let default = Qos::default();
    if qos.reliable != default.reliable {
        options.push("reliability: best_effort".into());
    }
    if qos.transient_local != default.transient_local {
        options.push("durability: transient_local".into());
    }
    if qos.keep_all != default.keep_all {
        options.push("history: keep_all".into());
    } else if qos.depth != default.depth {
        options.push(format!("depth: {}", qos.depth));
    }
}

fn write_run(out: &mut String, run: &RunOptions) {
    out.push_str("run:\n");
    let _ = writeln!(out, "  duration: {}", format_duration(run.duration));
    let _ = writeln!(out, "  repeats: {}", run.repeats);
    let _ = writeln!(out, "  seed: {}", run.seed);
    if !run.cpus.is_empty() {
        let cpus: Vec<_> = run
            .cpus
            .iter()
            .map(|(node, cpus)| {
                let cpus: Vec<_> = cpus.iter().map(u32::to_string).collect();
                format!("{}: [{}]", scalar(node), cpus.join(", "))
            })
            .collect();
        let _ = writeln!(out, "  cpus: {{{}}}", cpus.join(", "));
    }
    if let Some(domain) = run.domain {
        let _ = writeln!(out, "  domain: {domain}");
    }
    if run.in_node_clock {
        out.push_str("  in_node_clock: true\n");
    }
}

/// Names need no quotes, except those that YAML readers take for something else (`on` and `no` by those of YAML 1.1).
fn scalar(text: &str) -> String {
    const TAKEN: [&str; 11] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"];
    let first = text.chars().next();
    let plain = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_') && !text.ends_with(':');
    if plain && !TAKEN.contains(&text.to_lowercase().as_str()) {
        text.to_string()
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
