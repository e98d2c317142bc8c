"""LiDAR tasks on PCL and small_gicp against the world's truth and against numpy."""

import math
import struct

import numpy as np
import pytest
from driving import RADIUS, STRAIGHT, actuators, offset, points, state, vehicle_state, world
from places import ROOT
from scipy.spatial import cKDTree
from task_library import Task, TaskFailed, content, message, stamp_ns

pytestmark = pytest.mark.skipif(
    not (ROOT / "build/lib/libtacho_tasks_lidar.so").exists(), reason="the LiDAR tasks are not built: make perception"
)

CLOUD = 1 << 20
POSTS = (12, 5, 0.15, 3)


def cloud_of(rows, count=None, at_s=1.0) -> bytes:
    rows = np.asarray(rows, "<f4").reshape(-1, 4)
    return message("CLD1", "", count=len(rows) if count is None else count, stamp_ns=round(at_s * 1e9)) + rows.tobytes()


def place(start: float) -> np.ndarray:
    """x, y, yaw on the centre line."""
    return state(Task("vehicle", start=start)(0, actuators(0, 0), world()))[[0, 1, 4]]


def scan(map_of: bytes, x: float, y: float, yaw: float, noise=0.02, at_s=1.0, **parameters) -> bytes:
    return Task("lidar", sizes=[CLOUD], noise=noise, **parameters)(1, map_of, vehicle_state(x, y, yaw, at_s=at_s))[0]


def clusters(published: bytes) -> np.ndarray:
    """x, y, radius, bottom, top and points of each cluster."""
    content(published, "CLS1", "")
    count = np.frombuffer(published, "<u4", 1, 4)[0]
    rows = np.frombuffer(published, np.dtype([("of", "<f4", 5), ("points", "<u4")]), count, 16)
    return np.column_stack([rows["of"], rows["points"]]).astype(float)


@pytest.mark.parametrize("leaf", [0.2, 0.5])
def test_a_voxel_grid_holds_the_centroid_of_every_occupied_cube(leaf):
    cloud = scan(world([(45, 0.5, 0.4, 1.2)], posts=POSTS), 30, 0, 0.1)
    (thinned,) = Task("voxel_grid", sizes=[CLOUD], leaf=leaf)(1, cloud)
    before, after = points(cloud)[:, :3], points(thinned)[:, :3]
    assert stamp_ns(thinned) == stamp_ns(cloud)
    # PCL divides in single precision, so a point beside a border may count to the next cube.
    cube = np.floor(before.astype(np.float32) * np.float32(1 / np.float32(leaf))).astype(int)
    _, of, counts = np.unique(cube, axis=0, return_inverse=True, return_counts=True)
    centroids = np.zeros((len(counts), 3))
    np.add.at(centroids, of.ravel(), before)
    centroids /= counts[:, None]
    assert len(after) == len(counts) < len(before) / 3
    assert cKDTree(centroids).query(after)[0].max() < 1e-3


@pytest.mark.parametrize("start", [20, 130, 240])
def test_the_ground_is_removed_and_what_stands_is_kept(start):
    x, y, yaw = place(start)
    cloud = scan(world([(start + 12, 0.5, 0.4, 1.2)], posts=POSTS), x, y, yaw)
    (standing,) = Task("ground_removal", sizes=[CLOUD])(1, cloud)
    before, after = points(cloud), points(standing)
    # The ground of the world is level, so the height of a point says what it is. Noise moves it by up to 0.04 m.
    assert (before[:, 2] < 0.1).sum() > 10_000 and (after[:, 2] < 0.1).sum() == 0
    assert (after[:, 2] > 0.3).sum() == (before[:, 2] > 0.3).sum() > 10_000
    task = Task("judge_ground")
    task(1, cloud, standing)
    figures = task.figures()
    assert figures["ground_removed"] == 100 and figures["standing_kept"] == 100 and figures["clouds"] == 1


def test_a_tilted_ground_is_removed_and_a_wall_is_none():
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-20, 20, (2, 4000))
    slope = np.column_stack([x, y, 0.05 * x, np.zeros(4000)])
    wall = np.column_stack([np.full(6000, 10.0), rng.uniform(-20, 20, 6000), rng.uniform(1, 4, 6000), np.zeros(6000)])
    (standing,) = Task("ground_removal", sizes=[CLOUD])(1, cloud_of(np.vstack([slope, wall])))
    assert len(points(standing)) == 6000, "the wall has more points, but it is not level"
    task = Task("ground_removal", sizes=[CLOUD])
    (standing,) = task(1, cloud_of(wall))
    assert len(points(standing)) == 6000 and task.figures()["clouds_without_ground"] == 1


def chain(cloud: bytes, **parameters) -> np.ndarray:
    (standing,) = Task("ground_removal", sizes=[CLOUD])(1, cloud)
    (thinned,) = Task("voxel_grid", sizes=[CLOUD], leaf=0.1)(1, standing)
    return clusters(Task("euclidean_clusters", **parameters)(1, thinned)[0])


@pytest.mark.parametrize("start", [20, STRAIGHT + 20])
def test_clusters_are_the_obstacles_and_posts_of_the_world(start):
    x, y, yaw = place(start)
    obstacles = [(start + 8, 0.7, 0.4, 1.2), (start + 15, -1.0, 0.3, 1.7), (start + 22, 0.3, 0.5, 1.0)]
    found = chain(scan(world(obstacles, posts=POSTS), x, y, yaw), range=30)
    truth = np.array([place(distance) for distance, *_ in obstacles])
    to_left = np.column_stack([-np.sin(truth[:, 2]), np.cos(truth[:, 2])])
    truth = truth[:, :2] + to_left * np.array([offset for _, offset, *_ in obstacles])[:, None]
    cosine, sine = math.cos(yaw), math.sin(yaw)
    relative = (truth - [x, y]) @ np.array([[cosine, -sine], [sine, cosine]])
    for (_, _, radius, height), (ahead, left) in zip(obstacles, relative):
        nearest = found[np.hypot(found[:, 0] - ahead, found[:, 1] - left).argmin()]
        # Rays beside each other are this far apart there.
        apart = math.hypot(ahead, left) * 2 * math.pi / 940
        assert math.hypot(nearest[0] - ahead, nearest[1] - left) < 0.1 + apart
        assert nearest[2] == pytest.approx(radius, abs=0.1 + apart)
        assert nearest[4] == pytest.approx(height, abs=0.25) and nearest[3] < 0.7
    # The others are posts, and parts of walls that are seen at so flat an angle that their points are far apart.
    others = found[[np.hypot(*(relative - row[:2]).T).min() > 1 for row in found]]
    beside = offset(x + others[:, 0] * cosine - others[:, 1] * sine, y + others[:, 0] * sine + others[:, 1] * cosine)
    assert len(others) >= 4 and (np.abs(beside) > 4.6).all() and (np.abs(beside) < 6.3).all()


def judged(name: str, cloud_of_objects: bytes, map_of: bytes, x: float, y: float, yaw: float, **parameters) -> dict:
    task = Task(name, after=0, **parameters)
    task(1, cloud_of_objects, map_of, vehicle_state(x, y, yaw))
    return task.figures()


def test_the_judge_of_objects_counts_what_was_found_missed_and_made_up():
    x, y, yaw = 30.0, 0.2, 0.05
    map_of = world([(40, 0, 0.4, 1.2), (50, 0.5, 0.4, 1.2), (58, 0, 0.4, 1.2), (70, 0, 0.4, 1.2)], posts=POSTS)

    def seen(at_x, at_y, heading=yaw):
        """In the vehicle's frame, as a cluster."""
        cosine, sine = math.cos(heading), math.sin(heading)
        ahead, left = (at_x - x) * cosine + (at_y - y) * sine, (at_y - y) * cosine - (at_x - x) * sine
        return struct.pack("<5fI", ahead, left, 0.4, 0, 1.2, 20)

    # Two of three are found; the fourth is out of range. One is a post, one at a wall, one is nothing.
    rows = [
        seen(40.3, 0),
        seen(50, 0.1),
        seen(36 + 12 * (0.5 * ((3 * 0.6180339887) % 1)), 5),
        seen(44, -5.9),
        seen(45, 1),
    ]
    message_of = message("CLS1", "", count=len(rows), stamp_ns=10**9) + b"".join(rows).ljust(64 * 24, b"\0")
    figures = judged("judge_objects", message_of, map_of, x, y, yaw)
    assert figures["messages"] == 1 and figures["obstacles_due"] == 3
    assert figures["recall"] == pytest.approx(200 / 3) and figures["false_mean"] == 1
    assert figures["position_error_rms"] == pytest.approx(math.sqrt((0.3**2 + 0.4**2) / 2), abs=1e-5)
    away = [math.hypot(40.3 - x, y) - math.hypot(10, y), math.hypot(20, 0.1 - y) - math.hypot(20, 0.5 - y)]
    assert figures["distance_error_rms"] == pytest.approx(math.sqrt(np.mean(np.square(away))), abs=1e-5)
    assert "ids" not in figures
    # Straight ahead alone, nothing behind the view counts.
    behind = yaw + math.pi
    turned = message("CLS1", "", count=1, stamp_ns=10**9) + seen(45, 1, behind).ljust(64 * 24, b"\0")
    narrow = judged("judge_objects", turned, map_of, x, y, behind, view=0.5)
    assert narrow["obstacles_due"] == 0 and narrow["false_mean"] == 0


def test_the_judge_takes_the_pose_of_the_instant_of_the_scan():
    map_of = world([(50, 0, 0.4, 1.2)])
    task = Task("judge_objects", after=0)
    one = struct.pack("<5fI", 15, 0, 0.4, 0, 1.2, 20).ljust(64 * 24, b"\0")
    task(1, None, map_of, vehicle_state(34, 0, at_s=1.0))
    # It comes before the state of its instant does, and is judged between two states.
    task(1.2, message("CLS1", "", count=1, stamp_ns=1_050_000_000) + one)
    assert task.figures()["messages"] == 0
    task(1.3, None, None, vehicle_state(36, 0, at_s=1.1))
    assert task.figures()["messages"] == 1 and task.figures()["position_error_rms"] == pytest.approx(0, abs=1e-6)


def test_the_judge_counts_changes_of_ids():
    map_of, task = world([(40, 0, 0.4, 1.2), (45, 0, 0.4, 1.2)]), Task("judge_objects", after=0.5)

    def tracks(*ids):
        rows = [struct.pack("<5dII", 40 + 5 * i, 0, 0, 0, 0.4, of, 1) for i, of in enumerate(ids)]
        return b"".join(rows).ljust(64 * 48, b"\0")

    for number, ids in enumerate([(9, 9), (1, 2), (1, 2), (2, 1), (2, 3), (2, 3)]):
        at = 1 + 0.5 * number
        task(
            at,
            message("TRK1", "", count=2, stamp_ns=round(at * 1e9)) + tracks(*ids),
            map_of,
            vehicle_state(30, 0, at_s=at),
        )
    # The first message comes before they are due; then both change, and the second one again.
    assert task.figures()["id_changes"] == 3 and task.figures()["ids"] == 3 and task.figures()["recall"] == 100


def test_two_groups_are_one_only_if_their_points_are_near():
    row = [(x, 0, 1, 0) for x in np.arange(5, 6, 0.1)] + [(x, 0, 1, 0) for x in np.arange(6.4, 7.4, 0.1)]
    assert len(clusters(Task("euclidean_clusters", distance=0.3)(1, cloud_of(row))[0])) == 2
    (whole,) = clusters(Task("euclidean_clusters", distance=0.6)(1, cloud_of(row))[0])
    assert whole[5] == 20 and whole[0] == pytest.approx(5) and whole[2] == 0, "the centre is that of what has no width"
    assert len(clusters(Task("euclidean_clusters", distance=0.6, longest=2)(1, cloud_of(row))[0])) == 0
    assert len(clusters(Task("euclidean_clusters", distance=0.3, points=11)(1, cloud_of(row))[0])) == 0


def test_more_clusters_than_a_message_holds_are_counted_and_the_nearest_are_kept():
    rows = [(5 + 2 * i, 0.05 * j, 1, 0) for i in range(70) for j in range(6)]
    task = Task("euclidean_clusters", range=500)
    found = clusters(task(1, cloud_of(rows))[0])
    np.testing.assert_allclose(found[:, 0], 5 + 2 * np.arange(64), atol=0.2)
    assert task.figures()["clusters_left_out"] == 6 and task.figures()["clusters"] == 64


MATCHING = ["scan_matching", "ndt_matching"]


def pose(x, y, yaw, speed=0.0, at_s=1.0) -> bytes:
    return message("POS1", "4d", x, y, yaw, speed, stamp_ns=round(at_s * 1e9))


@pytest.mark.parametrize("name", MATCHING)
def test_matching_finds_the_pose_that_odometry_only_guesses(name):
    map_of = world(posts=POSTS)
    task, judge, rng = Task(name), Task("judge_pose"), np.random.default_rng(1)
    guesses, errors = [], []
    # The obstacle is on no map.
    seen = world([(60, 0, 0.4, 1.2)], posts=POSTS)
    for number, start in enumerate([5, 50, 95, STRAIGHT + 10, STRAIGHT + 50, 260, 330, 444]):
        now = 1 + number
        x, y, yaw = place(start)
        x, y, yaw = x + 0.3, y - 0.2, yaw + 0.01
        wrong = np.array([x, y, yaw]) + rng.normal(0, [0.3, 0.3, 0.02])
        (found,) = task(now, scan(seen, x, y, yaw, at_s=now), pose(*wrong, at_s=now), map_of)
        judge(now, found, vehicle_state(x, y, yaw, at_s=now))
        told = np.array(content(found, "POS1", "3d"))
        guesses.append(np.hypot(*(wrong - [x, y, yaw])[:2]))
        errors.append([np.hypot(told[0] - x, told[1] - y), abs(math.remainder(told[2] - yaw, 2 * math.pi))])
        assert stamp_ns(found) == round(now * 1e9)
    errors = np.array(errors)
    assert errors[:, 0].max() < 0.06 < 0.15 < np.mean(guesses) and errors[:, 1].max() < 0.004
    figures = judge.figures()
    assert figures["position_error_max"] == pytest.approx(errors[:, 0].max(), abs=1e-9)
    assert figures["position_error_rms"] == pytest.approx(math.sqrt(np.mean(errors[:, 0] ** 2)), abs=1e-9)
    assert figures["heading_error_max"] == pytest.approx(errors[:, 1].max(), abs=1e-9)
    figures = task.figures()
    assert figures["scans"] == 8 and figures["scans_rejected"] == 0
    assert figures["correction_rms"] == pytest.approx(math.sqrt(np.mean(np.square(guesses))), abs=0.05)


def test_without_posts_a_pose_along_a_straight_wall_is_not_found():
    """Walls look alike from everywhere along them: the test of the matching above needs the posts."""
    map_of = world(straight=300)
    x, y, yaw = 150.0, 0.0, 0.0
    (found,) = Task("scan_matching")(1, scan(map_of, x, y, yaw, range=40), pose(x + 0.8, y, yaw), map_of)
    told = content(found, "POS1", "3d")
    assert abs(told[0] - x) > 0.4 and abs(told[1] - y) < 0.05


@pytest.mark.parametrize("name", MATCHING)
def test_odometry_that_is_older_than_the_scan_is_carried_on(name):
    map_of = world(posts=POSTS)
    task = Task(name, correction=0.5)
    late = pose(21.2, 0, 0, speed=4, at_s=0.8)
    (found,) = task(1, scan(map_of, 22, 0, 0), late, map_of)
    assert content(found, "POS1", "3d")[0] == pytest.approx(22, abs=0.05)
    standing = pose(21.2, 0, 0, speed=0, at_s=0.8)
    assert task(1, scan(map_of, 22, 0, 0), standing) == [None], "a match that is too far away is rejected"
    assert task.figures()["scans_rejected"] == 1


@pytest.mark.parametrize("name", MATCHING)
def test_a_scan_of_another_place_is_rejected(name):
    map_of = world(posts=POSTS)
    task = Task(name)
    elsewhere = cloud_of(np.random.default_rng(2).uniform(-20, 20, (4000, 4)) + [0, 0, 30, 0])
    assert task(1, elsewhere, pose(20, 0, 0), map_of) == [None]
    assert task.figures()["scans_rejected"] == 1 and "correction_rms" not in task.figures()


CLOUD_TASKS = ["voxel_grid", "ground_removal", "euclidean_clusters"]
HARMFUL = [(math.nan, 0, 1, 0), (10, math.inf, 1, 0), (10, 0, -math.inf, 0), (math.nan, math.nan, math.nan, 0)]


def made(name):
    return Task(name) if name == "euclidean_clusters" else Task(name, sizes=[CLOUD])


@pytest.mark.parametrize("name", CLOUD_TASKS)
def test_points_that_are_no_numbers_are_left_out_and_counted(name):
    task = made(name)
    assert np.frombuffer(task(1, cloud_of(HARMFUL * 10))[0], "<u4", 1, 4)[0] == 0, "a cloud of nothing else"
    assert np.frombuffer(task(2, cloud_of([]))[0], "<u4", 1, 4)[0] == 0, "an empty cloud"
    assert task.figures()["points_not_finite"] == 40 and task.figures()["clouds"] == 2
    cloud = scan(world([(40, 0, 0.4, 1.2)]), 30, 0, 0)
    (clean,), (spoilt,) = made(name)(1, cloud), made(name)(1, cloud_of(np.vstack([points(cloud), HARMFUL])))
    used = 16 + 16 * int(np.frombuffer(clean, "<u4", 1, 4)[0]) if name != "euclidean_clusters" else len(clean)
    assert clean[:used] == spoilt[:used]


@pytest.mark.parametrize("name", MATCHING)
def test_matching_ignores_points_that_are_no_numbers_and_rejects_what_is_empty(name):
    map_of, task = world(posts=POSTS), Task(name)
    assert task(1, cloud_of(HARMFUL), pose(20, 0, 0), map_of) == [None]
    assert task(2, cloud_of([]), pose(20, 0, 0)) == [None]
    rows = np.vstack([HARMFUL, points(scan(map_of, 20, 0, 0))])
    (found,) = task(3, cloud_of(rows), pose(20.2, 0, 0))
    assert content(found, "POS1", "3d") == pytest.approx((20, 0, 0), abs=0.05)
    assert task.figures()["points_not_finite"] == 8 and task.figures()["scans_rejected"] == 2


@pytest.mark.parametrize("name", CLOUD_TASKS)
def test_a_cloud_that_is_shorter_than_it_says_is_refused(name):
    with pytest.raises(TaskFailed, match=r"/point_cloud.*: found 1000 points in 32 B, expected at least 16016 B"):
        made(name)(1, cloud_of([(1, 1, 1, 1)], count=1000))


def test_an_output_without_room_says_how_much_it_needs():
    cloud = scan(world(), 30, 0, 0)
    with pytest.raises(TaskFailed, match=r"/output_0: found a size of 4096 B, expected at least \d+ B for \d+ points"):
        Task("voxel_grid", sizes=[4096])(1, cloud)


def test_a_cloud_too_wide_for_its_cubes_is_refused_and_not_passed_on_unthinned():
    with pytest.raises(TaskFailed, match=r"found points up to 200000\S* m apart, expected fewer than 2\^31 cubes"):
        Task("voxel_grid", sizes=[CLOUD], leaf=0.05)(1, cloud_of([(-1e5, 0, 0, 0), (1e5, 1000, 50, 0)]))


def test_posts_stand_beside_the_lane_alternately_and_are_in_the_scan():
    found = points(scan(world(posts=(20, 5, 0.2, 3)), STRAIGHT / 2, 0, 0, noise=0, range=30))
    at = found[:, :2] + [STRAIGHT / 2, 0]
    on_post = np.abs(np.abs(at[:, 1]) - 5) < 0.2 + 1e-3
    on_post &= (found[:, 2] > 0.01) & (np.abs(np.abs(at[:, 1]) - 6) > 0.5)
    centres = np.round(at[on_post, 0])
    right = {round(v) for v in at[on_post & (at[:, 1] < 0), 0]}
    left = {round(v) for v in at[on_post & (at[:, 1] > 0), 0]}
    golden = (math.sqrt(5) - 1) / 2
    expected = [20 * (i + 0.5 * (i * golden % 1)) for i in range(6)]
    for i, where in enumerate(expected):
        if abs(where - STRAIGHT / 2) > 28 or where > STRAIGHT:
            continue
        side = right if i % 2 == 0 else left
        assert any(abs(v - where) <= 1 for v in side), (where, side)
    assert len(centres) > 50 and RADIUS == 60
