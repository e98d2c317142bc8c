//! Imports traces as run directories. Read back, they hold the same events, and analysis treats them as any other run.

mod fixture;

use fixture::{Fixture, ALL};
use tacho_events::run::RunInfo;
use tacho_events::{Event, Payload, RunDirectory, Texts};
use tacho_import::{import, Error, Reader};

/// An event in words: texts of two tables compare only so.
fn said(event: &Event, pid: u32, texts: &Texts) -> String {
    let names = match event.payload {
        Payload::RclNodeInit { name, namespace, .. } => vec![name, namespace],
        Payload::RclPublisherInit { topic, .. } | Payload::RclSubscriptionInit { topic, .. } => vec![topic],
        Payload::RclServiceInit { name, .. } | Payload::RclClientInit { name, .. } => vec![name],
        Payload::RclcppCallbackRegister { symbol, .. } => vec![symbol],
        Payload::RclLifecycleTransition { start, goal, .. } => vec![start, goal],
        other => return low_bytes(&format!("{} {pid} {} {other:?}", event.time.as_ns(), event.thread.0)),
    };
    let names: Vec<&str> = names.into_iter().map(|name| texts.get(name)).collect();
    format!("{} {pid} {} {} {names:?}", event.time.as_ns(), event.thread.0, event.payload.name())
}

/// The same with the lowest 4 bytes of each pointer, which are all that events have of it.
fn low_bytes(said: &str) -> String {
    let (mut low, mut rest) = (String::new(), said);
    while let Some(at) = rest.find("Handle(") {
        let (before, pointer) = rest.split_at(at + "Handle(".len());
        let (pointer, after) = pointer.split_at(pointer.find(')').expect("an end"));
        low += &format!("{before}{}", pointer.parse::<u64>().expect("a pointer") & 0xffff_ffff);
        rest = after;
    }
    low + rest
}

#[test]
fn a_run_holds_every_event_of_its_trace() {
    for name in ALL {
        let fixture = Fixture::unpack(name);
        let folder = tempfile::tempdir().expect("folder");
        let run = RunDirectory::new(folder.path().join("run"));
        let mut told = 0;
        let imported =
            import(Reader::open(&[fixture.trace()]).expect(name), &run, RunInfo::default(), &mut |progress| {
                told = progress.events;
                true
            })
            .expect(name);
        assert_eq!((imported.events, told), (fixture.truth["events"].as_u64().unwrap(), imported.events), "{name}");
        let mut trace = Reader::open(&[fixture.trace()]).expect(name);
        let mut expected = Vec::new();
        while let Some(event) = trace.next_event() {
            let pid = trace.processes()[event.process.0 as usize].header.pid;
            expected.push(said(&event, pid, trace.texts()));
        }
        let mut reader = tacho_events::Reader::open(&run).expect(name);
        let mut found = Vec::new();
        while let Some(event) = reader.next_event() {
            let pid = reader.processes()[event.process.0 as usize].header.pid;
            found.push(said(&event, pid, reader.texts()));
        }
        assert!(reader.problems().is_empty(), "{name}: {:?}", reader.problems());
        assert_eq!(
            reader.clock(tacho_events::ProcessIndex(0)).realtime_offset_ns(),
            imported.realtime_offset_ns,
            "{name}"
        );
        // Events of equal time may come in either order.
        expected.sort();
        found.sort();
        assert!(found == expected, "{name}: {:?}", found.iter().zip(&expected).find(|(a, b)| a != b));
    }
}

#[test]
fn what_the_tracer_lost_stands_in_the_run() {
    let fixture = Fixture::unpack("autoware_prio_discards_5s");
    let folder = tempfile::tempdir().expect("folder");
    let run = RunDirectory::new(folder.path());
    let command = vec!["tacho".to_string(), "import".to_string()];
    import(
        Reader::open(&[fixture.trace()]).expect("trace"),
        &run,
        RunInfo { command: command.clone(), ..RunInfo::default() },
        &mut |_| true,
    )
    .expect("imported");
    let info = run.info().expect("run.json");
    assert_eq!((info.verb.as_str(), info.command, info.cut_short), ("import", command, false));
    assert_eq!(info.missing.len(), 2);
    assert!(info.missing[0].contains("1758 events") && info.missing[1].contains("5867 events"), "{:?}", info.missing);
    let tables = tacho_analysis::analyse(&run, None, &mut |_| {}).expect("analysed");
    assert_eq!(tables.processes[0].dropped_events, 7_625);
    assert_eq!(tables.executions.iter().filter(|e| e.end_ns.get().is_some()).count(), 3_087);
}

#[test]
fn an_import_that_is_ended_leaves_a_run_and_one_is_never_written_over() {
    let fixture = Fixture::unpack("fan_1x8_procs_b_5s");
    let folder = tempfile::tempdir().expect("folder");
    // The import reports progress after 65,536 events or a few hundred more. It does not read the same trace twice, so
    // the test needs two traces.
    let other = Fixture::unpack("fan_1x8_mt_5s");
    let run = RunDirectory::new(folder.path());
    let traces = [fixture.trace(), other.trace()];
    let imported =
        import(Reader::open(&traces).expect("traces"), &run, RunInfo::default(), &mut |_| false).expect("imported");
    assert!(!imported.complete && (65_536..66_000).contains(&imported.events), "{imported:?}");
    assert!(run.info().expect("run.json").cut_short);
    let mut reader = tacho_events::Reader::open(&run).expect("a run");
    assert_eq!(std::iter::from_fn(|| reader.next_event()).count() as u64, imported.events);
    let again = import(Reader::open(&traces).expect("traces"), &run, RunInfo::default(), &mut |_| true);
    assert!(matches!(again, Err(Error::Taken(_))), "{again:?}");
}

#[test]
fn what_may_be_lacking_at_any_time_is_told_within_the_time_of_the_trace() {
    let fixture = Fixture::unpack("talker_listener_5s");
    std::fs::remove_dir_all(fixture.files().join("index")).expect("index");
    // This stream has no packet, and nothing contains its time.
    std::fs::write(fixture.files().join("ros2_0"), [7; 4096]).expect("stream");
    let folder = tempfile::tempdir().expect("folder");
    let run = RunDirectory::new(folder.path());
    let imported = import(Reader::open(&[fixture.trace()]).expect("trace"), &run, RunInfo::default(), &mut |_| true)
        .expect("imported");
    let (first, last) = imported.span.expect("events");
    let info = run.info().expect("run.json");
    assert_eq!(
        info.gaps.iter().map(|gap| (gap.from_ns, gap.to_ns)).collect::<Vec<_>>(),
        [(first.as_ns(), last.as_ns())]
    );
    assert!(info.missing[0].contains("between 0.000000 s"), "{:?}", info.missing);
}

#[test]
fn events_that_cut_metadata_does_not_describe_are_lacking_in_the_run() {
    let fixture = Fixture::unpack("talker_listener_5s");
    let path = fixture.files().join("metadata");
    let metadata = std::fs::read(&path).expect("metadata");
    let text = metadata.windows(5).position(|bytes| bytes == b"event").expect("events are described");
    std::fs::write(&path, &metadata[..text]).expect("write");
    let folder = tempfile::tempdir().expect("folder");
    let run = RunDirectory::new(folder.path());
    let imported = import(Reader::open(&[fixture.trace()]).expect("trace"), &run, RunInfo::default(), &mut |_| true)
        .expect("imported");
    assert_eq!((imported.events, run.info().expect("run.json").gaps.is_empty()), (0, false));
}
