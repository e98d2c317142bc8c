"""Runs every command printed in the docs: the lines of a `console` block, in order, with one directory for each
page."""

import os
import re
import subprocess

import pytest
from places import ROOT
from waiting import LIMIT_S

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]


def commands(page):
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(), flags=re.S | re.M)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_commands_of_the_page_work_as_printed(page, tacho):
    for folder in ("workloads", "build"):
        (tacho.directory / folder).symlink_to(ROOT / folder)
    environment = dict(tacho.environment, PATH=f"{ROOT / 'build'}:{os.environ['PATH']}")
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


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_of_the_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"
