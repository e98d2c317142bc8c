//! A chunk of an event file that one thread's events fill. Only this code makes records in Rust.

use crate::format::{bytes_of, form_of, width, EIGHT, GIDS, NUMBERED, SECOND, TICKS_BITS, TIME_BITS};
use crate::layout::{ChunkHeader, CHUNK_SIZE};
use crate::number;

/// Longest text, `TACHO_TEXT_MAX`.
pub(crate) const TEXT_MAX: usize = 4095;
/// Payload words of one record, `TACHO_MAX_WORDS`.
const WORDS_MAX: usize = 63;

/// Bytes of a `TACHO_GID` record.
const GID_SIZE: usize = 24;

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
    /// Gids by their numbers.
    gids: Vec<[u64; 2]>,
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
        let mut chunk =
            Chunk { tid, sequence, ticks, base: ticks, bytes: vec![0; ROOM_AT_FIRST], length: 0, gids: Vec::new() };
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
        // Its last times and its gids are not known: what is put behind them gets a time and gids of its own.
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
        let (named, mut numbers) = (self.gids.len(), [0; 2]);
        let form = form_of(kind, words)
            .filter(|(_, widths)| !has_gids(*widths) || self.number_gids(*widths, words, &mut numbers));
        let payload = form.map_or(4 + 8 * words.len(), |(_, widths)| bytes_of(widths).next_multiple_of(4));
        let text = if texts.is_empty() { 0 } else { 8 + texts.len().next_multiple_of(4) };
        let gids = GID_SIZE * (self.gids.len() - named);
        let size = if is_near { 0 } else { 4 } + text + gids + 4 + payload;
        if since >> TIME_BITS != 0 || words.len() > WORDS_MAX || self.length + size > CHUNK_SIZE {
            self.gids.truncate(named);
            return false;
        }
        if self.length + size > self.bytes.len() {
            self.make_room(size);
        }
        if !is_near {
            self.append(&head(since >> TICKS_BITS, number::time));
            self.base = self.ticks.wrapping_add(since >> TICKS_BITS << TICKS_BITS);
        }
        let delta = ticks.wrapping_sub(self.base);
        if !texts.is_empty() {
            self.append(&head(delta, number::text));
            self.append(&(texts.len().div_ceil(4) as u32).to_le_bytes());
            self.append(texts);
            // The bytes after the last text are already 0.
            self.length = self.length.next_multiple_of(4);
        }
        for number in named..self.gids.len() {
            self.append(&head(delta, number::gid));
            self.append(&(number as u32).to_le_bytes());
            self.append(&self.gids[number].map(u64::to_le_bytes).concat());
        }
        let end = self.length + 4 + payload;
        if let Some((kind, _)) = form {
            self.append(&head(delta, kind));
        } else {
            self.append(&head(delta, number::wide));
            self.append(&((u32::from(kind) << 16) + 2 * words.len() as u32).to_le_bytes());
        }
        let (mut widths, mut numbers) = (form.map_or(EIGHT, |(_, widths)| widths), numbers.iter());
        for word in words {
            let digit = if widths == EIGHT { 8 } else { widths >> 60 };
            match numbers.as_slice() {
                [number, ..] if digit == NUMBERED => {
                    self.append(&[*number]);
                    numbers.next();
                }
                _ => self.append(&word.to_le_bytes()[..width(digit as usize)]),
            }
            widths = if widths == EIGHT { EIGHT } else { widths << 4 };
        }
        self.length = end;
        true
    }

    /// Gives numbers to the gids among these words. False: there are no more.
    #[cold]
    fn number_gids(&mut self, widths: u64, words: &[u64], numbers: &mut [u8; 2]) -> bool {
        let mut numbers = numbers.iter_mut();
        for (i, pair) in words.windows(2).enumerate().filter(|(i, _)| widths << (4 * i) >> 60 == NUMBERED) {
            debug_assert_eq!(widths << (4 * (i + 1)) >> 60, SECOND);
            let gid = [pair[0], pair[1]];
            let known = self.gids.iter().position(|known| *known == gid);
            let number = known.unwrap_or(self.gids.len());
            let (Some(place), true) = (numbers.next(), number < GIDS) else { return false };
            if known.is_none() {
                self.gids.push(gid);
            }
            *place = number as u8;
        }
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

/// Returns whether a digit says that a gid has a number.
fn has_gids(widths: u64) -> bool {
    const LOWEST: u64 = 0x1111_1111_1111_1111;
    let other = widths ^ (NUMBERED * LOWEST);
    !(other | other >> 1 | other >> 2 | other >> 3) & LOWEST != 0
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
