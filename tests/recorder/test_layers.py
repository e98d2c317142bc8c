"""The DDS below rmw, and layers that add up, in unmodified programs on real middleware."""

import os
import pathlib
import subprocess
import sys

import pyarrow.parquet as parquet
import pytest
from waiting import LIMIT_S

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "native/recorder/tests"))
from event_file import read_directory  # noqa: E402

RECORDER = os.environ.get("TACHO_RECORDER", str(ROOT / "build/lib/libtacho_recorder.so"))
PROGRAMS = ROOT / "tests/programs"
COUNT = 40
LAYERS = [
    "publish_client_library",
    "publish_rcl",
    "publish_rmw",
    "publish_dds",
    "transport",
    "receive_dds",
    "executor",
    "take_rmw",
    "take_rcl",
    "take_client_library",
]
OF_RCLPY = LAYERS[1:]  # no event shows when its publish() is called
SOCKET, SHARED_MEMORY = 1, 2


def rows(run: pathlib.Path, table: str) -> list[dict]:
    return parquet.read_table(run / f"tables/{table}.parquet").to_pylist()


def check_sums(run: pathlib.Path) -> list[dict]:
    """Checks that the layers of every message follow each other and add up to its latency; returns the layers. The
    counter of some machines steps by 10 ns, which is longer than some layers take."""
    messages, layers = rows(run, "messages"), rows(run, "layers")
    for row in layers:
        message = messages[row["message"]]
        end = message["callback_ns"] if message["callback_ns"] is not None else message["take_ns"]
        parts = [row[f"{layer}_ns"] for layer in LAYERS if row[f"{layer}_ns"] is not None]
        assert all(part >= 0 for part in parts), row
        assert sum(parts) == end - message["publish_ns"]
    return layers


def known(row: dict) -> list[str]:
    return [layer for layer in LAYERS if row[f"{layer}_ns"] is not None]


def kinds(run: pathlib.Path, kind: str) -> list:
    return [event for file in read_directory(run / "events") for event in file.named(kind)]


@pytest.fixture(params=["kilted", "jazzy"])
def python(request) -> str:
    return request.getfixturevalue("ros_python" if request.param == "kilted" else "ros_python_jazzy")


@pytest.mark.parametrize("transport", [SOCKET, SHARED_MEMORY])
def test_every_layer_below_rclpy_is_told_over_sockets_and_shared_memory(tacho, python, transport):
    if transport == SOCKET:
        for variable in ["FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"]:
            tacho.environment[variable] = str(PROGRAMS / "loopback.xml")
        # rmw_fastrtps makes transports of its own for this range.
        tacho.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SYSTEM_DEFAULT"
    tacho("record", "-o", "run", "--", PROGRAMS / "talk_and_listen.sh", python, COUNT, 0.02)
    run = tacho.directory / "run"
    layers = check_sums(run)
    assert len(layers) == COUNT
    for row in layers:
        assert known(row) == OF_RCLPY
    # By whichever way: the samples of the topic went by this transport only, and came by it.
    (publisher,) = [e for e in kinds(run, "rcl_publisher_init") if e.texts[0] == "/chatter"]
    (gid,) = [e.words[1:] for e in kinds(run, "rmw_publisher_init") if e.words[0] == publisher.words[2]]
    for kind in ["dds_send", "dds_receive"]:
        events = [e for e in kinds(run, kind) if e.words[:2] == gid]
        assert {e.words[7] for e in events} == {transport}
        # A writer may send again, after later messages, what a newly matched reader asks for.
        assert {e.words[2] for e in events} == set(range(1, COUNT + 1))
    # Each reader is notified once of each sample, at times of several at once.
    available = [e for e in kinds(run, "dds_data_available") if e.words[2:4] == gid]
    told = [sequence for e in available for sequence in range(e.words[4], e.words[5] + 1)]
    assert told == list(range(1, COUNT + 1))


def test_explain_shows_the_layers(tacho, ros_python):
    tacho("record", "-o", "run", "--", PROGRAMS / "talk_and_listen.sh", ros_python, COUNT, 0.02)
    summary = tacho.json("explain", "run")
    (figures,) = summary["layers"]
    assert (figures["topic"], figures["messages"]) == ("/chatter", COUNT)
    assert [part["layer"] for part in figures["layers"]] == OF_RCLPY
    assert all("includes" not in part for part in figures["layers"])
    means = sum(part["duration_us"]["mean"] for part in figures["layers"])
    assert means == pytest.approx(figures["latency_us"]["mean"])
    (topic,) = [t for t in summary["topics"] if t["topic"] == "/chatter"]
    assert figures["latency_us"] == topic["latency_us"]
    assert "Layers" in tacho("explain", "run").stdout


def test_switched_off_there_are_fewer_layers(tacho, ros_python):
    tacho.environment["TACHO_EVENTS_DDS"] = "off"
    tacho("record", "-o", "run", "--", PROGRAMS / "talk_and_listen.sh", ros_python, COUNT, 0.02)
    assert all(known(row) == ["publish_rmw", *OF_RCLPY[-3:]] for row in check_sums(tacho.directory / "run"))
    (figures,) = tacho.json("explain", "run")["layers"]
    assert figures["layers"][1]["includes"] == ["publish_dds", "transport", "receive_dds", "executor"]


def test_serialised_messages_are_taken_through_the_same_layers(tacho, python):
    script = tacho.directory / "both.sh"
    script.write_text(
        f'"$1" {ROOT}/tests/recorder/raw_listener.py chatter {COUNT} & "$1" {PROGRAMS}/talker.py {COUNT} 0.02 && wait $!\n'
    )
    tacho("record", "-o", "run", "--", "sh", script, python)
    layers = check_sums(tacho.directory / "run")
    assert len(layers) == COUNT
    assert all(known(row) == OF_RCLPY for row in layers)


WORKLOAD = """
middleware: {middleware}
nodes:
  camera: {{publishes: {{/image: {{type: {type}, size: {size}, rate: 20 Hz}}}}}}
  viewer: {{subscribes: [/image]}}
run: {{duration: 2 s}}
"""


def bench(tacho, middleware: str, of_type: str, size: str) -> tuple[dict, list[dict]]:
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(middleware=middleware, type=of_type, size=size))
    summary = tacho.json("bench", "w.yaml", "-o", "run")
    return summary, check_sums(tacho.directory / "run")


def test_our_nodes_on_rcl_have_all_ten_layers_of_a_message_in_many_pieces(tacho):
    summary, layers = bench(tacho, "{ros2: udp}", "PointCloud2", "1 MiB")
    assert layers and all(known(row) == LAYERS for row in layers)
    pieces = {e.words[6] for e in kinds(tacho.directory / "run", "dds_receive")}
    assert max(pieces) > 16  # of at most 64 KiB
    (point,) = summary["points"]
    assert sum(of["messages"] for of in point["layers"]) == point["received"]


def test_a_loaned_message_is_linked_though_nothing_below_traces_its_take(tacho):
    summary, layers = bench(tacho, "{ros2: data-sharing}", "Array", "64 KiB")
    (point,) = summary["points"]
    assert point["received"] == point["sent"] and len(layers) == point["received"]
    messages = rows(tacho.directory / "run", "messages")
    # Between rmw's own events; no transport carries it, and rcl has no event for such a take.
    for row in layers:
        assert known(row) == [*LAYERS[:3], "receive_dds", "executor", "take_rmw", "take_client_library"], row
    run = tacho.directory / "run"
    (subscription,) = [e for e in kinds(run, "rcl_subscription_init") if e.texts[0] == "/image"]
    taken = {e.words[2] for e in kinds(run, "rmw_take") if e.words[0] == subscription.words[2] and e.words[3]}
    published = {e.words[2] for e in kinds(run, "rmw_publish")}
    assert taken <= published and len(taken) >= len(messages)


@pytest.mark.parametrize("middleware", ["fastdds", "cyclonedds"])
def test_plain_dds_has_the_layers_that_it_has(tacho, middleware):
    if (ROOT / f"build/lib/libtacho_{middleware}.missing").exists() or not (
        ROOT / f"build/lib/libtacho_{middleware}.so"
    ).exists():
        pytest.skip(f"the plugin {middleware} was not built")
    _, layers = bench(tacho, middleware, "PointCloud2", "256 KiB")
    told = [known(row) for row in layers]
    whole = [
        "publish_client_library",
        "publish_dds",
        "transport",
        "receive_dds",
        "executor",
        "take_rmw",
        "take_client_library",
    ]
    assert layers and sum(known == whole for known in told) >= 0.9 * len(told), told


def test_the_time_of_a_datagram_lies_around_that_of_the_kernel(tmp_path):
    """dds_send <= the kernel's own receive timestamp <= dds_receive, on every message."""
    environment = os.environ | {"LD_PRELOAD": RECORDER, "TACHO_EVENTS_DIR": str(tmp_path)}
    program = subprocess.run(
        [sys.executable, str(ROOT / "tests/recorder/rtps_sender.py"), str(COUNT)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    kernel_ns = dict(tuple(map(int, line.split())) for line in program.stdout.splitlines())
    (file,) = read_directory(tmp_path)
    syncs = file.named("clock_sync")
    (first, last) = (file.start_ticks, file.start_monotonic_ns), (syncs[-1].ticks, syncs[-1].words[0])
    rate = (last[0] - first[0]) / (last[1] - first[1])
    offset_ns = syncs[-1].words[1] - syncs[-1].words[0]
    bound_ns = file.start_bound_ns + syncs[-1].words[2] + 1000

    def realtime_ns(event) -> float:
        return first[1] + (event.ticks - first[0]) / rate + offset_ns

    sent = {e.words[2]: realtime_ns(e) for e in file.named("dds_send")}
    received = {e.words[2]: realtime_ns(e) for e in file.named("dds_receive")}
    assert list(sent) == list(received) == list(range(1, COUNT + 1))
    for sequence, at in kernel_ns.items():
        assert sent[sequence] <= at + bound_ns and at <= received[sequence] + bound_ns
