//! Reads from the ELF file how much memory a board's image uses (System V ABI, chapter 5: program header).

use anyhow::{bail, Context, Result};
use std::path::Path;

/// RAM of the images (micro/ports/*/link*.ld). Other addresses above the flash are not the node's own.
const RAM: std::ops::Range<u64> = 0x2000_0000..0x2002_0000;
const LOADED: u32 = 1;

/// Bytes of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Use of flash: code, constants, initial values of variables.
    pub rom_bytes: u64,
    /// Use of RAM: variables and stack.
    pub ram_bytes: u64,
    /// The stack's part of it.
    pub stack_bytes: u64,
}

/// Reads the sizes of an image.
pub fn sizes(image: &Path) -> Result<Sizes> {
    let bytes = std::fs::read(image).with_context(|| image.display().to_string())?;
    of(&bytes).with_context(|| image.display().to_string())
}

fn of(bytes: &[u8]) -> Result<Sizes> {
    let half = |at: usize| bytes.get(at..at + 2).map(|b| u64::from(u16::from_le_bytes([b[0], b[1]])));
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let head = || Some((bytes.get(..6)?, word(28)? as usize, half(42)? as usize, half(44)? as usize));
    let Some((b"\x7fELF\x01\x01", table, entry, count)) = head() else {
        bail!("found {:02x?}; expected a little-endian ELF file of 32 bits", bytes.get(..6).unwrap_or(bytes));
    };
    let mut sizes = Sizes { rom_bytes: 0, ram_bytes: 0, stack_bytes: 0 };
    for index in 0..count {
        let field =
            |number: usize| word(table + index * entry + 4 * number).context("its program headers are cut short");
        if field(0)? != LOADED {
            continue;
        }
        let (address, in_file, in_memory) = (u64::from(field(2)?), u64::from(field(4)?), u64::from(field(5)?));
        sizes.rom_bytes += in_file;
        if RAM.contains(&address) {
            sizes.ram_bytes += in_memory;
            // In sections.ld, the stack is a segment of its own without content.
            if in_file == 0 {
                sizes.stack_bytes += in_memory;
            }
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds an ELF file with program headers of (type, address, bytes in the file, bytes in memory).
    fn elf(segments: &[[u32; 4]]) -> Vec<u8> {
        let mut bytes = vec![0; 52];
        bytes[..6].copy_from_slice(b"\x7fELF\x01\x01");
        bytes[28..32].copy_from_slice(&52u32.to_le_bytes());
        bytes[42..44].copy_from_slice(&32u16.to_le_bytes());
        bytes[44..46].copy_from_slice(&(segments.len() as u16).to_le_bytes());
        for [kind, address, in_file, in_memory] in segments {
            for word in [*kind, 0, *address, *address, *in_file, *in_memory, 0, 0] {
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes
    }

    #[test]
    fn flash_holds_what_is_loaded_and_ram_what_is_there_when_it_runs() {
        // Code; variables, some of them initialised; the stack; a ring elsewhere; a segment that is not loaded.
        let image = elf(&[
            [1, 0, 21_352, 21_352],
            [1, 0x2000_0000, 232, 18_408],
            [1, 0x2000_47e8, 0, 2_048],
            [1, 0x2020_0000, 0, 655_360],
            [0x7000_0001, 0x5360, 8, 8],
        ]);
        assert_eq!(of(&image).unwrap(), Sizes { rom_bytes: 21_584, ram_bytes: 20_456, stack_bytes: 2_048 });
        assert!(of(b"MZ").unwrap_err().to_string().contains("expected a little-endian ELF"));
        assert!(of(&image[..100]).unwrap_err().to_string().contains("cut short"));
    }
}
