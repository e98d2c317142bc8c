"""The notebooks of python/notebooks, executed on a run with a known fault, and on simulated drives."""

import os
import subprocess

import nbformat
import pytest
from domains import free_domain
from nbclient import NotebookClient
from places import PROGRAMS, ROOT
from python_package import install

FOLDER = ROOT / "python" / "notebooks"


@pytest.fixture(scope="module")
def place(tmp_path_factory, ros_python):
    """A folder with the recording of a planner that reloads its map in its executor, as runs/latest."""
    folder = tmp_path_factory.mktemp("notebooks")
    environment = os.environ | {
        "ROS_DOMAIN_ID": str(free_domain()),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }
    words = [ROOT / "build" / "tacho", "record", "--", ros_python, PROGRAMS / "blocking_planner.py", "2"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
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
    assert "reload_map" in verdict
    assert "publish_ns               ns" in schema
    assert "/points" in topics and "/trajectory" in topics
    assert "(picture)" in latencies
    assert "reload_map" in callbacks.splitlines()[3], "it takes longest"
    assert "lint" in findings


def test_late_chain(place):
    chain, parts, hops, causes, excess, culprits = executed("late-chain.ipynb", place)
    assert "/sensor > /points > /planner > /trajectory > /controller" in chain
    assert "(picture)" in parts
    assert "/planner" in hops and "/controller" in hops
    assert "executor_busy" in causes and "reload_map" in causes
    assert "reload_map" in excess.splitlines()[1], "it took most beyond its usual time"
    assert "reload_map" in culprits.splitlines()[0]


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
