//! Finds texts that recur, names and symbols, without the cost of hashing them safely.

use tacho_events::{Text, Texts};

/// How many recent texts it remembers; a power of two.
const PLACES: usize = 1024;

/// A table of texts, and the ones that occurred last.
pub(crate) struct Names {
    pub texts: Texts,
    /// Indexed by a hash for which a trace's author can construct collisions; reading is then as slow as without it.
    recent: Box<[Text]>,
}

impl Default for Names {
    fn default() -> Self {
        Names { texts: Texts::default(), recent: vec![Text::EMPTY; PLACES].into() }
    }
}

impl Names {
    /// Returns the number of a text; replaces bytes that are no UTF-8.
    pub fn intern(&mut self, bytes: &[u8]) -> Text {
        let place = &mut self.recent[hash(bytes) as usize % PLACES];
        if self.texts.get(*place).as_bytes() != bytes {
            *place = match std::str::from_utf8(bytes) {
                Ok(text) => self.texts.intern(text),
                Err(_) => self.texts.intern(&String::from_utf8_lossy(bytes)),
            };
        }
        *place
    }
}

fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let words = bytes.chunks_exact(8);
    let rest = words.remainder();
    let word = |eight: &[u8]| u64::from_le_bytes(eight.first_chunk().copied().unwrap_or_default());
    let hash = words.fold(bytes.len() as u64, |hash, eight| step(hash, word(eight)));
    rest.iter().fold(hash, |hash, byte| step(hash, u64::from(*byte))) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_whatever_came_between() {
        let mut names = Names::default();
        let first: Vec<Text> = (0..5000).map(|i| names.intern(format!("/topic_{i}").as_bytes())).collect();
        let again: Vec<Text> = (0..5000).map(|i| names.intern(format!("/topic_{i}").as_bytes())).collect();
        assert_eq!(first, again);
        assert!(first.iter().enumerate().all(|(i, text)| names.texts.get(*text) == format!("/topic_{i}")));
        assert_eq!(names.intern(b""), Text::EMPTY);
        let broken = names.intern(b"a\xffb");
        assert_eq!(names.texts.get(broken), "a\u{fffd}b");
    }
}
