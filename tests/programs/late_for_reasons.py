"""Messages that are late for reasons which the programs tell themselves, by their own clocks: each line printed is an instant of
CLOCK_MONOTONIC in ns. `driver COUNT` publishes /points, and before every fourth one /log; `planner` has one executor for both, and computes over some
of the points; `sleeper` looks into its queue of one message now and then; `burner CPU` takes the CPU from a `planner CPU`."""

import os
import sys
import time

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

PERIOD_S = 0.15
BUSY_S, COMPUTES_S, SLEEPS_S = 0.06, 0.03, 0.4


def tell(*words):
    # One write a line: all print to the same pipe.
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def compute(seconds: float):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def run_delay_ns():
    """How long this thread was able to run and had no CPU, as the kernel counts it (sched-stats): what a hypervisor takes is not in it."""
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1])


class Driver(Node):
    def __init__(self, count: int):
        super().__init__("driver")
        self.points, self.log = (self.create_publisher(String, topic, 10) for topic in ("points", "log"))
        self.count, self.sent = count, 0
        self.create_timer(PERIOD_S, self.tick)

    def tick(self):
        if self.points.get_subscription_count() < 2 or self.log.get_subscription_count() < 1:
            return
        if self.sent == self.count:
            raise SystemExit
        if self.sent % 4 == 1:
            self.log.publish(String(data=str(self.sent)))
            time.sleep(BUSY_S / 4)  # the planner has begun with it when the points come
        tell("sent", self.sent, time.monotonic_ns())
        self.points.publish(String(data=str(self.sent)))
        self.sent += 1


class Planner(Node):
    def __init__(self):
        super().__init__("planner")
        self.create_subscription(String, "log", self.on_log, 10)
        self.create_subscription(String, "points", self.on_points, 10)

    def on_log(self, message):
        begun = time.monotonic_ns()
        compute(BUSY_S)
        tell("logged", message.data, begun, time.monotonic_ns())

    def on_points(self, message):
        begun, kept_off = time.monotonic_ns(), run_delay_ns()
        if int(message.data) % 4 == 0:
            compute(COMPUTES_S)
        kept_off = run_delay_ns() - kept_off
        tell("planned", message.data, begun, time.monotonic_ns(), kept_off)


class Sleeper(Node):
    def __init__(self):
        super().__init__("sleeper")
        self.create_subscription(String, "points", self.on_points, 1)

    def on_points(self, message):
        tell("seen", message.data, time.monotonic_ns())


role = sys.argv[1]
if role != "driver" and len(sys.argv) > 2:
    os.sched_setaffinity(0, {int(sys.argv[2])})
if role == "burner":
    with open("/proc/self/comm", "w") as name:
        name.write("burner")
    while True:
        pass
rclpy.init()
node = {"driver": lambda: Driver(int(sys.argv[2])), "planner": Planner, "sleeper": Sleeper}[role]()
executor = SingleThreadedExecutor()
executor.add_node(node)
try:
    while role == "sleeper" and rclpy.ok():
        time.sleep(SLEEPS_S)
        tell("awake", time.monotonic_ns())
        executor.spin_once(timeout_sec=0)
    if role != "sleeper":
        executor.spin()
except (ExternalShutdownException, KeyboardInterrupt):
    pass
except SystemExit:
    time.sleep(1)  # lets the last messages through
