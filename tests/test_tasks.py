"""Tasks in nodes on real middleware: their messages arrive whole, their quality is in the run, and a task that fails
ends its node with its reason and loses nothing that was recorded."""

import json
import re
from collections import Counter

import numpy as np
import pyarrow.parquet as parquet
import pytest
from places import ROOT
from signals import Signals

# The task compares all bytes of a message, and the source fills them, so a message of another size or content is seen.
CHAIN = """
middleware: {middleware}
nodes:
  source: {{work: {{task: probe_count}}, publishes: {{/count: {{size: {size}, rate: 50 Hz, depth: 100}}}}}}
  relay:
    work: {{task: probe_copy, every: 2, fail_at: {fail_at}, how: {how}}}
    subscribes: {{/count: {{depth: 100}}}}
    publishes: {{/copy: {{size: {size}, depth: 100}}}}
  sink: {{work: {{task: probe_check}}, subscribes: {{/copy: {{depth: 100}}}}}}
chains: {{all: [source, relay, sink]}}
run: {{duration: {seconds} s}}
"""


@pytest.fixture
def home(tacho, tmp_path):
    """An installation that also has the library of tasks for tests."""
    folder = tmp_path / "home"
    (folder / "lib").mkdir(parents=True)
    for entry in (ROOT / "build").iterdir():
        if entry.name != "lib":
            (folder / entry.name).symlink_to(entry)
    for entry in (ROOT / "build/lib").iterdir():
        (folder / "lib" / entry.name).symlink_to(entry)
    probe = ROOT / "build/native/tasks/tests/libtacho_tasks_probe.so"
    (folder / "lib" / probe.name).symlink_to(probe)
    tacho.environment["TACHO_HOME"] = str(folder)
    return folder


def write(tacho, middleware="inproc", size="1 KiB", fail_at=0, how=0, seconds=2):
    text = CHAIN.format(middleware=middleware, size=size, fail_at=fail_at, how=how, seconds=seconds)
    (tacho.directory / "w.yaml").write_text(text)
    return text


def quality(tacho, run="run"):
    """Figures by node and name."""
    summary = json.loads((tacho.directory / run / "summary.json").read_text())
    return {(of["node"], of["name"]): of["values"][0] for of in summary["quality"]}, summary


def skip_unless_built(middleware):
    name = middleware.strip("{").split(":")[0]
    parts = {"rclpy": "nodes/rclpy/node"}
    if not (ROOT / "build" / parts.get(name, f"lib/libtacho_{name}.so")).exists():
        pytest.skip(f"{name} is not built here")


@pytest.mark.parametrize("middleware", ["inproc", "ros2", "cyclonedds", "{socket: tcp}", "iceoryx", "rclpy"])
@pytest.mark.parametrize("size", ["100 B", "300 kB"])
def test_what_tasks_publish_arrives_whole(tacho, home, middleware, size):
    skip_unless_built(middleware)
    write(tacho, middleware, size)
    tacho("bench", "w.yaml", "-o", "run")
    figures, summary = quality(tacho)
    topics = {topic["topic"]: topic for topic in summary["topics"]}
    assert figures["sink", "wrong"] == 0 and figures["sink", "messages"] >= 40
    assert figures["sink", "size_B"] == {"100 B": 100, "300 kB": 300_000}[size]
    # The relay publishes every second message.
    calls = figures["relay", "calls"]
    assert figures["relay", "new_first"] == calls and figures["sink", "messages"] == calls // 2
    assert topics["/copy"]["sent"] * 2 == pytest.approx(topics["/count"]["sent"], abs=2)
    (point,) = summary["points"]
    # What the relay withholds is neither due nor skipped; all slots of the source's clock are due.
    source, relay = sorted(point["publishing"], key=lambda of: of["topic"], reverse=True)
    assert source["node"] == "/source" and "due" not in relay and "skipped" not in relay
    assert source["due"] == source["sent"] + source["skipped"] == pytest.approx(2 * 50, abs=1)
    assert point["lost"] == 0 and point["skipped"] == source["skipped"]
    (chain,) = summary["chains"]
    assert 40 <= chain["instances"] <= figures["sink", "messages"]
    # Signals: each call counts up, entries of a list are told apart, and all have the instant that the task gave.
    signals = Signals(tacho.directory / "run")
    counts = signals.values("source", "count")
    ran = executions(tacho.directory / "run")
    assert counts.tolist() == list(range(len(counts))) and len(counts) >= topics["/count"]["sent"] >= 80
    # All messages of the whole run, to the last.
    assert len(counts) == ran["/source"] == calls == ran["/relay"] and figures["sink", "messages"] == ran["/sink"]
    squares, entries = signals.values("source", "square"), signals.column("source", "square", "entry")
    assert np.array_equal(squares[entries == 0], counts**2) and np.array_equal(squares[entries == 1], -(counts**2))
    at_ns = signals.column("source", "count", "at_ns")
    assert np.array_equal(signals.column("source", "square", "at_ns"), np.repeat(at_ns - 1000, 2))
    late_ns = signals.column("source", "count", "reported_ns") - at_ns
    assert late_ns.min() > -2000 and np.median(late_ns) < 1e6, "it is reported in the call that it is of"
    assert signals.units["source", "square"] == "m/s^2"
    assert "relay" in tacho("explain", "run").stdout and "Quality of tasks" in tacho("explain", "run").stdout


THROWS = "process relay: node relay: task probe_copy: found call 30, expected fewer"


def executions(run):
    """Executions by node, of the whole run with its warm-up."""
    names, callbacks, all_ = (
        parquet.read_table(run / f"tables/{name}.parquet").to_pydict() for name in ("nodes", "callbacks", "executions")
    )
    return Counter(names["name"][callbacks["node"][callback]] for callback in all_["callback"])


@pytest.mark.timing
@pytest.mark.parametrize(
    "middleware,how,reason",
    [
        ("ros2", 0, THROWS),
        ("ros2", 1, "process relay: node relay: task probe_copy: found an exception that is no std::exception"),
        ("ros2", 2, "process relay ended with exit code 7 before the end"),
        # Nodes on a client library run the same tasks, on each of its executors.
        ("rclpy", 0, THROWS),
        ("{rclpy: multi-threaded}", 0, THROWS),
        ("{rclpy: events}", 0, THROWS),
    ],
    ids=["throws", "throws a number", "ends the process", "rclpy", "rclpy, multi-threaded", "rclpy, events"],
)
def test_a_task_that_fails_ends_its_node_with_its_reason(tacho, home, middleware, how, reason):
    skip_unless_built(middleware)
    # The main thread of rclpy's multi-threaded executor can keep its pool from the interpreter for seconds.
    write(tacho, middleware, fail_at=30, how=how, seconds=12 if "multi" in middleware else 2)
    done = tacho("bench", "w.yaml", "-o", "run", expect=3)
    assert reason in done.stderr
    info = json.loads((tacho.directory / "run/run.json").read_text())
    assert any(reason in missing for missing in info["missing"]), info["missing"]
    (relay,) = [process for process in info["processes"] if process["name"] == "relay"]
    assert relay["code"] == (7 if how == 2 else 3)
    figures, summary = quality(tacho)
    # The others go on, and all that the node did before is recorded.
    assert figures["sink", "messages"] == 14
    assert (figures["relay", "calls"] == 30) if how < 2 else (("relay", "calls") not in figures)
    topics = {topic["topic"]: topic for topic in summary["topics"]}
    assert topics["/count"]["sent"] > 80
    ran = executions(tacho.directory / "run")
    assert (ran["/relay"], ran["/sink"]) == (30, 14)
    (chain,) = summary["chains"]
    assert chain["instances"] >= 1


@pytest.mark.parametrize("middleware", ["inproc", "rclpy"])
def test_a_node_of_several_inputs_keeps_the_latest_of_each(tacho, home, middleware):
    skip_unless_built(middleware)
    (tacho.directory / "w.yaml").write_text(
        f"middleware: {middleware}"
        + """
nodes:
  fast: {work: {task: probe_count}, publishes: {/fast: {size: 64 B, rate: 100 Hz}}}
  slow: {work: {task: probe_count}, publishes: {/slow: {size: 64 B, rate: 10 Hz, depth: 100}}}
  both:
    work: {task: probe_copy}
    subscribes: {/slow: {depth: 100}, /fast: {latest: true}}
    publishes: {/copy: {size: 64 B}}
  timed:
    on: timer 20 Hz
    work: {task: probe_copy}
    subscribes: [/slow, /fast]
    publishes: {/again: {size: 64 B}}
  sink: {work: {task: probe_check}, subscribes: [/copy]}
  other: {work: {task: probe_check}, subscribes: [/again]}
run: {duration: 2 s}
"""
    )
    tacho("bench", "w.yaml", "-o", "run")
    figures, _ = quality(tacho)
    # Only /slow makes it run, and one in ten of the others is the latest then.
    assert figures["both", "calls"] == figures["both", "new_first"] == executions(tacho.directory / "run")["/slow"]
    assert figures["both", "calls"] >= 20
    assert figures["both", "new_second"] == pytest.approx(figures["both", "calls"], abs=2)
    # Half of the timer's calls have a new message of /slow, nearly all one of /fast; fewer where the sources start later.
    calls = figures["timed", "calls"]
    assert 0.25 * calls < figures["timed", "new_first"] <= 0.5 * calls + 2
    assert 0.5 * calls < figures["timed", "new_second"] <= calls
    assert figures["sink", "wrong"] == figures["other", "wrong"] == 0 and figures["other", "messages"] >= 30


@pytest.mark.timing
def test_tasks_do_the_same_in_virtual_time(tacho, home, undisturbed):
    # Every way in which a node calls its task: on arrival, with a message kept, on a timer, spinning, on sets.
    (tacho.directory / "w.yaml").write_text("""
middleware: inproc
nodes:
  fast: {work: {task: probe_count}, publishes: {/fast: {size: 64 B, rate: 100 Hz}}}
  slow: {work: {task: probe_count}, publishes: {/slow: {size: 64 B, rate: 10 Hz}}}
  half: {work: {task: probe_copy, every: 2}, subscribes: [/fast], publishes: {/half: {size: 64 B}}}
  both:
    work: {task: probe_copy}
    subscribes: {/slow: , /half: {latest: true}}
    publishes: {/copy: {size: 64 B}}
  timed: {on: timer 20 Hz, work: {task: probe_copy}, subscribes: [/slow, /fast], publishes: {/again: {size: 64 B}}}
  turns: {spin: 50 Hz, work: {task: probe_copy}, subscribes: {/half: {depth: 100}}, publishes: {/turn: {size: 64 B}}}
  sets:
    on: match exact
    work: {task: probe_copy}
    subscribes: [/fast, /half]
    publishes: {/set: {size: 64 B}}
  sink: {work: {task: probe_check}, subscribes: {/half: {depth: 100}}}
run: {duration: 2 s}
""")
    run = undisturbed("bench", "w.yaml")
    said = tacho("simulate", "w.yaml", "--costs", run, "-o", "simulated").stdout
    assert "no run shows what its task computes" not in said, "the run shows what all of them compute"
    measured, _ = quality(tacho, run)
    simulated, _ = quality(tacho, "simulated")
    assert measured.keys() == simulated.keys()
    counts = ("calls", "new_first", "new_second", "messages", "wrong", "size_B")
    for of, value in simulated.items():
        if of[1] in counts:
            assert value == pytest.approx(measured[of], abs=5), of
    every_second = simulated["half", "calls"] // 2
    assert every_second >= 100 and simulated["sink", "wrong"] == 0
    assert simulated["sink", "messages"] == simulated["sets", "calls"] == every_second
    # The clock of the call is virtual: the message is as old as its way was long.
    assert 0 <= simulated["half", "last_age_ms"] < 20


def test_a_task_that_fails_in_virtual_time_ends_the_simulation_with_its_reason(tacho, home):
    write(tacho, fail_at=30)
    done = tacho("simulate", "w.yaml", "-o", "run", expect=3)
    # The 30th message of 50 a second, counted from its phase.
    where = re.search(
        r"node relay failed after (\d\.\d+) s: task probe_copy: found call 30, expected fewer", done.stderr
    )
    assert where and 0.58 <= float(where[1]) < 0.6, done.stderr


def test_what_no_task_has_is_refused_with_its_place(tacho, home):
    text = write(tacho).replace("every: 2", "evry: 2").replace("task: probe_count", "task: probe_cont")
    (tacho.directory / "w.yaml").write_text(text)
    for verb in (["check", "w.yaml"], ["bench", "w.yaml", "-o", "run"]):
        said = tacho(*verb, expect=2).stderr
        assert "w.yaml:4:25: error: no such task [unknown-task]" in said and "did you mean `probe_count`?" in said
        assert "w.yaml:6:30: error: task `probe_copy` has no such parameter [unknown-key]" in said
        assert "= found: `evry`" in said and "did you mean `every`?" in said


@pytest.mark.parametrize("middleware", ["inproc", "rclpy"])
def test_a_task_that_cannot_be_made_ends_the_start_with_its_reason(tacho, home, middleware):
    skip_unless_built(middleware)
    (tacho.directory / "w.yaml").write_text(write(tacho, middleware).replace("every: 2", "every: 13"))
    done = tacho("bench", "w.yaml", "-o", "run", expect=3)
    assert "node relay: task probe_copy: found 13 as every, expected a number without bad luck" in done.stderr


def test_a_spinning_node_on_rclpy_runs_its_task_and_ends_with_its_reason(tacho, home):
    skip_unless_built("rclpy")
    (tacho.directory / "w.yaml").write_text("""
middleware: rclpy
nodes:
  fast: {spin: 100 Hz, work: {task: probe_count}, publishes: {/fast: {size: 64 B, rate: 50 Hz, depth: 100}}}
  turns: {spin: 100 Hz, work: {task: probe_copy, every: 2}, subscribes: {/fast: {depth: 100}}, publishes: {/turn: {size: 64 B, depth: 100}}}
  fails: {spin: 100 Hz, work: {task: probe_copy, fail_at: 20}, subscribes: {/fast: {depth: 100}}, publishes: {/none: {size: 64 B}}}
  twist: {work: {task: probe_copy}, subscribes: {/turn: {depth: 100}}, publishes: {/twist: {type: TwistStamped, size: 48 B, depth: 100}}}
  again: {work: {task: probe_copy}, subscribes: {/twist: {depth: 100}}, publishes: {/again: {size: 48 B, depth: 100}}}
  sink: {work: {task: probe_check}, subscribes: {/again: {depth: 100}}}
run: {duration: 2 s}
""")
    done = tacho("bench", "w.yaml", "-o", "run", expect=3)
    assert "process fails: node fails: task probe_copy: found call 20, expected fewer" in done.stderr
    figures, summary = quality(tacho)
    sent = len(Signals(tacho.directory / "run").values("fast", "count"))
    assert figures["turns", "calls"] == sent >= 90 and figures["fails", "calls"] == 20
    topics = {topic["topic"]: topic for topic in summary["topics"]}
    assert topics["/turn"]["sent"] * 2 == pytest.approx(topics["/fast"]["sent"], abs=2)
    # 48 bytes of numbers went through a message of six numbers and back.
    assert (
        figures["sink", "messages"] == sent // 2 >= 40
        and figures["sink", "wrong"] == 0
        and figures["sink", "size_B"] == 48
    )


def test_nodes_on_rclpy_without_what_runs_tasks_say_so(tacho, home):
    skip_unless_built("rclpy")
    (home / "lib/libtacho_node_tasks.so").unlink()
    write(tacho, "rclpy")
    said = tacho("bench", "w.yaml", "-o", "run", expect=3).stderr
    assert "libtacho_node_tasks.so: cannot be loaded, expected what runs tasks" in said and "make build" in said


def test_a_damaged_library_is_named(tacho, home):
    (home / "lib/libtacho_tasks_damaged.so").write_text("no library")
    write(tacho)
    assert "libtacho_tasks_damaged.so: cannot be loaded" in tacho("check", "w.yaml", expect=3).stderr
