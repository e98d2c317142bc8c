"""Run directories of an older tacho are readable; what it did not measure is absent."""

import json
import tarfile
from pathlib import Path

import pytest
from places import ROOT

POINTS = ("000-50Hz", "001-100Hz")


@pytest.fixture
def older(tmp_path: Path) -> Path:
    with tarfile.open(ROOT / "tests" / "fixtures" / "runs" / "older_sweep.tar.gz") as archive:
        archive.extractall(tmp_path)
    return tmp_path / "older_sweep"


def test_explain_and_report_read_an_older_run(tacho, older):
    whole, repeat = older / "points" / POINTS[0], older / "points" / POINTS[0] / "repeats" / "0"
    assert "/camera -> /brake -> /wheel" in tacho("explain", whole).stdout
    figures = tacho.json("explain", repeat)
    assert figures["chains"][0]["instances"] == 10
    for run in (older, whole, repeat):
        tacho("report", run, "-o", tacho.directory / "report.html")


def test_resume_completes_an_older_sweep(tacho, older):
    """One repeat of a point is the older tacho's, one is run now: counts of both add up, and a figure that one lacks
    is absent for both."""
    tacho("bench", "--resume", "-o", older)
    repeats = [older / "points" / POINTS[1] / "repeats" / name / "summary.json" for name in "01"]
    of_repeats = [json.loads(path.read_text())["points"][0] for path in repeats]
    assert "refused" not in of_repeats[0] and of_repeats[1]["refused"] == 0
    point = tacho.json("explain", older)["points"][1]
    assert point["repeats"] == 2
    for count in ("due", "sent", "received"):
        assert point[count] == sum(repeat[count] for repeat in of_repeats)
    assert "refused" not in point


def test_a_table_that_cannot_be_read_says_what_to_do(tacho, older):
    tables = older / "points" / POINTS[0] / "repeats" / "0" / "tables"
    (tables / "executions.parquet").write_bytes((tables / "nodes.parquet").read_bytes())
    said = tacho("report", tables.parent, expect=3).stderr
    assert "executions.parquet" in said and "no column callback" in said and "tacho import" in said
