"""The vehicle drives as CommonRoad's own model of vehicle 2 does (commonroad-vehicle-models), and stops if nobody
commands it any more."""

import functools
import math

import numpy as np
import pytest
from driving import actuators, world
from driving import state as whole_state
from task_library import Task, TaskFailed, message, stamp_ns
from vehiclemodels.parameters_vehicle2 import parameters_vehicle2
from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st

STEP_S = 0.001
TICK_S = 0.01


def state(published: list) -> np.ndarray:
    """Without the acceleration, which is no state of the model."""
    return whole_state(published)[:7]


@functools.cache
def parameters():
    return parameters_vehicle2()


def reference(initial_speed: float, inputs) -> np.ndarray:
    """Integrates the package's own equations by Runge-Kutta at 1 kHz."""
    x = [0.0, 0.0, 0.0, initial_speed, 0.0, 0.0, 0.0]
    trace = []

    def f(x, u):
        return np.array(vehicle_dynamics_st(list(x), list(u), parameters()))

    x = np.array(x)
    for u in inputs:
        for _ in range(round(TICK_S / STEP_S)):
            a = f(x, u)
            b = f(x + STEP_S / 2 * a, u)
            c = f(x + STEP_S / 2 * b, u)
            d = f(x + STEP_S * c, u)
            x = x + STEP_S / 6 * (a + 2 * b + 2 * c + d)
        trace.append(x)
    return np.array(trace)


def ours(initial_speed: float, inputs) -> np.ndarray:
    car = Task("vehicle", inputs=1, initial_speed=initial_speed, timeout=3600)
    trace = []
    for tick, u in enumerate(inputs):
        car(tick * TICK_S, actuators(*u))
        trace.append(state(car((tick + 1) * TICK_S)))
    return np.array(trace)


def constant(rate, acceleration):
    return lambda t: (rate, acceleration)


# Initial speed, and inputs over time: steering rate and acceleration. They pass walking speed, the limits of steering,
# its rate and the engine's power, and standstill. The model has no brake: where it would be driven backwards, the car
# stands.
MANOEUVRES = {
    "straight on": (10, constant(0, 0)),
    "full throttle from standstill": (0, constant(0, 11.5)),
    "more throttle than there is": (5, constant(0, 20)),
    "power limits acceleration": (20, constant(0, 11.5)),
    "emergency braking": (15, constant(0, -11.5)),
    "more braking than there is": (15, constant(0, -30)),
    "brakes to a stand": (2, constant(0, -3)),
    # The dynamic model is unstable in reverse: any rounding grows until nothing can be compared.
    "creeps backwards and steers": (-0.08, lambda t: (0.3 if t < 1 else -0.1, 0)),
    "steers to the left": (10, lambda t: (0.1 if t < 0.5 else 0, 0)),
    "steers to the right": (10, lambda t: (-0.1 if t < 0.5 else 0, 0)),
    "steers faster than it can": (8, lambda t: (2 if t < 0.2 else 0, 0)),
    "steers to its stop while it creeps": (0.05, constant(0.4, 0)),
    "starts with its wheels turned": (0, lambda t: (0.4, 0) if t < 0.5 else (0, 2)),
    "lane change": (14, lambda t: (0.15 * math.sin(2 * math.pi * t / 2), 0)),
    "slalom": (12, lambda t: (0.2 * math.cos(2 * math.pi * t), 0)),
    "brakes in a bend": (15, lambda t: (0.1 if t < 0.4 else 0, -4 if t > 1 else 0)),
    "throttle in a bend": (8, lambda t: (0.2 if t < 0.3 else 0, 3 if t > 0.5 else 0)),
    "crawls through walking speed": (0.2, lambda t: (0.05, 0.5 * math.sin(3 * t))),
    "highway": (40, lambda t: (0.01 * math.sin(t), 0)),
    "top speed": (50.5, constant(0, 11.5)),
}
TO_A_STAND = ["emergency braking", "more braking than there is", "brakes to a stand"]


@pytest.mark.parametrize("name", MANOEUVRES)
def test_the_vehicle_drives_as_commonroads_model(name):
    speed, of_time = MANOEUVRES[name]
    inputs = [of_time(tick * TICK_S) for tick in range(300)]
    expected, found = reference(speed, inputs), ours(speed, inputs)
    assert np.abs(expected[-1] - expected[0]).max() > 0.1, "the manoeuvre moves it"
    driven = len(inputs)
    if name in TO_A_STAND:
        driven = int(np.argmax(expected[:, 3] <= 0))
        assert 50 < driven < len(inputs) - 50 and expected[-1, 3] < -1, "the model drives backwards"
        way = speed**2 / (2 * min(-of_time(0)[1], 11.5))
        stands = np.array([way, 0, 0, 0, 0, 0, 0])
        np.testing.assert_allclose(found[driven:], np.tile(stands, (len(found) - driven, 1)), rtol=0, atol=1e-5)
        assert np.all(found[driven + 1 :] == found[-1]) and found[-1, 3] == 0
    np.testing.assert_allclose(found[:driven], expected[:driven], rtol=1e-9, atol=1e-9)


def test_the_twenty_manoeuvres_are_twenty():
    assert len(MANOEUVRES) == 20


@pytest.mark.parametrize("speed", [2.0, -0.08])
def test_a_brake_holds_and_never_drives(speed):
    """Whoever commands the brake looks so seldom that the car has long come to a stand."""
    car = Task("vehicle", inputs=1, initial_speed=speed, timeout=3600)
    car(0, actuators(0.1, -3))
    moving = whole_state(car(abs(speed) / 6))
    assert moving[3] == pytest.approx(speed / 2, abs=1e-8)
    assert moving[7] == pytest.approx(math.copysign(3, -speed)), "it slows, whichever way it rolls"
    stands = whole_state(car(abs(speed) / 3 + TICK_S))
    assert stands[3] == 0 and stands[5] == 0 and stands[7] == 0
    later = whole_state(car(5))
    np.testing.assert_array_equal(later[[0, 1, 3, 4, 5, 7]], stands[[0, 1, 3, 4, 5, 7]])
    assert later[2] == pytest.approx(0.5), "its wheels turn"
    # The brake is released: it drives on from here.
    car(5, actuators(0, 1))
    on = whole_state(car(6))
    assert on[3] == pytest.approx(1) and on[7] == pytest.approx(1)
    assert math.hypot(on[0] - later[0], on[1] - later[1]) == pytest.approx(0.5, rel=0.01)


def test_calls_at_other_times_change_nothing():
    often, seldom = Task("vehicle", inputs=1, initial_speed=10), Task("vehicle", inputs=1, initial_speed=10)
    for car in (often, seldom):
        car(0, actuators(0.1, 0.5))
    for tick in range(1, 2000):
        often(tick * 1e-4)
    np.testing.assert_array_equal(state(often(0.2)), state(seldom(0.2)))


def test_between_two_steps_the_state_is_that_of_the_call():
    car = Task("vehicle", inputs=1, initial_speed=10)
    car(5.0, actuators(0, 0))
    published = car(5.0105)
    assert state(published)[0] == pytest.approx(0.105, abs=1e-12)
    assert stamp_ns(published[0]) == 5_010_500_000


def test_without_commands_the_car_brakes_until_it_stands():
    car = Task("vehicle", inputs=1, initial_speed=10, timeout=0.3, braking=4)
    car(0, actuators(0, 0))
    for tick in range(1, 50):
        car(tick * TICK_S, actuators(0, 0))
    assert "stops_without_command" in car.figures() and car.figures()["stops_without_command"] == 0
    assert state(car(0.79))[3] == pytest.approx(10, abs=1e-9)
    # The last command came at 0.49 s: it brakes from 0.79 s on, and stands 2.5 s and 12.5 m later.
    stopped = state(car(10))
    assert stopped[3] == 0 and stopped[0] == pytest.approx(7.9 + 10**2 / (2 * 4), abs=0.02)
    assert car.figures()["stops_without_command"] == 1
    # It drives on when somebody commands it again.
    car(10.1, actuators(0, 1))
    assert state(car(10.3))[3] == pytest.approx(0.2, abs=2e-3)


def test_commands_have_the_age_of_what_was_sensed():
    car = Task("vehicle", inputs=1)
    for now, sensed in [(1.0, 0.9), (1.1, 0.8), (1.2, 1.1)]:
        car(now, actuators(0, 0, sensed))
    figures = car.figures()
    assert figures["command_age_max"] == pytest.approx(300) and figures["command_age_mean"] == pytest.approx(500 / 3)


def drive(speed, seconds, acceleration=0.0, **the_world):
    """Straight on along the first side."""
    car = Task("vehicle", initial_speed=speed, timeout=3600)
    car(0, actuators(0, acceleration), world(**the_world))
    for tick in range(1, round(seconds / TICK_S) + 1):
        car(tick * TICK_S)
    return car.figures()


def test_a_car_that_goes_straight_on_leaves_the_lane_in_the_corner():
    kept = drive(10, 10)
    assert kept["lane_kept"] == 1 and kept["driven"] == pytest.approx(100, abs=0.02)
    assert kept["lateral_error_max"] == pytest.approx(0, abs=1e-9) and kept["speed_max"] == 10
    left = drive(10, 16)
    assert left["lane_kept"] == 0
    # In the corner from x = 100 on, the front right edge leaves first: hypot(its way, 60 + 0.805) = 60 + 1.75.
    ahead = math.sqrt(61.75**2 - 60.805**2)
    x = 100 + ahead - 4.508 / 2
    assert left["left_lane_at_x"] == pytest.approx(x, abs=0.02) and left["left_lane_at_y"] == pytest.approx(0, abs=1e-9)
    assert left["left_lane_at"] == pytest.approx(100 + 60 * math.atan((x - 100) / 60), abs=0.02)
    # What comes after is judged no more.
    assert left["lateral_error_max"] == pytest.approx(math.hypot(x - 100, 60) - 60, abs=0.01)


def test_the_margin_to_an_obstacle_is_from_bumper_to_obstacle():
    # 10 m/s and 5 m/s^2: it stands after 10 m.
    figures = drive(10, 2, -5, obstacles=[(30.0, 0.5, 0.4, 1.0)])
    assert figures["obstacle_gap_min"] == pytest.approx(30 - 10 - 4.508 / 2 - 0.4, abs=0.02)
    assert figures["collided"] == 0
    assert figures["stop_margin"] == pytest.approx(figures["obstacle_gap_min"], abs=0.02)
    # Of several, the margin is that to the nearest.
    row = drive(10, 2, -5, obstacles=[(90.0, 0, 0.4, 1.0), (30.0, 0.5, 0.4, 1.0), (60.0, 0, 0.4, 1.0)])
    assert row["stop_margin"] == figures["stop_margin"] and row["obstacle_gap_min"] == figures["obstacle_gap_min"]
    through = drive(10, 3, 0, obstacles=[(20.0, 0.5, 0.4, 1.0)])
    assert through["collided"] == 1
    beside = drive(10, 3, 0, obstacles=[(20.0, 1.3, 0.4, 1.0)])
    assert "collided" not in beside


def test_the_car_stands_until_it_knows_the_world_and_starts_where_it_is_told():
    car = Task("vehicle", initial_speed=5, start=100 + 30 * math.pi + 25)
    assert state(car(0, actuators(0, 0)))[0] == 0 and state(car(1))[0] == 0
    placed = state(car(2, None, world()))
    np.testing.assert_allclose(placed[[0, 1, 4]], [160, 60 + 25, math.pi / 2], atol=1e-9)
    moved = state(car(3, actuators(0, 0)))
    assert moved[1] > placed[1]


def test_what_it_cannot_use_is_named():
    car = Task("vehicle", inputs=1)
    with pytest.raises(TaskFailed, match="/actuators: found a message of 3 B, expected at least 32 B"):
        car(0, b"abc")
    car = Task("vehicle", inputs=1)
    with pytest.raises(TaskFailed, match='/actuators: found a message of kind "POS1", expected "ACT1"'):
        car(0, message("POS1", "4d", 0, 0, 0, 0))
    car = Task("vehicle", inputs=1)
    with pytest.raises(TaskFailed, match="/actuators: found nan as acceleration, expected a finite number"):
        car(0, actuators(0, math.nan))
