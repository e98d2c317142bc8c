//! Run directories in, summaries out and beside them.

mod bag;
mod points;
mod read;

pub use bag::store as store_bag;
pub use points::{figures_of_tables, merge_points};
pub use read::{figures as read_figures, whole, workload, ReadError, Whole};

use crate::summarise::summarise;
use crate::Repeat;
use tacho_analysis::{analyse_with, Analysed, Error};
use tacho_events::{Progress, RunDirectory};
use tacho_tables::store;
use tacho_tables::summary::Summary;
use tacho_workload::links::Links;
use tacho_workload::model::Workload;

/// The figures of a run directory, over everything below `repeats/` where it has any. Writes nothing.
pub fn figures_of(
    run: &RunDirectory,
    workload: Option<&Workload>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, Error> {
    figures(run, workload, &Links::default(), progress, |_, _| Ok(()))
}

/// The same, with what a links file states. Writes nothing.
pub fn figures_with(
    run: &RunDirectory,
    workload: Option<&Workload>,
    stated: &Links,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, Error> {
    figures(run, workload, stated, progress, |_, _| Ok(()))
}

/// The same, and writes `tables/` and `summary.json` of each repeat, and `summary.json` of the whole.
pub fn analyse_and_store(
    run: &RunDirectory,
    workload: Option<&Workload>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, Error> {
    let summary = figures(run, workload, &Links::default(), progress, |directory, repeat| {
        store::write(&directory.tables(), repeat.tables)?;
        if directory != run {
            store::write_summary(directory, &summarise(&[repeat], workload))?;
        }
        Ok(())
    })?;
    store::write_summary(run, &summary)?;
    Ok(summary)
}

/// Analyses a run or each of its repeats, hands each to `each`, then sums up.
fn figures(
    run: &RunDirectory,
    workload: Option<&Workload>,
    stated: &Links,
    progress: &mut dyn FnMut(Progress),
    each: impl Fn(&RunDirectory, Repeat<'_>) -> Result<(), Error> + Sync,
) -> Result<Summary, Error> {
    let mut directories = run.repeats().map_err(Error::Info)?;
    if directories.is_empty() {
        directories.push(run.clone());
    }
    let mut analysed = Vec::new();
    let (last, before) = directories.split_last().expect("the run itself, if it has no repeats");
    let mut analyse = |directory: &RunDirectory| match directory.events().is_dir() {
        true => analyse_with(directory, workload, stated, progress),
        false => Err(Error::NoRun(directory.path().to_path_buf())),
    };
    for directory in before {
        let one = analyse(directory)?;
        each(directory, repeat(&one))?;
        analysed.push(one);
    }
    analysed.push(analyse(last)?);
    let repeats: Vec<Repeat<'_>> = analysed.iter().map(repeat).collect();
    // Both only read the tables, and take about as long: side by side where there are two CPUs.
    let (summary, done) = std::thread::scope(|scope| {
        let of_last = scope.spawn(|| each(last, repeats[repeats.len() - 1]));
        (summarise(&repeats, workload), of_last.join())
    });
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    Ok(summary)
}

fn repeat(Analysed { tables, options, info }: &Analysed) -> Repeat<'_> {
    Repeat { tables, options: *options, info: info.as_ref() }
}
