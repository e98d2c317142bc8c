//! Finds the chunks of each thread of an event file.

use super::{Chunk, Reader, Stream, Window};
use crate::layout::{ChunkHeader, CHUNK_HEADER_SIZE, CHUNK_SIZE, HEADER_SIZE};
use crate::record::Cursor;
use crate::time::Time;
use std::collections::HashMap;

impl Reader {
    /// Sorts the chunks of one file into streams.
    pub(super) fn find_streams(&mut self, file: usize) {
        let length = self.files.length(file);
        let (process, format) = self.process_of[file].clone();
        let facts = &self.processes[process as usize];
        let path = self.files.path(file).to_path_buf();
        let ring = facts.header.kept_from_ns.is_some();
        let mut open: HashMap<u32, (usize, u64)> = HashMap::new();
        let ragged = length.saturating_sub(HEADER_SIZE as u64) % CHUNK_SIZE as u64;
        if ragged != 0 {
            self.problems.add("file-truncated", &path, length, || {
                format!("ends {ragged} bytes into a chunk; chunks have {CHUNK_SIZE}")
            });
        }
        let (mut number, mut head) = (0, Vec::new());
        loop {
            let chunk = Chunk { number, base_ticks: 0 };
            let at = chunk.start();
            if at >= length {
                break;
            }
            self.files.read(file, at, CHUNK_HEADER_SIZE, &mut head, &mut self.problems);
            number += 1;
            match ChunkHeader::read(&head) {
                // What a ring released, or nobody wrote into, may be a hole, which is skipped at once, however long.
                Ok(None) => match self.files.next_data(file, at + CHUNK_SIZE as u64) {
                    Some(next) => number = number.max((next - HEADER_SIZE as u64) / CHUNK_SIZE as u64),
                    None => break,
                },
                Err(magic) => self.problems.add("not-a-chunk", &path, at, || {
                    format!("begins with {magic:#010x}; a chunk begins with \"CHNK\", or with zeros where it is unused")
                }),
                Ok(Some(header)) => {
                    self.progress.chunks_total += 1;
                    let known = open.get(&header.tid).copied().filter(|_| header.sequence != 0);
                    let expected = match known {
                        Some((_, last)) => last.wrapping_add(1),
                        None if ring => header.sequence, // the ring released those before
                        None => 0,
                    };
                    if expected != header.sequence {
                        self.problems.add("chunk-missing", &path, at, || {
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
                                cursor: Cursor::new(&format, header.base_ticks),
                                window: Window::none(),
                                time: Time::from_monotonic_ns(i64::MIN),
                                next: None,
                            });
                            self.streams.len() - 1
                        }
                    };
                    self.streams[stream].chunks.push(Chunk { base_ticks: header.base_ticks, ..chunk });
                    open.insert(header.tid, (stream, header.sequence));
                }
            }
        }
    }

    /// A chunk that still exists may also have kept events: each event is read once.
    pub(super) fn end_what_was_kept(&mut self) {
        let processes = self.processes.len();
        let mut first: HashMap<(u32, u32), u64> = HashMap::new();
        for stream in self.streams.iter().filter(|stream| (stream.file as usize) < processes) {
            first.entry((stream.process, stream.tid)).or_insert(stream.chunks[0].base_ticks);
        }
        for stream in self.streams.iter_mut().filter(|stream| stream.file as usize >= processes) {
            stream.until_ticks = first.get(&(stream.process, stream.tid)).copied().unwrap_or(u64::MAX);
        }
    }
}
