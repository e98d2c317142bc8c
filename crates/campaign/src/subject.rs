//! The subjects of a campaign: workloads, each with its runner and run directory.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tacho_events::run::RunDirectory;
use tacho_runner::bench::{Bench, Progress, Ran};
use tacho_simulate::Simulator;
use tacho_workload::Workload;

/// Approximate time that a run takes beside its duration, to estimate the time left.
const AROUND_A_RUN: Duration = Duration::from_secs(3);

/// Makes runs and their figures: a [`Bench`], a [`Simulator`], or a stand-in for tests.
pub trait Runner: Sync {
    /// What it does, as `run.json` names it.
    fn verb(&self) -> &'static str;

    /// How many of its runs may go on at once without disturbing each other.
    fn at_once(&self) -> usize {
        1
    }

    /// Runs one repeat of a workload into a directory that has no run yet, and writes its `run.json`.
    fn run(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> anyhow::Result<Ran>;

    /// Writes the tables and the figures of a run. An error means that its events cannot be analysed.
    fn analyse(&self, workload: &Workload, run: &RunDirectory) -> anyhow::Result<()> {
        tacho_figures::analyse_and_store(run, Some(workload), &mut |_| {})?;
        Ok(())
    }
}

impl Runner for Bench<'_> {
    fn verb(&self) -> &'static str {
        "bench"
    }

    fn run(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> anyhow::Result<Ran> {
        self.repeat(workload, repeat, run, progress)
    }
}

impl Runner for Simulator<'_> {
    fn verb(&self) -> &'static str {
        "simulate"
    }

    /// Virtual time does not depend on what else the machine does.
    fn at_once(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    fn run(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> anyhow::Result<Ran> {
        let info = self.repeat(workload, repeat, run, &mut |done| progress(Progress { what: "simulating", done }))?;
        Ok(Ran { info, nodes: vec![], failures: vec![] })
    }
}

/// How the runs of a command are made.
pub struct Running<'a> {
    /// Makes them.
    pub runner: &'a dyn Runner,
    /// Set by ^C.
    pub interrupted: &'a AtomicBool,
    /// The command line, for `run.json`.
    pub command: Vec<String>,
    /// Whether to delete the events of each run when its figures are written.
    pub discard_events: bool,
}

/// A named workload and the run directory of its repeats.
pub struct Subject<'a> {
    /// Name in messages: that of a sweep's point or of a proof's candidate.
    pub name: String,
    /// What runs, and how often.
    pub workload: &'a Workload,
    /// Runs it and computes its figures.
    pub runner: &'a dyn Runner,
    /// The run directory. Several repeats are stored in its `repeats/`.
    pub directory: RunDirectory,
    /// Whether even a single repeat is stored there.
    pub always_repeats: bool,
    /// Parameters that a sweep varies, for `run.json`.
    pub parameters: BTreeMap<String, String>,
}

impl<'a> Subject<'a> {
    /// Makes a subject whose only repeat, if it has just one, is stored in `directory` itself.
    pub fn new(name: &str, workload: &'a Workload, runner: &'a dyn Runner, directory: RunDirectory) -> Subject<'a> {
        let (always_repeats, parameters) = (false, BTreeMap::new());
        Subject { name: name.to_owned(), workload, runner, directory, always_repeats, parameters }
    }

    /// Whether its directory contains repeats and is not itself a run.
    pub fn has_repeats(&self) -> bool {
        self.always_repeats || self.workload.run.repeats > 1
    }

    /// The run directory of a repeat.
    pub fn run(&self, repeat: u32) -> RunDirectory {
        if self.has_repeats() {
            self.directory.repeat(repeat)
        } else {
            self.directory.clone()
        }
    }

    /// Approximate duration of a repeat, s.
    pub(crate) fn takes_s(&self) -> f64 {
        (self.workload.run.duration + AROUND_A_RUN).as_secs_f64()
    }
}
