//! Traces of layouts that no fixture has, written bit by bit, with the expected events beside them.

mod written;

use std::path::PathBuf;
use tacho_events::{Event, Handle, Payload};
use tacho_import::Reader;
use written::{preamble, write, Bits};

/// `time pid tid payload` of each event, and the reader after the last one.
fn events(paths: &[PathBuf]) -> (Vec<(i64, u32, u32, Payload)>, Reader) {
    let mut reader = Reader::open(paths).expect("trace");
    let mut found = Vec::new();
    while let Some(Event { time, process, thread, payload, .. }) = reader.next_event() {
        found.push((time.as_ns(), reader.processes()[process.0 as usize].header.pid, thread.0, payload));
    }
    (found, reader)
}

const CONTEXT: &str = "event.context := struct { i32 _vpid; i32 _vtid; };";

#[test]
fn a_compact_header_of_5_and_27_bits_gives_whole_times_in_both_byte_orders() {
    for big in [false, true] {
        let folder = tempfile::tempdir().expect("folder");
        let metadata = preamble(big, "", "")
            + "
            typealias integer { size = 27; align = 1; signed = false; map = clock.c.value; } := time27;
            typealias integer { size = 5; align = 1; signed = false; } := u5;
            struct header {
                enum : u5 { compact = 0 ... 30, extended = 31 } id;
                variant <id> { struct { time27 timestamp; } compact; struct { u32 id; time_t timestamp; } extended; } v;
            } align(8);
            stream { packet.context := struct { time_t timestamp_begin; }; event.header := struct header; "
            + CONTEXT
            + " };
            event { id = 3; name = \"ros2:callback_end\"; fields := struct { u64 _callback; }; };
            event { id = 40; name = \"ros2:rcl_take\"; fields := struct { u64 _message; }; };";
        let begin = (5i128 << 27) - 10;
        let bytes = Bits::new(big)
            .put(begin, 64)
            .put(3, 5)
            .put(begin + 4, 27)
            .put(7, 32)
            .put(8, 32)
            .put(0x11, 64)
            // The low 27 bits begin again, so one period is added.
            .put(3, 5)
            .put(begin + 30, 27)
            .put(7, 32)
            .put(8, 32)
            .put(0x22, 64)
            .put(31, 5)
            .align(8)
            .put(40, 32)
            .put(99 << 27, 64)
            .put(7, 32)
            .put(9, 32)
            .put(0x33, 64)
            .bytes();
        let (found, reader) = events(&[write(folder.path(), &metadata, &[bytes])]);
        assert!(reader.problems().is_empty(), "{:?}", reader.problems());
        assert_eq!(
            found,
            [
                (begin as i64 + 4, 7, 8, Payload::CallbackEnd { callback: Handle(0x11) }),
                (begin as i64 + 30, 7, 8, Payload::CallbackEnd { callback: Handle(0x22) }),
                (99 << 27, 7, 9, Payload::RclTake { message: Handle(0x33) }),
            ]
        );
    }
}

#[test]
fn fields_of_any_size_alignment_and_order_are_walked() {
    for big in [false, true] {
        let folder = tempfile::tempdir().expect("folder");
        // Every field counts from the start of the packet, not of the event.
        let metadata = preamble(big, "", "")
            + "
            stream {
                event.header := struct { integer { size = 32; align = 32; map = clock.c.value; } timestamp; };
                event.context := struct { integer { size = 20; align = 4; } _vpid;
                    integer { size = 13; align = 1; } _vtid; };
            };
            event { name = \"ros2:rmw_take\"; id = 0; fields := struct {
                floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _load;
                enum : u8 { one = 1, many = 2 ... 9 } kind;
                u16 length;
                integer { size = 3; align = 1; } list[length];
                variant <kind> { struct { string a; u8 b; } one; u32 many[2]; } v;
                struct { u8 nothing[0]; string names[2]; } inner;
                integer { size = 48; align = 16; } _message;
                integer { size = 33; align = 1; } _rmw_subscription_handle;
                integer { size = 64; align = 64; signed = true; byte_order = le; } _source_timestamp;
                integer { size = 7; align = 1; signed = true; } _taken;
            }; };";
        let event = |bits: Bits, kind: i128, message: i128| {
            let bits = bits
                .align(32)
                .put(1_000 + kind, 32)
                .put(70_000, 20)
                .put(4_000, 13)
                // The fields are aligned as the strictest of them is.
                .align(64)
                .put(0, 64)
                .put(kind, 8)
                .put(5, 16)
                .put(0b101_010_101_010_101, 15)
                .with(|bits| if kind == 1 { bits.text("x").put(3, 8) } else { bits.align(8).put(1, 32).put(2, 32) })
                .text("first")
                .text("")
                .align(16)
                .put(message, 48);
            // Little endian in either trace.
            let bits = bits.put(0x1_2345_6789, 33).align(64);
            (-5i64).to_le_bytes().into_iter().fold(bits, |bits, byte| bits.put(byte.into(), 8)).put(-1, 7)
        };
        let bytes = event(event(Bits::new(big), 1, 0xabcd_ef01_2345), 5, 0x1111_2222_3333).bytes();
        let (found, reader) = events(&[write(folder.path(), &metadata, &[bytes])]);
        assert!(reader.problems().is_empty(), "{:?}", reader.problems());
        let take = |message| Payload::RmwTake {
            rmw_subscription: Handle(0x1_2345_6789),
            message: Handle(message),
            source_timestamp: -5,
            taken: true,
        };
        assert_eq!(
            found,
            [(1_001, 70_000, 4_000, take(0xabcd_ef01_2345)), (1_005, 70_000, 4_000, take(0x1111_2222_3333))]
        );
    }
}

/// Large header of LTTng with ids of 16 bits, times of 64.
fn stream(id: u32, context: &str) -> String {
    format!("stream {{ id = {id}; event.header := struct {{ u16 id; time_t timestamp; }}; {context} }};\n")
}

fn head(bits: Bits, id: i128, time: i128) -> Bits {
    bits.put(id, 16).put(time, 64)
}

#[test]
fn gids_of_24_bytes_texts_and_what_a_release_lacks() {
    let folder = tempfile::tempdir().expect("folder");
    let metadata = preamble(false, "hostname = \"car\";", "")
        + &stream(0, CONTEXT)
        + "
        event { id = 0; name = \"ros2:rmw_publisher_init\";
            fields := struct { u64 _rmw_publisher_handle; u8 _gid[24]; }; };
        event { id = 1; name = \"ros2:rmw_publish\"; fields := struct { u64 _message; }; };
        event { id = 2; name = \"ros2:rclcpp_publish\";
            fields := struct { u64 _publisher_handle; u64 _message; u64 _message_timestamp; }; };
        event { id = 3; name = \"ros2:rcl_node_init\"; fields := struct {
            u64 _node_handle; u64 _rmw_handle; string _node_name; string _namespace; }; };
        event { id = 4; name = \"ros2:rcl_publish\"; fields := struct { u64 _message; }; };
        event { id = 5; name = \"ros2:rmw_client_init\";
            fields := struct { u64 _rmw_client_handle; u8 _n; u8 _gid[_n]; }; };
        event { id = 6; name = \"ros2:rcl_take\"; fields := struct { string _message; }; };";
    let at = |bits, id, time| head(bits, id, time).put(7, 32).put(7, 32);
    let gid = |bits: Bits, count: u8| (1..=count).fold(bits, |bits, byte| bits.put(byte.into(), 8));
    let bits = gid(at(Bits::new(false), 0, 10).put(1, 64), 24);
    let bits = at(bits, 1, 11).put(0xa, 64);
    let bits = at(bits, 2, 12).put(2, 64).put(0xb, 64).put(99, 64);
    let bits = at(bits, 3, 13).put(3, 64).put(4, 64).text("lid\u{e4}r").text("/sensing");
    let bits = at(bits, 4, 14).put(0xc, 64);
    let bits = gid(at(bits, 5, 15).put(5, 64).put(16, 8), 16);
    let bits = at(bits, 6, 16).text("abc");
    let (found, reader) = events(&[write(folder.path(), &metadata, &[bits.bytes()])]);
    let gid = tacho_events::Gid([0x0807_0605_0403_0201, 0x100f_0e0d_0c0b_0a09]);
    let payloads: Vec<Payload> = found.iter().map(|f| f.3).collect();
    let Payload::RclNodeInit { name, namespace, .. } = payloads[3] else { panic!("{payloads:?}") };
    assert_eq!((reader.texts().get(name), reader.texts().get(namespace)), ("lid\u{e4}r", "/sensing"));
    assert_eq!(
        payloads[..3],
        [
            Payload::RmwPublisherInit { rmw_publisher: Handle(1), gid },
            Payload::RmwPublish { rmw_publisher: Handle(0), message: Handle(0xa), timestamp: 0 },
            Payload::RclcppPublish { publisher: Handle(2), message: Handle(0xb) },
        ]
    );
    assert_eq!(payloads[4..], [Payload::RmwClientInit { rmw_client: Handle(5), gid }]);
    // The reader cannot invent a handle that is absent or no number.
    assert_eq!(reader.skipped().into_iter().collect::<Vec<_>>(), [("ros2:rcl_publish", 1), ("ros2:rcl_take", 1)]);
    let problem = reader.problems().iter().next().expect("a problem");
    assert_eq!((problem.name, problem.count), ("event-lacks-field", 2));
    assert!(problem.text.contains("ros2:rcl_publish") && problem.text.contains("publisher_handle"), "{}", problem.text);
    assert_eq!(reader.processes()[0].header.host, "car");
}

#[test]
fn a_null_pointer_is_no_text() {
    let folder = tempfile::tempdir().expect("folder");
    let metadata = preamble(false, "", "")
        + &stream(0, CONTEXT)
        + "event { id = 0; name = \"ros2:rclcpp_callback_register\";
               fields := struct { u64 _callback; string _symbol; }; };";
    let at = |bits, time, symbol| head(bits, 0, time).put(7, 32).put(7, 32).put(1, 64).text(symbol);
    let bits = at(at(Bits::new(false), 1, "(null)"), 2, "f()");
    let (found, reader) = events(&[write(folder.path(), &metadata, &[bits.bytes()])]);
    let symbols: Vec<_> = found
        .iter()
        .map(|(.., payload)| match payload {
            Payload::RclcppCallbackRegister { symbol, .. } => reader.texts().get(*symbol),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(symbols, ["", "f()"]);
}

#[test]
fn caret_says_again_what_was_there_before_the_trace_began() {
    let folder = tempfile::tempdir().expect("folder");
    let init = "u64 _context_handle; ";
    let metadata = preamble(false, "", "")
        + &stream(0, CONTEXT)
        + &format!(
            "
        event {{ id = 0; name = \"ros2:rcl_init\"; fields := struct {{ {init} string _version; }}; }};
        event {{ id = 1; name = \"ros2_caret:rcl_init\"; fields := struct {{ {init} u64 _init_timestamp; }}; }};
        event {{ id = 2; name = \"ros2_caret:rclcpp_subscription_init\";
            fields := struct {{ u64 _subscription_handle; u64 _subscription; u64 _init_timestamp; }}; }};
        event {{ id = 3; name = \"ros2_caret:rmw_implementation\"; fields := struct {{ u64 _init_timestamp; }}; }};"
        );
    let at = |bits, id, time, pid| head(bits, id, time).put(pid, 32).put(pid, 32);
    let bits = at(Bits::new(false), 0, 1, 7).put(0xa, 64).text("5.3");
    // Known already; of another context; a repetition; the same address in another process; a handle that is reused, as
    // both events report.
    let bits = at(bits, 1, 2, 7).put(0xa, 64).put(1, 64);
    let bits = at(bits, 1, 3, 7).put(0xb, 64).put(1, 64);
    let bits = at(bits, 1, 4, 7).put(0xb, 64).put(1, 64);
    let bits = at(bits, 1, 5, 8).put(0xa, 64).put(1, 64);
    let bits = at(bits, 0, 6, 7).put(0xa, 64).text("5.3");
    let bits = at(bits, 1, 7, 7).put(0xb, 64).put(7, 64);
    // One subscription has two objects; the event of the first is repeated.
    let bits = at(bits, 2, 8, 7).put(0xc, 64).put(1, 64).put(8, 64);
    let bits = at(bits, 2, 9, 7).put(0xc, 64).put(2, 64).put(8, 64);
    let bits = at(bits, 2, 10, 7).put(0xc, 64).put(1, 64).put(8, 64);
    let bits = at(bits, 3, 11, 7).put(1, 64);
    let (found, reader) = events(&[write(folder.path(), &metadata, &[bits.bytes()])]);
    let of: Vec<_> = found
        .iter()
        .map(|(time, pid, _, payload)| match payload {
            Payload::RclInit { context } => (*time, *pid, context.0),
            Payload::RclcppSubscriptionInit { object, .. } => (*time, *pid, object.0),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(of, [(1, 7, 0xa), (3, 7, 0xb), (5, 8, 0xa), (6, 7, 0xa), (7, 7, 0xb), (8, 7, 1), (9, 7, 2)]);
    let skipped =
        [("ros2_caret:rcl_init", 2), ("ros2_caret:rclcpp_subscription_init", 1), ("ros2_caret:rmw_implementation", 1)];
    assert_eq!(reader.skipped().into_iter().collect::<Vec<_>>(), skipped);
}

#[test]
fn carets_dds_write_stands_for_rmw_publish_where_it_has_all_that_this_says() {
    let metadata = |written: &str, published: &str| {
        preamble(false, "", "")
            + &stream(0, CONTEXT)
            + &format!(
                "
        event {{ id = 0; name = \"ros2:rmw_publish\"; fields := struct {{ {published} }}; }};
        event {{ id = 1; name = \"ros2_caret:dds_write\"; fields := struct {{ {written} }}; }};
        event {{ id = 2; name = \"ros2_caret:dds_bind_addr_to_stamp\";
            fields := struct {{ u64 _addr; u64 _source_stamp; }}; }};"
            )
    };
    let at = |bits, id, time| head(bits, id, time).put(7, 32).put(7, 32);
    let read = |metadata: &str, bits: Bits| {
        let folder = tempfile::tempdir().expect("folder");
        let (found, reader) = events(&[write(folder.path(), metadata, &[bits.bytes()])]);
        let skipped: Vec<_> = reader.skipped().into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        (found.into_iter().map(|(time, .., payload)| (time, payload)).collect::<Vec<_>>(), skipped)
    };
    let publish = |rmw, message, timestamp| Payload::RmwPublish {
        rmw_publisher: Handle(rmw),
        message: Handle(message),
        timestamp,
    };
    // From Jazzy on: the stamp alone comes first, from below, and Fast DDS names no message in it.
    const ALL: &str = "u64 _rmw_publisher_handle; u64 _message; u64 _timestamp;";
    let bits = at(at(Bits::new(false), 2, 1).put(0, 64).put(90, 64), 1, 2).put(5, 64).put(6, 64).put(90, 64);
    let bits = at(bits, 0, 3).put(5, 64).put(6, 64).put(91, 64);
    let (found, skipped) = read(&metadata(ALL, ALL), bits);
    assert_eq!(found, [(2, publish(5, 6, 90)), (3, publish(5, 6, 91))]);
    assert_eq!(skipped, [("ros2_caret:dds_bind_addr_to_stamp".to_owned(), 1)]);
    // Until then it contains less than the stamp that was bound.
    let bits = at(at(Bits::new(false), 2, 1).put(6, 64).put(90, 64), 1, 2).put(6, 64);
    let (found, skipped) = read(&metadata("u64 _message;", "u64 _message;"), bits);
    assert_eq!(found, [(1, publish(0, 6, 90))]);
    assert_eq!(skipped, [("ros2_caret:dds_write".to_owned(), 1)]);
}

#[test]
fn what_ties_takes_to_publications_before_jazzy_is_read() {
    let folder = tempfile::tempdir().expect("folder");
    // Events of Cyclone DDS with trace points, of its earlier branch, and of CARET for Galactic.
    let metadata = preamble(false, "", "")
        + &stream(0, CONTEXT)
        + "
        event { id = 0; name = \"dds:write\"; fields := struct { u64 _writer; u64 _timestamp; }; };
        event { id = 1; name = \"dds:write_pre\"; fields := struct { u64 _writer; u64 _data; }; };
        event { id = 2; name = \"ros2:dispatch_subscription_callback\"; fields := struct {
            u64 _message; u64 _callback; u64 _source_stamp; u64 _message_timestamp; }; };
        event { id = 3; name = \"ros2:message_construct\";
            fields := struct { u64 _original_message; u64 _constructed_message; }; };
        event { id = 4; name = \"ros2:dispatch_intra_process_subscription_callback\"; fields := struct {
            u64 _message; u64 _callback; u64 _message_timestamp; }; };";
    let at = |bits, id, time| head(bits, id, time).put(7, 32).put(7, 32);
    let bits = at(at(Bits::new(false), 1, 1).put(5, 64).put(6, 64), 0, 2).put(5, 64).put(90, 64);
    let bits = at(bits, 2, 3).put(6, 64).put(8, 64).put(90, 64).put(1, 64);
    let bits = at(at(bits, 3, 4).put(6, 64).put(16, 64), 4, 5).put(16, 64).put(8, 64).put(1, 64);
    let (found, reader) = events(&[write(&folder.path().join("new"), &metadata, &[bits.bytes()])]);
    assert_eq!(
        found.into_iter().map(|f| f.3).collect::<Vec<_>>(),
        [
            Payload::DdsWrite { writer: Handle(5), message: Handle(0), timestamp: 90 },
            Payload::DispatchSubscriptionCallback { callback: Handle(8), message: Handle(6), source_timestamp: 90 },
            Payload::MessageConstruct { original: Handle(6), constructed: Handle(16) },
            Payload::DispatchIntraProcessSubscriptionCallback { callback: Handle(8), message: Handle(16) },
        ]
    );
    assert_eq!(reader.skipped().into_iter().collect::<Vec<_>>(), [("dds:write_pre", 1)]);
    let metadata = preamble(false, "", "")
        + &stream(0, CONTEXT)
        + "event { id = 0; name = \"dds:write\"; fields := struct { u64 _writer; u64 _data; }; };";
    let bits = at(Bits::new(false), 0, 1).put(5, 64).put(6, 64);
    let (found, reader) = events(&[write(&folder.path().join("old"), &metadata, &[bits.bytes()])]);
    assert_eq!(found[0].3, Payload::DdsWrite { writer: Handle(5), message: Handle(6), timestamp: 0 });
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
}

#[test]
fn events_of_a_kernel_that_name_no_cpu_are_stepped_over_and_counted() {
    let folder = tempfile::tempdir().expect("folder");
    let user = write(
        &folder.path().join("ust"),
        &(preamble(false, "", "uuid = \"b\"; offset = 5;")
            + &stream(0, CONTEXT)
            + "event { id = 0; name = \"ros2:callback_end\"; fields := struct { u64 _callback; }; };"),
        &[head(Bits::new(false), 0, 20).put(1, 32).put(2, 32).put(3, 64).bytes()],
    );
    let switch = |bits, time| head(bits, 0, time).put(0, 128).put(10, 32).put(0, 64).put(0, 128).put(11, 32);
    let kernel = preamble(false, "", "uuid = \"b\"; offset = 9;")
        + &stream(0, "")
        + "
        event { id = 0; name = \"sched_switch\";
            fields := struct { u8 _prev_comm[16]; u32 _prev_tid; u64 _prev_state; u8 _next_comm[16];
                u32 _next_tid; }; };
        event { id = 1; name = \"irq_handler_entry\"; fields := struct { u32 _irq; string _name; }; };";
    let bits = head(switch(switch(Bits::new(false), 10), 20), 1, 30).put(5, 32).text("eth0");
    write(&folder.path().join("kernel"), &kernel, &[bits.bytes()]);
    let (found, reader) = events(&[folder.path().to_path_buf()]);
    // One boot, one clock: the two offsets are two readings of the clock, and do not move times against each other.
    assert_eq!(found, [(20, 1, 2, Payload::CallbackEnd { callback: Handle(3) })]);
    assert_eq!(reader.skipped().into_iter().collect::<Vec<_>>(), [("irq_handler_entry", 1), ("sched_switch", 2)]);
    assert!(reader.problems().is_empty() && reader.hosts() == 1, "{:?}", reader.problems());
    assert_eq!(reader.processes()[0].file, user);
}

#[test]
fn buffers_per_process_name_the_process_and_hosts_are_related_by_wall_time() {
    let folder = tempfile::tempdir().expect("folder");
    let only_thread = "event.context := struct { i32 _vtid; };";
    let of = |name: &str, pid: u32, host: &str, offset: &str, times: &[i128]| {
        let metadata = preamble(
            false,
            &format!("hostname = \"{host}\"; vpid = {pid}; procname = \"{name}\";"),
            &format!("uuid = \"{host}\"; {offset}"),
        ) + &stream(0, only_thread)
            + "event { id = 0; name = \"ros2:callback_end\"; fields := struct { u64 _callback; }; };";
        let bits =
            times.iter().fold(Bits::new(false), |bits, time| head(bits, 0, *time).put(pid.into(), 32).put(*time, 64));
        write(&folder.path().join(format!("{name}-{pid}")), &metadata, &[bits.bytes()]);
    };
    of("a", 1, "car", "offset_s = 100; offset = 7;", &[1_000, 3_000]);
    of("b", 1, "roadside", "offset_s = 99; offset = 7;", &[1_000_002_000]);
    of("c", 2, "car", "offset_s = 100; offset = 50;", &[2_500]);
    let (found, reader) = events(&[folder.path().to_path_buf()]);
    assert_eq!(found.iter().map(|f| (f.0, f.1)).collect::<Vec<_>>(), [(1_000, 1), (2_000, 1), (2_500, 2), (3_000, 1)]);
    let facts: Vec<_> =
        reader.processes().iter().map(|p| (&*p.header.executable, &*p.header.host, p.header.pid)).collect();
    assert_eq!(facts, [("a", "car", 1), ("b", "roadside", 1), ("c", "car", 2)]);
    assert_eq!((reader.hosts(), reader.realtime_offset_ns()), (2, 100_000_000_007));
    let names: Vec<_> = reader.problems().iter().map(|p| p.name).collect();
    assert_eq!(names, ["clocks-related-by-wall-time"]);
}

#[test]
fn events_without_a_thread_are_left_out_and_that_is_said() {
    let folder = tempfile::tempdir().expect("folder");
    let metadata = preamble(false, "", "")
        + &stream(0, "")
        + "event { id = 0; name = \"ros2:callback_end\"; fields := struct { u64 _callback; }; };";
    let (found, reader) =
        events(&[write(folder.path(), &metadata, &[head(Bits::new(false), 0, 1).put(3, 64).bytes()])]);
    assert_eq!((found.len(), reader.skipped()["ros2:callback_end"]), (0, 1));
    assert!(reader.problems().iter().any(|p| p.name == "no-thread-context" && p.text.contains("vtid")));
}

#[test]
fn an_event_that_takes_no_bits_ends_its_packet() {
    let folder = tempfile::tempdir().expect("folder");
    let metadata = preamble(false, "", "")
        + "stream { id = 0; }; event { id = 0; name = \"ros2:rclcpp_executor_get_next_ready\"; };";
    let (found, reader) = events(&[write(folder.path(), &metadata, &[vec![0; 100]])]);
    assert_eq!(found, []);
    assert!(reader.problems().iter().any(|p| p.name == "event-without-size"), "{:?}", reader.problems());
}

#[test]
fn an_event_larger_than_the_window_is_read_whole() {
    let folder = tempfile::tempdir().expect("folder");
    let metadata = preamble(false, "", "")
        + &stream(0, CONTEXT)
        + "event { id = 0; name = \"ros2:rclcpp_callback_register\";
               fields := struct { u64 _callback; string _symbol; }; };";
    let symbol = "s".repeat(1 << 20);
    let register = |bits, time| head(bits, 0, time).put(1, 32).put(2, 32).put(3, 64);
    let mut bytes = Vec::new();
    for time in [1, 2, 3] {
        bytes.extend(register(Bits::new(false), time).bytes());
        bytes.extend(symbol.bytes().chain([0]));
    }
    let (found, reader) = events(&[write(folder.path(), &metadata, &[bytes])]);
    assert_eq!(found.len(), 3);
    let Payload::RclcppCallbackRegister { symbol: text, .. } = found[2].3 else { panic!("{found:?}") };
    assert_eq!(reader.texts().get(text), symbol);
}
