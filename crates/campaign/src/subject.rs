//! What a campaign runs.

use std::collections::BTreeMap;
use std::time::Duration;
use tacho_events::run::RunDirectory;
use tacho_runner::bench::{Bench, Progress, Ran};
use tacho_workload::Workload;

/// What a run takes beside its duration, about: for the time left.
const AROUND_A_RUN: Duration = Duration::from_secs(3);

/// Who makes runs and their figures: a [`Bench`], in tests a stand-in.
pub trait Runner {
    /// Runs one repeat of a workload into a directory that has no run yet, and writes its `run.json`.
    fn run(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> anyhow::Result<Ran>;

    /// Writes the tables and the figures of a run; its events cannot be analysed where this fails.
    fn analyse(&self, workload: &Workload, run: &RunDirectory) -> anyhow::Result<()> {
        tacho_figures::analyse_and_store(run, Some(workload), &mut |_| {})?;
        Ok(())
    }
}

impl Runner for Bench<'_> {
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

/// A workload under a name, and the run directory of its repeats.
pub struct Subject<'a> {
    /// Name in messages: of a point of a sweep, of a candidate of a proof.
    pub name: String,
    /// What runs, and how often.
    pub workload: &'a Workload,
    /// Who runs it.
    pub runner: &'a dyn Runner,
    /// The run directory; several repeats lie below its `repeats/`.
    pub directory: RunDirectory,
    /// Whether a single repeat lies there, too.
    pub always_repeats: bool,
    /// What a sweep varies, for `run.json`.
    pub parameters: BTreeMap<String, String>,
}

impl<'a> Subject<'a> {
    /// A workload whose only repeat, if it has one, is `directory` itself.
    pub fn new(name: &str, workload: &'a Workload, runner: &'a dyn Runner, directory: RunDirectory) -> Subject<'a> {
        let (always_repeats, parameters) = (false, BTreeMap::new());
        Subject { name: name.to_owned(), workload, runner, directory, always_repeats, parameters }
    }

    /// Whether its directory is one above repeats, and no run itself.
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

    /// What a repeat takes, about, s.
    pub(crate) fn takes_s(&self) -> f64 {
        (self.workload.run.duration + AROUND_A_RUN).as_secs_f64()
    }
}
