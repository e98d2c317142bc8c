//! Running a workload: one process a `process:`, all endpoints matched before anything is sent, one run directory a repeat.

use crate::domain::Domain;
use crate::install::Installation;
use crate::machine::machine;
use crate::node::instant::now_ns;
use crate::node_process::{NodeProcess, Said};
use crate::planning::{plan, Plans};
use crate::protocol::{Answer, Command, NodeFigures};
use crate::recording::{rfc3339, versions, RecordedProcess, Recording};
use anyhow::{bail, Context, Result};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};
use tacho_events::run::{ProcessExit, RunDirectory, RunInfo};
use tacho_workload::model::{Executor, Node, Workload};

/// From start to all endpoints matched; discovery of many nodes on few cores is slow.
const MATCHING_LIMIT: Duration = Duration::from_secs(90);
/// From the end of the window to the end of all processes.
const ENDING_LIMIT: Duration = Duration::from_secs(20);
/// From the word to start to the start, so that every process has heard it.
const LEAD_NS: i64 = 200_000_000;
/// Least warm-up before the measured window.
const SETTLING: Duration = Duration::from_millis(300);

/// What is the same for every run of a command.
pub struct Bench<'a> {
    /// Where the parts are.
    pub installation: &'a Installation,
    /// The command line, for `run.json`.
    pub command: Vec<String>,
    /// False: without the recorder, only in-node clocks; to see what recording costs.
    pub recorded: bool,
    /// Set by ^C.
    pub interrupted: &'a AtomicBool,
}

/// What came of one run.
#[derive(Debug)]
pub struct Ran {
    /// As written to `run.json`.
    pub info: RunInfo,
    /// What the nodes said of themselves; those that died said nothing.
    pub nodes: Vec<NodeFigures>,
    /// Nodes that died, in words.
    pub failures: Vec<String>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// What is under way.
    pub what: &'a str,
    /// Of this run, 0 to 1.
    pub done: f64,
}

/// Processes that run, and what they say.
struct Processes {
    running: Vec<NodeProcess>,
    said: Receiver<(usize, Said)>,
    ended: Vec<Option<ProcessExit>>,
    nodes: Vec<NodeFigures>,
    failures: Vec<String>,
}

impl Bench<'_> {
    /// Whether ^C was pressed.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Runs one repeat of a workload into `run`, which has no run yet. A node that dies after the start does not end the run.
    pub fn repeat(&self, workload: &Workload, repeat: u32, run: &RunDirectory, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Ran> {
        std::fs::create_dir_all(run.path().join("logs")).with_context(|| run.path().display().to_string())?;
        write_workload(workload, run)?;
        let clock = workload.run.in_node_clock.then(|| run.clock());
        if let Some(folder) = &clock {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let domain = Domain::choose(workload.run.domain)?;
        let clock = clock.map(|folder| folder.canonicalize()).transpose()?;
        let Plans { processes, phases } = plan(workload, repeat, domain.id, &self.installation.libraries(), clock);
        let started = Instant::now();
        let mut info = RunInfo {
            verb: "bench".into(),
            command: self.command.clone(),
            tacho_version: env!("CARGO_PKG_VERSION").into(),
            started_at: rfc3339(SystemTime::now()),
            machine: Some(machine()),
            repeat: (workload.run.repeats > 1).then_some(repeat),
            phases,
            missing: vec!["tacho was ended before the run".into()],
            cut_short: true,
            ..RunInfo::default()
        };
        run.write_info(&info)?;

        let recording = if self.recorded { Some(Recording::start(run, &self.installation.recorder())?) } else { None };
        let environment = recording.as_ref().map(Recording::environment).unwrap_or_default();
        let result = self.run_processes(&processes, &environment, workload, run, &mut info, progress);
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
        run.write_info(&info)?;
        let (nodes, failures) = result?;
        Ok(Ran { info, nodes, failures })
    }

    fn run_processes(
        &self,
        plans: &[(String, crate::protocol::Plan)],
        environment: &[(OsString, OsString)],
        workload: &Workload,
        run: &RunDirectory,
        info: &mut RunInfo,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(Vec<NodeFigures>, Vec<String>)> {
        progress(Progress { what: "starting nodes", done: 0.0 });
        let (sender, said) = channel();
        let mut processes =
            Processes { running: Vec::new(), said, ended: vec![None; plans.len()], nodes: Vec::new(), failures: Vec::new() };
        for (index, (name, plan)) in plans.iter().enumerate() {
            let log = run.path().join("logs").join(format!("{name}.log"));
            let program = self.installation.program(&plan.middleware)?;
            let process = NodeProcess::start(&program, name, index, plan, environment, log, sender.clone())
                .with_context(|| format!("process {name}: {}", program.display()))?;
            processes.running.push(process);
        }
        drop(sender);

        let matched = self.wait_until_matched(&mut processes, info, progress);
        if let Err(error) = matched {
            info.missing = vec![format!("the run never started: {error:#}")];
            info.processes = processes.end_all()?;
            return Err(error);
        }
        if self.is_interrupted() {
            info.missing = vec!["interrupted before the first message".into()];
            info.processes = processes.end_all()?;
            return Ok((vec![], vec![]));
        }

        let start_ns = now_ns() + LEAD_NS;
        let from_ns = start_ns + settling(workload).as_nanos() as i64;
        let stop_ns = from_ns + workload.run.duration.as_nanos() as i64;
        let end_ns = stop_ns + draining(workload).as_nanos() as i64;
        for process in &mut processes.running {
            process.tell(&Command::Start { start_ns, stop_ns, end_ns });
        }
        info.measured_from_ns = Some(from_ns);
        info.measured_to_ns = Some(stop_ns);
        info.missing.clear();
        self.wait_until_done(&mut processes, (start_ns, stop_ns, end_ns), info, progress)?;
        info.processes = processes.end_all()?;
        info.missing.extend(processes.failures.iter().cloned());
        Ok((std::mem::take(&mut processes.nodes), std::mem::take(&mut processes.failures)))
    }

    fn wait_until_matched(&self, processes: &mut Processes, info: &mut RunInfo, progress: &mut dyn FnMut(Progress<'_>)) -> Result<()> {
        let limit = Instant::now() + MATCHING_LIMIT;
        let mut matched = vec![false; processes.running.len()];
        let mut lacking: BTreeMap<usize, String> = BTreeMap::new();
        while !matched.iter().all(|m| *m) {
            if self.is_interrupted() {
                return Ok(());
            }
            if Instant::now() > limit {
                let names: Vec<&str> = matched.iter().zip(&processes.running).filter(|(m, _)| !**m).map(|(_, p)| p.name.as_str()).collect();
                let first = lacking.values().next().cloned().unwrap_or_else(|| "no endpoint was ready".into());
                bail!("after {} s not all endpoints have their peers ({}): {first}", MATCHING_LIMIT.as_secs(), names.join(", "));
            }
            match processes.said.recv_timeout(Duration::from_millis(100)) {
                Ok((_, Said::Answer(Answer::Ready { version, .. }))) => {
                    info.versions.extend(named_versions(&version));
                }
                Ok((index, Said::Answer(Answer::Unmatched { node, topic, found, expected }))) => {
                    lacking.insert(index, format!("node {node}, topic {topic}: found {found} peers, expected {expected}"));
                }
                Ok((index, Said::Answer(Answer::Matched))) => {
                    lacking.remove(&index);
                    matched[index] = true;
                    let done = matched.iter().filter(|m| **m).count() as f64 / matched.len() as f64;
                    progress(Progress { what: "matching endpoints", done: 0.1 * done });
                }
                Ok((index, Said::Answer(Answer::Failed { cause }))) => bail!("process {}: {cause}", processes.running[index].name),
                Ok((index, Said::Ended)) => bail!(processes.death(index)?),
                Ok((_, Said::Noise | Said::Answer(Answer::Done { .. }))) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("every node process has ended"),
            }
        }
        Ok(())
    }

    fn wait_until_done(
        &self,
        processes: &mut Processes,
        (start_ns, stop_ns, end_ns): (i64, i64, i64),
        info: &mut RunInfo,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<()> {
        let mut done = vec![false; processes.running.len()];
        let mut limit_ns = end_ns + ENDING_LIMIT.as_nanos() as i64;
        info.cut_short = false;
        while !processes.ended.iter().zip(&done).all(|(ended, done)| *done || ended.is_some()) {
            let now = now_ns();
            if self.is_interrupted() && !info.cut_short {
                info.cut_short = true;
                info.missing.push("interrupted by the user".into());
                let from_ns = info.measured_from_ns.unwrap_or(start_ns);
                info.missing.extend((now < from_ns).then(|| "nothing was measured: the nodes were still warming up".to_owned()));
                info.measured_to_ns = Some(now.clamp(from_ns, stop_ns));
                limit_ns = now + ENDING_LIMIT.as_nanos() as i64;
                processes.running.iter_mut().for_each(|process| process.tell(&Command::Stop));
            }
            if now > limit_ns {
                for (index, _) in done.iter().enumerate().filter(|(_, done)| !**done) {
                    processes.failures.push(format!("process {} did not end and was killed", processes.running[index].name));
                }
                return Ok(());
            }
            let part = (now - start_ns) as f64 / (stop_ns - start_ns) as f64;
            progress(Progress { what: "measuring", done: 0.1 + 0.85 * part.clamp(0.0, 1.0) });
            match processes.said.recv_timeout(Duration::from_millis(100)) {
                Ok((index, Said::Answer(Answer::Done { nodes }))) => {
                    processes.nodes.extend(nodes);
                    done[index] = true;
                }
                Ok((index, Said::Answer(Answer::Failed { cause }))) => {
                    processes.failures.push(format!("process {}: {cause}", processes.running[index].name));
                    done[index] = true;
                }
                Ok((index, Said::Ended)) if !done[index] => {
                    let death = processes.death(index)?;
                    processes.failures.push(death);
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
        Ok(())
    }

    /// The run directory above repeats: what ran, and what each repeat lacks.
    pub fn write_whole(&self, workload: &Workload, run: &RunDirectory, repeats: &[RunInfo]) -> Result<()> {
        write_workload(workload, run)?;
        let Some(first) = repeats.first() else { return Ok(()) };
        let mut missing: Vec<String> = repeats.iter().enumerate()
            .flat_map(|(index, repeat)| repeat.missing.iter().map(move |text| format!("repeat {index}: {text}")))
            .collect();
        let lacking = workload.run.repeats as usize - repeats.len().min(workload.run.repeats as usize);
        missing.extend((lacking > 0).then(|| format!("{lacking} of {} repeats were not run", workload.run.repeats)));
        run.write_info(&RunInfo {
            duration_s: repeats.iter().map(|repeat| repeat.duration_s).sum(),
            processes: repeats.iter().flat_map(|repeat| repeat.processes.clone()).collect(),
            measured_from_ns: None,
            measured_to_ns: None,
            repeat: None,
            phases: BTreeMap::new(),
            missing,
            cut_short: lacking > 0 || repeats.iter().any(|repeat| repeat.cut_short),
            ..first.clone()
        })?;
        Ok(())
    }
}

impl Processes {
    /// How a process ended that should not have.
    fn death(&mut self, index: usize) -> Result<String> {
        let process = &mut self.running[index];
        let exit = process.exit_soon()?;
        let how = match (exit.code, exit.signal) {
            (_, Some(signal)) => format!("was killed by signal {signal}"),
            (Some(code), _) => format!("ended with exit code {code}"),
            _ => "ended".into(),
        };
        let words = process.last_words();
        let name = process.name.clone();
        self.ended[index] = Some(exit);
        Ok(format!("process {name} {how} before the end{}", if words.is_empty() { String::new() } else { format!(":\n{words}") }))
    }

    /// Ends those that still run, one after the other: endpoints that go while others are going, too, have been seen to deadlock in
    /// Fast DDS 3.2 (`DomainParticipant::set_listener` against `on_writer_discovery`).
    fn end_all(&mut self) -> Result<Vec<ProcessExit>> {
        let mut exits = Vec::new();
        for (index, process) in self.running.iter_mut().enumerate() {
            let exit = match self.ended[index].take() {
                Some(exit) => exit,
                None => {
                    process.close();
                    process.exit_soon()?
                }
            };
            exits.push(exit);
        }
        Ok(exits)
    }
}

/// How long nodes with inputs go on after the last source stopped: time for a message to wait at every spinning or timed node once,
/// and to be computed on at every node; at most two seconds.
fn draining(workload: &Workload) -> Duration {
    let of_node = |node: &Node| match node.executor {
        Executor::Spin { hz } | Executor::Timer { hz } => Duration::from_secs_f64(1.0 / hz) + node.work.longest(),
        Executor::Arrival => node.work.longest(),
    };
    let all: Duration = workload.nodes.iter().filter(|node| !node.subscribes.is_empty()).map(of_node).sum();
    all.clamp(Duration::from_millis(200), Duration::from_secs(2))
}

/// Warm-up: a period of the slowest node, so that each has run.
fn settling(workload: &Workload) -> Duration {
    let hz = workload.nodes.iter().flat_map(|node| {
        let own = match node.executor {
            Executor::Spin { hz } | Executor::Timer { hz } => Some(hz),
            Executor::Arrival => None,
        };
        own.into_iter().chain(node.publishes.iter().filter_map(|p| p.rate_hz))
    });
    let slowest = hz.fold(f64::INFINITY, f64::min);
    // A rate far below the run's length would wait for ever: the duration is the most that warming up may take.
    SETTLING.max(Duration::from_secs_f64((1.0 / slowest).min(workload.run.duration.as_secs_f64())))
}

/// "rcl 10.1.3, rmw_fastrtps_cpp 9.3.3" as name and version each.
fn named_versions(text: &str) -> impl Iterator<Item = (String, String)> + '_ {
    text.split(", ").filter_map(|part| part.split_once(' ')).map(|(name, version)| (name.into(), version.into()))
}

fn write_workload(workload: &Workload, run: &RunDirectory) -> Result<()> {
    std::fs::create_dir_all(run.path()).with_context(|| run.path().display().to_string())?;
    std::fs::write(run.workload(), tacho_workload::write(workload)).with_context(|| run.workload().display().to_string())
}
