"""Computes the instants at which periodic work is due."""

import time

SECOND_NS = 1_000_000_000


def sleep_until(ns: int):
    """Sleeps until an instant of CLOCK_MONOTONIC."""
    while (left := ns - time.monotonic_ns()) > 0:
        time.sleep(left / SECOND_NS)


class Grid:
    """first + round(k * 1e9 / hz), ns of CLOCK_MONOTONIC, k = 0, 1, 2 ..."""

    def __init__(self, first_ns: int, hz: float):
        self.first_ns = first_ns
        self.hz = hz

    @staticmethod
    def of_phase(start_ns: int, phase: float, hz: float) -> "Grid":
        """`phase` in parts of the period."""
        return Grid(start_ns + round(phase * SECOND_NS / hz), hz)

    def due_ns(self, k: int) -> int:
        return self.first_ns + round(k * SECOND_NS / self.hz)

    def due_by(self, ns: int) -> int:
        """Returns how many are due at or before an instant."""
        if ns < self.first_ns:
            return 0
        k = int((ns - self.first_ns) * self.hz / SECOND_NS)
        while self.due_ns(k) <= ns:
            k += 1
        while k > 0 and self.due_ns(k - 1) > ns:
            k -= 1
        return k
