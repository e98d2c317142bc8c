//! The two formats of records: how many bytes a record has, and how wide its words are. It does no I/O.
//!
//! Files that begin with `TACHOEV1` have words of 8 bytes. In files that begin with `TACHOEV2`, the width of a word
//! depends on its kind (`native/include/tacho/widths.h`). Only the latter are written.

use crate::layout::{u32_at, u64_at};
use crate::number;
use std::sync::Arc;

/// Ticks that a head counts, `TACHO_TICKS_BITS`.
pub(crate) const TICKS_BITS: u32 = 24;
/// Ticks that a `TACHO_TIME` record counts, `TACHO_TIME_BITS`.
pub(crate) const TIME_BITS: u32 = 56;
/// Words of 8 bytes, as in [`number::WIDTHS`]; no kind has more than 16.
pub(crate) const EIGHT: u64 = 0x8888_8888_8888_8888;
/// The payload's first 4 bytes state its size, `TACHO_ANY_SIZE`.
const ANY_SIZE: u8 = 15;

/// Size of the payload of each kind from 0 to 255, in 4 bytes.
type Sizes = [u8; 256];

/// The format of the records of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// `TACHOEV1`: words of 8 bytes.
    Words,
    /// `TACHOEV2`: words as wide as their kind needs; with the sizes that the file states.
    Compact(Arc<Sizes>),
}

impl Default for Format {
    /// The format that this release writes.
    fn default() -> Self {
        let mut sizes = [0; 256];
        for (size, widths) in sizes.iter_mut().zip(number::WIDTHS) {
            *size = bytes_of(widths).div_ceil(4) as u8;
        }
        sizes[usize::from(number::time)] = 1;
        sizes[usize::from(number::text)] = ANY_SIZE;
        sizes[usize::from(number::wide)] = ANY_SIZE;
        Format::Compact(Arc::new(sizes))
    }
}

/// A record as it lies in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Kind of its event, whatever the form of the record.
    pub kind: u16,
    /// Whether it belongs to the format: texts, times.
    pub is_event: bool,
    /// Ticks after the present base.
    pub delta: u64,
    /// Where its payload begins, from the beginning of the record.
    pub payload: usize,
    /// Where it ends.
    pub end: usize,
    /// Widths of its words, if it is an event.
    pub widths: u64,
}

/// Why there is no head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoHead {
    /// Zeros, or too few bytes: the chunk ends here.
    End,
    /// The size of the payload should follow the head, and the bytes end before it.
    Cut,
}

impl Format {
    pub(crate) fn read(magic: &[u8], sizes: &[u8; 128]) -> Option<Format> {
        match magic {
            b"TACHOEV1" => Some(Format::Words),
            b"TACHOEV2" => {
                Some(Format::Compact(Arc::new(std::array::from_fn(|kind| sizes[kind / 2] >> (kind % 2 * 4) & 15))))
            }
            _ => None,
        }
    }

    pub(crate) fn magic(&self) -> &'static [u8; 8] {
        match self {
            Format::Words => b"TACHOEV1",
            Format::Compact(_) => b"TACHOEV2",
        }
    }

    /// Returns the sizes as the header has them.
    pub(crate) fn sizes(&self) -> [u8; 128] {
        match self {
            Format::Words => [0; 128],
            Format::Compact(sizes) => std::array::from_fn(|pair| sizes[2 * pair] | sizes[2 * pair + 1] << 4),
        }
    }

    /// Bytes of a head.
    pub(crate) fn head_bytes(&self) -> usize {
        match self {
            Format::Words => 8,
            Format::Compact(_) => 4,
        }
    }

    /// Reads the head of the record at the beginning of `bytes`.
    #[inline(always)]
    pub(crate) fn head(&self, bytes: &[u8]) -> Result<Head, NoHead> {
        match self {
            Format::Words => {
                let head = u64_at(bytes, 0);
                let (kind, words) = ((head >> 6) as u16 & 0x3ff, (head & 0x3f) as usize);
                let is_event = kind != number::text;
                let head_of = Head { kind, is_event, delta: head >> 16, payload: 8, end: 8 + 8 * words, widths: EIGHT };
                if head == 0 {
                    Err(NoHead::End)
                } else {
                    Ok(head_of)
                }
            }
            Format::Compact(sizes) => {
                let head = u32_at(bytes, 0);
                if head == 0 {
                    return Err(NoHead::End);
                }
                let (kind, delta) = (head as u8, u64::from(head >> 8));
                let size = sizes[usize::from(kind)];
                let mut found = Head {
                    kind: kind.into(),
                    is_event: u16::from(kind) != number::text && u16::from(kind) != number::time,
                    delta,
                    payload: 4,
                    end: 4 + 4 * usize::from(size),
                    widths: number::WIDTHS[usize::from(kind)],
                };
                if size == ANY_SIZE {
                    if bytes.len() < 8 {
                        return Err(NoHead::Cut);
                    }
                    let first = u32_at(bytes, 4);
                    (found.payload, found.end) = (8, 8 + 4 * (first & 0xffff) as usize);
                    if u16::from(kind) == number::wide {
                        (found.kind, found.widths) = ((first >> 16) as u16, EIGHT);
                    }
                }
                Ok(found)
            }
        }
    }
}

/// Sum of all widths.
#[inline(always)]
pub(crate) fn bytes_of(widths: u64) -> usize {
    const NIBBLES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (widths & NIBBLES) + (widths >> 4 & NIBBLES);
    (pairs.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize
}

/// Reads a word of `width` bytes, at most 8, at the beginning of `bytes`.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], width: usize) -> u64 {
    let all = match bytes.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => last_word(bytes),
    };
    // A width of 0 is that of no word.
    all & u64::MAX.checked_shr(64 - 8 * width as u32).unwrap_or(0)
}

#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Returns the widths with which an event is written; `None`: a word does not fit, so its record is wide.
pub(crate) fn widths_of(kind: u16, words: &[u64]) -> Option<u64> {
    let widths = *number::WIDTHS.get(usize::from(kind))?;
    let listed = 16 - widths.trailing_zeros() as usize / 4;
    let fits = |(i, word): (usize, &u64)| match widths << (4 * i) >> 60 {
        8 => true,
        width => word >> (8 * width) == 0,
    };
    (listed == words.len() && words.iter().enumerate().all(fits)).then_some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_payloads_come_back_from_the_header() {
        let ours = Format::default();
        assert_eq!(Format::read(ours.magic(), &ours.sizes()), Some(ours.clone()));
        let Format::Compact(sizes) = ours else { panic!("the format that is written") };
        assert_eq!(sizes[usize::from(number::rcl_publish)], 3, "two pointers of 6 bytes");
        assert_eq!(sizes[usize::from(number::callback_start)], 2, "a pointer, a bool and a byte that fills up");
        assert!(sizes.iter().all(|size| *size <= ANY_SIZE));
    }

    #[test]
    fn words_are_as_wide_as_their_kind_has_them_or_the_record_is_wide() {
        assert_eq!(widths_of(number::rcl_publish, &[1, (1 << 48) - 1]), Some(0x66 << 56));
        assert_eq!(widths_of(number::rcl_publish, &[1, 1 << 48]), None, "more than 6 bytes");
        assert_eq!(widths_of(number::rcl_publish, &[1]), None, "too few words");
        assert_eq!(widths_of(number::rclcpp_executor_wait_for_work, &[u64::MAX]), Some(8 << 60));
        assert_eq!(widths_of(number::rclcpp_executor_get_next_ready, &[]), Some(0));
        assert_eq!(widths_of(1000, &[]), None, "no kind that a head can state");
        assert_eq!(
            (word(&[1, 2, 3], 2), word(&[0xff; 9], 1), word(&[0xff; 9], 8), word(&[0xff; 9], 0)),
            (0x201, 0xff, u64::MAX, 0)
        );
    }
}
