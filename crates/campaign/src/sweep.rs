//! Runs a sweep as a campaign: all points, round by round, into `RUN/points/`.

use crate::campaign::{Analysis, Campaign, Ended, OnFailure, Step};
use crate::difference::difference;
use crate::error::Error;
use crate::lock::RunLock;
use crate::order::Item;
use crate::subject::{Running, Subject};
use anyhow::{Context, Result};
use std::time::{Duration, Instant};
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_printing::{once, reason_of};
use tacho_tables::store;
use tacho_tables::summary::Summary;
use tacho_workload::{Overrides, Sweep, SweepPoint};

/// How often the figures of finished points are rewritten, so that a killed run has recent ones.
const WRITTEN_ANEW: Duration = Duration::from_secs(30);
/// Stored in `run.json` until the sweep is finished.
const UNFINISHED: &str = "tacho was ended before the sweep was finished";

/// Refuses to continue a sweep in a run directory that was begun with another one; `text` is the workload file there.
pub fn same_sweep(run: &RunDirectory, text: &str, sweep: &Sweep) -> Result<(), Error> {
    let in_run = run.workload().display().to_string();
    let (there, _) = tacho_workload::sweep(text, &in_run, &Overrides::default())?;
    if there.points.len() == 1 {
        return Err(Error::Refused(format!(
            "{}: one workload, no sweep: there is nothing to go on with",
            run.path().display()
        )));
    }
    if there.points != sweep.points {
        let expected = "expected the workload and the options that it was begun with, or another run directory";
        return Err(Error::Refused(format!(
            "{in_run}: the run was begun with another workload: {}; {expected}",
            difference(&there.text, &sweep.text)
        )));
    }
    Ok(())
}

/// A sweep in progress.
pub struct SweepRun<'a> {
    sweep: &'a Sweep,
    run: RunDirectory,
    campaign: Campaign<'a>,
}

impl<'a> SweepRun<'a> {
    /// Prepares a sweep in the locked run directory, which is empty or holds a part of the same sweep.
    pub fn new(sweep: &'a Sweep, lock: &'a RunLock, by: &'a Running<'a>) -> SweepRun<'a> {
        let run = RunDirectory::new(lock.directory());
        let subject = |SweepPoint { name, workload, parameters }: &'a SweepPoint| Subject {
            parameters: parameters.clone(),
            ..Subject::new(name, workload, by.runner, run.point(name))
        };
        let campaign = Campaign {
            subjects: sweep.points.iter().map(subject).collect(),
            order: sweep.order().into_iter().map(|(repeat, subject)| Item { subject, repeat }).collect(),
            lock,
            interrupted: by.interrupted,
            command: by.command.clone(),
            analysis: Analysis::OfEach,
            on_failure: OnFailure::LeaveOut,
            chain: None,
            discard_events: by.discard_events,
        };
        SweepRun { sweep, run, campaign }
    }

    /// The campaign of its runs.
    pub fn campaign(&self) -> &Campaign<'a> {
        &self.campaign
    }

    /// Runs what is not finished yet. A point that fails does not end the sweep.
    pub fn run(&self, progress: &mut dyn FnMut(Step<'_>)) -> Result<Swept> {
        let begun = self.begin()?;
        let mut figures_written = Instant::now();
        let ended = self.campaign.run(progress, &mut |_, _| {
            if figures_written.elapsed() > WRITTEN_ANEW {
                self.figures()?;
                figures_written = Instant::now();
            }
            Ok(())
        })?;
        let unfinished = self.finish(begun, &ended)?;
        Ok(Swept { failures: self.failures(&ended), unfinished })
    }

    /// Computes `RUN/summary.json` from the finished points.
    pub fn figures(&self) -> Result<Summary> {
        let summary = tacho_figures::merge_points(&self.run).context("figures of the sweep")?;
        store::write_summary(&self.run, &summary)?;
        Ok(summary)
    }

    /// Writes the sweep's own file, and a `run.json` that is true even if nothing more follows.
    fn begin(&self) -> Result<RunInfo> {
        let mut info = match self.run.info() {
            Ok(info) => info,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => RunInfo {
                verb: self.campaign.verb().into(),
                command: self.campaign.command.clone(),
                tacho_version: env!("CARGO_PKG_VERSION").into(),
                started_at: tacho_events::wall::rfc3339(std::time::SystemTime::now()),
                machine: Some(tacho_recording::machine::machine()),
                ..RunInfo::default()
            },
            Err(error) => return Err(error.into()),
        };
        if !self.run.workload().is_file() {
            let path = self.run.workload();
            std::fs::write(&path, &self.sweep.text).with_context(|| path.display().to_string())?;
        }
        (info.missing, info.cut_short) = (vec![UNFINISHED.into()], true);
        self.run.write_info(&info)?;
        Ok(info)
    }

    /// Writes `RUN/run.json`, and returns how many runs are missing, in words. The reasons are in the `run.json` of
    /// each point and in the notes of `RUN/summary.json`.
    fn finish(&self, begun: RunInfo, ended: &Ended) -> Result<Option<String>> {
        let mut info = RunInfo { missing: vec![], cut_short: ended.unfinished > 0, duration_s: 0.0, ..begun };
        for Item { subject, repeat } in &self.campaign.order {
            if let Ok(ran) = self.campaign.subjects[*subject].run(*repeat).info() {
                info.duration_s += ran.duration_s;
                info.versions.extend(ran.versions);
            }
        }
        let failed = match ended.failed.len() {
            0 => String::new(),
            points => format!(", {points} of {} points failed", self.sweep.points.len()),
        };
        let runs = self.campaign.order.len();
        let unfinished =
            (ended.unfinished > 0).then(|| format!("{} of {runs} runs are not finished{failed}", ended.unfinished));
        info.missing.extend(unfinished.clone());
        self.run.write_info(&info)?;
        Ok(unfinished)
    }

    /// Describes the failures, one line for each reason with the points that have it.
    fn failures(&self, ended: &Ended) -> Vec<String> {
        let name = |subject: usize| self.sweep.points[subject].name.as_str();
        let mut failed: Vec<(&str, String)> =
            ended.failed.iter().map(|failed| (name(failed.item.subject), format!("{:#}", failed.error))).collect();
        failed.sort(); // by name: in the order of the points
        let deaths = ended.deaths.iter().map(|(subject, death)| format!("point {}: {death}", name(*subject)));
        let failed = by_reason(failed.iter().map(|(name, reason)| (*name, reason.as_str())));
        failed.into_iter().chain(once(deaths)).collect()
    }
}

/// Outcome of a sweep, in words.
#[derive(Debug)]
pub struct Swept {
    /// Failed points and dead nodes, each reason once.
    pub failures: Vec<String>,
    /// How many runs are not finished; `None` if all are.
    pub unfinished: Option<String>,
}

/// Groups failed points by reason, one line each. `failed` yields the name and the reason of each.
fn by_reason<'a>(failed: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut known: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in failed {
        match known.iter_mut().find(|(known, _)| reason_of(known) == reason_of(reason)) {
            Some((_, points)) => points.push(name),
            None => known.push((reason, vec![name])),
        }
    }
    let line = |(reason, points): (&str, Vec<&str>)| match points.as_slice() {
        [point] => format!("point {point}: {reason}"),
        points => format!("points {}: {reason}", points.join(", ")),
    };
    known.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_failed_for_one_reason_share_a_line_whichever_process_gave_it() {
        let failed = [
            ("000-a", "process subscriber_01: open connext: no licence"),
            ("001-b", "process subscriber_07: open connext: no licence"),
            ("002-c", "process subscriber_01: no room"),
        ];
        let lines = by_reason(failed.into_iter());
        assert_eq!(lines[0], "points 000-a, 001-b: process subscriber_01: open connext: no licence");
        assert_eq!(lines[1..], ["point 002-c: process subscriber_01: no room"]);
    }
}
