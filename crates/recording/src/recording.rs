//! Records programs: it has a folder of event files, the environment that makes a program write one, and their final
//! summary.
//!
//! [`record`] is `tacho record -- COMMAND`: it runs any unmodified program. The runner of workloads uses only
//! [`Recording`].

use crate::clock::ClockSync;
use crate::cpu_times::Sampler;
use crate::descriptors;
use crate::environments;
use crate::load::Sample;
use crate::machine::machine;
use crate::preload;
pub use crate::recorded::RecordedProcess;
use crate::recorded::{cut_tail, versions};
use crate::recorder_library;
use crate::ring;
use crate::scheduler_events::{self, SchedulerEvents, When};
use crate::signals::Signals;
use crate::writers::writers;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant, SystemTime};
use tacho_events::file_error::{at, FileError};
use tacho_events::layout::{FileHeader, CHUNKS_MAX, CHUNK_SIZE, HEADER_SIZE};
use tacho_events::run::{ProcessExit, RunInfo};
use tacho_events::wall::{realtime_offset_ns, rfc3339};
use tacho_events::RunDirectory;

/// How long tacho waits for descendants after the command has ended. Their files are then left as they are: daemons
/// (`ros2 daemon`) stay for hours, but nodes that are shutting down need less than this.
const AFTER_THE_COMMAND: Duration = Duration::from_secs(5);

/// Why a recording could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recorder is not at its expected place, or cannot be named in LD_PRELOAD.
    #[error("the recorder {path}: {found}")]
    Recorder {
        /// The expected path.
        path: PathBuf,
        /// The problem.
        found: String,
    },
    /// The run directory already holds events.
    #[error("{0}: holds a run already; expected a new directory, or one without events/")]
    Taken(PathBuf),
    /// The command cannot be started.
    #[error("{command}: {cause}")]
    Command {
        /// The command as the user gave it.
        command: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The user requires scheduler events, and they are not available.
    #[error("scheduler events: {0}")]
    Scheduler(String),
    /// The ring's storage cannot be given back.
    #[error(transparent)]
    Ring(#[from] ring::Error),
    /// A file or folder of the run cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A running recording: processes started with [`Recording::environment`] write into it.
pub struct Recording {
    events: PathBuf,
    recorder: PathBuf,
    ros1: Option<PathBuf>,
    max_bytes: Option<u64>,
    cpu_time: bool,
    clock: ClockSync,
    scheduler: Option<SchedulerEvents>,
    scheduler_facts: Option<tacho_events::run::SchedulerEvents>,
}

/// This library lies beside the recorder if the build found roscpp. It is preloaded with the recorder into programs
/// that may be nodes of ROS 1.
const RECORDER_OF_ROS1: &str = "libtacho_recorder_ros1.so";

impl Recording {
    /// Makes `RUN/events`, checks the recorder, and starts to relate the clocks.
    pub fn start(run: &RunDirectory, recorder: &Path) -> Result<Recording, Error> {
        let refused = |found: String| Error::Recorder { path: recorder.to_owned(), found };
        let recorder = recorder.canonicalize().map_err(|cause| refused(cause.to_string()))?;
        if recorder.as_os_str().as_bytes().iter().any(|byte| b" :\t\n".contains(byte)) {
            return Err(refused("LD_PRELOAD takes no path with a blank or a colon; move or link it elsewhere".into()));
        }
        recorder_library::check(&recorder, &[]).map_err(refused)?;
        let events = run.events();
        fs::create_dir_all(&events).map_err(at(&events))?;
        let events = events.canonicalize().map_err(at(&events))?;
        if fs::read_dir(&events).map_err(at(&events))?.next().is_some() {
            return Err(Error::Taken(run.path().to_owned()));
        }
        let sync = events.join("clock.sync");
        let clock = ClockSync::start(&sync).map_err(at(&sync))?;
        Ok(Recording {
            events,
            recorder,
            ros1: None,
            max_bytes: None,
            cpu_time: false,
            clock,
            scheduler: None,
            scheduler_facts: None,
        })
    }

    /// Adds scheduler events of the kernel, from now on. Processes started before are not followed.
    pub fn with_scheduler_events(mut self, when: When) -> Result<Recording, Error> {
        if when == When::Off {
            return Ok(self);
        }
        match SchedulerEvents::start(&self.events) {
            Ok(started) => self.scheduler = Some(started),
            Err(why) if when == When::Required => return Err(Error::Scheduler(why)),
            Err(why) => {
                self.scheduler_facts =
                    Some(tacho_events::run::SchedulerEvents { why_not: Some(why), ..Default::default() })
            }
        }
        Ok(self)
    }

    /// Ends the recording of scheduler events. Returns what was recorded, or why nothing was. `None`: they were not
    /// requested.
    pub fn finish_scheduler_events(&mut self) -> Result<Option<tacho_events::run::SchedulerEvents>, Error> {
        if let Some(scheduler) = self.scheduler.take() {
            self.scheduler_facts = Some(scheduler.finish().map_err(at(&self.events))?);
        }
        Ok(self.scheduler_facts.clone())
    }

    /// Reads the CPU-time clock around each callback, with a system call each time (`TACHO_EVENTS_CPU_TIME`).
    pub fn with_cpu_time(self, cpu_time: bool) -> Recording {
        Recording { cpu_time, ..self }
    }

    /// Limits the file of each process to this many bytes. The default is 1 GiB (`TACHO_EVENTS_MAX_BYTES`).
    pub fn with_max_bytes(self, bytes: u64) -> Recording {
        Recording { max_bytes: Some(bytes), ..self }
    }

    /// Also records the calls of roscpp if the build can. Our own nodes on ROS 1 write their events themselves.
    pub fn with_ros1(self) -> Result<Recording, Error> {
        let ros1 = Some(self.recorder.with_file_name(RECORDER_OF_ROS1)).filter(|path| path.is_file());
        if let Some(path) = &ros1 {
            recorder_library::check(path, &[&self.recorder])
                .map_err(|found| Error::Recorder { path: path.clone(), found })?;
        }
        Ok(Recording { ros1, ..self })
    }

    /// Returns the environment that a process and its descendants need to be recorded here.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let before = std::env::var_os("LD_PRELOAD");
        let rest = self.ros1.iter().fold(before, |rest, library| Some(preload::prepended(library, rest)));
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("LD_PRELOAD".into(), preload::prepended(&self.recorder, rest)),
            ("TACHO_EVENTS_DIR".into(), self.events.clone().into()),
            ("ASAN_OPTIONS".into(), preload::sanitizer_options(std::env::var_os("ASAN_OPTIONS"))),
        ];
        environment.extend(self.cpu_time.then(|| ("TACHO_EVENTS_CPU_TIME".into(), "1".into())));
        environment.extend(self.max_bytes.map(|bytes| ("TACHO_EVENTS_MAX_BYTES".into(), bytes.to_string().into())));
        environment
    }

    /// Returns a variable that the environment of each process of this recording holds, unless the process removed it.
    fn mark(&self) -> OsString {
        let mut mark = OsString::from("TACHO_EVENTS_DIR=");
        mark.push(&self.events);
        mark
    }

    /// Waits, up to `limit`, until no process writes into this recording, and, while it is empty, until no process may
    /// begin to. Returns whether that was reached.
    pub fn wait_for_writers(&self, limit: Duration) -> Result<bool, Error> {
        let end = Instant::now() + limit;
        loop {
            let mut files = self.event_files()?;
            // tacho itself writes it until it ends the recording.
            files.retain(|file| !scheduler_events::is_file_of_kernel(file));
            let may_begin = || files.is_empty() && !environments::with(&self.mark()).is_empty();
            if !writers(&files).values().any(|writer| writer.is_certain()) && !may_begin() {
                return Ok(true);
            }
            if Instant::now() >= end {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the recording. Cuts each file after its last chunk if nobody can write it any more, and returns a summary
    /// of the files.
    pub fn finish(self) -> Result<Vec<RecordedProcess>, Error> {
        Ok(self.finish_with(None)?.0)
    }

    /// Does the same for a ring, and turns its files into ordinary ones. Also returns what failed, in words.
    fn finish_with(mut self, ring: Option<ring::Ring>) -> Result<(Vec<RecordedProcess>, Vec<String>), Error> {
        self.finish_scheduler_events()?;
        let files = self.event_files()?;
        let Recording { events, clock, .. } = self;
        clock.finish().map_err(at(&events.join("clock.sync")))?;
        let written = writers(&files);
        let undone = ring.map_or(Ok(Vec::new()), |ring| ring.finish(&written))?;
        let mut processes = Vec::new();
        for path in files {
            let file = File::open(&path).map_err(at(&path))?;
            if !written.contains_key(&path) {
                cut_tail(&path, &file).map_err(at(&path))?;
            }
            let is_running = written.get(&path).is_some_and(|writer| writer.is_certain());
            let mut page = Vec::new();
            (&file).take(HEADER_SIZE as u64).read_to_end(&mut page).map_err(at(&path))?;
            // A process that was killed while it created its file recorded nothing; the reader reports this. The file
            // of pid 0 is the kernel's.
            if let Some(header) = FileHeader::read(&page).ok().filter(|header| header.pid != 0) {
                processes.push(RecordedProcess::of(path, header, is_running));
            }
        }
        File::open(&events).and_then(|folder| folder.sync_all()).map_err(at(&events))?;
        Ok((processes, undone))
    }

    /// Processes that certainly write into this recording now.
    fn writing(&self) -> Vec<u32> {
        let writers = writers(&self.event_files().unwrap_or_default());
        let mut pids: Vec<u32> = writers.values().filter_map(|writer| writer.process()).collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    fn event_files(&self) -> Result<Vec<PathBuf>, Error> {
        let entries: io::Result<Vec<_>> =
            fs::read_dir(&self.events).and_then(|entries| entries.map(|e| Ok(e?.path())).collect());
        let mut files = entries.map_err(at(&self.events))?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "events"));
        files.sort();
        Ok(files)
    }
}

/// What to record besides the events of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Most bytes of one process's file; later events are dropped and counted.
    pub max_bytes: u64,
    /// Whether to record scheduler events of the kernel.
    pub scheduler: When,
    /// Whether to read the CPU-time clock around each callback.
    pub cpu_time: bool,
}

/// The result of `tacho record`.
#[derive(Debug)]
pub struct Recorded {
    /// Exit code to pass on: the command's, or 128 + the signal that ended it.
    pub code: i32,
    /// The content of `run.json`.
    pub info: RunInfo,
    /// Processes that wrote events.
    pub processes: Vec<RecordedProcess>,
    /// Why there are no events, if there are none.
    pub nothing_recorded: Option<String>,
    /// Why the run could not be completed after the command had ended, if so: its directory is gone, or the disk is
    /// full.
    pub incomplete: Option<Error>,
}

/// Runs `command` in the foreground and records it until it has ended: `tacho record -- COMMAND`.
///
/// The command stays in the process group of tacho, so that ^C and ^Z of the terminal reach it as without tacho; tacho
/// itself waits for the command's end. A signal sent to tacho alone (`kill`) is passed on to the command. Descendants
/// that still write when the command has ended get 5 s more; `run.json` names those that stay. `run.json` exists from
/// the start, marked as cut short, so a run is usable even if its tacho was killed.
///
/// Call it from the main thread before starting others: it blocks tacho's signals, and later threads inherit this.
///
/// With a ring, keeps only the last period.
///
/// An error means that the command did not run. Failures after its end are in [`Recorded::incomplete`], because the
/// exit code is the command's own.
pub fn record(
    command: &[OsString],
    run: &RunDirectory,
    recorder: &Path,
    wanted: Wanted,
    ring: Option<ring::Wanted>,
) -> Result<Recorded, Error> {
    let program = command.first().cloned().unwrap_or_default();
    let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let signals = Signals::block();
    if ring.is_some() {
        ring::block_signal();
    }
    let recording = Recording::start(run, recorder)?
        .with_ros1()?
        .with_max_bytes(wanted.max_bytes)
        .with_cpu_time(wanted.cpu_time)
        .with_scheduler_events(wanted.scheduler)?;
    let mut info = RunInfo {
        verb: "record".into(),
        command: words.clone(),
        tacho_version: env!("CARGO_PKG_VERSION").into(),
        started_at: rfc3339(SystemTime::now()),
        realtime_offset_ns: Some(realtime_offset_ns()),
        machine: Some(machine()),
        missing: vec!["tacho was ended before the command".into()],
        cut_short: true,
        ..RunInfo::default()
    };
    let run_json = run.path().join("run.json");
    run.write_info(&info).map_err(at(&run_json))?;

    let going = match ring {
        Some(ring) => {
            let files = ring::Ring::new(run, ring.span, Some(wanted.max_bytes))?;
            Some(ring::Going::start(files, ring, info.clone(), run).map_err(at(run.path()))?)
        }
        None => None,
    };
    let (start, before) = (Instant::now(), Sample::now(&[]));
    let child = start_command(command, &recording, signals.before)
        .map_err(|cause| Error::Command { command: program.to_string_lossy().into_owned(), cause });
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            going.map(ring::Going::finish).transpose().map_err(at(run.path()))?;
            recording.finish()?;
            return Err(error);
        }
    };
    let pid = child.id();
    let mut fullness = Fullness::default();
    let mut sampler = Sampler::new();
    let with_room = going.is_some();
    let status = signals.wait(&mut child, || {
        sampler.sample(|| recording.event_files().unwrap_or_default());
        if !with_room {
            fullness.tell(&recording);
        }
    });
    let status = status.map_err(at(Path::new("waitpid")))?;
    going.iter().for_each(ring::Going::hold);
    info.duration_s = start.elapsed().as_secs_f64();
    info.load = Some(before.until(&Sample::now(&recording.writing())));
    info.processes = vec![ProcessExit {
        name: words.join(" "),
        pid,
        code: status.code(),
        signal: status.signal(),
        ..ProcessExit::default()
    }];
    (info.cpu_times, info.scheduling) = sampler.finish();
    let mark = recording.mark();
    let completed = complete(recording, going, &mut info, run);
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    let (processes, incomplete) = match completed {
        Ok(processes) => (processes, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let mut nothing_recorded = None;
    if incomplete.is_none() && processes.is_empty() {
        nothing_recorded = Some(why_nothing(&program, &environments::with(&mark)));
        info.missing.extend(nothing_recorded.clone());
    }
    let incomplete = incomplete.or(run.write_info(&info).map_err(at(&run_json)).err().map(Error::File));
    Ok(Recorded { code, info, processes, nothing_recorded, incomplete })
}

/// Completes a recording whose command has ended, and writes the result into `info`.
fn complete(
    mut recording: Recording,
    going: Option<ring::Going>,
    info: &mut RunInfo,
    run: &RunDirectory,
) -> Result<Vec<RecordedProcess>, Error> {
    recording.wait_for_writers(AFTER_THE_COMMAND)?;
    info.scheduler = recording.finish_scheduler_events()?;
    let outcome = going.map(ring::Going::finish).transpose().map_err(at(run.path()))?;
    let (ring, facts, failures) =
        outcome.map_or((None, None, Vec::new()), |o| (Some(o.ring), Some(o.facts), o.failures));
    let (processes, undone) = recording.finish_with(ring)?;

    info.cut_short = false;
    info.measured_from_ns = facts.as_ref().and_then(ring::measured_from_ns);
    info.ring = facts;
    info.versions = versions(&processes);
    info.missing =
        processes.iter().flat_map(|process| process.missing().into_iter().chain(process.unknown_release())).collect();
    info.missing.extend(failures.into_iter().chain(undone));
    Ok(processes)
}

/// Reports, once for each file, that it is nearly at its limit.
#[derive(Default)]
struct Fullness {
    looked: Option<Instant>,
    told: HashSet<PathBuf>,
}

impl Fullness {
    fn tell(&mut self, recording: &Recording) {
        if self.looked.is_some_and(|looked| looked.elapsed() < Duration::from_secs(1)) {
            return;
        }
        self.looked = Some(Instant::now());
        // What cannot be read now is read at the end, and reported then. The kernel's file, of pid 0, has no limit.
        let is_kernels =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"0-"));
        for path in recording.event_files().unwrap_or_default().into_iter().filter(|path| !is_kernels(path)) {
            let mut words = [0; 16];
            let read = File::open(&path).and_then(|file| file.read_exact_at(&mut words, CHUNKS_MAX as u64));
            let [most, used] = [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|byte| words[at + byte])));
            // A file may be longer by the storage that ended threads gave back.
            let given_back = recording.max_bytes.map_or(0, |bytes| most.saturating_sub(bytes / CHUNK_SIZE as u64));
            let (most, used) = (most - given_back, used.saturating_sub(given_back));
            if read.is_ok() && most > 0 && used * 5 > most * 4 && self.told.insert(path.clone()) {
                let mib = |chunks: u64| (chunks * CHUNK_SIZE as u64) >> 20;
                eprintln!(
                    "tacho: {}: {} of at most {} MiB are used (--max-mib): what does not fit will be dropped and \
                     counted; --ring 60s keeps the last minute instead",
                    path.display(),
                    mib(used),
                    mib(most)
                );
            }
        }
    }
}

fn start_command(command: &[OsString], recording: &Recording, signals_before: libc::sigset_t) -> io::Result<Child> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command was given"));
    };
    let mut command = Command::new(program);
    command.args(arguments).envs(recording.environment());
    // Between fork and exec: sigprocmask and setrlimit are async-signal-safe.
    unsafe {
        command.pre_exec(move || match libc::sigprocmask(libc::SIG_SETMASK, &signals_before, std::ptr::null_mut()) {
            0 => descriptors::restore(),
            _ => Err(io::Error::last_os_error()),
        });
    }
    command.spawn()
}

fn why_nothing(program: &OsStr, left_behind: &[(u32, String)]) -> String {
    if let Some((pid, command)) = left_behind.first() {
        let others = if left_behind.len() > 1 { format!(" and {} more", left_behind.len() - 1) } else { String::new() };
        return format!(
            "nothing was recorded until {} s after the command's end. Process {pid} ({command}){others}, which the \
             command left behind, went on: what it records from then on is in this run, too, and `tacho explain` of it \
             has that",
            AFTER_THE_COMMAND.as_secs()
        );
    }
    let obstacle = preload::find_program(program).and_then(|path| preload::obstacle(&path));
    let reason = obstacle.unwrap_or_else(|| {
        "no process of it called a function of tracetools or of roscpp: either none of them is a ROS 2 program of \
         Humble or later or a node of ROS 1 in C++, or it was built with TRACETOOLS_DISABLED, or its environment was \
         cleared on the way (env -i, sudo, a container)"
            .to_owned()
    });
    format!("nothing was recorded: {reason}")
}
