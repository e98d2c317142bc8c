//! `record` on small C programs with the recorder as built from native/recorder.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tacho_events::RunDirectory;
use tacho_recording::scheduler_events::When;
use tacho_recording::{record, Error, Recorded, Recording, Wanted};

/// A program that calls tracetools, if it is preloaded: `fires COUNT [SECONDS [LIFETIME OF A CHILD LEFT BEHIND]]`,
/// exits with 7.
const FIRES: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((weak)) void ros_trace_rcl_init(const void *context);
static void fire(long count) { for (long i = 0; i < count; i++) if (ros_trace_rcl_init) ros_trace_rcl_init((void *)i); }
int main(int argc, char **argv) {
  long count = atol(argv[1]);
  fire(count);
  if (argc > 3) { /* the command goes only when what it leaves behind has begun */
    int ends[2];
    char begun;
    if (pipe(ends) != 0) return 1;
    if (fork() == 0) {
        fire(count);
        if (write(ends[1], "", 1) != 1) return 1;
        sleep(atoi(argv[3]));
        fire(count);
        exit(0);
    }
    if (read(ends[0], &begun, 1) != 1) return 1;
  }
  if (argc > 2) sleep(atoi(argv[2]));
  return 7;
}
"#;

struct Built {
    folder: tempfile::TempDir,
}

impl Built {
    fn recorder(&self) -> PathBuf {
        self.folder.path().join("libtacho_recorder.so")
    }

    fn program(&self, name: &str) -> OsString {
        self.folder.path().join(name).into()
    }
}

fn cc(arguments: &[&str]) {
    let done = Command::new("cc").args(arguments).output().expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let built = Built { folder: tempfile::tempdir().unwrap() };
        let native = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../native");
        // All that the build makes it of.
        let parts = std::fs::read_to_string(native.join("recorder/CMakeLists.txt")).unwrap();
        let (_, parts) = parts.split_once("add_library(tacho_recorder SHARED").expect("the recorder");
        let names = parts.split(')').next().unwrap_or_default().split_whitespace().filter(|word| word.ends_with(".c"));
        let sources: Vec<String> = names.map(|name| native.join("recorder").join(name).display().to_string()).collect();
        assert!(!sources.is_empty());
        let include = format!("-I{}", native.join("include").display());
        let library = built.recorder().display().to_string();
        // The build makes it of callbacks.py; no program here has an interpreter.
        let callbacks = built.folder.path().join("rclpy_callbacks.c").display().to_string();
        std::fs::write(&callbacks, "const char rclpy_callbacks_source[] = \"\";\n").unwrap();
        let mut arguments = vec![
            "-shared",
            "-fPIC",
            "-O2",
            "-fexceptions",
            "-fvisibility=hidden",
            "-pthread",
            &include,
            "-o",
            &library,
            &callbacks,
        ];
        arguments.extend(sources.iter().map(String::as_str));
        cc(&arguments);
        let source = built.folder.path().join("fires.c").display().to_string();
        std::fs::write(&source, FIRES).unwrap();
        cc(&[&source, "-o", built.program("fires").to_str().unwrap()]);
        cc(&[&source, "-static", "-o", built.program("fires_static").to_str().unwrap()]);
        built
    })
}

fn wanted(max_bytes: u64) -> Wanted {
    Wanted { max_bytes, scheduler: When::Off, cpu_time: false }
}

fn record_words(folder: &Path, words: &[OsString]) -> Result<Recorded, Error> {
    record(words, &RunDirectory::new(folder.join("run")), &built().recorder(), wanted(1 << 30), None)
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_recorded_program_leaves_its_events_and_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let done = record_words(folder.path(), &[built().program("fires"), "5".into()]).unwrap();
    assert_eq!(done.code, 7);
    assert_eq!(done.nothing_recorded, None);
    let [process] = done.processes.as_slice() else { panic!("{:?}", done.processes) };
    assert!(process.ended && !process.running && process.dropped_events == 0);
    let run = RunDirectory::new(folder.path().join("run"));
    let info = run.info().unwrap();
    assert_eq!(info, done.info);
    assert!(!info.cut_short && info.duration_s > 0.0);
    assert_eq!(info.processes[0].code, Some(7));
    assert_eq!(info.processes[0].pid, process.pid);
    // The page of the header, one chunk of the program, perhaps one of the keeper.
    let size = std::fs::metadata(&process.file).unwrap().len();
    assert!((4096 + 32768..=4096 + 2 * 32768).contains(&size), "{size}");
}

#[test]
fn a_run_that_recorded_nothing_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let done = record_words(folder.path(), &[built().program("fires_static"), "5".into()]).unwrap();
    assert!(done.nothing_recorded.unwrap().contains("statically linked"));
    let folder = tempfile::tempdir().unwrap();
    let done = record_words(folder.path(), &["true".into()]).unwrap();
    assert_eq!(done.code, 0);
    assert!(done.nothing_recorded.as_ref().unwrap().contains("tracetools"));
    assert_eq!(done.info.missing, vec![done.nothing_recorded.unwrap()]);
}

#[test]
fn a_command_that_is_not_there_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let error = record_words(folder.path(), &["no-such-command".into()]).unwrap_err();
    assert!(error.to_string().starts_with("no-such-command: "), "{error}");
}

#[test]
fn a_run_directory_is_not_written_twice() {
    let folder = tempfile::tempdir().unwrap();
    record_words(folder.path(), &[built().program("fires"), "1".into()]).unwrap();
    let error = record_words(folder.path(), &[built().program("fires"), "1".into()]).unwrap_err();
    assert!(matches!(error, Error::Taken(_)), "{error}");
}

#[test]
fn a_signal_that_ended_the_command_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["sh", "-c", "kill -TERM $$"].map(OsString::from);
    let done = record_words(folder.path(), &words).unwrap();
    assert_eq!(done.code, 128 + libc::SIGTERM);
    assert_eq!(done.info.processes[0].signal, Some(libc::SIGTERM));
}

#[test]
fn descendants_that_outlive_the_command_a_little_are_recorded_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let done = record_words(folder.path(), &[built().program("fires"), "5".into(), "0".into(), "1".into()]).unwrap();
    assert_eq!(done.processes.len(), 2);
    assert!(done.processes.iter().all(|process| process.ended && !process.running));
}

#[test]
fn files_of_running_processes_are_left_whole() {
    let folder = tempfile::tempdir().unwrap();
    let recording = Recording::start(&RunDirectory::new(folder.path()), &built().recorder()).unwrap();
    let mut child =
        Command::new(built().program("fires")).args(["5", "60"]).envs(recording.environment()).spawn().unwrap();
    let events = folder.path().join("events");
    wait_until(|| std::fs::read_dir(&events).unwrap().flatten().any(|e| e.metadata().unwrap().len() > 1 << 20));
    assert!(!recording.wait_for_writers(std::time::Duration::ZERO).unwrap());
    let processes = recording.finish().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(processes[0].running && !processes[0].ended);
    assert!(std::fs::metadata(&processes[0].file).unwrap().len() > 1 << 20, "it was not cut");
}

#[test]
fn what_tacho_itself_writes_of_the_kernel_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let recording = Recording::start(&RunDirectory::new(folder.path()), &built().recorder()).unwrap();
    let mut recording = recording.with_scheduler_events(When::Permitted).unwrap();
    assert!(recording.wait_for_writers(std::time::Duration::from_secs(1)).unwrap());
    recording.finish_scheduler_events().unwrap();
}

#[test]
fn drops_are_named_in_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let words = [built().program("fires"), "100000".into()];
    let done = record(&words, &RunDirectory::new(folder.path()), &built().recorder(), wanted(200_000), None).unwrap();
    assert!(done.processes[0].dropped_events > 0);
    let dropped = format!("{} events of process {}", done.processes[0].dropped_events, done.processes[0].pid);
    assert!(done.info.missing.iter().any(|missing| missing.starts_with(&dropped)), "{:?}", done.info.missing);
}

#[test]
fn signals_of_tacho_reach_the_command_and_the_run_is_whole() {
    // Built by cargo beside the tests. A process of its own, because only its main thread may be there when `record`
    // begins.
    let example = std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples").join("record");
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let command =
            [run.clone().into(), built().recorder().into(), built().program("fires"), "5".into(), "60".into()];
        let mut tacho = Command::new(&example);
        // Who runs the tests in the background may have begun them with SIGINT ignored.
        // SAFETY: signal is async-signal-safe.
        unsafe {
            tacho.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut tacho = tacho.args(command).spawn().unwrap();
        let is_event_file = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|x| x == "events");
        wait_until(|| std::fs::read_dir(run.join("events")).into_iter().flatten().flatten().any(is_event_file));
        // SAFETY: a child of ours that was not waited for.
        assert_eq!(unsafe { libc::kill(tacho.id() as libc::pid_t, signal) }, 0);
        assert_eq!(tacho.wait().unwrap().code(), Some(128 + signal));
        let info = RunDirectory::new(run).info().unwrap();
        assert!(!info.cut_short);
        assert_eq!(info.processes[0].signal, Some(signal));
    }
}
