//! Messages by their place in a connection, by their content, or by their pointer.

use super::*;

#[test]
fn a_message_is_found_by_its_number_in_the_connection_also_after_a_reconnection() {
    // The subscriber's link had 100 messages over an earlier connection.
    let tables = tables(
        &FileBuilder::new()
            .talker(TCPROS, false)
            .listener(TCPROS, 100)
            .process(1)
            .at(100)
            .publish(0xa)
            .at(110)
            .write(0, 0xa, 0)
            .at(200)
            .publish(0xa)
            .at(210)
            .write(1, 0xa, 0)
            .process(2)
            .at(150)
            .push(TCPROS, 100, 1, 0)
            .at(160)
            .take(1)
            .at(250)
            .push(TCPROS, 101, 1, 0)
            .at(260)
            .take(1),
    );
    assert_eq!(messages(&tables), [(Some(100), Some(150), Some(160), None), (Some(200), Some(250), Some(260), None),]);
    assert_eq!(tables.notes, []);
    let chain = &tables.chains[0];
    assert_eq!(chain.path, ["/talker", "/chatter", "/listener"]);
    let instance = &tables.instances[0];
    assert_eq!((instance.transport_ns, instance.alignment_ns.get(), instance.end_to_end_ns), (50, Some(10), 60));
}

#[test]
fn of_two_connections_with_the_same_ports_a_message_belongs_to_the_one_of_its_time() {
    let tables = tables(
        &FileBuilder::new()
            .talker(TCPROS, false)
            .listener(TCPROS, 0)
            .process(1)
            .at(100)
            .publish(0xa)
            .at(110)
            .write(0, 0xa, 0)
            .at(1_020)
            .ros1_subscriber_link_init(LINK + 8, CONNECTION + 8, TCPROS, PORTS.0, PORTS.1, "/chatter", "/listener")
            .at(1_100)
            .ros1_publish(PUBLISHER, 0)
            .ros1_serialized(0xb, 8, 0)
            .ros1_enqueue(LINK + 8, 0xb)
            .at(1_110)
            .ros1_write(CONNECTION + 8, 0, 0xb, 0)
            .process(2)
            .at(150)
            .push(TCPROS, 0, 1, 0)
            .at(160)
            .take(1)
            .at(1_015)
            .ros1_publisher_link_init(LINK, TCPROS, PORTS.1, PORTS.0, 1, "/chatter")
            .at(1_150)
            .push(TCPROS, 1, 1, 0)
            .at(1_160)
            .take(1),
    );
    assert_eq!(
        messages(&tables),
        [(Some(100), Some(150), Some(160), None), (Some(1_100), Some(1_150), Some(1_160), None)]
    );
}

#[test]
fn udpros_is_linked_by_content_and_what_did_not_come_before_another_is_lost() {
    let tables = tables(
        &FileBuilder::new()
            .talker(UDPROS, false)
            .listener(UDPROS, 0)
            .process(1)
            .at(100)
            .publish(0xa)
            .write(0, 0xa, 71)
            .at(200)
            .publish(0xb)
            .write(1, 0xb, 72)
            .at(300)
            .publish(0xc)
            .write(2, 0xc, 73)
            .at(400)
            .publish(0xd)
            .write(3, 0xd, 74)
            .process(2)
            .at(150)
            .push(UDPROS, 0, 1, 71)
            .at(160)
            .take(1)
            .at(350)
            .push(UDPROS, 1, 1, 73)
            .at(360)
            .take(1),
    );
    assert_eq!(
        messages(&tables),
        [
            (Some(100), Some(150), Some(160), None),
            (Some(200), None, None, Some(LostIn::Transport)),
            (Some(300), Some(350), Some(360), None),
        ]
    );
}

#[test]
fn messages_that_are_alike_over_udpros_are_not_guessed() {
    let tables = tables(
        &FileBuilder::new()
            .talker(UDPROS, false)
            .listener(UDPROS, 0)
            .process(1)
            .at(100)
            .publish(0xa)
            .write(0, 0xa, 7)
            .at(200)
            .publish(0xb)
            .write(1, 0xb, 7)
            .process(2)
            .at(250)
            .push(UDPROS, 0, 1, 7)
            .at(260)
            .take(1),
    );
    assert_eq!(messages(&tables), [(None, Some(250), Some(260), None)]);
    assert_eq!(note(&tables, "alike-over-udpros"), 1);
}

#[test]
fn a_latched_message_is_received_without_latency() {
    let tables = tables(
        &FileBuilder::new()
            .talker(TCPROS, true)
            .listener(TCPROS, 0)
            .process(1)
            .at(30)
            .write(0, 0xff, 0)
            .at(100)
            .publish(0xa)
            .write(1, 0xa, 0)
            .process(2)
            .at(40)
            .push(TCPROS, 0, 1, 0)
            .at(50)
            .take(1)
            .at(150)
            .push(TCPROS, 1, 1, 0)
            .at(160)
            .take(1),
    );
    assert_eq!(messages(&tables), [(None, Some(40), Some(50), None), (Some(100), Some(150), Some(160), None)]);
    assert_eq!((note(&tables, "latched"), note(&tables, "publication-not-recorded")), (1, 0));
}

#[test]
fn pointers_handed_over_within_a_process_reach_each_of_its_subscriptions() {
    let tables = tables(
        &FileBuilder::new()
            .process(1)
            .at(0)
            .ros1_node_init(NODE, "/both")
            .ros1_publisher_init(PUBLISHER, NODE, 10, false, "/chatter", "std_msgs/String")
            .ros1_subscription_init(CALLBACK, NODE, 10, "/chatter", "std_msgs/String")
            .ros1_subscription_init(CALLBACK + 8, NODE, 10, "/chatter", "std_msgs/String")
            .at(100)
            .ros1_publish(PUBLISHER, 0x77)
            .ros1_serialized(0, 0, 0x77)
            .ros1_receive(LINK, 0, 0, 0, 0x77, 0)
            .at(101)
            .ros1_queue_push(CALLBACK, QUEUE, 1)
            .at(102)
            .ros1_queue_push(CALLBACK + 8, QUEUE + 8, 1)
            .ros1_received(LINK)
            .thread(9)
            .at(110)
            .ros1_take(QUEUE, 1)
            .callback_start(CALLBACK, false)
            .at(111)
            .callback_end(CALLBACK)
            .at(120)
            .ros1_take(QUEUE + 8, 1)
            .callback_start(CALLBACK + 8, false)
            .at(121)
            .callback_end(CALLBACK + 8),
    );
    assert_eq!(messages(&tables), [(Some(100), Some(101), Some(110), None), (Some(100), Some(102), Some(120), None)]);
    assert_ne!(tables.messages[0].subscription, tables.messages[1].subscription);
}
