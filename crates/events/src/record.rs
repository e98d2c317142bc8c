//! Decodes the records of one chunk into events. It never panics, whatever the bytes.

use crate::layout::{u64_at, Sync, CHUNK_HEADER_SIZE, CHUNK_SIZE};
use crate::number;
use crate::payload::{Fields, Payload};
use crate::text::Texts;

/// The state of decoding a chunk. It holds no bytes: the caller passes them each time.
#[derive(Debug, Clone)]
pub struct Cursor {
    at: usize,
    base_ticks: u64,
    text: Vec<u8>,
}

/// The next item in a chunk.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// An event, at its ticks.
    Event(u64, Payload),
    /// An unusable record, which was skipped.
    Skipped(Damage),
    /// The end of what was written. `Some`: the bytes make no sense from here on.
    End(Option<Damage>),
}

/// A record that makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Name of the problem.
    pub name: &'static str,
    /// Offset in the chunk.
    pub offset: usize,
    /// Kind that it claims.
    pub kind: u16,
    /// Payload words that it claims.
    pub words: usize,
}

impl Cursor {
    /// Before the first record of a chunk.
    pub fn new(base_ticks: u64) -> Self {
        Cursor { at: CHUNK_HEADER_SIZE, base_ticks, text: Vec::new() }
    }

    /// Begins another chunk. Text does not span chunks: it lies in the chunk of its event.
    pub fn restart(&mut self, base_ticks: u64) {
        self.at = CHUNK_HEADER_SIZE;
        self.base_ticks = base_ticks;
        self.text.clear();
    }

    /// Offset of the next record in its chunk.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the next event of `chunk`, which may be cut short.
    #[inline(always)]
    pub fn next(&mut self, chunk: &[u8], texts: &mut Texts) -> Step {
        self.next_within(chunk, 0, false, texts).unwrap_or(Step::End(None))
    }

    /// Returns the next event of a chunk, of which `bytes` from the offset `from` on are in memory. `None`: the event
    /// reaches beyond them while the chunk continues; call it again with bytes from [`Cursor::offset`] on.
    #[inline(always)]
    pub(crate) fn next_within(&mut self, bytes: &[u8], from: usize, goes_on: bool, texts: &mut Texts) -> Option<Step> {
        loop {
            let offset = self.at;
            let here = offset - from;
            let head = u64_at(bytes, here);
            if head == 0 {
                return if goes_on && here + 8 > bytes.len() { None } else { Some(Step::End(None)) };
            }
            let (delta, kind, words) = (head >> 16, (head >> 6) as u16 & 0x3ff, (head & 0x3f) as usize);
            let damage = |name| Damage { name, offset, kind, words };
            let end = offset + 8 + 8 * words;
            let Some(payload) = bytes.get(here + 8..end - from) else {
                return match end {
                    _ if end > CHUNK_SIZE => Some(Step::End(Some(damage("record-beyond-chunk")))),
                    _ if goes_on => None,
                    _ => Some(Step::End(Some(damage("file-truncated")))),
                };
            };
            if kind == 0 {
                return Some(Step::End(Some(damage("record-of-no-kind"))));
            }
            self.at = end;
            if kind == number::text {
                self.text.extend_from_slice(payload);
                continue;
            }
            let needed = match Payload::words(kind) {
                Some(needed) => needed,
                None => {
                    self.text.clear();
                    return Some(Step::Skipped(damage("unknown-kind")));
                }
            };
            if needed > words {
                self.text.clear();
                return Some(Step::Skipped(damage("short-record")));
            }
            let ticks = self.base_ticks.wrapping_add(delta);
            let mut fields = Fields::new(payload, &self.text, texts);
            let event = Payload::read(kind, &mut fields);
            let missing = fields.texts_missing;
            if !self.text.is_empty() {
                self.text.clear();
            }
            return Some(match event {
                Some(_) if missing => Step::Skipped(damage("text-missing")),
                Some(payload) => Step::Event(ticks, payload),
                None => Step::Skipped(damage("unknown-kind")),
            });
        }
    }
}

/// Finds the clock readings among the records of a chunk, which are needed before any event can get its time.
pub(crate) fn scan_clock_syncs(chunk: &[u8], base_ticks: u64, found: &mut Vec<Sync>) {
    let mut at = CHUNK_HEADER_SIZE;
    loop {
        let head = u64_at(chunk, at);
        let (delta, kind, words) = (head >> 16, (head >> 6) as u16 & 0x3ff, (head & 0x3f) as usize);
        let end = at + 8 + 8 * words;
        if kind == 0 || end > chunk.len() {
            return;
        }
        if kind == number::clock_sync && words >= 3 {
            found.push(Sync {
                ticks: base_ticks.wrapping_add(delta),
                monotonic_ns: u64_at(chunk, at + 8) as i64,
                realtime_ns: u64_at(chunk, at + 16) as i64,
                bound_ns: u64_at(chunk, at + 24),
            });
        }
        at = end;
    }
}
