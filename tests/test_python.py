"""The Python package `tachograph`: tables, chains, verbs, errors, and the pytest plugin."""

import json
import os
import re
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
import pytest
from domains import free_domain
from places import PROGRAMS, ROOT
from python_package import install
from test_compare import runs as runs_with_latencies
from waiting import wait_for

WORKLOAD = """
middleware: inproc
nodes:
  source: {publishers: {}, publishes: {/input: {size: 64 B, rate: 100 Hz, depth: 100}}}
  filter: {on: arrival, work: 0.2 ms, subscribes: {/input: {depth: 100}}, publishes: {/filtered: {size: 64 B, depth: 100}}}
  sink: {on: arrival, subscribes: {/filtered: {depth: 100}}}
chains: {through: [source, filter, sink]}
run: {duration: 1 s, repeats: 2}
""".replace("publishers: {}, ", "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return install(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def tachograph(site):
    """The package, which runs the command of the build."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TACHO_HOME", str(ROOT / "build"))
        patch.syspath_prepend(site)
        import tachograph

        yield tachograph
    for name in [name for name in sys.modules if name.partition(".")[0] == "tachograph"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def whole(tachograph, tmp_path_factory):
    """A run of a workload with two repeats."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "workload.yaml").write_text(WORKLOAD)
    return tachograph.bench(folder / "workload.yaml", folder / "run")


@pytest.fixture
def run(tachograph, whole, tmp_path):
    """The first repeat, a copy to damage."""
    return tachograph.open(shutil.copytree(whole.repeats[0], tmp_path / "run"))


def test_the_methods_of_tables_are_written_from_the_page_of_tables():
    done = subprocess.run([sys.executable, ROOT / "python" / "generate", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_its_types_are_right_as_users_check_them():
    words = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--no-incremental"]
    words += ["--ignore-missing-imports", "--cache-dir=/dev/null", ROOT / "python" / "tachograph"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert (ROOT / "python" / "tachograph" / "py.typed").is_file()


def test_every_table_has_the_rows_of_its_file_and_what_columns_mean_and_are_measured_in(run):
    files = {path.stem for path in (run.path / "tables").glob("*.parquet")}
    assert files == set(run.table_names())
    for name in run.table_names():
        found, plain = getattr(run, name)(names=False), parquet.read_table(run.path / "tables" / f"{name}.parquet")
        assert found.cast(plain.schema).equals(plain), name
        stored = json.loads(plain.schema.metadata[b"tachograph"])["rows_of"]
        for column in found.schema:
            assert column.metadata[b"description"], f"{name}.{column.name}"
            assert column.metadata.get(b"unit") == (
                b"ns"
                if column.name.endswith("_ns")
                else b"bytes"
                if column.name.endswith("_bytes")
                else b"ppm"
                if column.name.endswith("_ppm")
                else None
            ), column.name
            assert column.metadata.get(b"rows_of", b"").decode() == stored.get(column.name, ""), column.name
    assert run.messages().num_rows > 100


def test_numbers_of_rows_are_followed_by_names(run):
    nodes = run.nodes().column("name").to_pylist()
    endpoints = run.endpoints(names=False).to_pylist()
    for message in run.messages().to_pylist():
        publisher = endpoints[message["publisher"]]
        assert message["publisher_node"] == nodes[publisher["node"]]
        assert message["publisher_topic"] == publisher["topic"]
    callbacks = run.callbacks(names=False).to_pylist()
    executions = run.executions().to_pylist()
    for execution in executions:
        assert execution["callback_node"] == nodes[callbacks[execution["callback"]]["node"]]
    causes = run.causes().to_pylist()
    assert any(cause["execution"] is not None for cause in causes)
    for cause in causes:
        of = None if cause["execution"] is None else executions[cause["execution"]]
        assert cause["execution_node"] == (of and of["callback_node"])
        assert cause["execution_callback"] == (of and of["callback_name"])
    assert set(run.executions().column("callback_name").to_pylist()) == {
        "timer 10 ms",
        "subscription /input",
        "subscription /filtered",
    }
    frame = run.messages().to_pandas()
    assert set(frame["subscription_topic"]) == {"/input", "/filtered"}
    assert run.messages(columns=["take_ns", "subscription"]).column_names == [
        "take_ns",
        "subscription",
        "subscription_node",
        "subscription_topic",
    ]


def test_a_chain_has_its_own_rows_and_their_parts_add_up(tachograph, run):
    chain = run.chain("through")
    assert chain.critical and chain.path == ["/source", "/input", "/filter", "/filtered", "/sink"]
    assert run.chain().path == chain.path
    instances = chain.instances()
    assert instances.num_rows == chain.figures["instances"] > 50
    worst_ms = max(instances.column("end_to_end_ns").to_pylist()) / 1e6
    assert chain.figures["end_to_end_ms"]["max"] == pytest.approx(worst_ms, abs=1e-6)
    assert chain.hops().num_rows == 3 * instances.num_rows
    assert chain.hops(columns=["position"]).column_names == ["position"]
    assert chain.inputs().num_rows >= instances.num_rows
    causes = chain.causes().filter(pc.is_valid(chain.causes().column("instance")))
    spent = causes.group_by("instance").aggregate([("duration_ns", "sum")])
    whole = dict(zip(instances.column("row_id").to_pylist(), instances.column("end_to_end_ns").to_pylist()))
    assert spent.num_rows > 0
    assert {row["instance"]: row["duration_ns_sum"] for row in spent.to_pylist()}.items() <= whole.items()
    with pytest.raises(tachograph.NoSuchName, match="no chain of .* is called brake; there are: through"):
        run.chain("brake")


def test_figures_verdict_and_findings_are_those_of_the_summary(tachograph, run, tacho):
    summary = tacho.json("explain", run.path)
    topics = run.figures("topics").to_pylist()
    assert [of["latency_us.p99"] for of in topics] == [of["latency_us"]["p99"] for of in summary["topics"]]
    assert run.verdict().text == summary["verdict"]["text"]
    assert run.verdict().usual_ms == summary["verdict"]["usual_ms"]
    cases = [case["subject"] for finding in summary["findings"] for case in finding["cases"]]
    assert run.findings().column("subject").to_pylist() == cases
    (run.path / "summary.json").unlink()
    assert tachograph.open(run).verdict().text == summary["verdict"]["text"]
    with pytest.raises(tachograph.NoSuchName, match="no figures of roads; it has: .*topics"):
        run.figures("roads")


def test_what_an_older_tacho_did_not_write_is_absent(run):
    tables = run.path / "tables"
    (tables / "layers.parquet").unlink()
    assert run.layers().num_rows == 0 and "transport_ns" in run.layers().column_names
    instances = parquet.read_table(tables / "instances.parquet")
    parquet.write_table(instances.drop_columns(["row_id", "kept_ns", "off_cpu_ns"]), tables / "instances.parquet")
    assert run.instances().column("row_id").to_pylist() == list(range(instances.num_rows))
    assert run.instances().column("off_cpu_ns").null_count == instances.num_rows


@pytest.mark.parametrize("size", [0, 4, 100, -1])
def test_a_torn_table_is_named(tachograph, run, size):
    path = run.path / "tables" / "messages.parquet"
    os.truncate(path, path.stat().st_size + size if size < 0 else size)
    with pytest.raises(tachograph.TornTable, match=f"{re.escape(str(path))}: no whole Parquet file"):
        run.messages()


def test_a_table_that_every_run_has_is_missed_and_other_versions_are_named(tachograph, run):
    tables = run.path / "tables"
    (tables / "hops.parquet").unlink()
    with pytest.raises(tachograph.TornTable, match="hops.parquet: not there"):
        run.hops()
    nodes = parquet.read_table(tables / "nodes.parquet")
    parquet.write_table(nodes.drop_columns("name"), tables / "nodes.parquet")
    with pytest.raises(tachograph.VersionMismatch, match=f"no column name; tacho {run.version} wrote it, this is"):
        run.nodes()
    parquet.write_table(nodes.set_column(2, "name", pa.array([1] * len(nodes))), tables / "nodes.parquet")
    with pytest.raises(tachograph.VersionMismatch, match="column name is int64, expected string"):
        run.nodes()


def test_what_is_no_run_is_said(tachograph, whole, tmp_path):
    for path, said in [
        (tmp_path / "nothing", "there is nothing; expected a run directory"),
        (tmp_path, "has no run.json"),
        (whole.path / "run.json", "a file; expected a run directory"),
        (whole.path.parent, "a folder of runs; expected one of them: run"),
    ]:
        with pytest.raises(tachograph.NotARun, match=said):
            tachograph.open(path)
    with pytest.raises(tachograph.NoTables, match=r"has repeats .* read those of repeats\[0\] to \[1\]"):
        whole.messages()
    torn = tmp_path / "torn"
    torn.mkdir()
    (torn / "run.json").write_text('{"verb": ')
    with pytest.raises(tachograph.TornTable, match="run.json: no whole JSON file"):
        tachograph.open(torn).info


def test_a_command_of_another_version_is_refused_and_a_missing_one_named(tachograph, whole, tmp_path, monkeypatch):
    other = tmp_path / "tacho"
    other.write_text("#!/bin/sh\necho tacho 99.0.0\n")
    other.chmod(0o755)
    monkeypatch.setenv("TACHO_HOME", str(tmp_path))
    with pytest.raises(tachograph.VersionMismatch, match="is version 99.0.0, expected 0"):
        whole.explain()
    other.unlink()
    with pytest.raises(tachograph.CommandNotFound, match="TACHO_HOME names this folder"):
        whole.explain()
    monkeypatch.delenv("TACHO_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tachograph.CommandNotFound, match="install the wheel"):
        whole.explain()


def test_verbs_are_calls(tachograph, whole, tmp_path):
    assert "through" in whole.explain("--all")
    assert whole.report(tmp_path / "page.html").read_text().startswith("<!doctype html>")
    simulated = whole.repeats[0].simulate(
        tmp_path / "simulated", set={"filter.work": "5 ms"}, options=["--repeats", "1"]
    )
    least_ms = min(simulated.chain("through").instances().column("computation_ns").to_pylist()) / 1e6
    assert least_ms >= 5
    with pytest.raises(tachograph.CommandFailed, match="exit code 2.*no value|exit code 2") as failed:
        whole.simulate(tmp_path / "bad", set={"nobody.work": "5 ms"})
    assert failed.value.code == 2 and "nobody" in failed.value.stderr
    exported = whole.repeats[0].export("csv", tmp_path / "csv")
    assert (exported / "messages.csv").is_file()


def test_a_recording_ends_with_its_block_and_its_run_is_there_then(tachograph, ros_python, tmp_path):
    environment = os.environ | {"ROS_DOMAIN_ID": str(free_domain()), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    command = [ros_python, PROGRAMS / "listener.py", "1000000"]
    with tachograph.recording(command, tmp_path / "run", env=environment, patience_s=1) as recording:
        holds_events = lambda: any(path.stat().st_size for path in (tmp_path / "run/events").glob("*.events"))  # noqa: E731
        wait_for(holds_events, "the node's first event")
        with pytest.raises(tachograph.TachographError, match="the recording goes on"):
            recording.run
    assert recording.exit_code is not None
    assert recording.run.path == tmp_path / "run"
    assert recording.run.processes().num_rows == 1


def test_a_recording_ends_after_its_seconds_and_what_cannot_start_is_named(tachograph, tmp_path):
    run = tachograph.record(["sleep", "600"], tmp_path / "run", seconds=0.5)
    assert run.info["verb"] == "record" and run.info["duration_s"] < 600
    deaf = ["sh", "-c", "trap '' INT TERM; while :; do sleep 0.1; done"]
    assert tachograph.record(deaf, tmp_path / "deaf", seconds=0.2, patience_s=0.2).info["verb"] == "record"
    with pytest.raises(tachograph.CommandFailed, match="no-such-program") as failed:
        tachograph.record(["no-such-program"], tmp_path / "none")
    assert failed.value.code != 0
    with pytest.raises(tachograph.CommandFailed, match="no-such-option"):
        with tachograph.recorded_environment(tmp_path / "none", options=["--no-such-option"]):
            raise AssertionError("it was recorded")


def test_compare_names_what_is_worse(tachograph, tmp_path):
    fast = runs_with_latencies(tmp_path, "fast", [100, 101, 102, 103, 104, 105, 106])
    slow = runs_with_latencies(tmp_path, "slow", [110, 111, 112, 113, 114, 115, 116])
    found = tachograph.compare(fast, slow, options=["--only", "latency mean"])
    assert found.worse == ["topic /points latency mean"] and not found.better
    (row,) = found.figures().to_pylist()
    assert row["before"] == [100, 101, 102, 103, 104, 105, 106] and row["shift"] == 10
    assert tachograph.compare(slow, fast, options=["--only", "latency mean"]).better == ["topic /points latency mean"]


def test_expectations_that_are_not_kept_fail_as_assertions(tachograph, run):
    run.expect({"topic /input loss": "0 %"})
    run.chain("through").expect(reaction="< 60 s", end_to_end_p99="< 60 s")
    with pytest.raises(AssertionError, match="chain through reaction: < 1 us: not kept") as failed:
        run.chain("through").expect(reaction="< 1 us", age="< 60 s")
    assert len(failed.value.texts) == 1


TESTS_OF_A_USER = """
import subprocess, sys, time

PYTHON, PROGRAMS = {python!r}, {programs!r}


def test_of_a_command(recorded):
    run = recorded([PYTHON, PROGRAMS + "/blocking_planner.py", "2"])
    chain = run.chain("/sensor to /controller")
    assert chain.instances().num_rows > 10
    chain.expect(end_to_end="< 60 s")


def test_of_processes(recorded_processes):
    with recorded_processes() as recording:
        listener = subprocess.Popen([PYTHON, PROGRAMS + "/listener.py", "20"])
        talker = subprocess.Popen([PYTHON, PROGRAMS + "/talker.py", "20", "0.02"])
        assert talker.wait(300) == 0 and listener.wait(300) == 0
    run = recording.run
    assert run.nodes().column("name").to_pylist().count("/talker") == 1
    chatter = run.messages().to_pandas().query("subscription_topic == '/chatter'")
    assert len(chatter) == 20
    run.expect({{"topic /chatter latency": "< 1 ns"}})


def test_after_it_is_not_recorded():
    import os
    assert "TACHO_EVENTS_DIR" not in os.environ
"""


def test_the_plugin_records_what_a_test_runs_and_shows_the_verdict_where_it_fails(site, ros_python, tmp_path):
    (tmp_path / "test_car.py").write_text(TESTS_OF_A_USER.format(python=ros_python, programs=str(PROGRAMS)))
    environment = os.environ | {
        "TACHO_HOME": str(ROOT / "build"),
        "PYTHONPATH": str(site),
        "ROS_DOMAIN_ID": str(free_domain()),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        # As colcon needs it: it writes the options of pytest itself.
        "TACHOGRAPH_RUNS": str(tmp_path / "kept"),
    }
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*words, tmp_path], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "topic /chatter latency: < 1 ns: not kept" in done.stdout
    assert re.search(r"-+ tachograph: .*test_of_processes/run-0 -+\n\S", done.stdout), done.stdout
    assert (tmp_path / "kept" / "test_car.py_test_of_a_command" / "run-0" / "summary.json").is_file()

    (tmp_path / "test_place.py").write_text(
        "def test_place(_tachograph_places):\n    print(_tachograph_places.folder)\n"
    )
    words += ["--capture=no", "--tachograph-runs", tmp_path / "elsewhere", tmp_path / "test_place.py"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert str(tmp_path / "elsewhere") in done.stdout, "the option comes before the variable"
