//! Messages in a bag, with the facts that the recorder of the bag knew. A bag holds no event of the program that sent
//! them.

use serde::{Deserialize, Serialize};

/// A topic of a bag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BagTopic {
    /// Name.
    pub name: String,
    /// Type of its messages, `sensor_msgs/msg/Imu`.
    pub datatype: String,
    /// Whether its messages begin with a `std_msgs/Header`; absent if the bag holds no readable definition of the type.
    pub has_header: Option<bool>,
}

/// A message in a bag. Times are ns since 1970 by the writer's clock, mostly a wall clock: `log_ns` by that of the
/// recorder's host, the others by that of the sender's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BagMessage {
    /// Number of its topic, in the order in which the topics are met.
    pub topic: u32,
    /// When the recorder received it.
    pub log_ns: i64,
    /// When it was published, as the middleware reports; absent if the writer of the bag stored its log time instead.
    pub publish_ns: Option<i64>,
    /// The stamp in its header; absent if it has none, or one of 0, which was never set.
    pub stamp_ns: Option<i64>,
    /// Its serialised length.
    pub size_bytes: u64,
    /// Its number in the bag: the publisher's, the recorder's own, or 0 for all; absent if the format has none.
    pub sequence: Option<u32>,
    /// The number of its part of the bag: a new part begins wherever messages may be missing.
    pub stretch: u32,
}
