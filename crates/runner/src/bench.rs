//! Runs a workload: one process for each `process:`, one run directory for each repeat. Nothing is sent before all
//! endpoints have matched.

use crate::background::Background;
use crate::board_wire::BoardWire;
use crate::domain::Domain;
use crate::hosts::Hosts;
use crate::install::Installation;
use crate::leftovers::{self, Note};
use crate::micro::Network;
use crate::node_process::{NodeProcess, Place};
use crate::patience;
use crate::planning::{plan, Parts, Plans, ProcessPlan};
pub use crate::processes::Progress;
use crate::processes::{Processes, Stage};
use crate::protocol::{Command, NodeFigures};
use crate::resources::Usage;
use crate::starting_again::{self, KilledAtStart};
use crate::window::Window;
use anyhow::{bail, Context, Result};
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant, SystemTime};
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_events::wall::{realtime_offset_ns, rfc3339};
use tacho_recording::clock::monotonic_ns;
use tacho_recording::machine::machine;
use tacho_recording::scheduler_events::When;
use tacho_recording::versions;
use tacho_recording::{RecordedProcess, Recording};
use tacho_workload::model::{Start, Workload};

/// A node that began at once and was never asked to stop ends by itself this long after the latest end of its run.
const ENDED_BY_NOW: Duration = Duration::from_secs(30);

/// Settings that all runs of a command share.
pub struct Bench<'a> {
    /// The parts of tacho on this machine.
    pub installation: &'a Installation,
    /// The command line, for `run.json`.
    pub command: Vec<String>,
    /// False: runs without the recorder, only with clocks in the nodes, to measure the cost of recording.
    pub recorded: bool,
    /// Whether to record scheduler events of the kernel.
    pub scheduler: When,
    /// Whether to read the CPU-time clock around each callback.
    pub cpu_time: bool,
    /// Set by ^C.
    pub interrupted: &'a AtomicBool,
}

/// Outcome of one run.
#[derive(Debug)]
pub struct Ran {
    /// As written to `run.json`.
    pub info: RunInfo,
    /// What the nodes reported; nodes that died reported nothing.
    pub nodes: Vec<NodeFigures>,
    /// Nodes that died, in words.
    pub failures: Vec<String>,
}

impl Bench<'_> {
    /// Whether ^C was pressed.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Runs one repeat of a workload into `run`, which has no run yet. A node that dies after the start does not end
    /// the run. If a signal ends a node before anything is measured, the repeat starts again, once.
    pub fn repeat(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Ran> {
        let first = self.start(workload, repeat, run, vec![], progress);
        let Some(KilledAtStart(death)) = first.as_ref().err().and_then(|error| error.downcast_ref()) else {
            return first;
        };
        if self.is_interrupted() {
            return first;
        }
        eprintln!("tacho: nothing was measured yet, so the run starts again, once: {death}");
        starting_again::put_aside(run)?;
        self.start(workload, repeat, run, vec![death.clone()], progress)
            .context("the second start, as a process was killed at the first")
    }

    fn start(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        failed_starts: Vec<String>,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Ran> {
        std::fs::create_dir_all(run.path().join("logs")).with_context(|| run.path().display().to_string())?;
        write_workload(workload, run)?;
        let clock = workload.run.in_node_clock.then(|| run.clock());
        if let Some(folder) = &clock {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        leftovers::remove_before_a_run();
        let note = Note::begin();
        if let Err(error) = &note {
            eprintln!("tacho: should this run be killed, `tacho doctor --clean` will not find what it leaves: {error}");
        }
        let mut note = note.ok();
        let domain = Domain::choose(workload.run.domain)?;
        let clock = clock.map(|folder| folder.canonicalize()).transpose()?;
        let network = Network::of(workload)?;
        let (libraries, image) = (self.installation.libraries(), self.installation.board_image());
        let facts = |middleware: &str| self.installation.facts(middleware);
        let tasks = self.installation.tasks_of(workload)?;
        let parts = Parts { libraries: &libraries, image: &image, tasks: &tasks, facts: &facts };
        let Plans { processes, phases } = plan(workload, &network, repeat, domain.id, parts, clock)?;
        let started = Instant::now();
        let mut info = RunInfo {
            verb: "bench".into(),
            command: self.command.clone(),
            tacho_version: env!("CARGO_PKG_VERSION").into(),
            started_at: rfc3339(SystemTime::now()),
            realtime_offset_ns: Some(realtime_offset_ns()),
            machine: Some(machine()),
            repeat: (workload.run.repeats > 1).then_some(repeat),
            phases,
            failed_starts,
            missing: vec!["tacho was ended before the run".into()],
            cut_short: true,
            ..RunInfo::default()
        };
        run.write_info(&info)?;

        let mut recording = match self.recorded {
            true => {
                let recording = Recording::start(run, &self.installation.recorder())?.with_cpu_time(self.cpu_time);
                Some(recording.with_scheduler_events(self.scheduler)?)
            }
            false => None,
        };
        let environment = recording.as_ref().map(Recording::environment).unwrap_or_default();
        let result =
            self.run_processes(&processes, &environment, workload, &network, run, &mut info, &mut note, progress);
        info.scheduler = recording.as_mut().map(Recording::finish_scheduler_events).transpose()?.flatten();
        let recorded = recording.map(Recording::finish).transpose()?.unwrap_or_default();
        info.duration_s = started.elapsed().as_secs_f64();
        if let (Err(error), true) = (&result, info.processes.is_empty()) {
            info.missing = vec![format!("the run failed: {error:#}")];
        }
        if info.versions.contains_key("rcl") {
            info.missing.extend(recorded.iter().filter_map(RecordedProcess::unknown_release));
        }
        info.versions.extend(versions(&recorded));
        info.missing.extend(recorded.iter().flat_map(RecordedProcess::missing));
        info.missing.extend((!self.recorded).then(|| "not recorded, as asked for: there are no events".to_owned()));
        info.quality = result.iter().flat_map(|(nodes, _)| nodes).filter_map(NodeFigures::quality).collect();
        if let (Ok((nodes, _)), false) = (&result, self.recorded) {
            info.missing.extend(nodes.iter().flat_map(NodeFigures::refusals)); // these leave no event
        }
        run.write_info(&info)?;
        let (nodes, mut failures) = result?;
        failures.extend(recorded.iter().filter_map(RecordedProcess::dropped)); // figures of only a part are a failure
        Ok(Ran { info, nodes, failures })
    }

    fn run_processes(
        &self,
        plans: &[ProcessPlan],
        environment: &[(OsString, OsString)],
        workload: &Workload,
        network: &Network,
        run: &RunDirectory,
        info: &mut RunInfo,
        note: &mut Option<Note>,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(Vec<NodeFigures>, Vec<String>)> {
        progress(Progress { what: "starting nodes", done: 0.0 });
        let at_once = workload.run.start == Start::AtOnce;
        if !network.hosts().is_empty() && run.path().canonicalize()?.starts_with("/dev/shm") {
            bail!(
                "{}: hosts have shared memory of their own and would not see it; expected a run directory outside of \
                 /dev/shm",
                run.path().display()
            );
        }
        let hosts = Hosts::make(network.hosts(), &network.boards())?;
        info.missing = hosts.missing().iter().chain(network.missing()).cloned().collect();
        let wire = if workload.run.wire { hosts.count_bytes(network.keepers())? } else { None };
        if workload.run.wire && wire.is_none() {
            info.missing.push(
                "bytes on the wire were not counted: no kernel's bridge joins hosts of this run; expected `hosts` or \
                 `host: micro`"
                    .into(),
            );
        }
        let mut background = match workload.run.background_cpu {
            threads if threads > 0 && at_once => Some(Background::start(&self.installation.node()?, threads)?),
            _ => None,
        };
        let (sender, said) = channel();
        let mut processes = Processes::new(plans, said, self.interrupted);
        for (index, ProcessPlan { name, host, plan, .. }) in plans.iter().enumerate() {
            let log = run.path().join("logs").join(format!("{name}.log"));
            let program = self.installation.program(&plan.middleware)?;
            let wire =
                plan.board.as_ref().and_then(|_| hosts.wire(network.board_number(name)?)).unwrap_or(BoardWire::User);
            let place = Place { environment, namespaces: hosts.namespaces(network.place(host)), wire };
            let process = NodeProcess::start(&program, name, index, plan, &place, log, sender.clone())
                .with_context(|| format!("process {name}: {}", program.display()))?;
            note.iter_mut().for_each(|note| note.started(process.pid()));
            processes.add(process);
            if at_once {
                let start_ns = monotonic_ns();
                let latest_ns = start_ns + (patience::IN_ALL + workload.run.duration + ENDED_BY_NOW).as_nanos() as i64;
                processes.tell_last(&Command::Start { start_ns, stop_ns: latest_ns, end_ns: latest_ns });
            }
        }
        drop(sender);

        let mut usage = Usage::of(processes.pids(), &run.events());
        let stage = if at_once { Stage::Ready } else { Stage::Matched };
        let reached = processes.wait_until(stage, info, &mut |reached| {
            note.iter_mut().for_each(Note::look_now_and_then);
            progress(reached);
        });
        note.iter_mut().for_each(Note::look); // before the window, so as not to disturb it
        if let Err(error) = reached {
            info.missing = vec![format!("the run never started: {error:#}")];
            info.processes = processes.end_all(&usage)?;
            return Err(error);
        }
        if self.is_interrupted() {
            info.missing = vec!["interrupted before the first message".into()];
            info.processes = processes.end_all(&usage)?;
            return Ok((vec![], vec![]));
        }

        if background.is_none() && workload.run.background_cpu > 0 {
            background = Some(Background::start(&self.installation.node()?, workload.run.background_cpu)?);
        }
        let window = match at_once {
            true => Window::at_once(workload, processes.last_ready_ns().unwrap_or_else(monotonic_ns)),
            false => Window::together(workload, monotonic_ns()),
        };
        if !at_once {
            let Window { start_ns, stop_ns, end_ns, .. } = window;
            processes.tell(&Command::Start { start_ns, stop_ns, end_ns });
        }
        info.measured_from_ns = Some(window.from_ns);
        info.measured_to_ns = Some(window.stop_ns);
        run.write_info(&RunInfo { missing: vec!["tacho was ended during the run".into()], ..info.clone() })?;
        wire.iter().for_each(|wire| wire.measure(window.from_ns..window.stop_ns));
        processes.wait_until_done(window, at_once, &mut usage, info, progress)?;
        info.load = usage.load();
        info.wire = wire.map(|wire| wire.counted());
        if background.as_mut().is_some_and(|background| !background.runs()) {
            info.missing.push("the background load ended before the run".into());
        }
        drop(background);
        info.processes = processes.end_all(&usage)?;
        info.missing.extend(processes.failures.iter().cloned());
        Ok((std::mem::take(&mut processes.nodes), std::mem::take(&mut processes.failures)))
    }
}

/// Writes the workload into its run directory, which it makes if needed.
pub fn write_workload(workload: &Workload, run: &RunDirectory) -> Result<()> {
    std::fs::create_dir_all(run.path()).with_context(|| run.path().display().to_string())?;
    std::fs::write(run.workload(), tacho_workload::write(workload))
        .with_context(|| run.workload().display().to_string())
}
