"""Messages of the driving stack's tasks, and its track, computed independently of the tasks."""

import math

import numpy as np
from task_library import content, message

# The lane of the tests: two sides of 100 m, two of 50 m, corners of 60 m.
STRAIGHT, BREADTH, RADIUS, LANE, WALL, WALL_HEIGHT = 100.0, 50.0, 60.0, 3.5, 6.0, 2.0


def world(
    obstacles=(),
    straight=STRAIGHT,
    breadth=BREADTH,
    radius=RADIUS,
    lane=LANE,
    posts=(0, 5, 0.15, 3),
    speeds=((0.0,) * 8, (0.0,) * 8),
    at_s=0.0,
) -> bytes:
    """The world; an obstacle is its distance along the lane, offset, radius and height; posts have a spacing first;
    speeds of the obstacles are those along the lane, then those to the left."""
    flat = [value for obstacle in obstacles for value in obstacle] + [0.0] * 4 * (8 - len(obstacles))
    return message(
        "WLD2",
        "58d",
        straight,
        breadth,
        radius,
        lane,
        WALL,
        WALL_HEIGHT,
        *flat,
        *posts,
        *speeds[0],
        *speeds[1],
        count=len(obstacles),
        stamp_ns=round(at_s * 1e9),
    )


def vehicle_state(x=0.0, y=0.0, yaw=0.0, speed=0.0, steering=0.0, yaw_rate=0.0, slip=0.0, acceleration=0.0, at_s=1.0):
    values = (x, y, steering, speed, yaw, yaw_rate, slip, acceleration)
    return message("VET1", "8d", *values, stamp_ns=round(at_s * 1e9))


def actuators(steering_rate: float, acceleration: float, sensed_s: float = 0) -> bytes:
    return message("ACT1", "2d", steering_rate, acceleration, stamp_ns=round(sensed_s * 1e9))


def state(published: list) -> np.ndarray:
    """x, y, steering angle, speed, yaw, yaw rate, slip angle, acceleration."""
    return np.array(content(published[0], "VET1", "8d"))


def offset(x, y):
    """How far to the left of the centre line: the signed distance to a rectangle with round corners."""
    to_side = np.abs(np.asarray(x) - STRAIGHT / 2) - STRAIGHT / 2
    to_end = np.abs(np.asarray(y) - RADIUS - BREADTH / 2) - BREADTH / 2
    outside = np.hypot(np.maximum(to_side, 0), np.maximum(to_end, 0))
    return RADIUS - outside - np.minimum(np.maximum(to_side, to_end), 0)


def length() -> float:
    return 2 * (STRAIGHT + BREADTH) + 2 * math.pi * RADIUS


def points(cloud: bytes) -> np.ndarray:
    """The points of a cloud: x, y, z, ring."""
    count = np.frombuffer(cloud, "<u4", 1, 4)[0]
    content(cloud, "CLD1", "")
    return np.frombuffer(cloud, "<f4", 4 * count, 16).reshape(-1, 4).astype(float)


# Of the cameras of the tests, as their tasks have them initially.
WIDTH, HEIGHT, FOCAL = 768, 576, 1000.0
PICTURE = 80 + 3 * WIDTH * HEIGHT
CAMERA = (FOCAL, WIDTH / 2, HEIGHT * 0.45, 1.0, 0.0, 1.5, 0.0)


def picture(pixels: np.ndarray, at_s=1.0, camera=CAMERA) -> bytes:
    """A picture of these pixels: rows, columns, blue, green and red."""
    height, width = pixels.shape[:2]
    head = message("IMG1", "7d2I", *camera, width, height, stamp_ns=round(at_s * 1e9))
    return head + np.ascontiguousarray(pixels, np.uint8).tobytes()


def pixels(published: bytes) -> np.ndarray:
    width, height = content(published, "IMG1", "7d2I")[7:]
    return np.frombuffer(published, np.uint8, 3 * width * height, 80).reshape(height, width, 3)


BOX = np.dtype([("at", "<f4", 4), ("score", "<f4"), ("what", "<u4"), ("id", "<u4"), ("reserved", "<u4")])


def boxes(published: bytes) -> np.ndarray:
    """The boxes of a message; `at` is x, y, width, height."""
    content(published, "BOX1", "7d2I")
    return np.frombuffer(published, BOX, np.frombuffer(published, "<u4", 1, 4)[0], 80)


def boxes_of(rows, at_s=1.0, camera=CAMERA) -> bytes:
    """A message of boxes: x, y, width, height, score, class and id of each."""
    head = message("BOX1", "7d2I", *camera, WIDTH, HEIGHT, count=len(rows), stamp_ns=round(at_s * 1e9))
    found = np.array([(tuple(row[:4]), *row[4:], 0) for row in rows], BOX)
    return head + found.tobytes().ljust(64 * BOX.itemsize, b"\0")


def overlap(a, b) -> float:
    """Intersection over union of two boxes: x, y, width, height."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    common = max(0.0, width) * max(0.0, height)
    return common / (a[2] * a[3] + b[2] * b[3] - common)
