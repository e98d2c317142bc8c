"""The functions that callbacks of roscpp are: methods by their own names, although their type names the class alone."""

import pytest
from ros1_system import Ros1, compiled, ros1_program  # noqa: F401 (a fixture)

METHODS = {
    "/points": "Planner::on_points",
    "/map": "Planner::on_map",
    1_000_000_000: "Planner::plan",
    "/reset": "Planner::reset",
}
FUNCTIONS = {"/pose": "on_pose", "/goal": "main lambda 1", 2_000_000_000: "tick"}
CLASS = "bound method of Planner"


@pytest.mark.parametrize("symbols", ["kept", "exported", "stripped"])
def test_each_callback_has_its_function(tacho, ros1_program, tmp_path, symbols):  # noqa: F811
    option = {"kept": [], "exported": ["-rdynamic"], "stripped": ["-s"]}[symbols]
    system = Ros1(tacho, compiled(tmp_path, "ros1_functions", *option))
    try:
        system.record("planner=")
    finally:
        system.end()
    found = {c["topic"] or c["period_ns"]: c["function"] for c in system.table("callbacks") if c["node"] is not None}
    # Which function a virtual method is, its object decides.
    expected = METHODS | FUNCTIONS | {"/status": CLASS}
    if symbols == "stripped":
        expected |= dict.fromkeys(METHODS, CLASS)
        for key in ("/pose", 2_000_000_000):
            del expected[key], found[key]
    assert found == expected
