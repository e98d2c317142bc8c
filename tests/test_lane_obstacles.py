"""Obstacles that the LiDAR's points show, against where they stand."""

import math

import numpy as np
import pytest
from driving import RADIUS, STRAIGHT, actuators, length, state, vehicle_state, world
from task_library import Task, TaskFailed, content, message

CLOUD = 1 << 20


def seen(start: float, obstacles=(), pose_late_s: float = 0, speed: float = 0, **parameters) -> np.ndarray:
    """Objects (x, y, radius) that are found from a place along the lane; the pose is that of some time before."""
    map_of = world(obstacles)
    x, y, _, _, yaw = state(Task("vehicle", start=start)(0, actuators(0, 0), map_of))[:5]
    (cloud,) = Task("lidar", sizes=[CLOUD], noise=0.02)(1, map_of, vehicle_state(x, y, yaw, speed, at_s=1))
    back = pose_late_s * speed
    pose = message("POS1", "4d", x - back * math.cos(yaw), y - back * math.sin(yaw), yaw, speed)
    pose = pose[:8] + round((1 - pose_late_s) * 1e9).to_bytes(8, "little") + pose[16:]
    (published,) = Task("lane_obstacles", **parameters)(1, cloud, pose, map_of)
    count = np.frombuffer(published, "<u4", 1, 4)[0]
    content(published, "OBJ1", "")
    return np.frombuffer(published, "<f8", 4 * count, 16).reshape(-1, 4)[:, :3]


@pytest.mark.parametrize("start", np.linspace(0, length(), 15))
def test_an_empty_lane_has_no_obstacles(start):
    assert len(seen(start)) == 0


@pytest.mark.parametrize("offset", [-0.8, 0.0, 0.8])
@pytest.mark.parametrize("distance", [6, 15, 30, 45])
def test_an_obstacle_on_a_side_is_found_where_it_stands(distance, offset):
    ((x, y, radius),) = seen(20, [(20.0 + distance, offset, 0.4, 1.2)])
    # Rays are this far apart there, so the outermost ones miss up to that much of its width.
    apart = distance * 2 * math.pi / 940
    assert math.hypot(x - 20 - distance, y - offset) < 0.1 + apart and 0.35 - apart < radius < 0.5
    # Braking needs the near edge.
    assert x - radius == pytest.approx(20 + distance - 0.4, abs=0.12)


@pytest.mark.parametrize("angle", [0.2, 0.4])
def test_an_obstacle_in_a_corner_is_found_where_it_stands(angle):
    ((x, y, _),) = seen(STRAIGHT, [(STRAIGHT + RADIUS * angle, 0.0, 0.4, 1.2)])
    assert math.hypot(x - STRAIGHT - RADIUS * math.sin(angle), y - RADIUS + RADIUS * math.cos(angle)) < 0.25


def test_obstacles_in_a_row_are_several_and_what_stands_beside_the_lane_is_none():
    row = [(30.0, 0.5, 0.3, 1.2), (40.0, -0.5, 0.3, 1.2), (45.0, 3.0, 0.4, 1.2), (12.0, 0.0, 0.3, 1.2)]
    found = seen(20, row)
    np.testing.assert_allclose(found[:, 0], [12, 30, 40], atol=0.25)


def test_a_pose_that_is_older_than_the_scan_is_carried_on():
    ((x, _, _),) = seen(20, [(50.0, 0.0, 0.4, 1.2)], pose_late_s=0.1, speed=15)
    assert x == pytest.approx(50, abs=0.2)


def test_what_is_lower_than_the_limit_or_out_of_range_is_no_obstacle():
    assert len(seen(20, [(35.0, 0.0, 0.4, 0.25)])) == 0
    assert len(seen(20, [(50.0, 0.0, 0.4, 1.2)], range=25)) == 0


def cloud_of(points, count=None):
    flat = np.array(points, "<f4").tobytes()
    return message("CLD1", "", count=len(points) if count is None else count) + flat


def test_points_that_are_no_numbers_are_counted_and_are_no_obstacle():
    task = Task("lane_obstacles", points=1)
    pose = message("POS1", "4d", 0, 0, 0, 0)
    points = [(math.nan, 0, 1, 0), (10, math.inf, 1, 0), (10, 0, math.nan, 0)]
    (published,) = task(1, cloud_of(points), pose, world())
    assert np.frombuffer(published, "<u4", 1, 4)[0] == 0
    assert task.figures() == {"clouds": 1, "objects": 0, "points_not_finite": 3}
    (published,) = task(2, cloud_of([*points, (10, 0, 1, 0)]))
    assert np.frombuffer(published, "<u4", 1, 4)[0] == 1
    (published,) = task(3, cloud_of([]))
    assert np.frombuffer(published, "<u4", 1, 4)[0] == 0, "an empty cloud"


def test_a_cloud_that_is_shorter_than_it_says_is_refused():
    task = Task("lane_obstacles")
    pose = message("POS1", "4d", 0, 0, 0, 0)
    with pytest.raises(TaskFailed, match="/point_cloud: found 1000 points in 32 B, expected at least 16016 B"):
        task(1, cloud_of([(1, 1, 1, 1)], count=1000), pose, world())
