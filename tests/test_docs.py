"""Runs every command printed in the docs: the lines of a `console` block, in order, with one directory for each
page."""

import json
import os
import re
import subprocess

import pytest
from places import ROOT
from waiting import LIMIT_S

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]
TUTORIAL = ROOT / "docs" / "tutorial.md"


def commands(page):
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(), flags=re.S | re.M)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def run_commands_of(page, tacho):
    """Runs the commands of a page, and returns what each printed to stdout."""
    for folder in ("workloads", "build", "tests"):
        (tacho.directory / folder).symlink_to(ROOT / folder)
    environment = dict(tacho.environment, PATH=f"{ROOT / 'build'}:{os.environ['PATH']}")
    printed = []
    for command in commands(page):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=tacho.directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == 0, f"{page.name}: $ {command}\n{done.stdout}\n{done.stderr}"
        printed.append(done.stdout)
    return printed


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p) and p != TUTORIAL], ids=lambda p: p.name)
def test_commands_of_the_page_work_as_printed(page, tacho):
    run_commands_of(page, tacho)


@pytest.mark.timing
def test_the_commands_of_the_tutorial_find_the_fault_and_cure_it(tacho):
    recorded, _, _, _, cured, _, _, limited = run_commands_of(TUTORIAL, tacho)
    # What the program says itself: the line of the function, and how long each execution of it blocked.
    for printed in (recorded, cured):
        blocked_ns = [int(ns) for ns in re.findall(r"^reload \d+ (\d+)$", printed, flags=re.M)]
        assert len(blocked_ns) == 3 and min(blocked_ns) >= 120_000_000, printed
    (line,) = set(re.findall(r"^reload (\d+)", recorded, flags=re.M))
    places = re.findall(r"blocking_planner\.py:(\d+)|[Ll]ine (\d+)", TUTORIAL.read_text())
    assert places and {place for pair in places for place in pair if place} == {line}, "the line that the page names"

    first = tacho.json("explain", "runs/car")["verdict"]["culprits"][0]
    assert first["kind"] == "executor_busy" and first["function"] == "Planner.reload_map"
    assert first["location"].endswith(f"blocking_planner.py:{line}")
    assert limited.endswith("exit code 1\n")

    after = tacho.json("explain", "runs/cured")
    assert "Planner.plan" in {callback.get("function") for callback in after["callbacks"]}
    assert not any("reload_map" in json.dumps(after[part]) for part in ("verdict", "callbacks"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_of_the_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"
