//! The threads of event files: which chunks each of them has.

use super::{release, Reader, Stream, CHUNKS_KEPT};
use crate::layout::{ChunkHeader, CHUNK_SIZE, HEADER_SIZE};
use crate::record::Cursor;
use crate::time::Time;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

impl Reader {
    /// Sorts the chunks of one file into streams.
    pub(super) fn find_streams(&mut self, file: usize) {
        let bytes = &self.files[file];
        let process = self.process_of[file];
        let facts = &self.processes[process as usize];
        let path = &facts.file;
        let ring = facts.header.kept_from_ns.is_some();
        let mut open: HashMap<u32, (usize, u64)> = HashMap::new();
        let ragged = (bytes.len() - HEADER_SIZE) % CHUNK_SIZE;
        if ragged != 0 {
            self.problems.add("file-truncated", path, bytes.len() as u64, || {
                format!("ends {ragged} bytes into a chunk; chunks have {CHUNK_SIZE}")
            });
        }
        let mut at = HEADER_SIZE;
        while at < bytes.len() {
            let chunk = ((at - HEADER_SIZE) / CHUNK_SIZE) as u32;
            match ChunkHeader::read(&bytes[at..]) {
                Ok(None) if ring => match next_chunk_with_data(path, at) {
                    Some(next) => {
                        at = next;
                        continue;
                    }
                    None => break,
                },
                Ok(None) => {}
                Err(magic) => self.problems.add("not-a-chunk", path, at as u64, || {
                    format!("begins with {magic:#010x}; a chunk begins with \"CHNK\", or with zeros where it is unused")
                }),
                Ok(Some(header)) => {
                    self.progress.chunks_total += 1;
                    if self.progress.chunks_total % CHUNKS_KEPT == 0 {
                        release(bytes);
                    }
                    let known = open.get(&header.tid).copied().filter(|_| header.sequence != 0);
                    let expected = match known {
                        Some((_, last)) => last.wrapping_add(1),
                        None if ring => header.sequence, // those before were let go of
                        None => 0,
                    };
                    if expected != header.sequence {
                        self.problems.add("chunk-missing", path, at as u64, || {
                            format!(
                                "chunk {} of thread {}, which had {}",
                                header.sequence,
                                header.tid,
                                match known {
                                    Some((_, last)) => format!("chunk {last} before"),
                                    None => "none before".to_string(),
                                }
                            )
                        });
                    }
                    let stream = match known {
                        Some((stream, _)) => stream,
                        None => {
                            self.streams.push(Stream {
                                file: file as u32,
                                process,
                                tid: header.tid,
                                until_ticks: u64::MAX,
                                chunks: Vec::new(),
                                chunk: 0,
                                cursor: Cursor::new(header.base_ticks),
                                time: Time::from_monotonic_ns(i64::MIN),
                                next: None,
                            });
                            self.streams.len() - 1
                        }
                    };
                    self.streams[stream].chunks.push(chunk);
                    open.insert(header.tid, (stream, header.sequence));
                }
            }
            at += CHUNK_SIZE;
        }
    }

    /// A chunk that is still there may have been kept of already: each event is read once.
    pub(super) fn end_what_was_kept(&mut self) {
        let processes = self.processes.len();
        let mut first: HashMap<(u32, u32), u64> = HashMap::new();
        for stream in self.streams.iter().filter(|stream| (stream.file as usize) < processes) {
            let start = HEADER_SIZE + stream.chunks[0] as usize * CHUNK_SIZE;
            if let Ok(Some(header)) = ChunkHeader::read(&self.files[stream.file as usize][start..]) {
                first.entry((stream.process, stream.tid)).or_insert(header.base_ticks);
            }
        }
        for stream in self.streams.iter_mut().filter(|stream| stream.file as usize >= processes) {
            stream.until_ticks = first.get(&(stream.process, stream.tid)).copied().unwrap_or(u64::MAX);
        }
    }
}

/// Offset of the first chunk behind the one at `at` that has storage.
fn next_chunk_with_data(path: &Path, at: usize) -> Option<usize> {
    let after = at + CHUNK_SIZE;
    // Without an account of holes, chunk by chunk.
    let found = File::open(path).and_then(|file| crate::holes::next_data(&file, after as u64)).unwrap_or(Some(after as u64))? as usize;
    Some(HEADER_SIZE + (found - HEADER_SIZE) / CHUNK_SIZE * CHUNK_SIZE)
}
