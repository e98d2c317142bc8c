//! A chunk of an event file that one thread's events fill. Only this code makes records in Rust.

use crate::format::{bytes_of, widths_of, EIGHT, TICKS_BITS, TIME_BITS};
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
    ticks: u64,
    /// From which heads count.
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

    fn new(tid: u32, sequence: u64, ticks: u64) -> Chunk {
        let mut chunk = Chunk { tid, sequence, ticks, base: ticks, bytes: vec![0; ROOM_AT_FIRST], length: 0 };
        chunk.append(&ChunkHeader { tid, sequence, base_ticks: ticks, dropped_before: 0 }.write());
        chunk
    }

    /// Copies a chunk of another file, header and records, as the given one of its thread.
    pub(crate) fn copied(bytes: &[u8], head: ChunkHeader, sequence: u64) -> Chunk {
        let mut chunk = Chunk::new(head.tid, sequence, head.base_ticks);
        chunk.length = 0;
        chunk.make_room(bytes.len());
        chunk.append(bytes);
        chunk.bytes[8..16].copy_from_slice(&sequence.to_le_bytes());
        // Its last times are not known: what is put behind them gets a time of its own.
        chunk.base = chunk.ticks.wrapping_sub(1 << TICKS_BITS);
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
        let since = ticks.wrapping_sub(self.ticks);
        let is_near = ticks.wrapping_sub(self.base) >> TICKS_BITS == 0;
        let widths = widths_of(kind, words);
        let payload = widths.map_or(4 + 8 * words.len(), |widths| bytes_of(widths).next_multiple_of(4));
        let text = if texts.is_empty() { 0 } else { 8 + texts.len().next_multiple_of(4) };
        let size = if is_near { 0 } else { 8 } + text + 4 + payload;
        if since >> TIME_BITS != 0 || words.len() > WORDS_MAX || self.length + size > CHUNK_SIZE {
            return false;
        }
        if self.length + size > self.bytes.len() {
            self.make_room(size);
        }
        if !is_near {
            self.append(&head(since & ((1 << TICKS_BITS) - 1), number::time));
            self.append(&((since >> TICKS_BITS) as u32).to_le_bytes());
            self.base = ticks;
        }
        let delta = ticks.wrapping_sub(self.base);
        if !texts.is_empty() {
            self.append(&head(delta, number::text));
            self.append(&(texts.len().div_ceil(4) as u32).to_le_bytes());
            self.append(texts);
            // The bytes after the last text are already 0.
            self.length = self.length.next_multiple_of(4);
        }
        let end = self.length + 4 + payload;
        if widths.is_some() {
            self.append(&head(delta, kind));
        } else {
            self.append(&head(delta, number::wide));
            self.append(&((u32::from(kind) << 16) + 2 * words.len() as u32).to_le_bytes());
        }
        let mut widths = widths.unwrap_or(EIGHT);
        for word in words {
            let width = if widths == EIGHT { 8 } else { (widths >> 60) as usize };
            self.append(&word.to_le_bytes()[..width]);
            widths = if widths == EIGHT { EIGHT } else { widths << 4 };
        }
        self.length = end;
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

/// A head of these ticks after the base.
fn head(delta: u64, kind: u16) -> [u8; 4] {
    ((delta as u32) << 8 | u32::from(kind)).to_le_bytes()
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
