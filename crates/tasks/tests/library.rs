//! The wrapper over a library of tasks that the native build made for tests, in TACHO_HOME/native/tasks/tests.

use std::path::PathBuf;
use tacho_abi::Header;
use tacho_tasks::{kinds, load, Config, Endpoint, Error, Input, OnSample, Output, Sample, Task};

fn folder() -> PathBuf {
    let home = std::env::var_os("TACHO_HOME").expect("TACHO_HOME must name the build folder (make build)");
    PathBuf::from(home).join("native/tasks/tests")
}

fn task(name: &str, parameters: &[(&str, &str)], inputs: usize, outputs: usize) -> Result<Task, Error> {
    let kind = load(&folder().join("libtacho_tasks_probe.so"), name)?;
    let endpoint = Endpoint { topic: "/data", message_type: "", size: 64 };
    let parameters: Vec<_> = parameters.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let (inputs, outputs) = (vec![endpoint; inputs], vec![endpoint; outputs]);
    let config = Config { node: "node", seed: 1, parameters: &parameters, inputs: &inputs, outputs: &outputs };
    Task::create(&kind, &config)
}

fn figure(task: &mut Task, name: &str) -> f64 {
    task.figures().into_iter().find(|figure| figure.name == name).map(|figure| figure.value).unwrap()
}

#[test]
fn the_kinds_of_a_folder_are_described() {
    let kinds = kinds(&folder()).unwrap();
    let names: Vec<_> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names, ["probe_check", "probe_compute", "probe_copy", "probe_count", "probe_digest"]);
    let copy = &kinds[2];
    assert_eq!((copy.parameters[0].name.as_str(), copy.parameters[0].initial), ("every", 1.0));
    assert_eq!((copy.inputs[1].name.as_str(), copy.inputs[1].optional), ("more data", true));
    assert_eq!(copy.outputs[0].size_bytes, 1);
    assert!(copy.library.ends_with("libtacho_tasks_probe.so"));
}

#[test]
fn tasks_of_a_library_that_was_not_built_are_missing_for_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libtacho_tasks_lidar.missing");
    std::fs::write(file, "It is not built yet: make perception.\nvoxel_grid\nscan_matching\n").unwrap();
    let kinds = kinds(folder.path()).unwrap();
    let told: Vec<_> = kinds.iter().map(|kind| (kind.name.as_str(), kind.missing.as_deref())).collect();
    let reason = Some("It is not built yet: make perception.");
    assert_eq!(told, [("scan_matching", reason), ("voxel_grid", reason)]);
}

#[test]
fn a_task_gets_messages_and_fills_buffers() {
    let mut copy = task("probe_copy", &[("every", "2")], 2, 1).unwrap();
    let header = Header { sequence: 7, stamp_ns: 3_000_000, ..Header::default() };
    let mut buffer = [1; 64];
    for now_ns in [4_000_000, 5_000_000] {
        let inputs = [Input::message(header, &[42; 10], now_ns == 5_000_000), Input::none()];
        let mut outputs = [Output::buffer(&mut buffer)];
        copy.run(now_ns, &inputs, &mut outputs, None).unwrap();
        assert_eq!(outputs[0].is_published(), now_ns == 5_000_000);
    }
    assert_eq!(buffer[..10], [42; 10]);
    assert_eq!(buffer[10..], [0; 54]);
    assert_eq!((figure(&mut copy, "calls"), figure(&mut copy, "new_first")), (2.0, 1.0));
    assert_eq!((figure(&mut copy, "last_sequence"), figure(&mut copy, "last_age")), (7.0, 2.0));
    let mut outputs = [Output::none()];
    copy.run(6_000_000, &[Input::none(), Input::none()], &mut outputs, None).unwrap();
    assert!(!outputs[0].is_published());
}

#[test]
fn a_task_reports_its_signals_in_the_call() {
    let mut count = task("probe_count", &[], 0, 1).unwrap();
    let told: Vec<_> = count.signals().iter().map(|of| (of.name.as_str(), of.unit.as_str(), of.is_list)).collect();
    assert_eq!(told, [("count", "", false), ("square", "m/s^2", true)]);
    let mut samples = Vec::new();
    let mut buffer = [0; 64];
    for now_ns in [5_000, 6_000, 7_000] {
        let mut on_sample = |sample: Sample| samples.push((sample.signal, sample.entry, sample.at_ns, sample.value));
        // Every second call is of nobody who records signals.
        let on_sample = (now_ns != 6_000).then_some(&mut on_sample as OnSample<'_>);
        count.run(now_ns, &[], &mut [Output::buffer(&mut buffer)], on_sample).unwrap();
    }
    let expected = [
        (0, 0, 5_000, 0.0),
        (1, 0, 4_000, 0.0),
        (1, 1, 4_000, 0.0),
        (0, 0, 7_000, 2.0),
        (1, 0, 6_000, 4.0),
        (1, 1, 6_000, -4.0),
    ];
    assert_eq!(samples, expected);
}

#[test]
fn failures_are_told_in_the_words_of_the_task() {
    for (how, words) in [("0", "task probe_copy: found call 1, expected fewer"), ("1", "found an exception")] {
        let mut copy = task("probe_copy", &[("fail_at", "1"), ("how", how)], 1, 1).unwrap();
        let error = copy.run(0, &[Input::none()], &mut [Output::none()], None).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(figure(&mut copy, "calls"), 1.0);
    }
    let text = |made: Result<Task, Error>| made.err().unwrap().to_string();
    assert!(text(task("probe_copy", &[("every", "13")], 1, 1)).contains("found 13 as every, expected"));
    assert!(text(task("probe_copy", &[("evry", "1")], 1, 1)).contains("found `evry`, expected one of every"));
    assert!(text(task("probe_copy", &[("every", "0")], 1, 1)).contains("found `0`, expected a number from 1"));
    assert!(text(task("no_such", &[], 1, 1)).contains("no task \"no_such\"; there are: probe_copy"));
}

#[test]
fn what_is_no_library_of_tasks_is_refused() {
    let temporary = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-library");
    std::fs::create_dir_all(&temporary).unwrap();
    std::fs::write(temporary.join("libtacho_tasks_text.so"), "text").unwrap();
    assert!(matches!(kinds(&temporary), Err(Error::Load { .. })));
    assert!(matches!(kinds(&temporary.join("none")), Err(Error::Folder { .. })));
}

/// CPU time of the thread.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Of a task of some 0.2 ms. Interrupts hit both sides, so the best of some rounds is taken.
#[test]
fn the_seam_adds_at_most_two_percent_to_the_time_of_a_task() {
    let mut buffer = [0; 64];
    let data = [0; 64];
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        let mut compute = task("probe_compute", &[("rounds", "300000")], 1, 1).unwrap();
        let from = cpu_ns();
        for call in 0..50 {
            let inputs = vec![Input::message(Header::default(), &data, true)];
            let mut outputs = vec![Output::buffer(&mut buffer)];
            compute.run(call, &inputs, &mut outputs, None).unwrap();
            assert!(outputs[0].is_published());
        }
        let whole = (cpu_ns() - from) as f64;
        best = best.min(whole / figure(&mut compute, "inside"));
    }
    assert!((1.0..1.02).contains(&best), "{best}");
}
