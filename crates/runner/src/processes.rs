//! All node processes of a run: starts them, waits for them, ends them.

use crate::node_process::{NodeProcess, Said};
use crate::patience::Patience;
use crate::planning::ProcessPlan;
use crate::protocol::{Answer, Command, NodeFigures};
use crate::resources::Usage;
use crate::starting_again::KilledAtStart;
use crate::window::Window;
use anyhow::{anyhow, bail, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tacho_events::run::{Board, ProcessExit, RunInfo, StartUp};
use tacho_recording::clock::monotonic_ns;

/// Longest time from the end of the window to the end of all processes.
const ENDING_LIMIT: Duration = Duration::from_secs(20);
/// Time before the window in which all counts are read, so that the reading has ended when the window begins.
const READING_NS: i64 = 100_000_000;
/// Interval between checks for ^C and calls of the progress display.
const LOOKING: Duration = Duration::from_millis(100);

/// Running processes and their output.
pub struct Processes<'a> {
    plans: &'a [ProcessPlan],
    running: Vec<NodeProcess>,
    said: Receiver<(usize, Said)>,
    ended: Vec<Option<ProcessExit>>,
    startup: Vec<Option<StartUp>>,
    boards: Vec<Option<Board>>,
    interrupted: &'a AtomicBool,
    /// Figures that the nodes reported.
    pub nodes: Vec<NodeFigures>,
    /// Nodes that died, in words.
    pub failures: Vec<String>,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The current stage.
    pub what: &'a str,
    /// Completed share of this run, 0 to 1.
    pub done: f64,
}

/// A stage that all processes must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Their entities exist.
    Ready,
    /// Their endpoints have all peers.
    Matched,
}

/// Actions at certain times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    CountBefore,
    CountAfter,
    Weigh,
    StopSources,
    StopAll,
}

impl<'a> Processes<'a> {
    /// Prepares for these plans; starts none.
    pub fn new(plans: &'a [ProcessPlan], said: Receiver<(usize, Said)>, interrupted: &'a AtomicBool) -> Processes<'a> {
        let (ended, startup, boards) = (vec![None; plans.len()], vec![None; plans.len()], vec![None; plans.len()]);
        Processes {
            plans,
            running: Vec::new(),
            said,
            ended,
            startup,
            boards,
            interrupted,
            nodes: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Adds the process of the next plan.
    pub fn add(&mut self, process: NodeProcess) {
        self.running.push(process);
    }

    /// Sends a command to all.
    pub fn tell(&mut self, command: &Command) {
        self.running.iter_mut().for_each(|process| process.tell(command));
    }

    /// Sends a command to the last one added.
    pub fn tell_last(&mut self, command: &Command) {
        self.running.iter_mut().last().into_iter().for_each(|process| process.tell(command));
    }

    /// Process ids, in the order of the plans.
    pub fn pids(&self) -> Vec<u32> {
        self.running.iter().map(NodeProcess::pid).collect()
    }

    /// When the last one was ready, if they reported it.
    pub fn last_ready_ns(&self) -> Option<i64> {
        self.startup.iter().flatten().map(|startup| startup.ready_ns).max()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Waits until all have reached a stage, or ^C. It is an error if a process fails before.
    pub fn wait_until(
        &mut self,
        stage: Stage,
        info: &mut RunInfo,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<()> {
        let mut patience = Patience::new(Instant::now());
        let mut reached = vec![false; self.running.len()];
        let mut lacking: BTreeMap<usize, String> = BTreeMap::new();
        let what = if stage == Stage::Matched { "matching endpoints" } else { "starting nodes" };
        while !reached.iter().all(|reached| *reached) {
            if self.is_interrupted() {
                return Ok(());
            }
            if let Some(why) = patience.ended(Instant::now()) {
                let names: Vec<&str> =
                    reached.iter().zip(self.plans).filter(|(r, _)| !**r).map(|(_, p)| p.name.as_str()).collect();
                let first = lacking.values().next().cloned().unwrap_or_else(|| "no endpoint was ready".into());
                bail!("{why}, and not all endpoints have theirs ({}): {first}", names.join(", "));
            }
            let said = self.said.recv_timeout(LOOKING);
            if let Ok((_, Said::Answer(_))) = said {
                patience.step(Instant::now());
            }
            match said {
                Ok((index, Said::Answer(Answer::Ready { version, main_ns, ready_ns, transports }))) => {
                    info.versions.extend(named_versions(&version));
                    let middleware = &self.plans[index].plan.middleware;
                    if !transports.is_empty() {
                        info.transports.insert(middleware.clone(), transports);
                    }
                    self.startup[index] = main_ns.zip(ready_ns).map(|(main_ns, ready_ns)| StartUp {
                        main_ns,
                        ready_ns,
                        ..StartUp::default()
                    });
                    reached[index] |= stage == Stage::Ready;
                }
                Ok((index, Said::Answer(Answer::Unmatched { node, topic, found, expected }))) => {
                    lacking
                        .insert(index, format!("node {node}, topic {topic}: found {found} peers, expected {expected}"));
                }
                Ok((index, Said::Answer(Answer::Matched))) => {
                    lacking.remove(&index);
                    if let Some(startup) = &mut self.startup[index] {
                        startup.matched_ns = Some(monotonic_ns());
                    }
                    reached[index] = true;
                }
                Ok((index, Said::Answer(Answer::Failed { cause }))) => {
                    bail!("process {}: {cause}", self.plans[index].name)
                }
                Ok((index, Said::Ended)) => {
                    let death = self.death(index)?;
                    let killed = self.ended[index].as_ref().is_some_and(|exit| exit.signal.is_some());
                    return Err(if killed { KilledAtStart(death).into() } else { anyhow!(death) });
                }
                Ok((_, Said::Noise | Said::Answer(Answer::Done { .. }))) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("every node process has ended"),
            }
            let done = reached.iter().filter(|reached| **reached).count() as f64 / reached.len() as f64;
            progress(Progress { what, done: 0.1 * done });
        }
        Ok(())
    }

    /// Waits until all are done with the window, and reads their use of resources. `stop`: sends them the window's end
    /// when it comes.
    pub fn wait_until_done(
        &mut self,
        window: Window,
        stop: bool,
        usage: &mut Usage,
        info: &mut RunInfo,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<()> {
        let Window { start_ns, from_ns, stop_ns, end_ns } = window;
        let mut steps = vec![(from_ns - READING_NS, Step::CountBefore), (stop_ns, Step::Weigh)];
        if stop {
            steps.extend([(stop_ns, Step::StopSources), (end_ns, Step::StopAll)]);
        }
        let mut done = vec![false; self.running.len()];
        let mut limit_ns = end_ns + ENDING_LIMIT.as_nanos() as i64;
        info.cut_short = false;
        while !self.ended.iter().zip(&done).all(|(ended, done)| *done || ended.is_some()) {
            let now = monotonic_ns();
            if self.is_interrupted() && !info.cut_short {
                info.cut_short = true;
                info.missing.push("interrupted by the user".into());
                info.missing.extend(
                    (now < from_ns).then(|| "nothing was measured: the nodes were still warming up".to_owned()),
                );
                info.measured_to_ns = Some(now.clamp(from_ns, stop_ns));
                limit_ns = now + ENDING_LIMIT.as_nanos() as i64;
                if now < stop_ns {
                    usage.count_after();
                    usage.weigh();
                }
                steps.clear();
                self.tell(&Command::Stop);
            }
            steps.sort_unstable();
            while steps.first().is_some_and(|(at, _)| *at <= now) {
                match steps.remove(0).1 {
                    Step::CountBefore => {
                        usage.count_before();
                        steps.push((stop_ns - usage.reading_ns(), Step::CountAfter));
                        steps.sort_unstable();
                    }
                    Step::CountAfter => usage.count_after(),
                    Step::Weigh => usage.weigh(),
                    Step::StopSources => self.tell_sources(&Command::Stop),
                    Step::StopAll => self.tell(&Command::Stop),
                }
            }
            if now > limit_ns {
                for (index, _) in done.iter().enumerate().filter(|(_, done)| !**done) {
                    self.failures.push(format!("process {} did not end and was killed", self.plans[index].name));
                }
                return Ok(());
            }
            let part = (now - start_ns) as f64 / (stop_ns - start_ns) as f64;
            progress(Progress { what: "measuring", done: 0.1 + 0.85 * part.clamp(0.0, 1.0) });
            let next = steps.first().map_or(LOOKING, |(at, _)| Duration::from_nanos((at - now).max(0) as u64));
            match self.said.recv_timeout(next.min(LOOKING)) {
                Ok((index, Said::Answer(Answer::Done { nodes, board, failures }))) => {
                    let process = &self.plans[index].name;
                    self.failures.extend(failures.iter().map(|failure| format!("process {process}: {failure}")));
                    self.boards[index] = board;
                    if let Some(startup) = &mut self.startup[index] {
                        startup.first_message_ns = nodes.iter().filter_map(|node| node.first_message_ns).min();
                    }
                    self.nodes.extend(nodes);
                    done[index] = true;
                }
                Ok((index, Said::Answer(Answer::Failed { cause }))) => {
                    self.failures.push(format!("process {}: {cause}", self.plans[index].name));
                    done[index] = true;
                }
                Ok((index, Said::Ended)) if !done[index] => {
                    let death = self.death(index)?;
                    self.failures.push(death);
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Sends a command to processes without inputs.
    fn tell_sources(&mut self, command: &Command) {
        for (process, plan) in self.running.iter_mut().zip(self.plans) {
            if plan.plan.nodes.iter().all(|node| node.inputs.is_empty()) {
                process.tell(command);
            }
        }
    }

    /// Describes the unexpected end of a process.
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
        Ok(format!(
            "process {name} {how} before the end{}",
            if words.is_empty() { String::new() } else { format!(": {words}") }
        ))
    }

    /// Ends those that still run: all at once, or one after the other if the middleware [needs
    /// that](ProcessPlan::ends_alone).
    pub fn end_all(&mut self, usage: &Usage) -> Result<Vec<ProcessExit>> {
        for (process, plan) in self.running.iter_mut().zip(self.plans) {
            if !plan.ends_alone {
                process.close();
            }
        }
        let mut exits = Vec::new();
        for (index, process) in self.running.iter_mut().enumerate() {
            let exit = match self.ended[index].take() {
                Some(exit) => exit,
                None => {
                    process.close();
                    process.exit_soon()?
                }
            };
            exits.push(ProcessExit {
                host: self.plans[index].host.clone(),
                startup: self.startup[index].clone(),
                // Those of a board's keeper and emulator belong to no node.
                resources: usage
                    .found()
                    .get(index)
                    .cloned()
                    .flatten()
                    .filter(|_| self.plans[index].plan.board.is_none()),
                board: self.boards[index].take(),
                ..exit
            });
        }
        Ok(exits)
    }
}

/// Splits "rcl 10.1.3, rmw_fastrtps_cpp 9.3.3" into names and versions.
fn named_versions(text: &str) -> impl Iterator<Item = (String, String)> + '_ {
    text.split(", ").filter_map(|part| part.split_once(' ')).map(|(name, version)| (name.into(), version.into()))
}
