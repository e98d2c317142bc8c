"""Managed nodes: an rclpy lifecycle node under `tacho record`, compared with its own output and clock."""

import pytest
from places import PROGRAMS

COUNT = 10


def record(tacho, python, last):
    done = tacho("record", "-o", "run", "--", python, PROGRAMS / "managed_relay.py", COUNT, last)
    rows = [line.split() for line in done.stdout.splitlines()]
    changes = [
        (r[0], int(r[1]), int(r[2]))
        for r in rows
        if len(r) == 3 and r[0] in ("configure", "activate", "deactivate", "cleanup")
    ]
    return changes, tacho.json("explain", "run"), tacho("explain", "run").stdout


@pytest.mark.parametrize("release", ["kilted", "jazzy"])
def test_states_by_time_and_what_ended_at_a_node_that_was_not_active(tacho, request, release):
    python = request.getfixturevalue("ros_python" if release == "kilted" else "ros_python_jazzy")
    changes, summary, text = record(tacho, python, "activate")
    (node,) = summary["lifecycle"]
    assert (node["node"], node["state"]) == ("/relay", "active")
    # Each transition goes through a state of its own.
    assert node["transitions"] == 2 * len(changes) == 8
    activated, deactivated = changes[1], changes[2]
    least, most = (deactivated[1] - activated[2]) / 1e9, (deactivated[2] - activated[1]) / 1e9
    inside = node["in_state_s"]
    assert set(inside) == {"unconfigured", "configuring", "inactive", "activating", "active", "deactivating"}
    # The last activation lasts until the end of the process, later than the last line.
    assert inside["active"] >= least
    inactive = (activated[1] - changes[0][2] + changes[3][1] - deactivated[2]) / 1e9
    within = sum(after - before for _, before, after in changes) / 1e9
    assert inactive - 1e-4 <= inside["inactive"] <= inactive + within + 1e-4
    assert most >= least
    assert "/relay" in text and "unconfigured" in text
    (chain,) = (c for c in summary["chains"] if c["path"] == ["/source", "/in", "/relay", "/out", "/sink"])
    assert (chain["instances"], chain["lost"]) == (COUNT + 1, 3 * COUNT)
    lost = {(lost["kind"], lost["by"]): lost["inputs"] for lost in chain["lost_inputs"]}
    assert lost == {("not_active", "/relay (unconfigured)"): COUNT, ("not_active", "/relay (inactive)"): 2 * COUNT}
    assert not [f for f in summary["findings"] if f["lint"] == "node-not-active"]


def test_a_node_that_is_left_inactive_is_found_with_the_chains_through_it(tacho, ros_python):
    _, summary, _ = record(tacho, ros_python, "cleanup")
    assert summary["lifecycle"][0]["state"] == "unconfigured"
    (finding,) = (f for f in summary["findings"] if f["lint"] == "node-not-active")
    (case,) = finding["cases"]
    assert case["subject"] == "/relay" and case["evidence"].startswith("unconfigured")
    assert any(chain["name"] in case["cost"] for chain in summary["chains"])
