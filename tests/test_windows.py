"""The part of a recorded rclpy system that counts, compared with its programs' output by their own clock."""

import json
from datetime import datetime, timezone

import pyarrow.parquet as parquet
import pytest
from places import PROGRAMS

COUNT = 150
PERIOD_S = 0.02


@pytest.fixture
def recorded(tacho, ros_python):
    """Times at which the talker published, ns since the begin of the run; and that begin."""
    command = ["sh", PROGRAMS / "talk_and_listen.sh", ros_python, COUNT, PERIOD_S]
    done = tacho("record", "-o", "run", "--", *command)
    published = [int(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("published ")]
    assert len(published) == COUNT
    processes = parquet.read_table(tacho.directory / "run/tables/processes.parquet").to_pylist()
    begin = min(process["first_ns"] for process in processes if process["events"] > 0)
    return [at - begin for at in published], begin


def between(published, first, behind):
    """A window around the messages from one number to another; its borders lie in the middle between two publish
    calls."""
    return [(published[number - 1] + published[number]) // 2 for number in (first, behind)]


def chatter(summary):
    (topic,) = (topic for topic in summary["topics"] if topic["topic"] == "/chatter")
    return topic


def due_between(repeat, from_ms, to_ms):
    """Messages of a repeat that were due between two instants of its window, and sent."""
    begin = json.loads((repeat / "run.json").read_text())["measured_from_ns"]
    due = parquet.read_table(repeat / "tables/publications.parquet", columns=["due_ns"])["due_ns"].to_pylist()
    return sum(from_ms * 1e6 <= ns - begin < to_ms * 1e6 for ns in due)


def ends(topic):
    return [topic[name] for name in ("lost", "before", "after", "pending", "unknown")]


def test_a_window_counts_what_was_published_in_it(tacho, recorded):
    published, _ = recorded
    before = (tacho.directory / "run/summary.json").read_bytes()
    start, end = between(published, 40, 90)
    summary = tacho.json("explain", "run", "--between", f"{start}ns", f"{end}ns")
    window = summary["window"]
    assert (round(window["from_s"] * 1e9), round(window["to_s"] * 1e9)) == (start, end)
    topic = chatter(summary)
    assert (topic["sent"], topic["received"], ends(topic)) == (50, 50, [0] * 5)
    assert topic["latency_us"]["count"] == 50
    (chain,) = summary["chains"]
    assert (chain["instances"], chain["lost"]) == (50, 0)
    (listening,) = (c for c in summary["callbacks"] if c["kind"] == "subscription" and c["topic"] == "/chatter")
    # The window may contain the take of the message before its first one, and the last one may be taken after it.
    assert 49 <= listening["count"] <= 51
    rest = tacho.json("explain", "run", "--skip", f"{start}ns")
    assert chatter(rest)["sent"] == COUNT - 40
    assert (tacho.directory / "run/summary.json").read_bytes() == before, "reading changes nothing"


def test_the_same_window_by_the_wall_clock(tacho, recorded):
    published, begin = recorded
    offset = json.loads((tacho.directory / "run/run.json").read_text())["realtime_offset_ns"]
    window = between(published, 40, 90)
    times = [datetime.fromtimestamp((begin + offset + at) / 1e9, tz=timezone.utc) for at in window]
    of_day = [at.strftime("%H:%M:%S.%f") for at in times]
    dated = [at.strftime("%Y-%m-%dT%H:%M:%S.%fZ") for at in times]
    for spelled in (of_day, dated, [of_day[0], f"{window[1]}ns"]):
        assert chatter(tacho.json("explain", "run", "--between", *spelled))["sent"] == 50


def test_limits_and_reports_are_of_the_window(tacho, recorded):
    published, _ = recorded
    window = [f"{at}ns" for at in between(published, 40, 90)]
    tacho("explain", "run", "--between", *window, "--limit", "end-to-end 60s")
    tacho("explain", "run", "--between", *window, "--limit", "end-to-end 1ns", expect=1)
    text = tacho("explain", "run", "--between", *window).stdout
    assert "Only what happened from" in text
    tacho("report", "run", "-o", "part.html", "--between", *window)
    assert "Only what happened from" in (tacho.directory / "part.html").read_text()


def test_the_start_up_is_left_out_of_chains_and_said(tacho, recorded):
    published, begin = recorded
    whole = tacho.json("explain", "run")
    window = whole["window"]
    # The endpoints of both nodes are made in the first tenth, or the start took longer than that.
    made = [
        (row["created_ns"] - begin) / 1e9
        for row in parquet.read_table(tacho.directory / "run/tables/endpoints.parquet").to_pylist()
    ]
    early = [at for at in made if at <= window["run_s"] / 10]
    assert window.get("start_up_s", 0) >= max(early, default=0)
    assert window.get("start_up_s", 0) <= window["run_s"] / 10
    text = tacho("explain", "run").stdout
    assert ("are start-up and do not count" in text) == ("start_up_s" in window)
    started = round(window.get("start_up_s", 0) * 1e9)
    (chain,) = whole["chains"]
    assert chain["instances"] >= sum(at > started for at in published) - 1
    counting = tacho.json("explain", "run", "--skip", "0s")
    assert "start_up_s" not in counting["window"]
    assert counting["chains"][0]["instances"] == COUNT
    # All sent messages are reported, whether or not they count for chains.
    topic = chatter(whole)
    assert topic["sent"] == COUNT and topic["received"] + sum(ends(topic)) == COUNT


def test_impossible_windows_are_bad_usage(tacho, recorded):
    for window, said in [
        (["--skip", "120min"], "s long"),
        (["--between", "1s", "120min"], "s long"),
        (["--between", "2s", "1s"], "ends before it begins"),
        (["--between", "2001-01-01T00:00:00Z", "1s"], "the run began at"),
        (["--between", "0ns", "1ns"], "nothing happened"),
        (["--between", "1", "2s"], "such as 10s"),
        (["--skip", "1s", "--between", "1s", "2s"], "cannot be used with"),
    ]:
        failed = tacho("explain", "run", *window, expect=2)
        assert said in failed.stderr and failed.stdout == "", window


def test_repeats_have_no_wall_clock_in_common(tacho):
    (tacho.directory / "pair.yaml").write_text(
        "nodes: {talker: {publishes: {/t: {size: 64 B, rate: 20 Hz}}}, listener: {subscribes: [/t]}}\n"
        "middleware: inproc\nrun: {duration: 1 s, repeats: 2}\n"
    )
    tacho("bench", "pair.yaml", "-o", "run")
    assert "window" not in tacho.json("explain", "run")
    part = tacho.json("explain", "run", "--between", "200ms", "700ms")
    (topic,) = part["topics"]
    # 10 in each of the two repeats, wherever the borders lie on the grid; a busy machine skips none at this rate.
    due = sum(due_between(tacho.directory / "run/repeats" / repeat, 200, 700) for repeat in "01")
    assert 18 <= topic["sent"] <= 22 and topic["sent"] == due and topic["sent"] == topic["received"] + sum(ends(topic))
    assert "2 repeats" in tacho("explain", "run", "--between", "10:00:00", "10:00:01", expect=2).stderr
