//! The twin of a recording, for verbs that need a workload.

use crate::exit::Failure;
use crate::runs;
use anyhow::Context;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_figures::Whole;
use tacho_model::{is_chain, twin, write, Names, Twin};
use tacho_simulate::{fit, Costs};
use tacho_tables::row::{numbered, Row};
use tacho_tables::{store, Chain};

/// The twin of a recording, and what was measured under the twin's names.
struct OfRecording {
    twin: Twin,
    whole: Whole,
    info: RunInfo,
    /// The twin's name of the chain that was asked for.
    chain: Option<String>,
}

fn of_recording(recording: &RunDirectory, chain: Option<&str>) -> Result<OfRecording, Failure> {
    let info = recording.info().context("run.json")?;
    let mut whole = tacho_figures::whole(recording, None)?;
    let chain = chain.map(|asked| asked_for(&whole.tables.chains, asked, recording)).transpose()?;
    let mut twin = twin(&whole.tables, &info, None, Names::new(false), chain);
    let chain = chain.map(|row| twin.names.other("chain", &whole.tables.chains[row.index()].name));
    twin.express(&mut whole.tables, &mut whole.summary);
    Ok(OfRecording { twin, whole, info, chain })
}

/// The chain of a recording that somebody names.
fn asked_for(chains: &[Chain], asked: &str, recording: &RunDirectory) -> Result<Row<Chain>, Failure> {
    let found = numbered(chains).find(|(_, chain)| is_chain(&chain.name, asked)).map(|(row, _)| row);
    found.ok_or_else(|| {
        let mut known: Vec<&str> = chains.iter().map(|chain| chain.name.as_str()).collect();
        known.dedup();
        let path = recording.path().display();
        Failure::Usage(format!("chain {asked}: not in {path}; expected one of: {}", known.join(", ")))
    })
}

/// The costs that a recording shows of the topics of its twin.
pub fn costs(recording: &RunDirectory) -> Result<Costs, Failure> {
    let OfRecording { twin, whole, info, .. } = of_recording(recording, None)?;
    let from = vec![recording.path().display().to_string()];
    Ok(Costs { from, ..fit::of_recording(&whole.tables, &info, &twin.workload) })
}

/// Writes a recording as a run of its twin: the twin as the workload, and what was measured. The second is the twin's
/// name of a chain that is asked for.
pub fn as_run(recording: &RunDirectory, chain: Option<&str>) -> Result<(RunDirectory, Option<String>), Failure> {
    let OfRecording { twin, whole, info, chain } = of_recording(recording, chain)?;
    twin.lacks.iter().for_each(|lack| eprintln!("tacho: not expressed: {lack}"));
    let run = runs::create(None, &format!("{}-twin", runs::stem(recording.path())))?;
    let path = run.workload();
    std::fs::write(&path, write(&twin)).with_context(|| path.display().to_string())?;
    run.write_info(&RunInfo { phases: twin.phases, ..info }).context("run.json")?;
    store::write(&run.tables(), &whole.tables).context("tables")?;
    store::write_summary(&run, &whole.summary).context("figures")?;
    Ok((run, chain))
}
