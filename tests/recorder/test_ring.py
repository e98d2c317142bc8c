"""`tacho record --ring` keeps the last seconds, complete and with their names, on a bounded disk, and saves them on
request."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from places import ROOT
from waiting import LIMIT_S, finished, succeeded, wait_for

STAND_INS = ROOT / "build" / "native" / "recorder" / "tests"
VICTIM = STAND_INS / "recorder_victim"
SLOW_S = 1.5  # of ring_program.py
PROGRAM = Path(__file__).parent / "ring_program.py"
TRACETOOLS = STAND_INS / "kilted" / "lib" / "libtracetools.so"
MIB = 1 << 20


def program(rate, seconds, *more):
    return [sys.executable, PROGRAM, TRACETOOLS, rate, seconds, *more]


def recording(tacho, *options, command, run="run"):
    """`tacho record --ring`, once it keeps events."""
    process = tacho.start("record", "-o", run, *options, "--", *command)
    while "keeping the last" not in (line := process.stderr.readline()):
        assert line, "tacho ended at once"
    return process


def child_of(process):
    """The recorded program, once it works."""
    return int(
        wait_for(
            lambda: Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split(), "a child", process
        )[0]
    )


def seconds_of(out):
    """The program's output: number, messages, from, to."""
    lines = [line.split()[1:] for line in out.splitlines() if line.startswith("second")]
    return [tuple(map(int, line)) for line in lines]


def next_second(process):
    line = process.stdout.readline()
    assert line.startswith("second"), line + process.stderr.read()
    return int(line.split()[1])


def storage(run):
    """Bytes that the event files take on the disk, and their length."""
    files = [path.stat() for path in (run / "events").glob("*.events")]
    return sum(512 * file.st_blocks for file in files), sum(file.st_size for file in files)


def rss(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def window(run):
    info = json.loads((run / "run.json").read_text())
    return info.get("measured_from_ns"), info.get("measured_to_ns")


def published(run):
    return [row["publish_ns"] for row in parquet.read_table(run / "tables" / "publications.parquet").to_pylist()]


def assert_whole(run, seconds, least):
    """Each of the program's seconds in the window is there to the last message, and there are at least this many of
    them."""
    calls, (begin, end) = published(run), window(run)
    inside = [s for s in seconds if s[2] >= begin and (end is None or s[3] < end)]
    assert len(inside) >= least, (seconds, begin, end)
    for number, count, first, last in inside:
        assert sum(first <= call <= last for call in calls) == count, f"second {number}"


def assert_named(summary):
    assert [(t["topic"], t["publishers"]) for t in summary["topics"]] == [("/points", ["/demo"])]
    (callback,) = summary["callbacks"]
    assert (callback["node"], callback["topic"], callback["kind"]) == ("/demo", "/points", "subscription")


def test_the_last_seconds_are_kept_whole_and_named(tacho):
    process = recording(tacho, "--ring", "3s", "--json", command=program(500, 14))
    out, _ = succeeded(process)
    seconds = [tuple(map(int, line.split()[1:])) for line in out.splitlines() if line.startswith("second")]
    run = tacho.directory / "run"
    begin, _ = window(run)
    assert begin is not None, "nothing was let go of"
    assert_whole(run, seconds, least=2)
    assert not [call for call in published(run) if call < begin]
    assert seconds[3][3] < begin, "the first seconds are gone"
    summary = json.loads(out[out.index("{") :])
    assert_named(summary)
    assert any(note["name"] == "ring" for note in summary["notes"])
    assert not [note for note in summary["notes"] if note["name"] in ("chunk-missing", "dropped-events", "not-a-chunk")]
    # An ordinary run and nothing beside it; its holes on the disk are the ends of chunks that are not full.
    on_disk, length = storage(run)
    assert length <= on_disk + 8 * 32768
    assert sorted(path.name for path in run.iterdir()) == ["events", "run.json", "summary.json", "tables"]
    assert not (run / "events" / "kept").exists()


def test_a_ring_fits_its_place_however_much_is_written(tacho):
    """The program writes as fast as it can; only the limit stops it."""
    limit = 32 * MIB
    counts = tacho.directory / "counts"
    process = recording(tacho, "--ring", "2s", "--max-mib", 32, command=[VICTIM, "on", counts, 0])
    run, most, memory, length = tacho.directory / "run", 0, [], 0
    end = time.monotonic() + LIMIT_S
    # Four times what it may take.
    while length < 4 * limit:
        assert process.poll() is None and time.monotonic() < end, f"{length} bytes written"
        on_disk, length = storage(run)
        most = max(most, on_disk)
        memory.append(rss(process.pid))
        time.sleep(0.02)
    # Released chunks are no longer mapped.
    child = child_of(process)
    mapped = lambda: re.findall(r" rw-s .*\.events$", Path(f"/proc/{child}/maps").read_text(), re.MULTILINE)  # noqa: E731
    wait_for(lambda: len(mapped()) < length // (16 * MIB), "what was let go of to be unmapped", process)
    os.kill(child, signal.SIGKILL)
    finished(process)
    assert most <= limit + MIB, f"{most / MIB} MiB"
    assert max(memory) < min(memory) + 64 * MIB, f"{min(memory) / MIB} to {max(memory) / MIB} MiB"
    assert process.returncode == 128 + signal.SIGKILL
    (found,) = parquet.read_table(run / "tables" / "processes.parquet").to_pylist()
    assert found["events"] > 0 and not found["ended"]


def test_it_is_saved_by_a_command_and_by_a_signal(tacho):
    process = recording(tacho, "--ring", "2s", "--saves", 2, command=program(500, 60))
    run = tacho.directory / "run"
    try:
        seconds = []
        while len(seconds) < 8:
            seconds.append(tuple(map(int, process.stdout.readline().split()[1:])))
        path = tacho("record", "--save", "run").stdout.strip()
        assert path == "run/saves/001"
        os.kill(process.pid, signal.SIGUSR1)
        while "SIGUSR1" not in (line := process.stderr.readline()):
            assert line
        assert "as many as wanted" in tacho("record", "--save", "run", expect=3).stderr
    finally:
        process.send_signal(signal.SIGTERM)  # goes on to the program
        out, err = finished(process)
    assert process.returncode == 128 + signal.SIGTERM, err
    seconds += seconds_of(out)
    for number, least in (("001", 1), ("002", 0)):
        save = run / "saves" / number
        before = sorted(save.rglob("*"))
        summary = tacho.json("explain", save)
        assert sorted(save.rglob("*")) == before, "reading changes nothing"
        assert_named(summary)
        begin, end = window(save)
        assert end - begin > 0.95 * 2e9, "the length of the ring, and what a turn keeps beyond"
        assert begin > seconds[0][3], "the first of the eight seconds is gone"
        (topic,) = summary["topics"]
        # The figures are those of the window: what the program counted, second by second.
        tacho("report", save)
        events = sorted(save.glob("events/*.events"))
        assert len(events) == 1
        assert topic["sent"] == topic["received"] and topic["lost"] == 0
        inside = [s for s in seconds if s[2] >= begin and s[3] < end]
        assert len(inside) >= least and sum(s[1] for s in inside) <= topic["sent"] <= sum(
            s[1] for s in seconds if s[3] > begin and s[2] < end
        )
    # Each save began when its window did: the program counted for eight seconds before, and two are kept.
    started = {
        path: datetime.fromisoformat(json.loads((path / "run.json").read_text())["started_at"])
        for path in (run, run / "saves/001", run / "saves/002")
    }
    assert all(started[save] - started[run] >= timedelta(seconds=4) for save in started if save != run), started
    assert json.loads((run / "run.json").read_text())["ring"]["saves"] == 2
    assert "no tacho record --ring is running there" in tacho("record", "--save", "run", expect=2).stderr


@pytest.mark.parametrize("trigger", ["late", "silent"])
def test_a_trigger_saves_what_led_to_it_and_some_time_after(tacho, trigger):
    slow = tacho.directory / "slow"
    # Far longer than other programs keep this one from running, and far shorter than SLOW_S.
    limit = {"late": "late /points 700ms", "silent": "silent /points 800ms"}[trigger]
    options = ["--ring", "6s", "--trigger", limit, "--after", "500ms"]
    process = recording(tacho, *options, command=program(20, 600, slow))
    try:
        while next_second(process) < 2:
            pass
        assert not (tacho.directory / "run" / "saves").exists(), "nothing was late"
        slow.touch()  # from now on each callback begins SLOW_S after its message, and the next message comes after that
        while "saved (" not in (line := process.stderr.readline()):
            assert line
    finally:
        process.terminate()
        finished(process)
    save = tacho.directory / "run" / "saves" / "001"
    info = json.loads((save / "run.json").read_text())
    assert info["ring"]["saved_for"].startswith(limit.rsplit(" ", 1)[0])
    (topic,) = tacho.json("explain", save)["topics"]
    assert topic["latency_us"]["max"] > 1e6 * SLOW_S > topic["latency_us"]["min"], "both what led to it and what it was"


def test_a_full_disk_is_said_and_what_was_saved_stays(tacho):
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    disk = tacho.directory / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], check=True)
    try:
        process = recording(tacho, "--ring", "2s", "--max-mib", 14, command=program(200, 600), run=disk / "run")
        try:
            while next_second(process) < 3:
                pass
            tacho("record", "--save", disk / "run")
            with open(disk / "fills", "wb") as file, pytest.raises(OSError, match="No space"):
                while True:
                    file.write(bytes(MIB))
                    file.flush()
            refused = tacho("record", "--save", disk / "run", expect=3).stderr
            assert "No space left on device" in refused and "saves/002" in refused
            (disk / "fills").unlink()
            assert sorted(path.name for path in (disk / "run" / "saves").iterdir()) == ["001"]
            tacho("record", "--save", disk / "run")
        finally:
            process.terminate()
            finished(process)
        for number in ("001", "002"):
            assert_named(tacho.json("explain", disk / "run" / "saves" / number))
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_ring_whose_tacho_was_killed_is_a_run_and_grows_no_further_than_it_may(tacho):
    process = recording(tacho, "--ring", "1s", "--max-mib", 16, command=program(2000, 600))
    run = tacho.directory / "run"
    while next_second(process) < 5:
        pass
    child = child_of(process)
    process.kill()
    process.wait()
    os.kill(child, signal.SIGKILL)
    process.communicate()
    on_disk, length = storage(run)
    assert on_disk <= 17 * MIB
    summary = tacho.json("explain", run)
    assert_named(summary)
    assert any(note["name"] == "ring" for note in summary["notes"])
    assert "no tacho record --ring is running there" in tacho("record", "--save", "run", expect=2).stderr


def test_interrupted_it_keeps_the_last_seconds(tacho):
    process = recording(tacho, "--ring", "1s", command=program(200, 600), run="run")
    while next_second(process) < 4:
        pass
    child = child_of(process)
    os.kill(child, signal.SIGINT)  # as ^C of a terminal, which reaches both
    os.kill(process.pid, signal.SIGINT)
    finished(process)
    run = tacho.directory / "run"
    assert_named(tacho.json("explain", run))
    assert not json.loads((run / "run.json").read_text())["cut_short"]


def test_what_is_wrong_is_said(tacho):
    assert "expected 'late" not in tacho("record", "--ring", "10ms", "--", "true", expect=2).stderr
    assert (
        "late TOPIC TIME" in tacho("record", "--ring", "5s", "--trigger", "slow /points", "--", "true", expect=2).stderr
    )
    assert "/points" in tacho("record", "--ring", "5s", "--trigger", "late points 1ms", "--", "true", expect=2).stderr
    assert "--ring" in tacho("record", "--trigger", "late /points 1ms", "--", "true", expect=2).stderr
    assert (
        "--after"
        in tacho("record", "--ring", "2s", "--trigger", "late /x 1ms", "--after", "3s", "--", "true", expect=2).stderr
    )
