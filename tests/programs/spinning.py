"""rclpy's executors by the names that the programs here are told."""

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
    while not done.done():
        executor.spin_until_future_complete(done, timeout_sec=3600.0)
    executor.shutdown()
