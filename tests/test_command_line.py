"""Usage, errors and exit codes."""

import json
import os
import re
import signal
import sys

import pytest
from waiting import finished

VERBS = [
    "bench",
    "record",
    "import",
    "explain",
    "top",
    "tune",
    "report",
    "compare",
    "export",
    "check",
    "doctor",
    "schema",
    "completions",
    "man",
]


def test_help_lists_every_verb(tacho):
    text = tacho("--help").stdout
    for verb in VERBS:
        assert verb in text


@pytest.mark.parametrize("verb", [v for v in VERBS if v != "schema"])
def test_each_verb_helps_with_an_example(tacho, verb):
    assert f"tacho {verb}" in tacho(verb, "--help").stdout


def test_help_of_a_verb_is_the_same_in_either_order(tacho):
    assert tacho("help", "explain").stdout == tacho("explain", "--help").stdout


@pytest.mark.parametrize("verb", ["explain", "report", "compare"])
def test_of_a_folder_of_runs_the_runs_are_named(tacho, verb):
    for name in ("first", "second"):
        (tacho.directory / "runs" / name).mkdir(parents=True)
        (tacho.directory / "runs" / name / "run.json").write_text("{}")
    words = [verb, "runs"] + (["runs"] if verb == "compare" else [])
    assert "a folder of runs; expected one of them: first, second" in tacho(*words, expect=2).stderr


@pytest.mark.parametrize(("option", "value", "unit"), [("--rate", "10", "100Hz"), ("--size", "64", "64KiB")])
def test_a_number_without_a_unit_is_refused_with_one_that_has_it(tacho, option, value, unit):
    words = {"--topology": "pairs", "--rate": "10Hz"} | {option: value}
    done = tacho("bench", *[word for pair in words.items() for word in pair], expect=2)
    assert "a number without a unit" in done.stderr and unit in done.stderr


def test_a_ros2_that_is_not_found_is_to_be_sourced(tacho):
    tacho.environment["PATH"] = "/nowhere"
    assert "source /opt/ros/" in tacho("record", "--", "ros2", "launch", "car", "car.py", expect=2).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-verb"],
        ["bench"],
        ["bench", "no-such-file.yaml"],
        ["explain", "no-such-run"],
        ["report", "no-such-run"],
        ["import", "no-such-trace"],
        ["tune", "no-such-run", "--method", "arrival"],
        ["tune", "no-such-run", "--method", "magic"],
        ["check", "no-such-file.yaml"],
    ],
)
def test_bad_usage_exits_2_and_names_what_was_found(tacho, arguments):
    done = tacho(*arguments, expect=2)
    assert any(a in done.stderr for a in arguments)
    assert done.stdout == ""


def test_check_names_file_line_found_and_expected(tacho):
    (tacho.directory / "bad.yaml").write_text(
        "nodes:\n  lidar: {publishes: {/points: {rate: 10}}}\n  ndt: {subscribes: [/point]}\n"
    )
    done = tacho("check", "bad.yaml", expect=2)
    assert "bad.yaml:2:" in done.stderr and "Hz" in done.stderr
    assert "bad.yaml:3:" in done.stderr and "/point" in done.stderr


def test_every_ready_made_workload_is_in_order(tacho, workloads):
    tacho("check", *sorted(workloads.glob("*.yaml")))


def test_the_schema_is_json(tacho):
    assert json.loads(tacho("schema").stdout)["$schema"].startswith("https://json-schema.org/")


def test_a_run_is_never_written_over(tacho):
    (tacho.directory / "run").mkdir()
    (tacho.directory / "run" / "run.json").write_text("{}")
    done = tacho("record", "-o", "run", "--", "true", expect=2)
    assert "run" in done.stderr
    assert (tacho.directory / "run" / "run.json").read_text() == "{}"


def test_of_a_program_that_goes_on_after_interrupts_it_is_said_what_ends_it(tacho):
    # os.write, because a signal may come inside a print, and a print inside a print is an error.
    program = (
        "import os, signal, time\nsignal.signal(signal.SIGINT, lambda *_: os.write(1, b'interrupted\\n'))\nos.write(1, b'ready\\n')\n"
        "while True: time.sleep(1)"
    )
    recording = tacho.start("record", "-o", "run", "--", sys.executable, "-c", program)
    assert recording.stdout.readline() == "ready\n"
    for _ in range(2):
        recording.send_signal(signal.SIGINT)
        assert recording.stdout.readline() == "interrupted\n"
    os.kill(int(re.search(r"kill -9 (\d+) ends it", recording.stderr.readline())[1]), signal.SIGKILL)
    finished(recording)
    assert recording.returncode == 128 + signal.SIGKILL
    (process,) = json.loads((tacho.directory / "run/run.json").read_text())["processes"]
    assert process["signal"] == signal.SIGKILL


def test_what_a_test_leaves_running_is_ended_whoever_holds_its_pipes(tacho):
    """A shell starts a background program with SIGINT ignored; this also ignores SIGTERM, in a session of its own."""
    program = "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(os.getpid(), flush=True)\ntime.sleep(3600)"
    recording = tacho.start("record", "-o", "run", "--", "sh", "-c", f"setsid {sys.executable} -c '{program}' & wait")
    pid = int(recording.stdout.readline())
    assert pid in tacho.running()
    tacho.end()
    assert recording.returncode is not None and tacho.running() == []


def test_a_program_that_there_is_not_takes_no_run_directory(tacho):
    assert "no-such-program: no such program" in tacho("record", "-o", "run", "--", "no-such-program", expect=2).stderr
    assert not (tacho.directory / "run").exists()
    (tacho.directory / "broken").write_text("#!/nowhere/interpreter\n")
    (tacho.directory / "broken").chmod(0o755)
    assert "broken" in tacho("record", "-o", "run", "--", "./broken", expect=2).stderr
    assert not (tacho.directory / "run").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_the_verbs(tacho, shell):
    completions = tacho("completions", shell).stdout
    assert "explain" in completions and "queue-too-short" in completions


def in_a_small_file_system(tacho):
    """Words that start a program in a mount namespace where `small` has room only for some events."""
    (tacho.directory / "small").mkdir()
    return ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=256k small small && exec "$@"', "sh"]


@pytest.mark.parametrize("code", [0, 6])
def test_the_exit_code_is_the_programs_own_when_the_run_is_gone(tacho, code):
    done = tacho("record", "-o", "run", "--", "sh", "-c", f"rm -rf run; echo said; exit {code}", expect=code)
    assert done.stdout == "said\n"
    assert "run/" in done.stderr and "incomplete" in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small file system")
@pytest.mark.parametrize("code", [0, 6])
def test_the_exit_code_is_the_programs_own_when_the_disk_is_full(tacho, code):
    fill = "dd if=/dev/zero of=small/filled bs=1k 2>/dev/null"
    done = tacho(
        "record",
        "-o",
        "small/run",
        "--",
        "sh",
        "-c",
        f"{fill}; echo said; exit {code}",
        expect=code,
        before=in_a_small_file_system(tacho),
    )
    assert done.stdout == "said\n"
    assert "No space left on device" in done.stderr


def test_stdout_is_the_programs(tacho, ros_python):
    program = "import rclpy; rclpy.init(); rclpy.create_node('talker').create_publisher(__import__('std_msgs.msg').msg.Header, 'x', 1); print('said')"
    done = tacho("record", "-o", "run", "--", ros_python, "-c", program)
    assert done.stdout == "said\n"
    assert "tacho: run: run" in done.stderr
    assert tacho("explain", "run").stdout in done.stderr


def test_recordings_that_start_at_once_have_directories_of_their_own(tacho):
    processes = [tacho.start("record", "--", "true") for _ in range(8)]
    for process in processes:
        _, err = finished(process)
        assert process.returncode == 0, err
    runs = [path for path in (tacho.directory / "runs").iterdir() if not path.is_symlink()]
    assert len(runs) == 8 and all((run / "run.json").is_file() for run in runs)
    assert (tacho.directory / "runs" / "latest").resolve() in runs
