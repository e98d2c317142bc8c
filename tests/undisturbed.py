"""A fixture for runs that have the machine to themselves."""

import itertools
import json
from collections.abc import Callable

import pytest
from command import Tacho

OTHERS_CPUS = 0.2
"""CPUs, on the average of a run, that other processes and the hypervisor may take together."""
TRIES = 5


@pytest.fixture
def undisturbed(tacho: Tacho) -> Callable[..., str]:
    """Runs a verb of tacho, five times at most, and returns the name of the first directory whose runs nothing
    disturbed. The kernel's counts decide that, before the test looks at what was measured. If others disturbed all
    five, the test is skipped."""
    names = (f"run-{number}" for number in itertools.count(1))

    def run(verb: str, *words: object) -> str:
        for _, name in zip(range(TRIES), names):
            tacho(verb, "-o", name, *words)
            infos = [json.loads(path.read_text()) for path in (tacho.directory / name).rglob("run.json")]
            taken = [others_cpus(info["load"]) for info in infos if "load" in info]
            assert taken, f"no run below {name} reports what else used the machine"
            if max(taken) < OTHERS_CPUS:
                return name
        pytest.skip(f"in the last of {TRIES} runs, others took {max(taken):.2f} CPUs of this machine")

    return run


def others_cpus(load: dict) -> float:
    stolen = load.get("steal_percent", 0) / 100 * load["cpus"]
    return load["others_cpu_s"] / load["over_s"] + stolen
