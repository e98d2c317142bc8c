"""Computation of a callback: burns CPU time of the calling thread in Python, so it holds the interpreter as Python code does."""

import random
import time


def _ns(duration: dict) -> int:
    return duration["secs"] * 1_000_000_000 + duration["nanos"]


class Work:
    """CPU time of one activation, drawn by seed. `of` is a workload's `work`, as the model is serialised."""

    def __init__(self, of: str | dict, seed: int):
        self._random = random.Random(seed)
        kind, value = ("none", None) if of == "none" else next(iter(of.items()))
        self.draw_ns = {"none": self._none, "fixed": self._fixed, "uniform": self._uniform, "normal": self._normal}[kind]
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
        return int(self._random.uniform(*self._bounds))

    def _normal(self) -> int:
        """Cut at zero and at mean + 4 std."""
        return int(min(max(self._random.normalvariate(self._mean, self._std), 0), self._mean + 4 * self._std))

    def compute(self):
        """Computes until the thread has used as much CPU time as one activation takes."""
        ns = self.draw_ns()
        if ns == 0:
            return
        clock = time.thread_time_ns
        end = clock() + ns
        while clock() < end:
            pass

    def fill(self, size: int) -> bytes:
        """Random data."""
        return self._random.randbytes(size)
