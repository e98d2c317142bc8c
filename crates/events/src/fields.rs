//! Reads the words and texts of a record into the fields of an event.

use crate::format::NUMBERED;
use crate::payload::{Handle, MadeHandle};
use crate::record::Records;
use crate::text::{Text, Texts};

/// A cursor over the words and texts of one record. Its maker has checked that there are enough words.
#[doc(hidden)]
pub struct Fields<'a> {
    /// From the next word on; more than the record may follow.
    bytes: &'a [u8],
    /// Widths of the words left, as in [`crate::number::WIDTHS`].
    widths: u64,
    /// The bits of handles that count.
    handle_bits: u64,
    records: &'a Records,
    texts: &'a [u8],
    table: &'a mut Texts,
    pub(crate) texts_missing: bool,
    pub(crate) gid_missing: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(
        bytes: &'a [u8],
        widths: u64,
        records: &'a Records,
        texts: &'a [u8],
        table: &'a mut Texts,
    ) -> Self {
        let handle_bits = records.handle_bits();
        Fields { bytes, widths, handle_bits, records, texts, table, texts_missing: false, gid_missing: false }
    }

    #[inline(always)]
    pub(crate) fn word(&mut self) -> u64 {
        let digit = (self.widths >> 60) as usize;
        self.widths <<= 4;
        let word = crate::format::word(self.bytes, digit);
        self.bytes = self.bytes.get(crate::format::width(digit)..).unwrap_or_default();
        word
    }

    #[inline(always)]
    pub(crate) fn handle(&mut self) -> u64 {
        self.word() & self.handle_bits
    }

    pub(crate) fn made_handle(&mut self) -> MadeHandle {
        let address = self.word();
        MadeHandle { handle: Handle(address & self.handle_bits), address }
    }

    pub(crate) fn gid(&mut self) -> [u64; 2] {
        if self.widths >> 60 != NUMBERED {
            return [self.word(), self.word()];
        }
        let gid = self.records.gids().get(self.word() as usize).copied().flatten();
        self.widths <<= 4;
        self.gid_missing |= gid.is_none();
        gid.unwrap_or_default()
    }

    pub(crate) fn text(&mut self) -> Text {
        match self.texts.iter().position(|b| *b == 0) {
            Some(end) => {
                let text = self.table.intern(&String::from_utf8_lossy(&self.texts[..end]));
                self.texts = &self.texts[end + 1..];
                text
            }
            None => {
                self.texts_missing = true;
                Text::EMPTY
            }
        }
    }
}
