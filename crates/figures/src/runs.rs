//! Run directories in, summaries out and beside them.

mod bag;
mod points;
mod read;

pub use bag::store as store_bag;
pub use points::{figures_of_tables, merge_points};
pub use read::{figures as read_figures, whole, workload, ReadError, Whole};

use crate::summarise::summarise;
use crate::Repeat;
use tacho_analysis::{analyse_window, Analysed, Error, Window};
use tacho_events::{Progress, RunDirectory};
use tacho_tables::store;
use tacho_tables::summary::Summary;
use tacho_tables::Tables;
use tacho_workload::links::Links;
use tacho_workload::model::Workload;

/// The figures of a run directory, over everything below `repeats/` where it has any. Writes nothing.
pub fn figures_of(
    run: &RunDirectory,
    workload: Option<&Workload>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, Error> {
    figures_with(run, workload, &Links::default(), progress)
}

/// The same, with what a links file states. Writes nothing.
pub fn figures_with(
    run: &RunDirectory,
    workload: Option<&Workload>,
    stated: &Links,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, Error> {
    figures_in(run, workload, stated, None, progress)
}

/// The same of a window of it. Writes nothing.
pub(crate) fn figures_in(
    run: &RunDirectory,
    workload: Option<&Workload>,
    stated: &Links,
    window: Option<&Window>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, Error> {
    figures(run, workload, &Asked { stated, window }, progress, |_, _| Ok(())).map(|(summary, _)| summary)
}

/// Figures and tables of a window, those of all repeats as one. Writes nothing.
pub(crate) fn whole_in(
    run: &RunDirectory,
    workload: Option<&Workload>,
    window: &Window,
) -> Result<(Summary, Tables), Error> {
    let asked = Asked { stated: &Links::default(), window: Some(window) };
    let (summary, analysed) = figures(run, workload, &asked, &mut |_| {}, |_, _| Ok(()))?;
    let together = |mut all: Tables, next: Tables| {
        all.append(next);
        all
    };
    let tables = analysed.into_iter().map(|one| one.tables).reduce(together);
    Ok((summary, tables.unwrap_or_default()))
}

/// What is stated of a run, and what of it counts.
struct Asked<'a> {
    stated: &'a Links,
    window: Option<&'a Window>,
}

/// The same, and writes `tables/` and `summary.json` of each repeat, and `summary.json` of the whole.
pub fn analyse_and_store(
    run: &RunDirectory,
    workload: Option<&Workload>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, Error> {
    let asked = Asked { stated: &Links::default(), window: None };
    let (summary, _) = figures(run, workload, &asked, progress, |directory, repeat| {
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
    asked: &Asked<'_>,
    progress: &mut dyn FnMut(Progress),
    each: impl Fn(&RunDirectory, Repeat<'_>) -> Result<(), Error> + Sync,
) -> Result<(Summary, Vec<Analysed>), Error> {
    let mut directories = run.repeats().map_err(Error::Info)?;
    if directories.is_empty() {
        directories.push(run.clone());
    }
    if let Some(window) = asked.window.filter(|window| directories.len() > 1 && window.is_of_wall_clock()) {
        return Err(window.of_repeats(directories.len()).into());
    }
    let mut analysed = Vec::new();
    let (last, before) = directories.split_last().expect("the run itself, if it has no repeats");
    let mut analyse = |directory: &RunDirectory| match directory.events().is_dir() {
        true => analyse_window(directory, workload, asked.stated, asked.window, progress),
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
    Ok((summary, analysed))
}

fn repeat(Analysed { tables, options, info }: &Analysed) -> Repeat<'_> {
    Repeat { tables, options: *options, info: info.as_ref() }
}
