# SPDX-License-Identifier: Apache-2.0
"""Systems as workloads of tacho's own nodes: a node has one callback of each input, and none beside the chain's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from systems import MESSAGE_BYTES, Callback, Node, System

PART_OF_PERIOD = 0.25
"""Work of a stage, of the sensor's period."""


def give_work(system: System):
    """A process of its own in C++ or Rust has next to no costs beside its work, so that a stage has more of it than in Python."""
    stages = [node for node in system.nodes[1:-1] if node.callbacks[0].topic]
    for node in stages:
        node.callbacks[0].work_ms = PART_OF_PERIOD * system.nodes[0].callbacks[0].period_ms


@contextmanager
def recorded(system: System, folder: Path, run: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Writes the workload into a folder. The arguments with which tacho runs it, and no variables of the environment."""
    workload = {
        "middleware": system.middleware,
        "nodes": {node.name: of_node(node, system) for node in system.nodes},
        "run": {
            "duration": f"{system.duration_s:.0f} s",
            "cpus": {node.name: [int(node.cpus)] for node in system.nodes if node.cpus},
        },
    }
    if system.link_of:
        hosts = {"vehicle": {}} | {f"with_{name}": {"rate": rate} for name, rate in system.link_of.items()}
        workload |= {"hosts": hosts, "middleware": {"cyclonedds": "udp"}}
    (folder / "workload.yaml").write_text(json.dumps(workload, indent=2))  # which is YAML
    yield ["bench", "-o", run, "workload.yaml"], {}


def of_node(node: Node, system: System) -> dict:
    """A node as the workload file has it."""
    chain = [callback for callback in node.callbacks if callback.name != "publish_diagnostics"]
    inputs = {f"/{c.topic}": {"depth": system.depth.get(c.topic, 10)} for c in chain if c.topic}
    publisher = next((callback for callback in chain if callback.publishes), None)
    made = {"work": f"{(publisher or chain[0]).work_ms:.3f} ms", "subscribes": inputs}
    if publisher:
        made["publishes"] = {f"/{publisher.publishes}": of_publication(publisher, node, system)}
    if node.polls_ms:
        made["spin"] = f"{1000 / node.polls_ms:.3f} Hz"
    elif publisher and publisher.uses:
        made["on"] = f"timer {1000 / publisher.period_ms:.3f} Hz"
    if system.link_of:
        made["host"] = f"with_{node.name}" if node.name in system.link_of else "vehicle"
    return made


def of_publication(publisher: Callback, node: Node, system: System) -> dict:
    made = {"size": f"{system.bytes.get(publisher.publishes, MESSAGE_BYTES)} B"}
    if publisher.period_ms and not publisher.uses:
        made["rate"] = f"{1000 / publisher.period_ms:.3f} Hz"
    return made
