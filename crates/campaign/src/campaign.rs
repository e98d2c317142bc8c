//! What a campaign runs and keeps: each item is run and analysed; only then it is finished. A finished run is never
//! repeated.

use crate::finished::is_finished;
use crate::lock::RunLock;
use crate::order::Item;
use crate::subject::Subject;
use crate::together;
use crate::whole::Whole;
use anyhow::{anyhow, Context, Result};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_runner::bench::Ran;
use tacho_tables::store;

/// When runs are analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Analysis {
    /// Each run is analysed after it ran. Only such runs count as finished and are kept by a later attempt.
    OfEach,
    /// The campaign does not analyse. Its caller does so after all have run, and shows the progress.
    Later,
}

/// What a failed run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The campaign.
    Stop,
    /// The run's subject, whose other repeats are left out.
    LeaveOut,
}

/// Runs that belong together.
pub struct Campaign<'a> {
    /// The workloads to run.
    pub subjects: Vec<Subject<'a>>,
    /// The order of the runs, each listed once.
    pub order: Vec<Item>,
    /// The right to write the directory that contains all runs.
    pub lock: &'a RunLock,
    /// ^C sets this: the current run ends in order, and no further run begins.
    pub interrupted: &'a AtomicBool,
    /// The command line, for the `run.json` of a run that failed before it had one.
    pub command: Vec<String>,
    /// When runs are analysed.
    pub analysis: Analysis,
    /// What a failed run ends.
    pub on_failure: OnFailure,
    /// A chain that each run must contain; a run without it has failed.
    pub chain: Option<&'a str>,
    /// Whether to delete the events of each run after its analysis.
    pub discard_events: bool,
}

/// Progress of a campaign.
pub struct Step<'s> {
    /// The subject that runs now.
    pub subject: &'s Subject<'s>,
    /// Number of its repeat, from 0. Absent after the last run, while the figures of all its repeats are computed.
    pub repeat: Option<u32>,
    /// Place of the run in the order, from 1; or of the subject among those that are summed up.
    pub number: usize,
    /// Number of runs in the order; or of subjects that are summed up.
    pub of: usize,
    /// What the run is doing.
    pub what: &'s str,
    /// Completed share of the whole campaign, or of summing up, 0 to 1.
    pub done: f64,
}

/// A run that failed.
#[derive(Debug)]
pub struct Failed {
    /// Which run.
    pub item: Item,
    /// Why it failed.
    pub error: anyhow::Error,
}

/// What became of an item.
#[derive(Default)]
pub(crate) struct Done {
    /// Absent: ^C came before it had any figures.
    pub outcome: Option<Result<Ran>>,
    /// Nodes that died, in words.
    pub deaths: Vec<String>,
}

/// What is known while items run.
pub(crate) struct Books<'b, 'a> {
    pub campaign: &'b Campaign<'a>,
    ended: &'b mut Ended,
    ran: &'b mut BTreeSet<usize>,
    /// Items of each subject that have not ended.
    left: Vec<usize>,
    each: &'b mut dyn FnMut(Item, Ran) -> Result<()>,
}

impl Books<'_, '_> {
    /// Whether no more items begin.
    pub fn is_over(&self) -> bool {
        self.campaign.interrupted.load(Ordering::Relaxed)
            || self.campaign.on_failure == OnFailure::Stop && !self.ended.failed.is_empty()
    }

    /// Notes that an item is about to run; `false`: it is left out, as another of its subject failed.
    pub fn begin(&mut self, item: Item) -> bool {
        let is_left_out = self.ended.failed.iter().any(|failed| failed.item.subject == item.subject);
        if is_left_out {
            self.left[item.subject] -= 1;
        } else {
            self.ran.insert(item.subject);
        }
        !is_left_out
    }

    /// Notes what became of an item, and sums up its subject after its last.
    pub fn end(&mut self, item: Item, done: Done) -> Result<()> {
        self.ended.deaths.extend(done.deaths.into_iter().map(|death| (item.subject, death)));
        let ran = match done.outcome {
            Some(Ok(ran)) => Some(ran),
            Some(Err(error)) => {
                self.ended.failed.push(Failed { item, error });
                None
            }
            None => None,
        };
        self.left[item.subject] -= 1;
        if self.campaign.analysis == Analysis::OfEach && self.left[item.subject] == 0 {
            self.campaign.sum_up(item.subject, self.ended)?;
            self.ran.remove(&item.subject);
        }
        ran.map_or(Ok(()), |ran| (self.each)(item, ran))
    }
}

/// Outcome of a campaign.
#[derive(Debug, Default)]
pub struct Ended {
    /// Failed runs, in the order in which they ran.
    pub failed: Vec<Failed>,
    /// Nodes that died in runs that finished nevertheless, in words; each with the index of its subject.
    pub deaths: Vec<(usize, String)>,
    /// Number of runs that are not finished; with [`Analysis::Later`], all runs.
    pub unfinished: usize,
}

impl Campaign<'_> {
    /// Number of runs that an earlier attempt finished and this one keeps.
    pub fn finished(&self) -> usize {
        self.order.iter().filter(|item| self.is_finished(**item)).count()
    }

    fn is_finished(&self, Item { subject, repeat }: Item) -> bool {
        let subject = &self.subjects[subject];
        is_finished(&subject.run(repeat), subject.workload, self.chain)
    }

    /// Runs what is not finished yet, and sums up the repeats of each subject, also after a failure or ^C. Calls `each`
    /// after each run, with the outcome so far.
    ///
    /// A failed run is not an error here: it is listed in [`Ended`]. Only an error of `each` or of the disk ends the
    /// campaign.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(Step<'_>),
        each: &mut dyn FnMut(Item, Ran) -> Result<()>,
    ) -> Result<Ended> {
        let (mut ended, mut ran) = (Ended::default(), BTreeSet::new());
        let all = self.run_all(&mut ended, &mut ran, progress, each);
        all.and(self.sum_up_all(&ran, &ended, progress))?;
        ended.unfinished = self.order.len() - self.finished();
        Ok(ended)
    }

    /// `ran` collects the subjects of which something ran since they were summed up.
    fn run_all(
        &self,
        ended: &mut Ended,
        ran: &mut BTreeSet<usize>,
        progress: &mut dyn FnMut(Step<'_>),
        each: &mut dyn FnMut(Item, Ran) -> Result<()>,
    ) -> Result<()> {
        let numbered = (1..).zip(self.order.iter().copied());
        let to_run: Vec<(usize, Item)> = numbered.filter(|(_, item)| !self.is_finished(*item)).collect();
        // An attempt that was cut short before summing up may have left all runs.
        ran.extend((0..self.subjects.len()).filter(|subject| self.lacks_its_whole(*subject)));
        let mut left = vec![0; self.subjects.len()];
        to_run.iter().for_each(|(_, item)| left[item.subject] += 1);
        let at_once = self.subjects.iter().map(|subject| subject.runner.at_once()).min().unwrap_or(1);
        let mut books = Books { campaign: self, ended, ran, left, each };
        together::run(&mut books, to_run, at_once, progress)
    }

    /// Runs and analyses one item, after removing what is left of an earlier attempt.
    pub(crate) fn run_one(&self, item: Item, progress: &mut dyn FnMut(&str, f64)) -> Result<Done> {
        let subject = &self.subjects[item.subject];
        let directory = subject.run(item.repeat);
        self.make_room(&directory)?;
        let ran = subject.runner.run(subject.workload, item.repeat, &directory, &mut |p| progress(p.what, p.done));
        let info = match &ran {
            Ok(ran) => ran.info.clone(),
            Err(error) => self.failed_info(&directory, error),
        };
        if directory.path().is_dir() {
            directory.write_info(&RunInfo { parameters: subject.parameters.clone(), ..info })?;
        }
        let ran = match ran {
            // A terminal sends ^C to the nodes, too: their end is not a fault.
            Err(_) if self.interrupted.load(Ordering::Relaxed) => return Ok(Done::default()),
            Err(error) => return Ok(Done { outcome: Some(Err(error)), deaths: vec![] }),
            Ok(ran) => ran,
        };
        let deaths = ran.failures.clone();
        if self.analysis == Analysis::OfEach && ran.info.measured_from_ns.is_some() {
            match self.analyse(subject, &directory, ran.info.cut_short) {
                Err(error) => return Ok(Done { outcome: Some(Err(error)), deaths }),
                Ok(()) if self.discard_events => directory.discard_events()?,
                Ok(()) => {}
            }
        }
        Ok(Done { outcome: Some(Ok(ran)), deaths })
    }

    /// Removes what an earlier attempt left. The directory of the campaign itself was made for this attempt.
    fn make_room(&self, directory: &RunDirectory) -> Result<()> {
        if directory.path() != self.lock.directory() && directory.path().exists() {
            std::fs::remove_dir_all(directory.path()).with_context(|| directory.path().display().to_string())?;
        }
        Ok(())
    }

    /// A run that ^C cut short is repeated later, so it may lack the chain.
    fn analyse(&self, subject: &Subject<'_>, directory: &RunDirectory, cut_short: bool) -> Result<()> {
        let analysed = subject.runner.analyse(subject.workload, directory);
        analysed.map_err(|error| anyhow!("its events cannot be analysed: {error}"))?;
        let Some(name) = self.chain.filter(|_| !cut_short) else { return Ok(()) };
        let seen = store::read_summary(directory)?.chains.iter().any(|chain| chain.name == name);
        seen.then_some(()).with_context(|| format!("chain {name} was not seen in {}", directory.path().display()))
    }

    /// The runner's own `run.json`, if it wrote one before it failed, and the failure.
    fn failed_info(&self, directory: &RunDirectory, error: &anyhow::Error) -> RunInfo {
        let mut info = directory.info().unwrap_or_else(|_| self.no_info());
        info.cut_short = true;
        let cause = error.root_cause().to_string();
        if !info.missing.iter().any(|text| text.contains(&cause)) {
            info.missing = vec![format!("the run failed: {error:#}")];
        }
        info
    }

    /// What its runners do, who are of one kind.
    pub(crate) fn verb(&self) -> &'static str {
        self.subjects.first().map_or("bench", |subject| subject.runner.verb())
    }

    /// `run.json` of a subject without any run.
    fn no_info(&self) -> RunInfo {
        RunInfo {
            verb: self.verb().into(),
            command: self.command.clone(),
            tacho_version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        }
    }

    fn lacks_its_whole(&self, subject: usize) -> bool {
        let subject = &self.subjects[subject];
        let whole = &subject.directory;
        subject.has_repeats() && !(whole.summary().is_file() && whole.info().is_ok_and(|info| !info.cut_short))
    }

    /// ^C ends the runs and not this: without it, no figures of the subjects are there.
    fn sum_up_all(&self, ran: &BTreeSet<usize>, ended: &Ended, progress: &mut dyn FnMut(Step<'_>)) -> Result<()> {
        for (number, index) in (1..).zip(ran.iter().copied()) {
            if self.analysis == Analysis::OfEach {
                let (subject, done) = (&self.subjects[index], (number - 1) as f64 / ran.len() as f64);
                progress(Step { subject, repeat: None, number, of: ran.len(), what: "summing up", done });
            }
            self.sum_up(index, ended)?;
        }
        Ok(())
    }

    /// Writes the run directory above the repeats of a subject. It covers the repeats that have figures or, if they are
    /// analysed later, those that have ended.
    fn sum_up(&self, index: usize, ended: &Ended) -> Result<()> {
        let subject = &self.subjects[index];
        if !subject.has_repeats() {
            return Ok(());
        }
        let failed = ended.failed.iter().find(|failed| failed.item.subject == index);
        let counts = |(repeat, run): &(u32, RunDirectory)| match self.analysis {
            Analysis::OfEach => run.summary().is_file(),
            Analysis::Later => failed.is_none_or(|failed| failed.item.repeat != *repeat),
        };
        let repeats = (0..).zip(subject.directory.repeats()?).filter(counts).map(|(_, run)| run.info());
        let repeats = repeats.collect::<std::io::Result<Vec<RunInfo>>>()?;
        let whole = Whole { subject, repeats, failed: failed.map(|failed| &failed.error) };
        whole.write(self.no_info(), self.analysis == Analysis::OfEach)
    }
}
