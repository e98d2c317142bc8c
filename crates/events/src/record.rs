//! Decodes the records of one chunk into events. It never panics, whatever the bytes.

use crate::format::{width, word, Format, Head, NoHead, Part, EIGHT, GIDS, MADE, NUMBERED, SECOND};
use crate::layout::{u32_at, u64_at, ChunkHeader, Sync, CHUNK_HEADER_SIZE, CHUNK_SIZE};
use crate::number;
use crate::payload::{Fields, Payload};
use crate::text::Texts;

/// A position among the records of a chunk. It holds no bytes: the caller passes them each time.
#[derive(Debug, Clone)]
pub struct Records {
    format: Format,
    at: usize,
    chunk_ticks: u64,
    /// From which heads count.
    base_ticks: u64,
    /// The bits of handles that all events have.
    handle_bits: u64,
    gids: Gids,
}

/// Gids of a chunk by their numbers, as far as they were named.
pub(crate) type Gids = Vec<Option<[u64; 2]>>;

/// A record of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Kind.
    pub kind: u16,
    /// When, in ticks.
    pub ticks: u64,
    /// Bytes of its payload.
    pub payload: &'a [u8],
    /// The same, and what follows it in memory.
    rest: &'a [u8],
    widths: u64,
    /// Bytes that its words take; unknown if they are of 8 bytes.
    bytes: usize,
    part: Part,
}

impl Record<'_> {
    /// Returns whether it is the text of the next event.
    pub fn is_text(&self) -> bool {
        self.part == Part::Text
    }
}

/// The next thing among the records of a chunk.
enum Next<'a> {
    Record(Record<'a>, usize),
    End(Option<Damage>),
    /// It reaches beyond the bytes in memory, while the chunk continues.
    More,
}

/// The state of decoding a chunk into events.
#[derive(Debug, Clone)]
pub struct Cursor {
    records: Records,
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
    /// Bytes of payload that it claims.
    pub bytes: usize,
}

impl Records {
    /// Before the first record of a chunk.
    pub fn new(format: &Format, base_ticks: u64) -> Self {
        Records {
            format: format.clone(),
            handle_bits: format.handle_bits(),
            at: CHUNK_HEADER_SIZE,
            chunk_ticks: base_ticks,
            base_ticks,
            gids: Gids::new(),
        }
    }

    /// Begins another chunk.
    fn restart(&mut self, base_ticks: u64) {
        (self.at, self.chunk_ticks, self.base_ticks) = (CHUNK_HEADER_SIZE, base_ticks, base_ticks);
        self.gids.clear();
    }

    /// Offset of the next record in its chunk.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The gids that have numbers here.
    pub(crate) fn gids(&self) -> &Gids {
        &self.gids
    }

    pub(crate) fn handle_bits(&self) -> u64 {
        self.handle_bits
    }

    /// Returns the words of the event that was read last: all that are there, or as many as its kind has.
    pub fn words(&self, record: &Record) -> Vec<u64> {
        if record.widths == EIGHT {
            return record.payload.chunks_exact(8).map(|bytes| word(bytes, 8)).collect();
        }
        let digits = (0..16).map(|i| (record.widths << (4 * i) >> 60) as usize).take_while(|digit| *digit > 0);
        let (mut at, mut words, mut second) = (0, Vec::new(), 0);
        for digit in digits {
            let read = word(record.payload.get(at..).unwrap_or_default(), digit);
            at += width(digit);
            match digit as u64 {
                NUMBERED => {
                    let gid = self.gids.get(read as usize).copied().flatten().unwrap_or_default();
                    words.push(gid[0]);
                    second = gid[1];
                }
                SECOND => words.push(second),
                _ => words.push(read),
            }
        }
        words
    }

    /// Returns the pointer to what this event makes, with all of its bytes; `None`: it makes nothing.
    pub(crate) fn made(&self, record: &Record) -> Option<u64> {
        (record.widths >> 60 == MADE).then(|| word(record.payload, MADE as usize))
    }

    /// Returns the next record of `chunk` that is an event or a text; `None`: there is no other that makes sense.
    pub fn next<'a>(&mut self, chunk: &'a [u8]) -> Option<Record<'a>> {
        match self.next_within(chunk, 0, false) {
            Next::Record(record, _) => Some(record),
            Next::End(_) | Next::More => None,
        }
    }

    /// Returns the next record with its offset; see [`Cursor::next_within`].
    #[inline(always)]
    fn next_within<'a>(&mut self, bytes: &'a [u8], from: usize, goes_on: bool) -> Next<'a> {
        loop {
            let offset = self.at;
            let rest = bytes.get(offset - from..).unwrap_or_default();
            let damage = |name, head: Head| Damage { name, offset, kind: head.kind, bytes: head.end - head.payload };
            let head = match self.format.head(rest) {
                Ok(head) => head,
                Err(NoHead::End) if goes_on && rest.len() < self.format.head_bytes() => return Next::More,
                Err(NoHead::End) => return Next::End(None),
                Err(NoHead::Cut) if goes_on => return Next::More,
                Err(NoHead::Cut) => {
                    return Next::End(Some(Damage {
                        name: "file-truncated",
                        offset,
                        kind: u16::from(rest[0]),
                        bytes: 0,
                    }))
                }
            };
            let Some(payload) = rest.get(head.payload..head.end) else {
                return match offset + head.end {
                    end if end > CHUNK_SIZE => Next::End(Some(damage("record-beyond-chunk", head))),
                    _ if goes_on => Next::More,
                    _ => Next::End(Some(damage("file-truncated", head))),
                };
            };
            if head.kind == 0 {
                return Next::End(Some(damage("record-of-no-kind", head)));
            }
            self.at = offset + head.end;
            match head.part {
                Part::Event | Part::Text => {}
                Part::Time => {
                    self.base_ticks = self.chunk_ticks.wrapping_add(self.format.since(&head, payload));
                    continue;
                }
                Part::Gid => {
                    self.name_gid(payload);
                    continue;
                }
            }
            let record = Record {
                kind: head.kind,
                ticks: self.base_ticks.wrapping_add(head.delta),
                payload,
                rest: &rest[head.payload..],
                widths: head.widths,
                bytes: head.bytes,
                part: head.part,
            };
            return Next::Record(record, offset);
        }
    }
}

impl Records {
    #[cold]
    fn name_gid(&mut self, payload: &[u8]) {
        let number = u32_at(payload, 0) as usize;
        if number < GIDS && payload.len() >= 20 {
            self.gids.resize(self.gids.len().max(number + 1), None);
            self.gids[number] = Some([u64_at(payload, 4), u64_at(payload, 12)]);
        }
    }
}

impl Cursor {
    /// Before the first record of a chunk.
    pub fn new(format: &Format, base_ticks: u64) -> Self {
        Cursor { records: Records::new(format, base_ticks), text: Vec::new() }
    }

    /// Its position.
    pub(crate) fn records(&self) -> &Records {
        &self.records
    }

    /// Begins another chunk. Text does not span chunks: it lies in the chunk of its event.
    pub fn restart(&mut self, base_ticks: u64) {
        self.records.restart(base_ticks);
        self.text.clear();
    }

    /// Offset of the next record in its chunk.
    pub fn offset(&self) -> usize {
        self.records.at
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
            let (record, offset) = match self.records.next_within(bytes, from, goes_on) {
                Next::Record(record, offset) => (record, offset),
                Next::End(damage) => return Some(Step::End(damage)),
                Next::More => return None,
            };
            let kind = record.kind;
            if record.is_text() {
                // One record has all texts of an event; in the oldest format they may be more.
                if self.records.format != Format::Words {
                    self.text.clear();
                }
                self.text.extend_from_slice(record.payload);
                continue;
            }
            let damage = |name| Damage { name, offset, kind, bytes: record.payload.len() };
            let Some(needed) = Payload::words(kind) else {
                self.text.clear();
                return Some(Step::Skipped(damage("unknown-kind")));
            };
            let needed = if record.widths == EIGHT { 8 * needed } else { record.bytes };
            if needed > record.payload.len() {
                self.text.clear();
                return Some(Step::Skipped(damage("short-record")));
            }
            let mut fields = Fields::new(record.rest, record.widths, &self.records, &self.text, texts);
            let event = Payload::read(kind, &mut fields);
            let (missing, nameless) = (fields.texts_missing, fields.gid_missing);
            if !self.text.is_empty() {
                self.text.clear();
            }
            return Some(match event {
                Some(_) if missing => Step::Skipped(damage("text-missing")),
                Some(_) if nameless => Step::Skipped(damage("gid-missing")),
                Some(payload) => Step::Event(record.ticks, payload),
                None => Step::Skipped(damage("unknown-kind")),
            });
        }
    }
}

/// Returns where the records of a chunk end, and the ticks of the last one: those of the chunk if there is none.
pub fn end_of_records(format: &Format, chunk: &[u8]) -> (usize, u64) {
    let base = ChunkHeader::read(chunk).ok().flatten().map_or(0, |header| header.base_ticks);
    let (mut records, mut last) = (Records::new(format, base), base);
    while let Some(record) = records.next(chunk) {
        last = record.ticks;
    }
    (records.at, last)
}

/// Finds the clock readings among the records of a chunk, which are needed before any event can get its time. Hands
/// each pointer to something that an event makes, whose later events have its lowest bytes, to `on_made` with the kind.
pub(crate) fn scan_clock_syncs(
    format: &Format,
    chunk: &[u8],
    base_ticks: u64,
    found: &mut Vec<Sync>,
    mut on_made: impl FnMut(u16, u64),
) {
    let mut records = Records::new(format, base_ticks);
    while let Some(record) = records.next(chunk) {
        if let Some(pointer) = records.made(&record) {
            on_made(record.kind, pointer);
        }
        if record.kind != number::clock_sync {
            continue;
        }
        if let [monotonic_ns, realtime_ns, bound_ns, ..] = records.words(&record)[..] {
            let (monotonic_ns, realtime_ns) = (monotonic_ns as i64, realtime_ns as i64);
            found.push(Sync { ticks: record.ticks, monotonic_ns, realtime_ns, bound_ns });
        }
    }
}
