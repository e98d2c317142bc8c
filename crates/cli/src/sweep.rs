//! A sweep: the runs of all points, in turns, into `RUN/points/`; what is finished is never run again.

use crate::exit::Failure;
use crate::progress::Progress;
use crate::runs;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tacho_analysis::store;
use tacho_analysis::summary::Summary;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_runner::bench::Bench;
use tacho_workload::{Overrides, Sweep, SweepPoint};

/// What a run takes beside its duration, about: for the time left.
const AROUND_A_RUN: Duration = Duration::from_secs(3);
/// How often the figures of what is finished are written anew, so that a run that is killed can be looked at.
const WRITTEN_ANEW: Duration = Duration::from_secs(30);
/// What a run directory says until it is finished.
const UNFINISHED: &str = "tacho was ended before the sweep was finished";

/// A run directory to go on in: one that holds the same sweep, or nothing yet.
pub fn resume(path: &Path, sweep: &Sweep) -> Result<RunDirectory, Failure> {
    let run = RunDirectory::new(path);
    if !run.workload().is_file() {
        return runs::create(Some(path.to_owned()), "sweep");
    }
    let begun_with = runs::read_text(&run.workload())?;
    let in_run = run.workload().display().to_string();
    let (there, _) = tacho_workload::sweep(&begun_with, &in_run, &Overrides::default())?;
    if there.points.len() == 1 {
        return Err(Failure::Usage(format!("{}: one workload, no sweep: there is nothing to go on with", path.display())));
    }
    if there.points != sweep.points {
        let expected = "expected the workload and the options that it was begun with, or another run directory";
        return Err(Failure::Usage(format!("{in_run}: the run was begun with another workload: {}; {expected}", difference(&there, sweep))));
    }
    Ok(run)
}

/// The first difference between the sweep of a run and the one asked for.
fn difference(there: &Sweep, here: &Sweep) -> String {
    let mut lines = there.text.lines().zip(here.text.lines()).enumerate();
    match lines.find(|(_, (there, here))| there != here) {
        Some((index, (there, here))) => {
            format!("line {} is `{}` there and `{}` now", index + 1, there.trim_end(), here.trim_end())
        }
        None => format!("{} lines there, {} now", there.text.lines().count(), here.text.lines().count()),
    }
}

/// A sweep that runs.
pub struct SweepRun<'a> {
    sweep: &'a Sweep,
    run: &'a RunDirectory,
    bench: &'a Bench<'a>,
    discard_events: bool,
    /// Points that failed, each with why: their other repeats are left out.
    failed: BTreeMap<usize, String>,
    /// Nodes that died in runs that were finished nevertheless.
    deaths: Vec<String>,
    figures_written: Instant,
}

impl<'a> SweepRun<'a> {
    /// Into a run directory that is empty, or holds a part of the same sweep.
    pub fn new(sweep: &'a Sweep, run: &'a RunDirectory, bench: &'a Bench<'a>, discard_events: bool) -> SweepRun<'a> {
        let (failed, deaths) = (BTreeMap::new(), vec![]);
        SweepRun { sweep, run, bench, discard_events, failed, deaths, figures_written: Instant::now() }
    }

    /// Runs what is not finished yet. What failed is said, and does not end the sweep.
    pub fn run(&mut self) -> Result<Vec<String>, Failure> {
        let begun = self.begin()?;
        let order = self.sweep.order();
        let to_run: Vec<(usize, (u32, usize))> = order
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, (repeat, point))| !is_finished(&self.directory(*point, *repeat)))
            .collect();
        if to_run.len() < order.len() {
            eprintln!("tacho: {} of {} runs are finished", order.len() - to_run.len(), order.len());
        }
        let time = |point: usize| (self.sweep.points[point].workload.run.duration + AROUND_A_RUN).as_secs_f64();
        let whole_s: f64 = to_run.iter().map(|(_, (_, point))| time(*point)).sum();
        let mut done_s = 0.0;
        let mut progress = Progress::new();
        for (number, (repeat, point)) in to_run {
            let time_s = time(point);
            if !self.failed.contains_key(&point) {
                let what = format!("{} of {}: {}", number + 1, order.len(), values(&self.sweep.points[point]));
                self.run_one(point, repeat, &mut |done| progress.show(&what, (done_s + done * time_s) / whole_s))?;
            }
            done_s += time_s;
            if self.bench.is_interrupted() {
                break;
            }
            if self.figures_written.elapsed() > WRITTEN_ANEW {
                self.figures()?;
            }
        }
        progress.finish();
        for point in 0..self.sweep.points.len() {
            self.finish_point(point)?;
        }
        self.finish(begun)?;
        Ok(self.failures())
    }

    /// What failed, in words: a line for each reason, with the points that have it.
    fn failures(&self) -> Vec<String> {
        let mut by_reason: Vec<(&String, Vec<&str>)> = Vec::new();
        for (point, reason) in &self.failed {
            let name = self.sweep.points[*point].name.as_str();
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, points)) => points.push(name),
                None => by_reason.push((reason, vec![name])),
            }
        }
        let line = |(reason, points): (&String, Vec<&str>)| match points.as_slice() {
            [point] => format!("point {point}: {reason}"),
            points => format!("{} points: {reason}\n         {}", points.len(), points.join(" ")),
        };
        by_reason.into_iter().map(line).chain(self.deaths.iter().cloned()).collect()
    }

    /// `RUN/summary.json`, of the points that are finished.
    pub fn figures(&mut self) -> Result<Summary> {
        let summary = tacho_analysis::merge_points(self.run).context("figures of the sweep")?;
        store::write_summary(self.run, &summary)?;
        self.figures_written = Instant::now();
        Ok(summary)
    }

    fn directory(&self, point: usize, repeat: u32) -> RunDirectory {
        let SweepPoint { name, workload, .. } = &self.sweep.points[point];
        let directory = self.run.point(name);
        if workload.run.repeats > 1 {
            directory.repeat(repeat)
        } else {
            directory
        }
    }

    /// The sweep's own file, and a `run.json` that is true if nothing more comes.
    fn begin(&self) -> Result<RunInfo> {
        let mut info = match self.run.info() {
            Ok(info) => info,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => RunInfo {
                verb: "bench".into(),
                command: self.bench.command.clone(),
                tacho_version: env!("CARGO_PKG_VERSION").into(),
                started_at: tacho_events::wall::rfc3339(std::time::SystemTime::now()),
                machine: Some(tacho_runner::machine::machine()),
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

    /// One repeat of one point: run, analysed, and only then finished. What is left of an earlier attempt is removed.
    fn run_one(&mut self, point: usize, repeat: u32, progress: &mut dyn FnMut(f64)) -> Result<()> {
        let SweepPoint { name, workload, parameters } = &self.sweep.points[point];
        let directory = self.directory(point, repeat);
        if directory.path().exists() {
            std::fs::remove_dir_all(directory.path()).with_context(|| directory.path().display().to_string())?;
        }
        let ran = self.bench.repeat(workload, repeat, &directory, &mut |p| progress(p.done));
        let info = match &ran {
            Ok(ran) => ran.info.clone(),
            // The runner has written down what it knew when it failed; it may have known nothing.
            Err(error) => self.failed_info(&directory, error),
        };
        let info = RunInfo { parameters: parameters.clone(), ..info };
        directory.write_info(&info)?;
        match ran {
            // ^C reaches the nodes of a terminal, too: that they ended is no fault of theirs.
            Err(_) if self.bench.is_interrupted() => {}
            Err(error) => drop(self.failed.insert(point, format!("{error:#}"))),
            Ok(_) if info.measured_from_ns.is_none() => {}
            Ok(ran) => {
                self.deaths.extend(ran.failures.iter().map(|death| format!("point {name}: {death}")));
                match tacho_analysis::analyse_and_store(&directory, Some(workload), &mut |_| {}) {
                    Err(error) => drop(self.failed.insert(point, format!("its events cannot be analysed: {error}"))),
                    Ok(_) if self.discard_events => directory.discard_events()?,
                    Ok(_) => {}
                }
            }
        }
        if repeat + 1 == workload.run.repeats {
            self.finish_point(point)?;
        }
        Ok(())
    }

    fn failed_info(&self, directory: &RunDirectory, error: &anyhow::Error) -> RunInfo {
        let mut info = directory.info().unwrap_or_else(|_| RunInfo {
            verb: "bench".into(),
            command: self.bench.command.clone(),
            tacho_version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        });
        info.cut_short = true;
        if !info.missing.iter().any(|text| text.contains(&format!("{error:#}"))) {
            info.missing = vec![format!("the run failed: {error:#}")];
        }
        info
    }

    /// The run directory above the repeats of a point, over those that are finished.
    fn finish_point(&self, point: usize) -> Result<()> {
        let SweepPoint { name, workload, parameters } = &self.sweep.points[point];
        if workload.run.repeats == 1 {
            return Ok(());
        }
        let whole = self.run.point(name);
        let mut infos = Vec::new();
        for repeat in whole.repeats()?.iter().filter(|repeat| repeat.summary().is_file()) {
            infos.push(repeat.info()?);
        }
        if whole.info().is_ok_and(|info| !info.cut_short) && whole.summary().is_file() {
            return Ok(());
        }
        if infos.is_empty() && !self.failed.contains_key(&point) {
            return Ok(());
        }
        self.bench.write_whole(workload, &whole, &infos)?;
        let mut info = match infos.first() {
            Some(_) => whole.info()?,
            None => RunInfo { verb: "bench".into(), command: self.bench.command.clone(), cut_short: true, ..RunInfo::default() },
        };
        info.parameters = parameters.clone();
        info.missing.extend(self.failed.get(&point).map(|reason| format!("the run failed: {reason}")));
        whole.write_info(&info)?;
        if !infos.is_empty() {
            let summary = tacho_analysis::figures_of_tables(&whole, Some(workload)).with_context(|| format!("point {name}"))?;
            store::write_summary(&whole, &summary)?;
        }
        Ok(())
    }

    /// `RUN/run.json`: what ran, and how much is missing of it. Why stands in each point's own, and in the notes of `RUN/summary.json`.
    fn finish(&self, begun: RunInfo) -> Result<()> {
        let mut info = RunInfo { missing: vec![], cut_short: false, duration_s: 0.0, ..begun };
        let order = self.sweep.order();
        let (runs, mut unfinished) = (order.len(), 0);
        for (repeat, point) in order {
            let directory = self.directory(point, repeat);
            if let Ok(ran) = directory.info() {
                info.duration_s += ran.duration_s;
                info.versions.extend(ran.versions);
            }
            unfinished += usize::from(!is_finished(&directory));
        }
        info.cut_short = unfinished > 0;
        if unfinished > 0 {
            let failed = match self.failed.len() {
                0 => String::new(),
                points => format!(", {points} of {} points failed", self.sweep.points.len()),
            };
            let text = format!("{unfinished} of {runs} runs are not finished{failed}");
            eprintln!("tacho: {text}; --resume -o {} goes on", self.run.path().display());
            info.missing.push(text);
        }
        Ok(self.run.write_info(&info)?)
    }
}

/// Whether a run came to its end and was analysed: its figures are written last, and whole or not at all.
fn is_finished(run: &RunDirectory) -> bool {
    store::read_summary(run).is_ok() && run.info().is_ok_and(|info| !info.cut_short)
}

/// What a point varies, in a few words.
fn values(point: &SweepPoint) -> String {
    point.name.split_once('-').map_or("", |(_, values)| values).to_owned()
}
