//! A stand-in for runners, for tests of order and resume: it starts no process and measures nothing.

use crate::subject::Runner;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_runner::bench::{write_workload, Progress, Ran};
use tacho_tables::summary::{ChainFigures, Summary};
use tacho_tables::{store, Tables};
use tacho_workload::Workload;

/// Writes run directories with empty tables, and the figures of one chain.
pub struct StandIn<'a> {
    /// Returns the figures of a run by its directory, or why it fails.
    figures: Box<dyn Fn(&Path) -> Result<ChainFigures> + Sync + 'a>,
    /// Index of the run that ^C cuts short.
    cut_short: Option<usize>,
    ran: Mutex<Vec<PathBuf>>,
    at_once: usize,
    /// Set when the simulated ^C comes.
    pub interrupted: AtomicBool,
}

impl<'a> StandIn<'a> {
    /// Makes a stand-in that returns these figures.
    pub fn new(figures: impl Fn(&Path) -> Result<ChainFigures> + Sync + 'a) -> StandIn<'a> {
        StandIn {
            figures: Box::new(figures),
            cut_short: None,
            ran: Mutex::default(),
            at_once: 1,
            interrupted: AtomicBool::new(false),
        }
    }

    /// Lets so many runs go on at once.
    pub fn at_once(self, runs: usize) -> StandIn<'a> {
        StandIn { at_once: runs, ..self }
    }

    /// Simulates ^C halfway through the run with this index.
    pub fn cut_short(self, run: usize) -> StandIn<'a> {
        StandIn { cut_short: Some(run), ..self }
    }

    /// The directories of its runs, in the order in which they ran.
    pub fn ran(&self) -> Vec<PathBuf> {
        self.runs().clone()
    }

    fn runs(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runner for StandIn<'_> {
    fn verb(&self) -> &'static str {
        "bench"
    }

    fn at_once(&self) -> usize {
        self.at_once
    }

    fn run(
        &self,
        workload: &Workload,
        repeat: u32,
        run: &RunDirectory,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Ran> {
        progress(Progress { what: "standing in", done: 0.5 });
        write_workload(workload, run)?;
        let index = {
            let mut ran = self.runs();
            ran.push(run.path().to_owned());
            ran.len() - 1
        };
        let cut_short = self.cut_short == Some(index);
        self.interrupted.fetch_or(cut_short, Ordering::Relaxed);
        (self.figures)(run.path())?;
        let (measured_from_ns, measured_to_ns) = (Some(0), Some(1));
        let info = RunInfo { repeat: Some(repeat), measured_from_ns, measured_to_ns, cut_short, ..RunInfo::default() };
        run.write_info(&info)?;
        Ok(Ran { info, nodes: vec![], failures: vec![] })
    }

    fn analyse(&self, _: &Workload, run: &RunDirectory) -> Result<()> {
        store::write(&run.tables(), &Tables::default())?;
        let chains = vec![(self.figures)(run.path())?];
        Ok(store::write_summary(run, &Summary { chains, ..Summary::default() })?)
    }
}
