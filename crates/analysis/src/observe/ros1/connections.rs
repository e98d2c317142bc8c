//! Connections of roscpp, each end as its process saw it.

use crate::observe::{PublicationSeen, Topic};
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::Process;

/// Transport and ports of one end of a connection.
#[derive(Clone, Copy)]
pub(crate) struct Ports {
    pub transport: u64,
    pub local: u64,
    pub remote: u64,
}

/// The publisher's end of a connection.
pub(crate) struct Outgoing {
    pub process: Row<Process>,
    pub topic: Row<Topic>,
    pub ports: Ports,
    pub created_ns: i64,
    /// Publications put into the outgoing queue, in order.
    pub enqueued: Rows<Row<PublicationSeen>>,
    /// In order.
    pub written: Rows<Written>,
}

/// A message that was handed to the transport.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub sequence: u64,
    /// `None`: published in a way that is not recorded.
    pub publication: Option<Row<PublicationSeen>>,
    pub digest: u64,
    pub time: i64,
}

/// The subscriber's end of a connection.
pub(crate) struct Incoming {
    pub process: Row<Process>,
    pub topic: Row<Topic>,
    pub ports: Ports,
    pub created_ns: i64,
    pub received_before: u64,
    /// In order.
    pub received: Rows<Received>,
}

/// A message that came.
#[derive(Clone, Copy)]
pub(crate) struct Received {
    pub sequence: u64,
    pub digest: u64,
    pub time: i64,
}

impl Outgoing {
    pub fn new(process: Row<Process>, topic: Row<Topic>, ports: Ports, created_ns: i64) -> Self {
        Outgoing { process, topic, ports, created_ns, enqueued: Rows::new(), written: Rows::new() }
    }
}

impl Incoming {
    pub fn new(process: Row<Process>, topic: Row<Topic>, ports: Ports, created_ns: i64, received_before: u64) -> Self {
        Incoming { process, topic, ports, created_ns, received_before, received: Rows::new() }
    }
}
