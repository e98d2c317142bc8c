"""Actions of unmodified rclpy nodes under `tacho record`, against the clocks inside the nodes."""

import os
import subprocess
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from command import Tacho
from domains import free_domain
from places import ROOT
from recording import error_ns

ACTIONS = ROOT / "tests" / "actions"
PROGRAMS = ROOT / "tests" / "programs"
GOALS = 11


@pytest.fixture(scope="session")
def interfaces(ros_python, tmp_path_factory) -> Path:
    """Where the Python package with the action Count is."""
    place = tmp_path_factory.mktemp("interfaces")
    done = subprocess.run([ros_python, ACTIONS / "generate.py", place], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place


class Recording:
    def __init__(self, tacho, interfaces, python, executor):
        tacho.environment["PYTHONPATH"] = str(interfaces)
        nodes = ["starter", "asker", "counter", "finisher"]
        done = tacho("record", "--cpu-time", "-o", "run", "--", python, PROGRAMS / "action_nodes.py", executor, *nodes)
        self.directory = tacho.directory / "run"
        self.summary = tacho.json("explain", "run")
        self.error_ns = error_ns(self.directory)
        self.text = tacho("explain", "run", "--all").stdout
        self.printed = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("told ")]

    def inside(self, name):
        """What the nodes noted under this name, by the number of the goal."""
        return {int(number): [int(word) for word in times] for what, number, *times in self.printed if what == name}

    def table(self, name):
        return parquet.read_table(self.directory / "tables" / f"{name}.parquet").to_pylist()


@pytest.fixture(scope="module", params=["single", "multi", "events"])
def recording(request, ros_python, interfaces, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    domain = {
        "ROS_DOMAIN_ID": str(free_domain()),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(directory / "log"),
    }
    tacho = Tacho(directory, os.environ | domain)
    yield Recording(tacho, interfaces, ros_python, request.param)
    tacho.end()


def spread(values):
    return min(values), max(values)


def test_what_became_of_every_goal_is_told(recording):
    (action,) = recording.summary["actions"]
    assert (action["action"], action["clients"], action["servers"]) == ("/count", ["/asker"], ["/counter"])
    counts = ["sent", "accepted", "rejected", "cancel_requested", "succeeded", "canceled", "aborted", "unfinished"]
    assert [action[count] for count in counts] == [GOALS, 10, 1, 1, 8, 1, 1, 0]
    published = [line for line in recording.printed if line[0] == "publish"]
    assert action["feedback"] == len(published)
    # In the order of the sends.
    outcomes = [
        (goal["accepted"], goal["outcome"])
        for goal in sorted(recording.table("goals"), key=lambda goal: goal["sent_ns"])
    ]
    assert outcomes == [(True, "succeeded")] * 8 + [(False, None), (True, "aborted"), (True, "canceled")]
    assert "/count" in recording.text and "Actions: what became of their goals" in recording.text
    # The action represents its hidden services.
    assert not [service for service in recording.summary.get("services", []) if "/_action/" in service["service"]]


def test_each_time_of_a_goal_is_that_of_the_clocks_inside_the_nodes(recording):
    sent, responses, results = recording.inside("sent"), recording.inside("response"), recording.inside("result")
    executed = recording.inside("execute")
    goals = sorted(recording.table("goals"), key=lambda goal: goal["sent_ns"])
    assert len(goals) == len(sent) == GOALS
    for number, goal in enumerate(goals):
        before, after = sent[number]
        assert before - recording.error_ns <= goal["sent_ns"] <= after + recording.error_ns
        assert (
            goal["sent_ns"]
            <= goal["taken_ns"]
            <= goal["answered_ns"]
            <= goal["response_ns"]
            <= responses[number][0] + recording.error_ns
        )
        if not goal["accepted"]:
            assert goal["ended_ns"] is None and goal["result_ns"] is None and number not in results
            continue
        began, ended, _ = executed[number]
        assert goal["taken_ns"] <= goal["accepted_ns"] <= began + recording.error_ns
        # It ended in the last lines of the callback.
        assert began - recording.error_ns <= goal["ended_ns"] <= ended + recording.error_ns
        assert (
            goal["ended_ns"] <= goal["result_sent_ns"] <= goal["result_ns"] <= results[number][0] + recording.error_ns
        )


def test_the_figures_are_those_of_the_clocks_but_for_what_lies_between_them(recording):
    sent, responses, results = recording.inside("sent"), recording.inside("response"), recording.inside("result")
    executed = recording.inside("execute")
    (action,) = recording.summary["actions"]
    for figure, spans in [
        ("acceptance_us", [responses[n][0] - sent[n][0] for n in responses]),
        ("result_us", [results[n][0] - sent[n][0] for n in results]),
    ]:
        assert action[figure]["count"] == len(spans)
        # Our time ends at the take, before the first line of the callback.
        mean_us = sum(spans) / len(spans) / 1e3
        assert 0 < action[figure]["mean"] <= mean_us + recording.error_ns / 1e3
    inside_us = sum(end - begin for begin, end, _ in executed.values()) / len(executed) / 1e3
    assert action["execution_us"]["count"] == len(executed) == 10
    assert action["execution_us"]["mean"] <= action["result_us"]["mean"]
    # A goal works for 1 ms a step, and then waits for a timer; only the work is CPU time.
    worked_us = sum(worked for _, _, worked in executed.values()) / len(executed) / 1e3
    assert action["execution_cpu_us"]["count"] == 10
    assert 0 < action["execution_cpu_us"]["mean"] < inside_us
    (figures,) = (c for c in recording.summary["callbacks"] if c.get("topic") == "/count execution")
    assert (figures["node"], figures["kind"], figures["count"]) == ("/counter", "action", 10)
    assert figures["duration_us"]["mean"] >= worked_us - 10 * recording.error_ns / 1e3
    assert figures["duration_us"]["mean"] < inside_us
    assert figures["symbol"].startswith("Counter.on_execute (")
    (decision,) = (c for c in recording.summary["callbacks"] if c.get("topic") == "/count goal")
    assert decision["count"] == GOALS and decision["symbol"].startswith("Counter.on_goal (")


def test_feedback_has_its_rate_and_latency(recording):
    published = [line for line in recording.printed if line[0] == "publish"]
    by_goal = {}
    for _, number, _, before, after in published:
        by_goal.setdefault(number, []).append((int(before), int(after)))
    steps = sum(len(calls) - 1 for calls in by_goal.values())
    # Each call lies between two readings of the clock.
    longest_ns = sum(calls[-1][1] - calls[0][0] + 2 * recording.error_ns for calls in by_goal.values())
    shortest_ns = sum(calls[-1][0] - calls[0][1] - 2 * recording.error_ns for calls in by_goal.values())
    (action,) = recording.summary["actions"]
    assert steps * 1e9 / longest_ns <= action["feedback_rate_hz"] <= steps * 1e9 / shortest_ns
    topic = {i for i, e in enumerate(recording.table("endpoints")) if e["topic"] == "/count/_action/feedback"}
    calls = sorted(p["publish_ns"] for p in recording.table("publications") if p["publisher"] in topic)
    clocks = [(int(before), int(after)) for *_, before, after in published]
    assert len(calls) == len(clocks)
    # Threads that publish at once may do so in another order than they read the clock in: of the readings that may be a
    # call's, the one that ends first is.
    for call in calls:
        begun = [reading for reading in clocks if reading[0] - recording.error_ns <= call]
        assert begun, call
        first_to_end = min(begun, key=lambda reading: reading[1])
        assert call <= first_to_end[1] + recording.error_ns
        clocks.remove(first_to_end)
    # rclpy passes on feedback of goals whose result it has not taken yet, and a busy client may lose some of a queue of
    # ten.
    heard = sorted(int(line[3]) for line in recording.printed if line[0] == "feedback")
    messages = [m for m in recording.table("messages") if m["subscription"] in topic and m["take_ns"] is not None]
    begun = sorted(m["callback_ns"] for m in messages if m["callback_ns"] is not None)
    assert len(begun) == len(heard) > 0
    assert all(begin <= first_line + recording.error_ns for begin, first_line in zip(begun, heard))
    latencies = [((m["callback_ns"] or m["take_ns"]) - m["publish_ns"]) / 1e3 for m in messages]
    assert action["feedback_received"] == action["feedback_latency_us"]["count"] == len(messages)
    assert action["feedback_latency_us"]["mean"] == pytest.approx(sum(latencies) / len(latencies))
    (callback,) = (c for c in recording.summary["callbacks"] if c.get("topic") == "/count feedback")
    assert callback["count"] == len(heard) and callback["node"] == "/asker"


def test_chains_go_out_with_the_goal_and_come_back_with_result_and_feedback(recording):
    out = ["/starter", "/start", "/asker", "/count goal", "/counter"]
    by_path = {tuple(chain["path"]): chain for chain in recording.summary["chains"]}
    chain = by_path[*out, "/count result", "/asker", "/done", "/finisher"]
    assert chain["instances"] == 8
    started, finished = recording.inside("on_timer"), recording.inside("on_done")
    spans = sorted((finished[number][0] - started[number][0]) / 1e6 for number in finished)
    number = next(i for i, c in enumerate(recording.table("chains")) if tuple(c["path"]) == tuple(chain["path"]))
    instances = [i for i in recording.table("instances") if i["chain"] == number]
    ours = sorted(i["end_to_end_ns"] / 1e6 for i in instances)
    # Our time begins with the timer's callback and ends with that of the last node, with some Python on either side.
    assert all(mine >= theirs - 0.02 for mine, theirs in zip(ours, spans, strict=True))
    for i in instances:
        parts = ["computation_ns", "alignment_ns", "queueing_ns", "kept_ns", "transport_ns"]
        assert sum(i[part] for part in parts) + (i["off_cpu_ns"] or 0) + (i["preemption_ns"] or 0) == i["end_to_end_ns"]
    # Feedback also leads to the sink: each is followed to its goal.
    assert by_path[*out, "/count/_action/feedback", "/asker"]["instances"] > 0
    links = {
        (link["node"], link["input"], link.get("output")): link
        for link in recording.summary["chains"][0].get("links", [])
    }
    assert ("/asker", "/start", "/done") not in links
    assert tuple(["/starter", "/start", "/asker", "/done", "/finisher"]) not in by_path
