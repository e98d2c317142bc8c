"""If a signal ends a node before anything is measured, the run starts again, once, and reports it."""

import json
import os
import signal
from pathlib import Path

import pytest
from places import ROOT
from waiting import finished, wait_for_window

# Replaces the program of nodes. As often as it is told to, it starts the real one, waits until its middleware is
# loaded, and kills it there. It discards that program's output, so that nobody takes it for ready.
PROGRAM = """#!/bin/bash
for i in $(seq {times}); do
  if [ "$1" = listener ] && mkdir "{marks}/$i" 2>/dev/null; then
    "{node}" "$@" <&0 >/dev/null & node=$!
    until grep -q libtacho_socket /proc/$node/maps; do kill -0 $node || exit 8; sleep 0.01; done
    {death}
    wait $node
    exec bash -c 'kill -ABRT $$'
  fi
done
exec "{node}" "$@"
"""
WORKLOAD = """
middleware: {socket: tcp}
nodes:
  talker: {publishes: {/x: {size: 64 B, rate: 50 Hz}}}
  listener: {subscribes: {/x: {}}}
run: {duration: 500 ms}
"""


def home(directory: Path, times: int, death: str = "kill -ABRT $node") -> Path:
    """An installation whose listener dies `times` times."""
    made, marks = directory / "home", directory / "marks"
    for folder in (made, marks):
        folder.mkdir()
    for part in ("lib", "nodes"):
        (made / part).symlink_to(ROOT / "build" / part)
    program = made / "tacho-node"
    program.write_text(PROGRAM.format(times=times, marks=marks, death=death, node=ROOT / "build/tacho-node"))
    program.chmod(0o755)
    return made


def info_of(run: Path) -> dict:
    return json.loads((run / "run.json").read_text())


def test_a_node_killed_once_at_the_start_costs_a_second_start_and_no_figure(tacho):
    tacho.environment["TACHO_HOME"] = str(home(tacho.directory, times=1))
    (tacho.directory / "w.yaml").write_text(WORKLOAD)
    done = tacho("bench", "w.yaml", "-o", "run")
    said = "process listener was killed by signal 6"
    assert said in done.stderr and "starts again" in done.stderr
    assert said in done.stdout and "started again" in done.stdout  # among the notes
    run = tacho.directory / "run"
    info = info_of(run)
    (death,) = info["failed_starts"]
    assert said in death and not info["cut_short"] and not any(said in missing for missing in info["missing"])
    assert [process.get("code") for process in info["processes"]] == [0, 0]
    first = {process["name"]: process for process in info_of(run / "failed-start")["processes"]}
    assert first["listener"]["signal"] == signal.SIGABRT and (run / "failed-start/logs/listener.log").is_file()
    # The figures contain nothing of the first start: each process was recorded once, and each message of the window is
    # there once.
    pids = {file.name.split("-")[0] for file in (run / "events").glob("*.events")}
    assert {str(process["pid"]) for process in info["processes"]} <= pids and str(first["talker"]["pid"]) not in pids
    (point,) = json.loads((run / "summary.json").read_text())["points"]
    assert point["sent"] > 0 and point["received"] + point["lost"] == point["sent"]


def test_a_node_killed_at_each_start_is_a_fault_of_which_both_are_told(tacho):
    tacho.environment["TACHO_HOME"] = str(home(tacho.directory, times=2))
    (tacho.directory / "w.yaml").write_text(WORKLOAD)
    done = tacho("bench", "w.yaml", "-o", "run", expect=3)
    assert done.stderr.count("process listener was killed by signal 6") == 2 and "the second start" in done.stderr
    assert len(os.listdir(tacho.directory / "marks")) == 2
    info = info_of(tacho.directory / "run")
    assert len(info["failed_starts"]) == 1 and "never started" in info["missing"][0] and info["cut_short"]


def test_a_program_that_ends_by_itself_is_not_started_again(tacho):
    tacho.environment["TACHO_HOME"] = str(home(tacho.directory, times=1, death="kill -ABRT $node; wait $node; exit 7"))
    (tacho.directory / "w.yaml").write_text(WORKLOAD)
    done = tacho("bench", "w.yaml", "-o", "run", expect=3)
    assert "ended with exit code 7" in done.stderr and "starts again" not in done.stderr
    assert (
        "failed_starts" not in info_of(tacho.directory / "run") and not (tacho.directory / "run/failed-start").exists()
    )


@pytest.mark.parametrize("verb", ["sweep", "repeats"])
def test_of_several_runs_the_one_is_named_and_all_are_whole(tacho, verb):
    tacho.environment["TACHO_HOME"] = str(home(tacho.directory, times=1))
    varied = (
        WORKLOAD.replace("50 Hz", "[50 Hz, 100 Hz]")
        if verb == "sweep"
        else WORKLOAD.replace("500 ms", "500 ms, repeats: 2")
    )
    (tacho.directory / "w.yaml").write_text(varied)
    assert "starts again" in tacho("bench", "w.yaml", "-o", "run").stderr
    run = tacho.directory / "run"
    assert info_of(run)["missing"] == [] and not info_of(run)["cut_short"]
    parts = sorted((run / ("points" if verb == "sweep" else "repeats")).iterdir())
    assert [len(info_of(part).get("failed_starts", [])) for part in parts] == [1, 0]
    if verb == "repeats":
        (text,) = info_of(run)["failed_starts"]
        assert text.startswith("repeat 0: process listener was killed")


def threads(pid: int) -> list[str]:
    return [(thread / "comm").read_text().strip() for thread in Path(f"/proc/{pid}/task").iterdir()]


@pytest.mark.parametrize("middleware", ["ros2", "rclpy", "fastdds"])
def test_no_node_on_fast_dds_asks_its_peers_for_their_types(tacho, middleware):
    """The thread that takes the answers, dds.tls.replies, crashed at the start."""
    (tacho.directory / "w.yaml").write_text(WORKLOAD.replace("{socket: tcp}", middleware).replace("500 ms", "60 s"))
    process = tacho.start("bench", "w.yaml", "-o", "run")
    run = tacho.directory / "run"
    wait_for_window(run, process)
    nodes = {file.name.split("-")[0] for file in (run / "events").glob("*.events")}
    found = {pid: [name for name in threads(int(pid)) if name.startswith("dds.")] for pid in nodes}
    process.send_signal(signal.SIGINT)
    finished(process)
    assert len(found) == 2 and all(found.values()), found
    assert not [name for names in found.values() for name in names if name.startswith("dds.tls")], found
