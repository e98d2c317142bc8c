"""`tacho bench` of sweeps: the order of the runs, continuing after an interruption, points that fail, options
instead of a file."""

import json
import os
import re
import signal

import pytest
from waiting import finished, wait_for

POINTS = 24
MANY = """
middleware: inproc
topology:
  kind: [pairs, one-to-many, many-to-one]
  nodes: [1, 2]
  size: [16 B, 64 KiB]
  rate: [100 Hz, 200 Hz]
run: {duration: 0.1 s, seed: 7}
"""
FEW = """
middleware: inproc
topology: {kind: one-to-many, nodes: [1, 2], size: [16 B, 4 KiB], rate: 100 Hz}
run: {duration: 0.1 s, repeats: 3}
"""


def read(path):
    return json.loads(path.read_text())


def points(run):
    return sorted((run / "points").iterdir())


def is_finished(directory):
    return (directory / "summary.json").is_file()


def started(run):
    """When each finished run began; a run that is run again begins later."""
    return {d.name: (read(d / "run.json")["started_at"], d.stat().st_ino) for d in points(run) if is_finished(d)}


def order(stderr):
    """The names of the runs in the order in which they ran."""
    return re.findall(r"^tacho: \d+ of \d+: ([^,\n]+)", stderr, flags=re.M)


def points_finished(run):
    return sum(is_finished(d) for d in points(run)) if (run / "points").is_dir() else 0


def test_a_sweep_that_was_killed_goes_on_and_runs_nothing_twice(tacho):
    (tacho.directory / "w.yaml").write_text(MANY)
    run = tacho.directory / "run"
    process = tacho.start("bench", "w.yaml", "-o", "run")
    wait_for(lambda: points_finished(run) >= 8, "eight points", process)
    process.send_signal(signal.SIGKILL)
    finished(process)
    before = started(run)
    assert 8 <= len(before) < POINTS
    # The finished part can be read as it is.
    assert read(run / "run.json")["cut_short"] is True
    assert len(tacho.json("explain", "run")["points"]) == len(before)

    summary = tacho.json("bench", "w.yaml", "-o", "run", "--resume")
    assert len(summary["points"]) == POINTS == len(points(run))
    after = started(run)
    assert {name: after[name] for name in before} == before
    assert read(run / "run.json")["cut_short"] is False and not read(run / "run.json")["missing"]
    assert (run / "workload.yaml").read_text() == MANY
    assert all(point["due"] > 0 for point in summary["points"])
    # Once more: nothing is left to run.
    done = tacho("bench", "w.yaml", "-o", "run", "--resume")
    assert order(done.stderr) == [] and started(run) == after


def test_a_sweep_that_was_interrupted_ends_in_order_and_goes_on_without_its_file(tacho):
    (tacho.directory / "w.yaml").write_text(MANY)
    run = tacho.directory / "run"
    process = tacho.start("bench", "w.yaml", "--seed", 3, "-o", "run")
    wait_for(lambda: points_finished(run) >= 3, "three points", process)
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    before = {d.name for d in points(run) if is_finished(d) and not read(d / "run.json")["cut_short"]}
    assert 3 <= len(before) < POINTS
    assert f"{POINTS - len(before)} of {POINTS} runs are not finished" in err
    assert read(run / "summary.json")["points"]
    done = tacho("bench", "-o", "run", "--resume")
    assert len(order(done.stderr)) == POINTS - len(before)
    assert len(read(run / "summary.json")["points"]) == POINTS


def test_an_interrupted_sweep_says_that_it_sums_up_its_repeats(tacho):
    (tacho.directory / "w.yaml").write_text(FEW.replace("repeats: 3", "repeats: 100"))
    run = tacho.directory / "run"
    process = tacho.start("bench", "w.yaml", "-o", "run")
    wait_for(lambda: sum(map(is_finished, run.glob("points/*/repeats/*"))) >= 8, "eight repeats", process)
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    summed_up = re.findall(r"^tacho: summing up (\d) of 4: ([^,\n]+)", err, flags=re.M)
    assert [number for number, _ in summed_up] == ["1", "2", "3", "4"]
    assert [d.name.partition("-")[2] for d in points(run)] == [name for _, name in summed_up]
    for point in points(run):
        assert is_finished(point)
        assert any("of 100 repeats were not run" in text for text in read(point / "run.json")["missing"])


def test_two_never_run_one_sweep_at_once(tacho):
    (tacho.directory / "w.yaml").write_text(MANY)
    run = tacho.directory / "run"
    process = tacho.start("bench", "w.yaml", "-o", "run")
    wait_for(lambda: points_finished(run) >= 1, "a point", process)
    refused = tacho("bench", "-o", "run", "--resume", expect=2).stderr
    assert f"process {process.pid} runs this sweep" in refused
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    assert not (run / "lock").exists()


def test_an_interrupt_at_the_terminal_is_no_failure_of_a_point(tacho):
    """A terminal also sends ^C to the nodes."""
    (tacho.directory / "w.yaml").write_text(MANY.replace("0.1 s", "20 s"))
    run = tacho.directory / "run"
    process = tacho.start("bench", "w.yaml", "-o", "run", start_new_session=True)
    wait_for(lambda: list(run.glob("points/*/events/*.events")), "a node to record", process)
    os.killpg(process.pid, signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    assert "failed" not in err, err
    assert f"of {POINTS} runs are not finished" in err


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda text: text.replace("4 KiB", "8 KiB"), ["line 3", "4 KiB", "8 KiB"]),
        (lambda text: text.replace("duration: 0.1 s", "duration: 0.2 s"), ["line 4", "0.1 s", "0.2 s"]),
    ],
)
def test_another_workload_is_refused_and_the_difference_named(tacho, change, words):
    (tacho.directory / "w.yaml").write_text(FEW.replace("repeats: 3", "repeats: 1"))
    tacho("bench", "w.yaml", "-o", "run")
    (tacho.directory / "w.yaml").write_text(change(FEW.replace("repeats: 3", "repeats: 1")))
    done = tacho("bench", "w.yaml", "-o", "run", "--resume", expect=2)
    for word in words:
        assert word in done.stderr
    # A comment does not make another workload.
    (tacho.directory / "w.yaml").write_text("# as before\n" + FEW.replace("repeats: 3", "repeats: 1"))
    tacho("bench", "w.yaml", "-o", "run", "--resume")


def test_without_resume_a_run_is_never_built_upon(tacho):
    (tacho.directory / "w.yaml").write_text(FEW.replace("repeats: 3", "repeats: 1"))
    tacho("bench", "w.yaml", "-o", "run")
    before = started(tacho.directory / "run")
    assert "--resume" in tacho("bench", "w.yaml", "-o", "run", expect=2).stderr
    assert started(tacho.directory / "run") == before


def test_rounds_hold_every_point_once_in_an_order_of_their_own(tacho):
    (tacho.directory / "w.yaml").write_text(FEW)
    done = tacho("bench", "w.yaml", "-o", "run", "--json")
    summary = json.loads(done.stdout)
    ran = order(done.stderr)
    assert len(ran) == 12
    rounds = [ran[i : i + 4] for i in (0, 4, 8)]
    for one in rounds:
        assert len(set(one)) == 4
    assert len({tuple(one) for one in rounds}) > 1
    run = tacho.directory / "run"
    began = []
    for point in points(run):
        began += [(read(r / "run.json")["measured_from_ns"], int(r.name)) for r in (point / "repeats").iterdir()]
    # By the clock: no repeat of a round before the end of the previous round.
    assert [repeat for _, repeat in sorted(began)] == [0] * 4 + [1] * 4 + [2] * 4
    assert [point["repeats"] for point in summary["points"]] == [3] * 4
    # Figures cover all repeats.
    for directory, point in zip(points(run), summary["points"]):
        repeats = [read(r / "summary.json")["points"][0] for r in (directory / "repeats").iterdir()]
        assert point["sent"] == sum(r["sent"] for r in repeats)
        assert point["latency_us"]["max"] == max(r["latency_us"]["max"] for r in repeats)
        assert point["parameters"] == read(directory / "run.json")["parameters"]


def test_a_point_that_fails_is_kept_and_named_and_ends_nothing(tacho):
    (tacho.directory / "w.yaml").write_text(
        "middleware: [inproc, no_such_middleware, {inproc: no_such_transport}]\n"
        "topology: {kind: pairs, nodes: 1, rate: 100 Hz}\n"
        "run: {duration: 0.1 s, repeats: 2}\n"
    )
    done = tacho("bench", "w.yaml", "-o", "run", expect=3)
    run = tacho.directory / "run"
    right, missing, refused = points(run)
    assert "no_such_middleware" in done.stderr and missing.name in done.stderr
    assert "no_such_transport" in done.stderr and refused.name in done.stderr
    for directory in (missing, refused):
        info = read(directory / "run.json")
        assert info["cut_short"] and any("no_such" in text for text in info["missing"])
        assert not is_finished(directory)
        # Its other repeats would fail in the same way.
        assert [r.name for r in (directory / "repeats").iterdir()] == ["0"]
    summary = read(run / "summary.json")
    assert [p["parameters"] for p in summary["points"]] == [{"middleware": "inproc"}]
    assert summary["points"][0]["repeats"] == 2 and is_finished(right)
    notes = [note["text"] for note in summary["notes"]]
    assert any(missing.name in text and "no_such_middleware" in text for text in notes), notes
    # Failed runs are tried again, finished ones are not.
    before = read(right / "repeats" / "0" / "run.json")["started_at"]
    again = tacho("bench", "w.yaml", "-o", "run", "--resume", expect=3)
    assert read(right / "repeats" / "0" / "run.json")["started_at"] == before
    assert "2 of 6 runs are finished" in again.stderr


def test_each_point_runs_alone_by_its_own_file(tacho):
    (tacho.directory / "w.yaml").write_text(FEW.replace("repeats: 3", "repeats: 1"))
    tacho("bench", "w.yaml", "-o", "run")
    for directory in points(tacho.directory / "run"):
        alone = tacho.json("bench", directory / "workload.yaml", "-o", f"alone-{directory.name}")["points"][0]
        in_sweep = read(directory / "summary.json")["points"][0]
        for figure in ("publishers", "subscribers", "size_bytes", "rate_hz", "due", "topology"):
            assert alone[figure] == in_sweep[figure], figure


def test_the_short_form_runs_and_is_what_the_run_directory_holds(tacho):
    text = FEW.replace("0.1 s", "60 s") + "short: {topology: {nodes: 1}, run: {duration: 0.1 s, repeats: 1}}\n"
    (tacho.directory / "w.yaml").write_text(text)
    summary = tacho.json("bench", "w.yaml", "--short", "-o", "run")
    assert [p["parameters"] for p in summary["points"]] == [{"size": "16 B"}, {"size": "4 KiB"}]
    tacho("bench", "w.yaml", "--short", "-o", "run", "--resume")
    tacho("bench", "run/workload.yaml", "-o", "again")
    tacho("bench", "w.yaml", "-o", "run", "--resume", expect=2)


def test_topologies_come_without_a_file(tacho):
    options = ["--middleware", "inproc", "--rate", "100Hz", "--depth", "100", "--duration", "0.2s", "--json"]
    many = json.loads(
        tacho("bench", *options, "--topology", "one-to-many,many-to-one,pairs", "--nodes", "1,3", "-o", "run").stdout
    )
    shapes = [(p["topology"], p["publishers"], p["subscribers"]) for p in many["points"]]
    assert shapes == [
        ("one-to-many", 1, 1),
        ("one-to-many", 1, 3),
        ("many-to-one", 1, 1),
        ("many-to-one", 3, 3),
        ("pairs", 1, 1),
        ("pairs", 3, 3),
    ]
    for point in many["points"]:
        assert point["received"] == point["sent"] * point["subscribers"] // point["publishers"]
    # One point is a run like any other.
    one = json.loads(tacho("bench", *options, "--topology", "pairs", "--size", "64KiB", "-o", "one").stdout)
    assert one["points"][0]["size_bytes"] == 65536 and (tacho.directory / "one" / "events").is_dir()


def test_events_can_be_discarded_once_they_are_analysed(tacho):
    (tacho.directory / "w.yaml").write_text(FEW)
    summary = tacho.json("bench", "w.yaml", "-o", "run", "--discard-events")
    assert all(point["latency_us"]["count"] > 0 for point in summary["points"])
    runs = [r for point in points(tacho.directory / "run") for r in (point / "repeats").iterdir()]
    assert len(runs) == 12
    for run in runs:
        assert not (run / "events").exists() and (run / "tables" / "messages.parquet").is_file()
    assert tacho.json("explain", "run") == summary


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["bench", "w.yaml", "--resume"], ["--out"]),
        (["bench", "--topology", "star", "--rate", "1Hz"], ["star", "one-to-many"]),
        (["bench", "--topology", "pairs"], ["--rate"]),
        (["bench", "--topology", "pairs", "--rate", "10"], ["without a unit"]),
        (["bench", "w.yaml", "--topology", "pairs", "--rate", "1Hz"], ["--topology"]),
        (["bench", "w.yaml", "--short"], ["no-short"]),
        (["bench", "w.yaml", "--unrecorded"], ["sweep"]),
        (["tune", "w.yaml", "--method", "arrival"], ["is-a-sweep", "w.yaml:3"]),
    ],
)
def test_what_cannot_be_meant_is_refused(tacho, arguments, words):
    (tacho.directory / "w.yaml").write_text(FEW)
    done = tacho(*arguments, expect=2)
    for word in words:
        assert word in done.stderr, done.stderr


def test_check_says_how_much_a_sweep_is(tacho):
    (tacho.directory / "w.yaml").write_text(FEW + "short: {topology: {nodes: 1}, run: {repeats: 1}}\n")
    text = tacho("check", "w.yaml").stdout
    assert "4 points, 12 runs, 1.2 s of measuring" in text and "--short in order (a sweep of 2 points, 2 runs" in text
    listed = tacho("check", "--points", "w.yaml").stdout.splitlines()
    assert "  003-2-4KiB  3 x 100 ms  nodes: 2, size: 4 KiB" in listed
    assert sum(line.startswith("  ") for line in listed) == 4
    assert (
        sum(line.startswith("  ") for line in tacho("check", "--points", "--short", "w.yaml").stdout.splitlines()) == 2
    )


def test_nothing_is_left_of_a_sweep_that_was_killed(tacho):
    """Node processes of a run whose tacho was killed end by themselves."""
    (tacho.directory / "w.yaml").write_text(FEW.replace("0.1 s", "30 s"))
    run = tacho.directory / "run"
    process = tacho.start("bench", "w.yaml", "-o", "run")
    files = lambda: list(run.glob("points/*/repeats/0/events/*.events"))  # noqa: E731
    wait_for(files, "a node to record", process)
    pids = [int(file.name.split("-")[0]) for file in files()]
    process.send_signal(signal.SIGKILL)
    finished(process)
    wait_for(
        lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), "the node processes to end with their tacho"
    )
