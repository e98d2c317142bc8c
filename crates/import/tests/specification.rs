//! Features that CTF 1.8 allows and LTTng never writes: babeltrace2 reads them, and so do we.

mod written;

use tacho_events::{Event, Handle, Payload};
use tacho_import::{metadata, Reader};
use written::{preamble, write, Bits};

/// Time and payload of each event, and the problems by name.
fn events(metadata: &str, streams: &[Vec<u8>]) -> (Vec<(i64, Payload)>, Vec<&'static str>) {
    let folder = tempfile::tempdir().expect("folder");
    let mut reader = Reader::open(&[write(folder.path(), metadata, streams)]).expect("trace");
    let next = || reader.next_event().map(|Event { time, payload, .. }| (time.as_ns(), payload));
    let found = std::iter::from_fn(next).collect();
    (found, reader.problems().iter().map(|problem| problem.name).collect())
}

fn ended(callback: u64) -> Payload {
    Payload::CallbackEnd { callback: Handle(callback) }
}

const CONTEXT: &str = "struct { i32 _vpid; i32 _vtid; }";
const FIELDS: &str = "struct { u64 _callback; }";
const HEADER: &str = "struct { time_t timestamp; }";
const UUID: &str = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";

/// An event of `HEADER`, `CONTEXT` and `FIELDS`.
fn event(bits: Bits, time: i128, callback: i128) -> Bits {
    bits.put(time, 64).put(7, 32).put(8, 32).put(callback, 64)
}

#[test]
fn constants_are_written_as_c_writes_them() {
    let values = r#"quoted = "\""; codes = "?\x20\040?\101"; letter = '\n'; hexadecimal = 0xABC234; octal = 06534;
        plus = +1234; minus = -1234; wide = L"w"; lines = "a
b";"#;
    let (found, faults) = metadata::read(
        format!("/* CTF 1.8 */ trace {{ major = 1; minor = 8; {values} }}; env {{ {values} }};").as_bytes(),
    );
    assert_eq!((faults, found.complete), (vec![], true));
    let of = |name: &str| found.environment.get(name).map(String::as_str);
    let expected = [
        ("quoted", "\""),
        ("codes", "?  ?A"),
        ("letter", "\n"),
        ("hexadecimal", "11256372"),
        ("octal", "3420"),
        ("plus", "1234"),
        ("minus", "-1234"),
        ("wide", "w"),
        ("lines", "a\nb"),
    ];
    for (name, value) in expected {
        assert_eq!(of(name), Some(value), "{name}");
    }
}

#[test]
fn plain_metadata_needs_no_signature() {
    let (found, faults) = metadata::read(b"trace { major = 1; minor = 8; };");
    assert_eq!((faults, found.complete), (vec![], true));
}

#[test]
fn a_trace_without_a_stream_block_has_one_stream() {
    let metadata = preamble(false, "vpid = 5;", "")
        + "event { name = \"ros2:callback_end\"; context := struct { i32 _vpid; i32 _vtid; };
        fields := struct { u64 _callback; }; };";
    let bytes = Bits::new(false).put(7, 32).put(8, 32).put(1, 64).put(7, 32).put(8, 32).put(2, 64).bytes();
    assert_eq!(events(&metadata, &[bytes]), (vec![(0, ended(1)), (0, ended(2))], vec![]));
}

#[test]
fn the_only_stream_and_the_only_event_of_it_need_no_number() {
    let metadata = preamble(false, "", "")
        + &format!(
            "stream {{ id = 5; event.header := {HEADER}; event.context := {CONTEXT}; }};
        event {{ id = 3; name = \"ros2:callback_end\"; fields := {FIELDS}; }};"
        );
    let bytes = event(event(Bits::new(false), 10, 1), 20, 2).bytes();
    assert_eq!(events(&metadata, &[bytes]), (vec![(10, ended(1)), (20, ended(2))], vec![]));
}

#[test]
fn packets_that_name_their_content_only_end_with_it() {
    let metadata = preamble(false, "", "")
        + &format!(
            "stream {{ packet.context := struct {{ u32 content_size; }};
        event.header := {HEADER}; event.context := {CONTEXT}; }};
        event {{ name = \"ros2:callback_end\"; fields := {FIELDS}; }};"
        );
    let packet = |time, callback| event(Bits::new(false).put(32 + 192, 32), time, callback).bytes();
    assert_eq!(
        events(&metadata, &[[packet(10, 1), packet(20, 2)].concat()]),
        (vec![(10, ended(1)), (20, ended(2))], vec![])
    );
}

#[test]
fn packets_of_another_uuid_are_read_and_that_is_said() {
    let header = format!("uuid = \"{UUID}\"; packet.header := struct {{ u32 magic; u8 uuid[16]; }};");
    let metadata = preamble(false, "", "").replace("byte_order", &format!("{header} byte_order"))
        + &format!(
            "stream {{ packet.context := struct {{ u32 content_size; u32 packet_size; }}; event.header := {HEADER};
            event.context := {CONTEXT}; }}; event {{ name = \"ros2:callback_end\"; fields := {FIELDS}; }};"
        );
    let packet = |uuid: u128, time, callback| {
        let head = uuid
            .to_be_bytes()
            .into_iter()
            .fold(Bits::new(false).put(0xc1fc_1fc1, 32), |bits, byte| bits.put(byte.into(), 8));
        event(head.put(224 + 192, 32).put(224 + 192, 32), time, callback).bytes()
    };
    let own = 0x2a64_22d0_6cee_11e0_8c08_cb07_d7b3_a564;
    let bytes = [packet(own, 10, 1), packet(1, 20, 2), packet(own, 30, 3)].concat();
    assert_eq!(
        events(&metadata, &[bytes]),
        (vec![(10, ended(1)), (20, ended(2)), (30, ended(3))], vec!["packet-uuid-differs"])
    );
}

#[test]
fn what_a_block_says_beyond_the_specification_leaves_the_block_standing() {
    let metadata = preamble(false, "", "").replace("major", "extra := struct { u8 x; }; major")
        + &format!(
            "stream {{ event.header := {HEADER}; event.context := {CONTEXT}; other := struct {{ u8 x; }}; }};
        event {{ name = \"ros2:callback_end\"; asdf := struct {{ u8 x; }}; fields := {FIELDS}; }};"
        );
    let found = events(&metadata, &[event(Bits::new(false), 10, 1).bytes()]);
    assert_eq!(found, (vec![(10, ended(1))], vec!["metadata-not-understood"]));
}

#[test]
fn times_are_those_of_the_clock_that_the_events_name() {
    let metadata = preamble(false, "", "offset_s = 20;")
        .replace("byte_order", "packet.header := struct { u32 stream_id; }; byte_order")
        .replace("clock {", "clock { name = slow; freq = 1000; offset_s = 19; };\n clock {")
        + &format!(
            "typealias integer {{ size = 64; align = 8; map = clock.slow.value; }} := slow_t;
        stream {{ id = 0; event.header := {HEADER}; event.context := {CONTEXT}; }};
        stream {{ id = 1; event.header := struct {{ slow_t timestamp; }}; event.context := {CONTEXT}; }};
        event {{ stream_id = 0; name = \"ros2:callback_end\"; fields := {FIELDS}; }};
        event {{ stream_id = 1; name = \"ros2:callback_end\"; fields := {FIELDS}; }};"
        );
    let packet = |stream, time, callback| event(Bits::new(false).put(stream, 32), time, callback).bytes();
    // Converted to the clock of the first: 19 s and 10 ticks of a ms; 20 s and 7 ns.
    let (found, said) = events(&metadata, &[packet(0, 7, 1), packet(1, 10, 2)]);
    let times: Vec<_> = found.iter().map(|(time, payload)| (time - found[0].0, *payload)).collect();
    assert_eq!(times, [(0, ended(2)), (990_000_007, ended(1))]);
    assert_eq!(said, ["clocks-related-by-wall-time"]);
}

/// An event with one odd bit before its time, its contexts and its callback, each aligned as declared.
#[test]
fn events_begin_and_go_on_where_their_types_are_aligned() {
    const BIT: &str = "integer { size = 1; align = 1; }";
    const TIME: &str = "integer { size = 63; align = 1; map = clock.c.value; }";
    // The header, the bits of it before the time, and the alignment of it and of the contexts.
    let headers = [
        ("struct { time_t timestamp; }", 0, 64, 8),
        (&format!("struct {{ {BIT} odd; {TIME} timestamp; }} align(8)"), 1, 63, 8),
        (&format!("struct {{ {BIT} odd; {TIME} timestamp; }}"), 1, 63, 1),
        (&format!("struct {{ {BIT} odd; {BIT} more; {TIME} timestamp; }}"), 2, 63, 1),
        (&format!("struct {{ {BIT} odd; {BIT} more; {TIME} timestamp; }} align(32)"), 2, 63, 32),
    ];
    for big in [false, true] {
        for (header, before, size, align) in headers {
            // With contexts and fields of whole bytes, and with fields of bits that follow each other without a gap.
            for packed in [false, true] {
                let number = |size: u32, name: &str| {
                    format!("integer {{ size = {size}; align = {}; }} {name};", if packed { 1 } else { 8 })
                };
                let metadata = preamble(big, "", "")
                    + &format!(
                        "stream {{ packet.context := struct {{ {BIT} custom; }}; event.header := {header};
                    event.context := struct {{ {} {} }}; }};
                    event {{ name = \"ros2:callback_end\"; fields := struct {{ {} {BIT} last; }}; }};",
                        number(32, "_vpid"),
                        number(32, "_vtid"),
                        number(64, "_callback")
                    );
                let inside = if packed { 1 } else { 8 };
                let event = |bits: Bits, time, callback| {
                    bits.align(align)
                        .put(1, before)
                        .put(time, size)
                        .align(inside)
                        .put(7, 32)
                        .put(8, 32)
                        .put(callback, 64)
                        .put(1, 1)
                };
                let bytes = event(event(event(Bits::new(big).put(1, 1), 10, 1), 20, 2), 30, 3);
                let (found, said) = events(&metadata, &[bytes.bytes()]);
                let expected = [(10, ended(1)), (20, ended(2)), (30, ended(3))];
                assert_eq!(found.get(..3), Some(&expected[..]), "{header} {packed} {big}: {said:?}");
            }
        }
    }
}
