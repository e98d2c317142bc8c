"""A node that spins (study E): wakes at a rate, takes at most one message of each queue, sleeps."""

import time

from tacho_rclpy import trace
from tacho_rclpy.instant import SECOND_NS, Grid, sleep_until


class Spinner:
    """Calls `spin_once` of rclpy until no queue that has not been served in this wake has a message.

    Publications with a rate are published at the first wake at or after each of their due times; wakes and due times count
    from the node's phase and are compared as such, not by the clock.
    """

    def __init__(self, node):
        self.node = node
        self.wakes = self.calls = 0
        triggered = any(not s.latest for s in node.subscriptions)
        rates = [p.rate_hz for p in node.publications if p.rate_hz is not None]
        only_when_due = bool(rates) and len(rates) == len(node.publications)
        self._triggered = triggered
        # Work that runs only when something is due runs at that rate, whatever the rate of the wakes.
        hz = node.spin_hz if not triggered and not only_when_due else max(rates, default=None)
        self._callback = trace.timer(0, node.handle, round(SECOND_NS / hz), f"/{node.name} spin") if hz else None

    def _grids(self, wakes: Grid) -> list[Grid | None]:
        """Returns when each publication is due: at its rate, else at every wake of a node that nothing triggers."""
        each_wake = None if self._triggered else wakes
        return [each_wake if p.rate_hz is None else Grid(wakes.first_ns, p.rate_hz) for p in self.node.publications]

    def run(self, start_ns: int, phase: float):
        node = self.node
        wakes = Grid.of_phase(start_ns, phase, node.spin_hz)
        grids = self._grids(wakes)
        served = [0] * len(grids)
        computes = not self._triggered and not node.publications
        wake = 0
        while True:
            at = wakes.due_ns(wake)
            if at < node.end_ns:
                sleep_until(at)
            if at >= node.end_ns:
                break
            trace.woke(node.handle)
            self.wakes += 1
            self._take()
            now_due = []
            for index, grid in enumerate(grids):
                count = grid.due_by(at) if grid else 0
                if count > served[index]:
                    node.publications[index].skip(count - served[index] - 1)
                    served[index] = count
                    now_due.append((node.publications[index], grid.due_ns(count - 1)))
            if computes or now_due:
                self._compute_and_publish(now_due)
            if node.failure:
                return
            wake = max(wake + 1, wakes.due_by(time.monotonic_ns()))  # a late wake goes on with the next of the grid
        # The sends that a wake before the end would have made are due.
        if last := wakes.due_by(node.end_ns - 1):
            for publication, grid, count in zip(node.publications, grids, served, strict=True):
                if grid:
                    publication.skip(max(0, grid.due_by(wakes.due_ns(last - 1)) - count))

    def _take(self):
        group, executor = self.node.once_a_wake, self.node.executor
        group.wake()
        ran = -1
        # Repeat until a call runs nothing, even if all queues are served. rclpy keeps an unfinished round for the next
        # call, which would only end that round and return without looking at the queues.
        while ran < group.served():
            ran = group.served()
            executor.spin_once(timeout_sec=0)

    def _compute_and_publish(self, publications: list[tuple]):
        start_ns = time.monotonic_ns()
        trace.started(self._callback)
        self.calls += 1
        self.node.activate(publications)
        if log := self.node.log:
            log.callback("timer", 0, start_ns, time.monotonic_ns())
        trace.ended(self._callback)
