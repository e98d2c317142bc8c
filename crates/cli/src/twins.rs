//! The twin of a recording, for verbs that need a workload.

use crate::exit::Failure;
use crate::runs;
use anyhow::Context;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_figures::Whole;
use tacho_model::{twin, write, Names, Twin};
use tacho_simulate::{fit, Costs};
use tacho_tables::store;

/// The twin of a recording, and what was measured under the twin's names.
fn of_recording(recording: &RunDirectory) -> Result<(Twin, Whole, RunInfo), Failure> {
    let info = recording.info().context("run.json")?;
    let mut whole = tacho_figures::whole(recording, None)?;
    let twin = twin(&whole.tables, &info, None, Names::new(false));
    twin.express(&mut whole.tables, &mut whole.summary);
    Ok((twin, whole, info))
}

/// The costs that a recording shows of the topics of its twin.
pub fn costs(recording: &RunDirectory) -> Result<Costs, Failure> {
    let (twin, whole, info) = of_recording(recording)?;
    let from = vec![recording.path().display().to_string()];
    Ok(Costs { from, ..fit::of_recording(&whole.tables, &info, &twin.workload) })
}

/// Writes a recording as a run of its twin: the twin as the workload, and what was measured.
pub fn as_run(recording: &RunDirectory) -> Result<RunDirectory, Failure> {
    let (twin, whole, info) = of_recording(recording)?;
    twin.lacks.iter().for_each(|lack| eprintln!("tacho: not expressed: {lack}"));
    let run = runs::create(None, &format!("{}-twin", runs::stem(recording.path())))?;
    let path = run.workload();
    std::fs::write(&path, write(&twin)).with_context(|| path.display().to_string())?;
    run.write_info(&RunInfo { phases: twin.phases, ..info }).context("run.json")?;
    store::write(&run.tables(), &whole.tables).context("tables")?;
    store::write_summary(&run, &whole.summary).context("figures")?;
    Ok(run)
}
