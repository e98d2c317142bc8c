//! Reads both formats of records, and what is unusual in the one that is written.

use tacho_events::layout::{FileHeader, CHUNK_SIZE, HEADER_SIZE};
use tacho_events::testing::FileBuilder;
use tacho_events::{Event, Payload, Reader};

fn read(bytes: &[u8]) -> (Vec<Event>, Reader) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("1.events");
    std::fs::write(&path, bytes).expect("write");
    let mut reader = Reader::open_files(vec![path], None).expect("open");
    let events = std::iter::from_fn(|| reader.next_event()).collect();
    (events, reader)
}

/// Makes a file of the older format, whose only chunk has these records: ticks, kind, words.
fn older(records: &[(u64, u64, &[u64])]) -> Vec<u8> {
    let mut bytes = FileHeader { pid: 1, ..FileHeader::default() }.write(1);
    bytes[..8].copy_from_slice(b"TACHOEV1");
    bytes[3920..4048].fill(0);
    bytes.extend(0x4b4e_4843_u32.to_le_bytes());
    bytes.extend(7_u32.to_le_bytes());
    bytes.extend([0_u64; 7].map(u64::to_le_bytes).concat());
    for (ticks, kind, words) in records {
        bytes.extend((ticks << 16 | kind << 6 | words.len() as u64).to_le_bytes());
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    }
    bytes.resize(HEADER_SIZE + CHUNK_SIZE, 0);
    bytes
}

#[test]
fn a_file_of_the_older_format_is_read_with_its_texts_in_several_records() {
    let part = |text: &[u8; 8]| u64::from_le_bytes(*text);
    let (events, reader) = read(&older(&[
        (5, 1, &[part(b"talker\0/")]),
        (5, 1, &[part(b"driving\0")]),
        (5, 17, &[0x10, u64::MAX]),
        (1 << 40, 28, &[0x50, 0x51, (-3_i64) as u64, 1]),
        (1 << 41, 47, &[]),
        (1 << 41, 1000, &[1, 2]),
        (1 << 41, 22, &[1, 2, 3]),
    ]));
    let times: Vec<i64> = events.iter().map(|event| event.time.as_ns()).collect();
    assert_eq!(times, [5, 1 << 40, 1 << 41, 1 << 41]);
    let Payload::RclNodeInit { node, rmw, name, namespace } = events[0].payload else { panic!("{:?}", events[0]) };
    assert_eq!((node.0, rmw.0), (0x10, u64::MAX));
    assert_eq!((reader.texts().get(name), reader.texts().get(namespace)), ("talker", "/driving"));
    let Payload::RmwTake { source_timestamp, taken, .. } = events[1].payload else { panic!("{:?}", events[1]) };
    assert_eq!((source_timestamp, taken), (-3, true));
    assert!(matches!(events[3].payload, Payload::RclPublish { .. }), "a record may have more words than are known");
    let names: Vec<_> = reader.problems().iter().map(|problem| problem.name).collect();
    assert_eq!(names, ["unknown-kind"]);
}

#[test]
fn pauses_of_any_length_and_words_of_any_size_come_back() {
    let times = [0, 1, (1 << 24) - 1, 1 << 24, (1 << 25) + 7, 1 << 50, (1 << 50) + 1, (1 << 56) + 3, i64::MAX];
    let words = [0, 1, (1 << 48) - 1, 1 << 48, 0xff00_1234_5678_9abc, u64::MAX];
    let builder = times.iter().fold(FileBuilder::new().process(1), |builder, time| {
        words.iter().fold(builder.at(*time), |builder, word| builder.rcl_publish(*word, 2).rclcpp_take(*word))
    });
    let (events, reader) = read(&builder.bytes(1));
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
    let mut found = events.iter();
    for time in times {
        for word in words {
            let (publish, take) = (found.next().expect("publish"), found.next().expect("take"));
            assert_eq!((publish.time.as_ns(), take.time.as_ns()), (time, time));
            let Payload::RclPublish { publisher, message } = publish.payload else { panic!("{publish:?}") };
            let Payload::RclcppTake { message: taken } = take.payload else { panic!("{take:?}") };
            assert_eq!((publisher.0, message.0, taken.0), (word, 2, word));
        }
    }
    assert!(found.next().is_none());
}

#[test]
fn texts_that_are_longer_than_a_window_are_read_and_those_of_an_unfinished_event_are_not() {
    let long = ["a", "b"].map(|letter| letter.repeat(4095));
    let builder = (0..20).fold(FileBuilder::new().process(1), |builder, i| {
        builder.at(i).rcl_publish(1, 2).rcl_node_init(1, 2, &long[0], &long[1])
    });
    let (events, reader) = read(&builder.bytes(1));
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
    assert_eq!(events.len(), 40);
    let Payload::RclNodeInit { name, namespace, .. } = events[39].payload else { panic!("{:?}", events[39]) };
    assert_eq!([reader.texts().get(name), reader.texts().get(namespace)], [long[0].as_str(), &long[1]]);

    // A text whose event was left, before an event with texts of its own.
    let mut bytes = FileBuilder::new().process(1).at(1).rclcpp_callback_register(1, "left").bytes(1);
    let second = FileBuilder::new().process(1).at(1).rclcpp_callback_register(2, "kept").bytes(1);
    let (first, text) = (HEADER_SIZE + 64, 8 + 8); // a head, the size, "left", NUL, and what fills up
    let records = second[first..first + text + 12].to_vec();
    bytes[first + text..first + text + records.len()].copy_from_slice(&records);
    let (events, reader) = read(&bytes);
    let Payload::RclcppCallbackRegister { symbol, .. } = events[0].payload else { panic!("{:?}", events[0]) };
    assert_eq!((events.len(), reader.texts().get(symbol)), (1, "kept"));
}

#[test]
fn an_event_takes_as_many_bytes_as_the_specification_says() {
    let bytes = |builder: FileBuilder| {
        let file = builder.bytes(1);
        let records = &file[HEADER_SIZE + 64..];
        records.len() - records.iter().rev().take_while(|byte| **byte == 0).count()
    };
    let new = || FileBuilder::new().process(1);
    let full = 0xffff_ffff_ffff;
    assert_eq!(bytes(new().rcl_publish(full, full)), 16);
    assert_eq!(bytes(new().callback_end(full).callback_end(full)), 12 + 10, "the last two bytes fill up");
    assert_eq!(bytes(new().at(1).rclcpp_executor_get_next_ready().at(2).rclcpp_executor_get_next_ready()), 4 + 4 - 2);
    assert_eq!(bytes(new().at(1).callback_end(full).at(1 << 30).callback_end(full)), 12 + 8 + 10, "with a time");
    assert_eq!(bytes(new().callback_end(u64::MAX)), 4 + 4 + 8, "a wide one");
}
