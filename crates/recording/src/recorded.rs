//! Describes a recorded process from its event file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tacho_events::holes;
use tacho_events::layout::{
    ChunkHeader, FileHeader, TickSource, CHUNKS_RESERVED, CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE,
};

/// A recorded process, from its event file.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedProcess {
    /// Its event file.
    pub file: PathBuf,
    /// Process id, in its own namespace.
    pub pid: u32,
    /// Command line.
    pub command: String,
    /// Release of tracetools, `8.6.0`; absent if it was not found.
    pub tracetools: Option<String>,
    /// Middleware, `rmw_fastrtps_cpp`; absent if none was loaded.
    pub rmw_implementation: Option<String>,
    /// ROS_DISTRO; absent if it was not set.
    pub ros_distro: Option<String>,
    /// Events that were not written.
    pub dropped_events: u64,
    /// The dropped events that signal handlers fired inside the writing of another.
    pub dropped_nested: u64,
    /// Remarks of the recorder: bits of `tacho_events::layout::remark`.
    pub remarks: u64,
    /// What its ticks count.
    pub ticks: TickSource,
    /// What stopped its file from growing, if something did.
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
            dropped_nested: header.dropped_nested,
            remarks: header.remarks,
            ticks: header.ticks,
            storage_error: Some(header.storage_error)
                .filter(|error| *error != 0)
                .map(|error| io::Error::from_raw_os_error(error as i32).to_string()),
            ended: header.closed == Some(true),
            running,
        }
    }

    /// Returns what is missing of this process's events, and why.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = self.remarks();
        missing.extend(self.dropped());
        let who = format!("process {} ({})", self.pid, self.command);
        if self.running {
            missing.push(format!("{who} was still running when the recording ended: its file may have grown since"));
        }
        missing
    }

    /// Reports dropped events, if there are any.
    pub fn dropped(&self) -> Option<String> {
        let (count, pid, command) = (self.dropped_events, self.pid, &self.command);
        (count > 0).then(|| format!("{count} events of process {pid} ({command}) were dropped: {}", self.why_dropped()))
    }

    /// Reports that the release of tracetools is unknown, if so. A program without an rmw loses nothing by that.
    pub fn unknown_release(&self) -> Option<String> {
        (self.tracetools.is_none() && self.rmw_implementation.is_some()).then(|| {
            format!(
                "the release of tracetools in process {} ({}) is not known: if it calls rmw_publish, only one \
                 argument was recorded",
                self.pid, self.command
            )
        })
    }
}

/// Cuts an event file after the last used chunk, makes holes of the ends of chunks that were not filled, and writes it
/// to the disk. Only for files that nobody writes.
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
    punch_ends(path)?;
    file.sync_all()
}

/// Makes holes of the unused ends of the last chunk of each thread, and of chunks that nobody used.
fn punch_ends(path: &Path) -> io::Result<()> {
    const PAGE: usize = 4096;
    // A file of its own, because a search for data moves its position.
    let file = File::options().read(true).write(true).open(path)?;
    let chunks = file.metadata()?.len().saturating_sub(HEADER_SIZE as u64) / CHUNK_SIZE as u64;
    let offset = |index: u64| HEADER_SIZE as u64 + index * CHUNK_SIZE as u64;
    let (mut last, mut unused, mut head, mut index) = (BTreeMap::new(), Vec::new(), [0; CHUNK_HEADER_SIZE], 0);
    while index < chunks {
        file.read_exact_at(&mut head, offset(index))?;
        index += 1;
        if let Ok(Some(chunk)) = ChunkHeader::read(&head) {
            last.insert(chunk.tid, index - 1);
            continue;
        }
        // A ring releases many chunks at once.
        let next = holes::next_data(&file, offset(index - 1))?.unwrap_or(u64::MAX);
        if next < offset(index) {
            unused.push(index - 1);
        }
        index = index.max(next.saturating_sub(HEADER_SIZE as u64) / CHUNK_SIZE as u64);
    }
    let mut bytes = vec![0; CHUNK_SIZE];
    for index in last.into_values().chain(unused) {
        file.read_exact_at(&mut bytes, offset(index))?;
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1).next_multiple_of(PAGE);
        let unused = (CHUNK_SIZE - used) as u64;
        // Some file systems have no holes: then the ends take room.
        if unused > 0 && holes::punch(&file, offset(index) + used as u64, unused).is_err() {
            break;
        }
    }
    Ok(())
}

/// Returns the versions of ROS and the middleware, joined if processes differ.
pub fn versions(processes: &[RecordedProcess]) -> BTreeMap<String, String> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for process in processes {
        for (name, value) in [
            ("tracetools", &process.tracetools),
            ("rmw", &process.rmw_implementation),
            ("ros_distro", &process.ros_distro),
        ] {
            found.entry(name).or_default().extend(value.as_deref());
        }
    }
    let joined =
        found.into_iter().map(|(name, values)| (name.to_owned(), values.into_iter().collect::<Vec<_>>().join(", ")));
    joined.filter(|(_, values)| !values.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use tacho_events::writer::EventFile;
    use tacho_events::Reader;

    #[test]
    fn ends_of_chunks_that_nobody_filled_take_no_room_and_all_events_stay() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("1-0.events");
        let mut events = EventFile::create(&path, FileHeader { pid: 1, ..FileHeader::default() }).expect("file");
        for i in 0..10_000 {
            events.put((i % 2) as u32, i, 22, &[i, i], &[]).expect("put");
        }
        events.flush().expect("flush");
        let written = std::fs::read(&path).expect("bytes");
        let chunks = (written.len() - HEADER_SIZE) / CHUNK_SIZE;
        // As the recorder leaves it: with storage for chunks that nobody used.
        let file = File::options().read(true).write(true).open(&path).expect("file");
        file.write_all_at(&vec![0; 4 * CHUNK_SIZE], written.len() as u64).expect("more");
        file.write_all_at(&7_u64.to_le_bytes(), CHUNKS_RESERVED as u64).expect("reserved");
        let mut expected = std::fs::read(&path).expect("bytes");
        expected.truncate(HEADER_SIZE + 7 * CHUNK_SIZE);
        cut_tail(&path, &file).expect("cut");
        let position = io::Seek::stream_position(&mut &file).expect("position");
        assert_eq!(position, 0, "whoever reads the header next begins here");
        assert!(std::fs::read(&path).expect("bytes") == expected, "another content");
        let room = |chunk: &[u8]| {
            let used = chunk.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            used.next_multiple_of(4096) as u64
        };
        let expected: u64 = written[HEADER_SIZE..].chunks(CHUNK_SIZE).map(room).sum();
        assert!(chunks == 4 && expected < 4 * CHUNK_SIZE as u64, "{chunks} chunks");
        assert_eq!(file.metadata().expect("metadata").blocks() * 512, HEADER_SIZE as u64 + expected);
        let mut reader = Reader::open_files(vec![path], None).expect("reader");
        assert_eq!(std::iter::from_fn(|| reader.next_event()).count(), 10_000);
    }
}
