"""A node: its entities, its callbacks, and how it runs."""

import os
import threading
import time
from collections.abc import Callable

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future

from tacho_rclpy import executors, messages, spinning, trace
from tacho_rclpy.clock_log import ClockLog
from tacho_rclpy.instant import SECOND_NS, Grid, sleep_until
from tacho_rclpy.refused import Refused, TaskFailed
from tacho_rclpy.scheduling import schedule
from tacho_rclpy.work import Work

NO_CODE = 1
"""The code of a refused send, because rclpy gives only a text."""
_MOST_READINGS = 10
"""How often a timer and a clock are read at most until both readings fit together."""


def _qos(asked: dict) -> QoSProfile:
    return QoSProfile(
        reliability=ReliabilityPolicy.RELIABLE if asked["reliable"] else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if asked["transient_local"] else DurabilityPolicy.VOLATILE,
        history=HistoryPolicy.KEEP_ALL if asked["keep_all"] else HistoryPolicy.KEEP_LAST,
        depth=asked["depth"],
    )


def _type(topic: str, name: str, size: int, exact: bool):
    found = messages.type_of(name, size)
    if found is None:
        raise Refused(
            f'rclpy: {topic}: message type "{name}" is not known; expected one of {", ".join(messages.TYPES)}'
        )
    if exact and found.only_size not in (None, size):
        raise Refused(f"rclpy: {topic}: {found.name} carries {found.only_size} bytes of data, not {size}")
    return found


class Publication:
    """A publisher with one message, which it fills once and publishes again and again."""

    def __init__(self, node: "BenchNode", number: int, of: dict, output: dict):
        self.number = number
        self.topic, self.rate_hz, self.size = of["topic"], of["rate_hz"], of["size_bytes"]
        self.id, self.expected = output["publisher_id"], output["subscribers"]
        self.type = _type(self.topic, of["message_type"], self.size, exact=True)
        self.publisher = node.ros.create_publisher(self.type.ros_type, self.topic, _qos(of["qos"]))
        self.handle = self.publisher.handle.pointer
        self.message = self.type.make(os.urandom(self.size))  # not by seed, which determines only the work
        self.sent = 0
        self.refused = 0
        self.withheld = 0
        """Activations of a timer in which its task published nothing, so nothing was due."""
        self.reason = ""
        """The text of the first refusal."""
        self.skipped: int | None = None
        self._one_at_a_time = threading.Lock()  # callbacks of several threads may publish it

    def publish(self, due_ns: int | None = None):
        """Publishes the next message; `due_ns`, if given, is when it was due by the clock."""
        with self._one_at_a_time:
            message, of_type = self.message, self.type
            sequence = self.sent + self.refused  # a refused message keeps its number
            if due_ns is not None:
                trace.due(self.handle, sequence, due_ns)
            room = of_type.room(message)
            trace.publishing(self.handle, self.id, sequence, self.size, room)
            of_type.stamped(message, room)
            try:
                self.publisher.publish(message)
                self.sent += 1
            except rclpy_implementation.RCLError as error:
                self.reason = self.reason or str(error)
                self.refused += 1
                trace.refused(self.handle, sequence, NO_CODE, self.reason)

    def figures(self) -> dict:
        """Returns what it counted."""
        skipped = {} if self.skipped is None else {"skipped": self.skipped}
        refused = {"refused": [{"code": NO_CODE, "reason": self.reason, "count": self.refused}]} if self.refused else {}
        return {"topic": self.topic, "sent": self.sent} | skipped | refused

    def skip(self, count: int):
        """Counts sends that were due and did not happen."""
        self.skipped = (self.skipped or 0) + count
        if count > 0:
            trace.skipped(self.handle, count)


class Subscription:
    """A subscription and its callback."""

    def __init__(self, node: "BenchNode", number: int, of: dict, plan: dict, latest: bool, group):
        self.topic, self.latest, self.expected = of["topic"], latest, plan["publishers"]
        self.node, self.number, self.taken = node, number, 0
        self.first_message_ns: int | None = None
        self.type = _type(self.topic, plan["message_type"], plan["size_bytes"], exact=False)
        self.subscription = node.ros.create_subscription(
            self.type.ros_type, self.topic, self.on_message, _qos(of["qos"]), callback_group=group
        )
        self.handle = self.subscription.handle.pointer
        self.callback = trace.subscription(self.handle, f"/{node.name} on {self.topic}")

    def on_message(self, message):
        if self.node.failure:
            return
        start_ns = time.monotonic_ns() if self.node.log or not self.taken else 0
        publisher, sequence, stamp_ns = trace.received(self.handle, self.callback, self.type.header(message))
        if not self.taken:
            self.first_message_ns = start_ns
        self.taken += 1
        if not self.latest:
            self.node.activate([(publication, None) for publication in self.node.answers], self.number, message)
        elif self.node.task:
            self.node.task.hear(self.number, self.type.whole(message))
        if log := self.node.log:
            log.message(publisher, sequence, stamp_ns, start_ns)
            log.callback("subscription", self.number, start_ns, time.monotonic_ns())
        trace.ended(self.callback)
        if stamp_ns < self.node.stop_ns:
            self.node.heard_ns = time.monotonic_ns()


class Timer:
    """A timer of rcl, on the steady clock, and its callback, which computes and publishes.

    rcl calls a timer that is late once, and leaves out the periods that went by: those are the sends skipped (study A).
    """

    _clock = Clock(clock_type=ClockType.STEADY_TIME)

    def __init__(self, node: "BenchNode", number: int, hz: float, what: str, publications: list[Publication], group):
        self.node, self.number, self.hz, self.publications = node, number, hz, publications
        self.period_ns = round(SECOND_NS / hz)
        self.calls = 0
        self._reached = 0  # due times before the next one
        self._next_due_ns = 0  # on the timer's clock
        self._timer = node.ros.create_timer(
            1 / hz, self.on_time, callback_group=group, clock=self._clock, autostart=False
        )
        self.callback = trace.timer(self._timer.handle.pointer, node.handle, self.period_ns, f"/{node.name} {what}")

    def start(self, grid: Grid):
        """Makes the timer due at the instants of the grid."""
        now = time.monotonic_ns()
        self._reached = grid.due_by(now)  # this process was started too late for these
        self._skip(self._reached)
        # Reset sets the next call one period ahead; the period from then on is set after it.
        self._timer.timer_period_ns = max(1, grid.due_ns(self._reached) - now)
        self._timer.reset()
        self._timer.timer_period_ns = self.period_ns
        self._next_due_ns = self._due_ns()

    def _due_ns(self) -> int:
        """Returns when the next call is due, on the timer's clock."""
        return self._due_on(lambda: self._clock.now().nanoseconds)

    def _due_on(self, now_ns: Callable[[], int]) -> int:
        """Returns when the next call is due, on a clock.

        The clock and the time left are read one after the other. If the thread lost its CPU in between, they do not fit
        together, and are read again.
        """
        readings = []
        for _ in range(_MOST_READINGS):
            before_ns, left_ns = now_ns(), self._timer.time_until_next_call()
            readings.append((now_ns() - before_ns, before_ns + left_ns))
            if readings[-1][0] < self.period_ns // 4:
                break
        return min(readings)[1]

    def on_time(self):
        start_ns = time.monotonic_ns()
        if start_ns >= self.node.end_ns or self.node.failure:
            return  # end() counts the sends that were due before
        trace.started(self.callback)
        due_ns = self._due_ns()
        advanced = round((due_ns - self._next_due_ns) / self.period_ns)
        self._reached, self._next_due_ns = self._reached + advanced, due_ns
        self._skip(advanced - 1)
        self.calls += 1
        last_due_ns = self._due_on(time.monotonic_ns) - self.period_ns
        self.node.activate([(publication, last_due_ns) for publication in self.publications])
        if log := self.node.log:
            log.callback("timer", self.number, start_ns, time.monotonic_ns())
        trace.ended(self.callback)

    def _skip(self, count: int):
        for publication in self.publications:
            publication.skip(max(0, count))

    def end(self):
        """Counts the due times up to the end of the node that were not served."""
        due_ns = self._due_ns()
        reached = self._reached + round((due_ns - self._next_due_ns) / self.period_ns)
        next_due_ns = self._due_on(time.monotonic_ns)
        self._timer.cancel()
        due = reached - (next_due_ns - self.node.end_ns) // self.period_ns
        for publication in self.publications:
            done = publication.sent + publication.refused + publication.withheld + (publication.skipped or 0)
            publication.skip(max(0, due - done))


class BenchNode:
    """A node of a workload on an executor of its own."""

    def __init__(self, plan: dict, executor: str, clock: bool, libraries: str):
        of = plan["node"]
        self.plan, self.name = plan, of["name"]
        kind, value = (of["executor"], {}) if of["executor"] == "arrival" else next(iter(of["executor"].items()))
        self.spin_hz = value["hz"] if kind == "spin" else None
        if self.spin_hz and executor != executors.SINGLE:
            raise Refused(
                f'rclpy: node {self.name}: spin on "{executor}"; expected "{executors.SINGLE}": spin_once of the others '
                "does not take one message of a queue and return"
            )
        self.log = ClockLog() if clock else None
        self.work = Work(of["work"], plan["seed"])
        self.ros = Node(
            self.name,
            # Services and topics that no workload names would be further traffic.
            enable_rosout=False,
            start_parameter_services=False,
            parameter_overrides=[Parameter("start_type_description_service", value=False)],
        )
        self.handle = self.ros.handle.pointer
        self.once_a_wake = executors.OnceAWake() if self.spin_hz else None
        on_timer = kind == "timer"
        self.task = None
        if plan.get("task_library"):
            # Other nodes need no ctypes, whose import would be part of their start-up.
            from tacho_rclpy.tasks import Task

            self.task = Task(plan, libraries, self.handle)
        self.failure = ""
        """Why its task failed."""

        def group():
            # A task runs on one thread at a time: then all callbacks are in the default group, which is exclusive.
            return self.once_a_wake or (None if self.task else executors.group_of(executor))

        inputs = enumerate(zip(of["subscribes"], plan["inputs"], strict=True))
        self.subscriptions = [
            Subscription(self, i, s, of_it, s["latest"] or on_timer, group()) for i, (s, of_it) in inputs
        ]
        outputs = enumerate(zip(of["publishes"], plan["outputs"], strict=True))
        self.publications = [Publication(self, i, p, o) for i, (p, o) in outputs]
        self.answers = [p for p in self.publications if p.rate_hz is None]
        """Publications of the callbacks of messages."""
        self.timers: list[Timer] = []
        if on_timer:
            self.timers = [Timer(self, 0, value["hz"], "timer", self.publications, group())]
        elif not self.spin_hz:
            timed = [p for p in self.publications if p.rate_hz is not None]
            self.timers = [Timer(self, i, p.rate_hz, f"publish {p.topic}", [p], group()) for i, p in enumerate(timed)]
        self.spinner = spinning.Spinner(self) if self.spin_hz else None
        self.executor = executors.make(executor, plan["cpus"])
        self.executor.add_node(self.ros)
        self.end_ns = 2**63
        """On CLOCK_MONOTONIC; from here on no timer sends."""
        self.stop_ns = 2**63
        """When sources end."""
        self.heard_ns = 0
        """Whether a message came that was sent before `stop_ns`."""
        self.over = Future()

    def activate(self, due: list[tuple[Publication, int | None]], number: int = 0, message=None):
        """Does the work of a callback, which took this message of this subscription, and then publishes on each of
        `due`, with when it was due by the clock; of a task what it filled in."""
        if not self.task:
            self.work.compute()
            for publication, due_ns in due:
                publication.publish(due_ns)
            return
        lent = None if message is None else (number, self.subscriptions[number].type.whole(message))
        wholes = [None] * len(self.publications)
        for publication, _ in due:
            wholes[publication.number] = publication.type.whole(publication.message)
        try:
            is_published = self.task.run(lent, wholes)
        except TaskFailed as error:
            self.failure = f"node {self.name}: {error}"
            self.end()
            return
        for publication, due_ns in due:
            if is_published[publication.number]:
                publication.type.filled(publication.message, wholes[publication.number])
                publication.publish(due_ns)
            else:
                publication.withheld += due_ns is not None

    def unmatched(self) -> dict | None:
        """Returns the first endpoint that lacks peers."""
        counts = [(s.topic, s.subscription.get_publisher_count(), s.expected) for s in self.subscriptions]
        counts += [(p.topic, p.publisher.get_subscription_count(), p.expected) for p in self.publications]
        for topic, found, expected in counts:
            if found < expected:
                return {"node": self.name, "topic": topic, "found": found, "expected": expected}
        return None

    def end_at(self, ns: int):
        """Sets the end, or brings it forward."""
        self.end_ns = min(self.end_ns, ns)

    def end(self):
        """Called by another thread at `end_ns`, or when its task failed."""
        if not self.over.done():
            self.over.set_result(None)

    def run(self, start_ns: int) -> dict:
        """Runs on the calling thread from `start_ns` to `end_ns`, and then returns the node's report."""
        schedule(self.plan)
        if self.spinner:
            sleep_until(min(start_ns, self.end_ns))
            cpu_before = time.thread_time_ns()
            self.spinner.run(start_ns, self.plan["phase"])
        else:
            cpu_before = time.thread_time_ns()
            for timer in self.timers:
                timer.start(Grid.of_phase(start_ns, self.plan["phase"], timer.hz))
            executors.spin_until(self.executor, self.over)
            for timer in [] if self.failure else self.timers:
                timer.end()
        cpu_ns = time.thread_time_ns() - cpu_before + self._cpu_of_workers()
        figures = {
            "node": self.name,
            "cpu_ns": cpu_ns,
            "wakes": self.spinner.wakes if self.spinner else 0,
            "callbacks": sum(s.taken for s in self.subscriptions)
            + sum(t.calls for t in self.timers)
            + (self.spinner.calls if self.spinner else 0),
            "outputs": [p.figures() for p in self.publications],
            "taken": [s.taken for s in self.subscriptions],
        }
        if self.task:
            figures["task"] = self.task.figures()
        firsts = [s.first_message_ns for s in self.subscriptions if s.first_message_ns is not None]
        return figures | ({"first_message_ns": min(firsts)} if firsts else {})

    def _cpu_of_workers(self) -> int:
        """Returns the CPU time of the threads of a multi-threaded executor, which run only this node."""
        pool = getattr(self.executor, "_executor", None)
        return sum(time.clock_gettime_ns(time.pthread_getcpuclockid(t.ident)) for t in pool._threads) if pool else 0

    def write_clock(self, folder: str | None):
        """Writes the in-node clock, if there is one."""
        if self.log and folder:
            self.log.write(folder, self.name)

    def destroy(self):
        self.executor.shutdown()
        if self.task:
            self.task.destroy()
        self.ros.destroy_node()
