//! Reads all formats of records, and what is unusual in the one that is written.

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

/// Makes a file of the second format, whose only chunk has these bytes of records. `sizes`: kinds, and their sizes in 4
/// bytes.
fn second(sizes: &[(usize, u8)], records: &[u8]) -> Vec<u8> {
    let mut bytes = FileHeader { pid: 1, ..FileHeader::default() }.write(1);
    bytes[..8].copy_from_slice(b"TACHOEV2");
    bytes[3920..4048].fill(0);
    for (kind, size) in sizes {
        bytes[3920 + kind / 2] |= size << (kind % 2 * 4);
    }
    bytes.extend(0x4b4e_4843_u32.to_le_bytes());
    bytes.extend(7_u32.to_le_bytes());
    bytes.extend([0_u64; 7].map(u64::to_le_bytes).concat());
    bytes.extend(records);
    bytes.resize(HEADER_SIZE + CHUNK_SIZE, 0);
    bytes
}

#[test]
fn a_file_of_the_second_format_is_read_with_its_pointers_of_6_bytes_and_its_times() {
    let head = |ticks: u32, kind: u8| (ticks << 8 | u32::from(kind)).to_le_bytes();
    let pointer = |word: u64| word.to_le_bytes()[..6].to_vec();
    let records: Vec<Vec<u8>> = vec![
        head(5, 22).into(),
        pointer(0x7f00_1234_5678),
        pointer(2),
        head(9, 3).into(), // 0x100_0009 ticks after the beginning
        1_u32.to_le_bytes().into(),
        head(1, 28).into(),
        pointer(3),
        pointer(4),
        7_u64.to_le_bytes().into(),
        vec![1, 0, 0, 0],
        head(2, 4).into(), // a wide callback_end
        (44_u32 << 16 | 2).to_le_bytes().into(),
        u64::MAX.to_le_bytes().into(),
        head(3, 5).into(), // a kind that no release of that format had
        vec![9; 20],
        head(4, 44).into(),
        pointer(6),
        vec![0; 2],
    ];
    let sizes = [(22, 3), (28, 6), (3, 1), (4, 15), (5, 5), (44, 2)];
    let (events, reader) = read(&second(&sizes, &records.concat()));
    let times: Vec<i64> = events.iter().map(|event| event.time.as_ns()).collect();
    assert_eq!(times, [5, 0x100_000a, 0x100_000b, 0x100_000d]);
    let Payload::RclPublish { publisher, message } = events[0].payload else { panic!("{:?}", events[0]) };
    assert_eq!((publisher.0, message.0), (0x7f00_1234_5678, 2));
    let Payload::RmwTake { source_timestamp, taken, .. } = events[1].payload else { panic!("{:?}", events[1]) };
    assert_eq!((source_timestamp, taken), (7, true));
    for (event, expected) in events[2..].iter().zip([u64::MAX, 6]) {
        let Payload::CallbackEnd { callback } = event.payload else { panic!("{event:?}") };
        assert_eq!(callback.0, expected);
    }
    let names: Vec<_> = reader.problems().iter().map(|problem| problem.name).collect();
    assert_eq!(names, ["unknown-kind"]);
}

#[test]
fn gids_have_numbers_as_long_as_there_are_any_and_a_chunk_names_its_own() {
    let gid = |i: u64| [i.wrapping_mul(0x9e37_79b9_7f4a_7c15), !i];
    let written: Vec<_> = (0..6000_u64).map(|i| (gid(i % 300), gid(i * i % 400), i)).collect();
    let builder = written.iter().fold(FileBuilder::new().process(1), |builder, (reader, writer, i)| {
        let builder = builder.at(*i as i64).dds_data_available(*reader, *writer, *i as i64, *i as i64 + 1);
        builder.dds_receive(*writer, *i as i64, -1, 1, 1, i % 3, 2)
    });
    let (events, reader) = read(&builder.bytes(1));
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
    assert_eq!(events.len(), 12_000);
    for (pair, (of_reader, of_writer, i)) in events.chunks(2).zip(&written) {
        let Payload::DdsDataAvailable { reader, writer, first_sequence, last_sequence } = pair[0].payload else {
            panic!("{:?}", pair[0])
        };
        assert_eq!((reader.0, writer.0, first_sequence), (*of_reader, *of_writer, *i as i64));
        assert_eq!(last_sequence, first_sequence + 1);
        let Payload::DdsReceive { writer, source_timestamp, of_fragments, transport, .. } = pair[1].payload else {
            panic!("{:?}", pair[1])
        };
        assert_eq!((writer.0, source_timestamp, of_fragments, transport), (*of_writer, -1, i % 3, 2));
    }
    // Without the record that names it, a gid is unknown.
    let mut bytes = FileBuilder::new().process(1).at(1).dds_receive([1, 2], 1, 1, 1, 1, 1, 1).bytes(1);
    bytes[HEADER_SIZE + 64 + 4] = 9;
    let (events, reader) = read(&bytes);
    assert!(events.is_empty());
    assert_eq!(reader.problems().iter().map(|problem| problem.name).collect::<Vec<_>>(), ["gid-missing"]);
}

#[test]
fn things_that_later_events_cannot_tell_apart_are_reported() {
    let of = |other: u64| {
        let builder = FileBuilder::new().tsc(3).process(1).at(1_000_000).rcl_init(0x5500_0000_1230);
        let builder = builder.thread(2).at(2_000_000).rcl_init(0x5500_0000_1230).at(3_000_000).rcl_init(other);
        let folder = tempfile::tempdir().expect("folder");
        let run =
            builder.clock_sync_record(0, 1).clock_sync_record(9_000_000_000, 1).write(folder.path()).expect("run");
        let reader = Reader::open(&run).expect("reader");
        reader.problems().iter().map(|problem| problem.name).collect::<Vec<_>>()
    };
    assert_eq!(of(0x7f00_0000_1230), ["handles-alike"]);
    assert!(of(0x7f00_0000_1240).is_empty());
}

#[test]
fn pauses_of_any_length_and_words_of_any_size_come_back() {
    let times = [
        0,
        1,
        (1 << 24) - 1,
        1 << 24,
        (1 << 25) + 7,
        1 << 40,
        (1 << 40) + 1,
        (1 << 48) - 1,
        1 << 48,
        (1 << 56) + 3,
        i64::MAX,
    ];
    let words = [0, 1, (1 << 48) - 1, 1 << 48, 0xff00_1234_5678_9abc, u64::MAX];
    let builder = times.iter().fold(FileBuilder::new().process(1), |builder, time| {
        words
            .iter()
            .fold(builder.at(*time), |builder, word| builder.rcl_publish(*word, 2).rmw_send_request(2, 2, *word as i64))
    });
    let (events, reader) = read(&builder.bytes(1));
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
    let mut found = events.iter();
    for time in times {
        for word in words {
            let (publish, take) = (found.next().expect("publish"), found.next().expect("take"));
            assert_eq!((publish.time.as_ns(), take.time.as_ns()), (time, time));
            let Payload::RclPublish { publisher, message } = publish.payload else { panic!("{publish:?}") };
            let Payload::RmwSendRequest { sequence, .. } = take.payload else { panic!("{take:?}") };
            assert_eq!((publisher.0, message.0, sequence as u64), (word & 0xffff_ffff, 2, word));
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
    let full = u64::MAX;
    assert_eq!(bytes(new().rcl_publish(full, full)), 12, "two pointers of 4 bytes");
    assert_eq!(bytes(new().callback_start(full, false)), 8, "the short form");
    assert_eq!(bytes(new().callback_start(full, true)), 9, "three bytes more fill up");
    assert_eq!(bytes(new().at(1).rclcpp_executor_get_next_ready().at(2).rclcpp_executor_get_next_ready()), 4 + 4 - 2);
    assert_eq!(bytes(new().at(1).callback_end(full).at(1 << 30).callback_end(full)), 8 + 4 + 8, "with a time");
    assert_eq!(bytes(new().rcl_init((1 << 48) - 1)), 4 + 6, "a pointer to what the event makes");
    assert_eq!(bytes(new().rcl_init(full)), 4 + 4 + 8, "a wide one");
    let gid = [full, full];
    assert_eq!(bytes(new().dds_receive(gid, 1, 1, 1, 1, 1, 1)), 24 + 4 + 14, "a gid and a whole sample");
    assert_eq!(bytes(new().dds_receive(gid, 1, 1, 1, 1, 2, 1)), 24 + 4 + 20, "a gid and a piece");
    assert_eq!(bytes(new().dds_data_available(gid, gid, 1, 1)), 24 + 4 + 10 - 3, "the same gid twice");
}
