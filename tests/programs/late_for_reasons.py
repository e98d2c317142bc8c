"""Messages that are late for reasons which the programs tell themselves, by their own clocks: each line printed is an instant of
CLOCK_MONOTONIC in ns. `driver` publishes COUNT /points, and before every fourth one /log; `planner` has one executor for both, and computes over some
of the points; `sleeper` looks into its queue of one message now and then, until SIGINT; `burner` takes the CPU from a `planner` of the same CPU.

usage: late_for_reasons.py driver|planner|sleeper|burner COUNT [CPU]
"""

import os
import signal
import sys
import time

import rclpy
from patience import LIMIT_S, Patience
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

role, count = sys.argv[1], int(sys.argv[2])
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
    def __init__(self):
        super().__init__("driver")
        # As deep as there are messages: none is lost before the queue of the sleeper.
        self.points, self.log = (self.create_publisher(String, topic, count) for topic in ("points", "log"))
        self.sent = 0
        self.patience = Patience(lambda: f"{self.sent} of {count} points were sent")
        self.create_timer(PERIOD_S, self.tick)

    def tick(self):
        if self.points.get_subscription_count() < 2 or self.log.get_subscription_count() < 1:
            return
        if self.sent == count:
            acknowledged = all(
                publisher.wait_for_all_acked(Duration(seconds=LIMIT_S)) for publisher in (self.points, self.log)
            )
            sys.exit(None if acknowledged else "what was sent was not acknowledged")
        self.patience.came()
        if self.sent % 4 == 1:
            self.log.publish(String(data=str(self.sent)))
            time.sleep(BUSY_S / 4)  # the planner has begun with it when the points come
        tell("sent", self.sent, time.monotonic_ns())
        self.points.publish(String(data=str(self.sent)))
        self.sent += 1


class Planner(Node):
    def __init__(self):
        super().__init__("planner")
        self.create_subscription(String, "log", self.on_log, count)
        self.create_subscription(String, "points", self.on_points, count)
        self.patience = Patience(lambda: "not all points came")

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
        self.patience.came()
        if int(message.data) == count - 1:
            sys.exit()


class Sleeper(Node):
    def __init__(self):
        super().__init__("sleeper")
        self.create_subscription(String, "points", self.on_points, 1)

    def on_points(self, message):
        tell("seen", message.data, time.monotonic_ns())


if role != "driver" and len(sys.argv) > 3:
    os.sched_setaffinity(0, {int(sys.argv[3])})
if role == "burner":
    with open("/proc/self/comm", "w") as name:
        name.write("burner")
    while True:
        pass
rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
node = {"driver": Driver, "planner": Planner, "sleeper": Sleeper}[role]()
executor = SingleThreadedExecutor()
executor.add_node(node)
if role == "sleeper":
    ended = []
    signal.signal(signal.SIGINT, lambda *_: ended.append(True))
    while not ended:
        time.sleep(SLEEPS_S)
        tell("awake", time.monotonic_ns())
        executor.spin_once(timeout_sec=0)
else:
    executor.spin()
