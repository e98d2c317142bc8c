//! Any bytes as an event file: the decoder must end, and never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tacho_events::layout::{ChunkHeader, FileHeader, CHUNK_SIZE, HEADER_SIZE};
use tacho_events::record::{Cursor, Step};
use tacho_events::Texts;

fuzz_target!(|bytes: &[u8]| {
    let _ = FileHeader::read(bytes);
    let mut texts = Texts::default();
    for chunk in bytes.get(HEADER_SIZE..).unwrap_or_default().chunks(CHUNK_SIZE) {
        if let Ok(Some(header)) = ChunkHeader::read(chunk) {
            let mut cursor = Cursor::new(header.base_ticks);
            while !matches!(cursor.next(chunk, &mut texts), Step::End(_)) {}
        }
    }
});
