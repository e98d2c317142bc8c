//! Events of the usual form: LTTng's short header, then integers at fixed bytes, and no text. All but the first events
//! of a ROS system have this form. Each is read at once, without going through a [`Plan`](super::Plan) step by step.

use super::plan::{Load, Plan};
use super::{word, Header};
use crate::kinds::{Kind, WORDS};

/// Bytes that may be read from an event's first one on: as many as a [`Place`] reaches.
pub(crate) const SEEN: usize = 264;

/// How to read an event of the usual form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usual {
    /// Number of its kind.
    pub kind: u16,
    /// Its size in bytes, with its header.
    pub bytes: u16,
    /// Whether the event contains `pid`; if not, the trace is of one process.
    pub has_pid: bool,
    pub pid: Place,
    pub tid: Place,
    pub namespace: Place,
    pub words: [Place; WORDS],
}

/// Place of an integer, counted from the event's first byte, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    at: u8,
    size: u8,
}

/// Mask and sign of integers by their size: none, unsigned and then signed ones of 8, 16, 32 and 64 bits.
const SIZES: [(u64, u64); 16] = {
    let mut sizes = [(0, 0); 16];
    let mut index = 0;
    while index < 4 {
        let mask = u64::MAX >> (64 - (8 << index));
        sizes[index + 1] = (mask, 0);
        sizes[index + 5] = (mask, mask ^ mask >> 1);
        index += 1;
    }
    sizes
};

impl Place {
    /// The place of what the event does not have, which is 0.
    const ABSENT: Place = Place { at: 0, size: 0 };

    fn new(load: &Load, header: usize) -> Option<Place> {
        let size = SIZES.iter().position(|size| *size == (load.mask, load.sign))?;
        Some(Place { at: u8::try_from(load.at as usize + header).ok()?, size: size as u8 })
    }

    /// The integer, extended to 64 bits.
    #[inline(always)]
    pub fn read(self, event: &[u8; SEEN]) -> u64 {
        let (mask, sign) = SIZES[self.size as usize % SIZES.len()];
        let raw = event[self.at as usize..].first_chunk().map_or(0, |raw| u64::from_le_bytes(*raw));
        ((raw & mask) ^ sign).wrapping_sub(sign)
    }
}

impl Usual {
    /// Makes it; `None` if the events of number `id` and of this kind have another form.
    pub fn new(id: u64, kind: &Kind, header: &Header, plan: &Plan) -> Option<Usual> {
        let (header, extended) = match header {
            Header::Large => (6, 0xffff),
            Header::Compact => (4, 31),
            _ => return None,
        };
        let [segment] = &*plan.segments else { return None };
        let simple = segment.text.is_none() && segment.spans.is_empty() && kind.texts() == 0;
        if id >= extended || !simple || kind.of_kernel() || kind.of_pairs() || kind.repeated_by_caret() {
            return None;
        }
        let bytes = u8::try_from(header + segment.bytes).ok()?;
        let mut usual = Usual {
            kind: kind.number,
            bytes: bytes.into(),
            has_pid: plan.loads(word::PID),
            pid: Place::ABSENT,
            tid: Place::ABSENT,
            namespace: Place::ABSENT,
            words: [Place::ABSENT; WORDS],
        };
        for load in &segment.loads {
            let place = Place::new(load, header)?;
            match load.word {
                word::PID => usual.pid = place,
                word::TID => usual.tid = place,
                word::PID_NAMESPACE => usual.namespace = place,
                word => *usual.words.get_mut(word as usize)? = place,
            }
        }
        Some(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_cut_and_extended_as_its_size_says() {
        let mut event = [0xff; SEEN];
        event[255..263].copy_from_slice(&0x8182_8384_8586_8788u64.to_le_bytes());
        for (bits, sign, expected) in [
            (8, false, 0x88),
            (8, true, -0x78i64 as u64),
            (16, true, 0xffff_ffff_ffff_8788),
            (32, false, 0x8586_8788),
            (64, true, 0x8182_8384_8586_8788),
        ] {
            let load =
                Load { at: 249, word: 0, mask: u64::MAX >> (64 - bits), sign: if sign { 1 << (bits - 1) } else { 0 } };
            assert_eq!(Place::new(&load, 6).map(|place| place.read(&event)), Some(expected), "{bits} {sign}");
        }
        assert_eq!(Place::new(&Load { at: 250, word: 0, mask: u64::MAX, sign: 0 }, 6), None);
        assert_eq!(Place::ABSENT.read(&event), 0);
    }
}
