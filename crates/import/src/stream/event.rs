//! Reads one event of any form.

use super::shared::Shared;
use crate::decode::{body, head, Captured, Fault, Input};
use crate::kinds::{payload, Kind, Listed, TEXTS, WORDS};
use crate::layout::{word, EventClass, StreamLayout};
use std::collections::VecDeque;
use tacho_events::{Event, Payload, ProcessIndex, Text};

/// LTTng 2.13 writes this for a null pointer, such as the symbol of a function that its program does not export.
const NO_TEXT: &[u8] = b"(null)";

/// Most pairs that one link annotation may make; no node has as many topics.
const PAIRS_MAX: usize = 1 << 16;

pub(super) enum Damage {
    UnknownEvent(u64),
    /// An event that takes no bits, of which a packet would hold infinitely many.
    NoSize,
    Decoding(Fault),
}

/// An event that was read.
pub(super) struct Read<'a> {
    pub class: &'a EventClass,
    pub ticks: u64,
    /// Bit at which its contexts begin, and bit at which it ends.
    pub contexts: u64,
    pub end: u64,
}

/// Reads the event at bit `at`.
#[inline(always)]
pub(super) fn event<'a>(
    layout: &'a StreamLayout,
    input: Input<'_>,
    at: u64,
    ticks: u64,
    captured: &mut Captured,
) -> Result<Read<'a>, Damage> {
    let head = head(&layout.event_header, input, at, captured).map_err(Damage::Decoding)?;
    let class = layout.class(head.id).ok_or(Damage::UnknownEvent(head.id))?;
    let end = body(class, input, head.end, captured).map_err(Damage::Decoding)?;
    if end <= at {
        return Err(Damage::NoSize);
    }
    let ticks = head.time.map_or(ticks, |(low, bits)| time_of(ticks, low, bits));
    Ok(Read { class, ticks, contexts: head.end, end })
}

/// Completes a time of which only the low bits are written; it lies at or after the previous time. CTF 1.8, section 8.
#[inline(always)]
pub(super) fn time_of(before: u64, low: u64, bits: u32) -> u64 {
    if bits >= 64 {
        return low;
    }
    let mask = (1u64 << bits) - 1;
    let time = before & !mask | low & mask;
    if time < before {
        time.wrapping_add(mask + 1)
    } else {
        time
    }
}

/// Writes the payload of an event; false if it is a repetition by CARET.
#[inline(always)]
pub(super) fn understood(
    class: &EventClass,
    number: u16,
    process: ProcessIndex,
    captured: &Captured,
    input: Input<'_>,
    shared: &mut Shared,
    into: &mut Payload,
) -> bool {
    let words = &captured.words[..WORDS];
    let mut texts = [Text::EMPTY; TEXTS];
    if class.texts > 0 {
        for (text, (start, end)) in texts.iter_mut().zip(captured.spans).take(class.texts) {
            let bytes = input.bytes.get(start..end).unwrap_or_default();
            *text = match &bytes[..memchr::memchr(0, bytes).unwrap_or(bytes.len())] {
                NO_TEXT => Text::EMPTY,
                bytes => shared.names.intern(bytes),
            };
        }
    }
    if class.initialises {
        if let Some(initialised) = &mut shared.initialised {
            // All of its words count, because a subscription has two objects if it also takes messages within its
            // process. An address whose entity is gone may go to another entity, which is created later.
            let mut said = (process, number, [0; WORDS]);
            said.2[..class.words].copy_from_slice(&words[..class.words]);
            if class.by_caret && initialised.contains(&said) {
                return false;
            }
            said.2[usize::from(word::SINCE)] = words[usize::from(word::SINCE)];
            if !initialised.insert(said) && class.by_caret {
                return false;
            }
        }
    }
    payload(number, Listed { words: words.iter(), texts: texts.iter() }, into)
}

/// Makes one record for each pair of the two arrays of handles that were read last.
pub(super) fn pairs(
    kind: &Kind,
    captured: &Captured,
    input: Input<'_>,
    big: bool,
    event: Event,
    into: &mut VecDeque<Event>,
) {
    let handles = |span: usize| {
        let (start, end) = captured.spans[span];
        let words = input.bytes.get(start..end).unwrap_or_default().chunks_exact(8);
        words.map(move |word| {
            let word = word.first_chunk().copied().unwrap_or_default();
            if big {
                u64::from_be_bytes(word)
            } else {
                u64::from_le_bytes(word)
            }
        })
    };
    for subscription in handles(0) {
        for publisher in handles(1) {
            if into.len() == PAIRS_MAX {
                return;
            }
            let mut event = event;
            if payload(
                kind.number,
                Listed { words: [subscription, publisher].iter(), texts: [].iter() },
                &mut event.payload,
            ) {
                into.push_back(event);
            }
        }
    }
}
