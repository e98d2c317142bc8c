//! Reads whole, damaged and mutated files.

use tacho_events::testing::FileBuilder;
use tacho_events::{Event, Payload, Reader, RunDirectory};

fn all(reader: &mut Reader) -> Vec<Event> {
    std::iter::from_fn(|| reader.next_event()).collect()
}

fn written(builder: &FileBuilder) -> (tempfile::TempDir, RunDirectory) {
    let folder = tempfile::tempdir().expect("folder");
    let run = builder.write(folder.path()).expect("write");
    (folder, run)
}

fn file_of(bytes: &[u8]) -> (tempfile::TempDir, Reader) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("1.events");
    std::fs::write(&path, bytes).expect("write");
    let reader = Reader::open_files(vec![path], None).expect("open");
    (folder, reader)
}

#[test]
fn events_of_all_threads_come_in_the_order_of_time_and_ties_by_stream() {
    let builder = FileBuilder::new()
        .process(2)
        .thread(20)
        .at(10)
        .callback_start(0xa, false)
        .at(30)
        .callback_end(0xa)
        .process(1)
        .thread(10)
        .at(20)
        .callback_start(0xb, true)
        .at(30)
        .callback_end(0xb)
        .thread(11)
        .at(5)
        .rclcpp_executor_wait_for_work(-1)
        .at(30)
        .rclcpp_executor_get_next_ready();
    let (_folder, run) = written(&builder);
    let mut reader = Reader::open(&run).expect("open");
    let found: Vec<_> = all(&mut reader).iter().map(|e| (e.time.as_ns(), e.thread.0, e.payload.name())).collect();
    assert_eq!(
        found,
        [
            (5, 11, "rclcpp_executor_wait_for_work"),
            (10, 20, "callback_start"),
            (20, 10, "callback_start"),
            (30, 10, "callback_end"),
            (30, 11, "rclcpp_executor_get_next_ready"),
            (30, 20, "callback_end"),
        ]
    );
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
    assert_eq!(reader.progress().events, 6);
}

#[test]
fn fields_and_texts_come_back_as_they_were_written() {
    let symbol = "void ndt::Matcher<".repeat(100);
    let builder = FileBuilder::new()
        .process(1)
        .at(1)
        .rcl_node_init(0x10, 0x11, "ndt", "/localisation")
        .at(2)
        .rcl_publisher_init(0x20, 0x10, 0x21, 7, "/pose")
        .at(3)
        .rclcpp_callback_register(0x30, &symbol)
        .at(4)
        .rcl_lifecycle_transition(0x40, "", "active")
        .at(5)
        .rmw_take(0x50, 0x51, -3, true);
    let (_folder, run) = written(&builder);
    let mut reader = Reader::open(&run).expect("open");
    let events = all(&mut reader);
    let text = |t| reader.texts().get(t).to_string();
    let Payload::RclNodeInit { node, name, namespace, .. } = events[0].payload else { panic!("{:?}", events[0]) };
    assert_eq!((node.0, text(name), text(namespace)), (0x10, "ndt".into(), "/localisation".into()));
    let Payload::RclPublisherInit { queue_depth, topic, .. } = events[1].payload else { panic!("{:?}", events[1]) };
    assert_eq!((queue_depth, text(topic)), (7, "/pose".into()));
    let Payload::RclcppCallbackRegister { symbol: found, .. } = events[2].payload else { panic!("{:?}", events[2]) };
    assert_eq!(text(found), symbol);
    let Payload::RclLifecycleTransition { start, goal, .. } = events[3].payload else { panic!("{:?}", events[3]) };
    assert_eq!((text(start), text(goal)), ("".into(), "active".into()));
    let Payload::RmwTake { source_timestamp, taken, .. } = events[4].payload else { panic!("{:?}", events[4]) };
    assert_eq!((source_timestamp, taken), (-3, true));
}

#[test]
fn a_stream_goes_on_over_chunks_and_a_reused_thread_id_is_another_stream() {
    let mut builder = FileBuilder::new().process(1).thread(5);
    for i in 0..10_000 {
        builder = builder.at(i).rcl_publish(1, i as u64);
    }
    builder = builder.thread_reborn(5);
    for i in 10_000..12_000 {
        builder = builder.at(i).rcl_publish(1, i as u64);
    }
    let (_folder, run) = written(&builder);
    let mut reader = Reader::open(&run).expect("open");
    let events = all(&mut reader);
    assert_eq!(events.len(), 12_000);
    assert!(events.iter().enumerate().all(|(i, e)| e.time.as_ns() == i as i64));
    assert_ne!(events[0].stream, events[11_999].stream);
    assert_eq!(reader.progress().chunks, reader.progress().chunks_total);
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
}

#[test]
fn ticks_become_time_through_the_readings_of_clock_sync() {
    let builder =
        FileBuilder::new().tsc(3).clock_sync_record(2_000_000_000, 80).process(1).at(1_000_000_000).rcl_init(1);
    let (_folder, run) = written(&builder);
    let mut reader = Reader::open(&run).expect("open");
    let event = reader.next_event().expect("event");
    assert!((event.time.as_ns() - 1_000_000_000).abs() <= 1, "{:?}", event.time);
    assert!((80..=90).contains(&reader.clock_error().as_ns()), "{}", reader.clock_error());
}

#[test]
fn a_file_whose_ticks_cannot_be_told_is_left_out_and_named() {
    let (_folder, run) = written(&FileBuilder::new().tsc(3).process(1).at(1_000).rcl_init(1));
    let mut reader = Reader::open(&run).expect("open");
    assert_eq!(reader.next_event(), None);
    assert_eq!(reader.problems().count("no-clock"), 1);
}

#[test]
fn a_clock_sync_event_is_a_reading_too() {
    let builder = FileBuilder::new()
        .tsc(2)
        .process(1)
        .at(4_000_000_000)
        .clock_sync(4_000_000_000, 0, 10)
        .at(4_500_000_000)
        .rcl_init(1);
    let (_folder, run) = written(&builder);
    let mut reader = Reader::open(&run).expect("open");
    assert_eq!(all(&mut reader)[1].time.as_ns(), 4_500_000_000);
}

#[test]
fn damage_is_named_with_its_place_and_the_rest_is_read() {
    let mut bytes =
        FileBuilder::new().process(1).thread(1).at(1).rcl_init(1).at(2).rcl_init(2).at(3).rcl_init(3).bytes(1);
    let second = 4096 + 64 + 12;
    bytes[second] = 251; // a kind of a later release, whose size the file states
    bytes[3920 + 251 / 2] = 2 << 4;
    let (_folder, mut reader) = file_of(&bytes);
    assert_eq!(all(&mut reader).len(), 2);
    let problem = reader.problems().iter().next().expect("problem").clone();
    assert_eq!((problem.name, problem.offset), ("unknown-kind", second as u64), "{problem}");
    bytes[3920 + 251 / 2] = 15 << 4; // the size is that of a text, and reaches beyond the chunk
    bytes[second + 4..second + 8].fill(0xff);
    let (_folder, mut reader) = file_of(&bytes);
    assert_eq!(all(&mut reader).len(), 1);
    let problem = reader.problems().iter().next().expect("problem").clone();
    assert_eq!((problem.name, problem.offset), ("record-beyond-chunk", second as u64), "{problem}");

    let unknown =
        FileBuilder::new().process(1).raw(1000, &[1, 2]).raw(22, &[1]).rcl_init(1).raw(19, &[1, 2, 3, 4]).bytes(1);
    let (_folder, mut reader) = file_of(&unknown);
    assert_eq!(all(&mut reader).len(), 1);
    let names: Vec<_> = reader.problems().iter().map(|p| p.name).collect();
    assert_eq!(names, ["short-record", "text-missing", "unknown-kind"]);
}

#[test]
fn truncated_and_foreign_files_are_read_as_far_as_they_go() {
    let mut builder = FileBuilder::new().process(1);
    for i in 0..1000 {
        builder = builder.at(i).rcl_publish(1, 2);
    }
    let bytes = builder.bytes(1);
    let (_folder, mut reader) = file_of(&bytes[..4096 + 64 + 12 * 500 + 10]);
    assert_eq!(all(&mut reader).len(), 500);
    assert_eq!(reader.problems().count("file-truncated"), 1);
    for (bytes, name) in [(&b"short"[..], "no-header"), (&[0; 8192], "no-header"), (&[b'x'; 8192], "not-an-event-file")]
    {
        let (_folder, mut reader) = file_of(bytes);
        assert_eq!(reader.next_event(), None);
        assert_eq!(reader.problems().count(name), 1);
    }
}

/// Makes a run of two threads of one process with several windows and chunks each; returns its file.
fn long() -> (tempfile::TempDir, RunDirectory, std::path::PathBuf) {
    let mut builder = FileBuilder::new();
    for i in 0..20_000 {
        builder = builder.process(1).thread(1 + (i % 2) as u32).at(i).rcl_publish(1, 2);
    }
    let (folder, run) = written(&builder);
    let file = std::fs::read_dir(run.events()).expect("events").flatten().map(|entry| entry.path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "events")).expect("file");
    (folder, run, file)
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_named_and_ends_there() {
    let (_folder, run, path) = long();
    let whole = std::fs::metadata(&path).expect("file").len();
    // Cut between two chunks, within one, and to nothing.
    for length in [4096 + 3 * 32768, 4096 + 2 * 32768 + 5000, 0] {
        let kept = std::fs::read(&path).expect("bytes");
        let mut reader = Reader::open(&run).expect("open");
        assert!((0..100).all(|_| reader.next_event().is_some()));
        std::fs::File::options().write(true).open(&path).and_then(|file| file.set_len(length)).expect("cut");
        let events = all(&mut reader).len();
        assert!(events < 19_900, "{events}");
        let problems: Vec<String> = reader.problems().iter().map(ToString::to_string).collect();
        assert!(
            problems.len() == 1
                && problems[0].starts_with("cut-while-read")
                && problems[0].contains(&format!("expected {whole} bytes")),
            "{problems:?}"
        );
        std::fs::write(&path, kept).expect("whole again");
    }
}

#[test]
fn a_sparse_file_is_read_where_it_has_storage() {
    let (_folder, run, path) = long();
    let file = std::fs::File::options().write(true).open(&path).expect("file");
    file.set_len(4096 + (32768 << 28)).expect("8 TiB");
    let mut reader = Reader::open(&run).expect("open");
    assert_eq!(all(&mut reader).len(), 20_000);
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
}

#[test]
fn a_missing_chunk_and_time_that_turns_back_are_counted() {
    let mut builder = FileBuilder::new().process(1);
    for i in 0..6_000 {
        builder = builder.at(i).rcl_publish(1, 2);
    }
    let mut bytes = builder.at(5_990).rcl_init(1).bytes(1);
    let chunk = 4096 + 32768;
    bytes[chunk..chunk + 32768].fill(0);
    let (_folder, mut reader) = file_of(&bytes);
    let events = all(&mut reader);
    assert!(events.windows(2).all(|e| e[0].time <= e[1].time));
    assert_eq!(reader.problems().count("chunk-missing"), 1);
    assert_eq!(reader.problems().count("time-turned-back"), 1);
}

/// xorshift64, so that every run makes the same mutations.
struct Random(u64);
impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn mutated_files_never_panic_and_stay_in_order() {
    let mut builder = FileBuilder::new();
    for thread in 0..3 {
        builder = builder.process(1).thread(thread);
        for i in 0..300 {
            builder = builder
                .at(i * 10 + thread as i64)
                .rcl_publisher_init(1, 2, 3, 4, "/topic")
                .rmw_take(1, 2, 3, true)
                .rmw_publisher_init(1, [2, 3])
                .rcl_lifecycle_transition(1, "a", "b");
        }
    }
    let whole = builder.bytes(1);
    let mut random = Random(0x7ac4_0000_0001);
    let mut damaged = 0;
    for round in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(20) {
            let at = if random.below(4) == 0 { random.below(4096) } else { random.below(bytes.len()) };
            match random.below(3) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.below(256) as u8,
                _ => {
                    let end = bytes.len().min(at + random.below(64));
                    bytes[at..end].fill(0);
                }
            }
        }
        if round % 5 == 0 {
            bytes.truncate(random.below(whole.len()));
        }
        let (_folder, mut reader) = file_of(&bytes);
        let events = all(&mut reader);
        assert!(events.windows(2).all(|e| e[0].time <= e[1].time), "round {round}");
        damaged += usize::from(!reader.problems().is_empty());
    }
    assert!(damaged > 100, "mutations that nobody noticed: {damaged} of 400 named a problem");
}
