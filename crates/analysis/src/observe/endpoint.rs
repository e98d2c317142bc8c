//! Publishers and subscriptions, as seen.

use super::Topic;
use tacho_events::Gid;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{EndpointKind, Node};

/// Type and QoS of an endpoint, where they are known.
#[derive(Default)]
pub(crate) struct Offered {
    pub message_type: Option<String>,
    pub reliable: Option<bool>,
    pub transient_local: Option<bool>,
    pub keep_all: Option<bool>,
}

impl Offered {
    /// By the values of rmw_qos_profile_t (rmw/types.h): 1 and 2; the others leave the choice to somebody else.
    pub fn of(reliability: u64, durability: u64, history: u64, message_type: &str) -> Offered {
        let is = |value: u64, yes: u64, no: u64| (value == yes || value == no).then_some(value == yes);
        Offered {
            message_type: Some(message_type).filter(|name| !name.is_empty()).map(str::to_owned),
            reliable: is(reliability, 1, 2),
            transient_local: is(durability, 1, 2),
            keep_all: is(history, 2, 1),
        }
    }
}

pub(crate) struct EndpointSeen {
    pub node: Row<Node>,
    pub kind: EndpointKind,
    pub topic: Row<Topic>,
    pub depth: Option<u64>,
    pub offered: Offered,
    pub created_ns: i64,
    /// node_data_available, in order.
    pub arrivals: Rows<i64>,
    /// What the middleware calls it.
    pub gid: Option<Gid>,
    /// Of a subscription: messages of its process come through a buffer of rclcpp.
    pub is_buffered: bool,
    /// Of a subscription: calls of its callbacks.
    pub called: u64,
}

impl EndpointSeen {
    /// One of which nothing else is known yet.
    pub fn new(node: Row<Node>, kind: EndpointKind, topic: Row<Topic>, depth: Option<u64>, created_ns: i64) -> Self {
        EndpointSeen {
            node,
            kind,
            topic,
            depth,
            created_ns,
            offered: Offered::default(),
            arrivals: Rows::new(),
            gid: None,
            is_buffered: false,
            called: 0,
        }
    }
}
