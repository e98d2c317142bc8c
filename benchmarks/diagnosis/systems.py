# SPDX-License-Identifier: Apache-2.0
"""Systems that the diagnosis benchmark runs: nodes with callbacks, made from a seed, healthy until a fault is planted in them."""

import random
from dataclasses import dataclass, field

MESSAGE_BYTES = 1024


@dataclass
class Stall:
    """What a callback does besides its work, in every `every`-th call, for `ms` milliseconds.

    `how`: `sleep` (blocks in a call), `compute` (on the CPU), `lock` (waits for a lock that another thread holds), `write` (waits for the disk), `fault`
    (waits for pages that the kernel took away)."""

    every: int
    ms: float
    how: str


@dataclass
class Callback:
    """A timer (`period_ms`), a subscription (`topic`) or a service (`service`), and what it does."""

    name: str
    period_ms: float | None = None
    phase_ms: float = 0.0  # of a timer, after the node's first callback was made
    topic: str | None = None
    service: str | None = None
    work_ms: float = 1.0
    publishes: str | None = None
    burst: int = 1  # messages that it publishes at once
    # Topics of this node whose latest message goes into what this callback publishes; without it, their callbacks keep their message.
    uses: list[str] = field(default_factory=list)
    calls: str | None = None  # service that it calls and waits for
    group: str = "default"
    stall: Stall | None = None


@dataclass
class Node:
    """A process of its own with one executor of `threads` threads."""

    name: str
    callbacks: list[Callback]
    threads: int = 1
    cpus: str | None = None  # as taskset has them
    start_after_s: float = 0.0
    dies_after_s: float | None = None  # it is killed then
    polls_ms: float | None = None  # it sleeps so long between two looks at its executor

    def callback(self, name: str) -> Callback:
        return next(callback for callback in self.callbacks if callback.name == name)


@dataclass
class System:
    """Nodes in the order of the chain from sensor to actuator, then others."""

    nodes: list[Node]
    duration_s: float = 12.0
    depth: dict[str, int] = field(default_factory=dict)  # of queues, by topic; 10 otherwise
    best_effort: set[str] = field(default_factory=set)  # publishers of these topics
    latched: set[str] = field(default_factory=set)  # subscriptions of these topics ask for transient local
    bytes: dict[str, int] = field(default_factory=dict)  # of messages, by topic; MESSAGE_BYTES otherwise
    burners: list[str] = field(
        default_factory=list
    )  # what a program that computes is started with, one beside the system each
    simulated: set[str] = field(default_factory=set)  # nodes whose timers follow /clock
    stamped: bool = True  # whether outputs carry the stamp of the sensor's message
    # Of systems on tacho's own nodes: nodes on hosts of their own, each with the rate of its link, and the middleware.
    link_of: dict[str, str] = field(default_factory=dict)
    middleware: str = "ros2"

    def node(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)


SENSORS = [("camera", "image"), ("lidar", "points"), ("radar", "targets")]
STAGES = [
    ("filter", "filtered"),
    ("detector", "objects"),
    ("tracker", "tracks"),
    ("localiser", "pose"),
    ("predictor", "paths"),
]


def healthy(seed: int) -> System:
    """A chain of four to six nodes: a sensor, one to three stages that work on arrival, a planner on a timer that keeps its input, an actuator;
    nodes have callbacks beside the chain's, light enough to disturb nobody."""
    draw = random.Random(seed)
    sensor, topic = draw.choice(SENSORS)
    rate_ms = draw.choice([20, 25, 40, 50])
    nodes = [Node(sensor, [Callback("capture", period_ms=rate_ms, work_ms=draw.uniform(0.3, 1.5), publishes=topic)])]
    for name, output in draw.sample(STAGES, draw.randint(1, 3)):
        nodes.append(
            Node(name, [Callback(f"on_{topic}", topic=topic, work_ms=draw.uniform(0.5, 3.0), publishes=output)])
        )
        topic = output
    planner = Node(
        "planner",
        [
            Callback(f"on_{topic}", topic=topic, work_ms=0.1),
            Callback(
                "plan",
                period_ms=draw.choice([50, 100]),
                work_ms=draw.uniform(1.0, 4.0),
                publishes="trajectory",
                uses=[topic],
            ),
        ],
    )
    actuator = Node("controller", [Callback("on_trajectory", topic="trajectory", work_ms=draw.uniform(0.2, 1.0))])
    nodes += [planner, actuator]
    for node in draw.sample(nodes[1:], 2):
        node.callbacks.append(Callback("publish_diagnostics", period_ms=1000, work_ms=0.5))
    stamped = draw.random() < 0.5
    return System(nodes, stamped=stamped, middleware=draw.choice(["ros2", "fastdds", "cyclonedds"]))
