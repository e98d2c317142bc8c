//! `tacho model`

use crate::exit::{Failure, Outcome};
use crate::options::Model as Options;
use crate::runs;
use anyhow::Context;
use tacho_model::{twin, write, Names};

pub fn run(options: Options) -> Outcome {
    let run = runs::open(&options.run)?;
    let info = run.info().context("run.json")?;
    let whole = tacho_figures::whole(&run, None)?;
    if whole.tables.nodes.is_empty() {
        return Err(Failure::Usage(format!(
            "{}: shows no node; expected a run, a recording or an imported trace of a system of nodes (of a sweep, name \
             a point)",
            run.path().display()
        )));
    }
    let made = |names| twin(&whole.tables, &info, whole.workload.as_ref(), names);
    let twin = made(Names::new(options.anonymous));
    let text = write(&twin);
    let file = options.out.as_ref().map_or_else(|| "twin.yaml".into(), |path| path.display().to_string());
    let (_, warnings) = tacho_workload::parse(&text, &file)
        .map_err(|errors| anyhow::anyhow!("the twin of {} is no workload that runs: {errors}", run.path().display()))?;
    warnings.iter().for_each(|warning| eprintln!("tacho: {warning}"));
    twin.lacks.iter().for_each(|lack| eprintln!("tacho: not expressed: {lack}"));
    match &options.out {
        Some(path) => {
            std::fs::write(path, &text).with_context(|| path.display().to_string())?;
            eprintln!(
                "tacho: {}: {} nodes, {} chains",
                path.display(),
                twin.workload.nodes.len(),
                twin.workload.chains.len()
            );
        }
        None if !options.validate => print!("{text}"),
        None => {}
    }
    Ok(())
}
