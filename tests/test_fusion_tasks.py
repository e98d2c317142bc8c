"""Fusion and tracking against scipy, a filter in matrices, and the world's truth."""

import ctypes
import math
import struct

import numpy as np
import pytest
from driving import (
    FOCAL,
    HEIGHT,
    PICTURE,
    STRAIGHT,
    WIDTH,
    actuators,
    boxes_of,
    points,
    state,
    vehicle_state,
    world,
)
from places import ROOT
from scipy.optimize import linear_sum_assignment
from task_library import Task, content, kinds, message, stamp_ns

CLOUD = 1 << 20
UNKNOWN, PERSON, VEHICLE = 0, 1, 3

needs_lidar = pytest.mark.skipif(
    not (ROOT / "build/lib/libtacho_tasks_lidar.so").exists(), reason="the LiDAR tasks are not built: make perception"
)
needs_camera = pytest.mark.skipif(
    not (ROOT / "build/lib/libtacho_tasks_camera.so").exists(), reason="the camera tasks are not built: make perception"
)

CLUSTER = np.dtype(
    [("x", "<f4"), ("y", "<f4"), ("radius", "<f4"), ("bottom", "<f4"), ("top", "<f4"), ("points", "<u4")]
)
DETECTION = np.dtype([*CLUSTER.descr, ("what", "<u4"), ("score", "<f4")])
TRACK = np.dtype([*((name, "<f8") for name in ("x", "y", "vx", "vy", "radius")), ("id", "<u4"), ("what", "<u4")])


def rows(published: bytes, letters: str, dtype: np.dtype) -> np.ndarray:
    content(published, letters, "")
    return np.frombuffer(published, dtype, np.frombuffer(published, "<u4", 1, 4)[0], 16)


def message_of(letters: str, dtype: np.dtype, entries, at_s=1.0) -> bytes:
    data = np.array([tuple(entry) for entry in entries], dtype).tobytes()
    return message(letters, "", count=len(entries), stamp_ns=round(at_s * 1e9)) + data.ljust(64 * dtype.itemsize, b"\0")


def clusters_of(entries, at_s=1.0) -> bytes:
    """Clusters: x, y, radius, bottom and top of each."""
    return message_of("CLS1", CLUSTER, [(*entry, 20) for entry in entries], at_s)


def detections_of(entries, at_s=1.0) -> bytes:
    """Detections: x, y and class of each."""
    return message_of("DET1", DETECTION, [(x, y, 0.4, 0, 1.7, 20, what, 0.5) for x, y, what in entries], at_s)


def pose(x=0.0, y=0.0, yaw=0.0, speed=0.0, at_s=1.0) -> bytes:
    return message("POS1", "4d", x, y, yaw, speed, stamp_ns=round(at_s * 1e9))


def test_the_assignment_costs_as_little_as_scipys():
    library = ctypes.CDLL(str(ROOT / "build/native/tasks/tests/libtacho_assignment.so"))
    rng = np.random.default_rng(0)
    for number in range(2000):
        height, width = rng.integers(0, 9, 2)
        # Every second table has many equal costs.
        costs = rng.uniform(0, 10, (height, width)) if number % 2 else rng.integers(0, 5, (height, width)).astype(float)
        most = float(rng.choice([2, 5, 100]))
        given = (ctypes.c_long * max(height, 1))()
        pointer = costs.ctypes.data_as(ctypes.c_void_p)
        library.assign(pointer, ctypes.c_size_t(height), ctypes.c_size_t(width), ctypes.c_double(most), given)
        taken = list(given)[:height]
        paired = [(row, column) for row, column in enumerate(taken) if column >= 0]
        assert len({column for _, column in paired}) == len(paired)
        assert all(costs[row, column] < most for row, column in paired)
        # A row that stays free costs `most`.
        table = np.hstack([np.where(costs < most, costs, 1e6), np.where(np.eye(height) > 0, most, 1e6)])
        least = table[linear_sum_assignment(table)].sum() if height else 0
        assert sum(costs[p] for p in paired) + most * (height - len(paired)) == pytest.approx(least)


def test_a_track_is_the_estimate_of_a_kalman_filter():
    rng, dt, noise, acceleration = np.random.default_rng(4), 0.1, 0.2, 0.7
    task = Task("track_objects", noise=noise, acceleration=acceleration, first_speed=3, confirm=1, gate=5)
    step = np.array([[1, dt], [0, 1]])
    drive = np.array([[dt**2 / 2], [dt]]) * acceleration
    see = np.array([[1.0, 0.0]])
    expected, covariance = None, np.diag([noise**2, 9.0])
    for number in range(40):
        at = 1 + number * dt
        measured = np.array([3 + 2 * number * dt, 1 - 0.5 * number * dt]) + rng.normal(0, noise, 2)
        measured = measured.astype("<f4").astype(float)
        if expected is None:
            expected = np.array([measured, [0.0, 0.0]])
        else:
            expected, covariance = step @ expected, step @ covariance @ step.T + drive @ drive.T
            gain = covariance @ see.T / (see @ covariance @ see.T + noise**2)
            expected = expected + gain @ (measured - see @ expected)
            covariance = (np.eye(2) - gain @ see) @ covariance
        (told,) = task(at, detections_of([(*measured, PERSON)], at), pose(at_s=at))[:1]
        (one,) = rows(told, "TRK1", TRACK)
        assert (one["x"], one["y"]) == pytest.approx(tuple(expected[0]), abs=1e-6)
        assert (one["vx"], one["vy"]) == pytest.approx(tuple(expected[1]), abs=1e-6)
        assert one["id"] == 1 and one["what"] == PERSON
    assert one["vx"] == pytest.approx(2, abs=0.4)


def test_ids_are_kept_where_paths_cross_and_detections_are_missed():
    rng = np.random.default_rng(7)
    task = Task("track_objects", noise=0.1, acceleration=0.5)
    seen, x_of = {}, {}
    for number in range(80):
        at = 1 + number / 10
        # Two walk past each other 0.8 m apart, one stands, and one thing in five is missed. Clutter is nowhere twice.
        things = [(-4 + number / 10, 0.4), (4 - number / 10, -0.4), (0, 6)]
        shown = [(x, y, PERSON) for x, y in things if rng.uniform() > 0.2]
        shown = [(x + rng.normal(0, 0.05), y + rng.normal(0, 0.05), what) for x, y, what in shown]
        shown.append((rng.uniform(20, 40), rng.uniform(-20, 20), UNKNOWN))
        rng.shuffle(shown)
        (told,) = task(at, detections_of(shown, at), pose(at_s=at))[:1]
        for one in rows(told, "TRK1", TRACK):
            if one["x"] > 15:
                continue
            nearest = min(range(3), key=lambda i: math.hypot(one["x"] - things[i][0], one["y"] - things[i][1]))
            assert math.hypot(one["x"] - things[nearest][0], one["y"] - things[nearest][1]) < 0.5
            seen.setdefault(nearest, set()).add(int(one["id"]))
            x_of[nearest] = one["vx"]
    assert [len(seen[i]) for i in range(3)] == [1, 1, 1] and len(set.union(*seen.values())) == 3
    assert x_of[0] == pytest.approx(1, abs=0.3) and x_of[1] == pytest.approx(-1, abs=0.3)


def test_a_track_is_told_after_some_detections_and_dropped_after_some_time():
    task = Task("track_objects", confirm=3, patience=0.5)
    counts = []
    for number in range(12):
        at = 1 + number / 10
        told, objects = task(at, detections_of([(10, 0, UNKNOWN)] if number < 5 else [], at), pose(5, 0, at_s=at))
        counts.append(len(rows(told, "TRK1", TRACK)))
        assert np.frombuffer(objects, "<u4", 1, 4)[0] == counts[-1]
        if counts[-1]:
            assert content(objects, "OBJ1", "2d") == pytest.approx((15, 0))
    assert counts == [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0] and task.figures()["dropped"] == 1
    # What comes back later is another.
    for number in range(12, 16):
        at = 1 + number / 10
        told, _ = task(at, detections_of([(10, 0, UNKNOWN)], at), pose(5, 0, at_s=at))
    assert rows(told, "TRK1", TRACK)["id"].tolist() == [2]
    # Detections from before the latest ones are left out.
    assert task(3, detections_of([(10, 0, UNKNOWN)], 2.0), pose(5, 0)) == [None, None]
    assert task.figures()["sets_late"] == 1
    nowhere = detections_of([(math.nan, 0, PERSON), (1, math.inf, PERSON)], 2.6)
    assert len(rows(task(3, nowhere, pose(5, 0))[0], "TRK1", TRACK)) == 1


def test_a_recognised_track_keeps_its_class_and_moves_with_a_pose_that_is_carried_on():
    task = Task("track_objects", confirm=1)
    for number in range(4):
        at = 1 + number / 10
        what = PERSON if number == 1 else UNKNOWN
        # The pose is 0.2 s older than the detections of what stands 20 m from where the vehicle began.
        detections = detections_of([(20 - number, 1, what)], at)
        (told,) = task(at, detections, pose(number - 2, 0, speed=10, at_s=at - 0.2))[:1]
    (one,) = rows(told, "TRK1", TRACK)
    assert one["what"] == PERSON and (one["x"], one["y"]) == pytest.approx((20, 1), abs=1e-3)
    assert math.hypot(one["vx"], one["vy"]) < 1e-3


def shown(x, y, radius=0.4, top=1.7, focal=FOCAL):
    """The box of a cylinder on the ground before a camera that is 1 m ahead and 1.5 m above."""
    ahead = x - 1
    left = WIDTH / 2 - focal * (y + radius) / ahead
    return left, HEIGHT * 0.45 + focal * (1.5 - top) / ahead, 2 * focal * radius / ahead, focal * top / ahead


def test_each_cluster_gets_the_box_that_the_camera_sees_it_in():
    things = [(10, 0.5), (10.5, -0.7), (14, 0), (20, 4)]
    clusters = clusters_of([(x, y, 0.4, 0.3, 1.7) for x, y in things])
    task = Task("fuse_boxes", inputs=2)
    # The second and the third are recognised; one box is of nothing.
    given = [
        (*shown(*things[2]), 0.7, VEHICLE, 0),
        (*shown(*things[1]), 0.8, PERSON, 0),
        (5, 5, 50, 90, 0.9, PERSON, 0),
    ]
    (published,) = task(1, clusters, boxes_of(given))
    found = rows(published, "DET1", DETECTION)
    assert found["what"].tolist() == [UNKNOWN, PERSON, VEHICLE, UNKNOWN]
    assert found["score"].tolist() == pytest.approx([0, 0.8, 0.7, 0]) and found["x"].tolist() == [10, 10.5, 14, 20]
    figures = task.figures()
    assert (figures["recognised"], figures["unrecognised"], figures["boxes_without_cluster"]) == (2, 2, 1)
    assert figures["overlap_mean"] == pytest.approx(1, abs=1e-4)
    (published,) = Task("fuse_boxes", inputs=2, unrecognised=0)(1, clusters, boxes_of(given))
    assert rows(published, "DET1", DETECTION)["what"].tolist() == [PERSON, VEHICLE]


def test_several_cameras_look_in_their_own_directions():
    def camera(yaw):
        return (FOCAL, WIDTH / 2, HEIGHT * 0.45, 0.0, 0.0, 1.5, yaw)

    things = [(10, 0, 0.4, 0, 1.7), (0, 10, 0.4, 0, 1.7), (-10, 0, 0.4, 0, 1.7)]
    ahead = (WIDTH / 2 - FOCAL * 0.04, HEIGHT * 0.45 - FOCAL * 0.02, FOCAL * 0.08, FOCAL * 0.17)
    given = [boxes_of([(*ahead, 0.5 + i / 10, PERSON, 0)], camera=camera(i * math.pi / 2)) for i in (1, 2)]
    (published,) = Task("fuse_boxes", inputs=3)(1, clusters_of(things), *given)
    assert rows(published, "DET1", DETECTION)["score"].tolist() == pytest.approx([0, 0.6, 0.7])


def test_boxes_of_another_instant_are_left_out():
    task = Task("fuse_boxes", inputs=2, age=0.3)
    given = boxes_of([(*shown(10, 0), 0.8, PERSON, 0)], at_s=1)
    for at, what in ((1.2, PERSON), (1.4, UNKNOWN), (0.5, UNKNOWN)):
        (published,) = task(at, clusters_of([(10, 0, 0.4, 0, 1.7)], at), given)
        assert rows(published, "DET1", DETECTION)["what"].tolist() == [what] and stamp_ns(published) == round(at * 1e9)
    assert task.figures()["boxes_too_old"] == 2 and task.figures()["age_difference_max"] == pytest.approx(200)
    assert len(rows(task(2, clusters_of([], 2))[0], "DET1", DETECTION)) == 0


def test_merged_clouds_are_all_points_of_clouds_of_about_one_instant():
    def cloud(first, count, at_s):
        flat = np.arange(first, first + 4 * count, dtype="<f4").tobytes()
        return message("CLD1", "", count=count, stamp_ns=round(at_s * 1e9)) + flat

    task = Task("merge_clouds", inputs=3, sizes=[4096])
    (merged,) = task(1, cloud(0, 5, 1.0), cloud(100, 3, 0.9), cloud(200, 2, 0.5))
    np.testing.assert_array_equal(points(merged).ravel(), [*range(20), *range(100, 112)])
    assert stamp_ns(merged) == 1_000_000_000
    assert task.figures() == {"sets": 1, "clouds_mean": 2, "age_difference_max": pytest.approx(100)}


def place(start: float) -> np.ndarray:
    return state(Task("vehicle", start=start)(0, actuators(0, 0), world()))[[0, 1, 4]]


@needs_lidar
def test_three_lidars_see_more_than_one_and_agree_on_where_things_are():
    map_of, at = world([(45, 0, 0.4, 1.7)]), vehicle_state(30, 0.3, 0.1)
    mounts = [{"ahead": 2, "left": 0}, {"ahead": 0, "left": 0.9}, {"ahead": -1, "left": -0.9}]
    scans = [Task("lidar", sizes=[CLOUD], noise=0.01, columns=470, **mount)(1, map_of, at)[0] for mount in mounts]
    (merged,) = Task("merge_clouds", inputs=3, sizes=[3 * CLOUD])(1, *scans)
    assert len(points(merged)) == sum(len(points(scan)) for scan in scans)
    found = []
    for cloud in (*scans, merged):
        (standing,) = Task("ground_removal", sizes=[3 * CLOUD])(1, cloud)
        (clusters,) = Task("euclidean_clusters", range=25, distance=0.4)(1, standing)
        thing = rows(clusters, "CLS1", CLUSTER)
        away = np.hypot(thing["x"] - 15 * math.cos(0.1), thing["y"] + 15 * math.sin(0.1) + 0.3)
        found.append(thing[away.argmin()])
        assert away.min() < 0.35
    assert found[3]["points"] == sum(one["points"] for one in found[:3])


def drive_past(task_of_boxes, map_of, starts, judge, range_of_boxes):
    """The whole chain in virtual time: scan, ground, grid, clusters, fusion, tracks; returns the tasks."""
    lidar = Task("lidar", sizes=[CLOUD], noise=0.02)
    ground, grid = Task("ground_removal", sizes=[CLOUD]), Task("voxel_grid", sizes=[CLOUD], leaf=0.1)
    cluster, fuse = Task("euclidean_clusters", range=range_of_boxes), Task("fuse_boxes", inputs=2)
    track = Task("track_objects")
    for number, start in enumerate(starts):
        at, speed = 1 + number / 10, (starts[1] - starts[0]) * 10
        x, y, yaw = place(start)
        truth = vehicle_state(x, y, yaw, speed, at_s=at)
        (scan,) = lidar(at, map_of, truth)
        (clusters,) = cluster(at, *grid(at, *ground(at, scan)))
        (detections,) = fuse(at, clusters, task_of_boxes(at, map_of, truth))
        tracks, _ = track(at, detections, pose(x, y, yaw, speed, at_s=at))
        judge(at, tracks, map_of, truth)
    return fuse, track


PEOPLE = [(32, 0.6, 0.4, 1.75), (40, -1.2, 0.4, 1.75), (STRAIGHT + 8, 0.2, 0.4, 1.75)]


@needs_lidar
def test_ids_and_distances_of_people_are_kept_while_the_car_drives_past():
    map_of, judge = world(PEOPLE, posts=(12, 5, 0.15, 3)), Task("judge_objects", range=18, view=0.5, recognised=1)
    truth = Task("ground_truth_boxes", noise=0.02)
    fuse, track = drive_past(lambda *of: truth(*of)[0], map_of, np.arange(15, 31, 0.5), judge, 30)
    figures = judge.figures()
    assert figures["obstacles_due"] > 30 and figures["recall"] == 100
    assert figures["ids"] == 2 and figures["id_changes"] == 0 and figures["false_mean"] == 0
    assert figures["position_error_rms"] < 0.25 and figures["distance_error_rms"] < 0.2
    assert fuse.figures()["unrecognised"] > 50 and fuse.figures()["overlap_mean"] > 0.6, "posts and walls are no people"


@needs_lidar
@needs_camera
def test_people_whom_the_trained_detector_finds_are_tracked_with_their_ids():
    map_of, judge = world(PEOPLE, posts=(12, 5, 0.15, 3)), Task("judge_objects", range=15, view=0.35, recognised=1)
    camera, detector = Task("drawn_camera", sizes=[PICTURE]), Task("detector")
    drive_past(lambda at, *of: detector(at, *camera(at, *of))[0], map_of, np.arange(18, 29, 0.5), judge, 30)
    figures = judge.figures()
    assert figures["recall"] > 90 and figures["id_changes"] == 0 and figures["ids"] == 2
    assert figures["distance_error_rms"] < 0.25 and figures["false_mean"] < 0.3


@pytest.mark.parametrize("name", ["camera", "fusion", "judges", "lidar"])
def test_the_build_knows_the_tasks_of_a_library_that_it_may_leave_out(name):
    library = ROOT / f"build/lib/libtacho_tasks_{name}.so"
    if not library.exists():
        pytest.skip(f"the tasks of {name} are not built: make perception")
    assert sorted((ROOT / f"native/tasks/{name}/kinds").read_text().split()) == sorted(kinds(library))
    assert not library.with_suffix(".missing").exists()


def test_the_struct_of_a_track_is_as_long_as_the_seam_says():
    assert TRACK.itemsize * 64 + 16 == Task("track_objects").sizes[0]
    assert DETECTION.itemsize * 64 + 16 == Task("fuse_boxes").sizes[0]
    assert struct.calcsize("<5fI") == CLUSTER.itemsize
