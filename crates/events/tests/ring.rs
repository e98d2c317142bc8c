//! A file of which a ring released the beginning: a sparse file and the kept events, read as one.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tacho_events::follow::Follower;
use tacho_events::format::Format;
use tacho_events::kept::Kept;
use tacho_events::layout::{FileHeader, CHUNK_SIZE, HEADER_SIZE, KEPT_FROM};
use tacho_events::writer::EventFile;
use tacho_events::{holes, Payload, Reader, RunDirectory};

const EVENTS: u64 = 27_000;

/// Two nodes, and then publish calls of two threads, one each tick.
fn write(path: &Path) {
    let mut file = EventFile::create(path, FileHeader { pid: 5, ..FileHeader::default() }).expect("file");
    file.put(1, 1, 17, &[0x10, 0], &["talker", "/"]).expect("node");
    file.put(2, 2, 17, &[0x20, 0], &["listener", "/"]).expect("node");
    (10..EVENTS).for_each(|i| file.put(1 + (i % 2) as u32, i, 22, &[i, i], &[]).expect("publish"));
    file.flush().expect("flush");
}

/// Releases the first chunks, as the ring does. `punched`: if false, it was killed before it punched the hole.
fn let_go(path: &Path, count: usize, punched: bool) -> u64 {
    let file = File::options().read(true).write(true).open(path).expect("open");
    let mut kept = Kept::default();
    for index in 0..count {
        let mut chunk = vec![0; CHUNK_SIZE];
        file.read_exact_at(&mut chunk, (HEADER_SIZE + index * CHUNK_SIZE) as u64).expect("chunk");
        kept.take(&Format::default(), &chunk);
    }
    let mut next = [0; 8];
    file.read_exact_at(&mut next, (HEADER_SIZE + count * CHUNK_SIZE + 16) as u64).expect("base");
    let mut page = vec![0; HEADER_SIZE];
    file.read_exact_at(&mut page, 0).expect("page");
    kept.write(path, FileHeader::read(&page).expect("header")).expect("kept");
    file.write_all_at(&next, KEPT_FROM as u64).expect("kept from");
    if punched {
        holes::punch(&file, HEADER_SIZE as u64, (count * CHUNK_SIZE) as u64).expect("punch");
    }
    u64::from_le_bytes(next)
}

fn run() -> (tempfile::TempDir, RunDirectory, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("folder");
    let run = RunDirectory::new(folder.path());
    std::fs::create_dir(run.events()).expect("events");
    let path = run.events().join("5-0.events");
    write(&path);
    (folder, run, path)
}

/// Names of nodes, and ticks of publish calls.
fn told(run: &RunDirectory) -> (Vec<String>, Vec<u64>, Option<i64>) {
    let mut reader = Reader::open(run).expect("reader");
    let (mut nodes, mut calls) = (Vec::new(), Vec::new());
    while let Some(event) = reader.next_event() {
        assert_eq!(event.process.0, 0);
        match event.payload {
            Payload::RclNodeInit { name, .. } => nodes.push(reader.texts().get(name).to_owned()),
            Payload::RclPublish { publisher, .. } => calls.push(publisher.0),
            other => panic!("{other:?}"),
        }
    }
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
    assert_eq!(reader.processes().len(), 1);
    (nodes, calls, reader.kept_from_ns())
}

#[test]
fn names_stay_and_from_the_beginning_of_what_was_kept_all_is_there() {
    for punched in [true, false] {
        let (_folder, run, path) = run();
        assert_eq!(told(&run).2, None);
        let from = let_go(&path, 8, punched);
        let (nodes, calls, kept_from) = told(&run);
        assert_eq!(nodes, ["talker", "listener"]);
        assert_eq!(kept_from, Some(from as i64));
        let first = if punched { calls[0] } else { 10 };
        assert!(first <= from && (from - first < 10 || !punched), "{first} {from}");
        assert_eq!(calls, (first..EVENTS).collect::<Vec<_>>());
    }
}

#[test]
fn who_follows_later_reads_the_same() {
    let (_folder, run, path) = run();
    let from = let_go(&path, 8, true);
    let mut follower = Follower::new(&run);
    let (mut nodes, mut calls) = (0, Vec::new());
    let mut read = |follower: &mut Follower| {
        follower
            .read(|event, _| match event.payload {
                Payload::RclNodeInit { .. } => nodes += 1,
                Payload::RclPublish { publisher, .. } => calls.push(publisher.0),
                _ => {}
            })
            .expect("read");
    };
    read(&mut follower);
    read(&mut follower);
    calls.sort_unstable();
    assert_eq!(nodes, 2);
    assert!(calls[0] <= from);
    assert_eq!(calls, (calls[0]..EVENTS).collect::<Vec<_>>());
}

#[test]
fn what_stands_in_the_place_of_the_kept_events_and_is_no_file_is_named() {
    let (_folder, run, path) = run();
    let_go(&path, 8, true);
    let kept = tacho_events::kept::path_of(&path).expect("path");
    std::fs::remove_file(&kept).and_then(|()| std::fs::create_dir(&kept)).expect("folder");
    let error = Reader::open(&run).err().expect("no file").to_string();
    assert!(error.contains("kept/5-0.events") && error.contains("expected a file"), "{error}");
}
