//! Starts a run again, once, if a signal ends a node before anything is measured: that is a fault of the middleware's
//! start, not of what is measured. Keeps the logs of the first start and names them in `run.json`.

use anyhow::{Context, Result};
use std::io::ErrorKind;
use tacho_events::run::RunDirectory;

/// A signal ended a process while the run was starting: which process, how, and its last lines.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct KilledAtStart(pub String);

/// Moves logs and `run.json` of a failed start to `RUN/failed-start`, and deletes its events, which contain nothing to
/// measure.
pub fn put_aside(run: &RunDirectory) -> Result<()> {
    let aside = run.failed_start();
    std::fs::create_dir(&aside).with_context(|| aside.display().to_string())?;
    for name in ["logs", "run.json"] {
        let path = run.path().join(name);
        std::fs::rename(&path, aside.join(name)).with_context(|| path.display().to_string())?;
    }
    for folder in [run.events(), run.clock()] {
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| folder.display().to_string())
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::run::RunInfo;

    #[test]
    fn what_a_failed_start_left_is_put_aside_and_the_run_directory_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::new(folder.path());
        for folder in [run.path().join("logs"), run.events()] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(run.path().join("logs/camera.log"), "last words").unwrap();
        std::fs::write(run.events().join("1-1.events"), "").unwrap();
        run.write_info(&RunInfo { verb: "bench".into(), ..RunInfo::default() }).unwrap();
        put_aside(&run).unwrap();
        assert_eq!(std::fs::read_to_string(run.failed_start().join("logs/camera.log")).unwrap(), "last words");
        assert_eq!(RunDirectory::new(run.failed_start()).info().unwrap().verb, "bench");
        let left: Vec<_> = std::fs::read_dir(run.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, [run.failed_start()]);
    }
}
