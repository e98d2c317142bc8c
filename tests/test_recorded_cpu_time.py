"""A process that computes outside of callbacks, too: what it uses there is sampled while it is recorded, and in the costs of its twin."""

import json

import pytest
from places import PROGRAMS


@pytest.mark.timing
def test_a_recording_shows_what_a_message_costs_outside_of_callbacks(tacho, ros_python):
    talker, listener = (f"{ros_python} {PROGRAMS / 'computing_beside.py'} {role} 8" for role in ("talker", "listener"))
    done = tacho("record", "-o", "recorded", "--", "sh", "-c", f"{talker} & {listener}; wait $!")
    [(count, outside_ns)] = [
        map(int, line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("came ")
    ]
    info = json.loads((tacho.directory / "recorded/run.json").read_text())
    for of in info["cpu_times"]:
        times = [(sample["at_ns"], sample["cpu_ns"]) for sample in of["samples"]]
        assert len(times) > 5 and times == sorted(times)
    tacho("simulate", "recorded", "-o", "simulated")
    costs = json.loads((tacho.directory / "simulated/prediction.json").read_text())["costs"]
    [of] = [of for of in costs["transfers"] if of["topic"] == "/chatter"]
    # Messages that came are those of both listeners: what their executor computes for one, and other threads of theirs.
    of_nodes = {node["node"]: node["take_ns"] + node["after_ns"] for node in costs["of_nodes"]}
    of_executor_ns = (of_nodes["planner"] + of_nodes["logger"]) / 2
    assert of["receive_cpu_ns"] + of_executor_ns == pytest.approx(outside_ns / count, rel=0.15)
    # The other thread computes for most of that.
    assert of["receive_cpu_ns"] > of_executor_ns

    # Each chain of a recording can be tuned, by the name that `explain` prints.
    chains = json.loads((tacho.directory / "recorded/summary.json").read_text())["chains"]
    names = {chain["name"]: chain["critical"] for chain in chains}
    assert sorted(names) == ["talker to logger", "talker to planner"]
    [other] = [name for name, critical in names.items() if not critical]
    options = ("--change", "thread", "--evaluations", "5")
    tacho("tune", "recorded", "--chain", other, *options, "-o", "tuned")
    found = json.loads((tacho.directory / "tuned/tuning.json").read_text())["found"]
    assert found["chain"]["name"] == other.replace(" ", "_")
    refused = tacho("tune", "recorded", "--chain", "talker to nobody", *options, expect=2).stderr
    assert "chain talker to nobody: not in recorded; expected one of: talker to " in refused
