"""Planning and control, judged by the truth: the lane is kept, the limits are kept, the car stops where it should."""

import math

import numpy as np
import pytest
from closed_loop import TICK_S, ClosedLoop
from driving import RADIUS, STRAIGHT, length, offset, vehicle_state, world
from task_library import Task, TaskFailed, content, message

FRONT = 4.508 / 2
REAR_AXLE = 1.4227170936
WHEELBASE = 1.1561957064 + REAR_AXLE


def pose(x, y, yaw=0.0, speed=0.0, at_s=1.0):
    return message("POS1", "4d", x, y, yaw, speed, stamp_ns=round(at_s * 1e9))


def path(x, y, yaw=0.0, speed=0.0, points=()):
    flat = [value for point in points for value in point] + [0.0] * 2 * (128 - len(points))
    return message("PTH1", "261d", 3.5, x, y, yaw, speed, *flat, count=len(points))


def objects(*found):
    flat = [value for one in found for value in one] + [0.0] * 4 * (32 - len(found))
    return message("OBJ1", "128d", *flat, count=len(found))


def entries(published, letters, offset_of, width):
    """The entries in use, one a row."""
    count = np.frombuffer(published, "<u4", 1, 4)[0]
    content(published, letters, "")
    return np.frombuffer(published, "<f8", width * count, offset_of).reshape(-1, width)


def trajectory_of(published):
    """Time, distance, x, y, yaw, curvature, speed, acceleration."""
    return entries(published, "TRJ1", 16, 8)


@pytest.mark.parametrize("part", np.linspace(0, 0.99, 12))
def test_the_route_is_the_centre_line_from_behind_the_car_to_its_horizon(part):
    car = Task("vehicle", start=part * length())
    x, y, _, _, yaw = content(car(0, None, world())[0], "VET1", "5d")
    left_x, left_y = x - 0.7 * math.sin(yaw), y + 0.7 * math.cos(yaw)
    (published,) = Task("route", horizon=100, spacing=2)(1, pose(left_x, left_y, yaw), world())
    points = entries(published, "PTH1", 56, 2)
    assert len(points) == 56
    np.testing.assert_allclose(offset(points[:, 0], points[:, 1]), 0, atol=1e-9)
    # 10 m behind, then every 2 m: chords of a corner are a little shorter.
    steps = np.hypot(*np.diff(points, axis=0).T)
    assert (steps < 2 + 1e-9).all() and (steps > 2 - 2e-3).all()
    assert math.hypot(points[5, 0] - x, points[5, 1] - y) < 1e-6
    assert (points[6] - points[4]) @ [math.cos(yaw), math.sin(yaw)] > 3.9
    assert content(published, "PTH1", "5d") == pytest.approx((3.5, left_x, left_y, yaw, 0))


def test_a_path_that_is_too_long_for_its_message_is_refused():
    with pytest.raises(TaskFailed, match="found a path of 511 points by horizon and spacing, expected at most 128"):
        Task("route", horizon=500, spacing=1)


def around_a_corner(now=0.0, **parameters):
    """The trajectory from 20 m before the first corner on."""
    (route,) = Task("route")(1, pose(STRAIGHT - 20, 0, 0, now), world())
    return trajectory_of(Task("trajectory", inputs=1, **parameters)(1, route)[0])


def test_the_spline_is_on_the_lane_and_its_curvature_is_that_of_the_corner():
    found = around_a_corner(5, speed=5)
    x, y, yaw, curvature = found[:, 2:6].T
    # The curvature of the lane jumps at the corner; that of a spline does not, so it leaves the line by centimetres.
    assert np.abs(offset(x, y)).max() < 0.03
    inside = (x > STRAIGHT + 12) & (yaw < math.pi / 2 - 0.3)
    np.testing.assert_allclose(curvature[inside], 1 / RADIUS, rtol=0.02)
    np.testing.assert_allclose(curvature[x < STRAIGHT - 12], 0, atol=4e-4)
    assert np.abs(np.diff(curvature)).max() < 1 / RADIUS
    # Heading and place agree with each other.
    chords = np.arctan2(np.diff(y), np.diff(x))
    np.testing.assert_allclose(chords, (yaw[1:] + yaw[:-1]) / 2, atol=2e-3)
    np.testing.assert_allclose(np.hypot(np.diff(x), np.diff(y)), np.diff(found[:, 1]), rtol=1e-4)


@pytest.mark.parametrize("speed,now", [(5, 0), (15, 0), (15, 15), (25, 25), (3, 10)])
def test_a_trajectory_keeps_the_limits_of_the_vehicle_and_its_times_are_those_of_its_speeds(speed, now):
    found = around_a_corner(now, speed=speed, lateral=3, acceleration=2, braking=2.5)
    time, distance, _, _, _, curvature, speeds, acceleration = found.T
    assert speeds[0] == pytest.approx(now) and (np.diff(time) > 0).all()
    accelerations = np.diff(speeds**2) / (2 * np.diff(distance))
    assert accelerations.max() <= 2 + 1e-6 and accelerations.min() >= -2.5 - 1e-6
    np.testing.assert_allclose(acceleration[:-1], accelerations, atol=1e-9)
    np.testing.assert_allclose(np.diff(time), np.diff(distance) / ((speeds[1:] + speeds[:-1]) / 2), rtol=1e-9)
    # From where braking can have brought it there.
    reached = distance > (now**2 - speed**2) / (2 * 2.5) + 2 if now > speed else distance > -1
    assert (speeds[reached] <= speed + 1e-6).all()
    slow_enough = now**2 - 3 * RADIUS <= 2 * 2.5 * 20
    if slow_enough:
        assert (speeds[reached] ** 2 * np.abs(curvature[reached])).max() <= 3 * 1.001
    if speed == 15:
        # Well inside the corner; at its end, the spline straightens.
        assert np.median(speeds[(distance > 40) & (distance < 100)]) == pytest.approx(math.sqrt(3 * RADIUS), rel=0.02)


def straight_path(speed):
    return path(0, 0, 0, speed, [(x, 0.0) for x in range(-10, 111, 2)])


@pytest.mark.parametrize("at,speed", [(60, 5), (40, 10), (30, 12)])
def test_it_stops_before_an_object_on_the_lane(at, speed):
    planner = Task("trajectory", speed=speed, braking=3, emergency=8, stop_distance=3)
    found = trajectory_of(planner(1, straight_path(speed), objects((at, 0.2, 0.5, 0)))[0])
    stop = at - 0.5 - 3 - FRONT
    assert found[-1, 6] == 0 and found[-1, 1] == pytest.approx(stop, abs=0.02)
    # It brakes as usual if that suffices, and else as hard as the stop needs.
    needed = max(3, speed**2 / (2 * stop))
    assert -found[:, 7].min() == pytest.approx(needed, rel=0.02)


def test_it_does_not_stop_for_what_it_can_pass_or_has_passed():
    for x, y in [(40, 2.5), (40, -2.5), (-6, 0)]:
        planner = Task("trajectory", speed=5)
        found = trajectory_of(planner(1, straight_path(5), objects((x, y, 0.5, 0)))[0])
        assert (found[:, 6] == 5).all()
        assert planner.figures() == {"plans": 1, "plans_with_stop": 0, "plans_blind": 0}


def test_it_stops_if_nobody_says_what_stands_on_the_lane():
    planner = Task("trajectory", speed=6, braking=3, objects_timeout=0.5)
    stamped = lambda published, at_s: published[:8] + round(at_s * 1e9).to_bytes(8, "little") + published[16:]  # noqa: E731
    blind = trajectory_of(planner(1, stamped(straight_path(6), 1))[0])
    assert blind[-1, 6] == 0 and blind[-1, 1] == pytest.approx(6, abs=0.02), "6 m/s and 3 m/s^2"
    seeing = trajectory_of(planner(1, stamped(straight_path(6), 1), stamped(objects(), 0.6))[0])
    assert (seeing[:, 6] == 6).all()
    blind = trajectory_of(planner(2, stamped(straight_path(6), 1.2))[0])
    assert blind[-1, 6] == 0
    stands = trajectory_of(planner(2, stamped(straight_path(0), 3))[0])
    assert len(stands) == 1 and stands[0, 6] == 0 and stands[0, 7] < 0
    assert planner.figures() == {"plans": 4, "plans_with_stop": 3, "plans_blind": 3}


def test_it_also_stops_for_what_others_see_as_long_as_that_is_fresh():
    planner = Task("trajectory", speed=6, objects_timeout=0.5)
    stamped = lambda published, at_s: published[:8] + round(at_s * 1e9).to_bytes(8, "little") + published[16:]  # noqa: E731
    own, others = stamped(objects((80, 0, 0.5, 0)), 1), stamped(objects((40, 0.2, 0.5, 0)), 0.8)
    end = lambda published: trajectory_of(published)[-1]  # noqa: E731
    (alone,) = planner(1, stamped(straight_path(6), 1), own)
    assert end(alone)[1] == pytest.approx(80 - 0.5 - 3 - FRONT, abs=0.02)
    assert "plans_with_stop_for_others" not in planner.figures()
    (both,) = planner(1, stamped(straight_path(6), 1), own, others)
    assert end(both)[1] == pytest.approx(40 - 0.5 - 3 - FRONT, abs=0.02), "the nearer one counts"
    # 0.5 s after others sensed it, their last word counts no more; its own objects are still fresh.
    (silent,) = planner(2, stamped(straight_path(6), 1.31), own)
    assert end(silent)[1] == pytest.approx(80 - 0.5 - 3 - FRONT, abs=0.02)
    # Others do not make a blind car see.
    (blind,) = planner(2, stamped(straight_path(6), 1.6), None, stamped(objects(), 1.6))
    assert end(blind)[6] == 0 and end(blind)[1] < 10
    figures = planner.figures()
    assert (figures["plans_with_stop_for_others"], figures["plans_blind"]) == (1, 1)


def test_what_is_no_path_is_refused():
    planner = Task("trajectory", inputs=1)
    with pytest.raises(TaskFailed, match="found a path of 1 points, expected 2 or more"):
        planner(1, path(0, 0, points=[(0, 0)]))
    planner = Task("trajectory", inputs=1)
    with pytest.raises(TaskFailed, match="found points 0 and 1 of a path 0.0+ m apart, expected a way between them"):
        planner(1, path(0, 0, points=[(1, 1), (1, 1), (2, 2)]))


def test_pure_pursuit_steers_along_the_arc_to_its_goal():
    """On an arc, the rear axle follows it with the angle of the bicycle model, whatever the lookahead."""
    (route,) = Task("route")(1, pose(STRAIGHT, 0), world())
    found = Task("trajectory", inputs=1, speed=5)(1, route)[0]
    angle = 0.5
    x, y = STRAIGHT + RADIUS * math.sin(angle), RADIUS - RADIUS * math.cos(angle)
    for lookahead in (4, 8, 12):
        # Its rear axle stands on the arc, along it.
        at = pose(x + REAR_AXLE * math.cos(angle), y + REAR_AXLE * math.sin(angle), angle, 5)
        task = Task("pure_pursuit", lookahead=lookahead, lookahead_time=0)
        steering, _ = content(task(1, found, at)[0], "CMD1", "2d")
        assert steering == pytest.approx(math.atan(WHEELBASE / RADIUS), rel=0.03)


def test_pure_pursuit_follows_the_speed_of_the_trajectory():
    planner = Task("trajectory", inputs=1, speed=8, acceleration=2)
    found = planner(1, straight_path(4))[0]
    task = Task("pure_pursuit", gain=1)
    assert content(task(1, found, pose(0, 0, 0, 4))[0], "CMD1", "2d") == pytest.approx((0, 2), abs=1e-9)
    assert content(task(1, None, pose(0, 0, 0, 3))[0], "CMD1", "2d")[1] == pytest.approx(3)
    # Half way between two points it is faster: v^2 = 4^2 + 2 x 2 x 0.4.
    lacking = math.sqrt(16 + 1.6) - 4
    assert content(task(1, None, pose(0.4, 0, 0, 4))[0], "CMD1", "2d")[1] == pytest.approx(2 + lacking)


def test_drive_by_wire_keeps_its_rates():
    task = Task("drive_by_wire", steering_rate=0.3, acceleration=2, braking=6, acceleration_rate=10)
    assert task(0, None, vehicle_state()) == [None]

    def run(now, steering, acceleration, speed=5.0, at=0.0):
        task.inputs[0].stamp_ns = round(now * 1e9)
        command = message("CMD1", "2d", steering, acceleration)
        return content(task(now, command, vehicle_state(speed=speed, steering=at))[0], "ACT1", "2d")

    assert run(1, 0, 1) == (0, 1)
    assert run(1.1, 1, 5) == (0.3, 2), "both at their limits"
    assert run(1.2, -1, -9) == pytest.approx((-0.3, 1)), "1 m/s^2 in 0.1 s"
    assert run(2.2, 0.01, -9, at=0.005) == pytest.approx((0.1, -6))
    assert run(3.2, 0, -9, speed=0)[1] == -6, "the brake stays on at a stand: it holds"


def test_drive_by_wire_brakes_if_nobody_commands():
    task = Task("drive_by_wire", timeout=0.4, stop_braking=5, acceleration_rate=1000)
    task.inputs[0].stamp_ns = 1_000_000_000
    task(1.0, message("CMD1", "2d", 0.2, 1), vehicle_state(speed=5))
    assert content(task(1.4)[0], "ACT1", "2d") == (0.4, 1)
    assert content(task(1.41)[0], "ACT1", "2d") == (0, -5)
    assert task.figures()["stops_without_command"] == 1
    task.inputs[0].stamp_ns = 2_000_000_000
    assert content(task(2.0, message("CMD1", "2d", 0, 1))[0], "ACT1", "2d") == (0, 1)


@pytest.mark.parametrize("speed", [2, 5, 10, 15])
def test_the_lane_is_kept_around_the_track(speed):
    loop = ClosedLoop(speed)
    trace = loop.drive(1.15 * length() / speed + 10)
    figures = loop.car.figures()
    assert figures["lane_kept"] == 1 and figures["driven"] > length(), figures
    assert figures["lateral_error_max"] < 0.3 and figures["speed_max"] == pytest.approx(speed, abs=0.2)
    # What the figures say is what the states say.
    errors = np.abs(offset(trace[:, 0], trace[:, 1]))
    assert figures["lateral_error_max"] == pytest.approx(errors.max(), abs=0.01)
    # The limits of the plan are kept by the car, up to what control adds to them.
    assert np.abs(trace[:, 3] * trace[:, 5]).max() < 4 * 1.15
    assert np.diff(trace[:, 3]).max() / TICK_S < 2.5 and np.diff(trace[:, 3]).min() / TICK_S > -3.5
    assert figures["stops_without_command"] == 0


def test_commands_that_come_late_make_the_car_leave_the_lane():
    in_time, late = ClosedLoop(10), ClosedLoop(10, delay_s=0.4)
    for loop in (in_time, late):
        loop.drive(30)
    assert in_time.car.figures()["lane_kept"] == 1 and in_time.car.figures()["command_age_max"] <= 160
    assert late.car.figures()["lane_kept"] == 0 and late.car.figures()["command_age_max"] >= 400


def test_a_noisy_pose_is_kept_within_the_lane():
    loop = ClosedLoop(8, noise=0.05)
    loop.drive(90)
    assert loop.car.figures()["lane_kept"] == 1


@pytest.mark.parametrize("speed,place", [(5, 60.0), (10, 80.0), (10, STRAIGHT + 60)])
def test_the_car_stops_before_an_obstacle(speed, place):
    loop = ClosedLoop(speed, obstacles=((place, 0.3, 0.4, 1.2),), trajectory={"stop_distance": 3})
    trace = loop.drive(place / speed + 15)
    figures = loop.car.figures()
    assert figures["collided"] == 0 and figures["lane_kept"] == 1
    assert abs(trace[-1, 3]) < 0.02, "it stands"
    assert figures["stop_margin"] == pytest.approx(3, abs=0.8)
    assert figures["obstacle_gap_min"] == pytest.approx(figures["stop_margin"], abs=0.05)


def test_if_planning_dies_the_car_stops_on_its_lane():
    loop = ClosedLoop(8, planner_dies_s=12)
    trace = loop.drive(20)
    assert loop.car.figures()["lane_kept"] == 1 and abs(trace[-1, 3]) < 0.02
    assert loop.by_wire.figures()["stops_without_command"] == 1
