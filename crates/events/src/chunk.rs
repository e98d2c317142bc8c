//! A chunk of an event file that one thread's events fill. Only this code makes records in Rust.

use crate::layout::{ChunkHeader, CHUNK_SIZE};
use crate::number;

/// Longest text, `TACHO_TEXT_MAX`.
pub(crate) const TEXT_MAX: usize = 4095;
/// Payload words of one record, `TACHO_MAX_WORDS`.
const WORDS_MAX: usize = 63;

/// Room of a chunk that is new.
const ROOM_AT_FIRST: usize = 1024;

/// A thread's chunk, its header first.
pub struct Chunk {
    tid: u32,
    sequence: u64,
    base: u64,
    /// Its size grows with its content, and the rest is 0, because a system may have thousands of threads with few
    /// events.
    bytes: Vec<u8>,
    length: usize,
}

impl Chunk {
    /// Makes the first chunk of a thread in its file; no event of it is earlier than `base_ticks`.
    pub fn first(tid: u32, base_ticks: u64) -> Chunk {
        Chunk::new(tid, 0, base_ticks)
    }

    /// Makes the thread's next chunk, empty.
    pub fn after(&self, base_ticks: u64) -> Chunk {
        Chunk::new(self.tid, self.sequence + 1, base_ticks)
    }

    fn new(tid: u32, sequence: u64, base: u64) -> Chunk {
        let mut chunk = Chunk { tid, sequence, base, bytes: vec![0; ROOM_AT_FIRST], length: 0 };
        chunk.append(&ChunkHeader { tid, sequence, base_ticks: base, dropped_before: 0 }.write());
        chunk
    }

    /// Copies a chunk of another file, header and records, as the given one of its thread.
    pub(crate) fn copied(bytes: &[u8], head: ChunkHeader, sequence: u64) -> Chunk {
        let mut chunk = Chunk::new(head.tid, sequence, head.base_ticks);
        chunk.length = 0;
        chunk.make_room(bytes.len());
        chunk.append(bytes);
        chunk.bytes[8..16].copy_from_slice(&sequence.to_le_bytes());
        chunk
    }

    /// Returns its number among the chunks of its thread.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Appends an event: `kind` and `words` as `events.h` lists them, `texts` as [`joined`] gives them. False: it has
    /// no room, or its time is too far from the first one's; a chunk that is empty has room for every event of
    /// `events.h`.
    pub fn put(&mut self, ticks: u64, kind: u16, words: &[u64], texts: &[u8]) -> bool {
        let delta = ticks.wrapping_sub(self.base);
        let text_words = texts.len().div_ceil(8);
        let size = 8 * (1 + words.len() + text_words + text_words.div_ceil(WORDS_MAX));
        if delta >> 48 != 0 || words.len() > WORDS_MAX || self.length + size > CHUNK_SIZE {
            return false;
        }
        if self.length + size > self.bytes.len() {
            self.make_room(size);
        }
        let head = |kind: u16, words: usize| (delta << 16 | u64::from(kind) << 6 | words as u64).to_le_bytes();
        for part in texts.chunks(8 * WORDS_MAX) {
            self.append(&head(number::text, part.len().div_ceil(8)));
            self.append(part);
            // The bytes after the last text are already 0.
            self.length = self.length.next_multiple_of(8);
        }
        let (own, payload) = self.bytes[self.length..][..8 * (1 + words.len())].split_at_mut(8);
        own.copy_from_slice(&head(kind, words.len()));
        for (into, word) in payload.chunks_exact_mut(8).zip(words) {
            into.copy_from_slice(&word.to_le_bytes());
        }
        self.length += 8 * (1 + words.len());
        true
    }

    #[cold]
    fn make_room(&mut self, size: usize) {
        let length = (self.length + size).max(2 * self.bytes.len());
        self.bytes.resize(length, 0);
    }

    fn append(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Returns its bytes, from its header on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Joins texts as they precede an event. A text that is too long is cut, and then ends in "...".
pub fn joined(texts: &[&str]) -> Vec<u8> {
    let mut joined = Vec::new();
    for text in texts {
        let text = text.split('\0').next().unwrap_or_default();
        if text.len() <= TEXT_MAX {
            joined.extend(text.as_bytes());
        } else {
            let end = (0..=TEXT_MAX - 3).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            joined.extend(&text.as_bytes()[..end]);
            joined.extend(b"...");
        }
        joined.push(0);
    }
    joined
}
