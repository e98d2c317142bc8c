"""Nodes on rclcpp in `tacho bench`, if a ROS 2 with rclcpp is sourced."""

import os
import signal
from pathlib import Path

import pytest
import ros_packages
import short_history
from places import ROOT
from waiting import finished, wait_for, wait_for_window

pytestmark = pytest.mark.timing

EXECUTORS = ["single-threaded", "multi-threaded", "events"]


@pytest.fixture(scope="session")
def prefix(tmp_path_factory) -> Path:
    """The folder of lib/tacho_rclcpp/node."""
    folder = tmp_path_factory.mktemp("tacho_rclcpp")
    built = ros_packages.build(ROOT / "native/nodes/rclcpp", folder / "build")
    (folder / "lib/tacho_rclcpp").mkdir(parents=True)
    (built / "node").rename(folder / "lib/tacho_rclcpp/node")
    return folder


@pytest.fixture
def bench(tacho, prefix):
    """Runs a workload to its end; returns its summary."""
    tacho.environment["AMENT_PREFIX_PATH"] = os.pathsep.join([str(prefix), os.environ["AMENT_PREFIX_PATH"]])

    def run(text):
        (tacho.directory / "w.yaml").write_text(text)
        return tacho.json("bench", "w.yaml", "-o", "run")

    return run


@pytest.mark.parametrize("executor", EXECUTORS)
def test_every_send_is_counted_and_a_chain_runs_through_arrival_timer_and_fusion(bench, executor):
    summary = bench(f"""
middleware: rclcpp
transport: {executor}
nodes:
  left: {{publishes: {{/left: {{rate: 20 Hz}}}}}}
  right: {{publishes: {{/right: {{rate: 20 Hz}}}}}}
  first: {{subscribes: {{/left: {{}}, /right: {{latest: true}}}}, publishes: {{/fused: {{size: 64 KiB}}}}}}
  timed: {{subscribes: [/left, /right], on: timer 10 Hz, work: 2 ms, publishes: {{/timed: {{}}}}}}
  sink: {{subscribes: [/fused, /timed]}}
run: {{duration: 3 s}}
""")
    (point,) = summary["points"]
    assert point["due"] == point["sent"] + point["refused"] + point["skipped"]
    due = {one["node"]: one.get("due") for one in point["publishing"]}
    assert (due["/left"], due["/right"], due["/timed"]) == (60, 60, 30)
    assert point["received"] > 0 and point["refused"] == 0
    paths = {tuple(chain["path"]): chain for chain in summary["chains"]}
    for path in [("/left", "/left", "/first", "/fused", "/sink"), ("/left", "/left", "/timed", "/timed", "/sink")]:
        assert paths[path]["instances"] > 0, path
    kinds = {(c["node"], c["kind"]) for c in summary["callbacks"]}
    assert {("/left", "timer"), ("/timed", "timer"), ("/first", "subscription"), ("/sink", "subscription")} <= kinds
    assert not [n for n in summary["notes"] if n["name"] == "process-did-not-end-in-order"]


def test_a_spinning_node_takes_one_message_of_each_queue_at_a_wake(bench):
    summary = bench("""
middleware: rclcpp
nodes:
  talker: {publishes: {/words: {rate: 100 Hz}}}
  spinner: {subscribes: {/words: {depth: 100}}, spin: 20 Hz}
run: {duration: 2 s}
""")
    (spinner,) = (s for s in summary["points"][0]["subscribing"] if s["node"] == "/spinner")
    # Five messages come between two wakes, each of which takes one.
    assert 0 < spinner["received"] <= 60


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_stack_of_tasks_drives_the_car(bench, executor):
    text = (ROOT / "workloads/drive.yaml").read_text()
    for before, after in (
        ("middleware: ros2", f"middleware: {{rclcpp: {executor}}}"),
        ("duration: 140 s", "duration: 6 s"),
    ):
        assert before in text
        text = text.replace(before, after)
    figures = {(of["node"], of["name"]): of["values"][0] for of in bench(text)["quality"]}
    assert figures["car", "lane_kept"] == 1 and figures["car", "driven_m"] > 10
    assert figures["detection", "clouds"] > 40 and figures["lidar", "points_mean"] > 50_000


def test_a_send_that_is_refused_is_counted_and_the_node_goes_on(tacho, bench):
    process = short_history.start_bench(tacho, "rclcpp")
    events = tacho.directory / "run/events"

    def files():
        found = {}
        for file in events.glob("*.events"):
            words = Path(f"/proc/{file.name.split('-')[0]}/cmdline").read_text().split("\0")
            found[words[-2]] = file
        return found

    wait_for(lambda: events.is_dir() and len(files()) == 2, "two nodes", process)
    listener = int(files()["listener"].name.split("-")[0])
    wait_for_window(tacho.directory / "run", process)
    os.kill(listener, signal.SIGSTOP)
    try:
        # Each has a reason.
        wait_for(lambda: files()["talker"].read_bytes().count(b"cannot publish data") >= 3, "refused sends", process)
    finally:
        os.kill(listener, signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    (point,) = tacho.json("explain", "run")["points"]
    assert point["refused"] >= 3 and point["due"] == point["sent"] + point["refused"] + point["skipped"]
