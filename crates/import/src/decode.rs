//! Decodes bytes into words and spans, by plan or by walking. Does no I/O and never panics, whatever the bytes.

use crate::kinds::WORDS;
use crate::layout::{
    span, word, Bits, Body, EventClass, Header, HeaderField, Length, Load, Node, Plan, Sink, StreamLayout,
};

/// Bytes of one packet, or the part of it that is in memory.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub bytes: &'a [u8],
    /// Bit of `bytes` at which the packet starts, from which alignment counts. Negative if it starts before them.
    pub origin: i64,
    /// End of the readable bits of `bytes`.
    pub limit: u64,
}

/// The decoded values.
#[derive(Debug, Clone)]
pub(crate) struct Captured {
    pub words: [u64; word::ROOM],
    pub spans: [(usize, usize); span::COUNT],
    /// Bit `w` is set if word `w` was read. Only walking sets it.
    pub seen: u32,
    /// Values of all integers, for tags and lengths.
    pub slots: Vec<u64>,
}

/// Why decoding stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The next field exceeds the limit.
    Beyond,
    /// A tag selects none of its variant's options.
    NoOption(u64),
}

impl Captured {
    pub fn new(slots: usize) -> Self {
        Captured { words: [0; word::ROOM], spans: [(0, 0); span::COUNT], seen: 0, slots: vec![0; slots] }
    }

    /// A word that walking may have read.
    pub fn get(&self, word: u8) -> Option<u64> {
        (self.seen >> word & 1 == 1).then(|| self.words[word as usize])
    }
}

/// An event's header.
pub(crate) struct EventHead {
    pub id: u64,
    /// Time as written, and its number of bits.
    pub time: Option<(u64, u32)>,
    /// Bit at which the contexts begin.
    pub end: u64,
}

/// Reads an event's header at bit `at`.
#[inline(always)]
pub(crate) fn head(header: &Header, input: Input<'_>, at: u64, captured: &mut Captured) -> Result<EventHead, Fault> {
    match header {
        Header::Large => {
            let bytes = rest(input, at)?;
            let (id, low) = (number::<2>(bytes, 0)?, number::<4>(bytes, 2)?);
            let (id, time, size) = match id {
                0xffff => (number::<4>(bytes, 2)?, (number::<8>(bytes, 6)?, 64), 14),
                id => (id, (low, 32), 6),
            };
            Ok(EventHead { id, time: Some(time), end: at + 8 * size })
        }
        Header::Compact => {
            let bytes = rest(input, at)?;
            let word = number::<4>(bytes, 0)?;
            let (id, time, size) = match word & 31 {
                31 => (number::<4>(bytes, 1)?, (number::<8>(bytes, 5)?, 64), 13),
                id => (id, (word >> 5, 27), 4),
            };
            Ok(EventHead { id, time: Some(time), end: at + 8 * size })
        }
        Header::Direct { tag, alternatives } => {
            let at = (at / 8) as usize;
            let bytes = input.bytes.get(at..).ok_or(Fault::Beyond)?;
            let value = tag.map_or(0, |tag| field(bytes, tag));
            let chosen = alternatives.iter().find(|a| a.first <= value && value <= a.last);
            let Some(chosen) = chosen else {
                // A tag beyond the limit selects nothing.
                let whole = (at as u64 + tag.map_or(0, |t| t.byte as u64 + 8)) * 8 <= input.limit;
                return Err(if whole { Fault::NoOption(value) } else { Fault::Beyond });
            };
            let end = (at + chosen.bytes) as u64 * 8;
            if end > input.limit {
                return Err(Fault::Beyond);
            }
            let id = chosen.id.map_or(value, |id| field(bytes, id));
            Ok(EventHead { id, time: chosen.time.map(|time| (field(bytes, time), time.bits)), end })
        }
        Header::Walk(node) => {
            captured.seen = 0;
            let end = walk(node, input, at, captured)?;
            let time = captured.get(word::TIME).map(|time| (time, captured.words[word::TIME_BITS as usize] as u32));
            Ok(EventHead { id: captured.get(word::EVENT_ID).unwrap_or(0), time, end })
        }
        Header::None => Ok(EventHead { id: 0, time: None, end: at }),
    }
}

/// Bytes from bit `at` to the limit.
#[inline(always)]
fn rest(input: Input<'_>, at: u64) -> Result<&[u8], Fault> {
    input.bytes.get((at / 8) as usize..(input.limit / 8) as usize).ok_or(Fault::Beyond)
}

/// The little-endian number of `SIZE` bytes at `at`.
#[inline(always)]
fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> Result<u64, Fault> {
    let own = bytes.get(at..at + SIZE).ok_or(Fault::Beyond)?;
    let mut word = [0; 8];
    word[..SIZE].copy_from_slice(own);
    Ok(u64::from_le_bytes(word))
}

/// Reads an event's contexts and fields at bit `at`; returns the bit after them.
#[inline(always)]
pub(crate) fn body(class: &EventClass, input: Input<'_>, at: u64, captured: &mut Captured) -> Result<u64, Fault> {
    match &class.body {
        Body::Plan(plan) => run(plan, input, at, captured),
        Body::Walk(nodes) => {
            captured.seen = 0;
            captured.words[..WORDS].fill(0);
            nodes.iter().try_fold(at, |at, node| walk(node, input, at, captured))
        }
    }
}

/// Start of the next event's header, given the end of the previous event.
pub(crate) fn aligned(layout: &StreamLayout, input: Input<'_>, at: u64) -> u64 {
    align(input, at, layout.event_align)
}

#[inline(always)]
fn run(plan: &Plan, input: Input<'_>, at: u64, captured: &mut Captured) -> Result<u64, Fault> {
    let limit = (input.limit / 8) as usize;
    let mut at = at.div_ceil(8) as usize;
    for segment in &plan.segments {
        let end = at + segment.bytes;
        if end > limit {
            return Err(Fault::Beyond);
        }
        // If eight bytes follow the last field, each field is read as eight bytes and masked.
        if let Some(bytes) = input.bytes.get(at..end + 8) {
            for load in &segment.loads {
                if let Some(raw) = bytes.get(load.at as usize..).and_then(<[u8]>::first_chunk) {
                    captured.words[load.word as usize % word::ROOM] = value(*raw, load);
                }
            }
        } else {
            let bytes = input.bytes.get(at..end).ok_or(Fault::Beyond)?;
            for load in &segment.loads {
                let rest = bytes.get(load.at as usize..).unwrap_or_default();
                let (mut raw, length) = ([0; 8], rest.len().min(8));
                raw[..length].copy_from_slice(&rest[..length]);
                captured.words[load.word as usize % word::ROOM] = value(raw, load);
            }
        }
        for (offset, length, span) in &segment.spans {
            let start = at + *offset as usize;
            captured.spans[*span as usize % span::COUNT] = (start, start + *length as usize);
        }
        at = end;
        if let Some(sink) = segment.text {
            let rest = input.bytes.get(at..limit).ok_or(Fault::Beyond)?;
            let length = memchr::memchr(0, rest).ok_or(Fault::Beyond)?;
            if let Sink::Span(span) = sink {
                captured.spans[span as usize] = (at, at + length);
            }
            at += length + 1;
        }
    }
    Ok(at as u64 * 8)
}

/// The integer that the bytes begin with.
#[inline(always)]
fn value(raw: [u8; 8], load: &Load) -> u64 {
    ((u64::from_le_bytes(raw) & load.mask) ^ load.sign).wrapping_sub(load.sign)
}

/// The process's name in the event that was read last, whose contexts begin at bit `at`.
pub(crate) fn process_name<'a>(class: &EventClass, input: Input<'a>, at: u64, captured: &Captured) -> &'a [u8] {
    let (start, end) = match &class.body {
        Body::Plan(Plan { process_name: Some((offset, length)), .. }) => {
            let start = at.div_ceil(8) as usize + offset;
            (start, start + length)
        }
        Body::Plan(_) => return &[],
        Body::Walk(_) => captured.spans[span::PROCESS_NAME as usize],
    };
    input.bytes.get(start..end).unwrap_or_default()
}

#[inline(always)]
fn field(bytes: &[u8], field: HeaderField) -> u64 {
    let rest = bytes.get(field.byte..).unwrap_or_default();
    let raw = match rest.first_chunk::<8>() {
        Some(raw) => *raw,
        None => {
            let mut raw = [0; 8];
            raw[..rest.len()].copy_from_slice(rest);
            raw
        }
    };
    if field.big {
        u64::from_be_bytes(raw) << field.shift >> (64 - field.bits)
    } else {
        u64::from_le_bytes(raw) >> field.shift & (u64::MAX >> (64 - field.bits))
    }
}

/// The first bit from `at` on that is aligned within the packet.
fn align(input: Input<'_>, at: u64, align: u32) -> u64 {
    let within = (at as i64).wrapping_sub(input.origin) as u64;
    at.saturating_add(within.wrapping_neg() % u64::from(align))
}

/// Reads a node at bit `at`; returns the bit after it.
pub(crate) fn walk(node: &Node, input: Input<'_>, at: u64, captured: &mut Captured) -> Result<u64, Fault> {
    let at = align(input, at, node.align());
    if at > input.limit {
        return Err(Fault::Beyond);
    }
    match node {
        Node::Integer(of) => integer(of, input, at, captured),
        Node::Text { sink } => {
            let (start, limit) = ((at / 8) as usize, (input.limit / 8) as usize);
            let rest = input.bytes.get(start..limit).ok_or(Fault::Beyond)?;
            let length = memchr::memchr(0, rest).ok_or(Fault::Beyond)?;
            capture(*sink, input.bytes, start, start + length, captured);
            Ok((start + length + 1) as u64 * 8)
        }
        Node::Structure { members, .. } => members.iter().try_fold(at, |at, member| walk(member, input, at, captured)),
        Node::Variant { tag, choices, options } => {
            let value = captured.slots.get(*tag as usize).copied().unwrap_or(0);
            // A negative tag was sign-extended to 64 bits when it was stored.
            let (unsigned, signed) = (i128::from(value), i128::from(value as i64));
            let chosen = choices
                .iter()
                .find(|(first, last, _)| (*first..=*last).contains(&unsigned) || (*first..=*last).contains(&signed));
            let (.., option) = chosen.ok_or(Fault::NoOption(value))?;
            walk(options.get(*option).ok_or(Fault::NoOption(value))?, input, at, captured)
        }
        Node::Array { of, length, sink, .. } => {
            let length = match length {
                Length::Fixed(length) => *length,
                Length::Slot(slot) => captured.slots.get(*slot as usize).copied().unwrap_or(0),
            };
            elements(of, length, *sink, input, at, captured)
        }
    }
}

fn elements(
    of: &Node,
    length: u64,
    sink: Sink,
    input: Input<'_>,
    at: u64,
    captured: &mut Captured,
) -> Result<u64, Fault> {
    if let Node::Integer(Bits { bits, align: 1 | 8, .. }) = of {
        if at.is_multiple_of(8) && bits % 8 == 0 {
            let bits = length.checked_mul((*bits).into()).ok_or(Fault::Beyond)?;
            let end = at.checked_add(bits).filter(|end| *end <= input.limit).ok_or(Fault::Beyond)?;
            capture(sink, input.bytes, (at / 8) as usize, (end / 8) as usize, captured);
            return Ok(end);
        }
    }
    let mut at = at;
    for _ in 0..length {
        let end = walk(of, input, at, captured)?;
        // Elements without size are all equal, however many the length claims.
        if end == at {
            break;
        }
        at = end;
    }
    Ok(at)
}

fn integer(of: &Bits, input: Input<'_>, at: u64, captured: &mut Captured) -> Result<u64, Fault> {
    let end = at + u64::from(of.bits);
    if end > input.limit {
        return Err(Fault::Beyond);
    }
    let (first, last) = ((at / 8) as usize, end.div_ceil(8) as usize);
    let bytes = input.bytes.get(first..last).ok_or(Fault::Beyond)?;
    // 64 bits that do not begin at a byte take nine bytes.
    let (mut raw, skipped) = (0u128, (at % 8) as u32);
    if of.big {
        bytes.iter().for_each(|b| raw = raw << 8 | u128::from(*b));
        raw >>= 8 * bytes.len() as u32 - skipped - of.bits;
    } else {
        bytes.iter().rev().for_each(|b| raw = raw << 8 | u128::from(*b));
        raw >>= skipped;
    }
    let unused = 64 - of.bits;
    let shifted = (raw as u64) << unused;
    let value = if of.signed { (shifted as i64 >> unused) as u64 } else { shifted >> unused };
    if let Some(slot) = captured.slots.get_mut(of.slot as usize) {
        *slot = value;
    }
    if let Sink::Word(word) = of.sink {
        captured.words[word as usize] = value;
        captured.seen |= 1 << word;
        let size = match word {
            word::TIME => word::TIME_BITS,
            word::DISCARDED => word::DISCARDED_BITS,
            _ => return Ok(end),
        };
        captured.words[size as usize] = of.bits.into();
    }
    Ok(end)
}

fn capture(sink: Sink, bytes: &[u8], start: usize, end: usize, captured: &mut Captured) {
    match sink {
        Sink::Span(span) => captured.spans[span as usize] = (start, end),
        Sink::Gid(word) => {
            let gid = bytes.get(start..end).unwrap_or_default();
            let half = |at: usize| {
                gid.get(at..).unwrap_or_default().iter().take(8).rev().fold(0, |word, b| word << 8 | u64::from(*b))
            };
            captured.words[word as usize] = half(0);
            captured.words[word as usize + 1] = half(8);
        }
        Sink::Word(_) | Sink::Nowhere => {}
    }
}
