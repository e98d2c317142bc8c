//! Where `tacho top` reads from: a run that is being recorded, or programs that it attaches to itself.

use crate::exit::Failure;
use crate::options::Top;
use crate::runs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tacho_events::RunDirectory;
use tacho_recording::{attach, ring};

/// A run directory to which a recording still writes.
pub struct Source {
    run: RunDirectory,
    title: String,
    attached: Option<Attached>,
}

struct Attached {
    stop: Arc<AtomicBool>,
    recording: JoinHandle<Result<(), attach::Error>>,
    /// Dropping it removes the folder.
    _folder: tempfile::TempDir,
}

impl Source {
    /// Opens the run of the command line, or makes a new one for the processes to attach to, which lasts as long as
    /// this value.
    pub fn open(options: &Top) -> Result<Source, Failure> {
        if let Some(path) = &options.run {
            return Ok(Source { run: runs::open(path)?, title: path.display().to_string(), attached: None });
        }
        let folder = tempfile::Builder::new().prefix("tacho-top-").tempdir()?;
        let run = RunDirectory::new(folder.path());
        let stop = Arc::new(AtomicBool::new(false));
        let (begun, has_begun) = std::sync::mpsc::channel();
        let recording = std::thread::Builder::new().name("tacho-attach".into()).spawn({
            let (run, stop, pids) = (run.clone(), stop.clone(), options.attach.clone());
            // Forget what lies before the window.
            let span = (2 * options.window).max(Duration::from_secs(10));
            let ring = Some(ring::Wanted { span, after: Duration::ZERO, most_saves: 0, watch: None });
            let wanted = attach::Wanted { ring, ..attach::Wanted::default() };
            move || attach::record(&pids, &run, &stop, wanted, || begun.send(()).unwrap_or_default()).map(drop)
        })?;
        let pids: Vec<String> = options.attach.iter().map(u32::to_string).collect();
        let source = Source {
            run,
            title: format!("attached to {}", pids.join(", ")),
            attached: Some(Attached { stop, recording, _folder: folder }),
        };
        match has_begun.recv() {
            Ok(()) => Ok(source),
            // It ended before it began: its error gives the reason.
            Err(_) => source.close().and(Err(Failure::Usage("the processes have ended".into()))),
        }
    }

    pub fn run(&self) -> &RunDirectory {
        &self.run
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    /// Whether nothing more will come.
    pub fn ended(&self) -> bool {
        match &self.attached {
            Some(attached) => attached.recording.is_finished(),
            None => runs::has_ended(&self.run),
        }
    }

    pub fn close(self) -> Result<(), Failure> {
        let Some(attached) = self.attached else { return Ok(()) };
        attached.stop.store(true, Ordering::Relaxed);
        match attached.recording.join() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error @ attach::Error::Process { .. })) => Err(Failure::Usage(error.to_string())),
            Ok(Err(error)) => Err(Failure::Fault(error.into())),
            Err(_) => Err(Failure::Fault(anyhow::anyhow!("the thread that attaches panicked"))),
        }
    }
}
