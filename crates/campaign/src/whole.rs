//! Writes the run directory above repeats: what ran, what each repeat lacks, and the figures over all.

use crate::subject::Subject;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use tacho_events::run::RunInfo;
use tacho_runner::bench::write_workload;
use tacho_tables::store;

/// What is known of a subject when it is summed up.
pub struct Whole<'a> {
    /// The subject.
    pub subject: &'a Subject<'a>,
    /// `run.json` of each repeat that counts, in their order.
    pub repeats: Vec<RunInfo>,
    /// Why no more of it ran.
    pub failed: Option<&'a anyhow::Error>,
}

impl Whole<'_> {
    /// Writes `workload.yaml`, `run.json` and, if the repeats were `analysed`, `summary.json`. Writes nothing if no
    /// repeat ran and none failed. `empty` is the `run.json` of a subject with no repeat.
    pub fn write(&self, empty: RunInfo, analysed: bool) -> Result<()> {
        let Whole { subject: of, repeats, failed } = self;
        if repeats.is_empty() && failed.is_none() {
            return Ok(());
        }
        write_workload(of.workload, &of.directory)?;
        let mut info = match repeats.first() {
            Some(first) => sum(first, repeats, of.workload.run.repeats),
            None => RunInfo { cut_short: true, ..empty },
        };
        info.parameters = of.parameters.clone();
        info.missing.extend(failed.map(|error| format!("the run failed: {error:#}")));
        of.directory.write_info(&info)?;
        if analysed && !repeats.is_empty() {
            let figures = tacho_figures::figures_of_tables(&of.directory, Some(of.workload));
            store::write_summary(&of.directory, &figures.with_context(|| format!("figures of {}", of.name))?)?;
        }
        Ok(())
    }
}

/// Sums up `run.json` over repeats, of which `of` were requested.
fn sum(first: &RunInfo, repeats: &[RunInfo], of: u32) -> RunInfo {
    let each = |texts: fn(&RunInfo) -> &Vec<String>| -> Vec<String> {
        let texts = repeats.iter().map(texts).enumerate();
        texts.flat_map(|(index, texts)| texts.iter().map(move |text| format!("repeat {index}: {text}"))).collect()
    };
    let lacking = of as usize - repeats.len().min(of as usize);
    let mut missing = each(|repeat| &repeat.missing);
    missing.extend((lacking > 0).then(|| format!("{lacking} of {of} repeats were not run")));
    RunInfo {
        duration_s: repeats.iter().map(|repeat| repeat.duration_s).sum(),
        processes: repeats.iter().flat_map(|repeat| repeat.processes.clone()).collect(),
        measured_from_ns: None,
        measured_to_ns: None,
        repeat: None,
        phases: BTreeMap::new(),
        load: None, // each repeat has its own
        missing,
        failed_starts: each(|repeat| &repeat.failed_starts),
        cut_short: lacking > 0 || repeats.iter().any(|repeat| repeat.cut_short),
        ..first.clone()
    }
}
