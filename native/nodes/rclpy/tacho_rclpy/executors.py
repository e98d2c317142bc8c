"""Makes the executors of rclpy by the names that a workload gives them as its transport."""

import os

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.experimental.events_executor import EventsExecutor

from tacho_rclpy.refused import Refused

SINGLE, MULTI, EVENTS = "single-threaded", "multi-threaded", "events"
TRANSPORTS = (SINGLE, MULTI, EVENTS)
"""Default first."""


def chosen(transport: str) -> str:
    """Makes the executor asked for; "" is the default."""
    name = transport or TRANSPORTS[0]
    if name not in TRANSPORTS:
        expected = ", ".join(f'"{t}"' for t in TRANSPORTS)
        raise Refused(f'rclpy: transport "{name}" is not known; expected an executor: {expected}')
    return name


def make(name: str, cpus: list[int]) -> Executor:
    """One executor. A multi-threaded one has as many threads as rclpy would give it on these CPUs, and at least two."""
    if name == MULTI:
        return MultiThreadedExecutor(max(2, len(cpus) or len(os.sched_getaffinity(0))))
    return EventsExecutor() if name == EVENTS else SingleThreadedExecutor()


def spin_until(executor: Executor, over) -> None:
    """Spins on the calling thread until the future is done. Without a timeout, the events executor of rclpy 9.1 on
    the Python index never wakes, because its deadline overflows. With a timeout, the other two executors would pay
    for a timer at every wake."""
    if isinstance(executor, Executor):
        executor.spin_until_future_complete(over)
    while not over.done():
        executor.spin_until_future_complete(over, timeout_sec=3600.0)


def group_of(name: str) -> MutuallyExclusiveCallbackGroup | None:
    """Returns the callback group of one subscription or timer. With several threads each has a group of its own.
    Otherwise no callbacks would run in parallel, because the default group of a node is mutually exclusive."""
    return MutuallyExclusiveCallbackGroup() if name == MULTI else None


class OnceAWake(MutuallyExclusiveCallbackGroup):
    """Lets each subscription of a spinning node run at most once between two calls of `wake` (study E)."""

    def __init__(self):
        super().__init__()
        self._served = set()

    def wake(self):
        self._served.clear()

    def served(self) -> int:
        """Subscriptions that have run since."""
        return len(self._served)

    def can_execute(self, entity) -> bool:
        return entity not in self._served and super().can_execute(entity)

    def beginning_execution(self, entity) -> bool:
        begins = super().beginning_execution(entity)
        if begins:
            self._served.add(entity)
        return begins
