"""`tacho explain` of callbacks in Python that wait for the interpreter."""

import json

import pytest
from places import PROGRAMS


@pytest.mark.timing
@pytest.mark.parametrize("work", ["computes", "releases"])
def test_a_callback_on_another_thread_is_named_if_it_has_the_interpreter_and_not_if_it_releases_it(
    tacho, ros_python, undisturbed, work
):
    camera, others = (f"{ros_python} {PROGRAMS / 'shared_thread.py'} {role} 8 {work}" for role in ("camera", "apart"))
    recorded = undisturbed("record", "--", "sh", "-c", f"{camera} & {others} && wait $!")
    summary = json.loads((tacho.directory / recorded / "summary.json").read_text())
    [chain] = summary["chains"]
    kinds = [culprit.get("kind") for culprit in summary["verdict"]["culprits"]]
    if work == "releases":
        assert "interpreter_busy" not in kinds, summary["verdict"]
        return
    # It computes for 80 ms of 130: more than half of the outputs wait for it, before the callback and inside it.
    [first] = [culprit for culprit in summary["verdict"]["culprits"] if culprit["kind"] == "interpreter_busy"]
    assert kinds[0] == "interpreter_busy"
    assert (first["node"], first["function"]) == ("/mapper", "Mapper.update")
    assert first["location"].endswith("shared_thread.py:49")
    assert "a process of its own" in first["next"]
    assert first["longest_ms"] > 0.6 * chain["end_to_end_ms"]["median"], first
