//! Compares real traces with truth.json, and with the text that babeltrace2 makes of them.

mod fixture;

use fixture::{Fixture, ALL};
use std::collections::BTreeMap;
use std::process::Command;
use tacho_import::{Cause, Reader};

/// If a description differs from LTTng's large header in any way, the reader follows that description, event by event.
#[test]
fn a_look_at_the_whole_event_finds_what_its_description_says() {
    for name in ["fan_1x8_mt_5s", "ipc_5s", "service_5s", "humbleformat_talker_listener_5s", "sigkill_5s"] {
        let fixture = Fixture::unpack(name);
        let read = || {
            let mut reader = Reader::open(&[fixture.trace()]).expect(name);
            let events: Vec<_> = std::iter::from_fn(|| reader.next_event()).collect();
            assert!(reader.problems().is_empty(), "{name}: {:?}", reader.problems());
            events.into_iter().map(|e| (e.time, e.process, e.thread, e.stream, e.payload)).collect::<Vec<_>>()
        };
        let usual = read();
        let path = fixture.files().join("metadata");
        let mut metadata = std::fs::read(&path).expect("metadata");
        let at = metadata.windows(11).position(|bytes| bytes == b"0 ... 65534").expect("the ids of the large header");
        metadata[at..at + 11].copy_from_slice(b"0 ... 65533");
        std::fs::write(&path, metadata).expect("metadata");
        let described = read();
        let differs = usual.iter().zip(&described).position(|(a, b)| a != b);
        assert!(differs.is_none() && usual.len() == described.len(), "{name}: event {differs:?}");
        assert_eq!(usual.len() as u64, fixture.truth["events"], "{name}");
    }
}

#[test]
fn every_event_is_read_once_with_its_kind_process_and_time() {
    for name in ALL {
        let fixture = Fixture::unpack(name);
        let truth = &fixture.truth;
        let mut reader = Reader::open(&[fixture.trace()]).expect(name);
        let (mut counts, mut by_process, mut times) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        while let Some(event) = reader.next_event() {
            *counts.entry(event.payload.name().to_string()).or_insert(0u64) += 1;
            *by_process.entry(event.process).or_insert(0u64) += 1;
            times.push(event.time.as_ns() + reader.realtime_offset_ns());
        }
        let expected: BTreeMap<String, u64> =
            serde_json::from_value(truth["event_counts"].clone()).expect("event_counts");
        assert_eq!(counts, expected, "{name}");
        assert_eq!(times.len() as u64, truth["events"], "{name}");
        assert!(times.is_sorted(), "{name}");
        assert_eq!(times.first().copied(), truth["first_ns"].as_i64(), "{name}");
        assert_eq!(times.last().copied(), truth["last_ns"].as_i64(), "{name}");
        let processes: BTreeMap<u64, (String, u64)> = reader
            .processes()
            .iter()
            .zip(by_process.values())
            .map(|(facts, events)| (facts.header.pid.into(), (facts.header.executable.clone(), *events)))
            .collect();
        let expected: BTreeMap<u64, (String, u64)> = truth["processes"]
            .as_array()
            .expect("processes")
            .iter()
            .map(|p| {
                (
                    p["pid"].as_u64().unwrap(),
                    (p["procname"].as_str().unwrap().to_string(), p["events"].as_u64().unwrap()),
                )
            })
            .collect();
        assert_eq!(processes, expected, "{name}");
        assert!(reader.problems().is_empty(), "{name}: {:?}", reader.problems());
        assert!(reader.skipped().is_empty(), "{name}: {:?}", reader.skipped());
        let progress = reader.progress();
        assert_eq!((progress.chunks, progress.events), (progress.chunks_total, times.len() as u64), "{name}");
    }
}

#[test]
fn lost_events_are_counted() {
    for name in ALL {
        let fixture = Fixture::unpack(name);
        let mut reader = Reader::open(&[fixture.trace()]).expect(name);
        while reader.next_event().is_some() {}
        let lost: u64 = reader.gaps().iter().map(|g| g.events.expect("a count")).sum();
        assert_eq!(lost, fixture.truth["discarded"], "{name}");
        for gap in reader.gaps() {
            assert_eq!(gap.cause, Cause::Discarded);
            assert!(gap.from < gap.to);
        }
    }
}

/// `[seconds.ns] (+delta) host ros2:name: { context }, ...`, as babeltrace2 prints it with times since 1970.
#[test]
fn babeltrace2_prints_the_same_events_at_the_same_times() {
    let fixture = Fixture::unpack("fan_1x8_procs_b_5s");
    let printed = Command::new("babeltrace2")
        .arg("--clock-seconds")
        .arg(fixture.trace())
        .output()
        .expect("babeltrace2 is installed");
    assert!(printed.status.success());
    let printed = String::from_utf8(printed.stdout).expect("text");
    let mut expected: Vec<(i64, String, u32, u32)> = printed
        .lines()
        .map(|line| {
            let (seconds, rest) = line.trim_start_matches('[').split_once("] ").expect(line);
            let name = rest.split("ros2:").nth(1).and_then(|r| r.split(':').next()).expect(line);
            let number = |key: &str| {
                rest.split(key)
                    .nth(1)
                    .and_then(|r| r.split([',', ' ']).next())
                    .and_then(|n| n.parse().ok())
                    .expect(line)
            };
            let ns = seconds.replace('.', "").parse().expect(line);
            (ns, name.to_string(), number("vpid = "), number("vtid = "))
        })
        .collect();
    let mut reader = Reader::open(&[fixture.trace()]).expect("trace");
    let mut found = Vec::new();
    while let Some(event) = reader.next_event() {
        let pid = reader.processes()[event.process.0 as usize].header.pid;
        found.push((
            event.time.as_ns() + reader.realtime_offset_ns(),
            event.payload.name().to_string(),
            pid,
            event.thread.0,
        ));
    }
    // Events of equal time may come in either order.
    expected.sort();
    found.sort();
    assert_eq!(found.len(), 50_261);
    assert!(found == expected, "{:?}", found.iter().zip(&expected).find(|(a, b)| a != b));
}

#[test]
fn traces_may_be_named_by_any_folder_above_them_and_are_read_once() {
    let fixture = Fixture::unpack("service_5s");
    let count = |paths: &[std::path::PathBuf]| {
        let mut reader = Reader::open(paths).expect("trace");
        std::iter::from_fn(|| reader.next_event()).count() as u64
    };
    for paths in [vec![fixture.files()], vec![fixture.files().join("metadata")], vec![fixture.trace(), fixture.files()]]
    {
        assert_eq!(count(&paths), fixture.truth["events"], "{paths:?}");
    }
}

/// LTTng rotates a session into separate folders; the counters of the packets continue.
#[test]
fn rotated_folders_of_one_session_are_one_trace() {
    let fixture = Fixture::unpack("autoware_prio_discards_5s");
    let rotated = tempfile::tempdir().expect("folder");
    for name in ["ros2_0", "ros2_1"] {
        let bytes = std::fs::read(fixture.files().join(name)).expect("stream");
        // The packet's size is at its byte 56.
        let size = |at: usize| u64::from_le_bytes(bytes[at + 56..at + 64].try_into().expect("8 bytes")) as usize / 8;
        let border = (0..8).fold(0, |at, _| at + size(at));
        // The name of the later folder sorts first.
        for (folder, part) in [("b", &bytes[..border]), ("a", &bytes[border..])] {
            let folder = rotated.path().join(folder);
            std::fs::create_dir_all(&folder).expect("folder");
            std::fs::copy(fixture.files().join("metadata"), folder.join("metadata")).expect("metadata");
            std::fs::write(folder.join(name), part).expect("part");
        }
    }
    let mut reader = Reader::open(&[rotated.path().to_path_buf()]).expect("traces");
    let mut times = Vec::new();
    while let Some(event) = reader.next_event() {
        times.push(event.time);
    }
    assert_eq!((times.len() as u64, times.is_sorted()), (fixture.truth["events"].as_u64().unwrap(), true));
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
    assert_eq!(reader.gaps().iter().filter_map(|g| g.events).sum::<u64>(), fixture.truth["discarded"]);
    assert_eq!((reader.processes().len(), reader.hosts()), (1, 1));
}

#[test]
fn a_folder_without_a_trace_is_an_error_that_names_it() {
    let empty = tempfile::tempdir().expect("folder");
    let error = Reader::open(&[empty.path().to_path_buf()]).err().expect("an error").to_string();
    assert!(error.contains(&empty.path().display().to_string()) && error.contains("metadata"), "{error}");
}
