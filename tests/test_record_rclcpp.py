"""Programs on rclcpp under `tacho record`, compared with their own output: recordings made once (rclcpp 29.3 on
rmw_fastrtps_cpp 9.3 and, in their folder jazzy, 28.1 on 8.4: tests/fixtures/rclcpp), and the programs themselves if
a ROS 2 with rclcpp is sourced."""

import tarfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import ros_packages
from places import PROGRAMS, ROOT
from recording import Recording

FIXTURES = ROOT / "tests" / "fixtures" / "rclcpp"


@pytest.fixture(scope="session")
def programs(tmp_path_factory) -> Path:
    return ros_packages.build(PROGRAMS / "rclcpp", tmp_path_factory.mktemp("rclcpp"))


@pytest.fixture(params=["kilted", "jazzy", "program"])
def recording(tacho, request):
    """Records a program, or unpacks a recording of it."""

    def of(program, *arguments):
        if request.param != "program":
            name = "-".join([program, *(a for a in arguments if not a.isdigit())])
            kept = FIXTURES / ("jazzy" if request.param == "jazzy" else "") / f"{name}.tar.xz"
            if not kept.is_file():
                pytest.skip(f"no recording of {name} on {request.param} is kept, as it is like others")
            with tarfile.open(kept) as files:
                files.extractall(tacho.directory)
            tacho("import", "recorded", "-o", "run")
            return Recording(tacho, (tacho.directory / "answers.txt").read_text())
        folder = request.getfixturevalue("programs")
        if not (folder / program).is_file():
            pytest.skip(f"{program} was not built: this ROS 2 lacks a package that it needs")
        done = tacho("record", "-o", "run", "--", folder / program, *arguments)
        return Recording(tacho, done.stdout)

    return of


EXECUTORS = ["single", "static", "multi", "events"]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_each_kind_of_callback_is_there_around_the_clock_inside_it(recording, executor):
    run = recording("every_callback", executor, "20")
    run.agrees_with_every_callback()
    # Our time begins when the response is taken and ends when the executor is done with the client.
    run.surrounds("on_response", "client", "/sink", "/ask response")
    # The program works on a response for 1 ms; waiting for its turn does not count, but a busy machine may hold some
    # up.
    (response,) = (c for c in run.summary["callbacks"] if c["kind"] == "client")
    theirs = [end - start for _, start, end in run.said["on_response"]]
    assert response["duration_us"]["q1"] < 2 * sorted(theirs)[len(theirs) // 2] / 1e3
    names = " ".join(c.get("symbol") or "" for c in run.summary["callbacks"])
    assert "Source::Source()::{lambda" in names and "Relay::*" in names and "Sink::Sink()::{lambda" in names
    # This also holds on Jazzy, whose rmw has no events of services.
    (service,) = run.summary["services"]
    assert (service["sent"], service["complete"], service["unanswered"]) == (20, 20, 0)
    paths = [chain["path"] for chain in run.summary["chains"]]
    assert [
        "/source",
        "/points",
        "/relay",
        "/filtered",
        "/sink",
        "/ask request",
        "/server",
        "/ask response",
        "/sink",
    ] in paths
    assert ["/source", "/points", "/relay", "/filtered", "/copier", "/copy", "/reader"] in paths


def causes_of(run, topic):
    """For each instance of the chain over a topic: its parts by kind and cause, and its row of the messages."""
    path = ["/driver", topic, "/worker"]
    (chain,) = (i for i, c in enumerate(run.table("chains")) if c["path"] == path)
    instances = [i for i, row in enumerate(run.table("instances")) if row["chain"] == chain]
    parts = {i: Counter() for i in instances}
    for cause in run.table("causes"):
        if cause["instance"] in parts:
            parts[cause["instance"]][cause["kind"], cause["by"]] += cause["duration_ns"]
    return list(zip(parts.values(), sorted(run.messages("/worker", topic), key=lambda m: m["publish_ns"])))


def test_what_a_callback_waited_for_on_several_threads_is_named(recording):
    run = recording("groups", "1")
    said = {name: {sequence: (start, end) for sequence, start, end in rows} for name, rows in run.said.items()}
    for topic, name, ends_with, kind, by in [
        ("/wanted", "on_wanted", ["on_slow"], "group_busy", "/worker /slow Worker::subscribe lambda 1"),
        (
            "/third",
            "on_third",
            ["on_first", "on_second"],
            "executor_busy",
            "/worker /first Worker::subscribe lambda 1, /worker /second Worker::subscribe lambda 1 (all 2 threads)",
        ),
    ]:
        explained = causes_of(run, topic)
        assert len(explained) == len(said[name])
        for sequence, (parts, message) in enumerate(explained):
            free_at = min(said[other][sequence][1] for other in ends_with)
            started = said[name][sequence][0]
            if message["arrival_ns"] > free_at:
                continue  # a busy machine: what it would have waited for was over
            waited = parts[kind, by] + parts["transport", topic]
            assert (
                free_at - message["publish_ns"] - run.error_ns
                <= waited
                <= started - message["publish_ns"] + run.error_ns
            ), (
                topic,
                parts,
            )
    overlap = [a[1] < b[2] and b[1] < a[2] for a, b in zip(run.said["on_shared"][::2], run.said["on_shared"][1::2])]
    ours = run.executions("subscription", "/worker", "/shared")
    assert [a[1] > b[0] for a, b in zip(ours[::2], ours[1::2])] == overlap
    assert not [n for n in run.summary["notes"] if "callback" in n["name"]]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_messages_within_a_process_are_counted_once_and_what_was_overwritten_is_lost(recording, executor):
    run = recording("within", executor, "20")
    run.latency_lies_within("/moved", "/one", "on_moved")
    run.latency_lies_within("/shared", "/one", "on_shared")
    run.latency_lies_within("/shared", "/other", "on_shared_too")
    # Not within the process: through the middleware, whose copies for the others do not count.
    run.latency_lies_within("/shared", "/outside", "on_shared_outside")
    run.latency_lies_within("/burst", "/other", "on_burst")
    (shared,) = (t for t in run.summary["topics"] if t["topic"] == "/shared")
    assert (shared["sent"], shared["received"], shared["lost"]) == (20, 60, 0)
    (burst,) = (t for t in run.summary["topics"] if t["topic"] == "/burst")
    missed = set(range(80)) - {sequence for sequence, _, _ in run.said["on_burst"]}
    numbers = {
        p["publish_ns"]: number
        for number, p in enumerate(sorted(run.publications("/burst"), key=lambda p: p["publish_ns"]))
    }
    lost = {numbers[m["publish_ns"]] for m in run.messages("/other", "/burst") if m["delivery"] == "lost"}
    # The last two may have stayed in the buffer of two at the end.
    assert lost <= missed and missed - lost <= {78, 79} and burst["lost"] == len(lost)
    assert not [n for n in run.summary["notes"] if n["name"] == "latency-to-take"]


def sequence_of(run, name, instant, is_after):
    """From the program's output: the publish call just before an instant, or the first line just after it."""
    if is_after:
        return next((sequence for sequence, start, _ in run.said[name] if start >= instant - run.error_ns), None)
    return next((sequence for sequence, start, _ in reversed(run.said[name]) if start <= instant + run.error_ns), None)


@pytest.mark.parametrize("executor", ["single", "multi"])
def test_outputs_of_fusion_timers_and_polling_are_tied_to_the_input_that_the_program_used(recording, executor):
    run = recording("inputs", executor, "20")
    chains, instances, hops = run.table("chains"), run.table("instances"), defaultdict(dict)
    for hop in run.table("hops"):
        hops[hop["instance"]][hop["position"]] = hop
    for node, output in [("/exact", "/both"), ("/near", "/about"), ("/latest", "/now"), ("/polling", "/polled")]:
        (chain,) = (i for i, c in enumerate(chains) if c["path"] == ["/left", "/left", node, output, "/sink"])
        mine = [i for i, row in enumerate(instances) if row["chain"] == chain]
        assert mine, output
        for instance in mine:
            used = sequence_of(run, f"sunk {output}", hops[instance][2]["start_ns"], is_after=True)
            assert sequence_of(run, "/left", hops[instance][0]["output_ns"], is_after=False) == used, (
                output,
                instance,
            )


def test_a_managed_node_and_lent_messages(recording):
    run = recording("managed", "single", "20")
    (node,) = run.summary["lifecycle"]
    assert (node["node"], node["state"]) == ("/filter", "inactive")
    lent = run.said["/raw lent"] or run.said["/raw"]
    topics = {t["topic"]: t for t in run.summary["topics"]}
    assert (topics["/raw"]["sent"], topics["/raw"]["received"]) == (len(lent), 20)
    assert topics["/smooth"]["received"] == len(run.said["on_smooth"]) == 10
    run.surrounds("on_raw", "subscription", "/filter", "/raw")
    (reason,) = (r for chain in run.summary["chains"] for r in chain["lost_inputs"])
    assert (reason["kind"], reason["by"], reason["inputs"]) == ("not_active", "/filter (inactive)", 10)


def test_components_of_one_process_are_told_apart(tacho, programs):
    if not (programs / "contain").is_file():
        pytest.skip("contain was not built: this ROS 2 lacks rclcpp_components")
    for intra in ([], ["intra"]):
        done = tacho(
            "record", "-o", "run", "--", programs / "contain", programs / "libparts.so", "multi", "1000", *intra
        )
        run = Recording(tacho, done.stdout)
        (chain,) = (
            c for c in run.summary["chains"] if c["path"] == ["/camera", "/image", "/detector", "/objects", "/tracker"]
        )
        assert 0 < chain["instances"] <= len(run.said["on_objects"])
        run.surrounds("on_objects", "subscription", "/tracker", "/objects")
        (tacho.directory / "run").rename(tacho.directory / f"run{len(intra)}")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_goals_of_an_action_are_told_by_the_times_around_its_callbacks(recording, executor):
    run = recording("action", executor, "20")
    (action,) = run.summary["actions"]
    assert (action["action"], action["clients"], action["servers"]) == ("/count", ["/calling"], ["/serving"])
    assert [action[count] for count in ("sent", "accepted", "rejected", "succeeded", "unfinished", "feedback")] == [
        20,
        20,
        0,
        20,
        0,
        40,
    ]
    goals = sorted(run.table("goals"), key=lambda goal: goal["sent_ns"])
    for goal, decided, accepted, result in zip(
        goals, *(run.said[name] for name in ("on_goal", "on_accepted", "on_result")), strict=True
    ):
        assert goal["sent_ns"] <= goal["taken_ns"] <= decided[1] + run.error_ns
        assert decided[2] - run.error_ns <= goal["accepted_ns"] <= accepted[1] + run.error_ns
        # It succeeds in the last line of that callback.
        assert accepted[1] - run.error_ns <= goal["ended_ns"] <= accepted[2] + run.error_ns
        assert goal["ended_ns"] <= goal["result_ns"] <= result[1] + run.error_ns
    # A response begins when it is taken and ends when its client is done with it, whatever the executor reports.
    run.surrounds("on_result", "client", "/calling", "/count/_action/get_result response")
    assert len(run.executions("client", "/calling", "/count/_action/send_goal response")) == 20
    # rclcpp has no callback for executing a goal; the time is that from the state executing to its end.
    (execution,) = (c for c in run.summary["callbacks"] if c["kind"] == "action")
    assert (execution["node"], execution["topic"], execution["count"]) == ("/serving", "/count execution", 20)
    # rclcpp has no event of the callback that handles feedback, so a chain to it would count every goal as lost.
    paths = [chain["path"] for chain in run.summary["chains"]]
    assert paths == [["/calling", "/count goal", "/serving", "/count result", "/calling"]]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_response_that_a_timer_or_a_thread_sends_later_is_followed_to_its_request(recording, executor):
    run = recording("deferred", executor, "20")
    said = {
        name: dict((number, times) for number, *times in run.said[name])
        for name in ("asked", "on_request", "answered", "on_response")
    }
    # Its callback ends before the answer; on Jazzy rclcpp does not report when.
    run.surrounds("on_request", "service", "/serving", "/ask")
    calls = sorted(run.table("services"), key=lambda call: call["sequence"])
    assert len(calls) == 20
    for number, call in enumerate(calls):
        assert said["asked"][number][0] - run.error_ns <= call["request_ns"]
        assert call["request_taken_ns"] <= said["on_request"][number][0] + run.error_ns
        before, after = said["answered"][number]
        assert before - run.error_ns <= call["response_ns"] <= after + run.error_ns
        assert call["response_taken_ns"] <= said["on_response"][number][0] + run.error_ns
    (chain,) = (
        c
        for c in run.summary["chains"]
        if c["path"] == ["/calling", "/ask request", "/serving", "/ask response", "/calling"]
    )
    assert (chain["instances"], chain["lost"]) == (20, 0)
    instances = [i for i, _ in sorted(enumerate(run.table("instances")), key=lambda row: row[1]["start_ns"])]
    at_server = {hop["instance"]: hop for hop in run.table("hops") if hop["position"] == 1}
    for number, instance in enumerate(instances):
        # From the callback that took the request to the response, from whichever thread.
        assert at_server[instance]["start_ns"] <= said["on_request"][number][0] + run.error_ns
        before, after = said["answered"][number]
        assert before - run.error_ns <= at_server[instance]["output_ns"] <= after + run.error_ns
