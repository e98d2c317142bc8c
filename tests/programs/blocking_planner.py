"""A planner that reloads its map in the executor of its own timer: `sensor -> /points -> planner -> /trajectory -> controller`, a process each.

usage: blocking_planner.py RELOADS
       blocking_planner.py sensor|planner|controller RELOADS

Ends after RELOADS reloads of the map. The planner prints for each "reload <line> <wall_ns>": the line of the function, and how long it blocked by
CLOCK_MONOTONIC read at its first and last line.
"""

import os
import subprocess
import sys
import time

import rclpy
from geometry_msgs.msg import PointStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

SENSOR_S, PLAN_S, RELOAD_S, BLOCKS_S = 0.05, 0.1, 3.0, 0.12


class Sensor(Node):
    def __init__(self):
        super().__init__("sensor")
        self.publisher = self.create_publisher(PointStamped, "points", 10)
        self.create_timer(SENSOR_S, self.capture)

    def capture(self):
        message = PointStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        self.publisher.publish(message)


class Planner(Node):
    def __init__(self, reloads):
        super().__init__("planner")
        self.publisher = self.create_publisher(PointStamped, "trajectory", 10)
        self.create_subscription(PointStamped, "points", self.on_points, 10)
        self.create_timer(PLAN_S, self.plan)
        self.create_timer(RELOAD_S, self.reload_map)
        self.points, self.left = None, reloads

    def on_points(self, message):
        self.points = message

    def plan(self):
        if self.points is not None:
            self.publisher.publish(self.points)
        if self.left == 0 and self.ends < time.monotonic():
            sys.exit()

    def reload_map(self):
        begun = time.monotonic_ns()
        time.sleep(BLOCKS_S)
        ended = time.monotonic_ns()
        self.ends = time.monotonic() + 1  # what was late by the last one comes out before the end
        self.left -= 1
        print("reload", Planner.reload_map.__code__.co_firstlineno, ended - begun, flush=True)


class Controller(Node):
    def __init__(self):
        super().__init__("controller")
        self.create_subscription(PointStamped, "trajectory", self.on_trajectory, 10)

    def on_trajectory(self, message):
        pass


def run(node):
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException, SystemExit):
        # Fast DDS 3.2 may wait for ever, computing, when it takes down a participant (DomainParticipant::set_listener).
        os._exit(0)


*role, reloads = sys.argv[1:]
if role:
    # SIGTERM ends a process by itself: rclpy's handler may set its guard condition before the executor waits for it,
    # and the executor then waits for ever.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    make = {"sensor": Sensor, "planner": lambda: Planner(int(reloads)), "controller": Controller}
    run(make[role[0]]())
else:
    processes = [
        subprocess.Popen([sys.executable, __file__, role, reloads]) for role in ("sensor", "controller", "planner")
    ]
    code = processes[-1].wait()
    for process in processes[:-1]:
        process.terminate()
        process.wait()
    sys.exit(code)
