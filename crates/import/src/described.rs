//! Reads what a trace's metadata says about all its events: host, clock, tracer, process.

use crate::layout::TraceLayout;
use crate::process::Host;
use crate::trace::Trace;
use crate::tsdl::{ClockBlock, Description};
use std::path::Path;
use std::sync::Arc;
use tacho_events::run::TraceSource;
use tacho_events::Problems;

/// Makes the trace for streams whose times come from one clock.
pub(crate) fn trace(
    metadata: &Path,
    layout: &Arc<TraceLayout>,
    description: &Description,
    clock_index: usize,
    hosts: &mut Vec<Host>,
    problems: &mut Problems,
) -> Trace {
    let mut clock = description.clocks.get(clock_index).cloned();
    if clock.is_none() {
        problems.add("no-clock", metadata, 0, || "no clock is declared; ticks are taken for ns".into());
    }
    let clock = clock.get_or_insert(ClockBlock { frequency_hz: 1_000_000_000, ..ClockBlock::default() });
    let say = |name: &str| description.environment.get(name).cloned();
    // A further clock without a uuid is identified by its name.
    let boot_id = if clock.uuid.is_empty() && clock_index > 0 { clock.name.clone() } else { clock.uuid.clone() };
    let host = Host { name: say("hostname").unwrap_or_default(), boot_id, offset_ns: offset_ns(clock) };
    let source = source(description, &host);
    let same = |known: &Host| known.name == host.name && known.boot_id == host.boot_id;
    let host_index = hosts.iter().position(same).unwrap_or_else(|| {
        hosts.push(host.clone());
        hosts.len() - 1
    });
    // Clocks of one boot are one clock: a difference in their offsets is the error of reading them.
    let shift_ns = hosts[host_index].offset_ns.wrapping_sub(hosts[0].offset_ns);
    if host_index > 0 {
        problems.add("clocks-related-by-wall-time", metadata, 0, || {
            format!(
                "host {:?} (boot {}) beside host {:?}: their times are related by their wall clocks",
                host.name, host.boot_id, hosts[0].name
            )
        });
    }
    Trace {
        folder: metadata.parent().unwrap_or(Path::new(".")).to_path_buf(),
        layout: layout.clone(),
        clock: clock_index,
        described: true,
        host: Host { offset_ns: hosts[0].offset_ns, ..host },
        host_index: host_index as u32,
        source,
        frequency_hz: clock.frequency_hz,
        shift_ns,
        pid: say("vpid").and_then(|pid| pid.parse().ok()),
        process_name: say("procname").unwrap_or_default(),
    }
}

/// Reads what a trace's environment block says about the trace.
fn source(description: &Description, host: &Host) -> TraceSource {
    let say = |name: &&str| description.environment.get(*name).cloned();
    let version: Vec<String> = ["tracer_major", "tracer_minor", "tracer_patchlevel"].iter().map_while(say).collect();
    TraceSource {
        host: host.name.clone(),
        boot_id: host.boot_id.clone(),
        tracer: say(&"tracer_name").unwrap_or_default(),
        tracer_version: version.join("."),
        realtime_offset_ns: Some(host.offset_ns),
    }
}

/// Reports events that do not name their process or thread.
pub(crate) fn say_missing_contexts(metadata: &Path, trace: &Trace, problems: &mut Problems) {
    for of_stream in trace.layout.streams.iter().filter(|s| s.is_of_processes()) {
        if of_stream.lacks_contexts(trace.pid.is_some()) {
            problems.add("no-thread-context", metadata, 0, || {
                "events without the contexts vpid and vtid: their processes are unknown, they are left out; record \
                 with `lttng add-context --userspace --type=vpid --type=vtid --type=procname`"
                    .into()
            });
        }
    }
}

fn offset_ns(clock: &ClockBlock) -> i64 {
    let ticks = i128::from(clock.offset_ticks) * 1_000_000_000 / i128::from(clock.frequency_hz.max(1));
    (i128::from(clock.offset_s) * 1_000_000_000 + ticks) as i64
}
