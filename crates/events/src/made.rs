//! What the events of a process made, to find two things that later events do not tell apart.

use crate::format::{Format, MADE};
use crate::number;
use std::collections::HashMap;

/// Pointers to what the events of one process made, by kind and by the bytes that later events have of them.
#[derive(Default)]
pub struct Made(HashMap<(u16, u64), u64>);

impl Made {
    /// Adds what an event of a kind made. Returns the pointer to another thing of that kind that later events in this
    /// format do not tell apart from it, if there is one.
    pub fn add(&mut self, format: &Format, kind: u16, pointer: u64) -> Option<u64> {
        let before = self.0.insert((kind, pointer & format.handle_bits()), pointer);
        before.filter(|before| *before != pointer)
    }
}

/// Whether events of a kind begin with the pointer to what they make.
pub fn makes(kind: u16) -> bool {
    number::WIDTHS.get(usize::from(kind)).is_some_and(|widths| widths >> 60 == MADE)
}
