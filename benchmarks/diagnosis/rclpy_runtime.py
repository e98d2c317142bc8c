# SPDX-License-Identifier: Apache-2.0
"""What the nodes that rclpy_programs.py writes stand on."""

import mmap
import os
import tempfile
import threading
import time

import rclpy
from builtin_interfaces.msg import Time
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image

LOCK = threading.Lock()


def compute(ms):
    """Uses so much CPU time of its thread."""
    until = time.thread_time_ns() + int(ms * 1e6)
    while time.thread_time_ns() < until:
        pass


def write(ms):
    """Writes to the disk and waits for it, again and again for so long."""
    until = time.monotonic_ns() + int(ms * 1e6)
    with tempfile.NamedTemporaryFile(dir=".") as file:
        while time.monotonic_ns() < until:
            os.pwrite(file.fileno(), bytes(4096), 0)
            os.fsync(file.fileno())


PAGEOUT = 21  # MADV_PAGEOUT, which Python 3.11 does not name
EVICTED_PAGES = 256


def read_evicted(ms):
    """Reads memory whose pages the kernel takes away each time, as it does where memory is short, again and again for so long."""
    until = time.monotonic_ns() + int(ms * 1e6)
    with tempfile.TemporaryFile(dir=".") as file:
        file.write(os.urandom(EVICTED_PAGES * mmap.PAGESIZE))
        file.flush()
        os.fsync(file.fileno())
        with mmap.mmap(file.fileno(), 0) as memory:
            memory.madvise(mmap.MADV_RANDOM)
            while time.monotonic_ns() < until:
                memory.madvise(PAGEOUT)
                for page in range(EVICTED_PAGES):
                    memory[page * mmap.PAGESIZE]


def wait_for_lock(ms):
    """Waits for a lock that another thread of this process holds for so long."""
    held = threading.Event()

    def hold():
        with LOCK:
            held.set()
            time.sleep(ms / 1e3)

    threading.Thread(target=hold).start()
    held.wait()
    with LOCK:
        pass


def block(ms):
    time.sleep(ms / 1e3)


class MeasuredNode(Node):
    """A node whose callbacks are made by name, in groups of their own name."""

    def __init__(self, name, simulated=False):
        super().__init__(name, parameter_overrides=[Parameter("use_sim_time", value=simulated)])
        self.kept, self.groups, self.counts = {}, {}, {}

    def group(self, name):
        return self.groups.setdefault(name, MutuallyExclusiveCallbackGroup())

    def every(self, ms, phase_ms, callback, group):
        time.sleep(phase_ms / 1e3)
        self.create_timer(ms / 1e3, callback, callback_group=self.group(group))

    def takes(self, topic, callback, depth, latched, group):
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        qos = QoSProfile(depth=depth, durability=durability)
        self.create_subscription(Image, topic, callback, qos, callback_group=self.group(group))

    def gives(self, topic, reliable):
        reliability = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        of = Clock if topic == "clock" else Image
        return self.create_publisher(of, topic, QoSProfile(depth=10, reliability=reliability))

    def serves(self, service, callback, group):
        self.create_service(GetParameters, service, callback, callback_group=self.group(group))

    def client(self, service):
        made = self.create_client(GetParameters, service, callback_group=self.group(f"client of {service}"))
        made.wait_for_service()
        return made

    def each(self, name, every):
        """Whether this is the `every`-th call of this name."""
        self.counts[name] = self.counts.get(name, 0) + 1
        return self.counts[name] % every == 0


def clock():
    seconds, ns = divmod(time.time_ns(), 1_000_000_000)
    return Clock(clock=Time(sec=seconds, nanosec=ns))


def image(size, stamp=None):
    made = Image(data=bytes(size))
    if stamp is not None:
        made.header.stamp = stamp
    return made


def spin(make, threads, polls_ms=None):
    rclpy.init()
    node = make()
    executor = SingleThreadedExecutor() if threads == 1 else MultiThreadedExecutor(threads)
    executor.add_node(node)
    try:
        while polls_ms:
            executor.spin_once(timeout_sec=0)
            time.sleep(polls_ms / 1e3)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        # Fast DDS 3.2 may wait for ever, computing, when it takes down a participant (DomainParticipant::set_listener).
        os._exit(0)
