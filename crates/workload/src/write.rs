//! From the model back to the file that people read.

use crate::model::*;
use crate::read::{default_size, ALL};
use crate::topology::Topology;
use crate::units::{format_bit_rate, format_duration, format_frequency, format_percent, format_size};
use std::fmt::Write;

/// Writes a workload as YAML that [`crate::parse`] reads back as the same model. What equals a default is left out.
pub fn write(workload: &Workload) -> String {
    let mut out = String::new();
    if let Some(study) = &workload.study {
        let _ = writeln!(out, "study: {}", scalar(study));
    }
    let _ = writeln!(out, "middleware: {}", scalar(&workload.middleware));
    if !workload.transport.is_empty() {
        let _ = writeln!(out, "transport: {}", scalar(&workload.transport));
    }
    if !workload.hosts.is_empty() {
        out.push_str("hosts:\n");
        for host in &workload.hosts {
            let _ = writeln!(out, "  {}: {{{}}}", scalar(&host.name), link(&host.link));
        }
    }
    match Topology::of(workload) {
        Some(generated) => write_topology(&mut out, &generated),
        None => {
            if let Some(kind) = &workload.topology {
                let _ = writeln!(out, "topology: {}", scalar(kind));
            }
            out.push_str("nodes:\n");
            workload.nodes.iter().for_each(|node| write_node(&mut out, node));
        }
    }
    if !workload.chains.is_empty() {
        out.push_str("chains:\n");
        for chain in &workload.chains {
            let nodes: Vec<_> = chain.nodes.iter().map(|n| scalar(n)).collect();
            let _ = writeln!(out, "  {}: [{}]", scalar(&chain.name), nodes.join(", "));
        }
    }
    write_run(&mut out, workload);
    out
}

fn link(link: &Link) -> String {
    let rate = link.rate_bit_per_s.map(|rate| format!("rate: {}", format_bit_rate(rate)));
    let delay = link.delay.map(|delay| format!("delay: {}", format_duration(delay)));
    let loss = link.loss_percent.map(|loss| format!("loss: {}", format_percent(loss)));
    [rate, delay, loss].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn write_topology(out: &mut String, topology: &Topology) {
    let _ = writeln!(out, "topology:\n  kind: {}\n  nodes: {}", topology.kind, topology.many);
    if let Some(process) = &topology.process {
        let _ = writeln!(out, "  process: {}", scalar(process));
    }
    for (key, of) in [("publishers", &topology.publishers), ("subscribers", &topology.subscribers)] {
        let options = end(&of.host, &of.middleware);
        if !options.is_empty() {
            let _ = writeln!(out, "  {key}: {{{}}}", options.join(", "));
        }
    }
    for option in publication(&topology.publication) {
        let _ = writeln!(out, "  {option}");
    }
}

/// Where a node is and what it speaks.
fn end(host: &str, middleware: &Option<(String, String)>) -> Vec<String> {
    let host = (!host.is_empty()).then(|| format!("host: {}", scalar(host)));
    let middleware = middleware.as_ref().map(|(plugin, transport)| match transport.as_str() {
        "" => format!("middleware: {}", scalar(plugin)),
        transport => format!("middleware: {{{}: {}}}", scalar(plugin), scalar(transport)),
    });
    host.into_iter().chain(middleware).collect()
}

fn write_node(out: &mut String, node: &Node) {
    let mut lines = Vec::new();
    lines.extend(end(&node.host, &node.middleware));
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
        lines.extend(node.publishes.iter().map(|p| format!("  {}: {{{}}}", p.topic, publication(p).join(", "))));
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

fn publication(publication: &Publication) -> Vec<String> {
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
    if let Some(deadline) = publication.deadline {
        options.push(format!("deadline: {}", format_duration(deadline)));
    }
    qos(&mut options, publication.qos);
    options
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

fn write_run(out: &mut String, workload: &Workload) {
    let run = &workload.run;
    out.push_str("run:\n");
    let _ = writeln!(out, "  duration: {}", format_duration(run.duration));
    let _ = writeln!(out, "  repeats: {}", run.repeats);
    let _ = writeln!(out, "  seed: {}", run.seed);
    of_nodes(out, "cpus", &run.cpus, &workload.nodes, |cpus| {
        format!("[{}]", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
    });
    of_nodes(out, "priority", &run.priority, &workload.nodes, |scheduling| match scheduling {
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

/// A map of nodes; `all` where every node has the same.
fn of_nodes<T: PartialEq>(
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
