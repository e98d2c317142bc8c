"""Compares recorded stamps of headers with those that the nodes themselves print."""

import sys
from collections import defaultdict

import pytest
from places import PROGRAMS, ROOT

sys.path.insert(0, str(ROOT / "native" / "recorder" / "tests"))

from event_file import read_directory  # noqa: E402

COUNT = 20
WITH_HEADERS = ("sensor_msgs.msg.Image", "geometry_msgs.msg.PoseStamped")
HEADERS = ("std_msgs.msg.Header", "std_msgs.msg.Header")


@pytest.mark.parametrize(
    "python, types", [("ros_python", WITH_HEADERS), ("ros_python", HEADERS), ("ros_python_jazzy", HEADERS)]
)
def test_the_stamp_of_each_message_is_recorded(tacho, request, python, types):
    done = tacho(
        "record", "-o", "run", "--", request.getfixturevalue(python), PROGRAMS / "stamped_nodes.py", COUNT, *types
    )
    printed = defaultdict(list)
    for line in done.stdout.splitlines():
        if line.startswith(("sent ", "taken ")):
            what, topic, stamp = line.split()
            printed[what, topic].append(int(stamp))
    (file,) = read_directory(tacho.directory / "run" / "events")
    recorded = defaultdict(list)
    for what, init, endpoint in (
        ("sent", "rcl_publisher_init", "publisher"),
        ("taken", "rcl_subscription_init", "subscription"),
    ):
        topics = {event.words[2]: event.texts[0] for event in file.named(init)}
        for event in file.named(f"header_stamp_{what}"):
            recorded[what, topics[event.words[0]]].append(event.words[1])
    # Every node publishes messages with stamps on these.
    recorded = {key: stamps for key, stamps in recorded.items() if key[1] not in ("/rosout", "/parameter_events")}
    # Serialised messages are taken beside the others, in an order of their own.
    assert {key: sorted(stamps) for key, stamps in recorded.items()} == {
        key: sorted(stamps) for key, stamps in printed.items()
    }
    assert {key: len(stamps) for key, stamps in printed.items()} == {
        ("sent", "/image"): COUNT - 1,
        ("taken", "/image"): 2 * (COUNT - 1),
        ("sent", "/pose"): COUNT - 1,
        ("taken", "/pose"): COUNT - 1,
    }
