"""`tachograph.fleet`: a dataset of many runs, made on a cluster, queried with SQL."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset as dataset
import pytest
from places import ROOT
from python_package import install

WORKLOAD = """
middleware: inproc
nodes:
  lidar: {publishes: {/points: {size: 64 KiB, rate: 20 Hz}}}
  detector: {on: arrival, work: {quantiles: [4 ms, 6 ms, 20 ms]}, subscribes: [/points], publishes: {/objects: {size: 1 KiB}}}
  planner: {on: timer 20 Hz, work: 3 ms, subscribes: [/objects], publishes: {/trajectory: {size: 1 KiB}}}
  brake: {on: arrival, subscribes: [/trajectory]}
chains: {braking: [lidar, detector, planner, brake]}
run: {duration: 5 s}
"""
RUNS = 16


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Puts the package and the command of the build into the environment, which workers inherit."""
    with pytest.MonkeyPatch.context() as patch:
        site = install(tmp_path_factory.mktemp("package"))
        patch.setenv("TACHO_HOME", str(ROOT / "build"))
        patch.setenv("PYTHONPATH", str(site))
        patch.syspath_prepend(site)
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "tachograph"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def fleet(environment):
    from tachograph import fleet

    return fleet


def sources(fleet, folder):
    """Simulated drives of two versions; the planner of the second computes three times as long."""
    workload = folder / "drive.yaml"
    workload.write_text(WORKLOAD)
    slower = ["--set", "planner.work=9 ms"]
    return [
        fleet.Source(workload, {"version": f"1.{n % 2}"}, ["--seed", str(n), *(slower if n % 2 else [])])
        for n in range(RUNS)
    ]


@pytest.fixture(scope="module")
def drives(fleet, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    seen = []
    built = fleet.build(folder / "drives", sources(fleet, folder), progress=lambda done, of: seen.append((done, of)))
    assert built.failed == {} and seen == [(n + 1, RUNS) for n in range(RUNS)]
    return built


def end_to_end_ms(run):
    return run.chain("braking").instances().column("end_to_end_ns").to_numpy() / 1e6


@pytest.mark.parametrize("q", [0, 0.5, 0.99, 1])
def test_a_quantile_is_that_of_all_instances_of_all_runs_together(drives, q):
    found = {row["version"]: row for row in drives.quantile("end_to_end_ms", q, by="version").to_pylist()}
    values = {"1.0": [], "1.1": []}
    for row in drives.runs().to_pylist():
        values[row["version"]].append(end_to_end_ms(drives.run(row["run_id"])))
    for version, of_runs in values.items():
        whole = np.concatenate(of_runs)
        assert found[version]["count"] == len(whole) > 500
        exact = np.quantile(whole, q, method="inverted_cdf")
        assert found[version][f"end_to_end_ms_q{q * 100:g}"] == pytest.approx(exact, rel=0.0101)
    (of_all,) = drives.quantile("end_to_end_ms", q, name="braking").to_pylist()
    assert of_all["count"] == sum(row["count"] for row in found.values())


def test_sketches_add_up_and_keep_their_accuracy():
    from tachograph import _sketch

    draw = np.random.default_rng(1)
    values = np.concatenate([draw.lognormal(3, 4, 5000), np.zeros(100), [1e-12, 1e15]])
    parts = [_sketch.buckets(pa.array(part)) for part in np.array_split(values, 7)]
    added = {}
    for numbers, counts in parts:
        for number, count in zip(numbers.to_pylist(), counts.to_pylist()):
            added[number] = added.get(number, 0) + count
    numbers, counts = _sketch.buckets(pa.array(values))
    assert added == dict(zip(numbers.to_pylist(), counts.to_pylist()))
    for value in values:
        ((number,), _) = (of.to_pylist() for of in _sketch.buckets(pa.array([value])))
        assert _sketch.value_of(number) == pytest.approx(value, rel=_sketch.ACCURACY * 1.000001)
    assert len(_sketch.buckets(pa.array([None, None], pa.float64()))[0]) == 0


def test_the_worst_runs_come_first(drives):
    worst = {run_id: end_to_end_ms(drives.run(run_id)).max() for run_id in drives.run_ids}
    found = drives.worst("braking", n=5)
    assert found.column("run_id").to_pylist() == sorted(worst, key=lambda run_id: (-worst[run_id], run_id))[:5]
    assert found.column("end_to_end_ms_max").to_pylist() == pytest.approx(sorted(worst.values())[-5:][::-1], abs=1e-5)
    found = drives.compare("version = '1.0'", "version = '1.1'", options=["--only", "callback /planner"])
    assert any("cpu mean" in name for name in found.worse) and not found.better


def moved_most(drives):
    """Causes of late instances, with by whom, in the order in which their time a run moved between the versions."""
    spent = {}
    for row in drives.runs().to_pylist():
        sign = 1 if row["version"] == "1.1" else -1
        for cause in drives.run(row["run_id"]).causes().to_pylist():
            if cause["instance"] is not None:
                key = (cause["kind"], cause["by"])
                spent[key] = spent.get(key, 0) + sign * (cause["duration_ns"] or 0)
    return sorted(spent, key=lambda key: -abs(spent[key]))


def test_the_page_shows_what_changed_the_cause_that_moved_and_the_worst_runs(drives, tmp_path):
    page = drives.page(tmp_path / "page.html").read_text()
    assert f"{RUNS} runs, by version: 1.0 ({RUNS // 2}), 1.1 ({RUNS // 2}). 0 could not be read." in page
    changed, chains, causes, worst = re.split("<h2>.*</h2>", page)[1:]
    assert "callback /planner timer 50 ms cpu mean: worse" in changed and "better" not in changed
    for row in drives.quantile("end_to_end_ms", 0.99, by="version").to_pylist():
        assert f">{row['end_to_end_ms_q99']:.3g}</td>" in chains
    assert re.findall("<tr><td>braking</td><td>(.*?)</td><td>(.*?)</td>", causes) == moved_most(drives)[:10]
    assert re.findall("<tr><td>(r-.*?)</td>", worst) == drives.worst("braking").column("run_id").to_pylist()


def test_the_page_shows_labels_and_reasons_as_text(fleet, drives, tmp_path):
    hostile = "<script>alert('1')</script>"
    path = drives.run(drives.run_ids[0]).path
    built = fleet.build(tmp_path / "fleet", [fleet.Source(path, {"build": hostile}), tmp_path / "<b>none"])
    page = built.page(tmp_path / "page.html", by="build").read_text()
    assert "<script" not in page and "<b>" not in page
    assert page.count("&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;") > 2 and "&lt;b&gt;none" in page


def test_other_engines_read_the_dataset_with_ids_as_text(drives):
    query = (
        f"SELECT run, run_id, sum(instances) AS n FROM '{drives.folder}/chains/*/*.parquet' GROUP BY ALL ORDER BY run"
    )
    rows = duckdb.sql(query).fetchall()
    assert [row[0] for row in rows] == [row[1] for row in rows] == drives.run_ids
    read = dataset.dataset(drives.folder / "distributions", partitioning="hive").to_table()
    assert read.column("run").cast(pa.string()).equals(read.column("run_id"))
    counted = read.filter((dataset.field("figure") == "end_to_end_ms")).column("count")
    assert sum(counted.to_pylist()) == sum(row[2] for row in rows)


def test_a_failure_is_named_and_tried_again_and_costs_no_other_run(fleet, drives, tmp_path):
    good = [fleet.Source(drives.run(run_id).path, {"version": "1"}) for run_id in drives.run_ids[:3]]
    torn = tmp_path / "torn"
    shutil.copytree(good[0].path, torn)
    table = torn / "tables" / "instances.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:100])
    built = fleet.build(tmp_path / "fleet", [*good, torn, tmp_path / "nothing"])
    assert len(built.run_ids) == 3
    assert f"TornTable: {table}: no whole Parquet file" in built.failed[str(torn)]
    assert "there is nothing" in built.failed[str(tmp_path / "nothing")]
    table.write_bytes(whole)
    before = [path.stat().st_mtime_ns for path in (tmp_path / "fleet" / "runs").glob("*/*.parquet")]
    built = fleet.build(tmp_path / "fleet", [*good, torn])
    assert len(built.run_ids) == 4 and list(built.failed) == [str(tmp_path / "nothing")]
    after = [path.stat().st_mtime_ns for path in (tmp_path / "fleet" / "runs").glob("*/*.parquet")]
    assert set(before) < set(after), "finished runs were made again"


def test_a_trace_is_imported_by_its_task(fleet, tmp_path):
    with tarfile.open(ROOT / "tests/fixtures/ctf/talker_listener_5s.tar.gz") as archive:
        archive.extractall(tmp_path / "trace")
    built = fleet.build(tmp_path / "fleet", [fleet.Source(tmp_path / "trace", {"vehicle": "b7"})])
    assert built.failed == {}
    (row,) = built.runs().to_pylist()
    assert row["vehicle"] == "b7" and row["path"] == str(tmp_path / "fleet" / "made" / row["run_id"])
    # truth.json was made by another program, on babeltrace2.
    truth = json.loads((tmp_path / "trace" / "truth.json").read_text())
    (chatter,) = [topic for topic in truth["topics"] if topic["topic"] == "/chatter"]
    received = built.sql("SELECT received FROM topics WHERE topic = '/chatter'").column("received").to_pylist()
    assert received == [chatter["publish_to_take"]["count"]]


def test_a_sweep_is_no_run_of_a_fleet_but_its_points_are(fleet, drives, tmp_path):
    (tmp_path / "drive.yaml").write_text(WORKLOAD)
    words = [
        ROOT / "build" / "tacho",
        "simulate",
        tmp_path / "drive.yaml",
        "--repeats",
        "2",
        "-o",
        tmp_path / "runs/two",
    ]
    subprocess.run(words, check=True, capture_output=True)
    built = fleet.build(tmp_path / "fleet", [tmp_path / "runs" / "two"])
    assert "expected single runs: fleet.sources_in" in built.failed[str(tmp_path / "runs" / "two")]
    assert len(fleet.build(tmp_path / "fleet", fleet.sources_in(tmp_path / "runs")).run_ids) == 2


def test_a_worker_that_is_killed_costs_no_run(fleet, tmp_path):
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        victims = list(client.run(os.getpid).values())[:1]

        def kill_one(done, of):
            if done == 2:
                os.kill(victims.pop(), signal.SIGKILL)

        built = fleet.build(tmp_path / "drives", sources(fleet, tmp_path), client=client, progress=kill_one)
    assert not victims
    assert built.failed == {} and len(built.run_ids) == RUNS
    chains = built.sql("SELECT count(*) AS n FROM chains WHERE name = 'braking'")
    assert chains.to_pylist() == [{"n": RUNS}]
