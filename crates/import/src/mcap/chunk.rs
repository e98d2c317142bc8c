//! Chunks: records of an MCAP file, compressed together, with a checksum.

use super::record::{read_up_to, Fields};
use std::io::{self, BufReader, Read, Take};

/// The fields before the compressed records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkHead {
    pub uncompressed_bytes: u64,
    /// CRC-32 of the uncompressed records; 0 if the writer computed none.
    pub crc: u32,
    pub compression: String,
    pub compressed_bytes: u64,
    /// Length of these fields.
    pub bytes: u64,
}

/// No name of a compression is longer.
const NAME_MAX: u32 = 32;

impl ChunkHead {
    /// Reads them; `None` if the bytes end, or are no such fields.
    pub fn read(from: &mut impl Read) -> io::Result<Option<ChunkHead>> {
        let mut fixed = [0; 32];
        if read_up_to(from, &mut fixed)? < fixed.len() {
            return Ok(None);
        }
        // Times of its first and last message follow, which the messages contain as well.
        let mut fields = Fields(&fixed[16..]);
        let (Some(uncompressed_bytes), Some(crc), Some(name)) = (fields.u64(), fields.u32(), fields.u32()) else {
            return Ok(None);
        };
        if name > NAME_MAX {
            return Ok(None);
        }
        let mut rest = vec![0; name as usize + 8];
        if read_up_to(from, &mut rest)? < rest.len() {
            return Ok(None);
        }
        let compression = String::from_utf8_lossy(&rest[..name as usize]).into_owned();
        let compressed_bytes = Fields(&rest[name as usize..]).u64().unwrap_or(0);
        Ok(Some(ChunkHead {
            uncompressed_bytes,
            crc,
            compression,
            compressed_bytes,
            bytes: (fixed.len() + rest.len()) as u64,
        }))
    }
}

/// Decompresses the records of a chunk while they are read, so that memory never holds all of them.
pub(super) type Content<'a> = BufReader<Take<Checked<'a>>>;

/// Counts the bytes so far and computes their checksum.
pub(super) struct Checked<'a> {
    bytes: Box<dyn Read + 'a>,
    crc: crc32fast::Hasher,
    count: u64,
}

impl Read for Checked<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(into)?;
        self.crc.update(&into[..count]);
        self.count += count as u64;
        Ok(count)
    }
}

/// Opens the records of a chunk.
pub(super) fn open<'a>(head: &ChunkHead, compressed: impl Read + 'a) -> Result<Content<'a>, String> {
    let bytes: Box<dyn Read + 'a> = match head.compression.as_str() {
        "" => Box::new(compressed),
        "lz4" => Box::new(lz4_flex::frame::FrameDecoder::new(compressed)),
        "zstd" => {
            Box::new(ruzstd::decoding::StreamingDecoder::new(compressed).map_err(|error| format!("zstd: {error}"))?)
        }
        other => return Err(format!("compressed with {other:?}; expected \"\", \"lz4\" or \"zstd\"")),
    };
    let checked = Checked { bytes, crc: crc32fast::Hasher::new(), count: 0 };
    Ok(BufReader::new(checked.take(head.uncompressed_bytes)))
}

/// Compares the bytes, after they were read to their end, with length and checksum of the writer.
pub(super) fn check(head: &ChunkHead, content: Content<'_>) -> Result<(), String> {
    let Checked { crc, count, .. } = content.into_inner().into_inner();
    if count != head.uncompressed_bytes {
        return Err(format!("{count} bytes after decompression; its head says {}", head.uncompressed_bytes));
    }
    match crc.finalize() {
        found if head.crc != 0 && found != head.crc => {
            Err(format!("checksum (CRC-32) {found:#010x}; its head says {:#010x}", head.crc))
        }
        _ => Ok(()),
    }
}
