# SPDX-License-Identifier: Apache-2.0
"""The Autoware reference system on other executors than the one that was measured: predicted, and measured."""

import json
import re
from itertools import permutations
from pathlib import Path

WORKLOAD = Path(__file__).resolve().parents[2] / "workloads/autoware-reference.yaml"
NODES = re.findall(r"^  (\w+):", WORKLOAD.read_text().split("\nchains:")[0], re.MULTILINE)
# The executors of the reference system's own benchmark with priorities; all other nodes have one together.
EXECUTORS = {
    "front": ["front_lidar_driver", "points_transformer_front"],
    "rear": ["rear_lidar_driver", "points_transformer_rear"],
    "fusion": ["point_cloud_fusion", "ray_ground_filter", "euclidean_cluster_detector", "object_collision_estimator"],
    "planner": ["behavior_planner"],
}
EXECUTOR_OF = {node: executor for executor, nodes in EXECUTORS.items() for node in nodes}
MULTI = [f"{node}.threads=2" for node in NODES]
SPLIT = [f"{node}.thread={EXECUTOR_OF.get(node, 'rest')}" for node in NODES]
VARIANTS = {
    "single": [],
    "multi": MULTI,
    "groups": [*MULTI, "euclidean_cluster_detector.subscribes./points_no_ground.group=points"],
    "executors": SPLIT,
    "priorities": [
        *SPLIT,
        *(f"run.priority.{node}=round_robin {90 if of == 'planner' else 30}" for node, of in EXECUTOR_OF.items()),
    ],
}


def changes(variant: str) -> list[str]:
    return [word for change in VARIANTS[variant] for word in ("--set", change)]


def hot_path(run: Path) -> dict:
    chains = json.loads((run / "summary.json").read_text())["chains"]
    return next(chain for chain in chains if chain["name"] == "hot_path")["end_to_end_ms"]


def measure(tacho, runs: Path, duration: str) -> None:
    """Runs each variant on real middleware; `tacho` runs a verb."""
    for variant in VARIANTS:
        tacho("bench", WORKLOAD, "--duration", duration, *changes(variant), "-o", runs / f"reference-{variant}")


def predict(tacho, runs: Path, duration: str, folder: Path):
    """Yields of each variant and each other one, from whose run it is predicted: both names, what was measured, and by how many percent mean and p99 are off."""
    for known, asked in permutations(VARIANTS, 2):
        out = folder / f"{known}-{asked}"
        costs = ["--costs", runs / f"reference-{known}"]
        tacho("simulate", WORKLOAD, *costs, "--duration", duration, *changes(asked), "--no-scheduler", "-o", out)
        measured, simulated = hot_path(runs / f"reference-{asked}"), hot_path(out)
        yield known, asked, measured, {key: 100 * (simulated[key] / measured[key] - 1) for key in ("mean", "p99")}
