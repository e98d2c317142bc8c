//! Mutates the corpus, in the same way on every machine, so that `cargo test` runs a part of the fuzzing.

use std::path::Path;

/// The generator xorshift64.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Passes each file of `fuzz/corpus/TARGET` to `check`, first unchanged and then with `rounds` changes: other bytes or
/// bits, numbers at the ends of their range, parts of it repeated, removed, or taken from another file.
pub fn corpus(target: &str, rounds: usize, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).expect("a corpus").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("a file of the corpus")).collect();
    assert!(!files.is_empty(), "{}", folder.display());
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    for file in &files {
        check(file);
        for _ in 0..rounds {
            let mut bytes = file.clone();
            for _ in 0..=noise.below(5) {
                change(&mut bytes, &files, &mut noise);
            }
            check(&bytes);
        }
    }
}

fn change(bytes: &mut Vec<u8>, files: &[Vec<u8>], noise: &mut Noise) {
    let length = bytes.len();
    // Headers come first, so half of the changes hit them.
    let at = if noise.below(2) == 0 { noise.below(length.min(200)) } else { noise.below(length) };
    match noise.below(8) {
        0 => bytes.truncate(at),
        1 => {
            let end = (at + noise.below(64)).min(length);
            bytes.drain(at..end);
        }
        2 => {
            let other = &files[noise.below(files.len())];
            let from = noise.below(other.len());
            let part = other[from..(from + noise.below(256)).min(other.len())].to_vec();
            bytes.splice(at..at, part);
        }
        3 => {
            let word: u64 = [0, 1, u64::MAX, i64::MAX as u64, 1 << 63, u64::from(u32::MAX)][noise.below(6)];
            let size = [1, 2, 4, 8][noise.below(4)];
            for (byte, new) in bytes.iter_mut().skip(at).take(size).zip(word.to_le_bytes()) {
                *byte = new;
            }
        }
        4..=5 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << noise.below(8);
            }
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = noise.below(256) as u8;
            }
        }
    }
}
