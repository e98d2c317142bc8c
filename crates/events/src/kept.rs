//! Keeps the events of released chunks without which later events cannot be understood.
//!
//! They are in an event file of their own, `events/kept/<name>` for `events/<name>`, with their original ticks and
//! threads. If several are about the same thing, only the last counts. A repeated event changes nothing, for example
//! those of rclpy's timers at each spin.

use crate::format::Format;
use crate::layout::{ChunkHeader, FileHeader};
use crate::record::{Cursor, Records, Step};
use crate::text::Texts;
use crate::writer::EventFile;
use crate::Lasting;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// Events before a period are linked if they reach into it and are at most this old. So the figures of a ring begin
/// this much later than its events.
pub const LINKED_BEFORE_NS: i64 = 2_000_000_000;

/// Returns where the kept events of an event file are.
pub fn path_of(event_file: &Path) -> Option<PathBuf> {
    Some(event_file.parent()?.join("kept").join(event_file.file_name()?))
}

/// Kept events of one process.
#[derive(Debug, Default)]
pub struct Kept {
    events: HashMap<Lasting, Record>,
    texts: Texts,
}

#[derive(Debug, PartialEq, Eq)]
struct Record {
    tid: u32,
    ticks: u64,
    kind: u16,
    words: Vec<u64>,
    texts: Vec<String>,
}

impl Record {
    /// Reads the next event with its text records; `None`: there is none.
    fn read(tid: u32, ticks: u64, records: &mut Records, chunk: &[u8]) -> Option<Record> {
        let mut text = Vec::new();
        loop {
            let record = records.next(chunk)?;
            if record.is_text() {
                text.extend_from_slice(record.payload);
                continue;
            }
            let mut texts: Vec<String> =
                text.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned()).collect();
            texts.truncate(crate::Payload::texts(record.kind));
            return Some(Record { tid, ticks, kind: record.kind, words: records.words(&record), texts });
        }
    }

    fn says(&self) -> (u16, &[u64], &[String]) {
        (self.kind, &self.words, &self.texts)
    }
}

impl Kept {
    /// Keeps the lasting events of a released chunk. Returns whether any was new. Chunks of one thread must come in
    /// order.
    pub fn take(&mut self, format: &Format, chunk: &[u8]) -> bool {
        let Ok(Some(head)) = ChunkHeader::read(chunk) else { return false };
        let (mut cursor, mut news) = (Cursor::new(format, head.base_ticks), false);
        loop {
            let mut records = cursor.records().clone();
            match cursor.next(chunk, &mut self.texts) {
                Step::Event(ticks, payload) => {
                    let Some(of) = payload.lasting() else { continue };
                    let Some(record) = Record::read(head.tid, ticks, &mut records, chunk) else { continue };
                    let newer =
                        self.events.get(&of).is_none_or(|known| known.ticks <= ticks && known.says() != record.says());
                    if newer {
                        self.events.insert(of, record);
                        news = true;
                    }
                }
                Step::Skipped(_) => {}
                Step::End(_) => return news,
            }
        }
    }

    /// Returns whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Puts all of them into a file, in the order of time.
    pub fn put(&self, file: &mut EventFile) -> io::Result<()> {
        let mut events: Vec<&Record> = self.events.values().collect();
        events.sort_by_key(|record| (record.ticks, record.kind));
        for record in events {
            let texts: Vec<&str> = record.texts.iter().map(String::as_str).collect();
            file.put(record.tid, record.ticks, record.kind, &record.words, &texts)?;
        }
        Ok(())
    }

    /// Writes the kept events, and replaces the previous file: at no moment is there less than before.
    pub fn write(&self, event_file: &Path, header: FileHeader) -> io::Result<()> {
        let Some(path) = path_of(event_file) else { return Err(io::ErrorKind::InvalidInput.into()) };
        let new = path.with_extension("new");
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let written = EventFile::create(&new, header).and_then(|mut file| {
            self.put(&mut file)?;
            file.flush()
        });
        if let Err(error) = written.and_then(|()| std::fs::rename(&new, &path)) {
            // Half a file is of no use; the error is what counts.
            let _already_failed = std::fs::remove_file(&new);
            return Err(error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{CHUNK_SIZE, HEADER_SIZE};
    use crate::{Payload, Reader, RunDirectory};

    fn chunks(put: impl FnOnce(&mut EventFile)) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("5-0.events");
        let mut file = EventFile::create(&path, FileHeader::default()).expect("file");
        put(&mut file);
        file.flush().expect("flush");
        std::fs::read(path).expect("bytes")[HEADER_SIZE..].chunks(CHUNK_SIZE).map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn what_lasts_is_kept_with_its_time_thread_and_texts_and_said_again_is_no_news() {
        let made = chunks(|file| {
            file.put(7, 10, 17, &[0x10, 0x11], &["talker", "/a"]).expect("node");
            file.put(7, 20, 22, &[0x20, 0x21], &[]).expect("publish");
            file.put(8, 15, 39, &[0x30, 1_000], &[]).expect("timer");
        });
        let again = chunks(|file| {
            file.put(7, 30, 39, &[0x30, 1_000], &[]).expect("the same timer");
            file.put(7, 40, 22, &[0x20, 0x21], &[]).expect("publish");
        });
        let renamed =
            chunks(|file| file.put(9, 50, 17, &[0x10, 0x11], &["listener", "/a"]).expect("another node there"));
        let mut kept = Kept::default();
        let format = Format::default();
        assert!(made.iter().all(|chunk| kept.take(&format, chunk)));
        assert!(!kept.take(&format, &again[0]));
        assert!(kept.take(&format, &renamed[0]));

        let folder = tempfile::tempdir().expect("folder");
        let run = RunDirectory::new(folder.path());
        std::fs::create_dir(run.events()).expect("events");
        let mut file = EventFile::create(&run.events().join("5-0.events"), FileHeader::default()).expect("file");
        kept.put(&mut file).expect("put");
        file.flush().expect("flush");
        let mut reader = Reader::open(&run).expect("reader");
        let timer = reader.next_event().expect("timer");
        assert_eq!((timer.thread.0, timer.time.as_ns()), (8, 15));
        assert!(matches!(timer.payload, Payload::RclTimerInit { period_ns: 1_000, .. }));
        let node = reader.next_event().expect("node");
        let Payload::RclNodeInit { name, namespace, .. } = node.payload else { panic!("{:?}", node.payload) };
        assert_eq!(
            (node.time.as_ns(), reader.texts().get(name), reader.texts().get(namespace)),
            (50, "listener", "/a")
        );
        assert!(reader.next_event().is_none());
    }
}
