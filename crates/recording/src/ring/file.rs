//! Handles one event file of a ring: it finds the chunks that are over, and releases those that are too old.
//!
//! A chunk is over when its thread has a later one; the first event of that is an upper bound on the time of its
//! events. The lasting events of a chunk are kept in a second file; then the chunk becomes a hole. The chunks of a
//! thread are released in order, so that the rest of the thread has no gap.

use memmap2::{MmapMut, MmapOptions};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tacho_events::kept::Kept;
use tacho_events::layout::{
    ChunkHeader, FileHeader, TickSource, CHUNKS_ALLOCATED, CHUNKS_LIMIT, CHUNKS_MAX, CHUNKS_RESERVED,
    CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE, KEPT_FROM, SEGMENT_CHUNKS, UNMAP, UNMAP_SLOTS,
};
use tacho_events::record::end_of_records;
use tacho_events::writer::EventFile;
use tacho_events::{holes, kept};

/// If a process uses more than this share of its limit, events are released even if they are younger than the ring's
/// length ...
const FULL: (u64, u64) = (3, 4);
/// ... until it uses no more than this share.
const ROOM: (u64, u64) = (2, 3);
/// A process whose file has no more chunks, 64 MiB, may fill it within a second.
const LITTLE: u64 = 2048;

/// An event file that another process writes.
pub(super) struct RingFile {
    path: PathBuf,
    pub header: FileHeader,
    /// Most chunks that its writer may have at once; `None`: no limit.
    limit: Option<u64>,
    /// Number of chunks that were examined.
    found: u64,
    /// Chunks of threads that have not written into them yet.
    unused: BTreeSet<u64>,
    chunks: BTreeMap<u64, Chunk>,
    /// The last chunk of each thread.
    last: HashMap<u32, u64>,
    kept: Kept,
    kept_unwritten: bool,
    let_go: u64,
    /// Number of events dropped before the released chunks.
    dropped: u64,
    of_segment: HashMap<u64, u64>,
    to_unmap: VecDeque<u64>,
}

struct Chunk {
    base_ticks: u64,
    dropped_before: u64,
    /// Upper bound on the time of its events; `None` while its thread may still write into it.
    ended_by: Option<u64>,
}

impl RingFile {
    /// Opens an existing event file; `None` if it has no header yet. `max_bytes` is the recorder's limit.
    pub fn open(path: &Path, max_bytes: Option<u64>) -> io::Result<Option<RingFile>> {
        let mut page = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(File::open(path)?, HEADER_SIZE as u64), &mut page)?;
        let Ok(header) = FileHeader::read(&page) else { return Ok(None) };
        // tacho writes the kernel's file itself, and those of programs that it attached to.
        let limit = max_bytes
            .filter(|_| header.pid != 0)
            .map(|bytes| bytes.saturating_sub(HEADER_SIZE as u64) / CHUNK_SIZE as u64);
        Ok(Some(RingFile {
            path: path.to_owned(),
            header,
            limit,
            found: 0,
            unused: BTreeSet::new(),
            chunks: BTreeMap::new(),
            last: HashMap::new(),
            kept: Kept::default(),
            kept_unwritten: false,
            let_go: 0,
            dropped: 0,
            of_segment: HashMap::new(),
            to_unmap: VecDeque::new(),
        }))
    }

    pub fn ticks(&self) -> TickSource {
        self.header.ticks
    }

    /// Returns whether no chunk is left.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.unused.is_empty()
    }

    /// Returns whether it has little room, or more than half of it is used.
    pub fn is_filling(&self) -> bool {
        self.limit.is_some_and(|limit| limit < LITTLE || 2 * (self.found - self.let_go) > limit)
    }

    /// Reads what was written. Releases chunks that were over by `before_ticks`, and younger ones if the file is nearly
    /// full. `time` converts ticks to ns of CLOCK_MONOTONIC.
    pub fn turn(&mut self, before_ticks: u64, time: impl Fn(u64) -> i64) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(&self.path)?;
        let page = Page::of(&file)?;
        self.look(&file, &page)?;
        let mut gone = self.over(before_ticks);
        if let Some(limit) = self.limit {
            let used = self.found - self.let_go;
            if used * FULL.1 > limit * FULL.0 {
                let too_many = used - limit * ROOM.0 / ROOM.1;
                if gone.len() < too_many as usize {
                    gone = self.oldest(too_many as usize);
                }
            }
        }
        self.let_go_of(&gone, &file, &page, time)?;
        if let Some(limit) = self.limit {
            // More than there was, and never less: its writer counts on what it has.
            page.word(CHUNKS_MAX).fetch_max((limit + self.let_go).min(CHUNKS_LIMIT), Ordering::Relaxed);
        }
        self.tell_what_to_unmap(&page);
        Ok(())
    }

    /// Returns whether the last chunk of a thread was begun so long ago that the thread may have ended since.
    pub fn may_have_ended(&self, before_ticks: u64) -> bool {
        self.last.values().any(|index| self.chunks[index].base_ticks < before_ticks)
    }

    /// Releases the last chunks of threads that have ended, if all events in them are older. `lives` returns whether a
    /// thread lives, by its id in its namespace.
    pub fn let_go_of_ended(
        &mut self,
        before_ticks: u64,
        lives: impl Fn(u32) -> bool,
        time: impl Fn(u64) -> i64,
    ) -> io::Result<()> {
        let old: Vec<(u32, u64)> = self
            .last
            .iter()
            .map(|(tid, index)| (*tid, *index))
            .filter(|(_, index)| self.chunks[index].base_ticks < before_ticks)
            .collect();
        let ended: Vec<(u32, u64)> = old.into_iter().filter(|(tid, _)| !lives(*tid)).collect();
        if ended.is_empty() {
            return Ok(());
        }
        let file = File::options().read(true).write(true).open(&self.path)?;
        let page = Page::of(&file)?;
        for (tid, index) in ended {
            let bytes = read_chunk(&file, index)?;
            let Some(chunk) = self.chunks.get_mut(&index) else { continue };
            let last = end_of_records(&self.header.format, &bytes).1.max(chunk.base_ticks);
            if last < before_ticks {
                chunk.ended_by = Some(last);
                self.last.remove(&tid);
            }
        }
        let gone = self.over(before_ticks);
        self.let_go_of(&gone, &file, &page, time)
    }

    fn look(&mut self, file: &File, page: &Page) -> io::Result<()> {
        if let Ok(header) = FileHeader::read(&page.0) {
            self.header = header;
        }
        let there =
            page.word(CHUNKS_RESERVED).load(Ordering::Relaxed).min(page.word(CHUNKS_ALLOCATED).load(Ordering::Acquire));
        let unused: Vec<u64> = std::mem::take(&mut self.unused).into_iter().collect();
        for index in unused.into_iter().chain(self.found..there) {
            let mut head = [0; CHUNK_HEADER_SIZE];
            file.read_exact_at(&mut head, offset(index))?;
            let Ok(Some(chunk)) = ChunkHeader::read(&head) else {
                self.unused.insert(index);
                continue;
            };
            if let Some(before) = self.last.insert(chunk.tid, index).and_then(|index| self.chunks.get_mut(&index)) {
                before.ended_by = Some(chunk.base_ticks);
            }
            let ChunkHeader { base_ticks, dropped_before, .. } = chunk;
            self.chunks.insert(index, Chunk { base_ticks, dropped_before, ended_by: None });
        }
        self.found = self.found.max(there);
        Ok(())
    }

    fn over(&self, before_ticks: u64) -> Vec<u64> {
        let over = |chunk: &Chunk| chunk.ended_by.is_some_and(|ended| ended < before_ticks);
        self.chunks.iter().filter(|(_, chunk)| over(chunk)).map(|(index, _)| *index).collect()
    }

    fn oldest(&self, count: usize) -> Vec<u64> {
        let mut over: Vec<(u64, u64)> =
            self.chunks.iter().filter_map(|(index, chunk)| Some((chunk.ended_by?, *index))).collect();
        over.sort_unstable();
        let mut oldest: Vec<u64> = over.into_iter().take(count).map(|(_, index)| index).collect();
        oldest.sort_unstable();
        oldest
    }

    /// Releases chunks in a safe order: it stores the lasting events, then writes from when on all events are kept,
    /// then punches the holes. So a concurrent reader, or a reader after tacho was killed in between, finds a true
    /// file.
    fn let_go_of(&mut self, gone: &[u64], file: &File, page: &Page, time: impl Fn(u64) -> i64) -> io::Result<()> {
        let Some(from) = gone.iter().filter_map(|index| self.chunks[index].ended_by).max() else { return Ok(()) };
        for index in gone {
            self.kept_unwritten |= self.kept.take(&self.header.format, &read_chunk(file, *index)?);
        }
        if self.kept_unwritten {
            // A full disk may refuse this. The holes make room, and the next turn tries again.
            match self.kept.write(&self.path, FileHeader { dropped: 0, storage_error: 0, ..self.header.clone() }) {
                Ok(()) => self.kept_unwritten = false,
                Err(error) if error.raw_os_error() == Some(libc::ENOSPC) => {}
                Err(error) => return Err(error),
            }
        }
        let kept_from = time(from) as u64 + 1;
        let before = page.word(KEPT_FROM).fetch_max(kept_from, Ordering::Release);
        self.header.kept_from_ns = Some(kept_from.max(before) as i64);
        for stretch in gone.chunk_by(|a, b| a + 1 == *b) {
            holes::punch(file, offset(stretch[0]), stretch.len() as u64 * CHUNK_SIZE as u64)?;
        }
        for index in gone {
            let Some(chunk) = self.chunks.remove(index) else { continue };
            self.dropped += chunk.dropped_before;
            self.let_go += 1;
            let segment = index / SEGMENT_CHUNKS;
            let of_segment = self.of_segment.entry(segment).or_default();
            *of_segment += 1;
            if *of_segment == SEGMENT_CHUNKS {
                self.of_segment.remove(&segment);
                // The first segment holds the header. A process without a limit has nothing mapped.
                self.to_unmap.extend((segment > 0 && self.limit.is_some()).then_some(segment));
            }
        }
        Ok(())
    }

    fn tell_what_to_unmap(&mut self, page: &Page) {
        for slot in 0..UNMAP_SLOTS {
            let Some(segment) = self.to_unmap.front() else { return };
            if page
                .word(UNMAP + 8 * slot)
                .compare_exchange(0, segment + 1, Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                self.to_unmap.pop_front();
            }
        }
    }

    /// Writes what is left of it, and what was kept, as an event file without holes. What is written while this reads
    /// is in it whole, or not.
    pub fn copy_to(&self, path: &Path) -> io::Result<FileHeader> {
        let file = File::open(&self.path)?;
        let mut page = vec![0; HEADER_SIZE];
        file.read_exact_at(&mut page, 0)?;
        let mut header = FileHeader::read(&page).map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad.text))?;
        header.dropped = header.dropped.saturating_sub(self.dropped);
        if header.dropped == 0 {
            header.storage_error = 0; // it stopped growing for a while, and that is over and gone
        }
        let mut copy = EventFile::create(path, header.clone())?;
        self.kept.put(&mut copy)?;
        let handed_out: HashSet<u64> = self.last.values().copied().collect();
        for index in self.chunks.keys() {
            let mut bytes = read_chunk(&file, *index)?;
            let mut end = end_of_records(&header.format, &bytes).0;
            if handed_out.contains(index) {
                // Its thread may be writing. Everything before the end that was just seen is complete when it is read
                // again.
                std::sync::atomic::fence(Ordering::SeqCst);
                bytes = read_chunk(&file, *index)?;
                end = end.min(bytes.len());
            }
            copy.put_chunk(&header.format, &bytes[..end])?;
        }
        copy.flush()?;
        Ok(header)
    }

    /// Stops the file's growth: its writer gets no more storage.
    pub fn stop_growing(&self) -> io::Result<()> {
        let page = Page::of(&File::options().read(true).write(true).open(&self.path)?)?;
        page.word(CHUNKS_MAX).store(page.word(CHUNKS_ALLOCATED).load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }

    /// Gives back what its writer, which is gone, had set aside.
    pub fn give_back_what_is_ahead(&self) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(&self.path)?;
        let (used, length) = (offset(self.found), file.metadata()?.len());
        if used < length {
            holes::punch(&file, used, length - used)?;
        }
        Ok(())
    }

    /// Removes the file and what was kept of it. For a process that still has it open it reads as zeros and takes no
    /// storage.
    pub fn remove(self) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(&self.path)?;
        holes::punch(&file, 0, file.metadata()?.len())?;
        std::fs::remove_file(&self.path)?;
        remove_kept(&self.path)
    }
}

/// Removes what was kept of an event file, if anything was.
pub(super) fn remove_kept(event_file: &Path) -> io::Result<()> {
    match kept::path_of(event_file).map(std::fs::remove_file) {
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The header page, shared with its writer.
struct Page(MmapMut);

impl Page {
    fn of(file: &File) -> io::Result<Page> {
        if file.metadata()?.len() < HEADER_SIZE as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the file is never cut below its header.
        Ok(Page(unsafe { MmapOptions::new().len(HEADER_SIZE).map_mut(file) }?))
    }

    /// Returns a live field.
    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= HEADER_SIZE);
        // SAFETY: inside the mapping, aligned, and every writer of a live field takes it for an atomic word.
        unsafe { &*self.0.as_ptr().add(at).cast::<AtomicU64>() }
    }
}

fn offset(chunk: u64) -> u64 {
    HEADER_SIZE as u64 + chunk * CHUNK_SIZE as u64
}

fn read_chunk(file: &File, index: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; CHUNK_SIZE];
    file.read_exact_at(&mut bytes, offset(index))?;
    Ok(bytes)
}
