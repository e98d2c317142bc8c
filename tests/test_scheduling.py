"""Scheduling of nodes and load beside them, as the kernel sees it while they run."""

import json
import os
import resource
from contextlib import suppress
from pathlib import Path

import pytest
from waiting import finished, succeeded, wait_for

WORKLOAD = """
middleware: socket
transport: tcp
nodes:
  talker: {{publishes: {{/out: {{size: 64 B, rate: 100 Hz}}}}}}
  listener: {{subscribes: [/out]}}
run: {{duration: 3 s, {options}}}
"""


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def threads(pid, name):
    """Ids of a process's threads of that name. One may end while they are looked at."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(ProcessLookupError, FileNotFoundError):
            if (task / "comm").read_text().strip() == name:
                found.append(int(task.name))
    return found


def node_thread(tacho, name):
    return wait_for(
        lambda: next((t for pid in children(tacho) for t in threads(pid, name) if t != pid), None),
        f"the thread of {name}",
    )


def start(tacho, options):
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(options=options))
    return tacho.start("bench", "w.yaml", "-o", "run")


def can_run_fifo():
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, *before)
    return True


@pytest.mark.skipif(not can_run_fifo(), reason="real-time scheduling is not permitted here")
def test_a_priority_is_of_the_nodes_thread_alone(tacho):
    process = start(tacho, "priority: {listener: fifo 7, talker: round_robin 3}")
    listener = node_thread(process.pid, "listener")
    talker = node_thread(process.pid, "talker")
    wait_for(lambda: os.sched_getscheduler(listener) == os.SCHED_FIFO, "SCHED_FIFO")
    wait_for(lambda: os.sched_getscheduler(talker) == os.SCHED_RR, "SCHED_RR")
    assert os.sched_getparam(listener).sched_priority == 7 and os.sched_getparam(talker).sched_priority == 3
    for pid in children(process.pid):
        others = {int(task) for task in os.listdir(f"/proc/{pid}/task")} - {listener, talker}
        assert others and all(os.sched_getscheduler(other) == os.SCHED_OTHER for other in others)
    succeeded(process)


def test_a_nice_value_is_of_the_nodes_thread_alone(tacho):
    process = start(tacho, "priority: {listener: nice 5}")
    listener = node_thread(process.pid, "listener")
    wait_for(lambda: os.getpriority(os.PRIO_PROCESS, listener) == 5, "nice 5")
    assert os.getpriority(os.PRIO_PROCESS, node_thread(process.pid, "talker")) == os.getpriority(os.PRIO_PROCESS, 0)
    succeeded(process)


def test_a_priority_that_is_not_permitted_is_refused_before_anything_runs(tacho):
    if os.geteuid() != 0:
        pytest.skip("only root can give its permissions away, with setpriv")
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(options="priority: {listener: fifo 80}"))
    no_priorities = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))}
    done = tacho(
        "bench",
        "w.yaml",
        "-o",
        "run",
        expect=3,
        before=["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"],
        **no_priorities,
    )
    assert "listener" in done.stderr and "RLIMIT_RTPRIO 0" in done.stderr and "rtprio 80" in done.stderr


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_background_load_computes_while_nodes_run_and_ends_with_them(tacho):
    process = start(tacho, "background: {cpu: 2}")

    def background():
        return next((pid for pid in children(process.pid) if len(threads(pid, "background")) == 2), None)

    load = wait_for(background, "two threads of background load")
    # Two threads want all that they can get, and so do other programs of this machine.
    wait_for(lambda: cpu_seconds(load) > 0.2, "the load to compute", process)
    succeeded(process)
    assert not os.path.exists(f"/proc/{load}")
    info = json.loads((tacho.directory / "run" / "run.json").read_text())
    assert {p["name"] for p in info["processes"]} == {"talker", "listener"}


def test_background_load_dies_with_a_tacho_that_is_killed(tacho):
    process = start(tacho, "background: {cpu: 1}")
    load = wait_for(
        lambda: next((pid for pid in children(process.pid) if threads(pid, "background")), None), "background load"
    )
    process.kill()
    finished(process)

    def is_gone():
        try:
            return Path(f"/proc/{load}/stat").read_text().rsplit(") ", 1)[1][0] == "Z"
        except FileNotFoundError:
            return True

    wait_for(is_gone, "the load to end")
