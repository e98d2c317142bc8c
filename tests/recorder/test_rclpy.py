"""The recorder under real ROS 2: unmodified rclpy programs on the wheels of TACHO_VENV (and TACHO_VENV_JAZZY, if set)."""

import os
import pathlib
import subprocess
import sys

import pytest
from domains import free_domain
from waiting import LIMIT_S

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "native/recorder/tests"))
from event_file import EventFile, read_directory  # noqa: E402

RECORDER = os.environ.get("TACHO_RECORDER", str(ROOT / "build/lib/libtacho_recorder.so"))
VENVS = [os.environ.get("TACHO_VENV", str(ROOT / "build/venv"))]
VENVS += [os.environ["TACHO_VENV_JAZZY"]] if "TACHO_VENV_JAZZY" in os.environ else []
COUNT = 50


@pytest.fixture(scope="module", params=VENVS)
def recording(request, tmp_path_factory) -> tuple[EventFile, int, int]:
    """The event file of a talker and listener, and the numbers of sent and received messages."""
    events = tmp_path_factory.mktemp("events")
    environment = os.environ | {
        "LD_PRELOAD": RECORDER,
        "TACHO_EVENTS_DIR": str(events),
        "ROS_DOMAIN_ID": str(free_domain()),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }
    program = subprocess.run(
        [f"{request.param}/bin/python3", str(ROOT / "tests/recorder/talker_listener.py"), str(COUNT)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert program.returncode == 0, program.stderr
    assert "tacho" not in program.stdout + program.stderr
    sent, heard = map(int, program.stdout.split())
    (file,) = read_directory(events)
    return file, sent, heard


def package_version(file: EventFile) -> str:
    """The version of the tracetools in the program's environment."""
    for venv in VENVS:
        if file.executable and os.path.realpath(f"{venv}/bin/python3") and f"{venv}/" in file.command:
            text = pathlib.Path(venv, "share/tracetools/package.xml").read_text()
            return text.split("<version>")[1].split("<")[0]
    raise AssertionError(f"no environment of {file.command}")


def test_header_names_release_and_middleware(recording):
    file, _, _ = recording
    assert file.tracetools == package_version(file)
    assert file.rmw_implementation == "rmw_fastrtps_cpp"
    assert file.closed == 1 and file.dropped == 0


def test_every_message_is_there_at_each_layer(recording):
    file, sent, heard = recording
    (publisher,) = [e for e in file.named("rcl_publisher_init") if e.texts == ["/demo/chatter"]]
    (subscription,) = [e for e in file.named("rcl_subscription_init") if e.texts == ["/demo/chatter"]]
    assert publisher.words[3] == 7 and subscription.words[3] == 5
    published = [e for e in file.named("rcl_publish") if e.words[0] == publisher.words[0]]
    assert len(published) == sent
    written = [e for e in file.named("rmw_publish") if e.words[0] == publisher.words[2]]
    assert len(written) == sent
    taken = [e for e in file.named("rmw_take") if e.words[0] == subscription.words[2] and e.words[3]]
    assert len(taken) == heard
    # From Jazzy on, the source timestamp that was taken is the timestamp that was published, which links the two.
    stamps = {e.words[2] for e in written}
    assert all(e.words[2] in stamps for e in taken)


def test_nodes_have_name_and_namespace(recording):
    file, _, _ = recording
    assert [e.texts for e in file.named("rcl_node_init")] == [["talker", "/demo"], ["listener", "/demo"]]


def test_order_within_a_message(recording):
    file, _, _ = recording
    (publisher,) = [e for e in file.named("rcl_publisher_init") if e.texts == ["/demo/chatter"]]
    for rcl in [e for e in file.named("rcl_publish") if e.words[0] == publisher.words[0]]:
        below = [e.kind for e in file.events if e.tid == rcl.tid and e.ticks > rcl.ticks]
        # The size of one message in 8 is recorded just before rmw is called.
        if below[0] == "message_size":
            below = below[1:]
        assert below[:2] == ["rmw_publish_called", "rmw_publish"]


def test_clocks_agree(recording):
    file, _, _ = recording
    syncs = file.named("clock_sync")
    assert len(syncs) >= 2
    (first, last) = (syncs[0], syncs[-1])
    # Ticks between two readings against ns between them: the rate must be equal for any other pair.
    rate = (last.ticks - file.start_ticks) / (last.words[0] - file.start_monotonic_ns)
    middle = (first.ticks - file.start_ticks) / rate + file.start_monotonic_ns
    assert abs(middle - first.words[0]) <= 10 * (first.words[2] + file.start_bound_ns + last.words[2]) + 1000
