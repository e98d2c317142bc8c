"""`tacho import` end to end, on real traces: what it leaves in the run, and what it refuses."""

import json
import tarfile
from pathlib import Path

import pytest
from places import ROOT

TRACES = ROOT / "tests/fixtures/ctf"


@pytest.fixture
def unpacked(tmp_path):
    def unpack(name: str) -> Path:
        with tarfile.open(TRACES / f"{name}.tar.gz") as archive:
            archive.extractall(tmp_path / name)
        return tmp_path / name

    return unpack


def test_service_calls_stand_in_the_summary(tacho, unpacked, tmp_path):
    folder = unpacked("service_5s")
    tacho("import", folder / "ctf", "-o", "run", "--json")
    truth = json.loads((folder / "truth.json").read_text())["service_requests"]
    (service,) = json.loads((tmp_path / "run/summary.json").read_text())["services"]
    assert (service["sent"], service["complete"]) == (truth["sent"], truth["complete"])
    assert service["round_trip_us"]["max"] == pytest.approx(truth["round_trip"]["max_ns"] / 1e3)
    assert "/get_it" in tacho("explain", "run").stdout


def test_an_imported_process_was_not_killed_and_its_lost_events_are_placed(tacho, unpacked, tmp_path):
    tacho("import", unpacked("autoware_prio_discards_5s") / "ctf", "-o", "run", "--json")
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert sum(gap["events"] for gap in info["gaps"]) == 7625
    notes = {note["name"] for note in json.loads((tmp_path / "run/summary.json").read_text())["notes"]}
    assert "lost-events" in notes and "process-did-not-end-in-order" not in notes


def test_what_is_no_trace_leaves_no_run(tacho, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "metadata" in tacho("import", "empty", "-o", "run", expect=2).stderr
    assert not (tmp_path / "run").exists()
