//! A process that was recorded, as its event file tells of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tacho_events::layout::{FileHeader, CHUNKS_RESERVED, CHUNK_SIZE, HEADER_SIZE};

/// A process that was recorded, from its event file.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedProcess {
    /// Its event file.
    pub file: PathBuf,
    /// Process id, in its own namespace.
    pub pid: u32,
    /// Command line.
    pub command: String,
    /// Release of tracetools, `8.6.0`; absent where it was not found.
    pub tracetools: Option<String>,
    /// Middleware, `rmw_fastrtps_cpp`; absent where none was loaded.
    pub rmw_implementation: Option<String>,
    /// ROS_DISTRO; absent where it was not set.
    pub ros_distro: Option<String>,
    /// Events that were not written.
    pub dropped_events: u64,
    /// What stopped its file from growing, where something did.
    pub storage_error: Option<String>,
    /// Whether it ended in order.
    pub ended: bool,
    /// Whether it was still running when the recording ended; its file was then left alone.
    pub running: bool,
}

impl RecordedProcess {
    pub(crate) fn of(file: PathBuf, header: FileHeader, running: bool) -> RecordedProcess {
        let told = |text: String| Some(text).filter(|text| !text.is_empty());
        RecordedProcess {
            file,
            pid: header.pid,
            command: header.command,
            tracetools: header.tracetools.map(|(major, minor, patch)| format!("{major}.{minor}.{patch}")),
            rmw_implementation: told(header.rmw_implementation),
            ros_distro: told(header.ros_distro),
            dropped_events: header.dropped,
            storage_error: Some(header.storage_error)
                .filter(|error| *error != 0)
                .map(|error| io::Error::from_raw_os_error(error as i32).to_string()),
            ended: header.closed == Some(true),
            running,
        }
    }

    /// What is missing of this process's events, and why.
    pub(crate) fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        missing.extend(self.dropped());
        let who = format!("process {} ({})", self.pid, self.command);
        if self.running {
            missing.push(format!("{who} was still running when the recording ended: its file may have grown since"));
        }
        missing
    }

    /// That events were dropped, if they were.
    pub(crate) fn dropped(&self) -> Option<String> {
        let why = self.storage_error.as_deref().unwrap_or("more than --max-mib (TACHO_EVENTS_MAX_BYTES), or faster than storage could grow");
        (self.dropped_events > 0)
            .then(|| format!("{} events of process {} ({}) were dropped: {why}", self.dropped_events, self.pid, self.command))
    }

    /// That its release of tracetools is not known, where it is not. No loss for a program that has no rmw.
    pub(crate) fn unknown_release(&self) -> Option<String> {
        (self.tracetools.is_none() && self.rmw_implementation.is_some()).then(|| {
            format!(
                "the release of tracetools in process {} ({}) is not known: where it calls rmw_publish, only one argument was recorded",
                self.pid, self.command
            )
        })
    }
}

/// Cuts an event file after the last chunk that was handed out, and brings it to the disk. Only for files that nobody writes.
pub(crate) fn cut_tail(path: &Path, file: &File) -> io::Result<()> {
    let mut reserved = [0; 8];
    match file.read_exact_at(&mut reserved, CHUNKS_RESERVED as u64) {
        Err(short) if short.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
        result => result?,
    }
    let used = (CHUNK_SIZE as u64).saturating_mul(u64::from_le_bytes(reserved)).saturating_add(HEADER_SIZE as u64);
    if used < file.metadata()?.len() {
        File::options().write(true).open(path)?.set_len(used)?;
    }
    file.sync_all()
}

/// Versions of what was found below, joined where processes differ.
pub(crate) fn versions(processes: &[RecordedProcess]) -> BTreeMap<String, String> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for process in processes {
        for (name, value) in
            [("tracetools", &process.tracetools), ("rmw", &process.rmw_implementation), ("ros_distro", &process.ros_distro)]
        {
            found.entry(name).or_default().extend(value.as_deref());
        }
    }
    let joined = found.into_iter().map(|(name, values)| (name.to_owned(), values.into_iter().collect::<Vec<_>>().join(", ")));
    joined.filter(|(_, values)| !values.is_empty()).collect()
}
