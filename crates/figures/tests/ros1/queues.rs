//! Messages that wait in queues, and those that the queues overwrite.

use super::*;

#[test]
fn a_full_queue_overwrites_its_oldest_message_also_where_the_take_before_is_recorded_late() {
    // The first had been taken from the queue when the fourth came, but its thread wrote so only afterwards: the second
    // was overwritten.
    let mut builder = FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 0).process(1);
    for k in 0..4 {
        builder = builder.at(100 + k * 10).publish(0xa0 + k as u64).write(k as u64, 0xa0 + k as u64, 0);
    }
    builder = builder.process(2);
    for k in 0..4u64 {
        builder = builder.at(150 + k as i64 * 10).push(TCPROS, k, k, 0);
    }
    let tables = tables(&builder.ros1_queue_overflow(CALLBACK).at(200).take(0).at(210).take(2).at(220).take(3));
    assert_eq!(
        messages(&tables),
        [
            (Some(100), Some(150), Some(200), None),
            (Some(110), Some(160), None, Some(LostIn::SubscriptionQueue)),
            (Some(120), Some(170), Some(210), None),
            (Some(130), Some(180), Some(220), None),
        ]
    );
    assert_eq!(tables.messages[1].delivery, Delivery::Lost);
}

#[test]
fn what_is_still_in_a_queue_is_not_lost() {
    let tables = tables(
        &FileBuilder::new()
            .talker(TCPROS, false)
            .listener(TCPROS, 0)
            .process(1)
            .at(100)
            .publish(0xa)
            .write(0, 0xa, 0)
            .at(200)
            .publish(0xb)
            .write(1, 0xb, 0)
            .at(300)
            .publish(0xc)
            .process(2)
            .at(150)
            .push(TCPROS, 0, 1, 0)
            .at(160)
            .take(1)
            .at(250)
            .push(TCPROS, 1, 2, 0),
    );
    assert_eq!(messages(&tables), [(Some(100), Some(150), Some(160), None)]);
}

#[test]
fn what_the_outgoing_queue_overwrote_is_lost_there() {
    let tables = tables(
        &FileBuilder::new()
            .talker(TCPROS, false)
            .listener(TCPROS, 0)
            .process(1)
            .at(100)
            .publish(0xa)
            .at(101)
            .publish(0xb)
            .at(102)
            .publish(0xc)
            .at(110)
            .write(0, 0xc, 0)
            .process(2)
            .at(150)
            .push(TCPROS, 0, 1, 0)
            .at(160)
            .take(1),
    );
    assert_eq!(
        messages(&tables),
        [
            (Some(100), None, None, Some(LostIn::PublisherQueue)),
            (Some(101), None, None, Some(LostIn::PublisherQueue)),
            (Some(102), Some(150), Some(160), None),
        ]
    );
}

#[test]
fn a_process_that_dropped_events_loses_no_messages_by_that() {
    let tables = tables(
        &FileBuilder::new()
            .talker(TCPROS, false)
            .dropped(1)
            .listener(TCPROS, 0)
            .process(1)
            .at(100)
            .publish(0xa)
            .at(101)
            .publish(0xb)
            .at(110)
            .write(1, 0xb, 0)
            .process(2)
            .at(150)
            .push(TCPROS, 1, 1, 0)
            .at(160)
            .take(1),
    );
    // Numbered by the recorder, so that the link holds; whether the first was written is not known.
    assert_eq!(messages(&tables), [(Some(101), Some(150), Some(160), None)]);
}

#[test]
fn causes_name_the_queue_that_the_events_say_a_message_was_lost_in() {
    let tables = tables(
        &FileBuilder::new()
            .talker(TCPROS, false)
            .listener(TCPROS, 0)
            .process(1)
            .at(50)
            .publish(0x9)
            .at(51)
            .write(0, 0x9, 0)
            .process(2)
            .at(60)
            .push(TCPROS, 0, 1, 0)
            .at(70)
            .take(1)
            .process(1)
            .at(100)
            .publish(0xa)
            .at(101)
            .publish(0xb)
            .at(102)
            .publish(0xc)
            .at(110)
            .write(1, 0xc, 0)
            .process(2)
            .at(150)
            .push(TCPROS, 1, 2, 0)
            .at(160)
            .take(2),
    );
    let ends: Vec<_> =
        tables.causes.iter().filter(|c| c.instance.is_none()).map(|c| (c.kind, c.by.as_str(), c.count)).collect();
    assert_eq!(ends, [(CauseKind::Overwritten, "publisher's queue of depth 10 of /talker", 2)]);
}
