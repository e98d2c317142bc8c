//! Writes traces of any layout bit by bit, by CTF 1.8 section 4: little endian from the least significant bit on, big
//! endian from the most significant one.

use std::path::{Path, PathBuf};

/// Bits of one packet.
pub struct Bits {
    big: bool,
    bits: Vec<bool>,
}

impl Bits {
    pub fn new(big: bool) -> Bits {
        Bits { big, bits: Vec::new() }
    }

    pub fn align(mut self, bits: usize) -> Self {
        self.bits.resize(self.bits.len().next_multiple_of(bits), false);
        self
    }

    /// An integer of `bits`; a longer one loses its upper bits.
    pub fn put(mut self, value: i128, bits: usize) -> Self {
        let order: Vec<usize> = if self.big { (0..bits).rev().collect() } else { (0..bits).collect() };
        self.bits.extend(order.into_iter().map(|bit| value >> bit & 1 == 1));
        self
    }

    #[allow(dead_code)]
    pub fn text(self, text: &str) -> Self {
        text.bytes().chain([0]).fold(self.align(8), |bits, byte| bits.put(byte.into(), 8))
    }

    pub fn bytes(self) -> Vec<u8> {
        let (big, whole) = (self.big, self.align(8));
        let byte = |eight: &[bool]| {
            eight.iter().enumerate().fold(0u8, |byte, (i, bit)| byte | u8::from(*bit) << if big { 7 - i } else { i })
        };
        whole.bits.chunks(8).map(byte).collect()
    }

    #[allow(dead_code)]
    pub fn followed_by(mut self, other: Bits) -> Self {
        self.bits.extend(other.bits);
        self
    }

    #[allow(dead_code)]
    pub fn with(self, more: impl FnOnce(Self) -> Self) -> Self {
        more(self)
    }
}

/// The preamble of every description: aliases, trace, environment, clock. No packet header, so that a file is one
/// packet.
pub fn preamble(big: bool, environment: &str, clock: &str) -> String {
    let order = if big { "be" } else { "le" };
    format!(
        "/* CTF 1.8 */
        typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
        typealias integer {{ size = 16; align = 8; signed = false; }} := u16;
        typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
        typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
        typealias integer {{ size = 32; align = 8; signed = true; }} := i32;
        trace {{ major = 1; minor = 8; byte_order = {order}; }};
        env {{ {environment} }};
        clock {{ name = c; freq = 1000000000; {clock} }};
        typealias integer {{ size = 64; align = 8; signed = false; map = clock.c.value; }} := time_t;\n"
    )
}

/// Writes a trace and returns its folder.
pub fn write(folder: &Path, metadata: &str, streams: &[Vec<u8>]) -> PathBuf {
    std::fs::create_dir_all(folder).expect("folder");
    std::fs::write(folder.join("metadata"), metadata).expect("metadata");
    for (i, bytes) in streams.iter().enumerate() {
        std::fs::write(folder.join(format!("stream_{i}")), bytes).expect("stream");
    }
    folder.to_path_buf()
}
