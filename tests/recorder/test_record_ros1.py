"""`tacho record` on unmodified ROS 1 nodes: the tables compared with the nodes' own clocks and counts."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from places import ROOT
from recording import error_ns
from ros1_system import compiled, kill, ros1, ros1_program  # noqa: F401 (fixtures)
from waiting import LIMIT_S, succeeded, wait_for

LOST = ("lost", "subscription_queue")


def assert_encloses(executions, clock, error):
    """The recorder's bounds enclose those of the clock in the callback, one by one."""
    assert len(executions) == len(clock)
    for execution, (start, end) in zip(executions, clock):
        assert execution["start_ns"] - error <= start <= end <= execution["end_ns"] + error


@pytest.mark.parametrize("spinner", ["spin", "once", "multi", "async", "own"])
def test_every_callback_of_every_spinner_is_recorded_around_its_own_clock(ros1, spinner):
    ros1.record("talk=talk 100 60 1000", f"work=work {spinner} 1 100", "hear=hear")
    subscription, error = ros1.executions("/work", topic="/topic_1"), error_ns(ros1.run)
    assert len(subscription) == 60
    assert_encloses(subscription, ros1.clock("work", "subscription"), error)
    assert_encloses(ros1.executions("/work", kind="service"), ros1.clock("work", "service"), error)
    for what, period_ms in [("timer", 100), ("wall", 200), ("steady", 250)]:
        executions = ros1.executions("/work", kind="timer", period_ns=period_ms * 1_000_000)
        assert len(executions) > 0
        assert_encloses(executions, ros1.clock("work", what), error)
        assert all(e["queued_ns"] is not None and e["queued_ns"] <= e["start_ns"] for e in executions)


def test_messages_are_linked_over_processes_and_make_the_chain(ros1):
    summary = ros1.record("hear=hear 50", "work=work spin 1 100 heard", "talk=talk 100 50 1000")
    published = [start for start, _ in ros1.clock("talk", "publish")]
    started = [start for start, _ in ros1.clock("work", "subscription")]
    rows = sorted(ros1.messages("/work", "/topic_1"), key=lambda m: m["publish_ns"])
    error = error_ns(ros1.run)
    assert len(rows) == len(published) == len(started) == 50
    for row, publish, start in zip(rows, published, started):
        # One after the other: the n-th published message is the n-th that was called back.
        assert row["callback_ns"] <= start + error and publish <= row["publish_ns"] + error
        assert row["publish_ns"] <= row["arrival_ns"] <= row["take_ns"] <= row["callback_ns"]
    layers = {of["topic"]: of for of in summary["layers"]}
    ways = ["publish_client_library", "transport", "executor", "take_client_library"]
    for topic in ["/topic_1", "/topic_2"]:
        assert layers[topic]["messages"] == 50 and [part["layer"] for part in layers[topic]["layers"]] == ways
        means = sum(part["duration_us"]["mean"] for part in layers[topic]["layers"])
        assert means == pytest.approx(layers[topic]["latency_us"]["mean"])
    chain = next(c for c in summary["chains"] if c["critical"])
    assert chain["path"] == ["/talk", "/topic_1", "/work", "/topic_2", "/hear"]
    assert (chain["instances"], chain["lost"]) == (50, 0)
    callback = next(c for c in summary["callbacks"] if c.get("node") == "/work" and c.get("topic") == "/topic_1")
    assert callback["queue_wait_us"]["count"] == 50
    # The load of other programs on this machine does not count.
    assert {n["name"] for n in summary["notes"]} <= {"services-not-linked", "busy-machine"}


@pytest.mark.parametrize("spinner", ["spin", "concurrent"])
def test_what_was_pushed_was_executed_or_overwritten_to_the_message(ros1, spinner):
    ros1.record("talk=talk 200 200 1000", f"work=work {spinner} 25 3")
    executed = len(ros1.clock("work", "subscription"))
    found = Counter((m["delivery"], m["lost_in"]) for m in ros1.messages("/work", "/topic_1"))
    assert found[LOST] > 0
    assert (
        found[("in_time", None)] + found[("late", None)] == executed == len(ros1.executions("/work", topic="/topic_1"))
    )
    assert executed + found[LOST] == 200 and sum(found.values()) == 200


def test_what_a_publisher_s_queue_overwrote_is_lost_there(ros1):
    ros1.record("talk=burst 500 2", "work=work spin 0.01 1000")
    executed = len(ros1.clock("work", "subscription"))
    found = Counter(m["lost_in"] for m in ros1.messages("/work", "/topic_1"))
    assert found == {None: executed, "publisher_queue": 500 - executed}
    assert executed < 500


def test_messages_within_a_process_reach_both_subscriptions(ros1):
    ros1.record("both=together 100 40")
    rows = ros1.messages("/together", "/topic_1")
    assert len(rows) == 80 and all(m["publish_ns"] and m["publish_ns"] <= m["callback_ns"] for m in rows)
    per_subscription = Counter(m["subscription"] for m in rows)
    assert sorted(per_subscription.values()) == [40, 40]
    heard = sorted(ros1.clock("both", "left") + ros1.clock("both", "right"))
    assert_encloses(ros1.executions("/together", topic="/topic_1"), heard, error_ns(ros1.run))


def test_udpros_loses_and_the_rest_is_linked(ros1):
    ros1.record("talk=talk 50 60 1000000", "work=work spin 0.01 100 udp")
    executed = len(ros1.clock("work", "subscription"))
    rows = ros1.messages("/work", "/topic_1")
    taken = {m["publish_ns"] for m in rows if m["delivery"] != "lost"}
    lost = [m for m in rows if m["delivery"] == "lost"]
    assert len(taken) == executed == len(rows) - len(lost), "each has its publication, and none has two"
    assert all(m["lost_in"] == "transport" for m in lost)
    # A message sent before the last received one is either received or lost; nothing is known of later ones.
    endpoints = ros1.table("endpoints")
    sent = [p["publish_ns"] for p in ros1.table("publications") if endpoints[p["publisher"]]["topic"] == "/topic_1"]
    assert len(sent) == 60
    assert len([at for at in sent if at <= max(taken, default=0)]) == len(taken) + len(lost)


def test_a_latched_message_has_no_latency_and_the_rest_has(ros1):
    summary = ros1.record("talk=latch", "work=work spin 0.01 100")
    rows = ros1.messages("/work", "/topic_1")
    assert len(rows) == 6 == len(ros1.clock("work", "subscription"))
    assert len([m for m in rows if m["publish_ns"] is None]) == 1
    assert next(n["count"] for n in summary["notes"] if n["name"] == "latched") == 1


def test_a_killed_node_leaves_what_it_had_recorded(ros1):
    directory = ros1.tacho.directory
    script = (
        f"CLOCK=hear.clock {ros1.program} hear & hear=$!\n{ros1.program} work spin 1 100 & echo $! > work.pid\n"
        f"CLOCK=talk.clock {ros1.program} talk 100 3000 1000 & echo $! > talk.pid\nwait %2\nkill -INT $hear $(cat talk.pid)\nwait\nexit 0"
    )
    (directory / "system.sh").write_text(script)
    recording = ros1.tacho.start("record", "-o", ros1.run, "--json", "--", "bash", "system.sh")
    events = ros1.run / "events"
    pid = int(
        wait_for(
            lambda: (directory / "work.pid").exists() and (directory / "work.pid").read_text().strip(),
            "a pid",
            recording,
        )
    )
    wait_for(
        lambda: any(path.name.startswith(f"{pid}-") for path in events.glob("*.events")),
        "events of the node",
        recording,
    )
    # CPU time of its life: 0.3 s, in ticks of 10 ms (proc(5)).
    wait_for(lambda: int(Path(f"/proc/{pid}/stat").read_text().split()[13]) >= 30, "CPU time of the node", recording)
    kill(pid)
    succeeded(recording)
    process = next(p for p in ros1.table("processes") if p["pid"] == pid)
    assert not process["ended"] and process["dropped_events"] == 0
    heard = len(ros1.clock("hear", "heard"))
    executions = ros1.executions("/work", topic="/topic_1")
    assert heard > 0
    # It published its messages in a callback; the last callback may lack its end.
    assert heard <= len(executions) and heard - 1 <= len([e for e in executions if e["end_ns"]])
    arrived = [m for m in ros1.messages("/hear", "/topic_2") if m["callback_ns"]]
    assert len(arrived) == heard and all(m["publish_ns"] for m in arrived)


@pytest.mark.skipif(not Path("/usr/include/nodelet/loader.h").exists(), reason="no nodelets: libnodeletlib-dev")
def test_nodelets_of_one_process_are_nodes(tacho, ros1, tmp_path_factory):
    program = compiled(tmp_path_factory.mktemp("nodelets"), "ros1_nodelets", "-lnodeletlib", "-lclass_loader")
    done = tacho("record", "-o", ros1.run, "--", program, 50)
    filtered, arrived = map(int, done.stdout.splitlines()[0].split())
    assert filtered >= arrived >= 50
    summary = tacho.json("explain", ros1.run)
    chain = next(c for c in summary["chains"] if c["critical"])
    assert chain["path"] == ["/source", "/points", "/filter", "/filtered", "/sink"]
    assert chain["instances"] == arrived
    assert len(ros1.executions("/filter", topic="/points")) == filtered
    assert {n["name"] for n in ros1.table("nodes")} >= {"/source", "/filter", "/sink"}


def test_callbacks_have_cpu_time_where_it_is_asked_for(ros1):
    ros1.record("hear=hear 30", "work=work spin 2 100 heard", "talk=talk 100 30 1000", options=("--cpu-time",))
    executions = ros1.executions("/work", topic="/topic_1")
    # The callback reads its clock until 2 ms of wall time have passed; time without a CPU does not count as CPU time.
    assert all(0 < e["cpu_ns"] <= e["end_ns"] - e["start_ns"] + 20_000 for e in executions) and len(executions) == 30


LAUNCH = """<launch>
  <node pkg="car" type="ros1_node" name="talk" args="talk 100 50 1000"/>
  <node pkg="car" type="ros1_node" name="work" args="work spin 1 100 heard"/>
  <node pkg="car" type="ros1_node" name="hear" args="hear 50" required="true"/>
</launch>"""
PACKAGE = """<package format="2"><name>car</name><version>0.0.0</version><description>nodes</description>
<maintainer email="car@example.org">car</maintainer><license>Apache-2.0</license></package>"""


@pytest.mark.skipif(not shutil.which("roslaunch"), reason="no roslaunch: python3-roslaunch")
def test_a_launch_file_is_recorded_with_all_its_nodes(ros1):
    package = ros1.tacho.directory / "packages" / "car"
    package.mkdir(parents=True)
    (package / "package.xml").write_text(PACKAGE)
    (package / "car.launch").write_text(LAUNCH)
    shutil.copy(ros1.program, package)
    ros1.tacho.environment["ROS_PACKAGE_PATH"] = str(package.parent)
    ros1.tacho("record", "-o", ros1.run, "--", "roslaunch", package / "car.launch")
    assert {n["name"] for n in ros1.table("nodes")} >= {"/talk", "/work", "/hear"}
    chain = next(c for c in ros1.tacho.json("explain", ros1.run)["chains"] if c["critical"])
    assert chain["path"] == ["/talk", "/topic_1", "/work", "/topic_2", "/hear"] and chain["instances"] == 50


@pytest.mark.parametrize("bind_now", [{}, {"LD_BIND_NOW": "1"}])
def test_a_program_without_roscpp_gets_the_small_library_alone(tacho, bind_now):
    tacho.environment |= bind_now
    tacho("record", "-o", "run", "--", "sh", "-c", "cat /proc/self/maps > maps")
    maps = (tacho.directory / "maps").read_text()
    assert "libtacho_recorder_ros1.so" in maps
    assert not any(name in maps for name in ("libtacho_recorder_ros1_hooks", "libstdc++", "libroscpp"))
    assert not list((tacho.directory / "run" / "events").glob("*.events"))


def test_without_a_recording_roscpp_runs_as_it_is(ros1):
    library = ROOT / "build" / "lib" / "libtacho_recorder_ros1.so"
    environment = ros1.tacho.environment | {
        "LD_PRELOAD": str(library),
        "CLOCK": str(ros1.tacho.directory / "both.clock"),
    }
    subprocess.run([ros1.program, "together", "100", "10"], env=environment, check=True, timeout=LIMIT_S)
    assert len(ros1.clock("both", "left")) == len(ros1.clock("both", "right")) == 10


def test_a_node_bound_at_once_is_recorded_too(ros1):
    ros1.tacho.environment["LD_BIND_NOW"] = "1"
    ros1.record("both=together 100 10")
    assert len(ros1.messages("/together", "/topic_1")) == 20
