"""A node process: takes its plan from stdin, makes its nodes, runs each on a thread of its own, reports.

The words are those of `crates/runner/src/protocol.rs`: JSON, a line each.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback

from tacho_rclpy.refused import Refused

MATCHING_PERIOD_S = 0.01
"""Time between two counts of the peers."""
LINGERING_NS = 200_000_000
"""A node continues for this long after the last message that was sent while sources ran, so that no message on its
way is lost."""
LONGEST_LINGERING_NS = 2_000_000_000
"""It continues at most for this long after its end, however many messages come."""
NODE_FAILED = 3
"""The exit code if a task failed, as that of `tacho-node`."""


class Runner:
    """The connection to the runner, which started this process."""

    def __init__(self):
        # What a library prints on stdout goes to the log on stderr instead, so that it cannot garble an answer.
        self._answers = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)
        self.commands = queue.SimpleQueue()
        """Yields commands as they come; None when stdin is closed."""

    def plan(self) -> dict:
        plan = json.loads(sys.stdin.readline())
        threading.Thread(target=self._listen, name="commands", daemon=True).start()
        return plan

    def _listen(self):
        for line in sys.stdin:
            self.commands.put(json.loads(line))
        self.commands.put(None)

    def say(self, kind: str, **fields):
        print(json.dumps({kind: fields} if fields else kind), file=self._answers)


def run(main_ns: int) -> int:
    """Runs this process and returns its exit code. `main_ns` is when it entered main, on CLOCK_MONOTONIC."""
    runner = Runner()
    try:
        return 0 if _serve(runner, main_ns) else NODE_FAILED
    except Exception as error:
        expected = isinstance(error, Refused)
        runner.say("failed", cause=str(error) if expected else f"rclpy: {type(error).__name__}: {error}")
        traceback.print_exc()
        return 1


def _serve(runner: Runner, main_ns: int) -> bool:
    """Returns whether all nodes came to their end."""
    plan = runner.plan()
    from tacho_rclpy import session, versions  # imports rclpy only here, so that its absence can be reported

    with session.Session(plan) as opened:
        # The events executor handles SIGINT itself, whatever rclpy.init is given, but only the runner acts on ^C.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ready_ns = time.monotonic_ns()
        runner.say("ready", version=versions.found(), main_ns=main_ns, ready_ns=ready_ns)
        window = _wait_for_start(runner, opened.nodes)
        if window is None:
            return True
        window["start_ns"] = max(window["start_ns"], ready_ns)
        figures = _run_nodes(runner, opened.nodes, window)
        for node in opened.nodes:
            node.write_clock(plan["clock"])
        failures = [node.failure for node in opened.nodes if node.failure]
        runner.say("done", nodes=figures, failures=failures)
        # Endpoints stay until the runner closes stdin, because other processes may still measure.
        while runner.commands.get() is not None:
            pass
        return not failures


def _wait_for_start(runner: Runner, nodes: list) -> dict | None:
    """Reports which endpoint lacks peers until none does, then waits for the start, unless that is there from the
    beginning. Returns None if there will be no start."""
    matched, said = False, None
    while True:
        if not matched and runner.commands.empty():
            lacking = next((u for node in nodes if (u := node.unmatched()) is not None), None)
            if lacking is None:
                matched = True
                runner.say("matched")
            elif lacking != said:
                runner.say("unmatched", **lacking)
                said = lacking
        try:
            command = runner.commands.get(timeout=None if matched else MATCHING_PERIOD_S)
        except queue.Empty:
            continue
        if isinstance(command, dict) and "start" in command:
            return command["start"]
        return None


def _run_nodes(runner: Runner, nodes: list, window: dict) -> list[dict]:
    """Runs all nodes to the end of the window, or until told to stop, and returns their figures. Raises the error of
    a node."""
    ended = queue.SimpleQueue()

    def one(node):
        try:
            ended.put(node.run(window["start_ns"]))
        except BaseException as error:  # handed to the main thread, which raises it
            ended.put(error)

    for node in nodes:
        node.stop_ns = window["stop_ns"]
        node.end_at(window["end_ns"] if node.subscriptions else window["stop_ns"])
    threads = [threading.Thread(target=one, args=(node,), name=node.name) for node in nodes]
    for thread in threads:
        thread.start()
    _end_in_time(runner, nodes, threads)
    results = [ended.get_nowait() for _ in threads]
    for result in results:
        if isinstance(result, BaseException):
            raise result
    order = [node.name for node in nodes]
    return sorted(results, key=lambda figures: order.index(figures["node"]))


def _end_in_time(runner: Runner, nodes: list, threads: list):
    """Ends each node at its time, or later if messages still come. It waits on the queue of commands, so that it
    takes no interpreter time from the nodes."""
    left = list(nodes)
    latest_ns = {node: node.end_ns + LONGEST_LINGERING_NS for node in nodes}
    while left:
        left.sort(key=lambda node: node.end_ns)
        node = left[0]
        try:
            runner.commands.get(timeout=max(0.0, (node.end_ns - time.monotonic_ns()) / 1e9))
        except queue.Empty:
            lingers_to_ns = min(node.heard_ns + LINGERING_NS, latest_ns[node])
            # A node that wakes by itself reads its end on a thread of its own, to count what was due, so its end must
            # not move.
            if lingers_to_ns > time.monotonic_ns() and not node.timers and not node.spinner:
                node.end_ns = lingers_to_ns
            else:
                left.pop(0).end()
            continue
        for node in left:  # told to stop, or the runner is gone
            node.end_at(time.monotonic_ns())
            node.end()
        break
    for thread in threads:
        thread.join()
