"""`tacho compare` against scipy, its exit codes, and its outputs for other tools."""

import csv
import itertools
import json
import random
import shutil
import statistics
import xml.etree.ElementTree as ElementTree

import pytest
from scipy.stats import mannwhitneyu

INFO = {
    "verb": "record",
    "command": [],
    "tacho_version": "",
    "started_at": "",
    "duration_s": 1,
    "versions": {},
    "processes": [],
    "missing": [],
    "cut_short": False,
}


def runs(folder, name, values, loss=0):
    """Run directories with these mean latencies of one topic."""
    paths = []
    for number, mean in enumerate(values):
        path = folder / f"{name}-{number}"
        path.mkdir()
        (path / "run.json").write_text(json.dumps(INFO | {"started_at": f"2026-01-01T00:00:{number:02}Z"}))
        times = dict.fromkeys(["min", "q1", "median", "q3", "mean", "p99", "max"], mean) | {"count": 100}
        topic = {"topic": "/points", "publishers": ["/lidar"], "subscribers": ["/ndt"], "sent": 100}
        topic |= {"received": 100 - loss, "lost": loss, "latency_us": times, "rate_hz": mean}
        (path / "summary.json").write_text(json.dumps({"topics": [topic]}))
        paths.append(path)
    return paths


def compared(tacho, before, after, *options, figure="latency mean", expect=0):
    printed = tacho("compare", *before, *options, "--json", "--", *after, expect=expect).stdout
    figures = json.loads(printed)["comparison"]["figures"]
    (found,) = [
        of for of in figures if of["subject"] == {"kind": "topic", "name": "/points"} and of["figure"] == figure
    ]
    return found


@pytest.mark.parametrize("sizes", [(5, 5), (4, 7), (10, 10), (12, 9)])
@pytest.mark.parametrize("moved", [0, 3, 60])
def test_p_and_interval_are_those_of_scipy_and_of_trying_every_shift(tacho, sizes, moved):
    draw = random.Random(f"{sizes} {moved}")
    a = [draw.gauss(100, 5) for _ in range(sizes[0])]
    b = [draw.gauss(100 + moved, 5) for _ in range(sizes[1])]
    before, after = runs(tacho.directory, "a", a), runs(tacho.directory, "b", b)
    # A rate is not judged, whatever is found.
    found = compared(tacho, before, after, "--only", "rate", figure="rate")
    assert found["verdict"] == "not_judged"
    assert found["p"] == pytest.approx(mannwhitneyu(a, b, method="exact").pvalue, rel=1e-9)
    differences = sorted(y - x for x, y in itertools.product(a, b))
    assert found["shift"] == pytest.approx(statistics.median(differences), rel=1e-9)
    # The interval holds the shifts that scipy's exact test does not reject: it changes at differences alone.
    between = [(low + high) / 2 for low, high in itertools.pairwise(differences)]
    kept = [by for by in between if mannwhitneyu(a, [y - by for y in b], method="exact").pvalue > 0.05]
    interval = found["shift_interval"]
    assert interval["low"] < min(kept) and max(kept) < interval["high"]
    rejected = [by for by in between if not min(kept) <= by <= max(kept)]
    assert all(not interval["low"] < by < interval["high"] for by in rejected)


def test_what_is_worse_exits_1_and_what_is_better_0(tacho):
    slow = runs(tacho.directory, "slow", [110, 111, 112, 113, 114, 115, 116])
    fast = runs(tacho.directory, "fast", [100, 101, 102, 103, 104, 105, 106])
    assert compared(tacho, fast, slow, expect=1)["verdict"] == "worse"
    assert compared(tacho, slow, fast)["verdict"] == "better"
    assert compared(tacho, slow, fast, "--matters", "20%")["verdict"] == "unchanged"


def test_three_runs_a_side_are_undecided_and_told_how_many_are_needed(tacho):
    before, after = runs(tacho.directory, "a", [100, 101, 102]), runs(tacho.directory, "b", [200, 201, 202])
    assert compared(tacho, before, after)["verdict"] == "undecided"
    text = tacho("compare", *before, "--", *after).stdout
    assert "cannot show a difference" in text and "0.10" in text and "runs a side" in text


def test_repeats_of_a_run_are_its_runs(tacho):
    for side, base in (("a", 100), ("b", 150)):
        whole = tacho.directory / side
        (whole / "repeats").mkdir(parents=True)
        (whole / "run.json").write_text(json.dumps(INFO))
        for number, path in enumerate(runs(tacho.directory, f"of-{side}", [base + n for n in range(6)])):
            shutil.move(path, whole / "repeats" / str(number))
    assert compared(tacho, ["a"], ["b"], expect=1)["before"] == [100, 101, 102, 103, 104, 105]
    tacho("compare", "a", "b", expect=1)


def test_expectations_of_one_run_are_kept_or_exit_1(tacho):
    (run,) = runs(tacho.directory, "a", [1500], loss=2)
    limits = tacho.directory / "limits.yaml"
    limits.write_text("topic /points latency p99: < 2 ms\n")
    assert "kept, the greatest is 1500.000 us" in tacho("compare", run, "--expect", limits).stdout
    limits.write_text("loss: 0 %\ntopic /points latency: < 2 ms\n")
    assert "loss: 0 %: not kept" in tacho("compare", run, "--expect", limits, expect=1).stdout
    limits.write_text("loss: 0 %\nlatncy: < 2 ms\n")
    assert "limits.yaml:2" in tacho("compare", run, "--expect", limits, expect=2).stderr
    limits.write_text("loss: few\n")
    assert "limits.yaml:1" in tacho("compare", run, "--expect", limits, expect=2).stderr


def test_usage_that_makes_no_sense_is_refused(tacho):
    three = runs(tacho.directory, "a", [1, 2, 3])
    assert "--" in tacho("compare", *three, expect=2).stderr
    assert "second run" in tacho("compare", three[0], expect=2).stderr
    assert "no such directory" in tacho("compare", three[0], "nowhere", expect=2).stderr
    (three[1] / "summary.json").write_text("{")
    assert "summary.json" in tacho("compare", three[0], three[1], expect=3).stderr


def test_junit_and_markdown_say_what_was_found(tacho):
    fast = runs(tacho.directory, "fast", [100, 101, 102, 103, 104, 105, 106])
    slow = runs(tacho.directory, "slow", [210, 211, 212, 213, 214, 215, 216], loss=1)
    limits = tacho.directory / "limits.yaml"
    limits.write_text("loss: 0 %\n")
    tacho("compare", *fast, "--expect", limits, "--junit", "x.xml", "--markdown", "x.md", "--", *slow, expect=1)
    root = ElementTree.parse(tacho.directory / "x.xml").getroot()
    cases = root.findall("testsuite/testcase")
    failed = [case for case in cases if case.find("failure") is not None]
    assert root.tag == "testsuites" and int(root.get("tests")) == len(cases)
    assert int(root.get("failures")) == len(failed) == sum(int(s.get("failures")) for s in root.findall("testsuite"))
    assert {case.get("name") for case in failed} >= {"latency mean", "loss", "loss: 0 %"}
    text = (tacho.directory / "x.md").read_text()
    assert "| worse | topic /points latency mean | 103.0 us | 213.0 us |" in text and "**not kept**" in text


def test_a_history_has_a_number_in_each_cell_and_each_run_once(tacho):
    first = runs(tacho.directory, "a", [100, 101])
    for _ in range(2):
        for run in first:
            tacho("compare", run, "--history", "history.csv", "--version-of", "1.4")
    rows = list(csv.DictReader((tacho.directory / "history.csv").open()))
    assert [row["topic /points latency mean us"] for row in rows] == ["100", "101"]
    assert [row["version"] for row in rows] == ["1.4", "1.4"] and rows[0]["time"] == "2026-01-01T00:00:00Z"
    assert all(float(value) is not None for row in rows for key, value in row.items() if key.endswith(("us", "%")))
