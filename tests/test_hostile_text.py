"""Foreign text (names, types, functions, files, paths, words of the command line) steers no terminal and forges no
line."""

import json
import os
import pty
import re
import sqlite3
import struct
import threading
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest
from test_damaged_files import unpack
from test_import_sqlite_bags import SCHEMA_3
from waiting import LIMIT_S, finished, wait_for

# As long as the texts that they replace in the recorded events. tacho itself prints none of their sequences.
NAMES = {
    "worker": "\nFORGE",
    "driver": "\x1bc\u2028d",
    "wanted": "\x1b[5m\rX",
    "second": "\x9b5m\x7f\x07",
    "shared": "\u202e\x1b]0",
    "slow": "\x1b[9J",
    "Worker": "\x1b]0;\x07W",
}
PATH = "a\nFORGE\x1b[5m\x9b5m\x7f\u202e\x1b]0;t\x07\r"
# ESC [ number m, as explain and doctor print; the cursor's moves are indicatif's.
OURS = re.compile(r"\x1b\[(0|1|2|4|3[1-6])?m|\x1b\[2K|\x1b\[\d*[AB]|\r(?=\x1b|\n|$| |[a-z])")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def hostile_run(folder: Path) -> Path:
    """A recording whose nodes, topics and functions, command, host and path have hostile names."""
    run = folder / PATH
    unpack("rclcpp/groups.tar.xz", folder / "unpacked")
    (folder / "unpacked/recorded").rename(run)
    for file in (run / "events").glob("*.events"):
        content = file.read_bytes()
        for plain, hostile in NAMES.items():
            assert len(hostile.encode()) == len(plain), (plain, len(hostile.encode()))
            assert plain.encode() in content
            content = content.replace(plain.encode(), hostile.encode())
        file.write_bytes(content)
    info = json.loads((run / "run.json").read_text())
    info["command"] += [PATH]
    info["missing"] += [PATH]
    info["machine"] |= {"host": PATH, "cpu": PATH}
    info["versions"] |= {PATH: PATH}
    (run / "run.json").write_text(json.dumps(info))
    return run


@pytest.fixture
def run(tmp_path) -> Path:
    return hostile_run(tmp_path)


def workload(folder: Path, text: str = "", name: str = f"{PATH}.yaml") -> Path:
    """A workload file with a hostile name."""
    plain = "middleware: socket\ntransport: tcp\nnodes:\n  talker: {publishes: {/a: {size: 64 B, rate: 50 Hz}}}\n  listener: {subscribes: [/a]}\n"
    plain += "chains: {c: [talker, listener]}\nrun: {duration: 200 ms}\n"
    path = folder / name
    path.write_text(text or plain)
    return path


def printed(tacho, on: str, *arguments: object, **options) -> tuple[int, str]:
    """Exit code, and the output of a verb on stdout and stderr: each in a pipe, or both on one terminal."""
    if on == "pipe":
        process = tacho.start(*arguments, **options)
        out, err = finished(process)
        return process.returncode, out + err
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("4H", 50, 160, 0, 0))
    process = tacho.start(*arguments, stdout=theirs, stderr=theirs, stdin=theirs, **options)
    os.close(theirs)
    chunks = []
    reading = threading.Thread(target=lambda: chunks.extend(to_the_end(ours)))
    reading.start()
    process.wait(LIMIT_S)
    reading.join()
    os.close(ours)
    # The terminal itself makes CR LF of each line end.
    text = b"".join(chunks).decode().replace("\r\n", "\n")
    return process.returncode, OURS.sub("", text)


def to_the_end(terminal: int) -> Iterator[bytes]:
    try:
        while chunk := os.read(terminal, 1 << 16):
            yield chunk
    except OSError:
        pass  # EIO: its last writer has ended


def is_harmless(text: str) -> None:
    assert not (found := OBEYED.search(text)), f"{found!r} in\n{text!r}"
    assert not re.search(r"^FORGE", text, re.MULTILINE), text


def bag(folder: Path) -> Path:
    path = folder / f"{PATH}_0.db3"
    database = sqlite3.connect(path)
    database.executescript(SCHEMA_3)
    database.execute("INSERT INTO topics VALUES(4, ?, ?, 'cdr', '')", (f"/{PATH}", PATH))
    database.executemany(
        "INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, x'00010000')", [(4, 10), (4, 20), (9, 30)]
    )
    database.commit()
    database.close()
    return path


def sweep(folder: Path) -> Path:
    plain = workload(folder, name="plain.yaml").read_text()
    return workload(folder, "sweep: {rate: [50 Hz, 100 Hz]}\n" + plain.replace("50 Hz}}}", "$rate}}}"))


# The requests to tacho, with their exit codes.
ASKED = {
    "explain": (0, lambda run, _: ["explain", run]),
    "explain --all": (0, lambda run, _: ["explain", run, "--all"]),
    "explain --chain": (0, lambda run, _: ["explain", run, "--chain", f"{NAMES['driver']} to {NAMES['worker']}"]),
    "explain --suggest": (0, lambda run, _: ["explain", run, "--suggest"]),
    "explain --limit": (1, lambda run, _: ["explain", run, "--limit", "end-to-end 1 us"]),
    "explain of no chain": (2, lambda run, _: ["explain", run, "--chain", PATH]),
    "explain of no way": (2, lambda run, _: ["explain", run, "--from", PATH, "--to", PATH]),
    "explain of no node": (2, lambda run, _: ["explain", run, "--node", PATH]),
    "explain of links": (
        2,
        lambda run, folder: ["explain", run, "--links", workload(folder, f"links:\n  {json.dumps(PATH)}: {{x: 1}}\n")],
    ),
    "explain of no run": (2, lambda _, folder: ["explain", folder / f"no{PATH}"]),
    "explain --json": (0, lambda run, _: ["explain", run, "--json"]),
    "import of runs": (0, lambda run, folder: ["import", run, "-o", folder / f"new{PATH}"]),
    "import of a bag": (0, lambda _, folder: ["import", bag(folder), "-o", folder / f"new{PATH}"]),
    "import of nothing": (2, lambda _, folder: ["import", folder / f"no{PATH}"]),
    "import into a run": (2, lambda run, _: ["import", run, "-o", run]),
    "top --once": (0, lambda run, _: ["top", run, "--once", "--window", "100s"]),
    "top --once --json": (0, lambda run, _: ["top", run, "--once", "--window", "100s", "--json"]),
    "top of no run": (2, lambda _, folder: ["top", folder / f"no{PATH}", "--once"]),
    "report": (0, lambda run, _: ["report", run]),
    "report elsewhere": (3, lambda run, folder: ["report", run, "-o", folder / f"no{PATH}" / "report.html"]),
    "check": (0, lambda _, folder: ["check", workload(folder)]),
    "check of mistakes": (
        2,
        lambda _, folder: ["check", workload(folder, f"nodes:\n  {json.dumps(PATH)}: {{ {json.dumps(PATH)}: 1}}\n")],
    ),
    "check of raw bytes": (
        2,
        lambda _, folder: ["check", workload(folder, "nodes:\n  a\x1b[5m\u202e\x9b5m: {x: 1}\n")],
    ),
    "check of a sweep": (0, lambda _, folder: ["check", sweep(folder), "--points"]),
    "check of nothing": (2, lambda _, folder: ["check", folder / f"no{PATH}"]),
    "tune": (0, lambda _, folder: ["tune", workload(folder), "--method", "arrival", "-o", folder / f"new{PATH}"]),
    "tune of no chain": (2, lambda _, folder: ["tune", workload(folder), "--method", "arrival", "--chain", PATH]),
    "tune of a recording": (2, lambda run, _: ["tune", run, "--method", "arrival"]),
    "record": (0, lambda _, folder: ["record", "-o", folder / f"new{PATH}", "--", "true", PATH]),
    "record of nothing": (2, lambda _, folder: ["record", "--", PATH]),
    "record --save": (2, lambda _, folder: ["record", "--save", folder / f"no{PATH}"]),
    "bench": (0, lambda _, folder: ["bench", workload(folder), "-o", folder / f"new{PATH}"]),
    "bench of mistakes": (2, lambda _, folder: ["bench", workload(folder, f"nodes: {json.dumps(PATH)}\n")]),
    "a sweep": (0, lambda _, folder: ["bench", sweep(folder), "-o", folder / f"new{PATH}"]),
    "a sweep in a run": (2, lambda run, folder: ["bench", sweep(folder), "-o", run]),
    "doctor": (None, lambda *_: ["doctor"]),
    "doctor --allow": (2, lambda *_: ["doctor", "--allow", PATH]),
    "a wrong word": (2, lambda *_: ["explain", f"--{PATH}"]),
    "a wrong value": (2, lambda run, _: ["top", run, "--window", PATH]),
    "no verb": (2, lambda *_: [PATH]),
}


@pytest.mark.parametrize("on", ["pipe", "terminal"])
@pytest.mark.parametrize("asked", ASKED)
def test_what_others_wrote_is_printed_visibly(tacho, run, tmp_path, asked, on):
    expected, arguments = ASKED[asked]
    tacho.environment |= {"RMW_IMPLEMENTATION": PATH} if asked == "doctor" else {}
    code, text = printed(tacho, on, *arguments(run, tmp_path))
    is_harmless(text)
    assert expected is None or code == expected, f"exit {code}, expected {expected}\n{text}"
    assert text


def test_top_on_a_terminal_draws_names_visibly(tacho, run):
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("4H", 50, 160, 0, 0))
    process = tacho.start("top", run, "--window", "100s", stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    drawn = bytearray()

    def has_drawn(text: bytes) -> bool:
        drawn.extend(os.read(ours, 1 << 16))
        return text in drawn

    wait_for(lambda: has_drawn(rb"\x1b[5m\rX"), "the topics", process)
    os.write(ours, b"2")
    wait_for(lambda: has_drawn(rb"\x1b[9J"), "the callbacks", process)
    os.write(ours, b"3")
    wait_for(lambda: has_drawn(rb"\nFORGE"), "the chains", process)
    os.write(ours, b"q")
    drawn.extend(b"".join(to_the_end(ours)))
    process.wait(LIMIT_S)
    os.close(ours)
    text = drawn.decode()
    assert not re.search("\x1b\\[5m|\x1b\\]|\x1bc|\x1b\\[9J|[\x07\x7f-\x9f\u2028\u202e]", text), repr(text)


def test_json_keeps_the_exact_text(tacho, run):
    summary = tacho.json("explain", run)
    assert f"/{NAMES['wanted']}" in [topic["topic"] for topic in summary["topics"]]
    nodes = {node for chain in summary["chains"] for node in chain["path"][::2]}
    assert nodes == {f"/{NAMES['worker']}", f"/{NAMES['driver']}"}


def test_the_report_holds_names_as_data(tacho, run):
    markup = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    info = json.loads((run / "run.json").read_text())
    info["command"] = info["missing"] = [markup]
    (run / "run.json").write_text(json.dumps(info))
    tacho("report", run)
    page = (run / "report.html").read_text()
    data = page.split('id="tacho-data">')[1].split("</script>")[0]
    assert markup not in page and "<" not in data and markup in json.dumps(json.loads(data))
    assert not re.search("[\x00-\x1f]", data)
