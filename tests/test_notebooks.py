"""The notebooks of python/notebooks, executed on simulated runs, whose fault is known."""

import re
import subprocess

import nbformat
import pytest
from nbclient import NotebookClient
from places import ROOT
from python_package import install

FOLDER = ROOT / "python" / "notebooks"


#: A planner that reloads its map in the executor that plans, too: eight times, for 120 ms.
WORKLOAD = """
middleware: inproc
nodes:
  sensor: {publishes: {/points: {size: 64 KiB, rate: 20 Hz}}}
  planner:
    on: arrival
    subscribes: {/points: {work: 8 ms}}
    timers: {reload_map: {rate: 0.4 Hz, work: 120 ms}}
    publishes: {/trajectory: {size: 1 KiB}}
  controller: {on: arrival, subscribes: [/trajectory]}
chains: {braking: [sensor, planner, controller]}
run: {duration: 20 s}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a simulation of the planner as runs/latest."""
    folder = tmp_path_factory.mktemp("notebooks")
    (folder / "car.yaml").write_text(WORKLOAD)
    subprocess.run([ROOT / "build" / "tacho", "simulate", "car.yaml"], cwd=folder, check=True, capture_output=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(install(folder / "package")))
        patch.setenv("TACHO_HOME", str(ROOT / "build"))
        patch.setenv("DRIVES", "20")
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        yield folder


def executed(name, place):
    """What each cell of a notebook that computes something shows: its text, or "(picture)"."""
    notebook = nbformat.read(FOLDER / name, as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code"), f"{name} has outputs"
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(place)}}).execute()
    shown = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            data = [output.get("data", {}) for output in cell.outputs]
            texts = [output.get("text", "") for output in cell.outputs]
            texts += ["(picture)" if "image/png" in of else of.get("text/plain", "") for of in data]
            shown.append("\n".join(texts).strip())
    return shown


def test_first_look(place):
    verdict, schema, topics, latencies, callbacks, findings = executed("first-look.ipynb", place)
    assert "16 of 400 outputs" in verdict and "- /planner timer 2500 ms of /planner took up to 120 ms" in verdict
    assert "publish_ns               ns" in schema
    assert "/points" in topics and "/trajectory" in topics
    assert "(picture)" in latencies
    assert re.search(r"^/planner +timer 2500 ms +9 +120\.0+ +120\.0+ +9 +120", callbacks.splitlines()[3])
    assert "lint" in findings


def test_late_chain(place):
    chain, parts, hops, causes, excess, culprits = executed("late-chain.ipynb", place)
    assert "/sensor > /points > /planner > /trajectory > /controller" in chain
    assert "(picture)" in parts
    assert "took 94.6 ms; usual are 8.0 ms" in hops and "/planner" in hops and "/controller" in hops
    assert re.search(r"executor_busy +/planner timer 2500 ms +86\.6", causes.splitlines()[1])
    assert re.search(r"executor_busy +/planner timer 2500 ms", excess.splitlines()[1])
    assert culprits.startswith("/planner timer 2500 ms of /planner took up to 120 ms in 8 executions")


def test_thousand_drives(place):
    _, built, p99, distributions, worst, moved, compared = executed("thousand-drives.ipynb", place)
    assert "20 runs, 0 failed" in built
    p99_ms = {row.split()[2]: float(row.split()[3]) for row in p99.splitlines()[1:]}
    assert p99_ms["1.5"] > p99_ms["1.4"] + 4
    assert "(picture)" in distributions
    assert "1.5" in worst.splitlines()[1]
    computation_ms = {row.split()[1]: float(row.split()[2]) for row in moved.splitlines()[1:]}
    assert computation_ms["1.5"] == pytest.approx(computation_ms["1.4"] + 6, abs=1)
    worse, better = compared.splitlines()[:2]
    assert "callback /planner timer 50 ms duration mean" in worse and better == "better: []"
