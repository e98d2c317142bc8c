"""rclpy's executors by the names in the arguments of the programs here."""

import sys

from patience import LIMIT_S
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor


def spin_until(done, executor_name, nodes):
    """Spins nodes until the future is done. executor_name: single, multi, events."""
    if executor_name == "events":
        from rclpy.experimental.events_executor import EventsExecutor

        executor = EventsExecutor()
    else:
        executor = MultiThreadedExecutor(4) if executor_name == "multi" else SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
    # Without a timeout the events executor of rclpy 9.1 on the Python index never wakes (its deadline overflows).
    executor.spin_until_future_complete(done, timeout_sec=LIMIT_S)
    if not done.done():
        sys.exit(f"{sys.argv[0]}: not done within {LIMIT_S} s")
    executor.shutdown()
    if executor_name == "multi":
        # Up to Jazzy's rclpy, shutdown returns while callbacks are under way on the executor's threads: what they note would come too late.
        executor._executor.shutdown(wait=True)
