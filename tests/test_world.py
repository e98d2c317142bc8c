"""The world and its sensors against answers in closed form."""

import math

import numpy as np
import pytest
from driving import (
    RADIUS,
    STRAIGHT,
    WALL,
    WALL_HEIGHT,
    actuators,
    boxes,
    length,
    offset,
    points,
    state,
    vehicle_state,
    world,
)
from task_library import Task, TaskFailed, content, stamp_ns

HEIGHT = 1.73
CLOUD = 1 << 20


def test_the_world_is_as_its_parameters_say():
    told = content(Task("world", straight=100, breadth=50, radius=60)(0)[0], "WLD2", "6d")
    assert told == (100, 50, 60, 3.5, 6, 2)
    with pytest.raises(TaskFailed, match="found 5.000000 m as radius, expected more than the distance of the walls"):
        Task("world", radius=5, wall=6)


def test_obstacles_stand_in_a_row_from_when_they_appear_until_they_are_gone():
    task = Task("world", obstacles=3, obstacle_at=40, obstacle_spacing=10, obstacle_from=2, obstacle_until=4)
    counts = [np.frombuffer(task(5 + t)[0], "<u4", 1, 4)[0] for t in (0, 1.9, 2, 3.9, 4)]
    assert counts == [0, 0, 3, 3, 0]
    told = content(task(7)[0], "WLD2", "18d")[6:]
    assert [told[4 * i] for i in range(3)] == [40, 50, 60] and told[1:4] == (0, 0.4, 1.2)


@pytest.mark.parametrize("part", np.linspace(0, 1, 23))
def test_every_place_of_the_lane_is_on_the_centre_line(part):
    car = Task("vehicle", start=part * length())
    placed = state(car(0, actuators(0, 0), world()))
    assert offset(placed[0], placed[1]) == pytest.approx(0, abs=1e-9)
    beyond = placed[:2] + 1e-4 * np.array([math.cos(placed[4]), math.sin(placed[4])])
    assert abs(offset(*beyond)) < 1e-9, "its heading is along the lane"


def test_odometry_is_the_state_of_the_vehicle_with_its_stamp():
    task = Task("odometry")
    assert task(1) == [None]
    published = task(2, vehicle_state(1, 2, 0.5, 3, at_s=1.5))[0]
    assert content(published, "POS1", "4d") == (1, 2, 0.5, 3) and stamp_ns(published) == 1_500_000_000


def test_noise_has_its_deviation_and_its_seed():
    def drawn(seed):
        task = Task("odometry", seed=seed, noise=0.2, heading_noise=0.01, speed_noise=0.5)
        return np.array([content(task(i, vehicle_state(10, 20, 1, 5))[0], "POS1", "4d") for i in range(4000)])

    first = drawn(1)
    np.testing.assert_allclose(first.mean(axis=0), [10, 20, 1, 5], atol=0.04)
    np.testing.assert_allclose(first.std(axis=0), [0.2, 0.2, 0.01, 0.5], rtol=0.05)
    assert abs(np.corrcoef(first[:, 0], first[:, 1])[0, 1]) < 0.08
    np.testing.assert_array_equal(first, drawn(1))
    assert (first != drawn(2)).any(axis=1).all()


def test_the_imu_feels_what_the_velocity_changes_by():
    """Accelerations by finite differences of the velocity that the vehicle's states give."""
    car, imu = Task("vehicle", inputs=1, initial_speed=10, timeout=3600), Task("imu")
    car(0, actuators(0.1, 1))
    states = []
    for tick in range(1, 1501):
        if tick == 500:
            car(0.5, actuators(0, -2))
        states.append(car(tick * 1e-3)[0])

    def velocity(published):
        _, _, _, speed, yaw, _, slip, _ = content(published, "VET1", "8d")
        return speed * np.array([math.cos(yaw + slip), math.sin(yaw + slip)])

    for tick in (200, 400, 700, 1400):
        change = (velocity(states[tick + 1]) - velocity(states[tick - 1])) / 2e-3
        yaw = content(states[tick], "VET1", "8d")[4]
        ahead = change @ [math.cos(yaw), math.sin(yaw)]
        left = change @ [-math.sin(yaw), math.cos(yaw)]
        rate, longitudinal, lateral = content(imu(1, states[tick])[0], "IMU1", "3d")
        assert rate == content(states[tick], "VET1", "8d")[5]
        assert longitudinal == pytest.approx(ahead, abs=2e-4) and lateral == pytest.approx(left, abs=2e-4)


def scan(x, y, yaw, obstacles=(), **parameters) -> np.ndarray:
    task = Task("lidar", sizes=[CLOUD], **parameters)
    (cloud,) = task(1, world(obstacles), vehicle_state(x, y, yaw))
    return points(cloud)


def test_between_two_walls_every_point_is_where_its_ray_ends():
    """On a side of the track, at right angles to the walls and up to 50 m along them."""
    found = scan(STRAIGHT / 2, 0.5, 0, range=40)
    elevations = np.radians(np.linspace(-24.8, 2, 64))
    azimuths = 2 * np.pi * np.arange(940) / 940
    azimuth, elevation = np.meshgrid(azimuths, elevations, indexing="ij")
    with np.errstate(divide="ignore"):
        # Along the walls it is too far, but finite.
        to_wall = np.where(np.sin(azimuth) > 0, WALL - 0.5, WALL + 0.5) / np.maximum(np.abs(np.sin(azimuth)), 1e-9)
        to_ground = np.where(elevation < 0, HEIGHT / np.tan(-elevation), 1e9)
    hits_wall = (to_wall <= to_ground) & (HEIGHT + to_wall * np.tan(elevation) <= WALL_HEIGHT)
    expected = np.where(hits_wall, to_wall, to_ground)
    # A ray over the wall may meet another wall behind, beyond the range here.
    is_seen = expected / np.cos(elevation) <= 40
    assert len(found) == is_seen.sum() > 40_000
    np.testing.assert_allclose(found[:, 0], (expected * np.cos(azimuth))[is_seen], atol=1e-4)
    np.testing.assert_allclose(found[:, 1], (expected * np.sin(azimuth))[is_seen], atol=1e-4)
    np.testing.assert_allclose(found[:, 2], (HEIGHT + expected * np.tan(elevation))[is_seen], atol=1e-4)
    np.testing.assert_array_equal(found[:, 3], np.tile(np.arange(64), (940, 1))[is_seen])


@pytest.mark.parametrize("angle", [0.1, 0.8, 1.4])
def test_in_a_corner_all_points_are_on_the_ground_or_on_a_wall(angle):
    x, y = STRAIGHT + RADIUS * math.sin(angle), RADIUS - RADIUS * math.cos(angle)
    found = scan(x, y, angle + 0.3)
    assert len(found) > 50_000
    cosine, sine = math.cos(angle + 0.3), math.sin(angle + 0.3)
    at_x, at_y = x + found[:, 0] * cosine - found[:, 1] * sine, y + found[:, 0] * sine + found[:, 1] * cosine
    is_ground = np.abs(found[:, 2]) < 1e-4
    at_wall = np.abs(np.abs(offset(at_x, at_y)) - WALL) < 1e-3
    assert (is_ground | at_wall).all() and is_ground.sum() > 5000 and (~is_ground).sum() > 5000
    # No ray passes a wall below its top.
    assert (np.abs(offset(at_x, at_y))[found[:, 2] < HEIGHT - 0.01] < WALL + 1e-3).all()
    assert found[:, 2].min() > -1e-4 and found[~is_ground, 2].max() < WALL_HEIGHT + 1e-3


def test_an_obstacle_shows_its_near_side_and_its_top():
    found = scan(30, 0, 0, obstacles=[(50.0, 0.0, 0.4, 1.2)], range=60)
    without = scan(30, 0, 0, range=60)
    from_axis = np.hypot(found[:, 0] - 20, found[:, 1])
    on_side = (np.abs(from_axis - 0.4) < 1e-3) & (found[:, 2] > 1e-3)
    on_top = (np.abs(found[:, 2] - 1.2) < 1e-4) & (from_axis < 0.4)
    assert (
        on_side.sum() > 20 and found[on_side, 0].max() < 20 and found[on_side, 0].min() == pytest.approx(19.6, abs=1e-3)
    )
    assert found[on_side, 2].max() <= 1.2 + 1e-4
    # The ring that passes just over the front edge meets the top.
    slopes = np.tan(np.radians(np.linspace(-24.8, 2, 64)))
    meets_top = ((1.2 - HEIGHT) / slopes > 19.6) & ((1.2 - HEIGHT) / slopes < 20.4) & (slopes < 0)
    assert on_top.any() == meets_top.any()
    # What is not hidden is as it was without the obstacle.
    assert len(found) - (on_side | on_top).sum() < len(without)


def test_noise_of_the_lidar_is_along_the_ray():
    plain, noisy = scan(50, 0, 0), scan(50, 0, 0, noise=0.05, seed=3)
    assert len(plain) == len(noisy)

    def ranges(found):
        return np.linalg.norm(found[:, :3] - [0, 0, HEIGHT], axis=1)

    apart = ranges(noisy) - ranges(plain)
    assert apart.std() == pytest.approx(0.05, rel=0.03) and abs(apart.mean()) < 0.002
    direction = (noisy[:, :3] - [0, 0, HEIGHT]) / ranges(noisy)[:, None]
    np.testing.assert_allclose(direction, (plain[:, :3] - [0, 0, HEIGHT]) / ranges(plain)[:, None], atol=1e-4)


def test_a_lidar_without_room_for_its_points_says_how_much_it_needs():
    with pytest.raises(TaskFailed, match="/output_0: found a size of 1000 B, expected at least 962576 B for 64 x 940"):
        Task("lidar", sizes=[1000])


def test_objects_are_those_within_range():
    obstacles = [(20.0, 0.5, 0.4, 1.2), (70.0, -0.5, 0.3, 1.0), (100 + RADIUS * math.pi / 2 + 25, 0.0, 0.4, 1.0)]
    task = Task("ground_truth_objects", range=60)
    (published,) = task(1, world(obstacles), vehicle_state(0, 0))
    assert np.frombuffer(published, "<u4", 1, 4)[0] == 1
    assert content(published, "OBJ1", "4d") == pytest.approx((20, 0.5, 0.4, 0))
    (published,) = task(2, None, vehicle_state(130, 60))
    assert np.frombuffer(published, "<u4", 1, 4)[0] == 1
    assert content(published, "OBJ1", "4d") == pytest.approx((160, 60 + 25, 0.4, 0))


def obstacles_at(task, at_s: float) -> np.ndarray:
    """Distance along the lane and offset of each obstacle in the message of an instant."""
    (told,) = task(at_s)
    count = np.frombuffer(told, "<u4", 1, 4)[0]
    assert stamp_ns(told) == round(at_s * 1e9), "obstacles are where they are at this instant"
    return np.array(content(told, "WLD2", "38d")[6:38]).reshape(8, 4)[:count, :2]


def test_obstacles_move_from_when_they_appear():
    car_ahead = Task("world", obstacles=2, obstacle_at=40, obstacle_spacing=30, obstacle_speed=4, obstacle_from=1)
    assert len(obstacles_at(car_ahead, 10)) == 0
    for passed in (0, 0.5, 2.25):
        expected = [[40 + 4 * passed, 0], [70 + 4 * passed, 0]]
        assert obstacles_at(car_ahead, 11 + passed) == pytest.approx(np.array(expected))
    crosses = Task("world", obstacles=1, obstacle_at=40, obstacle_offset=-5, obstacle_crossing=1.5)
    # It walks until it is at the wall: 6 m to the left of the centre line, less its radius.
    for passed in (0, 1, 4, 7, 8, 100):
        expected = [[40, min(-5 + 1.5 * passed, 5.6)]]
        assert obstacles_at(crosses, 3 + passed) == pytest.approx(np.array(expected)), passed
    with pytest.raises(TaskFailed, match="found 9.000000 m as obstacle_offset, expected a place between the walls"):
        Task("world", obstacles=1, obstacle_offset=9, obstacle_crossing=-1)


def test_an_obstacle_appears_when_the_car_is_near():
    with pytest.raises(TaskFailed, match="found obstacle_near without the vehicle's state"):
        Task("world", inputs=0, obstacles=1, obstacle_near=20)
    task = Task("world", inputs=1, obstacles=2, obstacle_at=40, obstacle_near=15, obstacle_spacing=20, obstacle_speed=2)
    counts = []
    for tick, x in enumerate((0, 24.9, 25.1, 39, 45.1, 80)):
        (told,) = task(tick, vehicle_state(x, 0, at_s=tick))
        counts.append(np.frombuffer(told, "<u4", 1, 4)[0])
    # The first stays although the car has passed it; the second appears 15 m before its own place.
    assert counts == [0, 0, 1, 1, 2, 2]
    # Each moves from when it appeared, in seconds 2 and 4.
    assert np.array(content(told, "WLD2", "38d")[6:14]).reshape(2, 4)[:, 0] == pytest.approx([40 + 2 * 3, 60 + 2 * 1])


@pytest.mark.parametrize("late_s", [0, 0.08])
def test_what_senses_a_moving_obstacle_sees_it_where_it_is_when_it_senses(late_s):
    """The world's message is older than the scan: the obstacle went on since."""
    along, left = 3.0, -2.0
    told = world([(30.0, 1.0, 0.4, 1.2)], speeds=((along, *[0.0] * 7), (left, *[0.0] * 7)), at_s=5.0)
    state = vehicle_state(0, 0, at_s=5 + late_s)
    x, y = 30 + along * late_s, 1 + left * late_s
    (objects,) = Task("ground_truth_objects")(5 + late_s, told, state)
    assert content(objects, "OBJ1", "4d") == pytest.approx((x, y, 0.4, math.hypot(along, left)))
    cloud = points(Task("lidar", sizes=[CLOUD])(5 + late_s, told, state)[0])
    standing = cloud[(cloud[:, 2] > 0.3) & (np.hypot(cloud[:, 0] - x, cloud[:, 1] - y) < 1)]
    assert len(standing) >= 10
    assert np.hypot(standing[:, 0] - x, standing[:, 1] - y) == pytest.approx(0.4, abs=1e-3), "on its near side"
    (found,) = Task("ground_truth_boxes", range=60)(5 + late_s, told, state)
    (box,) = boxes(found)
    # The camera is 1 m ahead: its picture has the middle of the obstacle left of its axis by y.
    assert box["at"][0] + box["at"][2] / 2 == pytest.approx(384 - 1000 * y / (x - 1), abs=1e-2)


def test_a_roadside_unit_sees_what_is_near_it():
    unit = Task("roadside_unit", at=100 + RADIUS * math.pi / 2, range=30)  # where the corner ends: (160, 60)
    obstacles = [(90.0, 0.5, 0.4, 1.2), (100 + RADIUS * math.pi / 2 + 20, -0.5, 0.3, 1.0)]
    told = world(obstacles, speeds=((0.0, 4.0, *[0.0] * 6), (0.0,) * 8), at_s=2)
    (published,) = unit(2.5, told)
    assert np.frombuffer(published, "<u4", 1, 4)[0] == 1 and stamp_ns(published) == 2_500_000_000
    # On the side that leads to the north, half a second further at 4 m/s.
    assert content(published, "OBJ1", "4d") == pytest.approx((160.5, 60 + 20 + 2, 0.3, 4))
    assert unit.reported == [
        ("objects", 0, 2.5, 1),
        ("object_x", 0, 2.5, pytest.approx(160.5)),
        ("object_y", 0, 2.5, pytest.approx(82)),
        ("object_radius", 0, 2.5, pytest.approx(0.3)),
    ]
    noisy = Task("roadside_unit", at=100, range=300, noise=0.5)
    places = [content(noisy(tick, world([(90.0, 0, 0.4, 1.2)]))[0], "OBJ1", "4d")[0] for tick in range(400)]
    assert np.std(places) == pytest.approx(0.5, rel=0.15) and np.mean(places) == pytest.approx(90, abs=0.1)
