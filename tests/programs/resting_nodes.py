"""rclpy nodes of which one sleeps inside a callback, and computes in two timers of one period: `sensor -> /scans -> worker -> /plan -> driver`.

usage: resting_nodes.py COUNT

Ends when COUNT plans have arrived. Prints for each callback "<function> <wall_ns> <cpu_ns>", by CLOCK_MONOTONIC and CLOCK_THREAD_CPUTIME_ID read
at its first and last line.
"""

import functools
import sys
import time

import rclpy
from rclpy.node import Node
from spinning import spin_until
from std_msgs.msg import String

SLEEP_S, WORK_NS = 0.05, 5_000_000
count = int(sys.argv[1])
done = rclpy.task.Future()
told = []


def clocked(callback):
    @functools.wraps(callback)
    def wrapper(self, *arguments):
        start_ns, start_cpu_ns = time.monotonic_ns(), time.thread_time_ns()
        try:
            return callback(self, *arguments)
        finally:
            told.append((callback.__name__, time.monotonic_ns() - start_ns, time.thread_time_ns() - start_cpu_ns))

    return wrapper


def work(cpu_ns):
    until_ns = time.thread_time_ns() + cpu_ns
    while time.thread_time_ns() < until_ns:
        pass


class Sensor(Node):
    def __init__(self):
        super().__init__("sensor")
        self.publisher = self.create_publisher(String, "/scans", 10)
        self.create_timer(0.2, self.scan)

    def scan(self):
        if self.publisher.get_subscription_count():
            self.publisher.publish(String(data="scan"))


class Worker(Node):
    def __init__(self):
        super().__init__("worker")
        self.publisher = self.create_publisher(String, "/plan", 10)
        self.create_subscription(String, "/scans", self.on_scan, 10)
        self.create_timer(0.1, self.reload_map)
        self.create_timer(0.1, self.write_log)

    @clocked
    def on_scan(self, message):
        time.sleep(SLEEP_S)
        work(WORK_NS)
        self.publisher.publish(message)

    @clocked
    def reload_map(self):
        work(WORK_NS)

    @clocked
    def write_log(self):
        work(WORK_NS // 10)


class Driver(Node):
    def __init__(self):
        super().__init__("driver")
        self.create_subscription(String, "/plan", self.on_plan, 10)
        self.plans = 0

    def on_plan(self, message):
        self.plans += 1
        if self.plans == count and not done.done():
            done.set_result(None)


rclpy.init()
spin_until(done, "single", [Sensor(), Worker(), Driver()])
print("\n".join(f"{name} {wall_ns} {cpu_ns}" for name, wall_ns, cpu_ns in told))
