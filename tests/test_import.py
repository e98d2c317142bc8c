"""`tacho import` end to end, on real traces: the run that it leaves, and what it refuses."""

import datetime
import json
import re
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from places import ROOT
from recording import Recording

TRACES = ROOT / "tests/fixtures/ctf"


@pytest.fixture
def unpacked(tmp_path):
    def unpack(name: str) -> Path:
        with tarfile.open(TRACES / f"{name}.tar.gz") as archive:
            archive.extractall(tmp_path / name)
        return tmp_path / name

    return unpack


def test_a_trace_of_jazzy_agrees_with_its_program_and_with_tracetools_analysis(tacho):
    with tarfile.open(TRACES / "jazzy_every_callback.tar.xz") as archive:
        archive.extractall(tacho.directory)
    tacho("import", "ctf", "-o", "run")
    run = Recording(tacho, (tacho.directory / "answers.txt").read_text())
    run.agrees_with_every_callback()
    callbacks = run.table("callbacks")
    ours = {}
    for row in sorted(run.table("executions"), key=lambda row: row["start_ns"]):
        ours.setdefault(str(callbacks[row["callback"]]["address"]), []).append(row["end_ns"] - row["start_ns"])
    theirs = json.loads((tacho.directory / "durations.json").read_text())
    assert ours == {address: durations for address, durations in theirs.items() if durations}
    # LTTng writes "(null)" for a callback without a name.
    assert any(c["symbol"] is None for c in callbacks) and not any("null" in (c["symbol"] or "") for c in callbacks)


def test_service_calls_stand_in_the_summary(tacho, unpacked, tmp_path):
    folder = unpacked("service_5s")
    tacho("import", folder / "ctf", "-o", "run", "--json")
    truth = json.loads((folder / "truth.json").read_text())["service_requests"]
    (service,) = json.loads((tmp_path / "run/summary.json").read_text())["services"]
    assert (service["sent"], service["complete"]) == (truth["sent"], truth["complete"])
    assert service["round_trip_us"]["max"] == pytest.approx(truth["round_trip"]["max_ns"] / 1e3)
    assert "/get_it" in tacho("explain", "run").stdout


def test_an_imported_process_was_not_killed_and_its_lost_events_are_placed(tacho, unpacked, tmp_path):
    tacho("import", unpacked("autoware_prio_discards_5s") / "ctf", "-o", "run", "--json")
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert sum(gap["events"] for gap in info["gaps"]) == 7625
    notes = {note["name"] for note in json.loads((tmp_path / "run/summary.json").read_text())["notes"]}
    assert "lost-events" in notes and "process-did-not-end-in-order" not in notes


def test_what_is_no_trace_leaves_no_run(tacho, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "metadata" in tacho("import", "empty", "-o", "run", expect=2).stderr
    assert not (tmp_path / "run").exists()


def test_a_stream_file_is_refused_with_what_was_expected_instead(tacho, unpacked, tmp_path):
    stream = next((unpacked("service_5s") / "ctf").rglob("ros2_0"))
    refused = tacho("import", stream, "-o", "run", expect=2).stderr
    assert (
        "ros2_0: a file" in refused
        and "expected the folder of an LTTng trace" in refused
        and not (tmp_path / "run").exists()
    )


def test_events_that_nothing_understands_are_named(tacho, unpacked):
    trace = unpacked("service_5s") / "ctf"
    metadata = next(trace.rglob("metadata"))
    metadata.write_bytes(metadata.read_bytes().replace(b'"ros2:', b'"myco:'))
    said = tacho("import", trace, "-o", "run", expect=4).stderr
    assert "0 events of 0 processes" in said and "events are of no use" in said and "myco:" in said
    assert "there are no events of ROS in it, but myco:" in said and "lttng enable-event --userspace 'ros2:*'" in said


def test_a_ros_event_of_an_unknown_name_is_noted_by_name_and_count(tacho, unpacked):
    trace = unpacked("service_5s") / "ctf"
    metadata = next(trace.rglob("metadata"))
    metadata.write_bytes(metadata.read_bytes().replace(b'"ros2:rmw_take_request"', b'"ros2:rmw_take_requesT"'))
    (note,) = (
        note for note in tacho.json("import", trace, "-o", "run")["notes"] if note["name"] == "unknown-ros-events"
    )
    assert note["count"] > 0 and f"ros2:rmw_take_requesT ({note['count']})" in note["text"]
    assert "ros2:rmw_take_requesT" in tacho("explain", "run").stdout


def test_a_lost_stream_file_is_seen_in_its_index_and_a_copy_changes_nothing(tacho, unpacked, tmp_path):
    trace = unpacked("service_5s") / "ctf"
    copy = Path(shutil.copytree(trace, tmp_path / "copy"))
    figures = [tacho.json("import", *traces, "-o", run) for traces, run in [([trace], "one"), ([trace, copy], "two")]]
    assert figures[0]["services"] == figures[1]["services"] and figures[0]["topics"] == figures[1]["topics"]
    next(copy.rglob("ros2_1")).write_bytes(b"")
    shutil.rmtree(trace)
    torn = tacho.json("import", copy, "-o", "torn")
    assert any(
        "packets that are not in the trace" in text
        for text in json.loads((tmp_path / "torn/run.json").read_text())["missing"]
    )
    assert "lost-events" in {note["name"] for note in torn["notes"]} and all(
        topic["lost"] is None for topic in torn["topics"]
    )


def test_the_run_has_the_day_the_clock_the_host_and_the_tracer_of_its_trace(tacho, unpacked, tmp_path):
    folder = unpacked("autoware_single_5s")
    shown = tacho("import", folder / "ctf", "-o", "run").stdout
    described = next(folder.rglob("metadata")).read_bytes()
    offset_ns = int(re.search(rb"offset = (\d+);", described)[1])
    printed = subprocess.run(
        ["babeltrace2", "--clock-gmt", "--clock-date", folder / "ctf"], capture_output=True, text=True, check=True
    ).stdout
    began = re.match(r"\[(\S+) (\S+)\.\d+\]", printed)
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert info["started_at"] == f"{began[1]}T{began[2]}Z" and info["imported_at"] > info["started_at"]
    assert info["realtime_offset_ns"] == offset_ns
    (traced,) = info["traces"]
    assert (traced["host"], traced["tracer"], traced["tracer_version"]) == ("vm", "lttng-ust", "2.13")
    assert traced["realtime_offset_ns"] == offset_ns
    assert f"from {info['started_at']}" in shown and "traced on vm by lttng-ust 2.13" in shown
    summary = json.loads(tacho("explain", "run", "--json").stdout)
    instance = next(instance for chain in summary["chains"] if chain["critical"] for instance in chain["worst"])
    assert instance["start_realtime_ns"] == instance["start_ns"] + offset_ns
    on_the_clock = datetime.datetime.fromtimestamp(instance["start_realtime_ns"] // 10**9, datetime.UTC)
    assert on_the_clock.strftime(f"%Y-%m-%dT%H:%M:%S.{instance['start_realtime_ns'] % 10**9 // 1000:06d}Z") in shown


def test_a_trace_without_a_wall_clock_has_no_day(tacho, tmp_path):
    """Its clock counts from an unknown zero, so the date is unknown."""
    trace = tmp_path / "trace"
    trace.mkdir()
    (trace / "metadata").write_text("""/* CTF 1.8 */
        typealias integer { size = 64; align = 8; signed = false; } := u64;
        typealias integer { size = 32; align = 8; signed = true; } := i32;
        trace { major = 1; minor = 8; byte_order = le; };
        clock { name = c; freq = 1000000000; };
        stream { event.header := struct { integer { size = 64; align = 8; map = clock.c.value; } t; };
            event.context := struct { i32 _vpid; i32 _vtid; }; };
        event { name = "ros2:rcl_init"; fields := struct { u64 _context_handle; }; };""")
    (trace / "stream").write_bytes(struct.pack("<QiiQ", 5_000_000_000, 7, 7, 1))
    shown = tacho("import", trace, "-o", "run").stdout
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert info["started_at"] == "" and "realtime_offset_ns" not in info
    assert "1970" not in shown


def test_waits_for_a_timer_end_when_its_making_says_though_its_starts_lie_all_over_the_period(
    tacho, unpacked, tmp_path
):
    """The reference system on one thread that is always busy: its planner's timer is never on time."""
    folder = unpacked("autoware_single_5s")
    tacho("import", folder / "ctf", "-o", "run")
    printed = subprocess.run(
        ["babeltrace2", "--clock-seconds", folder / "ctf"], capture_output=True, text=True, check=True
    ).stdout
    _, of_planner = printed.split('node_name = "BehaviorPlanner"')
    second, fraction, period_ns = re.search(
        r"\[(\d+)\.(\d{9})\] \S+ \S+ ros2:rcl_timer_init: .* period = (\d+)", of_planner
    ).groups()
    made_ns, period_ns = int(second) * 10**9 + int(fraction), int(period_ns)
    offset_ns = json.loads((tmp_path / "run/run.json").read_text())["realtime_offset_ns"]
    causes = pq.read_table(tmp_path / "run/tables/causes.parquet").to_pylist()
    of_timer = [cause for cause in causes if cause["by"].startswith("/BehaviorPlanner timer")]
    due = {
        (c["from_ns"] + c["duration_ns"] + offset_ns - made_ns) % period_ns for c in of_timer if c["kind"] == "not_due"
    }
    assert due == {0}
    assert {cause["kind"] for cause in of_timer} <= {"not_due", "tick_late", "executor_busy", "computation"}
