# SPDX-License-Identifier: Apache-2.0
"""Faults, each planted into a healthy system with its truth: which callback, of which node, or which topic, is to be named, and as what."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from systems import Callback, Node, Stall, System


@dataclass(frozen=True)
class Truth:
    """What a diagnosis must name. `words`: any one of them says the kind of fault."""

    kind: str
    node: str
    culprit: str  # function, topic, or command
    words: tuple[str, ...]


def rare_block(system: System, draw: random.Random) -> Truth:
    """A callback that seldom blocks, beside the chain's on one executor."""
    node = draw.choice([node for node in system.nodes[1:] if node.name != "controller"])
    ms = draw.choice([120, 200, 300])
    node.callbacks.append(Callback("reload_map", period_ms=3000, work_ms=0.5, stall=Stall(1, ms, "sleep")))
    return Truth("rare-block", node.name, "reload_map", ("starved-callback", "executor busy"))


def slow_callback(system: System, draw: random.Random) -> Truth:
    """A stage of the chain whose work exceeds the interval of its messages."""
    node = stage(system, draw)
    period = system.nodes[0].callbacks[0].period_ms
    node.callbacks[0].work_ms = period * draw.uniform(1.2, 1.6)
    return Truth(
        "slow-callback", node.name, node.callbacks[0].name, ("callback-exceeds-period", "computation", "earlier calls")
    )


def blocked_service_call(system: System, draw: random.Random) -> Truth:
    """A stage of the chain waits for the answer of a slow service."""
    node = stage(system, draw)
    system.nodes.append(
        Node(
            "map_server",
            [Callback("look_up", service="look_up", work_ms=1.0, stall=Stall(5, draw.choice([80, 150]), "sleep"))],
        )
    )
    node.threads = 2
    node.callbacks[0].calls = "look_up"
    return Truth("blocked-service-call", "map_server", "look_up", ("service", "blocked", "call-blocks-executor"))


def mutual_exclusion(system: System, draw: random.Random) -> Truth:
    """Two threads, but the chain's callback shares a mutually exclusive group with a long one."""
    node = system.node("planner")
    node.threads = 2
    node.callbacks.append(
        Callback("rebuild_costs", period_ms=700, work_ms=0.5, stall=Stall(1, draw.choice([150, 250]), "sleep"))
    )
    return Truth("mutual-exclusion", "planner", "rebuild_costs", ("callback group", "group busy", "starved-callback"))


def thread_starvation(system: System, draw: random.Random) -> Truth:
    """Groups of their own, but long callbacks hold all threads of the executor."""
    node = system.node("planner")
    node.threads = 2
    for name in ("upload_log", "download_tiles"):
        node.callbacks.append(Callback(name, period_ms=1000, work_ms=0.5, group=name, stall=Stall(1, 300, "sleep")))
    for callback in node.callbacks[:2]:
        callback.group = callback.name
    return Truth(
        "thread-starvation",
        "planner",
        draw.choice(["upload_log", "download_tiles"]),
        ("executor busy", "starved-callback", "all threads of the executor"),
    )


def queue_too_short(system: System, draw: random.Random) -> Truth:
    """A queue of one message where the sensor sends several at once."""
    sensor, node = system.nodes[:2]
    sensor.callbacks[0].burst = draw.choice([3, 5])
    topic = node.callbacks[0].topic
    system.depth[topic] = 1
    return Truth("queue-too-short", node.name, topic, ("queue-too-short", "overwritten", "overwrote"))


def qos_mismatch(system: System, draw: random.Random) -> Truth:
    """A publisher offers best effort to a subscription that asks for reliable."""
    node = stage(system, draw)
    system.best_effort.add(node.callbacks[0].topic)
    return Truth("qos-mismatch", node.name, node.callbacks[0].topic, ("never-received", "qos"))


def cpu_clash(system: System, draw: random.Random) -> Truth:
    """A stage and a program that computes share one CPU."""
    node = busy_stage(system, draw)
    node.cpus = "1"
    system.burners.append("taskset -c 1")
    return Truth("cpu-clash", node.name, "burner", ("preempted", "off-cpu", "off the cpu", "kept from its CPU"))


def background_load(system: System, draw: random.Random) -> Truth:
    """Programs that compute on every CPU, beside a stage that needs more than its share then."""
    busy_stage(system, draw)
    system.burners += [""] * 6
    return Truth(
        "background-load", "", "burner", ("busy-machine", "preempted", "kept from its CPU", "other processes used")
    )


def real_time_preemption(system: System, draw: random.Random) -> Truth:
    """A real-time thread takes the CPU of a stage away."""
    node = stage(system, draw)
    node.cpus = "1"
    system.burners.append("taskset -c 1 chrt -f 40 pulse")
    return Truth("real-time-preemption", node.name, "burner", ("preempted", "kept from its CPU"))


def lock(system: System, draw: random.Random) -> Truth:
    """A stage waits for a lock that another thread of its process holds."""
    return stalling_stage("lock", "lock", system, draw)


def disk_stall(system: System, draw: random.Random) -> Truth:
    """A stage waits for the disk."""
    return stalling_stage("disk-stall", "write", system, draw)


def memory_pressure(system: System, draw: random.Random) -> Truth:
    """A stage reads memory whose pages the kernel took away, as a machine short of memory does."""
    return stalling_stage("memory-pressure", "fault", system, draw)


def slow_producer(system: System, draw: random.Random) -> Truth:
    """The sensor's own timer overruns its period."""
    node = system.nodes[0]
    node.callbacks[0].work_ms = node.callbacks[0].period_ms * draw.uniform(1.3, 2.0)
    return Truth(
        "slow-producer", node.name, node.callbacks[0].name, ("callback-exceeds-period", "publisher-behind", "timer")
    )


def stale_input(system: System, draw: random.Random) -> Truth:
    """The planner's input stops now and then, because its publisher blocks in a callback beside the chain's: the planner goes on with what it
    kept."""
    upstream = system.nodes[[node.name for node in system.nodes].index("planner") - 1]
    ms = draw.choice([600, 900])
    upstream.callbacks.append(Callback("upload", period_ms=2500, work_ms=0.5, stall=Stall(1, ms, "sleep")))
    return Truth("stale-input", upstream.name, "upload", ("executor busy", "starved-callback", "used again", "stale"))


def late_joiner(system: System, draw: random.Random) -> Truth:
    """A stage starts seconds after the others."""
    node = stage(system, draw)
    node.start_after_s = 4.0
    return Truth("late-joiner", node.name, node.callbacks[0].topic, ("it came late", "unmatched"))


def lock_step(system: System, draw: random.Random) -> Truth:
    """A long timer of the planner's period is due just before the planner's own, each time."""
    planner = system.node("planner")
    plan = planner.callback("plan")
    plan.phase_ms = 4.0
    work_ms = plan.period_ms * draw.uniform(0.4, 0.6)
    planner.callbacks.insert(0, Callback("draw_markers", period_ms=plan.period_ms, work_ms=work_ms))
    return Truth("lock-step", "planner", "draw_markers", ("phase", "timers-in-step", "executor busy"))


def dead_node(system: System, draw: random.Random) -> Truth:
    """A stage is killed in the middle of the run."""
    node = stage(system, draw)
    node.dies_after_s = draw.uniform(5.0, 8.0)
    return Truth("dead-node", node.name, node.callbacks[0].topic, ("killed", "ended", "died"))


def chatty_topic(system: System, draw: random.Random) -> Truth:
    """A node floods a topic that a stage takes on the chain's executor."""
    node = stage(system, draw)
    system.nodes.append(Node("logger", [Callback("log", period_ms=5, work_ms=0.2, publishes="debug")]))
    node.callbacks.append(Callback("on_debug", topic="debug", work_ms=draw.uniform(4.4, 4.8)))
    return Truth(
        "chatty-topic", node.name, "on_debug", ("executor busy", "starved-callback", "callback-exceeds-period")
    )


def durability_mismatch(system: System, draw: random.Random) -> Truth:
    """A subscription asks for transient local where its publisher offers volatile."""
    node = stage(system, draw)
    system.latched.add(node.callbacks[0].topic)
    return Truth("durability-mismatch", node.name, node.callbacks[0].topic, ("never-received", "qos", "durability"))


def polling_executor(system: System, draw: random.Random) -> Truth:
    """A stage looks at its executor once in a while and sleeps in between."""
    node = stage(system, draw)
    node.polls_ms = draw.choice([60, 100])
    return Truth("polling-executor", node.name, "", ("wake-up", "asleep", "spin"))


def neighbour_on_the_cpu(system: System, draw: random.Random) -> Truth:
    """A stage and a node that computes in its callback are tied to one CPU."""
    node = busy_stage(system, draw)
    work = Callback("compress", period_ms=200, work_ms=150)
    system.nodes.append(Node("archiver", [work], cpus="1"))
    node.cpus = "1"
    return Truth(
        "neighbour-on-the-cpu", node.name, "burner", ("preempted", "off the cpu", "off-cpu", "kept from its CPU")
    )


def large_messages(system: System, draw: random.Random) -> Truth:
    """Messages of megabytes where kilobytes would do."""
    node = stage(system, draw)
    system.bytes[node.callbacks[0].topic] = draw.choice([4, 8]) << 20
    return Truth("large-messages", node.name, node.callbacks[0].topic, ("transport", "large-message"))


def simulated_time(system: System, draw: random.Random) -> Truth:
    """The planner's timer follows a simulator's clock, which stands still when a step takes long."""
    system.simulated.add("planner")
    stall = Stall(100, draw.choice([300, 500]), "sleep")
    system.nodes.append(
        Node("simulator", [Callback("step", period_ms=10, publishes="clock", work_ms=0.2, stall=stall)])
    )
    return Truth("simulated-time", "simulator", "step", ("clock-stalls", "executor busy", "executor_busy"))


def thin_link(system: System, draw: random.Random) -> Truth:
    """A stage is on a host of its own, and each of its messages keeps the link to it busy for most of a period."""
    node = stage(system, draw)
    topic, rate_mbit = node.callbacks[0].topic, draw.choice([20, 40])
    system.link_of[node.name] = f"{rate_mbit} Mbit/s"
    busy_ms = system.nodes[0].callbacks[0].period_ms * draw.uniform(0.6, 0.8)
    system.bytes[topic] = int(rate_mbit * 1e6 / 8 * busy_ms / 1e3)
    return Truth("thin-link", node.name, topic, ("transport", "large-message"))


def stage(system: System, draw: random.Random) -> Node:
    """A node of the chain that works on arrival."""
    return draw.choice(system.nodes[1 : [node.name for node in system.nodes].index("planner")])


def stalling_stage(kind: str, how: str, system: System, draw: random.Random) -> Truth:
    """A node of the chain whose callback stalls in every tenth call (`how`: as Stall has it)."""
    node = stage(system, draw)
    node.callbacks[0].stall = Stall(10, draw.choice([100, 200]), how)
    words = ("off the cpu", "blocked", "callback-exceeds-period", "computation")
    return Truth(kind, node.name, node.callbacks[0].name, words)


def busy_stage(system: System, draw: random.Random) -> Node:
    """A node of the chain that needs more than half of a CPU: the kernel lets one that needs less run as soon as it is woken, so that a program
    beside it costs it nothing."""
    node = stage(system, draw)
    node.callbacks[0].work_ms = system.nodes[0].callbacks[0].period_ms * draw.uniform(0.6, 0.7)
    return node


FAULTS: dict[str, Callable[[System, random.Random], Truth]] = {
    fault.__name__.replace("_", "-"): fault
    for fault in (
        rare_block,
        slow_callback,
        blocked_service_call,
        mutual_exclusion,
        thread_starvation,
        queue_too_short,
        qos_mismatch,
        cpu_clash,
        background_load,
        real_time_preemption,
        lock,
        disk_stall,
        memory_pressure,
        slow_producer,
        stale_input,
        late_joiner,
        lock_step,
        dead_node,
        chatty_topic,
        durability_mismatch,
        polling_executor,
        neighbour_on_the_cpu,
        large_messages,
        simulated_time,
        thin_link,
    )
}

ON_ROSCPP = set(FAULTS) - {
    "qos-mismatch",  # roscpp has no QoS
    "durability-mismatch",
    "mutual-exclusion",  # nor callback groups
    "blocked-service-call",  # and the client's side of its services is not recorded
    "simulated-time",  # the master's parameter would stand for all nodes
    "thin-link",
}
# Nodes of a workload have the chain's callbacks alone, none that stalls now and then, and live as long as the run. Pulses
# of 5 ms, and a neighbour that the scheduler interrupts for them, delay them by little.
ON_OWN_NODES = {
    "slow-callback",
    "slow-producer",
    "cpu-clash",
    "background-load",
    "polling-executor",
    "large-messages",
    "thin-link",
}
KINDS: dict[str, list[str]] = {
    "rclpy": [kind for kind in FAULTS if kind != "thin-link"],
    "roscpp": [kind for kind in FAULTS if kind in ON_ROSCPP],
    "own-nodes": [kind for kind in FAULTS if kind in ON_OWN_NODES],
}
"""By what the nodes are."""
