"""The GitHub Action and the GitLab template, run as the scripts that they are."""

import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
import yaml
from places import ROOT
from test_fleet import WORKLOAD

FOLDER = ROOT / "packages" / "ci"


def action(inputs, environment):
    """What the Action runs after it has installed Tachograph: each script with its variables."""
    described = yaml.safe_load((FOLDER / "action.yml").read_text())
    known = {name: of.get("default") for name, of in described["inputs"].items()}
    assert inputs.keys() <= known.keys()
    given = known | inputs
    install, compare = described["runs"]["steps"]
    assert install["run"] == 'python3 -m pip install --quiet "$PACKAGE"'
    variables = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], value)
                 for name, value in compare["env"].items()}  # fmt: skip
    # GitHub runs `shell: bash` this way.
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", compare["run"]]
    return words, environment | variables | {"GITHUB_STEP_SUMMARY": "summary.md"}


def gitlab(inputs, environment):
    """What a job that extends the template runs."""
    job = yaml.safe_load((FOLDER / "gitlab.yml").read_text())[".tachograph"]
    given = {f"TACHOGRAPH_{name.upper()}": value for name, value in inputs.items()}
    assert given.keys() <= job["variables"].keys()
    assert job["before_script"] == ['python3 -m pip install --quiet "$TACHOGRAPH_PACKAGE"']
    assert job["artifacts"]["reports"]["junit"] == "tachograph.xml"
    words = ["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])]
    return words, environment | {name: str(value) for name, value in job["variables"].items()} | given


@pytest.fixture
def environment():
    return os.environ | {"PATH": f"{ROOT / 'build'}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Six runs of each of two planners, the second of which computes three times as long."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "drive.yaml").write_text(WORKLOAD)
    sides = {"fast": [], "slow": []}
    for side, work in [("fast", "3 ms"), ("slow", "9 ms")]:
        for seed in range(6):
            run = folder / f"{side}-{seed}"
            words = [ROOT / "build" / "tacho", "simulate", folder / "drive.yaml", "-o", run, "--seed", str(seed)]
            subprocess.run([*words, "--set", f"planner.work={work}"], check=True, capture_output=True)
            sides[side].append(str(run))
    return {side: " ".join(of) for side, of in sides.items()}


@pytest.mark.parametrize("of, summary", [(action, "summary.md"), (gitlab, "tachograph.md")], ids=["github", "gitlab"])
def test_a_change_that_is_worse_fails_with_a_summary_and_one_that_is_better_passes(
    of, summary, environment, simulated, tmp_path
):
    options = {"options": "--only callback"}
    for before, after, code in [("fast", "slow", 1), ("slow", "fast", 0)]:
        words, variables = of({"before": simulated[before], "after": simulated[after]} | options, environment)
        done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        failures = ElementTree.parse(tmp_path / "tachograph.xml").getroot().findall(".//failure")
        assert bool(failures) == (code == 1)
        assert "/planner" in (tmp_path / summary).read_text()
        page = (tmp_path / "tachograph.html").read_text()
        assert page.startswith("<!doctype html>") and "fast-0" in page and "slow-0" in page


@pytest.mark.parametrize("of", [action, gitlab], ids=["github", "gitlab"])
def test_limits_alone_are_checked_without_runs_before(of, environment, simulated, tmp_path):
    run = simulated["slow"].split()[0]
    for limit, code in [("< 1 ms", 1), ("< 10 s", 0)]:
        (tmp_path / "limits.yaml").write_text(f"chain braking end-to-end: {limit}\n")
        words, variables = of({"after": run, "expect": "limits.yaml"}, environment)
        done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        assert "chain braking end-to-end" in done.stdout
