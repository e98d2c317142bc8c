//! Implements `tacho record --attach PID`, from attaching to a complete run directory.

use super::probing::{Attach, Error};
use super::process::Attached;
use crate::clock::ClockSync;
use crate::load::Sample;
use crate::machine::machine;
use crate::ring;
use crate::scheduler_events::{SchedulerEvents, When};
use crate::scheduling::Threads;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use tacho_events::run::{RunInfo, SchedulerEvents as Facts};
use tacho_events::wall::{realtime_offset_ns, rfc3339};
use tacho_events::RunDirectory;

/// What to record, and for how long.
#[derive(Default)]
pub struct Wanted {
    /// The recording ends after this time, if it has a limit.
    pub limit: Option<Duration>,
    /// Most bytes of one process's file. Later events are dropped and counted; in a ring the oldest are removed.
    /// `None`: no limit.
    pub max_bytes: Option<u64>,
    /// Whether to record scheduler events of the kernel.
    pub scheduler: When,
    /// If set, keeps only the last period.
    pub ring: Option<ring::Wanted>,
}

/// Records running processes until all have ended, `stop` is set, or the limit has passed. Calls `on_attached` as soon
/// as every further call is recorded. `run.json` exists from the start, marked as cut short, so that a run remains
/// usable if its tacho is killed.
pub fn record(
    pids: &[u32],
    run: &RunDirectory,
    stop: &AtomicBool,
    wanted: Wanted,
    on_attached: impl FnOnce(),
) -> Result<(RunInfo, Vec<Attached>), Error> {
    let Wanted { limit, max_bytes, scheduler, ring } = wanted;
    if ring.is_some() {
        ring::block_signal();
    }
    let events = run.events();
    std::fs::create_dir_all(&events)?;
    // A ring removes the oldest events, so it needs no limit here.
    let mut attach = Attach::start(pids, &events, max_bytes.filter(|_| ring.is_none()))?;
    let (scheduler, why_not) = match scheduler {
        When::Off => (None, None),
        when => match SchedulerEvents::start_on(&events, pids) {
            Ok(started) => (Some(started), None),
            Err(why) if when == When::Required => return Err(Error::Scheduler(why)),
            Err(why) => (None, Some(why)),
        },
    };
    let clock = ClockSync::start(&events.join("clock.sync"))?;
    let mut info = RunInfo {
        verb: "record".into(),
        command: std::iter::once("--attach".to_owned()).chain(pids.iter().map(u32::to_string)).collect(),
        tacho_version: env!("CARGO_PKG_VERSION").into(),
        started_at: rfc3339(SystemTime::now()),
        realtime_offset_ns: Some(realtime_offset_ns()),
        machine: Some(machine()),
        missing: vec!["tacho was ended before it had detached".into()],
        cut_short: true,
        ..RunInfo::default()
    };
    run.write_info(&info)?;
    let going = match ring {
        Some(ring) => {
            let files = ring::Ring::new(run, ring.span, max_bytes)?;
            Some(ring::Going::start(files, ring, info.clone(), run)?)
        }
        None => None,
    };
    on_attached();
    let (start, before) = (Instant::now(), Sample::now(pids));
    let mut threads = Threads::default();
    pids.iter().for_each(|pid| threads.look(*pid, *pid));
    info.scheduling = threads.unusual();
    let over = || stop.load(Ordering::Relaxed) || limit.is_some_and(|limit| start.elapsed() >= limit);
    // A full disk ends the recording. What was written stays.
    let mut failed: Option<io::Error> = None;
    while !over() {
        let read = attach.read();
        let gaps = attach.gaps();
        going.iter().for_each(|going| going.lost(&gaps));
        info.gaps.extend(gaps);
        match read {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    info.duration_s = start.elapsed().as_secs_f64();
    info.load = Some(before.until(&Sample::now(pids)));
    let lost = attach.lost();
    info.scheduler = match scheduler {
        Some(scheduler) => Some(scheduler.finish()?),
        None => why_not.map(|why| Facts { why_not: Some(why), ..Facts::default() }),
    };
    let outcome = going.map(ring::Going::finish).transpose()?;
    let (attached, gaps) = attach.finish()?;
    info.gaps.extend(gaps);
    clock.finish()?;
    info.cut_short = failed.is_some();
    info.missing = missing(&attached, lost);
    info.missing.extend(failed.map(|error| format!("recording ended early: {error}")));
    if let Some(ring::Outcome { ring, facts, failures }) = outcome {
        info.measured_from_ns = ring::measured_from_ns(&facts);
        info.ring = Some(facts);
        info.missing.extend(failures.into_iter().chain(ring.finish(&BTreeMap::new())?));
    }
    run.write_info(&info)?;
    Ok((info, attached))
}

/// Describes what attaching cannot know, and what was lost.
fn missing(attached: &[Attached], lost: u64) -> Vec<String> {
    let mut missing = Vec::new();
    for process in attached {
        let who = format!("process {} ({})", process.pid, process.command);
        if process.events == 0 {
            missing.push(format!("{who} called no function of tracetools while it was attached to"));
        }
        if process.told > 0 {
            let node = match process.node_unnamed {
                true => "names of its nodes are not known: one, named after the program, stands for all",
                false => "its node is named as on its command line",
            };
            missing.push(format!(
                "{who}: {} publishers and subscriptions were made before it was attached to: their topics are read \
                 from its memory when they are first used; queue depths and periods of timers are not known, and \
                 {node}",
                process.told
            ));
        }
        if process.beyond_limit > 0 {
            missing.push(format!(
                "{who}: {} events dropped: its file was as large as --max-mib lets it get",
                process.beyond_limit
            ));
        }
        if process.unreadable > 0 {
            missing.push(format!(
                "{who}: {} publishers and subscriptions whose topic could not be read",
                process.unreadable
            ));
        }
    }
    if lost > 0 {
        missing.push(format!(
            "{lost} events were lost: they came faster than tacho could read them (gaps in run.json: when)"
        ));
    }
    missing
}
