//! `tacho model`

use crate::exit::{Failure, Outcome};
use crate::options::Model as Options;
use crate::{check, runs, simulate};
use anyhow::Context;
use tacho_events::run::RunInfo;
use tacho_figures::Whole;
use tacho_model::{twin, write, Names, Twin};
use tacho_printing::Lines;
use tacho_simulate::fit;

pub fn run(options: Options) -> Outcome {
    let run = runs::open(&options.run)?;
    let info = run.info().context("run.json")?;
    let mut whole = tacho_figures::whole(&run, None)?;
    if whole.tables.nodes.is_empty() {
        return Err(Failure::Usage(format!(
            "{}: shows no node; expected a run, a recording or an imported trace of nodes (of a sweep, name a point)",
            run.path().display()
        )));
    }
    let mut twin = twin(&whole.tables, &info, whole.workload.as_ref(), Names::new(options.anonymous), None);
    if options.phases {
        twin.workload = twin.as_it_started();
    }
    let text = write(&twin);
    let file = options.out.as_ref().map_or_else(|| "twin.yaml".into(), |path| path.display().to_string());
    let (_, mut warnings) = tacho_workload::parse(&text, &file)
        .map_err(|errors| anyhow::anyhow!("the twin of {} is no workload that runs: {errors}", run.path().display()))?;
    // What nobody hears in the recording, nobody hears in the twin.
    warnings.retain(|warning| warning.name != "nobody-subscribes");
    check::say(&warnings);
    twin.lacks.iter().for_each(|lack| eprintln!("tacho: not expressed: {lack}"));
    match &options.out {
        Some(path) => {
            std::fs::write(path, &text).with_context(|| path.display().to_string())?;
            let (nodes, chains) = (twin.workload.nodes.len(), twin.workload.chains.len());
            eprintln!("tacho: {}: {nodes} nodes, {chains} chains", path.display());
        }
        None if !options.validate => runs::print(&Lines::composed(&text))?,
        None => {}
    }
    if options.validate {
        validate(&twin, &mut whole, &info, &format!("{}-twin", runs::stem(&options.run)))?;
    }
    Ok(())
}

/// Simulates the twin with the costs that the run shows, and prints both side by side.
fn validate(twin: &Twin, whole: &mut Whole, info: &RunInfo, name: &str) -> Outcome {
    twin.express(&mut whole.tables, &mut whole.summary);
    let costs = fit::of_recording(&whole.tables, info, &twin.workload);
    let prediction = simulate::twin(name, &twin.as_it_started(), &costs, &whole.summary)?;
    runs::print(&Lines::composed(&simulate::compared(&prediction)))?;
    runs::print(&Lines::composed(&simulate::compared_topics(&prediction)))
}
