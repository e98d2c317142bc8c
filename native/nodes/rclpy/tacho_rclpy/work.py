"""Computation of a callback: burns CPU time of the calling thread in Python, so it holds the interpreter as Python
code does."""

import threading
import time

from tacho_rclpy.draws import Draws


def _ns(duration: dict) -> int:
    return duration["secs"] * 1_000_000_000 + duration["nanos"]


class Work:
    """The CPU time of one activation, drawn by seed. `of` is a workload's `work`, as the model serialises it. That of a
    task is its own."""

    def __init__(self, of: str | dict, seed: int):
        self._draws = Draws(seed)
        self._one_at_a_time = threading.Lock()  # callbacks of several threads draw
        kind, value = ("none", None) if of == "none" or "task" in of else next(iter(of.items()))
        self.draw_ns = {"none": self._none, "fixed": self._fixed, "uniform": self._uniform, "normal": self._normal}[
            kind
        ]
        if kind == "fixed":
            self._fixed_ns = _ns(value)
        elif kind == "uniform":
            self._bounds = (_ns(value["min"]), _ns(value["max"]))
        elif kind == "normal":
            self._mean, self._std = _ns(value["mean"]), _ns(value["std"])

    def _none(self) -> int:
        return 0

    def _fixed(self) -> int:
        return self._fixed_ns

    def _uniform(self) -> int:
        return self._draws.uniform_ns(*self._bounds)

    def _normal(self) -> int:
        return self._draws.normal_ns(self._mean, self._std)

    def compute(self):
        """Computes until the thread has used as much CPU time as one activation takes."""
        with self._one_at_a_time:
            ns = self.draw_ns()
        if ns == 0:
            return
        clock = time.thread_time_ns
        end = clock() + ns
        while clock() < end:
            pass
