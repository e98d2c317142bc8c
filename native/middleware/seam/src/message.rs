//! Message types by name, and the header as bytes.

use crate::abi::Header;

/// Bytes in a mebibyte.
pub const MIB: usize = 1024 * 1024;

/// Bytes of a header.
pub const HEADER_SIZE: usize = std::mem::size_of::<Header>();

/// A message type that a plugin carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageType {
    /// As a workload names it.
    pub name: &'static str,
    /// Bytes of data that it always carries; absent: any.
    pub only_size: Option<usize>,
}

/// The types of the other plugins, so that one workload runs on all.
pub const MESSAGE_TYPES: &[MessageType] = &[
    MessageType { name: "Bytes", only_size: None },
    MessageType { name: "PointCloud2", only_size: None },
    MessageType { name: "PointCloud1m", only_size: Some(MIB) },
    MessageType { name: "Image", only_size: None },
    MessageType { name: "TwistStamped", only_size: Some(48) },
];

/// A type's name and hash in ROS 2, which topics of DDS and keys of zenoh hold (REP 2011; `type_hashes` in the share folders of the messages).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RosType {
    /// On DDS.
    pub name: &'static str,
    /// `RIHS01_` and 64 hexadecimal digits.
    pub hash: &'static str,
}

/// Of a type as a workload names it.
pub fn ros_type(name: &str) -> RosType {
    let (name, hash) = match name {
        "PointCloud2" | "PointCloud1m" => (
            "sensor_msgs::msg::dds_::PointCloud2_",
            "RIHS01_9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5",
        ),
        "Image" => (
            "sensor_msgs::msg::dds_::Image_",
            "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47",
        ),
        "TwistStamped" => (
            "geometry_msgs::msg::dds_::TwistStamped_",
            "RIHS01_5f0fcd4f81d5d06ad9b4c4c63e3ea51b82d6ae4d0558f1d475229b1121db6f64",
        ),
        _ => (
            "std_msgs::msg::dds_::UInt8MultiArray_",
            "RIHS01_5687e861b8d307a5e48b7515467ae7a5fc2daf805bd0ce6d8e9e604bade9f385",
        ),
    };
    RosType { name, hash }
}

impl Header {
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
    fn a_header_in_bytes_is_the_header_in_memory() {
        let header = Header { sequence: 1 << 40, stamp_ns: -5, publisher: 0xfedc_ba98, reserved: 7 };
        // SAFETY: 24 bytes without padding.
        let memory = unsafe { std::mem::transmute::<Header, [u8; HEADER_SIZE]>(header) };
        assert_eq!(header.to_bytes(), memory);
        assert_eq!(Header::from_bytes(&memory), Some(header));
        assert_eq!(Header::from_bytes(&memory[1..]), None);
    }
}
