"""Compares a run with its program's own output."""

import csv
import re
from collections import defaultdict

import pyarrow.parquet as parquet


def error_ns(run) -> int:
    """How far a time of a run may lie from a program's own reading of the clock: 20 us, and what the run states."""
    notes = parquet.read_table(run / "tables/notes.parquet").to_pylist()
    stated_us = [
        re.search(r"wrong by up to ([\d.]+) us", n["text"]).group(1) for n in notes if n["name"] == "clock-error"
    ]
    return 20_000 + sum(round(float(us) * 1e3) for us in stated_us)


def last_lines(run, node) -> dict[int, int]:
    """When each callback of a node was at its last line, by when it was at its first (`in_node_clock`)."""
    with open(run / "clock" / f"{node}.csv", newline="") as file:
        return {int(row["start_ns"]): int(row["end_ns"]) for row in csv.DictReader(file)}


class Recording:
    """A run, and its program's output (tests/programs/rclcpp/src/stamps.hpp): name to (sequence, start_ns, end_ns)."""

    def __init__(self, tacho, answers: str):
        self.summary = tacho.json("explain", "run")
        self.folder = tacho.directory / "run/tables"
        self.error_ns = error_ns(tacho.directory / "run")
        self.said = defaultdict(list)
        for line in answers.splitlines():
            words = line.rsplit(" ", 3)
            if len(words) == 4 and all(word.isdigit() for word in words[1:]):
                self.said[words[0]].append(tuple(map(int, words[1:])))
        for rows in self.said.values():
            rows.sort(key=lambda row: row[1])

    def table(self, name):
        return parquet.read_table(self.folder / f"{name}.parquet").to_pylist()

    def executions(self, kind, node, topic):
        """(start_ns, end_ns) of each execution of a callback; for a subscription within the process, of both of its
        callbacks."""
        nodes = [n["name"] for n in self.table("nodes")]
        of = {
            i
            for i, c in enumerate(self.table("callbacks"))
            if (c["kind"], c["topic"]) == (kind, topic) and c["node"] is not None and nodes[c["node"]] == node
        }
        return sorted((e["start_ns"], e["end_ns"]) for e in self.table("executions") if e["callback"] in of)

    def messages(self, node, topic):
        """Rows of one subscription that were taken, in order."""
        nodes = [n["name"] for n in self.table("nodes")]
        of = {
            i
            for i, e in enumerate(self.table("endpoints"))
            if (e["kind"], e["topic"], nodes[e["node"]]) == ("subscription", topic, node)
        }
        return [m for m in self.table("messages") if m["subscription"] in of]

    def publications(self, topic):
        """Rows of a topic."""
        of = {i for i, e in enumerate(self.table("endpoints")) if e["topic"] == topic}
        return [p for p in self.table("publications") if p["publisher"] in of]

    def surrounds(self, name, kind, node, topic):
        """Each execution encloses the first and last line of its callback, and the numbers agree."""
        ours, theirs = self.executions(kind, node, topic), self.said[name]
        assert len(ours) == len(theirs) > 0, name
        for (start, end), (_, first_line, last_line) in zip(ours, theirs):
            assert start - self.error_ns <= first_line <= last_line <= end + self.error_ns, name

    def latency_lies_within(self, topic, node, name):
        """Each message was published after the program began to publish it, and taken before its callback's first
        line."""
        published = {sequence: at for sequence, at, _ in self.said[topic]}
        taken = [m for m in self.messages(node, topic) if m["take_ns"] is not None]
        assert len(taken) == len(self.said[name]) > 0, name
        for message, (sequence, first_line, _) in zip(sorted(taken, key=lambda m: m["callback_ns"]), self.said[name]):
            assert published[sequence] - self.error_ns <= message["publish_ns"], name
            assert message["callback_ns"] <= first_line + self.error_ns, name
            after = published.get(sequence + 1)
            assert after is None or message["publish_ns"] <= after + self.error_ns, name

    def agrees_with_every_callback(self):
        """For the program every_callback: the recording encloses each callback, and lies within each message's way,
        except the client's."""
        self.surrounds("on_timer", "timer", "/source", None)
        self.surrounds("on_points", "subscription", "/relay", "/points")
        self.surrounds("on_filtered", "subscription", "/sink", "/filtered")
        self.surrounds("on_anything", "subscription", "/copier", "/filtered")
        self.surrounds("on_bytes", "subscription", "/reader", "/copy")
        self.surrounds("on_request", "service", "/server", "/ask")
        self.latency_lies_within("/points", "/relay", "on_points")
        self.latency_lies_within("/filtered", "/sink", "on_filtered")
