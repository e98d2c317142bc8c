//! Messages as a bag holds them: what its recorder knew of each when it wrote it down. No event of the program that sent it is among that.

use serde::{Deserialize, Serialize};

/// A topic of a bag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BagTopic {
    /// Name.
    pub name: String,
    /// Type of its messages, `sensor_msgs/msg/Imu`.
    pub datatype: String,
    /// Whether its messages begin with a `std_msgs/Header`; absent where the bag holds no definition of the type that can be read.
    pub has_header: Option<bool>,
}

/// A message in a bag. Times are ns since 1970 by whatever clock the writer had, mostly wall clocks: `log_ns` that of the recorder's host,
/// the others that of the sender's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BagMessage {
    /// Number of its topic, in the order in which the topics are met.
    pub topic: u32,
    /// When the recorder had it.
    pub log_ns: i64,
    /// When it was published, as the middleware says; absent where the writer of the bag put its log time there.
    pub publish_ns: Option<i64>,
    /// Stamp in its header; absent where it has none, or one of 0, which nobody set.
    pub stamp_ns: Option<i64>,
    /// Its length, serialised.
    pub size_bytes: u64,
    /// Its number as the bag has it: the publisher's, the recorder's own, or 0 for all; absent where the format has none.
    pub sequence: Option<u32>,
    /// Number of the stretch of the bag that it is in: another one begins wherever messages may be missing.
    pub stretch: u32,
}
