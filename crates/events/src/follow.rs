//! Reads the events of a running recording, as its files grow.
//!
//! It holds no mapping, and of a file only a piece of the chunk that it is reading. It reads nothing twice, so the cost
//! depends on what is written meanwhile, not on the length of the run. A file without news costs one short read, and
//! one for each of its threads.

use crate::clock::Clock;
use crate::layout::{
    ChunkHeader, FileHeader, Sync, TickSource, CHUNKS_RESERVED, CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE,
};
use crate::payload::Payload;
use crate::reader::{Error, Event, ProcessFacts, ProcessIndex, StreamIndex, ThreadId};
use crate::record::{Cursor, Step};
use crate::regular::{self, read_at};
use crate::text::Texts;
use crate::RunDirectory;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Readings of a counter that are kept: more would make its line no better for the present.
const READINGS: usize = 64;
/// Up to this many chunks before the end may have been handed out and not written yet; in a ring, earlier ones were
/// released.
const MAY_BE_NEW: u64 = 1 << 16;
const MAY_BE_NEW_IN_RING: u64 = 1024;
/// Bytes of `clock.sync` that are read at once.
const SYNC_BYTES: u64 = 1 << 20;
/// The fields that change while a process runs lie in these first bytes of the header.
const LIVE: usize = 136;
/// The names in the header, which may be filled in later, are read with every so many readings.
const NAMES_EVERY: u32 = 8;
/// Bytes of a chunk that are read at first: what a thread of usual activity writes between two readings.
const AT_FIRST: usize = 1024;

/// Follows the event files of a run.
#[derive(Default)]
pub struct Follower {
    folder: PathBuf,
    files: Vec<Followed>,
    processes: Vec<ProcessFacts>,
    known: HashSet<PathBuf>,
    streams: u32,
    texts: Texts,
    counters: Vec<Counter>,
    /// Bytes of `clock.sync` that were read.
    sync_read: u64,
}

/// What the ticks of some files count.
struct Counter {
    ticks: TickSource,
    boot_id: String,
    readings: Vec<Sync>,
    /// By these readings; `None`: they do not suffice, or one is new.
    clock: Option<Clock>,
}

impl Counter {
    fn clock(&mut self) -> Option<Clock> {
        if self.clock.is_none() {
            let frequency = || crate::clock::measured_frequency_hz(self.ticks);
            self.clock = Clock::new(self.ticks, &self.readings, None)
                .or_else(|| Clock::new(self.ticks, &self.readings, frequency()));
        }
        self.clock.clone()
    }

    fn read(&mut self, found: &[Sync]) {
        if !found.is_empty() {
            self.readings.extend(found);
            self.clock = None;
        }
    }
}

struct Followed {
    /// `None`: it is gone, for example because its process ended before the beginning of a ring.
    file: Option<File>,
    /// Chunks that are not read to their end, in the order of the file.
    open: Vec<Chunk>,
    /// Chunks that were looked at.
    found: u64,
    /// Chunks handed out to threads that have not written into them yet.
    unused: BTreeSet<u64>,
    /// Stream and last chunk's sequence of each thread.
    threads: HashMap<u32, u32>,
    /// Whether it has read what a ring kept of chunks that were released before.
    kept_was_read: bool,
    /// Number of its counter.
    counter: usize,
    /// The beginning of its header when that was last read.
    live: [u8; LIVE],
    /// How often it was read.
    readings: u32,
}

struct Chunk {
    index: u64,
    tid: u32,
    stream: u32,
    cursor: Cursor,
}

impl Follower {
    /// Follows `RUN/events`, which need not be there yet.
    pub fn new(run: &RunDirectory) -> Follower {
        Follower { folder: run.events(), ..Follower::default() }
    }

    /// Processes found so far, in the order of the indices in events. Their headers are renewed with each reading.
    pub fn processes(&self) -> &[ProcessFacts] {
        &self.processes
    }

    /// Names and symbols of the events read so far.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Hands on the events that were written since the last call, one stream after the other: put them in order by
    /// time.
    pub fn read(&mut self, mut on_event: impl FnMut(Event, &Texts)) -> Result<(), Error> {
        self.find_files()?;
        self.read_clock_sync()?;
        let mut bytes = vec![0; CHUNK_SIZE];
        for index in 0..self.files.len() {
            let path = self.processes[index].file.clone();
            self.read_file(index, &mut bytes, &mut on_event).map_err(|source| Error::Io { path, source })?;
        }
        Ok(())
    }

    fn find_files(&mut self) -> Result<(), Error> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(|source| Error::Io { path: self.folder.clone(), source })?,
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| {
            path.extension().is_some_and(|extension| extension == "events") && !self.known.contains(path)
        });
        paths.sort();
        for path in paths {
            let io = |source| Error::Io { path: path.clone(), source };
            let file = regular::open(&path).map_err(io)?;
            // A file without a header yet is checked again later.
            let Some(header) = header(&file).map_err(io)? else { continue };
            self.known.insert(path.clone());
            let is_of = |counter: &Counter| counter.ticks == header.ticks && counter.boot_id == header.boot_id;
            let counter = self.counters.iter().position(is_of).unwrap_or_else(|| {
                let (ticks, boot_id) = (header.ticks, header.boot_id.clone());
                self.counters.push(Counter { ticks, boot_id, readings: Vec::new(), clock: None });
                self.counters.len() - 1
            });
            self.counters[counter].read(&[header.start]);
            self.processes.push(ProcessFacts { file: path, header });
            self.files.push(Followed {
                file: Some(file),
                open: Vec::new(),
                found: 0,
                unused: BTreeSet::new(),
                threads: HashMap::new(),
                kept_was_read: false,
                counter,
                live: [0; LIVE],
                readings: 0,
            });
        }
        Ok(())
    }

    /// `clock.sync` is of this host's counter.
    fn read_clock_sync(&mut self) -> Result<(), Error> {
        let path = self.folder.join("clock.sync");
        let Ok(file) = regular::open(&path) else { return Ok(()) }; // no run has it from its first moment
        let read = || -> io::Result<Vec<Sync>> {
            let length = file.metadata()?.len().saturating_sub(self.sync_read).min(SYNC_BYTES);
            let mut bytes = vec![0; length as usize];
            let count = read_at(&file, &mut bytes, self.sync_read)?;
            bytes.truncate(count / Sync::SIZE * Sync::SIZE);
            Ok(bytes.chunks_exact(Sync::SIZE).filter_map(|record| record.first_chunk().map(Sync::read)).collect())
        };
        let found = read().map_err(|source| Error::Io { path, source })?;
        self.sync_read += (found.len() * Sync::SIZE) as u64;
        for counter in &mut self.counters {
            if matches!(counter.ticks, TickSource::Tsc | TickSource::Cntvct) {
                counter.read(&found);
                let superfluous = counter.readings.len().saturating_sub(READINGS);
                counter.readings.drain(..superfluous);
            }
        }
        Ok(())
    }

    fn read_file(
        &mut self,
        index: usize,
        bytes: &mut [u8],
        on_event: &mut impl FnMut(Event, &Texts),
    ) -> io::Result<()> {
        let followed = &mut self.files[index];
        let Some(file) = &followed.file else { return Ok(()) };
        let mut live = [0; LIVE];
        read_at(file, &mut live, 0)?;
        if live != followed.live || followed.readings.is_multiple_of(NAMES_EVERY) {
            let Some(header) = header(file)? else {
                (followed.file, followed.open) = (None, Vec::new());
                return Ok(());
            };
            self.processes[index].header = header;
            followed.live = live;
        }
        followed.readings = followed.readings.wrapping_add(1);
        let header = &self.processes[index].header;
        let Some(clock) = self.counters[followed.counter].clock() else { return Ok(()) };
        let reserved = live[CHUNKS_RESERVED..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let found_new = followed.find_chunks(header, reserved, &mut self.streams)?;
        let Some(file) = &followed.file else { return Ok(()) };

        for chunk in &mut followed.open {
            let (start, mut wanted) = (chunk.cursor.offset(), AT_FIRST);
            let mut from = start;
            'more: loop {
                let bytes = &mut bytes[..wanted.min(CHUNK_SIZE - from)];
                let count = read_at(file, bytes, offset(chunk.index) + from as u64)?;
                // There may be thousands of ended threads, each with a last chunk that gets no more events.
                if count < 4 || bytes[..4] == [0; 4] {
                    break;
                }
                let goes_on = count == wanted && from + count < CHUNK_SIZE;
                while let Some(step) = chunk.cursor.next_within(&bytes[..count], from, goes_on, &mut self.texts) {
                    match step {
                        Step::Event(ticks, payload) if !matches!(payload, Payload::ClockSync { .. }) => {
                            let (process, thread) = (ProcessIndex(index as u32), ThreadId(chunk.tid));
                            let event = Event {
                                time: clock.time(ticks),
                                process,
                                thread,
                                stream: StreamIndex(chunk.stream),
                                payload,
                            };
                            on_event(event, &self.texts);
                        }
                        Step::Event(..) | Step::Skipped(_) => {}
                        // Damage ends a chunk for good; the reader of the finished run names it.
                        Step::End(_) => break 'more,
                    }
                }
                // A record reaches beyond what was read.
                wanted = if chunk.cursor.offset() == from { CHUNK_SIZE } else { (4 * wanted).min(CHUNK_SIZE) };
                from = chunk.cursor.offset();
            }
        }
        if found_new {
            // A thread that has a later chunk no longer writes into the earlier one.
            let mut last: HashMap<u32, u64> = HashMap::new();
            for chunk in &followed.open {
                let latest = last.entry(chunk.tid).or_default();
                *latest = chunk.index.max(*latest);
            }
            followed.open.retain(|chunk| last.get(&chunk.tid) == Some(&chunk.index));
        }
        // Read what a ring had released before this reader started. This comes after the chunks, so that none is
        // released in between.
        if !std::mem::replace(&mut followed.kept_was_read, true) && header.kept_from_ns.is_some() {
            let Some(path) = crate::kept::path_of(&self.processes[index].file) else { return Ok(()) };
            let kept = match regular::read(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                kept => kept?,
            };
            let Ok(FileHeader { format, .. }) = FileHeader::read(&kept) else { return Ok(()) };
            for chunk in kept.get(HEADER_SIZE..).unwrap_or_default().chunks(CHUNK_SIZE) {
                let Ok(Some(head)) = ChunkHeader::read(chunk) else { continue };
                let (mut cursor, stream) = (Cursor::new(&format, head.base_ticks), self.streams);
                self.streams += 1;
                while let Step::Event(ticks, payload) = cursor.next(chunk, &mut self.texts) {
                    let (process, thread) = (ProcessIndex(index as u32), ThreadId(head.tid));
                    let event =
                        Event { time: clock.time(ticks), process, thread, stream: StreamIndex(stream), payload };
                    on_event(event, &self.texts);
                }
            }
        }
        Ok(())
    }
}

impl Followed {
    /// Finds the chunks that were written into for the first time since the last look. Returns whether there is one.
    /// `reserved`: how many were handed out.
    fn find_chunks(&mut self, header: &FileHeader, reserved: u64, streams: &mut u32) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(false) };
        if reserved <= self.found && self.unused.is_empty() {
            return Ok(false);
        }
        let stored = file.metadata()?.len().saturating_sub(HEADER_SIZE as u64) / CHUNK_SIZE as u64;
        let chunks = stored.min(reserved);
        let may_be_new =
            chunks.saturating_sub(if header.kept_from_ns.is_some() { MAY_BE_NEW_IN_RING } else { MAY_BE_NEW });
        let mut fresh = Vec::new();
        let mut look = |index: u64| -> io::Result<bool> {
            let mut head = [0; CHUNK_HEADER_SIZE];
            file.read_exact_at(&mut head, offset(index))?;
            let chunk = ChunkHeader::read(&head).ok().flatten();
            fresh.extend(chunk.map(|chunk| (index, chunk)));
            Ok(chunk.is_some())
        };
        for index in std::mem::take(&mut self.unused) {
            if !look(index)? && index >= may_be_new {
                self.unused.insert(index);
            }
        }
        while self.found < chunks {
            let index = self.found;
            self.found += 1;
            if look(index)? {
                continue;
            }
            // What a ring released is a hole, and unwritten chunks may be one.
            let next = crate::holes::next_data(file, offset(index))?
                .map_or(chunks, |at| (at - HEADER_SIZE as u64) / CHUNK_SIZE as u64);
            self.found = next.clamp(self.found, chunks);
            self.unused.extend(may_be_new.max(index)..self.found);
        }
        let found_new = !fresh.is_empty();
        for (index, chunk) in fresh {
            let stream = match self.threads.get(&chunk.tid).copied().filter(|_| chunk.sequence != 0) {
                Some(stream) => stream,
                None => {
                    *streams += 1;
                    *streams - 1
                }
            };
            self.threads.insert(chunk.tid, stream);
            self.open.push(Chunk {
                index,
                tid: chunk.tid,
                stream,
                cursor: Cursor::new(&header.format, chunk.base_ticks),
            });
        }
        Ok(found_new)
    }
}

/// Returns where a chunk begins.
fn offset(chunk: u64) -> u64 {
    HEADER_SIZE as u64 + chunk * CHUNK_SIZE as u64
}

fn header(file: &File) -> io::Result<Option<FileHeader>> {
    let mut page = vec![0; HEADER_SIZE];
    let count = read_at(file, &mut page, 0)?;
    Ok(FileHeader::read(&page[..count]).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::EventFile;
    use std::path::Path;

    fn file(folder: &Path, pid: u32) -> EventFile {
        let header = FileHeader { pid, ..FileHeader::default() };
        EventFile::create(&folder.join("events").join(format!("{pid}-0.events")), header).expect("file")
    }

    fn new_events(follower: &mut Follower) -> Vec<(u32, i64)> {
        let mut found = Vec::new();
        follower.read(|event, _| found.push((event.thread.0, event.time.as_ns()))).expect("events");
        found
    }

    #[test]
    fn each_event_is_handed_on_once_however_the_files_grow() {
        let folder = tempfile::tempdir().expect("folder");
        let mut follower = Follower::new(&RunDirectory::new(folder.path()));
        assert!(new_events(&mut follower).is_empty(), "no folder yet");
        std::fs::create_dir(folder.path().join("events")).expect("events");
        let mut first = file(folder.path(), 1);
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let mut second = None;
        for round in 0..50u64 {
            for i in 0..300 {
                let (tid, time) = ((i % 3) as u32, round * 1000 + i);
                first.put(tid, time, 22, &[1, 2], &[]).expect("put");
                expected.push((tid, time as i64));
            }
            first.flush().expect("flush");
            if round > 20 {
                let second = second.get_or_insert_with(|| file(folder.path(), 2));
                second.put(9, round * 1000, 17, &[1, 2], &["talker", "/"]).expect("put");
                second.flush().expect("flush");
                expected.push((9, round as i64 * 1000));
            }
            found.extend(new_events(&mut follower));
        }
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(follower.processes().len(), 2);
        assert!(new_events(&mut follower).is_empty());
        assert!(follower.files.iter().all(|followed| followed.open.len() <= 3), "finished chunks are let go");
    }

    #[test]
    fn a_sparse_file_is_followed_without_a_look_at_each_of_its_chunks() {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::create_dir(folder.path().join("events")).expect("events");
        let mut events = file(folder.path(), 1);
        events.put(1, 10, 22, &[1, 2], &[]).expect("put");
        events.flush().expect("flush");
        for (name, length) in [("1-0.events", offset(1 << 28)), ("clock.sync", 8 << 40)] {
            let path = folder.path().join("events").join(name);
            let sparse = File::options().create(true).truncate(false).write(true).open(path).expect("file");
            sparse.set_len(length).expect("longer");
            if length == offset(1 << 28) {
                sparse.write_all_at(&(1u64 << 28).to_le_bytes(), CHUNKS_RESERVED as u64).expect("reserved");
            }
        }
        let mut follower = Follower::new(&RunDirectory::new(folder.path()));
        assert_eq!(new_events(&mut follower), [(1, 10)]);
        assert!(follower.files[0].unused.len() as u64 <= MAY_BE_NEW);
    }

    #[test]
    fn a_chunk_that_was_handed_out_and_never_used_holds_up_nobody() {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::create_dir(folder.path().join("events")).expect("events");
        let mut events = file(folder.path(), 1);
        for (tid, time) in [(1, 10), (2, 20)] {
            events.put(tid, time, 22, &[1, 2], &[]).expect("put");
        }
        events.flush().expect("flush");
        let handed_out =
            File::options().read(true).write(true).open(folder.path().join("events/1-0.events")).expect("file");
        let mut head = [0; 8];
        handed_out.read_exact_at(&mut head, offset(0)).expect("read");
        handed_out.write_all_at(&[0; 8], offset(0)).expect("write");
        let mut follower = Follower::new(&RunDirectory::new(folder.path()));
        assert_eq!(new_events(&mut follower), [(2, 20)]);
        handed_out.write_all_at(&head, offset(0)).expect("write");
        assert_eq!(new_events(&mut follower), [(1, 10)]);
        assert!(new_events(&mut follower).is_empty());
    }
}
