"""`tacho record` on ordinary rclpy programs, against the programs' own clocks."""

import statistics

import pytest
from places import PROGRAMS

COUNT = 60
PERIOD_S = 0.05


def record(tacho, python):
    done = tacho("record", "-o", "run", "--", PROGRAMS / "talk_and_listen.sh", python, COUNT, PERIOD_S)
    published, heard = {}, {}
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] == ["published"]:
            published[int(words[1])] = int(words[2])
        elif words[:1] == ["heard"]:
            heard[int(words[1])] = int(words[2])
    return published, heard, tacho.json("explain", "run")


@pytest.mark.parametrize("release", ["kilted", "jazzy"])
def test_topics_rates_and_latencies_of_an_unmodified_rclpy_system(tacho, release, request):
    python = request.getfixturevalue("ros_python" if release == "kilted" else "ros_python_jazzy")
    published, heard, summary = record(tacho, python)
    assert len(published) == COUNT and len(heard) == COUNT

    topic = next(t for t in summary["topics"] if t["topic"] == "/chatter")
    assert topic["publishers"] == ["/talker"]
    assert topic["subscribers"] == ["/listener"]
    assert topic["sent"] == COUNT
    assert topic["received"] == COUNT
    assert topic["lost"] == 0

    span_s = (published[COUNT - 1] - published[0]) / 1e9
    assert topic["rate_hz"] == pytest.approx((COUNT - 1) / span_s, rel=0.01)

    # The program stamps before the Python call and in the Python callback; we see the part between rcl_publish and callback_start.
    outer_us = [(heard[i] - published[i]) / 1e3 for i in published]
    assert topic["latency_us"]["count"] == COUNT
    assert topic["latency_us"]["min"] > 0
    assert topic["latency_us"]["median"] <= statistics.median(outer_us)
    assert topic["latency_us"]["max"] <= max(outer_us)


def test_figures_without_callbacks_of_rclpy_are_absent_and_said_so(tacho, ros_python):
    tacho.environment["TACHO_EVENTS_RCLPY"] = "off"
    _, _, summary = record(tacho, ros_python)
    assert summary["callbacks"] == []
    assert any(note["name"] == "no-callback-events" for note in summary["notes"])


def test_the_program_keeps_its_exit_code_and_output(tacho):
    done = tacho("record", "-o", "run", "--", "sh", "-c", "echo out; echo err >&2; exit 7", expect=7)
    assert "out" in done.stdout and "err" in done.stderr


def test_a_program_without_ros_is_told_to_have_recorded_nothing(tacho):
    done = tacho("record", "-o", "run", "--", "true")
    assert "nothing" in done.stderr


def test_a_command_that_is_not_there_is_a_usage_error(tacho):
    done = tacho("record", "-o", "run", "--", "/no/such/program", expect=2)
    assert "/no/such/program" in done.stderr
