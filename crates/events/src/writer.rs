//! Writes an event file about another process than the writer's: the kernel's, a microcontroller's, an attached
//! program's.
//!
//! A program that writes about itself uses `native/recorder`, which has the fast path. After a flush, readers can read
//! what was written.
//!
//! ```
//! use tacho_events::{layout::FileHeader, writer::EventFile};
//! let path = std::env::temp_dir().join(format!("tacho-doc-{}.events", std::process::id()));
//! let mut file = EventFile::create(&path, FileHeader::default()).unwrap();
//! file.put(7, 1_000, 17, &[0x10, 0x11], &["talker", "/"]).unwrap(); // rcl_node_init by thread 7
//! file.finish().unwrap();
//! # std::fs::remove_file(&path).unwrap();
//! ```

use crate::chunk::{joined, Chunk};
use crate::format::Format;
use crate::layout::{ChunkHeader, FileHeader, CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE, KEPT_FROM, UNMAP};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// An event file that is being written.
pub struct EventFile {
    file: File,
    /// Content of page 0, which each flush writes.
    pub header: FileHeader,
    chunks: u64,
    threads: HashMap<u32, Thread>,
}

/// A thread's chunk that is being filled.
struct Thread {
    chunk: Chunk,
    /// Its place in the file.
    index: u64,
    last: u64,
    /// How many of its bytes are in the file.
    flushed: usize,
}

impl EventFile {
    /// Creates the file, which must not exist yet. It has the format of this release, whatever `header` says.
    pub fn create(path: &Path, header: FileHeader) -> io::Result<EventFile> {
        let header = FileHeader { format: Format::default(), ..header };
        let file = File::options().write(true).create_new(true).open(path)?;
        file.write_all_at(&header.write(0), 0)?;
        Ok(EventFile { file, header, chunks: 0, threads: HashMap::new() })
    }

    /// Its size in bytes after a flush.
    pub fn bytes(&self) -> u64 {
        HEADER_SIZE as u64 + self.chunks * CHUNK_SIZE as u64
    }

    /// Appends an event of a thread, in the order of the thread's time; an event that is earlier than the thread's last
    /// one gets that one's ticks. `kind`, `words` and `texts` are as `events.h` lists them; a text is cut if a record
    /// cannot hold it.
    pub fn put(&mut self, tid: u32, ticks: u64, kind: u16, words: &[u64], texts: &[&str]) -> io::Result<()> {
        let texts = joined(texts);
        let thread = self.threads.entry(tid).or_insert_with(|| {
            self.chunks += 1;
            Thread { chunk: Chunk::first(tid, ticks), index: self.chunks - 1, last: ticks, flushed: 0 }
        });
        thread.last = thread.last.max(ticks);
        if thread.chunk.put(thread.last, kind, words, &texts) {
            return Ok(());
        }
        thread.flush(&self.file)?;
        thread.chunk = thread.chunk.after(thread.last);
        (thread.index, thread.flushed) = (self.chunks, 0);
        self.chunks += 1;
        if thread.chunk.put(thread.last, kind, words, &texts) {
            return Ok(());
        }
        let text = format!(
            "an event of {} words and {} bytes of text; a chunk has {CHUNK_SIZE} bytes",
            words.len(),
            texts.len()
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }

    /// Appends a whole chunk of another file of this format as the next one of its thread; `bytes` end with the chunk's
    /// last record.
    pub fn put_chunk(&mut self, format: &Format, bytes: &[u8]) -> io::Result<()> {
        if *format != Format::default() {
            let text = "its records are of another release's format, and this one does not write it";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let Ok(Some(head)) = ChunkHeader::read(bytes) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a chunk in use"));
        };
        let sequence = match self.threads.get_mut(&head.tid) {
            Some(thread) => {
                thread.flush(&self.file)?;
                thread.chunk.sequence() + 1
            }
            None => 0,
        };
        let mut thread = Thread {
            chunk: Chunk::copied(bytes, head, sequence),
            index: self.chunks,
            last: head.base_ticks,
            flushed: 0,
        };
        self.chunks += 1;
        thread.flush(&self.file)?;
        self.threads.insert(head.tid, thread);
        Ok(())
    }

    /// Writes the header and everything that was put into the file.
    pub fn flush(&mut self) -> io::Result<()> {
        let needed = self.bytes();
        if self.file.metadata()?.len() < needed {
            self.file.set_len(needed)?;
        }
        for thread in self.threads.values_mut() {
            thread.flush(&self.file)?;
        }
        // The file has its magic already; `kept_from_ns` belongs to the process that releases chunks.
        let page = self.header.write(self.chunks);
        self.file.write_all_at(&page[8..KEPT_FROM], 8)?;
        self.file.write_all_at(&page[KEPT_FROM + 8..UNMAP], KEPT_FROM as u64 + 8)
    }

    /// Writes the rest and marks that the subject ended in order.
    pub fn finish(mut self) -> io::Result<()> {
        self.header.closed = Some(true);
        self.flush()
    }
}

impl Thread {
    /// The first word comes last: it is a chunk's magic or a record's head, and the words after it count only when it
    /// is there.
    fn flush(&mut self, file: &File) -> io::Result<()> {
        let fresh = &self.chunk.bytes()[self.flushed..];
        if fresh.is_empty() {
            return Ok(());
        }
        let at = HEADER_SIZE as u64 + self.index * CHUNK_SIZE as u64 + self.flushed as u64;
        file.write_all_at(&fresh[4..], at + 4)?;
        file.write_all_at(&fresh[..4], at)?;
        self.flushed = self.chunk.bytes().len();
        Ok(())
    }
}

const _: () = assert!(CHUNK_HEADER_SIZE.is_multiple_of(4));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::TEXT_MAX;
    use crate::layout::{Sync, TickSource};
    use crate::{Payload, Reader, RunDirectory};

    fn written(put: impl FnOnce(&mut EventFile)) -> (tempfile::TempDir, Reader) {
        let folder = tempfile::tempdir().expect("folder");
        let run = RunDirectory::new(folder.path());
        std::fs::create_dir(run.events()).expect("events");
        let start = Sync { ticks: 0, monotonic_ns: 0, realtime_ns: 0, bound_ns: 0 };
        let header = FileHeader { pid: 5, ticks: TickSource::Monotonic, start, ..FileHeader::default() };
        let mut file = EventFile::create(&run.events().join("5-0.events"), header).expect("file");
        put(&mut file);
        file.flush().expect("flush");
        let reader = Reader::open(&run).expect("reader");
        (folder, reader)
    }

    #[test]
    fn what_was_put_is_read_in_the_order_of_time_over_threads_and_chunks() {
        let (_folder, mut reader) = written(|file| {
            for i in 0..5000u64 {
                file.put((i % 2) as u32, i, 22, &[i, 2 * i], &[]).expect("put");
            }
        });
        for i in 0..5000u64 {
            let event = reader.next_event().expect("an event");
            assert_eq!((event.thread.0, event.time.as_ns()), ((i % 2) as u32, i as i64));
            let Payload::RclPublish { publisher, message } = event.payload else { panic!("{:?}", event.payload) };
            assert_eq!((publisher.0, message.0), (i, 2 * i));
        }
        assert!(reader.next_event().is_none());
    }

    #[test]
    fn texts_are_read_as_they_were_put_and_long_ones_are_cut() {
        let long = "ü".repeat(3000);
        let (_folder, mut reader) = written(|file| {
            file.put(1, 10, 17, &[1, 2], &["talker", &long]).expect("put");
            file.put(1, 5, 17, &[1, 2], &["", "/"]).expect("put");
        });
        let event = reader.next_event().expect("an event");
        let Payload::RclNodeInit { name, namespace, .. } = event.payload else { panic!("{:?}", event.payload) };
        assert_eq!(reader.texts().get(name), "talker");
        let cut = reader.texts().get(namespace);
        assert!(cut.len() <= TEXT_MAX && cut.len() > TEXT_MAX - 4 && cut.ends_with("ü..."), "{}", cut.len());
        let second = reader.next_event().expect("an event");
        assert_eq!(second.time.as_ns(), 10, "a thread's time does not go back");
        let Payload::RclNodeInit { name, namespace, .. } = second.payload else { panic!("{:?}", second.payload) };
        assert_eq!((reader.texts().get(name), reader.texts().get(namespace)), ("", "/"));
    }
}
