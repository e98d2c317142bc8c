"""Every plugin on every transport of workloads/every-middleware.yaml, between several processes, compared with
docs/middleware.md."""

import json
import os
import re

import pytest
from command import Tacho
from places import ROOT

WORKLOAD = (ROOT / "workloads" / "every-middleware.yaml").read_text()
# One line each, as `    ros2 udp: {middleware: {ros2: udp}}`.
VIAS = dict(re.findall(r"^    ([\w -]+): (\{middleware: .*\})$", WORKLOAD, flags=re.M))
SEVERAL = """
middleware: {middleware}
topology: {{kind: [one-to-many, many-to-one], nodes: 3, size: 64 KiB, rate: 20 Hz, reliability: {reliability}}}
run: {{duration: 1 s}}
"""
# A publisher on a microcontroller's DDS sends one burst of 780 datagrams, more than a socket's buffer holds by default.
LARGE = """
middleware: {middleware}
nodes:
  source: {{publishes: {{/points: {{size: 1 MiB, rate: 5 Hz, depth: 100}}}}}}
  sink: {{subscribes: {{/points: {{depth: 100}}}}}}
run: {{duration: 1 s}}
"""


@pytest.fixture(scope="module")
def usable(tmp_path_factory):
    """The doctor's finding for each middleware."""
    tacho = Tacho(tmp_path_factory.mktemp("doctor"), dict(os.environ))
    found = tacho.json("doctor")["findings"]
    return {f["name"].removeprefix("middleware-"): f for f in found if f["name"].startswith("middleware-")}


def test_the_page_says_what_was_seen_of_each():
    page = (ROOT / "docs" / "middleware.md").read_text()
    table = page.split("## What was seen to run", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([\w -]+)` \|", table, flags=re.M)
    assert len(VIAS) > 20 and rows == list(VIAS)


@pytest.mark.parametrize("via", VIAS)
def test_messages_come_from_one_to_several_and_from_several_to_one(tacho, usable, via):
    on, reliability = re.fullmatch(r"\{middleware: (\w+|\{.*?\})(?:, reliability: (\w+))?\}", VIAS[via]).groups()
    (tacho.directory / "w.yaml").write_text(SEVERAL.format(middleware=on, reliability=reliability or "reliable"))
    middleware = re.search(r"\w+", on)[0]
    found = usable[middleware]
    if found["verdict"] != "ok":
        # Middlewares that cannot run are reported.
        assert f"{middleware}:" in tacho("bench", "w.yaml", "-o", "run", expect=3).stderr
        pytest.skip(f"{middleware}: {found['found']}")
    points = tacho.json("bench", "w.yaml", "-o", "run")["points"]
    assert [(p["publishers"], p["subscribers"]) for p in points] == [(1, 3), (3, 3)]
    assert all(p["sent"] > 0 for p in points)
    silent = [s["node"] + s["topic"] for p in points for s in p["subscribing"] if s["received"] == 0]
    assert not silent, json.dumps(points, indent=1)


@pytest.mark.parametrize("middleware", ["micro", "cyclonedds", "zenoh", "iceoryx", "inproc"])
def test_a_megabyte_arrives_where_it_is_asked_for_again(tacho, middleware):
    (tacho.directory / "w.yaml").write_text(LARGE.format(middleware=middleware))
    point = tacho.json("bench", "w.yaml", "-o", "run")["points"][0]
    assert point["received"] == point["sent"] > 0 and point["lost"] == 0
