//! Imports traces into a run directory, which every other verb reads.

use crate::gap::{Cause, Gap};
use crate::reader::{Error, Reader, PROGRESS_EVERY};
use crate::write::{Failed, Writer};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use tacho_events::run::{EventGap, RunInfo};
use tacho_events::{wall, Progress, RunDirectory, Time};

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Events written.
    pub events: u64,
    /// Number of them from ROS rather than the kernel.
    pub of_ros: u64,
    /// Number of their processes.
    pub processes: usize,
    /// Time of the first and last event, ns of CLOCK_MONOTONIC.
    pub span: Option<(Time, Time)>,
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC.
    pub realtime_offset_ns: i64,
    /// Periods in which events are missing.
    pub gaps: Vec<Gap>,
    /// Events that the import does not understand, by name.
    pub skipped: BTreeMap<String, u64>,
    /// False if `on_progress` ended it.
    pub complete: bool,
}

/// Writes all events of `reader`, of which none may have been read yet, into `run`: `events/` and `run.json`.
///
/// `info` contains what the caller knows (command, version, start); verb, duration, and what is missing are filled in.
/// `on_progress` is called now and then, and ends the import by returning false: what was written until then is a run.
pub fn import(
    mut reader: Reader,
    run: &RunDirectory,
    info: RunInfo,
    on_progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Imported, Error> {
    let io = |(path, source): Failed| Error::Io { path, source };
    let folder = run.events();
    std::fs::create_dir_all(&folder).map_err(|error| io((folder.clone(), error)))?;
    if std::fs::read_dir(&folder).map_err(|error| io((folder.clone(), error)))?.next().is_some() {
        return Err(Error::Taken(folder));
    }
    let mut writer = Writer::new(folder);
    let (mut events, mut of_ros, mut span, mut complete) = (0u64, 0u64, None, true);
    let mut told = 0;
    while let Some((batch, texts, processes)) = reader.next_events() {
        for event in batch {
            let pid = processes[event.process.0 as usize].header.pid;
            writer.write(event, pid, texts).map_err(io)?;
            of_ros += u64::from(!OF_KERNEL.contains(&event.payload.kind()));
        }
        if let (Some(first), Some(last)) = (batch.first(), batch.last()) {
            span = Some((span.map_or(first.time, |(first, _)| first), last.time));
        }
        events += batch.len() as u64;
        if events - told >= PROGRESS_EVERY {
            told = events;
            if !on_progress(reader.progress()) {
                complete = false;
                break;
            }
        }
    }
    on_progress(reader.progress());
    let of_processes = reader.gaps().iter().filter(|gap| reader.is_of_processes(gap.stream));
    let discarded = of_processes.filter_map(|gap| gap.events).sum();
    let alike = writer.alike();
    writer.finish(reader.processes(), discarded).map_err(io)?;
    let imported = Imported {
        events,
        of_ros,
        processes: reader.processes().len(),
        span,
        realtime_offset_ns: reader.realtime_offset_ns(),
        gaps: reader.gaps().to_vec(),
        skipped: reader.skipped().into_iter().map(|(name, count)| (name.to_string(), count)).collect(),
        complete,
    };
    let mut info = info;
    info.verb = "import".into();
    info.traces = reader.traces();
    let offset_ns = info.traces.first().and_then(|first| first.realtime_offset_ns);
    let started = span.zip(offset_ns).and_then(|((first, _), offset)| wall::realtime_ns(first.as_ns(), offset));
    info.started_at = started.map_or(String::new(), wall::to_the_second);
    info.realtime_offset_ns = started.and(offset_ns);
    if started.is_none() {
        // For a clock without a corresponding wall clock, the epoch is unknown.
        for source in &mut info.traces {
            source.realtime_offset_ns = source.realtime_offset_ns.filter(|offset| *offset != 0);
        }
    }
    info.duration_s = span.map_or(0.0, |(first, last)| (last - first).as_ns() as f64 / 1e9);
    info.cut_short |= !complete;
    info.gaps.extend(gaps(&reader, span));
    info.unknown_events = reader.unknown().into_iter().map(|(name, count)| (name.to_string(), count)).collect();
    info.missing.extend((of_ros == 0).then(|| nothing_of_ros(&imported.skipped)));
    info.missing.extend(alike);
    info.missing.extend(missing(&reader, span));
    run.write_info(&info).map_err(|error| io((run.path().join("run.json"), error)))?;
    Ok(imported)
}

/// Kinds of events of the kernel.
const OF_KERNEL: RangeInclusive<u16> = 143..=149;

/// Number of kinds that a message names.
const NAMED: usize = 3;

/// Why there are no figures: the trace has no usable events of ROS.
fn nothing_of_ros(skipped: &BTreeMap<String, u64>) -> String {
    let all: Vec<(&str, u64)> = skipped.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    let of_ros: Vec<(&str, u64)> = all.iter().copied().filter(|(name, _)| name.starts_with("ros2")).collect();
    if !of_ros.is_empty() {
        let count: u64 = of_ros.iter().map(|(_, count)| count).sum();
        return format!("none of the {count} events of ROS can be used: {}", most(&of_ros, NAMED));
    }
    let others = if all.is_empty() { "nothing else either".to_string() } else { format!("but {}", most(&all, NAMED)) };
    format!(
        "there are no events of ROS in it, {others}; expected those of ros2_tracing (\"ros2:callback_start\" ...) or \
         CARET, which `ros2 trace` enables, or `lttng enable-event --userspace 'ros2:*'` with `lttng add-context \
         --userspace --type=vpid --type=vtid --type=procname`, before the nodes start; `ros2 run tracetools status` \
         says whether their tracetools was built with LTTng"
    )
}

/// The most frequent kinds of events with their counts.
pub fn most(kinds: &[(&str, u64)], named: usize) -> String {
    let mut kinds = kinds.to_vec();
    kinds.sort_by_key(|(name, count)| (Reverse(*count), *name));
    let words: Vec<String> = kinds.iter().take(named).map(|(name, count)| format!("{name} ({count})")).collect();
    let more = if kinds.len() > named { format!(" and {} more kinds", kinds.len() - named) } else { String::new() };
    words.join(", ") + &more
}

/// The period of a gap, limited to the time of existing events: at the ends of a stream, a gap may otherwise reach to
/// any time.
fn within(gap: &Gap, span: Option<(Time, Time)>) -> (Time, Time) {
    let (first, last) = span.unwrap_or((Time::from_monotonic_ns(0), Time::from_monotonic_ns(0)));
    let bound = |time: Time, unbounded: i64, bound: Time| if time.as_ns() == unbounded { bound } else { time };
    let from = bound(gap.from, i64::MIN, first.min(gap.to));
    (from, bound(gap.to, i64::MAX, last.max(from)))
}

/// Gaps in the events of processes, in order of time. Events of the kernel report gaps of its own streams.
fn gaps(reader: &Reader, span: Option<(Time, Time)>) -> Vec<EventGap> {
    let of_processes = reader.gaps().iter().filter(|gap| reader.is_of_processes(gap.stream));
    let mut gaps: Vec<EventGap> = of_processes
        .map(|gap| {
            let (from, to) = within(gap, span);
            EventGap {
                boot_id: reader.boot_id(gap.stream).filter(|_| reader.hosts() > 1).map(str::to_owned),
                from_ns: from.as_ns(),
                to_ns: to.as_ns(),
                events: gap.events,
                cause: gap.cause.to_string(),
            }
        })
        .collect();
    gaps.sort_by_key(|gap| (gap.from_ns, gap.to_ns));
    gaps
}

/// Describes gaps and damage, one line each.
fn missing(reader: &Reader, span: Option<(Time, Time)>) -> Vec<String> {
    let start = reader.processes().iter().map(|p| p.header.start.monotonic_ns).min();
    let (start, since) = start.map_or((0, "on the trace's clock"), |first| (first, "after the first event"));
    let seconds = |time: Time| time.as_ns().saturating_sub(start) as f64 / 1e9;
    let gaps = reader.gaps().iter().map(|gap| {
        let count = gap.events.map_or("an unknown number of".to_string(), |count| count.to_string());
        let whose = if gap.cause == Cause::Discarded { ", of whichever processes wrote there" } else { "" };
        let file = reader.stream_names()[gap.stream].display();
        let (from, to) = within(gap, span);
        let (from, to) = (seconds(from), seconds(to));
        format!("{count} events {} between {from:.6} s and {to:.6} s {since}{whose} ({file})", gap.cause)
    });
    gaps.chain(reader.problems().iter().map(|problem| problem.to_string())).collect()
}
