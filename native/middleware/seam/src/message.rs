//! Message types by name.

/// Bytes in a mebibyte.
pub const MIB: usize = 1024 * 1024;

/// A message type that a plugin carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageType {
    /// Its name in a workload.
    pub name: &'static str,
    /// The bytes of data that it always carries; absent if any number is possible.
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

/// A type's name and hash in ROS 2, which are parts of topics of DDS and keys of zenoh (REP 2011; `type_hashes` in the
/// share folders of the messages).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RosType {
    /// Its name on DDS.
    pub name: &'static str,
    /// `RIHS01_` and 64 hexadecimal digits.
    pub hash: &'static str,
}

/// Looks up a type by its name in a workload.
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
