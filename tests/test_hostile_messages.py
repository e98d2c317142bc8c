"""Tasks of perception and their judges on messages that are damaged: each gives a result or a reason, and never crashes."""

import struct

import numpy as np
import pytest
from driving import PICTURE, boxes_of, picture, vehicle_state, world
from places import ROOT
from task_library import Task, TaskFailed, kinds, message

CLOUD = 1 << 18
SIZES = {"voxel_grid": [CLOUD], "ground_removal": [CLOUD], "merge_clouds": [4 * CLOUD], "drawn_camera": [PICTURE]}
# These take long to make.
TURNS = {"detector": 10, "scan_matching": 10, "ndt_matching": 4}
HARMFUL = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F800000, 0x7FC00000, 0xFF800000]


def sound() -> dict[str, bytes]:
    """A message of each kind, by the beginning of the names of inputs that take it."""
    rng = np.random.default_rng(3)
    points = rng.uniform(-10, 10, (500, 4)).astype("<f4")
    cluster = struct.pack("<5fI", 10, 0, 0.4, 0, 1.7, 20)
    return {
        "point cloud": message("CLD1", "", count=500, stamp_ns=10**9) + points.tobytes(),
        "odometry": message("POS1", "4d", 1, 2, 0.1, 5, stamp_ns=10**9),
        "map": world([(30, 0, 0.4, 1.7)], posts=(12, 5, 0.15, 3)),
        "vehicle state": vehicle_state(1, 2, 0.1, 5),
        "picture": picture(rng.integers(0, 255, (60, 80, 3))),
        "boxes": boxes_of([(10, 10, 30, 60, 0.8, 1, 0), (40, 5, 20, 40, 0.6, 3, 0)]),
        "clusters": message("CLS1", "", count=2, stamp_ns=10**9) + (2 * cluster).ljust(64 * 24, b"\0"),
        "detections": message("DET1", "", count=1, stamp_ns=10**9)
        + (cluster + struct.pack("<If", 1, 0.5)).ljust(64 * 32, b"\0"),
        "borders of the lane": message("LNS1", "4d", 1.7, 0, -1.7, 0, count=1, stamp_ns=10**9),
    }


def of_input(name: str, messages: dict[str, bytes]) -> bytes:
    for word, other in (("pose", "odometry"), ("world", "map")):
        name = other if name.startswith(word) else name
    name = name.removeprefix("second ").removeprefix("third ").removeprefix("fourth ")
    return next(data for word, data in messages.items() if name.startswith(word))


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """With some words replaced, near its beginning or anywhere, or cut."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        words = min(len(data) // 4, 60 if rng.uniform() < 0.7 else len(data))
        at = 4 * int(rng.integers(0, words))
        value = int(rng.choice(HARMFUL)) if rng.uniform() < 0.6 else int(rng.integers(0, 2**32))
        changed[at : at + 4] = struct.pack("<I", value)
    return bytes(changed[: rng.integers(0, len(changed))] if rng.uniform() < 0.2 else changed)


def tasks() -> list[str]:
    found = []
    for library in ("camera", "fusion", "judges", "lidar", "perception"):
        path = ROOT / f"build/lib/libtacho_tasks_{library}.so"
        found += sorted(name for name, kind in kinds(path).items() if kind.input_count) if path.exists() else []
    return found


@pytest.mark.skipif(not tasks(), reason="the tasks of perception are not built: make perception")
@pytest.mark.parametrize("name", tasks())
def test_a_damaged_message_ends_in_a_result_or_a_reason(name):
    rng, messages = np.random.default_rng(11), sound()
    failed = given = 0
    for turn in range(TURNS.get(name, 40)):
        task = Task(name, sizes=SIZES.get(name), seed=turn)
        inputs = [of_input(task.kind.inputs[i].name.decode(), messages) for i in range(len(task.inputs))]
        try:
            task(1, *inputs)
            for step in range(6):
                chosen = int(rng.integers(0, len(inputs)))
                task(1.1 + step / 10, *(damaged(d, rng) if i == chosen else d for i, d in enumerate(inputs)))
                given += 1
        except TaskFailed as reason:
            assert "found" in str(reason) and "expected" in str(reason), reason
            failed += 1
        assert all(isinstance(value, float) for value in task.figures().values())
    assert given > 0 and failed > 0


def test_a_lane_whose_corners_are_straight_for_their_infinite_radius_breaks_nothing():
    messages = sound()
    lane = bytearray(messages["map"])
    radius = struct.pack("<d", 60)
    at = lane.index(radius)
    lane[at : at + 8] = struct.pack("<d", float("inf"))
    task = Task("lane_obstacles")
    task(1, messages["point cloud"], messages["odometry"], bytes(lane))
    assert task.figures()["clouds"] == 1
