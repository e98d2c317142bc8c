//! Run directories in, tables out.

use crate::link::clocks::Clocks;
use crate::saves;
use crate::window::Begin;
use crate::{Analysis, Asked, Options, Window, WindowError};
use std::cmp::Reverse;
use std::io;
use std::path::PathBuf;
use tacho_events::kept::LINKED_BEFORE_NS;
use tacho_events::layout::TickSource;
use tacho_events::run::{EventGap, RunInfo};
use tacho_events::{Event, Payload, ProcessIndex, Progress, Reader, RunDirectory, Time};
use tacho_tables::row::Row;
use tacho_tables::{store, Note, Tables};
use tacho_workload::links::Links;
use tacho_workload::model::Workload;

/// Why a run could not be analysed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its events cannot be read.
    #[error(transparent)]
    Events(#[from] tacho_events::reader::Error),
    /// Its `run.json` cannot be read.
    #[error("{0}")]
    Info(io::Error),
    /// Its tables cannot be written or read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Events that were to be read were let go of meanwhile.
    #[error(
        "{0}: its recording is a ring that goes on, and let go of events while they were read; read what `tacho record \
         --save {0}` saves"
    )]
    RingWentOn(PathBuf),
    /// There is nothing to analyse.
    #[error(
        "{0}: neither events/ nor repeats/0/ is there; expected a run directory that tacho bench or tacho record wrote \
         (an imported bag has no events)"
    )]
    NoRun(PathBuf),
    /// The window that was asked for is impossible.
    #[error(transparent)]
    Window(#[from] WindowError),
}

/// Reads the events of one run and makes its tables.
pub fn analyse(
    run: &RunDirectory,
    workload: Option<&Workload>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Tables, Error> {
    Ok(analyse_with(run, workload, &Links::default(), progress)?.tables)
}

/// The same with the chains alone that the workload names, and without what explains them: for those who compare many
/// runs.
pub fn analyse_named_chains(run: &RunDirectory, workload: &Workload) -> Result<Tables, Error> {
    let (workload, stated) = (Some(workload), Links::default());
    Ok(analyse_alone(run, workload, &stated, None, Asked::NamedChains, &mut |_| {})?.tables)
}

/// One run, analysed.
#[derive(Debug)]
pub struct Analysed {
    /// Its tables.
    pub tables: Tables,
    /// The options they were made with.
    pub options: Options,
    /// Its `run.json`, where there is one.
    pub info: Option<RunInfo>,
}

/// Times are only as good as the clocks' readings; from here on that is said.
const CLOCK_ERROR_TO_NOTE_NS: i64 = 1_000;

/// The same with what a links file states, and with what the tables were made of.
pub fn analyse_with(
    run: &RunDirectory,
    workload: Option<&Workload>,
    stated: &Links,
    progress: &mut dyn FnMut(Progress),
) -> Result<Analysed, Error> {
    analyse_window(run, workload, stated, None, progress)
}

/// The same of a window of it. Messages are linked, and outputs tied to inputs, over the whole run. A save of a ring
/// has a note if its ties are not those of the save before it, which is analysed for that.
pub fn analyse_window(
    run: &RunDirectory,
    workload: Option<&Workload>,
    stated: &Links,
    window: Option<&Window>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Analysed, Error> {
    let mut analysed = analyse_alone(run, workload, stated, window, Asked::All, progress)?;
    if let Some(before) = saves::before(run.path()) {
        let tables = analyse_alone(&before, workload, stated, None, Asked::All, progress).map(|before| before.tables);
        analysed.tables.notes.extend(saves::changed_ties(&analysed.tables, &before, tables));
    }
    Ok(analysed)
}

fn analyse_alone(
    run: &RunDirectory,
    workload: Option<&Workload>,
    stated: &Links,
    window: Option<&Window>,
    asked_for: Asked,
    progress: &mut dyn FnMut(Progress),
) -> Result<Analysed, Error> {
    let mut notes = Vec::new();
    let mut info = match run.info() {
        Ok(info) => Some(info),
        // A run that was cut short before run.json was written is still a run.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = "run.json is not there: the measured window is not known, all is measured, warm-up included";
            notes.push(Note { name: "no-run-info".into(), count: 1, text: text.into() });
            None
        }
        Err(error) => return Err(Error::Info(error)),
    };
    let mut reader = Reader::open(run)?;
    let clock_error_ns = reader.clock_error().as_ns();
    let kept_from_ns = reader.kept_from_ns();
    let mut options = Options {
        measured_from_ns: info
            .as_ref()
            .and_then(|i| i.measured_from_ns)
            .max(kept_from_ns.map(|from| from + LINKED_BEFORE_NS)),
        measured_to_ns: info.as_ref().and_then(|i| i.measured_to_ns),
        sources_end_ns: info.as_ref().filter(|_| workload.is_some()).and_then(|i| i.measured_to_ns),
        realtime_offset_ns: (!reader.processes().is_empty())
            .then(|| reader.clock(ProcessIndex(0)).realtime_offset_ns()),
        clock_error_ns,
        ..Options::default()
    };
    let clocks = clocks(run, &reader, options)?;
    // A workload has a warm-up of its own, and of a ring the start is not there.
    options.leaves_start_up = window.is_none()
        && workload.is_none()
        && options.measured_from_ns.is_none()
        && info.as_ref().is_some_and(RunInfo::is_recording);
    if window.is_some() || options.leaves_start_up {
        options.begin_ns = options.measured_from_ns.or_else(|| begin_ns(&reader, clocks.as_ref()));
    }
    let asked = count_only(window, &mut options)?;
    let mut analysis = Analysis::new(options);
    reader.processes().iter().for_each(|facts| analysis.add_process(facts));
    if let (Some(clocks), Some(info)) = (&clocks, &mut info) {
        let processes: Vec<&str> = reader.processes().iter().map(|facts| facts.header.boot_id.as_str()).collect();
        relate(&mut info.gaps, clocks, &processes);
    }
    info.iter().flat_map(|info| &info.gaps).for_each(|gap| analysis.add_gap(gap.from_ns, gap.to_ns));
    match &clocks {
        None => reader.for_each(|event, texts| analysis.push(event, texts), progress),
        Some(clocks) => {
            analysis.set_clocks(clocks);
            let on_first = |event: &Event| {
                let on_first = |ns| clocks.on_first(Row::new(event.process.0), ns);
                let payload = match event.payload {
                    Payload::NodeSignal { node, signal, entry, at_ns, value } => {
                        Payload::NodeSignal { node, signal, entry, at_ns: on_first(at_ns), value }
                    }
                    payload => payload,
                };
                Event { time: Time::from_monotonic_ns(on_first(event.time.as_ns())), payload, ..*event }
            };
            reader.for_each(|event, texts| analysis.push(&on_first(event), texts), progress);
        }
    }
    if reader.kept_from_ns() != kept_from_ns {
        return Err(Error::RingWentOn(run.path().to_path_buf()));
    }
    let (mut tables, started_ns) = analysis.finish_started(workload, stated, asked_for);
    options.started_ns = started_ns;
    if let (Some(window), Some(asked), Some(begin)) = (window, asked, options.begin_ns) {
        let last_ns = tables.processes.iter().filter(|process| process.pid != 0).map(|process| process.last_ns);
        let end = last_ns.max().unwrap_or(begin);
        // The end of a run belongs to a window, as its last event does.
        window.check_end(asked, begin, end.saturating_add(1))?;
        let ran = tables.executions.iter().any(|execution| options.measures(execution.start_ns));
        if tables.publications.is_empty() && tables.messages.is_empty() && !ran {
            return Err(window.is_empty().into());
        }
    }
    if let (Some(from), Some(measured)) = (kept_from_ns, options.measured_from_ns) {
        let to = options
            .measured_to_ns
            .unwrap_or_else(|| tables.processes.iter().map(|process| process.last_ns).max().unwrap_or(from));
        let text = format!(
            "of a ring: all figures are of the last {:.1} s, older events were let go of; what was made before has its \
             name",
            (to - measured).max(0) as f64 / 1e9
        );
        notes.push(Note { name: "ring".into(), count: 1, text });
    }
    for problem in reader.problems().iter() {
        notes.push(Note { name: problem.name.into(), count: problem.count, text: problem.to_string() });
    }
    notes.extend(info.as_ref().and_then(unknown_events));
    if let Some(why) = info.as_ref().and_then(|info| info.scheduler.as_ref()?.why_not.as_ref()) {
        let text = format!("who was kept from a CPU, and the CPU time of callbacks, are not known: {why}");
        notes.push(Note { name: "no-scheduler-events".into(), count: 1, text });
    }
    if clock_error_ns > CLOCK_ERROR_TO_NOTE_NS {
        let text = format!("times of events may be wrong by up to {} us", clock_error_ns as f64 / 1e3);
        notes.push(Note { name: "clock-error".into(), count: 1, text });
    }
    for clock in &tables.clocks[tables.clocks.len().min(1)..] {
        if let (Some(offset), Some(drift), Some(uncertainty)) = (clock.offset_ns, clock.drift_ppm, clock.uncertainty_ns)
        {
            let text = format!(
                "the clock of {} was {:.3} ms ahead of that of {} and gained {drift:.2} us a second; its times are \
                 corrected, within +- {:.1} us",
                clock.host,
                offset as f64 / 1e6,
                tables.clocks[0].host,
                uncertainty as f64 / 1e3
            );
            notes.push(Note { name: "clocks-related".into(), count: clock.sent + clock.received, text });
        }
    }
    tables.notes.splice(0..0, notes);
    Ok(Analysed { tables, options, info })
}

/// When the first thing happened, on the clock of the first host. The kernel's events may begin earlier, and a board's
/// clock begins at zero.
fn begin_ns(reader: &Reader, clocks: Option<&Clocks>) -> Option<i64> {
    let of_program = |process: ProcessIndex| {
        let header = &reader.processes()[process.0 as usize].header;
        header.pid != 0 && header.ticks != TickSource::Board
    };
    let on_first = |(process, time): (ProcessIndex, Time)| match clocks {
        Some(clocks) => clocks.on_first(Row::new(process.0), time.as_ns()),
        None => time.as_ns(),
    };
    reader.first_events().filter(|(process, _)| of_program(*process)).map(on_first).min()
}

/// Narrows the measured window to what is asked for; gives that on the run's clock.
fn count_only(window: Option<&Window>, options: &mut Options) -> Result<Option<(i64, Option<i64>)>, WindowError> {
    let Some((window, ns)) = window.zip(options.begin_ns) else { return Ok(None) };
    let (from, to) = window.on_clock(Begin { ns, realtime_offset_ns: options.realtime_offset_ns })?;
    options.measured_from_ns = options.measured_from_ns.max(Some(from));
    options.measured_to_ns = options.measured_to_ns.into_iter().chain(to).min();
    Ok(Some((from, to)))
}

/// Kinds of unknown events that are named.
const UNKNOWN_NAMED: usize = 20;

/// Events of ROS that an import met and could not read.
fn unknown_events(info: &RunInfo) -> Option<Note> {
    let mut most: Vec<(&String, u64)> = info.unknown_events.iter().map(|(name, count)| (name, *count)).collect();
    most.sort_by_key(|(name, count)| (Reverse(*count), *name));
    let named: Vec<String> = most.iter().take(UNKNOWN_NAMED).map(|(name, count)| format!("{name} ({count})")).collect();
    let text =
        format!(
        "events of ROS whose name or fields are not known, of a release that is newer or was changed; no figure has \
         them: {}", named.join(", "));
    let count = most.iter().map(|(_, count)| count).sum();
    (!most.is_empty()).then(|| Note { name: "unknown-ros-events".into(), count, text })
}

/// Puts times at which events were lost onto the first clock; `boots`: of each process.
fn relate(gaps: &mut [EventGap], clocks: &Clocks, boots: &[&str]) {
    for gap in gaps.iter_mut() {
        let of_it = |boot: &&str| gap.boot_id.as_deref() == Some(*boot);
        if let Some(process) = boots.iter().position(of_it).map(Row::behind) {
            (gap.from_ns, gap.to_ns) = (clocks.on_first(process, gap.from_ns), clocks.on_first(process, gap.to_ns));
            gap.boot_id = None;
        }
    }
    gaps.sort_by_key(|gap| (gap.from_ns, gap.to_ns));
}

/// The clocks of a run on several hosts, related by the messages between them: the events are read once for that.
/// `None`: one host.
fn clocks(run: &RunDirectory, reader: &Reader, options: Options) -> Result<Option<Clocks>, Error> {
    let hosts: Vec<(String, String)> =
        reader.processes().iter().map(|p| (p.header.boot_id.clone(), p.header.host.clone())).collect();
    if hosts.iter().all(|(boot, _)| *boot == hosts[0].0) {
        return Ok(None);
    }
    let mut first = Reader::open(run)?;
    let mut analysis = Analysis::new(options);
    first.processes().iter().for_each(|facts| analysis.add_process(facts));
    first.for_each(|event, texts| analysis.push(event, texts), &mut |_| {});
    Ok(Some(Clocks::relate(&hosts, &analysis.sightings())))
}
