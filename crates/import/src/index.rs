//! LTTng's index of a stream file (`index/NAME.idx` beside it, format 1.0 or 1.1): where its packets lie and when they
//! were. Reading needs none of it. It tells which packets a file has lost that ends too early, where no later packet's counter can.

use std::io;
use std::path::Path;

const MAGIC: u32 = 0xC1F1_DCC1;
/// Magic, major, minor, and the bytes of an entry; big-endian whatever the machine, as all of the file.
const HEADER: usize = 16;
/// Fields of 8 bytes of every entry: offset, size, content, begin, end, discarded, stream.
const ENTRY_LEAST: usize = 56;
/// Where 1.1 has the sequence number: behind the stream's instance.
const SEQUENCE: usize = 64;

/// What an index says of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Indexed {
    /// Of the packet's first byte in the stream file.
    pub offset: u64,
    /// First and last tick of it.
    pub begin: u64,
    pub end: u64,
    /// Number among the packets of its stream.
    pub sequence: Option<u64>,
}

/// The packets of a stream file that its index tells of, in the order of the file; none where it has no index.
pub(crate) fn of(stream: &Path) -> io::Result<Vec<Indexed>> {
    let (Some(folder), Some(name)) = (stream.parent(), stream.file_name()) else { return Ok(Vec::new()) };
    let mut name = name.to_os_string();
    name.push(".idx");
    match std::fs::read(folder.join("index").join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => Ok(packets(&read?)),
    }
}

/// The packets that the bytes of an index tell of; none of what is no index.
fn packets(index: &[u8]) -> Vec<Indexed> {
    let word = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let (Some(MAGIC), Some(1), Some(minor), Some(size)) = (word(0), word(4), word(8), word(12)) else { return Vec::new() };
    let size = size as usize;
    if size < ENTRY_LEAST {
        return Vec::new();
    }
    let entries = index[HEADER..].chunks_exact(size).filter_map(|entry| {
        let field = |at: usize| Some(u64::from_be_bytes(entry.get(at..at + 8)?.try_into().ok()?));
        let sequence = if minor >= 1 { field(SEQUENCE) } else { None };
        Some(Indexed { offset: field(0)?, begin: field(24)?, end: field(32)?, sequence })
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(minor: u32, entries: &[[u64; 9]]) -> Vec<u8> {
        let fields = if minor == 0 { 7 } else { 9 };
        let header = [MAGIC, 1, minor, 8 * fields as u32].into_iter().flat_map(u32::to_be_bytes);
        header.chain(entries.iter().flat_map(|entry| entry[..fields].iter().flat_map(|field| field.to_be_bytes()))).collect()
    }

    const ENTRIES: [[u64; 9]; 2] = [[0, 4096 * 8, 800, 10, 20, 0, 0, 3, 7], [4096, 4096 * 8, 800, 20, 31, 0, 0, 3, 8]];

    #[test]
    fn packets_with_and_without_sequence_numbers() {
        let first = Indexed { offset: 0, begin: 10, end: 20, sequence: Some(7) };
        let second = Indexed { offset: 4096, begin: 20, end: 31, sequence: Some(8) };
        assert_eq!(packets(&index(1, &ENTRIES)), [first, second]);
        assert_eq!(packets(&index(0, &ENTRIES)), [first, second].map(|of| Indexed { sequence: None, ..of }));
    }

    #[test]
    fn what_is_cut_or_no_index_tells_nothing_that_is_not_there() {
        let whole = index(1, &ENTRIES);
        for length in 0..whole.len() {
            assert_eq!(packets(&whole[..length]).len(), length.saturating_sub(HEADER) / 72);
        }
        assert_eq!(packets(&[0; 200]), []);
        assert_eq!(packets(&index(1, &[])), []);
    }
}
