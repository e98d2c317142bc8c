"""Nodes on rclpy: its executors in `tacho bench`, and its nodes beside those of the plugin ros2, each unaware of the
other kind."""

import csv
import json
import os
import signal
import statistics
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
import short_history
from domains import free_domain
from places import ROOT
from recording import error_ns, last_lines
from waiting import LIMIT_S, finished, wait_for, wait_for_window

EXECUTORS = ["single-threaded", "multi-threaded", "events"]
PROGRAMS = {"rclpy": ROOT / "build/nodes/rclpy/node", "ros2": ROOT / "build/tacho-node"}
QOS = {"reliable": True, "transient_local": False, "keep_all": False, "depth": 100}


def publication(topic, size, rate_hz=None, of_type=""):
    return {"topic": topic, "message_type": of_type, "size_bytes": size, "rate_hz": rate_hz, "qos": QOS}


def subscription(topic, latest=False):
    return {"topic": topic, "qos": QOS, "latest": latest}


class Process:
    """One node process, to which the test speaks as the runner does."""

    def __init__(self, middleware, node, inputs=(), outputs=(), transport="", address="", inside=()):
        command = [*inside, str(PROGRAMS[middleware]), node["name"]]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        node = {
            "process": node["name"],
            "executor": "arrival",
            "subscribes": [],
            "publishes": [],
            "work": "none",
        } | node
        plan = {"node": node, "phase": 0.5, "seed": 1, "cpus": [], "inputs": list(inputs), "outputs": list(outputs)}
        self.say(
            {
                "libraries": str(ROOT / "build/lib"),
                "middleware": middleware,
                "transport": transport,
                "address": address,
                "domain": free_domain(),
                "clock": None,
                "nodes": [plan],
            }
        )

    def say(self, what):
        print(json.dumps(what), file=self.process.stdin, flush=True)

    def hear(self, kind):
        """The next answer of this kind."""
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer == kind:
                return None
            if isinstance(answer, dict) and kind in answer:
                return answer[kind]
            assert "failed" not in answer, answer
        raise AssertionError(f"ended without saying {kind}")

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=LIMIT_S)
        finally:
            self.process.kill()
            self.process.stdout.close()


@pytest.fixture
def start():
    """Starts node processes that end with the test."""
    running = []

    def one(*arguments, **options):
        running.append(Process(*arguments, **options))
        return running[-1]

    yield one
    for process in running:
        process.close()


def run_together(processes, seconds=1.0):
    """Their figures, once all have matched and the window is over."""
    for process in processes:
        process.hear("ready")
    for process in processes:
        process.hear("matched")
    now = time.monotonic_ns() + 200_000_000
    stop = now + int(seconds * 1e9)
    for process in processes:
        process.say({"start": {"start_ns": now, "stop_ns": stop, "end_ns": stop + 500_000_000}})
    return [process.hear("done")["nodes"][0] for process in processes]


@pytest.mark.parametrize(
    "of_type,size", [("", 64), ("", 65536), ("Bytes", 3000), ("Image", 5000), ("TwistStamped", 48)]
)
@pytest.mark.parametrize("talking,listening", [("rclpy", "ros2"), ("ros2", "rclpy")])
def test_nodes_on_rclpy_and_on_the_plugin_ros2_understand_each_other(start, talking, listening, of_type, size):
    talker = start(
        talking,
        {"name": "talker", "publishes": [publication("/words", size, 50.0, of_type)]},
        outputs=[{"publisher_id": 7, "subscribers": 1}],
    )
    listener = start(
        listening,
        {"name": "listener", "subscribes": [subscription("/words")]},
        inputs=[{"publishers": 1, "size_bytes": size, "message_type": of_type}],
    )
    talked, heard = run_together([talker, listener])
    sent = talked["outputs"][0]
    assert sent["sent"] + sent["skipped"] == 50
    assert heard["taken"] == [sent["sent"]] and heard["callbacks"] == sent["sent"] > 0
    assert talked["cpu_ns"] > 0 and heard["cpu_ns"] > 0


@pytest.fixture
def two_hosts():
    """Two network namespaces with a link: (command to be inside, address) each. Each also has a machine-id of its
    own, because Fast DDS would otherwise look for peers only on its own addresses."""
    names = [f"tacho{os.getpid()}{side}" for side in "ab"]
    own_identity = 'f=$(mktemp); echo "$0" >$f; mount --bind $f /etc/machine-id; rm $f; exec "$@"'
    script = """
        ip netns add {0} && ip netns add {1} && ip -n {0} link add link0 type veth peer name link0 netns {1} &&
        ip -n {0} address add 10.78.0.1/24 dev link0 && ip -n {1} address add 10.78.0.2/24 dev link0 &&
        for host in {0} {1}; do ip -n $host link set lo up && ip -n $host link set link0 up || exit 1; done
        until ip -n {0} -o link show link0 | grep -q 'state UP' && ip -n {1} -o link show link0 | grep -q 'state UP'; do sleep 0.05; done
    """.format(*names)
    try:
        made = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=LIMIT_S)
        if made.returncode:
            pytest.skip(f"no network namespaces can be made here: {made.stderr.strip()}")
        yield [
            (["ip", "netns", "exec", name, "sh", "-c", own_identity, f"{side:032}"], f"10.78.0.{side}")
            for side, name in enumerate(names, 1)
        ]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@pytest.mark.parametrize("talking,listening", [("rclpy", "ros2"), ("ros2", "rclpy")])
def test_nodes_on_two_hosts_meet_on_the_interface_that_they_were_given(start, two_hosts, talking, listening):
    (here, here_address), (there, there_address) = two_hosts
    talker = start(
        talking,
        {"name": "talker", "publishes": [publication("/words", 65536, 50.0)]},
        outputs=[{"publisher_id": 7, "subscribers": 1}],
        inside=here,
        address=here_address,
    )
    listener = start(
        listening,
        {"name": "listener", "subscribes": [subscription("/words")]},
        inputs=[{"publishers": 1, "size_bytes": 65536, "message_type": ""}],
        inside=there,
        address=there_address,
    )
    talked, heard = run_together([talker, listener])
    assert heard["taken"] == [talked["outputs"][0]["sent"]] and heard["taken"][0] > 10


@pytest.mark.timing
def test_a_spinning_node_takes_one_message_of_each_queue_at_a_wake(start):
    talker = start(
        "ros2",
        {"name": "talker", "publishes": [publication("/words", 64, 100.0), publication("/more", 64, 100.0)]},
        outputs=[{"publisher_id": 1, "subscribers": 1}, {"publisher_id": 2, "subscribers": 1}],
    )
    spinner = start(
        "rclpy",
        {
            "name": "spinner",
            "executor": {"spin": {"hz": 20.0}},
            "subscribes": [subscription("/words"), subscription("/more")],
        },
        inputs=[{"publishers": 1, "size_bytes": 64, "message_type": ""}] * 2,
    )
    _, spun = run_together([talker, spinner], seconds=2)
    for taken in spun["taken"]:
        # Five messages come between two wakes, so there is one at every wake except the first.
        assert spun["wakes"] - 2 <= taken <= spun["wakes"]
    assert spun["wakes"] > 20


@pytest.mark.parametrize("executor", EXECUTORS)
def test_nodes_begin_at_once_where_the_start_follows_the_plan(start, executor):
    before = time.monotonic_ns()
    talker = start(
        "rclpy",
        {"name": "talker", "publishes": [publication("/words", 64, 50.0)]},
        outputs=[{"publisher_id": 1, "subscribers": 1}],
        transport=executor,
    )
    listener = start(
        "rclpy",
        {"name": "listener", "subscribes": [subscription("/words")]},
        inputs=[{"publishers": 1, "size_bytes": 64, "message_type": ""}],
        transport=executor,
    )
    now = time.monotonic_ns()
    for process in (talker, listener):
        process.say({"start": {"start_ns": now, "stop_ns": now + 10**12, "end_ns": now + 10**12}})
    ready = [process.hear("ready") for process in (talker, listener)]
    assert all(before < r["main_ns"] < r["ready_ns"] for r in ready)
    time.sleep(2)  # how many messages does not matter
    for process in (talker, listener):
        process.say("stop")
    talked, heard = (process.hear("done")["nodes"][0] for process in (talker, listener))
    assert talked["outputs"][0]["sent"] > 0 and heard["taken"][0] > 0
    assert heard["first_message_ns"] > ready[1]["main_ns"]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_publisher_that_falls_behind_by_design_says_what_it_skipped(start, executor):
    talker = start(
        "rclpy",
        {
            "name": "talker",
            "publishes": [publication("/words", 64, 100.0)],
            "work": {"fixed": {"secs": 0, "nanos": 25_000_000}},
        },
        outputs=[{"publisher_id": 1, "subscribers": 0}],
        transport=executor,
    )
    (talked,) = run_together([talker], seconds=3)
    sent = talked["outputs"][0]
    assert sent["sent"] + sent["skipped"] == 300
    # 25 ms of CPU time each: at most 40 a second, and fewer if other programs have the CPUs.
    assert 0 < sent["sent"] <= 121


@pytest.mark.parametrize(
    "transport,node,words",
    [
        ("quantum", {}, ["quantum", "single-threaded", "events"]),
        ("events", {"executor": {"spin": {"hz": 10.0}}}, ["spin", "single-threaded"]),
        ("", {"publishes": [publication("/words", 64, 1.0, "Parcel")]}, ["Parcel", "TwistStamped"]),
        ("", {"publishes": [publication("/words", 64, 1.0, "TwistStamped")]}, ["48", "64"]),
    ],
)
def test_what_cannot_be_is_refused_with_what_was_expected(start, transport, node, words):
    outputs = [{"publisher_id": 1, "subscribers": 0}] * len(node.get("publishes", []))
    process = start("rclpy", {"name": "node"} | node, outputs=outputs, transport=transport)
    cause = process.hear("failed")["cause"]
    assert all(word in cause for word in words), cause


@pytest.mark.timing
@pytest.mark.parametrize("executor", EXECUTORS)
def test_latency_of_every_message_agrees_with_the_clock_inside_the_nodes(tacho, executor):
    (tacho.directory / "w.yaml").write_text(f"""
middleware: rclpy
transport: {executor}
nodes:
  talker: {{publishes: {{/small: {{size: 64 B, rate: 50 Hz}}}}}}
  listener: {{subscribes: [/small]}}
run: {{duration: 3 s, in_node_clock: true}}
""")
    summary = tacho.json("bench", "w.yaml", "-o", "run")
    run = tacho.directory / "run"
    with open(run / "clock/listener.messages.csv", newline="") as file:
        inside = {int(r["sequence"]): (int(r["stamp_ns"]), int(r["received_ns"])) for r in csv.DictReader(file)}
    ends = last_lines(run, "listener")
    messages = [
        m for m in parquet.read_table(run / "tables/messages.parquet").to_pylist() if m["callback_ns"] is not None
    ]
    error = error_ns(run)
    # The threads of rclpy's multi-threaded executor wait for each other, seconds now and then, and the queue of 10
    # overflows: of 150 messages, eleven came through on a machine that had just woken up.
    assert len(messages) >= 5
    latencies = []
    for m in messages:
        stamp, received = inside[m["sequence"]]
        latencies.append((m["callback_ns"] - m["publish_ns"], received - stamp))
        # Both are read just before our events. In between, other programs may get the CPU.
        assert stamp - error <= m["publish_ns"] <= received + error
        assert received - error <= m["callback_ns"] <= ends[received] + error
    ours_ns, theirs_ns = map(statistics.median, zip(*latencies))
    assert ours_ns == pytest.approx(theirs_ns, rel=0.25)
    assert summary["points"][0]["received"] == len(messages)
    info = json.loads((run / "run.json").read_text())
    assert {"rclpy", "rcl", "rmw_fastrtps_cpp"} <= info["versions"].keys()
    callbacks = {(c["node"], c["kind"]): c for c in summary["callbacks"]}
    # Those that began in the window, whenever their messages were sent; one may lie between its event and its clock.
    begun = sum(info["measured_from_ns"] <= received < info["measured_to_ns"] for _, received in inside.values())
    # One that never ran in the window has no figures.
    counted = callbacks.get(("/listener", "subscription"), {"count": 0})["count"]
    assert abs(counted - begun) <= 1
    assert callbacks["/talker", "timer"]["period_ms"] == pytest.approx(20)


@pytest.mark.timing
@pytest.mark.parametrize("executor,beside", [("single-threaded", False), ("multi-threaded", True)])
def test_callbacks_run_beside_each_other_only_where_the_executor_has_threads(tacho, executor, beside):
    (tacho.directory / "w.yaml").write_text(f"""
middleware: rclpy
transport: {executor}
nodes:
  left: {{publishes: {{/left: {{rate: 10 Hz}}}}}}
  right: {{publishes: {{/right: {{rate: 10 Hz}}}}}}
  both: {{subscribes: [/left, /right], work: 40 ms}}
run: {{duration: 2 s, in_node_clock: true, seed: 3}}
""")
    tacho("bench", "w.yaml", "-o", "run")
    with open(tacho.directory / "run/clock/both.csv", newline="") as file:
        calls = sorted((int(r["start_ns"]), int(r["end_ns"])) for r in csv.DictReader(file))
    # rclpy's own threads take the interpreter from each other: of 40 calls that were due it may have made only six.
    assert beside or len(calls) > 10
    assert any(next_start < end for (_, end), (next_start, _) in zip(calls, calls[1:])) == beside


def test_nodes_share_a_process_and_interrupt_leaves_a_usable_run(tacho):
    (tacho.directory / "w.yaml").write_text("""
middleware: rclpy
transport: events
nodes:
  source: {process: all, publishes: {/input: {rate: 20 Hz}}}
  relay: {process: all, subscribes: [/input], publishes: {/output: {}}}
  sink: {subscribes: [/output]}
run: {duration: 60 s}
""")
    process = tacho.start("bench", "w.yaml", "-o", "run")
    events = tacho.directory / "run/events"

    def pids():
        return {int(f.name.split("-")[0]) for f in events.glob("*.events")} if events.is_dir() else set()

    wait_for(lambda: len(pids()) == 2, "two nodes to record", process)
    wait_for_window(tacho.directory / "run", process, seconds=1)  # how far into it does not matter
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    run = json.loads((tacho.directory / "run/run.json").read_text())
    assert run["cut_short"] is True, err
    assert {p["name"]: p.get("code") for p in run["processes"]} == {"all": 0, "sink": 0}
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids())


def test_a_send_that_is_refused_is_counted_and_the_node_goes_on(tacho):
    process = short_history.start_bench(tacho, "rclpy")
    run = tacho.directory / "run"

    def switches(pid):
        """How often it slept and was woken."""
        return sum(
            int(line.split()[1])
            for task in Path(f"/proc/{pid}/task").iterdir()
            for line in (task / "status").read_text().splitlines()
            if line.startswith("voluntary")
        )

    wait_for_window(run, process)
    files = {
        Path(f"/proc/{file.name.split('-')[0]}/cmdline").read_text().split("\0")[-2]: file
        for file in (run / "events").glob("*.events")
    }
    listener = int(files["listener"].name.split("-")[0])
    os.kill(listener, signal.SIGSTOP)
    try:
        wait_for(
            lambda: files["talker"].read_bytes().count(b"Failed to publish") >= 3, "refused sends", process
        )  # the reason of each
    finally:
        os.kill(listener, signal.SIGCONT)
    before = switches(listener)
    wait_for(lambda: switches(listener) > before + 40, "messages after them", process)
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    summary = json.loads((run / "summary.json").read_text())
    (point,) = summary["points"]
    assert point["refused"] >= 3 and point["due"] == point["sent"] + point["refused"] + point["skipped"]
    assert point["received"] + point["lost"] == point["sent"]
    (note,) = [note for note in summary["notes"] if note["name"] == "sends-refused"]
    assert note["count"] == point["refused"] and "Failed to publish" in note["text"] and "code" not in note["text"]
    taken = parquet.read_table(run / "tables/messages.parquet", columns=["sequence", "take_ns"]).to_pylist()
    numbers = [message["sequence"] for message in taken if message["take_ns"] is not None]
    assert max(numbers) > min(set(range(max(numbers))) - set(numbers) - set(range(min(numbers)))), (
        "nothing came after what was refused"
    )


def test_doctor_says_that_rclpy_is_usable_and_how_to_get_rclcpp(tacho):
    findings = {f["name"]: f for f in tacho.json("doctor")["findings"]}
    assert "rclpy" in findings["middleware-rclpy"]["found"]
    assert findings["middleware-rclpy"]["verdict"] == "ok"
    if "AMENT_PREFIX_PATH" not in os.environ:
        assert any("colcon build" in mend for mend in findings["middleware-rclcpp"]["mend"])
