"""What killed runs leave in shared memory and in temporary folders, and how it is removed: by the next run, or by
`tacho doctor --clean`."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import termios
from pathlib import Path

import pytest
from domains import hold_domain
from shared_places import OTHER, as_other, why_not
from waiting import finished, wait_for, wait_for_window

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))

WORKLOAD = """
middleware: {middleware}
transport: {transport}
nodes:
  source: {{publishes: {{/points: {{size: 64 KiB, rate: 20 Hz, depth: 10}}}}}}
  sink: {{subscribes: {{/points: {{depth: 10}}}}}}
run: {{duration: {duration}{domain}}}
"""
LEAVING = [
    ("ros2", "default"),
    ("ros2", "data-sharing"),
    ("fastdds", "shm"),
    ("cyber", "default"),
    ("socket", "tcp"),
    ("iceoryx", "shm"),
    ("zenoh", "shm"),
    ("cyclonedds", "shm"),
]


def started(shared, middleware="fastdds", transport="shm", run="run", domain="", **options) -> subprocess.Popen:
    """A run of ten minutes that already measures."""
    (shared.tacho.directory / f"{run}.yaml").write_text(
        WORKLOAD.format(middleware=middleware, transport=transport, duration="600 s", domain=domain)
    )
    process = shared.tacho.start("bench", f"{run}.yaml", "-o", run, before=shared.before, **options)
    wait_for_window(shared.tacho.directory / run, process)
    return process


def nodes(process: subprocess.Popen) -> list[int]:
    return [
        int(pid)
        for task in Path(f"/proc/{process.pid}/task").iterdir()
        for pid in (task / "children").read_text().split()
    ]


def goes_on(pid: int) -> bool:
    """Whether a thread of it does: its first one may have ended before others, which still hold locks."""
    try:
        states = [(task / "stat").read_text().rsplit(") ", 1)[1][0] for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return Path(f"/proc/{pid}").exists()
    return any(state not in "ZX" for state in states)


def beside(process: subprocess.Popen, name: str) -> list[int]:
    """Process ids of a program that sees the same files as `process`."""

    def sees_the_same(folder):
        try:
            return (folder / "comm").read_text().strip() == name and os.readlink(folder / "ns/mnt") == os.readlink(
                f"/proc/{process.pid}/ns/mnt"
            )
        except FileNotFoundError:  # ended by now
            return False

    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if sees_the_same(folder)]


def segments(pids: list[int]) -> list[str]:
    """System V shared memory of these processes."""
    lines = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return [words[1] for words in lines if int(words[4]) in pids]


def left(shared, pids: list[int] = []) -> list[str]:
    """Shared memory, and sockets and their locks."""
    tmp = [
        path for path in shared.tmp.rglob("*") if path.is_socket() or path.suffix == ".lock" or "/iceoryx/" in str(path)
    ]
    return [str(path) for path in [*shared.shm.iterdir(), *tmp] if not path.is_dir()] + segments(pids)


def killed(shared, process: subprocess.Popen) -> list[int]:
    """Kills tacho, and waits for the end of its nodes; returns their process ids."""
    pids = nodes(process)
    assert pids
    process.kill()
    process.wait()
    wait_for(lambda: not any(map(goes_on, pids)), "the end of nodes without a runner")
    return pids


def clean(shared, *words) -> str:
    return shared.tacho("doctor", "--clean", *words, before=shared.before).stdout


@pytest.mark.parametrize("middleware, transport", LEAVING)
def test_what_a_killed_run_left_is_removed_and_listed(shared, middleware, transport):
    pids = killed(shared, started(shared, middleware, transport))
    there = left(shared, pids)
    assert there
    listed = []

    def nothing_is_left():  # RouDi, which ends by itself, removes its own
        listed.extend(json.loads(clean(shared, "--json")))
        return not left(shared, pids)

    wait_for(nothing_is_left, "nothing to be left")
    gone = [entry["what"] for entry in listed if "stays" not in entry]
    if middleware != "cyclonedds":
        assert len(gone) == len(there)
    assert clean(shared) == "killed runs of this user left nothing\n"


def test_a_roudi_that_was_killed_leaves_nothing_either(shared):
    process = started(shared, "cyclonedds", "shm")
    (roudi,) = beside(process, "iox-roudi")
    os.kill(roudi, signal.SIGKILL)
    pids = killed(shared, process)
    wait_for(lambda: clean(shared) and not left(shared, pids), "nothing to be left")


@pytest.fixture
def domain():
    """A DDS domain that nobody takes in the meantime."""
    number, held = hold_domain()
    yield number
    held.close()


def test_the_doctor_lists_and_removes_nothing(shared, domain):
    # The doctor opens Fast DDS itself, which takes over the ports of its domain from dead processes.
    pids = killed(shared, started(shared, domain=f", domain: {domain}"))
    there = left(shared, pids)
    found = {
        finding["name"]: finding
        for finding in json.loads(shared.tacho("doctor", "--json", before=shared.before).stdout)["findings"]
    }
    assert found["leftovers"]["verdict"] == "costs" and found["leftovers"]["mend"] == ["tacho doctor --clean"]
    assert f"{len(there)} objects" in found["leftovers"]["found"], (found["leftovers"], there)
    assert set(there) <= set(left(shared, pids))
    assert clean(shared).count("removed  /dev/shm/") == len(there)


def test_the_next_run_removes_it(shared):
    killed(shared, started(shared))
    there = left(shared)
    (shared.tacho.directory / "w.yaml").write_text(
        WORKLOAD.format(middleware="inproc", transport="default", duration="1 s", domain="").replace(
            "transport: default\n", ""
        )
    )
    said = shared.tacho("bench", "w.yaml", "-o", "next", before=shared.before).stderr
    assert there and left(shared) == [] and f"removed {len(there)} objects" in said, said


def test_files_of_ended_masters_go_and_the_next_run_finds_its_own(shared):
    (shared.tacho.directory / "w.yaml").write_text(
        WORKLOAD.format(middleware="ros1", transport="tcpros", duration="1 s", domain="")
    )
    folder = shared.tmp / f"tacho-{os.geteuid()}" / "ros1"
    for run in ("one", "two"):
        shared.tacho("bench", "w.yaml", "-o", run, before=shared.before)
        wait_for(lambda: clean(shared) and not list(folder.iterdir()), "the end of the master and its files")


def test_a_second_interrupt_leaves_nothing_that_stays(shared):
    process = started(shared)
    pids = nodes(process)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.wait()
    wait_for(lambda: not any(map(goes_on, pids)), "the end of nodes without a runner")
    clean(shared)
    assert left(shared) == []


def test_a_killed_node_leaves_nothing_behind_its_run(shared):
    process = started(shared)
    for pid in nodes(process):
        os.kill(pid, signal.SIGKILL)
    finished(process)
    assert left(shared) == []


def test_what_a_living_run_or_another_process_uses_stays(shared):
    living = started(shared, run="living")
    its = set(left(shared))
    killed(shared, started(shared, run="killed"))
    used = next(Path(path) for path in left(shared) if path not in its and path.endswith("_el"))
    with subprocess.Popen(["sleep", "1000"], stdin=used.open(), **as_other()) as other:
        entries = json.loads(clean(shared, "--json"))
        reasons = {Path(entry["what"]).name: entry["stays"] for entry in entries if "stays" in entry}
        assert f"process {other.pid} uses it" in reasons[used.name]
        assert its <= set(left(shared)) and used.exists()
        other.kill()
    clean(shared)
    assert set(left(shared)) == its
    living.terminate()
    out, err = finished(living)
    assert living.returncode == 128 + signal.SIGTERM, err
    assert left(shared) == []


def test_another_user_removes_nothing_of_ours(shared):
    killed(shared, started(shared))
    there = left(shared)
    other = shared.of_other()
    before = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
    try:
        said = other("doctor", "--clean", before=[*shared.before, *before]).stdout
    finally:
        other.end()
    assert said == "killed runs of this user left nothing\n" and left(shared) == there
    clean(shared)
    assert left(shared) == []


def hangups_are_heard():
    """Resets SIGHUP for a new process, because the tests may run under nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_a_hangup_ends_a_run_as_a_termination_does(shared):
    ends = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        process = started(shared, run=number.name, preexec_fn=hangups_are_heard)
        process.send_signal(number)
        finished(process)
        info = json.loads((shared.tacho.directory / number.name / "run.json").read_text())
        assert process.returncode == 128 + number
        ends[number] = (info["cut_short"], info["missing"], sorted(exit["code"] for exit in info["processes"]))
    assert ends[signal.SIGHUP] == ends[signal.SIGTERM]
    assert left(shared) == []


def test_the_end_of_the_terminal_ends_a_run_in_order(shared):
    ours, terminal = pty.openpty()

    def control():
        hangups_are_heard()
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = started(shared, stdin=terminal, stdout=terminal, stderr=terminal, preexec_fn=control)
    os.close(terminal)
    os.close(ours)
    process.wait()
    info = json.loads((shared.tacho.directory / "run" / "run.json").read_text())
    assert info["missing"] == ["interrupted by the user"] and [exit["code"] for exit in info["processes"]] == [0, 0]
    assert (shared.tacho.directory / "run" / "tables").is_dir() and process.returncode == 128 + signal.SIGHUP
    assert left(shared) == []


def test_under_nohup_a_run_goes_on(shared):
    process = started(shared, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGHUP)
    ignored = int(
        next(
            line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("SigIgn")
        ).split()[1],
        16,
    )
    assert ignored >> (signal.SIGHUP - 1) & 1 and process.poll() is None
    process.terminate()
    finished(process)
    assert process.returncode == 128 + signal.SIGTERM
