//! What ran, where, and when.

use tacho_events::run::{Machine, RunInfo, TraceSource};

/// What ran, where, and when: a line each.
pub(super) fn provenance(info: &RunInfo) -> Vec<String> {
    let versions: Vec<_> = info.versions.iter().map(|(name, version)| format!(", {name} {version}")).collect();
    let from = if info.started_at.is_empty() { String::new() } else { format!(" from {}", info.started_at) };
    let imported = info.imported_at.as_ref().map_or(String::new(), |at| format!(", imported {at}"));
    let when = format!("{:.1} s{from}{imported}; tacho {}{}", info.duration_s, info.tacho_version, versions.concat());
    let lines = [Some(info.command.join(" ")), info.machine.as_ref().map(machine_line)].into_iter().flatten();
    lines.chain(info.traces.iter().filter_map(traced)).chain([when]).collect()
}

/// Where and by whom a trace was recorded.
fn traced(source: &TraceSource) -> Option<String> {
    let on = if source.host.is_empty() { String::new() } else { format!(" on {}", source.host) };
    let TraceSource { tracer, tracer_version, .. } = source;
    let by = if tracer.is_empty() { String::new() } else { format!(" by {tracer} {tracer_version}") };
    let said = format!("{on}{}", by.trim_end());
    (!said.is_empty()).then(|| format!("traced{said}"))
}

fn machine_line(machine: &Machine) -> String {
    format!(
        "{}: {}, {} CPUs, {:.1} GiB, Linux {} {}{}",
        machine.host,
        machine.cpu,
        machine.cpus,
        machine.memory_bytes as f64 / (1u64 << 30) as f64,
        machine.kernel,
        machine.preemption,
        machine.governor.as_ref().map_or(String::new(), |governor| format!(", governor {governor}")),
    )
}
