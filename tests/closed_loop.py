"""The driving stack in virtual time: every task at its rate, each message there at once or after a delay."""

from dataclasses import dataclass, field

import numpy as np
from driving import state, world
from task_library import Task

TICK_S = 0.01


@dataclass
class ClosedLoop:
    """Pose and planning at 10 and 20 Hz, control at 20 Hz, drive by wire and the vehicle at 100 Hz. `delay_s` is that
    of each command on its way to drive by wire."""

    speed: float
    obstacles: tuple = ()
    delay_s: float = 0.0
    start: float = 0.0
    noise: float = 0.0
    trajectory: dict = field(default_factory=dict)
    pursuit: dict = field(default_factory=dict)
    # When planning ends, as if its node had died.
    planner_dies_s: float = np.inf

    def drive(self, seconds: float) -> np.ndarray:
        """The true states, one a tick."""
        self.world = world(self.obstacles)
        self.car = Task("vehicle", start=self.start)
        odometry, objects = Task("odometry", noise=self.noise), Task("ground_truth_objects")
        route = Task("route")
        self.planner = Task("trajectory", speed=self.speed, **self.trajectory)
        pursuit, self.by_wire = Task("pure_pursuit", **self.pursuit), Task("drive_by_wire")
        commands, trace, trajectory, actuators = [], [], None, None
        self.trajectories = []
        published = self.car(0, None, self.world)[0]
        for tick in range(round(seconds / TICK_S)):
            now = tick * TICK_S
            if tick % 5 == 0:
                pose = odometry(now, published)[0]
                if tick % 10 == 0 and now < self.planner_dies_s:
                    seen = objects(now, self.world, published)[0]
                    path = route(now, pose, self.world)[0]
                    trajectory = self.planner(now, path, seen)[0]
                    self.trajectories.append(trajectory)
                if now < self.planner_dies_s:
                    (command,) = pursuit(now, trajectory, pose)
                    commands.append((now + self.delay_s, now, command))
            while commands and commands[0][0] <= now:
                _, sent, command = commands.pop(0)
                self.by_wire.inputs[0].stamp_ns = round(sent * 1e9)
                self.by_wire.hear(0, command)
            (actuators,) = self.by_wire(now, None, published)
            self.car(now, actuators)
            (published,) = self.car(now + TICK_S)
            trace.append(state([published]))
        return np.array(trace)
