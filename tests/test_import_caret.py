"""Compares real traces of CARET with the traced program's own output (tests/fixtures/ctf)."""

import json
import re
import tarfile

import pytest
from places import ROOT
from recording import Recording

CALLBACKS = {
    "on_timer": ("timer", "/source", None),
    "on_points": ("subscription", "/relay", "/points"),
    "on_filtered": ("subscription", "/sink", "/filtered"),
}
"""The callback of each name in the answers: kind, node, topic."""


def imported(tacho, name):
    """The run of a trace, the output of its import, and the events that babeltrace2 counts in it."""
    with tarfile.open(ROOT / "tests/fixtures/ctf" / f"{name}.tar.xz") as archive:
        archive.extractall(tacho.directory)
    said = tacho("import", "ctf", "-o", "run").stderr
    truth = json.loads((tacho.directory / "truth.json").read_text())["event_counts"]
    return Recording(tacho, (tacho.directory / "answers.txt").read_text()), said, truth, name


@pytest.fixture(params=["caret_jazzy", "caret_jazzy_begun_late"])
def traced(tacho, request):
    """A trace from the program's start, and one in which CARET repeated the nodes."""
    return imported(tacho, request.param)


def test_callbacks_lie_around_the_programs_own_account_of_them(traced):
    run, _, _, name = traced
    began = min(run.executions(*callback)[0][0] for callback in CALLBACKS.values())
    for callback, place in CALLBACKS.items():
        said = [(first, last) for _, first, last in run.said[callback] if first >= began]
        ours = run.executions(*place)
        assert len(ours) == len(said) and (name != "caret_jazzy" or len(said) == len(run.said[callback]) == 50), (
            callback
        )
        assert all(start <= first <= last <= end for (start, end), (first, last) in zip(ours, said)), callback


def test_messages_have_the_publication_that_the_program_made(traced):
    run, _, _, name = traced
    for topic, node, callback in [("/points", "/relay", "on_points"), ("/filtered", "/sink", "on_filtered")]:
        published = {sequence: before for sequence, before, _ in run.said[topic]}
        heard = {sequence: first for sequence, first, _ in run.said[callback]}
        taken = sorted(
            (m for m in run.messages(node, topic) if m["callback_ns"] is not None), key=lambda m: m["callback_ns"]
        )
        # The last messages of the program are the last of the trace; publications before the first event are not in it.
        sequences = sorted(heard)[-len(taken) :]
        known = [(m, s) for m, s in zip(taken, sequences) if m["publish_ns"] is not None]
        assert len(known) >= len(taken) - (1 if name == "caret_jazzy_begun_late" else 0) > 0, topic
        for message, sequence in known:
            assert published[sequence] <= message["publish_ns"] <= published.get(sequence + 1, message["callback_ns"])
            assert message["callback_ns"] <= heard[sequence]


def test_the_chain_is_whole_and_every_event_is_used_or_named(traced):
    run, said, truth, name = traced
    (chain,) = (c for c in run.summary["chains"] if c["path"] == ["/source", "/points", "/relay", "/filtered", "/sink"])
    inputs = len(run.publications("/points"))
    assert (chain["instances"], chain["lost"]) == (inputs, 0) and chain["end_to_end_ms"]["count"] == inputs
    # The second was recorded on a busy machine: its callbacks of 1 and 2 ms took up to 37, and held up the timer.
    found = [finding["lint"] for finding in run.summary.get("findings", [])]
    assert found == ([] if name == "caret_jazzy" else ["late-timer"]), run.summary["findings"]
    # CARET suppresses the executor's events, and does not report DDS arrivals.
    assert "arrival unknown" in chain["evidence"]
    used, unused = (
        int(re.search(pattern, said).group(1))
        for pattern in (r"(\d+) events of 1 process", r"(\d+) events are of no use")
    )
    assert used + unused == sum(truth.values())
    init = {name: count for name, count in truth.items() if name.startswith("ros2_caret:rcl")}
    own = (
        "ros2:",
        "ros2_caret:dds_write",
        "ros2_caret:callback_group_",
        "ros2_caret:construct_executor",
        "ros2_caret:executor_entity_collector_",
    )
    assert used == sum(init.values()) + sum(count for name, count in truth.items() if name.startswith(own))


def test_a_subscription_within_the_process_has_two_objects(tacho):
    run, *_ = imported(tacho, "caret_jazzy_within")
    for topic, node, name in [
        ("/moved", "/one", "on_moved"),
        ("/shared", "/one", "on_shared"),
        ("/shared", "/other", "on_shared_too"),
        ("/shared", "/outside", "on_shared_outside"),
        ("/burst", "/other", "on_burst"),
    ]:
        run.latency_lies_within(topic, node, name)
        run.surrounds(name, "subscription", node, topic)
    of = {
        t["topic"]: (t["sent"], t["received"], t["lost"])
        for t in run.summary["topics"]
        if not t["topic"].startswith("/caret/")
    }
    # Of four messages in a row, a queue of two keeps the last two; the very last one stayed there at the end.
    heard = len(run.said["on_burst"])
    assert of == {"/moved": (30, 30, 0), "/shared": (30, 90, 0), "/burst": (120, heard, 60)} and heard == 59
