"""Signals of a run: what its tasks reported over time."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet


class Signals:
    """The tables `signals` and `samples` of a run. A signal is named by its node and its name."""

    def __init__(self, run: Path):
        table = {
            name: parquet.read_table(run / f"tables/{name}.parquet").to_pydict() for name in ("signals", "samples")
        }
        nodes = parquet.read_table(run / "tables/nodes.parquet").to_pydict()["name"]
        signals, samples = table["signals"], table["samples"]
        self.names = [
            (nodes[node].lstrip("/"), name) for node, name in zip(signals["node"], signals["name"], strict=True)
        ]
        self.units = dict(zip(self.names, signals["unit"], strict=True))
        self.tasks = dict(zip(self.names, signals["task"], strict=True))
        self.signal = np.array(samples["signal"])
        self.columns = {name: np.array(samples[name]) for name in ("entry", "at_ns", "reported_ns", "value")}
        self.execution = samples["execution"]

    def column(self, node: str, name: str, column: str) -> np.ndarray:
        return self.columns[column][self.signal == self.names.index((node, name))]

    def values(self, node: str, name: str) -> np.ndarray:
        return self.column(node, name, "value")

    def at_s(self, node: str, name: str) -> np.ndarray:
        return self.column(node, name, "at_ns") / 1e9
