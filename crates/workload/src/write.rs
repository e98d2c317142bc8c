//! Writes the model back as a file that people read.

use crate::document::{flow, scalar, Value, Yaml};
use crate::grammar;
use crate::model::*;
use crate::rates::mean_hz;
use crate::read::default_size;
use crate::run;
use crate::topology::Topology;
use crate::units::{format_bit_rate, format_duration, format_frequency, format_percent, format_size};
use std::fmt::Write;
use std::time::Duration;

/// Writes a workload as YAML that [`crate::parse`] reads back as the same model. Omits what equals a default.
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
            let stop = |stop: &str| if stop.starts_with('/') { stop.to_owned() } else { scalar(stop) };
            let stops: Vec<_> = chain.stops().map(stop).collect();
            let _ = writeln!(out, "  {}: [{}]", scalar(&chain.name), stops.join(", "));
        }
    }
    run::write(&mut out, workload);
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
        let mut options = end(&of.host, &of.middleware);
        // The topology's own QoS is that of its publishers.
        if key == "subscribers" {
            qos(&mut options, topology.asked, topology.publication.qos);
        }
        if !options.is_empty() {
            let _ = writeln!(out, "  {key}: {{{}}}", options.join(", "));
        }
    }
    for option in publication(&topology.publication) {
        let _ = writeln!(out, "  {option}");
    }
}

/// Writes the host and the middleware of an end.
fn end(host: &str, middleware: &Option<(String, String)>) -> Vec<String> {
    let host = (!host.is_empty()).then(|| format!("host: {}", scalar(host)));
    let middleware = middleware.as_ref().map(|(plugin, transport)| match transport.as_str() {
        "" => format!("middleware: {}", scalar(plugin)),
        transport => format!("middleware: {{{}: {}}}", scalar(plugin), scalar(transport)),
    });
    host.into_iter().chain(middleware).collect()
}

/// Writes a task's parameter, without quotes if it is a number with a unit.
fn quantity(value: &str) -> String {
    let is_plain = value.starts_with(|c: char| c.is_ascii_digit())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "./^% ".contains(c))
        && !value.ends_with(' ');
    let value = Value::Scalar(value.into(), is_plain);
    flow(&Yaml { span: Default::default(), value })
}

fn write_node(out: &mut String, node: &Node) {
    let mut lines = Vec::new();
    lines.extend(end(&node.host, &node.middleware));
    if node.process != *node.thread.as_ref().unwrap_or(&node.name) {
        lines.push(format!("process: {}", scalar(&node.process)));
    }
    lines.extend(node.thread.iter().map(|thread| format!("thread: {}", scalar(thread))));
    lines.extend(node.threads.iter().map(|threads| format!("threads: {threads}")));
    lines.extend(node.order.map(|order| format!("executor: {}", grammar::ORDERS[order as usize])));
    lines.extend(node.python.then(|| "python: true".to_owned()));
    match node.executor {
        Executor::Arrival => lines.extend(node.matching.iter().flat_map(matching)),
        Executor::Spin { hz } => lines.push(format!("spin: {}", format_frequency(hz))),
        Executor::Timer { hz } => lines.push(format!("on: timer {}", format_frequency(hz))),
    }
    lines.extend(node.phase_percent.map(|percent| format!("phase: {}", format_percent(percent))));
    lines.extend(work("work", &node.work));
    lines.extend(work("sleep", &node.sleep));
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
    if !node.timers.is_empty() {
        lines.push("timers:".into());
        let options = |timer: &NodeTimer| {
            let mut options = vec![format!("rate: {}", format_frequency(timer.hz))];
            options.extend(own(&timer.own));
            options.join(", ")
        };
        lines.extend(node.timers.iter().map(|timer| format!("  {}: {{{}}}", scalar(&timer.name), options(timer))));
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

/// Writes what a callback has of its own.
fn own(own: &Own) -> Vec<String> {
    // What is none is written, because the node's own may be some.
    let written = |key: &str, of: &Option<Work>| match of {
        Some(Work::None) => Some(format!("{key}: {}", format_duration(Duration::ZERO))),
        of => of.as_ref().and_then(|of| work(key, of)),
    };
    let group = own.group.as_ref().map(|group| format!("group: {}", scalar(group)));
    [written("work", &own.work), written("sleep", &own.sleep), group].into_iter().flatten().collect()
}

/// Writes `key: ` and a time or a task; nothing if there is none.
fn work(key: &str, work: &Work) -> Option<String> {
    let time = |time: &Duration| format_duration(*time);
    let value = match work {
        Work::None => return None,
        Work::Fixed(fixed) => time(fixed),
        Work::Uniform { min, max } => format!("{{uniform: [{}, {}]}}", time(min), time(max)),
        Work::Normal { mean, std } => format!("{{normal: {{mean: {}, std: {}}}}}", time(mean), time(std)),
        Work::Quantiles { times, autocorrelation_percent } => {
            let times = times.iter().map(time).collect::<Vec<_>>().join(", ");
            let autocorrelation = (*autocorrelation_percent > 0.0)
                .then(|| format!(", autocorrelation: {}", format_percent(*autocorrelation_percent)));
            format!("{{quantiles: [{times}]{}}}", autocorrelation.unwrap_or_default())
        }
        Work::Task { name, parameters } => {
            let written = parameters.iter().map(|(name, value)| format!(", {}: {}", scalar(name), quantity(value)));
            format!("{{task: {}{}}}", scalar(name), written.collect::<String>())
        }
    };
    Some(format!("{key}: {value}"))
}

/// Writes the callbacks that make a publication.
fn causes(from: &[Cause]) -> Option<String> {
    let names = || from.iter().map(|cause| scalar(&cause.name)).collect::<Vec<_>>();
    let all = from.iter().all(|cause| *cause == Cause::always(&cause.name));
    let value = match from {
        [] => return None,
        [only] if all => scalar(&only.name),
        _ if all => format!("[{}]", names().join(", ")),
        _ => {
            let share = |cause: &Cause| match (cause.share_percent, cause.burst, cause.times) {
                (100.0, 1, 1) => String::new(),
                (percent, 1, 1) => format_percent(percent),
                (percent, burst, times) => {
                    let part = (percent != 100.0).then(|| format!("part: {}", format_percent(percent)));
                    let burst = (burst != 1).then(|| format!("burst: {burst}"));
                    let times = (times != 1).then(|| format!("times: {times}"));
                    format!("{{{}}}", part.into_iter().chain(burst).chain(times).collect::<Vec<_>>().join(", "))
                }
            };
            let shares = names().into_iter().zip(from).map(|(name, cause)| format!("{name}: {}", share(cause)));
            format!("{{{}}}", shares.collect::<Vec<_>>().join(", "))
        }
    };
    Some(format!("from: {value}"))
}

/// Writes how a node makes sets of its inputs.
fn matching(of: &Matching) -> Vec<String> {
    let unless_said = Matching::default();
    let mut options = Vec::new();
    if of.queue != unless_said.queue {
        options.push(format!("queue: {}", of.queue));
    }
    options.extend(of.max_interval.map(|time| format!("max_interval: {}", format_duration(time))));
    if of.age_penalty_percent != unless_said.age_penalty_percent {
        options.push(format!("age_penalty: {}", format_percent(of.age_penalty_percent)));
    }
    if !of.lower_bounds.is_empty() {
        let bound = |(topic, time): &(String, _)| format!("{topic}: {}", format_duration(*time));
        let bounds: Vec<_> = of.lower_bounds.iter().map(bound).collect();
        options.push(format!("lower_bounds: {{{}}}", bounds.join(", ")));
    }
    let policy = match of.policy {
        Policy::Exact => "exact",
        Policy::Approximate => "approximate",
        Policy::Newest => "newest",
    };
    let mut lines = vec![format!("on: match {policy}")];
    if !options.is_empty() {
        lines.push(format!("match: {{{}}}", options.join(", ")));
    }
    lines
}

fn subscription(subscription: &Subscription, timer: bool) -> String {
    let mut options = Vec::new();
    if subscription.latest && !timer {
        options.push("latest: true".to_string());
    }
    options.extend(own(&subscription.own));
    qos(&mut options, subscription.qos, Qos::default());
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
    match publication.rate_hz {
        Some(hz) if !publication.sent_at.is_empty() => {
            let times: Vec<_> = publication.sent_at.iter().map(|time| format_duration(*time)).collect();
            options.push(format!("sent_at: [{}]", times.join(", ")));
            if mean_hz(&publication.sent_at) != Some(hz) {
                let again_ns = (times.len() as f64 * 1e9 / hz).round() as u64;
                options.push(format!("again: {}", format_duration(Duration::from_nanos(again_ns))));
            }
        }
        Some(hz) => options.push(format!("rate: {}", format_frequency(hz))),
        None => {}
    }
    options.extend(causes(&publication.from));
    options.extend(own(&publication.own));
    if let Some(deadline) = publication.deadline {
        options.push(format!("deadline: {}", format_duration(deadline)));
    }
    qos(&mut options, publication.qos, Qos::default());
    options
}

/// Writes the policies that differ from `unless_said`.
fn qos(options: &mut Vec<String>, qos: Qos, unless_said: Qos) {
    if qos.reliable != unless_said.reliable {
        options.push(format!("reliability: {}", if qos.reliable { "reliable" } else { "best_effort" }));
    }
    if qos.transient_local != unless_said.transient_local {
        options.push(format!("durability: {}", if qos.transient_local { "transient_local" } else { "volatile" }));
    }
    if qos.keep_all != unless_said.keep_all {
        options.push(format!("history: {}", if qos.keep_all { "keep_all" } else { "keep_last" }));
    }
    if !qos.keep_all && qos.depth != unless_said.depth {
        options.push(format!("depth: {}", qos.depth));
    }
}
