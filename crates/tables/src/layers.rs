//! Where a message spends its time, layer by layer.

use crate::maybe_ns::MaybeNs;
use crate::row::Row;
use crate::Message;
use serde::{Deserialize, Serialize};

/// Latency of a message by layers (study A), in the order in which it passes them. They lie end to end and add up to
/// the message's latency. A layer is absent where its end was not recorded, and is then part of the next one that is
/// there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Layers {
    /// Row of [`Tables::messages`].
    pub message: Row<Message>,
    /// Publish call of the application to rcl_publish.
    pub publish_client_library_ns: MaybeNs,
    /// To the call of rmw_publish.
    pub publish_rcl_ns: MaybeNs,
    /// To the event rmw_publish: the middleware's write call.
    pub publish_rmw_ns: MaybeNs,
    /// To dds_send: serialisation, history, handed to the transport for the first of its readers.
    pub publish_dds_ns: MaybeNs,
    /// To dds_receive: the subscriber's process has the whole message.
    pub transport_ns: MaybeNs,
    /// To dds_data_available, or node_data_available: the reader has it.
    pub receive_dds_ns: MaybeNs,
    /// To the call of rmw_take, else to rclcpp_executor_execute: waking, and waiting for other callbacks.
    pub executor_ns: MaybeNs,
    /// To the event rmw_take, else to the take: reading from the DDS, deserialisation.
    pub take_rmw_ns: MaybeNs,
    /// To rcl_take.
    pub take_rcl_ns: MaybeNs,
    /// To the first line of the callback.
    pub take_client_library_ns: MaybeNs,
}

/// The layers in the order in which a message passes them. Each ends where the next begins.
pub const LAYERS: [&str; 10] = [
    "publish_client_library",
    "publish_rcl",
    "publish_rmw",
    "publish_dds",
    "transport",
    "receive_dds",
    "executor",
    "take_rmw",
    "take_rcl",
    "take_client_library",
];

impl Layers {
    /// In the order of [`LAYERS`].
    pub fn parts_ns(&self) -> [Option<i64>; 10] {
        [
            self.publish_client_library_ns.get(),
            self.publish_rcl_ns.get(),
            self.publish_rmw_ns.get(),
            self.publish_dds_ns.get(),
            self.transport_ns.get(),
            self.receive_dds_ns.get(),
            self.executor_ns.get(),
            self.take_rmw_ns.get(),
            self.take_rcl_ns.get(),
            self.take_client_library_ns.get(),
        ]
    }
}
