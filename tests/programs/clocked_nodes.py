"""rclpy nodes whose callbacks note the clock at their first and last line: `timer -> /first -> relay -> /second -> sink`.

usage: clocked_nodes.py EXECUTOR COUNT NODE... [-]    EXECUTOR: single, multi, events; NODE: source, relay, sink, caller, server

Ends when its nodes have done COUNT of what they do, and prints for each callback "<name> <start_ns> <end_ns>" (CLOCK_MONOTONIC).
With `-` its nodes stay until standard input has ended, and that is printed too: of nodes of two processes, piped, none goes before the other
process has heard what it published, and no line of the one is written into a line of the other.
`caller` calls the service of `server` from a timer, and awaits the response in a coroutine.
"""

import functools
import sys
import time

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from spinning import spin_until
from std_msgs.msg import String

# The sink may be of another process, and come later than the first message.
KEPT = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
executor_name, count, names = sys.argv[1], int(sys.argv[2]), [name for name in sys.argv[3:] if name != "-"]
told = []
done = rclpy.task.Future()
left = set(names)


def clocked(callback):
    @functools.wraps(callback)
    def wrapper(self, *arguments):
        start_ns = time.monotonic_ns()
        try:
            return callback(self, *arguments)
        finally:
            told.append((callback.__name__, start_ns, time.monotonic_ns()))

    return wrapper


class Counted(Node):
    """A node that has done its part after `count` calls."""

    def __init__(self, name):
        super().__init__(name)
        self.calls = 0

    def called(self):
        self.calls += 1
        if self.calls == count:
            left.discard(self.get_name())
            if not left and not done.done():
                done.set_result(None)


class Source(Counted):
    def __init__(self):
        super().__init__("source")
        self.publisher = self.create_publisher(String, "/first", 50)
        self.create_timer(0.02, self.on_timer)

    @clocked
    def on_timer(self):
        if self.publisher.get_subscription_count() and self.calls < count:
            start_ns = time.monotonic_ns()
            time.sleep(0.001)
            self.publisher.publish(String(data=str(self.calls)))
            self.called()
            # Before and after there are calls that publish nothing.
            told.append(("on_timer_publishing", start_ns, time.monotonic_ns()))


class Relay(Counted):
    def __init__(self):
        super().__init__("relay")
        self.publisher = self.create_publisher(String, "/second", KEPT)
        self.create_subscription(String, "/first", self.on_first, 50)

    @clocked
    def on_first(self, message):
        time.sleep(0.002)
        self.publisher.publish(message)
        self.called()


class Sink(Counted):
    def __init__(self):
        super().__init__("sink")
        self.create_subscription(String, "/second", self.on_second, KEPT)

    @clocked
    def on_second(self, message):
        self.called()


class Server(Counted):
    def __init__(self):
        super().__init__("server")
        self.create_service(GetParameters, "/ask", self.on_request)

    @clocked
    def on_request(self, request, response):
        time.sleep(0.002)
        self.called()
        return response


class Caller(Counted):
    def __init__(self):
        super().__init__("caller")
        # In the timer's own group the response would wait for the timer's callback, and that for the response.
        self.asking = self.create_client(GetParameters, "/ask", callback_group=MutuallyExclusiveCallbackGroup())
        self.answers = self.create_publisher(String, "/answers", 50)
        self.create_timer(0.02, self.on_timer)

    async def on_timer(self):
        if self.calls == count or not self.asking.service_is_ready():
            return
        start_ns = time.monotonic_ns()
        time.sleep(0.001)
        future = self.asking.call_async(GetParameters.Request())
        told.append(("on_timer part 0", start_ns, time.monotonic_ns()))
        await future
        start_ns = time.monotonic_ns()
        self.answers.publish(String())
        self.called()
        told.append(("on_timer part 1", start_ns, time.monotonic_ns()))


rclpy.init()
kinds = {"source": Source, "relay": Relay, "sink": Sink, "server": Server, "caller": Caller}
nodes = [kinds[name]() for name in names]
spin_until(done, executor_name, nodes)
for name, start_ns, end_ns in told:
    print(name, start_ns, end_ns, flush=True)
if sys.argv[-1] == "-":
    sys.stdout.write(sys.stdin.read())
for node in nodes:
    node.destroy_node()
rclpy.try_shutdown()
