"""`tacho tune --prove`: the gain is there, in the parts where it should be, and the workloads it writes are plain ones."""

import json

import pytest

pytestmark = pytest.mark.timing


@pytest.fixture
def chain(tacho):
    nodes = ["  source: {spin: 10 Hz, work: 1 ms, publishes: {/t0: {size: 64 B, rate: 10 Hz}}}"]
    for i in range(1, 5):
        nodes.append(f"  n{i}: {{subscribes: [/t{i - 1}], spin: 10 Hz, work: 1 ms, publishes: {{/t{i}: {{size: 64 B}}}}}}")
    (tacho.directory / "chain.yaml").write_text(
        "nodes:\n" + "\n".join(nodes) + "\nchains: {c: [source, n1, n2, n3, n4]}\nrun: {duration: 2 s, repeats: 3}\n"
    )
    return "chain.yaml"


def mean(summary, name, part="end_to_end_ms"):
    return next(c for c in summary["chains"] if c["name"] == name)[part]["mean"]


def test_both_methods_prove_their_gain_on_ros2(tacho, chain):
    tacho("tune", chain, "--method", "common-rate", "--method", "arrival", "--prove", "-o", "out")
    out = tacho.directory / "out"
    summary = json.loads((out / "summary.json").read_text())

    # Four gaps of 50 ms on average, evenly drawn: 5 ms of computation, the rest alignment.
    assert 100 < mean(summary, "untuned") < 320
    assert mean(summary, "untuned", "alignment_ms") > 0.9 * mean(summary, "untuned") - 10
    assert mean(summary, "untuned") / mean(summary, "common_rate") > 5
    assert mean(summary, "untuned") / mean(summary, "arrival") > 7

    curve = json.loads((out / "objective.json").read_text())
    hz = [p["hz"] for p in curve["points"]]
    assert hz == list(range(10, 1001, 10))
    best = min(curve["points"], key=lambda p: p["response_ms"])
    assert best["hz"] == curve["best_hz"]

    tacho("check", "out/common_rate.yaml", "out/arrival.yaml")
    proof = json.loads((out / "proof.json").read_text())
    assert proof


def test_the_curve_is_of_the_checks_and_cores_that_are_named(tacho, chain):
    text = (tacho.directory / chain).read_text().replace("nodes:", "middleware: inproc\nnodes:\n  beside: {on: timer 20 Hz, work: 4 ms}", 1)
    (tacho.directory / chain).write_text(text)
    found = tacho.json("tune", chain, "--method", "common-rate", "--check", "0.05ms", "--check", "n2=0.5ms", "--cores", "3", "-o", "out")
    searched = found["objective"]["input"]
    assert searched["cores"] == 3 and not (tacho.directory / "out/callback_check").exists()
    assert {node["name"]: node["check_ms"] for node in searched["chain"]} == {"source": 0.05, "n1": 0.05, "n2": 0.5, "n3": 0.05, "n4": 0.05}
    (beside,) = searched["others"]
    assert beside["name"] == "beside" and beside["period_ms"] == pytest.approx(50, rel=0.05)
    # CPU time, of which the nodes burn what the workload says, however busy the machine is.
    assert beside["computation_ms"] == pytest.approx(4, rel=0.05)
    assert all(node["execution_ms"] == pytest.approx(1, rel=0.2) for node in searched["chain"])
    wrong = tacho("tune", chain, "--method", "common-rate", "--check", "beside=1ms", "-o", "wrong", expect=2)
    assert "beside" in wrong.stderr and "source, n1, n2, n3, n4" in wrong.stderr


def test_tune_refuses_a_chain_that_is_not_there(tacho, chain):
    done = tacho("tune", chain, "--method", "arrival", "--chain", "nope", expect=2)
    assert "nope" in done.stderr and "c" in done.stderr
