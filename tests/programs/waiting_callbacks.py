"""A node whose callbacks wait, each in a system call of its own: a sleep, a lock that another thread holds, a pipe that is written later.

usage: waiting_callbacks.py COUNT

Ends after COUNT of each. Prints for each callback "<function> <wall_ns>", by CLOCK_MONOTONIC read at its first and last line.
"""

import os
import sys
import threading
import time

import rclpy
from rclpy.node import Node

WAIT_S = 0.01
lock, asked = threading.Lock(), threading.Event()
reader, writer = os.pipe()


def hold():
    while True:
        with lock:
            time.sleep(WAIT_S)
        time.sleep(WAIT_S / 10)


def answer():
    while True:
        asked.wait()
        asked.clear()
        time.sleep(WAIT_S)
        os.write(writer, b"x")


class Waiter(Node):
    def __init__(self, count):
        super().__init__("waiter")
        callbacks = (self.sleeps, self.locks, self.reads)
        self.left = {callback.__name__: count for callback in callbacks}
        for callback in callbacks:
            self.create_timer(0.05, callback)

    def tell(self, function, start_ns):
        print(function, time.monotonic_ns() - start_ns, flush=True)
        self.left[function] -= 1
        if max(self.left.values()) <= 0:
            os._exit(0)  # the other threads wait for ever

    def sleeps(self):
        start_ns = time.monotonic_ns()
        time.sleep(WAIT_S)
        self.tell("sleeps", start_ns)

    def locks(self):
        start_ns = time.monotonic_ns()
        with lock:
            pass
        self.tell("locks", start_ns)

    def reads(self):
        start_ns = time.monotonic_ns()
        asked.set()
        os.read(reader, 1)
        self.tell("reads", start_ns)


for thread in (hold, answer):
    threading.Thread(target=thread, daemon=True).start()
rclpy.init()
rclpy.spin(Waiter(int(sys.argv[1])))
