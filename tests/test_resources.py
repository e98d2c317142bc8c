"""The resource use of processes, compared with workloads of known use."""

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


def window_ns(info):
    return info["measured_to_ns"] - info["measured_from_ns"]


def bench(tacho, run, middleware="cyclonedds", size="64 B", work=0.01, start="together", more=""):
    text = WORKLOAD.format(middleware=middleware, size=size, work=work, start=start, more=more)
    (tacho.directory / f"{run}.yaml").write_text(text)
    tacho("bench", f"{run}.yaml", "-o", run)
    info = json.loads((tacho.directory / run / "run.json").read_text())
    return info, {process["name"]: process for process in info["processes"]}


def sent(tacho, run):
    """Messages of the window; on a busy machine fewer than 50 a second."""
    return json.loads((tacho.directory / run / "summary.json").read_text())["points"][0]["sent"]


def test_cpu_time_is_that_of_the_work(tacho):
    before = time.monotonic_ns()
    info, busy = bench(tacho, "busy", work=8)
    used = busy["talker"]["resources"]
    # Between a reading near the beginning of the window and one near its end, both while the command ran.
    assert 0.8 * window_ns(info) < used["over_ns"] < time.monotonic_ns() - before
    # The readings may be a tenth of a second, five messages, away from the window on either side; publishing costs
    # something, too.
    messages = sent(tacho, "busy")
    assert (messages - 6) * 8e6 < used["cpu_ns"] < (messages + 6) * 8e6 + messages * 1e6


def test_switches_are_those_of_the_wake_ups(tacho):
    _, processes = bench(tacho, "lazy")
    messages = sent(tacho, "lazy")
    # One for each message on either side, and not many more.
    for process in processes.values():
        assert 0.9 * messages - 6 < process["resources"]["voluntary_switches"] < 10 * messages


def test_memory_grows_by_the_messages(tacho):
    _, small = bench(tacho, "small", middleware="socket\ntransport: tcp")
    _, large = bench(tacho, "large", middleware="socket\ntransport: tcp", size="16 MiB")
    grown = large["talker"]["resources"]["rss_bytes"] - small["talker"]["resources"]["rss_bytes"]
    # Except for some pages, because a process never touches exactly the same ones.
    assert 15.5 < grown / (1 << 20) < 18
    for process in large.values():
        used = process["resources"]
        assert used["pss_bytes"] <= used["rss_bytes"] <= used["peak_rss_bytes"]
        # The recorder's buffers are in /dev/shm or on a disk, and never count.
        assert used["shared_bytes"] == 0


def test_events_that_are_recorded_are_no_memory_of_the_program(tacho):
    text = WORKLOAD.format(middleware="socket\ntransport: tcp", size="64 B", work=0.001, start="together", more="")
    (tacho.directory / "w.yaml").write_text(text.replace("50 Hz", "5000 Hz").replace("2 s", "10 s"))
    used = []
    for name, options in (("recorded", []), ("unrecorded", ["--unrecorded=alone"])):
        tacho("bench", "w.yaml", "-o", name, *options)
        processes = json.loads((tacho.directory / name / "run.json").read_text())["processes"]
        used.append({process["name"]: process["resources"]["rss_bytes"] for process in processes})
    events = [file.stat().st_size for file in (tacho.directory / "recorded" / "events").glob("*.events")]
    assert len(events) == 2 and min(events) > 3 << 19
    for name in used[0]:
        # The recorder's own code and state count, its buffers do not.
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
    assert window_ns(info) == 2_000_000_000
    # It began by itself: the first message was there before the runner would have started all together.
    assert all(process["code"] == 0 for process in processes.values())


def test_together_says_when_all_peers_were_there(tacho):
    info, processes = bench(tacho, "run")
    for process in processes.values():
        startup = process["startup"]
        assert startup["main_ns"] < startup["ready_ns"] < startup["matched_ns"] < info["measured_from_ns"]
        assert startup["main_ns"] < time.monotonic_ns()
