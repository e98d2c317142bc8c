# SPDX-License-Identifier: Apache-2.0
"""Programs under test, whose output is read line by line as it comes."""

import json
import os
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATIENCE_S = 600  # for what must happen; waiting ends when it has


class Program:
    """A running program; `lines` grows as it prints. Standard input stays open until stop()."""

    def __init__(self, *command, prefix=(), **environment):
        self.command = [*prefix, *map(str, command)]
        self.lines = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **environment},
        )
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def tell(self, line: str):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def find(self, start: str) -> list[str]:
        with self.changed:
            return [line for line in self.lines if line.startswith(start)]

    def wait_for(self, start: str, count: int = 1, patience_s: float = PATIENCE_S) -> list[str]:
        """Waits until `count` lines begin with a text; returns them."""
        until = time.monotonic() + patience_s
        with self.changed:
            while len(found := [line for line in self.lines if line.startswith(start)]) < count:
                left = until - time.monotonic()
                assert left > 0 and not self.ended, (
                    f"{' '.join(self.command)}: {len(found)} lines '{start}', expected {count}; ended: {self.ended}; its last lines:\n"
                    + "\n".join(self.lines[-15:])
                )
                self.changed.wait(left)
        return found

    ends_with_input = True  # otherwise it is to be terminated

    def stop(self) -> int:
        if not self.process.stdin.closed:
            self.process.stdin.close()
        if not self.ends_with_input:
            self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def missed_until_heard(late: Program, beside: Program) -> int:
    """How many messages were published between this call and the first that `late` receives, by the count of a node
    that already receives the same topic: a clock that stops when the publisher does."""
    now, first = (int(program.wait_for("got")[place].split()[1]) for program, place in ((beside, -1), (late, 0)))
    return first - now


class RosPeer(Program):
    """ros_peer.py in a ROS 2 environment."""

    def __init__(self, python: str, domain: int, prefix=(), localhost=True):
        super().__init__(
            python,
            HERE / "ros_peer.py",
            prefix=prefix,
            ROS_DOMAIN_ID=str(domain),
            PYTHONUNBUFFERED="1",
            ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST" if localhost else "SUBNET",
        )
        self.wait_for('["up"')

    def records(self, kind: str, count: int) -> list[list]:
        return [json.loads(line) for line in self.wait_for(f'["{kind}"', count)]

    def graph_until(self, condition) -> tuple[list, dict, list]:
        """Asks for the graph until `condition(nodes, topics, endpoints)` holds."""
        until = time.monotonic() + PATIENCE_S
        asked = 0
        while True:
            asked += 1
            self.tell("graph")
            _, nodes, topics, endpoints = self.records("graph", asked)[-1]
            if condition(nodes, topics, endpoints):
                return nodes, topics, endpoints
            assert time.monotonic() < until, f"the graph stays as {nodes}, {topics}, {endpoints}"
            time.sleep(0.05)
