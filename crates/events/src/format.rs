//! The formats of records: how many bytes a record has, and how its words lie in it. It does no I/O.
//!
//! Files that begin with `TACHOEV1` have words of 8 bytes. In later ones, digits state how each word of a kind lies:
//! `TACHOEV2` has those of [`crate::older_widths`], `TACHOEV3` those of `native/include/tacho/widths.h`. Only the last
//! is written.

use crate::layout::{u32_at, u64_at};
use crate::number;
use crate::older_widths;
use std::sync::Arc;

/// Ticks that a head counts, `TACHO_TICKS_BITS`.
pub(crate) const TICKS_BITS: u32 = 24;
/// Ticks that a `TACHO_TIME` record and a head count, `TACHO_TIME_BITS`.
pub(crate) const TIME_BITS: u32 = 48;
/// Numbers that gids may have in a chunk, `TACHO_GIDS`.
pub(crate) const GIDS: usize = 256;
/// Words of 8 bytes, as in [`number::WIDTHS`]; no kind has more than 16.
pub(crate) const EIGHT: u64 = 0x8888_8888_8888_8888;
/// The digit of a pointer to what its event makes.
pub(crate) const MADE: u64 = 0xa;
/// The digits of a gid that has a number.
pub(crate) const NUMBERED: u64 = 0xb;
pub(crate) const SECOND: u64 = 0xc;
/// The payload's first 4 bytes state its size, `TACHO_ANY_SIZE`.
const ANY_SIZE: u8 = 15;
/// The bytes of a word by its digit: 1 to 8; pointers have 4, or 6 where they are made; a gid's number 1.
const BYTES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 4, 6, 1, 0, 0, 0, 0];
const MASKS: [u64; 16] = {
    let (mut masks, mut digit) = ([0; 16], 1);
    while digit < 12 {
        masks[digit] = u64::MAX >> (64 - 8 * BYTES[digit] as u32);
        digit += 1;
    }
    masks
};
/// The digit of a word that is 1 and takes no bytes.
const ONE: usize = 15;
/// Of a handle, `TACHOEV3` keeps these bits in most events.
const HANDLE_BITS: u64 = 0xffff_ffff;

/// How the records of a kind lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// Size of the payload, in 4 bytes; [`ANY_SIZE`].
    units: u8,
    part: Part,
    /// Bytes that the words take.
    bytes: u8,
    /// The kind of which this is the short form; otherwise the kind itself.
    whole: u16,
    /// How its words lie, one digit a word, as in [`number::WIDTHS`].
    widths: u64,
}

/// What a record is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Event,
    Text,
    Time,
    Gid,
}

/// Forms of the kinds from 0 to 255.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forms([Form; 256]);

/// The format of the records of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// `TACHOEV1`: words of 8 bytes.
    Words,
    /// `TACHOEV2`: words as wide as their kind needs, with the sizes that the file states.
    Compact(Arc<Forms>),
    /// `TACHOEV3`: pointers of 4 bytes, gids by numbers, short forms.
    Short(Arc<Forms>),
}

impl Default for Format {
    /// The format that this release writes.
    fn default() -> Self {
        let mut sizes: [u8; 256] = number::WIDTHS.map(|widths| bytes_of(widths).div_ceil(4) as u8);
        sizes[usize::from(number::gid)] = 5;
        sizes[usize::from(number::text)] = ANY_SIZE;
        sizes[usize::from(number::wide)] = ANY_SIZE;
        Format::Short(Arc::new(forms(&sizes, &number::WIDTHS, true)))
    }
}

/// Returns the forms of kinds with these sizes and widths. `is_short`: of the newest format.
fn forms(sizes: &[u8; 256], widths: &[u64; 256], is_short: bool) -> Forms {
    let mut forms: [Form; 256] = std::array::from_fn(|kind| Form {
        units: sizes[kind],
        part: match kind as u16 {
            number::text => Part::Text,
            number::time => Part::Time,
            number::gid if is_short => Part::Gid,
            _ => Part::Event,
        },
        bytes: bytes_of(widths[kind]) as u8,
        whole: kind as u16,
        widths: widths[kind],
    });
    if is_short {
        for (kind, short) in number::SHORT.iter().enumerate().filter(|(_, short)| **short != 0) {
            forms[usize::from(*short)].whole = kind as u16;
        }
    }
    Forms(forms)
}

/// A record as it lies in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Kind of its event, whatever the form of the record.
    pub kind: u16,
    pub part: Part,
    /// Ticks after the present base.
    pub delta: u64,
    /// Where its payload begins, from the beginning of the record.
    pub payload: usize,
    /// Where it ends.
    pub end: usize,
    /// How its words lie, if it is an event.
    pub widths: u64,
    /// Bytes that its words take; unknown if they are of 8 bytes.
    pub bytes: usize,
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
        let sizes = std::array::from_fn(|kind| sizes[kind / 2] >> (kind % 2 * 4) & 15);
        match magic {
            b"TACHOEV1" => Some(Format::Words),
            b"TACHOEV2" => Some(Format::Compact(Arc::new(forms(&sizes, &older_widths::widths(), false)))),
            b"TACHOEV3" => Some(Format::Short(Arc::new(forms(&sizes, &number::WIDTHS, true)))),
            _ => None,
        }
    }

    pub(crate) fn magic(&self) -> &'static [u8; 8] {
        match self {
            Format::Words => b"TACHOEV1",
            Format::Compact(_) => b"TACHOEV2",
            Format::Short(_) => b"TACHOEV3",
        }
    }

    /// Returns the sizes as the header has them.
    pub(crate) fn sizes(&self) -> [u8; 128] {
        match self {
            Format::Words => [0; 128],
            Format::Compact(forms) | Format::Short(forms) => {
                std::array::from_fn(|pair| forms.0[2 * pair].units | forms.0[2 * pair + 1].units << 4)
            }
        }
    }

    /// Bytes of a head.
    pub(crate) fn head_bytes(&self) -> usize {
        match self {
            Format::Words => 8,
            Format::Compact(_) | Format::Short(_) => 4,
        }
    }

    /// The bits of a handle that all events have.
    pub(crate) fn handle_bits(&self) -> u64 {
        match self {
            Format::Words | Format::Compact(_) => u64::MAX,
            Format::Short(_) => HANDLE_BITS,
        }
    }

    /// Returns the ticks from those of the chunk to what a record of a time says.
    pub(crate) fn since(&self, head: &Head, payload: &[u8]) -> u64 {
        match self {
            Format::Words | Format::Compact(_) => u64::from(u32_at(payload, 0)) << TICKS_BITS | head.delta,
            Format::Short(_) => head.delta << TICKS_BITS,
        }
    }

    /// Reads the head of the record at the beginning of `bytes`.
    #[inline(always)]
    pub(crate) fn head(&self, bytes: &[u8]) -> Result<Head, NoHead> {
        match self {
            Format::Words => {
                let head = u64_at(bytes, 0);
                let (kind, words) = ((head >> 6) as u16 & 0x3ff, (head & 0x3f) as usize);
                let part = if kind == number::text { Part::Text } else { Part::Event };
                let end = 8 + 8 * words;
                let head_of = Head { kind, part, delta: head >> 16, payload: 8, end, widths: EIGHT, bytes: 0 };
                if head == 0 {
                    Err(NoHead::End)
                } else {
                    Ok(head_of)
                }
            }
            Format::Compact(forms) | Format::Short(forms) => {
                let head = u32_at(bytes, 0);
                if head == 0 {
                    return Err(NoHead::End);
                }
                let (kind, delta) = (head as u8, u64::from(head >> 8));
                let form = &forms.0[usize::from(kind)];
                let mut found = Head {
                    kind: form.whole,
                    part: form.part,
                    delta,
                    payload: 4,
                    end: 4 + 4 * usize::from(form.units),
                    widths: form.widths,
                    bytes: form.bytes.into(),
                };
                if form.units == ANY_SIZE {
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

/// Returns the bytes that words with these digits take.
#[inline]
pub(crate) const fn bytes_of(mut widths: u64) -> usize {
    let mut bytes = 0;
    while widths != 0 {
        bytes += BYTES[(widths >> 60) as usize] as usize;
        widths <<= 4;
    }
    bytes
}

/// Returns the bytes of a word by its digit.
#[inline(always)]
pub(crate) fn width(digit: usize) -> usize {
    BYTES[digit & 15].into()
}

/// Reads a word with this digit at the beginning of `bytes`.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], digit: usize) -> u64 {
    let all = match bytes.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => last_word(bytes),
    };
    all & MASKS[digit & 15] | u64::from(digit == ONE)
}

#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Returns the kind of the record in which an event is written, and its digits; `None`: a word does not fit, so its
/// record is wide.
pub(crate) fn form_of(kind: u16, words: &[u64]) -> Option<(u16, u64)> {
    let short = u16::from(*number::SHORT.get(usize::from(kind))?);
    let fits = |kind: u16| widths_of(kind, words).map(|widths| (kind, widths));
    Some(short).filter(|short| *short != 0).and_then(fits).or_else(|| fits(kind))
}

/// Returns the digits of a kind if these words fit them.
fn widths_of(kind: u16, words: &[u64]) -> Option<u64> {
    let widths = number::WIDTHS[usize::from(kind)];
    let listed = 16 - widths.trailing_zeros() as usize / 4;
    let fits = |(i, word): (usize, &u64)| match widths << (4 * i) >> 60 {
        0xe => *word == 0,
        0xf => *word == 1,
        // A pointer is cut, and a gid gets a number.
        8 | 9 | NUMBERED | SECOND => true,
        digit => word & !MASKS[digit as usize] == 0,
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
        let Format::Short(forms) = ours else { panic!("the format that is written") };
        let units = |kind: u16| forms.0[usize::from(kind)].units;
        assert_eq!(units(number::rcl_publish), 2, "two pointers of 4 bytes");
        assert_eq!(units(number::callback_start), 2, "a pointer, a bool and 3 bytes that fill up");
        assert_eq!(units(number::short_callback_start), 1, "the bool is 0 and takes no byte");
        assert!(forms.0.iter().all(|form| form.units <= ANY_SIZE));
    }

    #[test]
    fn words_are_as_wide_as_their_kind_has_them_or_the_record_is_wide() {
        assert_eq!(form_of(number::rcl_publish, &[1, u64::MAX]), Some((number::rcl_publish, 0x99 << 56)));
        assert_eq!(form_of(number::rcl_publish, &[1]), None, "too few words");
        assert_eq!(form_of(number::rcl_init, &[1 << 47]), Some((number::rcl_init, 0xa << 60)));
        assert_eq!(form_of(number::rcl_init, &[1 << 48]), None, "more than 6 bytes");
        assert_eq!(form_of(number::callback_start, &[1, 0]), Some((number::short_callback_start, 0x9e << 56)));
        assert_eq!(form_of(number::callback_start, &[1, 1]), Some((number::callback_start, 0x91 << 56)));
        assert_eq!(form_of(number::rmw_take, &[1, 2, 3, 256]), None, "a bool of two bytes");
        let timeout = form_of(number::rclcpp_executor_wait_for_work, &[u64::MAX]);
        assert_eq!(timeout, Some((number::rclcpp_executor_wait_for_work, 8 << 60)));
        let ready = number::rclcpp_executor_get_next_ready;
        assert_eq!(form_of(ready, &[]), Some((ready, 0)));
        assert_eq!(form_of(1000, &[]), None, "no kind that a head can state");
        assert_eq!(
            [(2, 0x201), (1, 0x01), (8, 0x0807_0605_0403_0201), (9, 0x0403_0201), (0xe, 0), (0xf, 1), (0, 0)]
                .map(|(digit, word_of)| (word(&[1, 2, 3, 4, 5, 6, 7, 8, 9], digit), word_of))
                .iter()
                .find(|(found, expected)| found != expected),
            None
        );
    }
}
