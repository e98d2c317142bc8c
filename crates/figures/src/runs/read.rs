//! What a run directory says: its workload, its figures, its tables.

use super::{analyse_and_store, figures_in, merge_points, whole_in};
use std::io;
use std::path::PathBuf;
use tacho_analysis::{Error, Window, WindowError};
use tacho_events::{regular, Progress, RunDirectory};
use tacho_tables::store;
use tacho_tables::summary::Summary;
use tacho_tables::Tables;
use tacho_workload::links::Links;
use tacho_workload::Workload;

/// Why a run directory does not say what is asked.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Its workload.yaml cannot be opened.
    #[error("{}: {source}", path.display())]
    WorkloadFile {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Its workload.yaml is no workload.
    #[error("{0}")]
    Workload(tacho_workload::Errors),
    /// A sweep has no events of its own.
    #[error("{path}: this run is a sweep; ask that of {path}/points/NAME", path = .0.display())]
    Sweep(PathBuf),
    /// Its points or its `run.json` cannot be read.
    #[error("{0}")]
    Info(io::Error),
    /// The window that was asked for is impossible.
    #[error(transparent)]
    Window(WindowError),
    /// Its events cannot be analysed.
    #[error("analysis of the run")]
    Analysis(#[source] Error),
    /// Figures of its points cannot be put together.
    #[error("figures of the sweep")]
    Points(#[source] Error),
    /// Its figures cannot be read.
    #[error("figures of the run")]
    Figures(#[source] store::Error),
    /// Its tables cannot be read.
    #[error("tables of the run")]
    Tables(#[source] store::Error),
}

impl From<Error> for ReadError {
    fn from(error: Error) -> Self {
        match error {
            Error::Window(error) => ReadError::Window(error),
            error => ReadError::Analysis(error),
        }
    }
}

/// A run with all that a report shows of it.
#[derive(Debug)]
pub struct Whole {
    /// Absent for a recorded program, and for a sweep, whose points have one each.
    pub workload: Option<Workload>,
    /// Its figures.
    pub summary: Summary,
    /// Its tables; none of a sweep, whose points have them.
    pub tables: Tables,
}

/// The workload that ran, not checked again; absent for a recorded program.
pub fn workload(run: &RunDirectory) -> Result<Option<Workload>, ReadError> {
    let path = run.workload();
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    match regular::read_text(&path) {
        Ok(text) => tacho_workload::kept(&text, &path.display().to_string()).map(Some).map_err(ReadError::Workload),
        Err(source) => Err(ReadError::WorkloadFile { path, source }),
    }
}

/// The figures of a run: as they stand in it, or, where it ended before they were written or something is stated,
/// analysed now. `window`: what of it counts. Writes nothing.
pub fn figures(
    run: &RunDirectory,
    stated: Option<&Links>,
    window: Option<&Window>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, ReadError> {
    let is_sweep = !run.points().map_err(ReadError::Info)?.is_empty();
    // A sweep that runs, or was killed, has points that its own figures do not tell yet.
    let told = !is_sweep || run.info().is_ok_and(|info| !info.cut_short);
    let as_it_stands = stated.is_none() && window.is_none();
    match as_it_stands {
        true if told && run.summary().is_file() => store::read_summary(run).map_err(ReadError::Figures),
        true if is_sweep => merge_points(run).map_err(ReadError::Points),
        false if is_sweep => Err(ReadError::Sweep(run.path().to_path_buf())),
        _ => {
            let stated = stated.cloned().unwrap_or_default();
            Ok(figures_in(run, workload(run)?.as_ref(), &stated, window, progress)?)
        }
    }
}

/// All of a run; what its events say and was not written yet is analysed and written first, as of what was saved of a
/// ring and of a run that was cut short. Of a window of it, everything is analysed and nothing is written.
pub fn whole(run: &RunDirectory, window: Option<&Window>) -> Result<Whole, ReadError> {
    let is_sweep = !run.points().map_err(ReadError::Info)?.is_empty();
    let workload = if is_sweep { None } else { workload(run)? };
    if let Some(window) = window {
        if is_sweep {
            return Err(ReadError::Sweep(run.path().to_path_buf()));
        }
        let (summary, tables) = whole_in(run, workload.as_ref(), window)?;
        return Ok(Whole { workload, summary, tables });
    }
    if !is_sweep && !run.summary().is_file() && run.events().is_dir() {
        analyse_and_store(run, workload.as_ref(), &mut |_| {})?;
    }
    let summary = store::read_summary(run).map_err(ReadError::Figures)?;
    let tables = if is_sweep { Tables::default() } else { store::read_run(run).map_err(ReadError::Tables)? };
    Ok(Whole { workload, summary, tables })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::run::RunInfo;
    use tacho_tables::summary::Point;

    fn point(run: &RunDirectory, sent: u64) {
        std::fs::create_dir_all(run.path()).unwrap();
        run.write_info(&RunInfo::default()).unwrap();
        let points = vec![Point { sent, ..Point::default() }];
        store::write_summary(run, &Summary { points, ..Summary::default() }).unwrap();
    }

    #[test]
    fn the_workload_of_a_run_is_what_it_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::new(folder.path());
        assert!(workload(&run).unwrap().is_none(), "a recorded program has none");
        std::fs::write(run.workload(), "nodes: {a: {publishes: {/t: {rate: 10 Hz}}}}\nchains: {c: [a, gone]}\n")
            .unwrap();
        assert_eq!(workload(&run).unwrap().expect("a workload").chains[0].nodes, ["a", "gone"]);
        std::fs::write(run.workload(), "nodes: [\n").unwrap();
        let ReadError::Workload(errors) = workload(&run).unwrap_err() else { panic!("no mistakes") };
        assert!(errors.to_string().contains("workload.yaml:"), "{errors}");
    }

    #[test]
    fn figures_of_a_sweep_are_those_of_its_points_until_it_has_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::new(folder.path());
        let sent = || figures(&run, None, None, &mut |_| {}).unwrap().points.iter().map(|p| p.sent).collect::<Vec<_>>();
        point(&run.point("000-a"), 1);
        point(&run.point("001-b"), 2);
        assert_eq!(sent(), [1, 2]);
        point(&run, 7);
        assert_eq!(sent(), [7]);
        run.write_info(&RunInfo { cut_short: true, ..RunInfo::default() }).unwrap();
        assert_eq!(sent(), [1, 2], "those of a sweep that goes on lag behind its points");
        let asked = figures(&run, Some(&Links::default()), None, &mut |_| {});
        assert!(matches!(asked, Err(ReadError::Sweep(_))), "{asked:?}");
    }

    #[test]
    fn without_figures_and_events_there_is_nothing_to_read() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::new(folder.path());
        assert!(matches!(figures(&run, None, None, &mut |_| {}), Err(ReadError::Analysis(Error::NoRun(_)))));
        assert!(matches!(whole(&run, None), Err(ReadError::Figures(_))));
    }
}
