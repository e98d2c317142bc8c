"""`tacho explain` finds nothing on a system that uses two thirds of a CPU, keeps every deadline and loses nothing."""

import json

import pytest

pytestmark = pytest.mark.timing

BUSY = """
middleware: ros2
nodes:
  lidar: {publishes: {/points: {size: 64 KiB, rate: 20 Hz, depth: 10}}}
  camera: {publishes: {/image: {size: 64 KiB, rate: 25 Hz, depth: 10}}}
  filter: {work: 12 ms, subscribes: {/points: {depth: 10}}, publishes: {/objects: {size: 1 KiB, depth: 10}}}
  fusion: {work: 12 ms, subscribes: {/objects: {depth: 10}, /image: {latest: true}}, publishes: {/scene: {size: 1 KiB, depth: 10}}}
  planner: {on: timer 10 Hz, work: 10 ms, subscribes: {/scene: {depth: 10}}, publishes: {/path: {size: 64 B}}}
  control: {subscribes: [/path], work: 1 ms}
run: {duration: 5 s}
"""
LINKS = "chains: {lidar to control: {deadline: 400 ms}, camera to control: {deadline: 400 ms}}\n"


def test_a_busy_system_that_keeps_every_deadline_has_no_finding(tacho, undisturbed):
    (tacho.directory / "busy.yaml").write_text(BUSY)
    (tacho.directory / "links.yaml").write_text(LINKS)
    run = undisturbed("bench", "busy.yaml", "--cpu-time")
    load = json.loads((tacho.directory / run / "run.json").read_text())["load"]
    summary = tacho.json("explain", run, "--links", "links.yaml")
    working_s = (
        sum(
            callback["count"] * callback["cpu_us"]["mean"]
            for callback in summary["callbacks"]
            if callback.get("cpu_us")
        )
        / 1e6
    )
    assert 0.5 < working_s / load["over_s"] < 0.8
    assert [(topic["topic"], topic["lost"]) for topic in summary["topics"] if topic["lost"]] == []
    chains = [chain for chain in summary["chains"] if chain.get("deadline_ms")]
    assert len(chains) == 2 and all(chain["instances"] > 20 and chain["late_instances"] == 0 for chain in chains)
    assert summary["findings"] == []
