"""CPUs and priorities of recorded nodes: those with which the test starts them, in run.json, in the twin and when it runs."""

import json
import os
import re
import subprocess

import pytest
import yaml
from places import PROGRAMS

# As in a container, real-time priorities may be refused.
REAL_TIME = subprocess.run(["chrt", "--fifo", "5", "true"], capture_output=True).returncode == 0


@pytest.mark.parametrize(
    "how, priority",
    [
        ("nice -n 7", "nice 7"),
        pytest.param(
            "chrt --rr 5",
            "round_robin 5",
            marks=pytest.mark.skipif(not REAL_TIME, reason="real-time priorities are not allowed here"),
        ),
    ],
)
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU is all CPUs")
def test_a_twin_has_the_cpus_and_priorities_of_the_recorded_nodes(tacho, ros_python, how, priority):
    cpu = max(os.sched_getaffinity(0))
    listener, talker = (f"{ros_python} {PROGRAMS / name}.py 50" for name in ("listener", "talker"))
    program = f"taskset --cpu-list {cpu} {how} {listener} & {talker} 0.02 && wait $!"
    tacho("record", "-o", "recorded", "--", "sh", "-c", program)
    threads = json.loads((tacho.directory / "recorded/run.json").read_text())["scheduling"]
    # Those of the listener alone, of rclpy and of DDS alike.
    assert len({thread["pid"] for thread in threads}) == 1 and all(thread["cpus"] == [cpu] for thread in threads)
    tacho("model", "recorded", "-o", "twin.yaml")
    twin = yaml.safe_load((tacho.directory / "twin.yaml").read_text())
    assert twin["run"]["cpus"] == {"listener": [cpu]}
    assert twin["run"]["priority"] == {"listener": priority}
    assert not re.search("Not recorded:.*CPUs", (tacho.directory / "twin.yaml").read_text())
    tacho("bench", "twin.yaml", "--duration", "1s", "-o", "again")
    tacho("simulate", "twin.yaml", "--costs", "recorded", "-o", "simulated")
