"""What processes use, against workloads whose use is known."""

import json
import time

import pytest

pytestmark = pytest.mark.timing

WORKLOAD = """
middleware: {middleware}
nodes:
  talker: {{publishes: {{/out: {{size: {size}, rate: 50 Hz}}}}, work: {work} ms}}
  listener: {{subscribes: [/out]}}
run: {{duration: 2 s, start: {start}{more}}}
"""


def bench(tacho, run, middleware="cyclonedds", size="64 B", work=0.01, start="together", more=""):
    text = WORKLOAD.format(middleware=middleware, size=size, work=work, start=start, more=more)
    (tacho.directory / f"{run}.yaml").write_text(text)
    tacho("bench", f"{run}.yaml", "-o", run)
    info = json.loads((tacho.directory / run / "run.json").read_text())
    return info, {process["name"]: process for process in info["processes"]}


def test_cpu_time_is_that_of_the_work_and_switches_those_of_the_wake_ups(tacho):
    _, lazy = bench(tacho, "lazy")
    _, busy = bench(tacho, "busy", work=8)
    talker = busy["talker"]["resources"]
    seconds = talker["over_ns"] / 1e9
    assert 1.9 < seconds < 2.3
    # 50 times a second 8 ms of CPU time more, and all else alike.
    more = talker["cpu_ns"] / talker["over_ns"] - lazy["talker"]["resources"]["cpu_ns"] / lazy["talker"]["resources"]["over_ns"]
    assert 0.36 < more < 0.48
    # At least one wake-up a message on either side, and not many more.
    for process in lazy.values():
        assert 0.9 * 50 * seconds < process["resources"]["voluntary_switches"] < 10 * 50 * seconds


def test_memory_grows_by_the_messages(tacho):
    _, small = bench(tacho, "small", middleware="socket\ntransport: tcp")
    _, large = bench(tacho, "large", middleware="socket\ntransport: tcp", size="16 MiB")
    grown = large["talker"]["resources"]["rss_bytes"] - small["talker"]["resources"]["rss_bytes"]
    # To a few pages: what else a process touches is never the same twice.
    assert 15.9 < grown / (1 << 20) < 18
    for process in large.values():
        used = process["resources"]
        assert used["pss_bytes"] <= used["rss_bytes"] <= used["peak_rss_bytes"]
        # The recorder's buffers are in /dev/shm or on a disk, and never counted.
        assert used["shared_bytes"] == 0


def test_events_that_are_recorded_are_no_memory_of_the_program(tacho):
    text = WORKLOAD.format(middleware="socket\ntransport: tcp", size="64 B", work=0.001, start="together", more="")
    (tacho.directory / "w.yaml").write_text(text.replace("50 Hz", "5000 Hz"))
    used = []
    for name, options in (("recorded", []), ("unrecorded", ["--unrecorded"])):
        tacho("bench", "w.yaml", "-o", name, *options)
        processes = json.loads((tacho.directory / name / "run.json").read_text())["processes"]
        used.append({process["name"]: process["resources"]["rss_bytes"] for process in processes})
    events = [file.stat().st_size for file in (tacho.directory / "recorded" / "events").glob("*.events")]
    assert len(events) == 2 and min(events) > 3 << 19
    for name in used[0]:
        # The recorder's own code and state are there, its buffers are not.
        assert used[0][name] - used[1][name] < 1 << 20


@pytest.mark.parametrize("middleware", ["ros2", "cyclonedds"])
def test_start_up_at_once_goes_from_main_over_ready_to_the_first_message(tacho, middleware):
    info, processes = bench(tacho, "run", middleware=middleware, start="at_once")
    startup = {name: process["startup"] for name, process in processes.items()}
    for of_process in startup.values():
        assert of_process["main_ns"] < of_process["ready_ns"] <= info["measured_from_ns"]
        assert "matched_ns" not in of_process
    assert max(of_process["ready_ns"] for of_process in startup.values()) == info["measured_from_ns"]
    assert startup["listener"]["first_message_ns"] > startup["listener"]["ready_ns"]
    assert "first_message_ns" not in startup["talker"]
    assert info["measured_to_ns"] - info["measured_from_ns"] == 2_000_000_000
    # It began by itself: the first message was there before the word to start together would have been given.
    assert all(process["code"] == 0 for process in processes.values())


def test_together_says_when_all_peers_were_there(tacho):
    info, processes = bench(tacho, "run")
    for process in processes.values():
        startup = process["startup"]
        assert startup["main_ns"] < startup["ready_ns"] < startup["matched_ns"] < info["measured_from_ns"]
        assert startup["main_ns"] < time.monotonic_ns()
