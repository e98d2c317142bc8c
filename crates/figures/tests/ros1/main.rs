//! ROS 1: messages found by their place in a connection, queues that overwrite, timers that wait, and what cannot be
//! told.

mod callbacks;
mod linked;
mod queues;

use tacho_events::testing::FileBuilder;
use tacho_tables::{CallbackKind, CauseKind, Delivery, LostIn, Tables};

const NODE: u64 = 1;
const PUBLISHER: u64 = 0x20;
const LINK: u64 = 0x30;
const CONNECTION: u64 = 0x31;
const CALLBACK: u64 = 0x40;
const QUEUE: u64 = 0x41;
const TCPROS: u64 = 1;
const UDPROS: u64 = 2;
/// Ports of the publisher and of the subscriber.
const PORTS: (u64, u64) = (7000, 8000);

trait Scene {
    fn talker(self, transport: u64, latch: bool) -> Self;
    fn listener(self, transport: u64, received_before: u64) -> Self;
    /// Published and put into the outgoing queue.
    fn publish(self, buffer: u64) -> Self;
    fn write(self, sequence: u64, buffer: u64, digest: u64) -> Self;
    fn push(self, transport: u64, sequence: u64, deserializer: u64, digest: u64) -> Self;
    fn take(self, deserializer: u64) -> Self;
}

impl Scene for FileBuilder {
    fn talker(self, transport: u64, latch: bool) -> Self {
        self.process(1)
            .at(0)
            .ros1_node_init(NODE, "/talker")
            .ros1_publisher_init(PUBLISHER, NODE, 10, latch, "/chatter", "std_msgs/String")
            .with(|b| if latch { b.at(5).ros1_publish(PUBLISHER, 0).ros1_serialized(0xff, 8, 0) } else { b })
            .at(20)
            .ros1_subscriber_link_init(
                LINK,
                CONNECTION,
                transport,
                if transport == TCPROS { PORTS.0 } else { 0 },
                PORTS.1,
                "/chatter",
                "/listener",
            )
            .with(|b| if latch { b.ros1_enqueue(LINK, 0xff) } else { b })
    }

    fn listener(self, transport: u64, received_before: u64) -> Self {
        self.process(2)
            .at(0)
            .ros1_node_init(NODE, "/listener")
            .ros1_subscription_init(CALLBACK, NODE, 2, "/chatter", "std_msgs/String")
            .at(15)
            .ros1_publisher_link_init(
                LINK,
                transport,
                PORTS.1,
                if transport == TCPROS { PORTS.0 } else { 0 },
                received_before,
                "/chatter",
            )
    }

    fn publish(self, buffer: u64) -> Self {
        self.ros1_publish(PUBLISHER, 0).ros1_serialized(buffer, 8, 0).ros1_enqueue(LINK, buffer)
    }

    fn write(self, sequence: u64, buffer: u64, digest: u64) -> Self {
        self.ros1_write(CONNECTION, sequence, buffer, digest)
    }

    fn push(self, transport: u64, sequence: u64, deserializer: u64, digest: u64) -> Self {
        self.ros1_receive(LINK, transport, sequence, 0x9, 0, digest)
            .ros1_queue_push(CALLBACK, QUEUE, deserializer)
            .ros1_received(LINK)
    }

    fn take(self, deserializer: u64) -> Self {
        self.ros1_take(QUEUE, deserializer).callback_start(CALLBACK, false).callback_end(CALLBACK)
    }
}

fn tables(builder: &FileBuilder) -> Tables {
    let folder = tempfile::tempdir().expect("folder");
    let run = builder.write(folder.path()).expect("write");
    tacho_analysis::analyse(&run, None, &mut |_| {}).expect("analyse")
}

/// Publish, arrival, callback, and where it was lost, of each message in order.
fn messages(tables: &Tables) -> Vec<(Option<i64>, Option<i64>, Option<i64>, Option<LostIn>)> {
    tables.messages.iter().map(|m| (m.publish_ns.get(), m.arrival_ns.get(), m.callback_ns.get(), m.lost_in)).collect()
}

fn note(tables: &Tables, name: &str) -> u64 {
    tables.notes.iter().filter(|n| n.name == name).map(|n| n.count).sum()
}
