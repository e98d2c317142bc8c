//! ROS 1: messages found by their place in a connection, queues that overwrite, timers that wait, and what cannot be told.

use tacho_analysis::tables::{CallbackKind, CauseKind, Delivery, LostIn, Tables};
use tacho_events::testing::FileBuilder;

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
        self.process(1).at(0).ros1_node_init(NODE, "/talker")
            .ros1_publisher_init(PUBLISHER, NODE, 10, latch, "/chatter", "std_msgs/String")
            .with(|b| if latch { b.at(5).ros1_publish(PUBLISHER, 0).ros1_serialized(0xff, 8, 0) } else { b })
            .at(20).ros1_subscriber_link_init(LINK, CONNECTION, transport, if transport == TCPROS { PORTS.0 } else { 0 }, PORTS.1, "/chatter", "/listener")
            .with(|b| if latch { b.ros1_enqueue(LINK, 0xff) } else { b })
    }

    fn listener(self, transport: u64, received_before: u64) -> Self {
        self.process(2).at(0).ros1_node_init(NODE, "/listener")
            .ros1_subscription_init(CALLBACK, NODE, 2, "/chatter", "std_msgs/String")
            .at(15).ros1_publisher_link_init(LINK, transport, PORTS.1, if transport == TCPROS { PORTS.0 } else { 0 }, received_before, "/chatter")
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
    tables.messages.iter().map(|m| (m.publish_ns, m.arrival_ns, m.callback_ns, m.lost_in)).collect()
}

fn note(tables: &Tables, name: &str) -> u64 {
    tables.notes.iter().filter(|n| n.name == name).map(|n| n.count).sum()
}

#[test]
fn a_message_is_found_by_its_number_in_the_connection_also_after_a_reconnection() {
    // The subscriber's link had 100 messages over an earlier connection.
    let tables = tables(&FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 100)
        .process(1).at(100).publish(0xa).at(110).write(0, 0xa, 0).at(200).publish(0xa).at(210).write(1, 0xa, 0)
        .process(2).at(150).push(TCPROS, 100, 1, 0).at(160).take(1).at(250).push(TCPROS, 101, 1, 0).at(260).take(1));
    assert_eq!(messages(&tables), [
        (Some(100), Some(150), Some(160), None),
        (Some(200), Some(250), Some(260), None),
    ]);
    assert_eq!(tables.notes, []);
    let chain = &tables.chains[0];
    assert_eq!(chain.path, ["/talker", "/chatter", "/listener"]);
    let instance = &tables.instances[0];
    assert_eq!((instance.transport_ns, instance.alignment_ns, instance.end_to_end_ns), (50, Some(10), 60));
}

#[test]
fn of_two_connections_with_the_same_ports_a_message_belongs_to_the_one_of_its_time() {
    let tables = tables(&FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 0)
        .process(1).at(100).publish(0xa).at(110).write(0, 0xa, 0)
        .at(1_020).ros1_subscriber_link_init(LINK + 8, CONNECTION + 8, TCPROS, PORTS.0, PORTS.1, "/chatter", "/listener")
        .at(1_100).ros1_publish(PUBLISHER, 0).ros1_serialized(0xb, 8, 0).ros1_enqueue(LINK + 8, 0xb).at(1_110).ros1_write(CONNECTION + 8, 0, 0xb, 0)
        .process(2).at(150).push(TCPROS, 0, 1, 0).at(160).take(1)
        .at(1_015).ros1_publisher_link_init(LINK, TCPROS, PORTS.1, PORTS.0, 1, "/chatter")
        .at(1_150).push(TCPROS, 1, 1, 0).at(1_160).take(1));
    assert_eq!(messages(&tables), [(Some(100), Some(150), Some(160), None), (Some(1_100), Some(1_150), Some(1_160), None)]);
}

#[test]
fn a_full_queue_overwrites_its_oldest_message_also_where_the_take_before_is_recorded_late() {
    // The first had been taken from the queue when the fourth came, but its thread wrote so only afterwards: the second was overwritten.
    let mut builder = FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 0).process(1);
    for k in 0..4 {
        builder = builder.at(100 + k * 10).publish(0xa0 + k as u64).write(k as u64, 0xa0 + k as u64, 0);
    }
    builder = builder.process(2);
    for k in 0..4u64 {
        builder = builder.at(150 + k as i64 * 10).push(TCPROS, k, k, 0);
    }
    let tables = tables(&builder.ros1_queue_overflow(CALLBACK).at(200).take(0).at(210).take(2).at(220).take(3));
    assert_eq!(messages(&tables), [
        (Some(100), Some(150), Some(200), None),
        (Some(110), Some(160), None, Some(LostIn::SubscriptionQueue)),
        (Some(120), Some(170), Some(210), None),
        (Some(130), Some(180), Some(220), None),
    ]);
    assert_eq!(tables.messages[1].delivery, Delivery::Lost);
}

#[test]
fn what_is_still_in_a_queue_is_not_lost() {
    let tables = tables(&FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 0)
        .process(1).at(100).publish(0xa).write(0, 0xa, 0).at(200).publish(0xb).write(1, 0xb, 0).at(300).publish(0xc)
        .process(2).at(150).push(TCPROS, 0, 1, 0).at(160).take(1).at(250).push(TCPROS, 1, 2, 0));
    assert_eq!(messages(&tables), [(Some(100), Some(150), Some(160), None)]);
}

#[test]
fn what_the_outgoing_queue_overwrote_is_lost_there() {
    let tables = tables(&FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 0)
        .process(1).at(100).publish(0xa).at(101).publish(0xb).at(102).publish(0xc).at(110).write(0, 0xc, 0)
        .process(2).at(150).push(TCPROS, 0, 1, 0).at(160).take(1));
    assert_eq!(messages(&tables), [
        (Some(100), None, None, Some(LostIn::PublisherQueue)),
        (Some(101), None, None, Some(LostIn::PublisherQueue)),
        (Some(102), Some(150), Some(160), None),
    ]);
}

#[test]
fn udpros_is_linked_by_content_and_what_did_not_come_before_another_is_lost() {
    let tables = tables(&FileBuilder::new().talker(UDPROS, false).listener(UDPROS, 0)
        .process(1).at(100).publish(0xa).write(0, 0xa, 71).at(200).publish(0xb).write(1, 0xb, 72).at(300).publish(0xc).write(2, 0xc, 73)
        .at(400).publish(0xd).write(3, 0xd, 74)
        .process(2).at(150).push(UDPROS, 0, 1, 71).at(160).take(1).at(350).push(UDPROS, 1, 1, 73).at(360).take(1));
    assert_eq!(messages(&tables), [
        (Some(100), Some(150), Some(160), None),
        (Some(200), None, None, Some(LostIn::Transport)),
        (Some(300), Some(350), Some(360), None),
    ]);
}

#[test]
fn messages_that_are_alike_over_udpros_are_not_guessed() {
    let tables = tables(&FileBuilder::new().talker(UDPROS, false).listener(UDPROS, 0)
        .process(1).at(100).publish(0xa).write(0, 0xa, 7).at(200).publish(0xb).write(1, 0xb, 7)
        .process(2).at(250).push(UDPROS, 0, 1, 7).at(260).take(1));
    assert_eq!(messages(&tables), [(None, Some(250), Some(260), None)]);
    assert_eq!(note(&tables, "alike-over-udpros"), 1);
}

#[test]
fn a_latched_message_is_received_without_latency() {
    let tables = tables(&FileBuilder::new().talker(TCPROS, true).listener(TCPROS, 0)
        .process(1).at(30).write(0, 0xff, 0).at(100).publish(0xa).write(1, 0xa, 0)
        .process(2).at(40).push(TCPROS, 0, 1, 0).at(50).take(1).at(150).push(TCPROS, 1, 1, 0).at(160).take(1));
    assert_eq!(messages(&tables), [(None, Some(40), Some(50), None), (Some(100), Some(150), Some(160), None)]);
    assert_eq!((note(&tables, "latched"), note(&tables, "publication-not-recorded")), (1, 0));
}

#[test]
fn a_process_that_dropped_events_loses_no_messages_by_that() {
    let tables = tables(&FileBuilder::new().talker(TCPROS, false).dropped(1).listener(TCPROS, 0)
        .process(1).at(100).publish(0xa).at(101).publish(0xb).at(110).write(1, 0xb, 0)
        .process(2).at(150).push(TCPROS, 1, 1, 0).at(160).take(1));
    // Numbered by the recorder, so that the link holds; whether the first was written is not known.
    assert_eq!(messages(&tables), [(Some(101), Some(150), Some(160), None)]);
}

#[test]
fn pointers_handed_over_within_a_process_reach_each_of_its_subscriptions() {
    let tables = tables(&FileBuilder::new().process(1).at(0).ros1_node_init(NODE, "/both")
        .ros1_publisher_init(PUBLISHER, NODE, 10, false, "/chatter", "std_msgs/String")
        .ros1_subscription_init(CALLBACK, NODE, 10, "/chatter", "std_msgs/String")
        .ros1_subscription_init(CALLBACK + 8, NODE, 10, "/chatter", "std_msgs/String")
        .at(100).ros1_publish(PUBLISHER, 0x77).ros1_serialized(0, 0, 0x77).ros1_receive(LINK, 0, 0, 0, 0x77, 0)
        .at(101).ros1_queue_push(CALLBACK, QUEUE, 1).at(102).ros1_queue_push(CALLBACK + 8, QUEUE + 8, 1).ros1_received(LINK)
        .thread(9).at(110).ros1_take(QUEUE, 1).callback_start(CALLBACK, false).at(111).callback_end(CALLBACK)
        .at(120).ros1_take(QUEUE + 8, 1).callback_start(CALLBACK + 8, false).at(121).callback_end(CALLBACK + 8));
    assert_eq!(messages(&tables), [(Some(100), Some(101), Some(110), None), (Some(100), Some(102), Some(120), None)]);
    assert_ne!(tables.messages[0].subscription, tables.messages[1].subscription);
}

#[test]
fn timers_and_services_wait_in_their_callback_queue_and_a_timer_that_is_started_again_is_the_same() {
    let (timer, service, item) = (0x50, 0x60, 0x70);
    let tables = tables(&FileBuilder::new().process(1).at(0).ros1_node_init(NODE, "/node")
        .ros1_timer_init(timer, NODE, 1_000, false, "tick()").ros1_service_init(service, NODE, "/reset", "std_srvs/Empty")
        .at(100).ros1_callback_queued(item).at(130).ros1_callback_call(item).callback_start(timer, false).at(140).callback_end(timer)
        .at(150).ros1_timer_init(timer, NODE, 1_000, false, "tick()")
        .at(200).ros1_callback_queued(item).at(210).ros1_callback_call(item).callback_start(timer, false).at(220).callback_end(timer)
        .at(300).ros1_callback_queued(item).at(307).ros1_callback_call(item).callback_start(service, false).at(309).callback_end(service));
    let kinds: Vec<_> = tables.callbacks.iter().map(|c| (c.kind, c.period_ns, c.topic.as_deref(), c.symbol.as_deref())).collect();
    assert_eq!(kinds, [
        (CallbackKind::Timer, Some(1_000), None, Some("tick()")),
        (CallbackKind::Service, None, Some("/reset"), None),
    ]);
    let waits: Vec<_> = tables.executions.iter().map(|e| (e.callback, e.queued_ns.map(|queued| e.start_ns - queued))).collect();
    assert_eq!(waits, [(0, Some(30)), (0, Some(10)), (1, Some(7))]);
    assert_eq!(note(&tables, "services-not-linked"), 1);
}

#[test]
fn a_timer_whose_period_was_changed_has_none() {
    let tables = tables(&FileBuilder::new().process(1).at(0).ros1_node_init(NODE, "/node").ros1_timer_init(0x50, NODE, 1_000, false, "tick()")
        .at(10).ros1_timer_period(0x50, 2_000).at(100).callback_start(0x50, false).at(110).callback_end(0x50));
    assert_eq!(tables.callbacks[0].period_ns, None);
}

#[test]
fn causes_name_the_queue_that_the_events_say_a_message_was_lost_in() {
    let tables = tables(&FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 0)
        .process(1).at(50).publish(0x9).at(51).write(0, 0x9, 0)
        .process(2).at(60).push(TCPROS, 0, 1, 0).at(70).take(1)
        .process(1).at(100).publish(0xa).at(101).publish(0xb).at(102).publish(0xc).at(110).write(1, 0xc, 0)
        .process(2).at(150).push(TCPROS, 1, 2, 0).at(160).take(2));
    let ends: Vec<_> = tables.causes.iter().filter(|c| c.instance.is_none()).map(|c| (c.kind, c.by.as_str(), c.count)).collect();
    assert_eq!(ends, [(CauseKind::Overwritten, "publisher's queue of depth 10 of /talker", 2)]);
}

#[test]
fn the_layers_of_a_message_are_its_way_through_roscpp() {
    let tables = tables(&FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 0)
        .process(1).at(100).publish(0xa).at(130).write(0, 0xa, 0)
        .process(2).at(190).push(TCPROS, 0, 1, 0).at(260).ros1_take(QUEUE, 1).at(275).callback_start(CALLBACK, false).at(300).callback_end(CALLBACK));
    let [row] = &tables.layers[..] else { panic!("{} rows", tables.layers.len()) };
    assert_eq!(row.parts_ns(), [Some(30), None, None, None, Some(60), None, Some(70), None, None, Some(15)]);
    let summary = tacho_analysis::summarise(&[tacho_analysis::Repeat { tables: &tables, options: Default::default(), info: None }], None);
    assert!(summary.layers[0].layers.iter().all(|part| part.includes.is_empty()), "{:?}", summary.layers);
}
