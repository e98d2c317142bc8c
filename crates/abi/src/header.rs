//! The header of a message, and its bytes.

/// What every message carries inside its payload (`struct tacho_header`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Header {
    /// 0, 1, 2 ... a publisher.
    pub sequence: u64,
    /// CLOCK_MONOTONIC just before the publish call, ns.
    pub stamp_ns: i64,
    /// Unique in a run.
    pub publisher: u32,
    /// How much older than `stamp_ns` the stamp of the content is, ns, see [`Header::content_ns`].
    pub reserved: u32,
}

/// Bytes of a header.
pub const HEADER_SIZE: usize = std::mem::size_of::<Header>();

impl Header {
    /// Stamp of the content, by which messages are matched: when the source was due on whose message the content rests.
    pub fn content_ns(&self) -> i64 {
        self.stamp_ns - i64::from(self.reserved)
    }

    /// The same header with this stamp of the content. A content that is older than 4.29 s is stamped as so old.
    pub fn with_content(self, content_ns: i64) -> Header {
        let age_ns = self.stamp_ns.saturating_sub(content_ns).clamp(0, u32::MAX.into());
        Header { reserved: age_ns as u32, ..self }
    }

    /// As it lies in memory.
    pub fn to_bytes(self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[..8].copy_from_slice(&self.sequence.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.stamp_ns.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.publisher.to_ne_bytes());
        bytes[20..].copy_from_slice(&self.reserved.to_ne_bytes());
        bytes
    }

    /// From the first bytes of a message; absent where there are too few.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_SIZE] = bytes.first_chunk()?;
        let part = |from: usize| <[u8; 4]>::try_from(&bytes[from..from + 4]).ok();
        let whole = |from: usize| <[u8; 8]>::try_from(&bytes[from..from + 8]).ok();
        Some(Self {
            sequence: u64::from_ne_bytes(whole(0)?),
            stamp_ns: i64::from_ne_bytes(whole(8)?),
            publisher: u32::from_ne_bytes(part(16)?),
            reserved: u32::from_ne_bytes(part(20)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_carries_the_stamp_of_its_content() {
        let header = Header { stamp_ns: 5_000_000_000, ..Header::default() };
        assert_eq!(header.content_ns(), 5_000_000_000);
        assert_eq!(header.with_content(4_999_999_999).content_ns(), 4_999_999_999);
        assert_eq!(header.with_content(0).content_ns(), 5_000_000_000 - i64::from(u32::MAX));
        assert_eq!(header.with_content(6_000_000_000).content_ns(), 5_000_000_000, "none is younger than its message");
    }

    #[test]
    fn a_header_in_bytes_is_the_header_in_memory() {
        let header = Header { sequence: 1 << 40, stamp_ns: -5, publisher: 0xfedc_ba98, reserved: 7 };
        // SAFETY: 24 bytes without padding.
        let memory = unsafe { std::mem::transmute::<Header, [u8; HEADER_SIZE]>(header) };
        assert_eq!(header.to_bytes(), memory);
        assert_eq!(Header::from_bytes(&memory), Some(header));
        assert_eq!(Header::from_bytes(&memory[1..]), None);
    }
}
