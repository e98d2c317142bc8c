"""Puts something else in the place of a file that a disk or a copy lost: `tacho` names it at once, and the figures
lack only its content."""

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest
from places import ROOT
from waiting import finished

FIXTURES = ROOT / "tests" / "fixtures"


def unpack(archive: str, folder: Path) -> Path:
    with tarfile.open(FIXTURES / archive) as files:
        files.extractall(folder)
    return folder


def refused(tacho, name: str, *arguments: object) -> None:
    """The verb ends with an error that names the file, and does not wait for it."""
    process = tacho.start(*arguments)
    _, err = finished(process)
    assert process.returncode in (2, 3) and name in err, f"exit {process.returncode}\n{err}"


@pytest.mark.parametrize("instead", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_named_and_never_waited_for(tacho, tmp_path, instead):
    run = unpack("runs/older_sweep.tar.gz", tmp_path) / "older_sweep/points/000-50Hz/repeats/0"
    recorded = unpack("rclcpp/groups.tar.xz", tmp_path) / "recorded"
    of_run = [(run / name, ["report", run]) for name in ("tables/executions.parquet", "run.json")]
    of_recording = [(file, ["import", recorded, "-o", "run"]) for file in (recorded / "events").iterdir()]
    assert len(of_recording) == 2
    for file, verb in of_run + of_recording:
        kept = file.rename(tmp_path / "kept")
        instead(file)
        refused(tacho, file.name, *verb)
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        file.unlink() if instead is os.mkfifo else file.rmdir()
        kept.rename(file)
    instead(tmp_path / "bag_0.mcap")
    refused(tacho, "bag_0.mcap", "import", "bag_0.mcap", "-o", "run")


def test_losses_are_absent_where_a_stream_of_the_trace_is(tacho, tmp_path):
    trace = unpack("ctf/talker_listener_5s.tar.gz", tmp_path) / "ctf"
    tacho("import", trace, "-o", "whole")
    next(trace.rglob("ros2_0")).unlink()
    said = tacho("import", trace, "-o", "part").stderr
    info = json.loads((tmp_path / "part/run.json").read_text())
    assert "ros2_0" in info["missing"][-1] and len(info["gaps"]) == 1, said
    whole, part = (json.loads((tmp_path / run / "summary.json").read_text())["topics"] for run in ("whole", "part"))
    assert any("lost" in topic for topic in whole) and not any("lost" in topic for topic in part)
