"""`tacho tune --prove`: the gain is there, in the expected parts, and the workloads that it writes are plain ones."""

import json
import signal

import pytest
from waiting import finished, wait_for


@pytest.fixture
def chain(tacho):
    nodes = ["  source: {spin: 10 Hz, work: 1 ms, publishes: {/t0: {size: 64 B, rate: 10 Hz}}}"]
    for i in range(1, 5):
        nodes.append(
            f"  n{i}: {{subscribes: [/t{i - 1}], spin: 10 Hz, work: 1 ms, publishes: {{/t{i}: {{size: 64 B}}}}}}"
        )
    (tacho.directory / "chain.yaml").write_text(
        "nodes:\n" + "\n".join(nodes) + "\nchains: {c: [source, n1, n2, n3, n4]}\nrun: {duration: 2 s, repeats: 3}\n"
    )
    return "chain.yaml"


def mean(summary, name, part="end_to_end_ms"):
    return next(c for c in summary["chains"] if c["name"] == name)[part]["mean"]


def median(summary, name):
    return next(c for c in summary["chains"] if c["name"] == name)["end_to_end_ms"]["median"]


@pytest.mark.timing
def test_both_methods_prove_their_gain_on_ros2(tacho, chain):
    tacho("tune", chain, "--method", "common-rate", "--method", "arrival", "--prove", "-o", "out")
    out = tacho.directory / "out"
    summary = json.loads((out / "summary.json").read_text())

    # Four gaps of 50 ms on average, evenly drawn; the computation is small beside them.
    assert mean(summary, "untuned", "alignment_ms") > 5 * mean(summary, "untuned", "computation_ms")
    assert mean(summary, "untuned", "alignment_ms") > 0.8 * mean(summary, "untuned")
    # Medians, because a few instances without a CPU decide the mean of an output that takes milliseconds.
    assert median(summary, "untuned") / median(summary, "common_rate") > 5
    assert median(summary, "untuned") / median(summary, "arrival") > 7

    curve = json.loads((out / "objective.json").read_text())
    hz = [p["hz"] for p in curve["points"]]
    assert hz == list(range(10, 1001, 10))
    best = min(curve["points"], key=lambda p: p["response_ms"])
    assert best["hz"] == curve["best_hz"]

    tacho("check", "out/common_rate.yaml", "out/arrival.yaml")
    proof = json.loads((out / "proof.json").read_text())
    assert proof


def test_a_proof_that_was_interrupted_goes_on_to_the_outcome_of_one_that_was_not(tacho, workloads):
    out = tacho.directory / "out"
    words = [
        "tune",
        workloads / "spinning-inproc.yaml",
        "--method",
        "common-rate",
        "--method",
        "arrival",
        "--prove",
        "--repeats",
        2,
        "-o",
        "out",
    ]
    sides = ("untuned", "common_rate", "arrival")
    kept, cut_short = out / "untuned/repeats/0", out / "common_rate/repeats/0"

    def read(path):
        return json.loads(path.read_text())

    process = tacho.start(*words)
    wait_for((cut_short / "run.json").is_file, "the second run of the proof", process)
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err
    assert "5 of 6 runs are not finished; tacho tune --prove -o out --resume goes on" in err
    assert not (out / "proof.json").exists() and not (out / "lock").exists()
    before = {
        name: read(out / name)
        for name in ("objective.json", "tuning.json", "measured/run.json", "callback_check/run.json")
    }
    first = read(kept / "run.json"), kept.stat().st_ino
    assert read(cut_short / "run.json")["cut_short"] is True
    (cut_short / "left").write_text("by the run that was interrupted")

    refused = tacho("tune", *words[1:7], "--resume", "--repeats", 3, "-o", "out", expect=2).stderr
    assert "repeats: 2" in refused and "repeats: 3" in refused
    assert "--cores 2" in tacho("tune", "--prove", "-o", "out", "--resume", "--cores", 2, expect=2).stderr
    assert not (out / "common_rate/repeats/1").exists()

    done = tacho("tune", "--prove", "-o", "out", "--resume")
    assert "1 of 6 runs are finished" in done.stderr and "proving: untuned 1 of 2" not in done.stderr
    # Results and complete runs are unchanged, to the file; interrupted runs were run again.
    assert {name: read(out / name) for name in before} == before
    assert (read(kept / "run.json"), kept.stat().st_ino) == first
    assert read(cut_short / "run.json")["cut_short"] is False and not (cut_short / "left").exists()

    # In turns, by the clock.
    began = {
        (repeat, side): read(out / side / "repeats" / repeat / "run.json")["measured_from_ns"]
        for repeat in "01"
        for side in sides
    }
    assert sorted(began, key=began.get) == [(repeat, side) for repeat in "01" for side in sides]
    for side in sides:
        info = read(out / side / "run.json")
        assert info["cut_short"] is False and info["missing"] == []
    proofs = read(out / "proof.json")
    assert sorted(proofs) == sorted(sides[1:])
    for name, proof in proofs.items():
        assert proof == read(out / name / "proof.json") and len(proof["repeats"]) == 2
        for pair in proof["repeats"]:
            for side, folder in (("before", "untuned"), ("after", name)):
                figures = read(out / folder / "repeats" / str(pair["repeat"]) / "summary.json")
                assert pair[side]["end_to_end_ms"] == mean(figures, proof["chain"])
    assert [chain["name"] for chain in read(out / "summary.json")["chains"]] == list(sides)
    # Once more: nothing is left to run, and the proof is the same.
    again = tacho("tune", "--prove", "-o", "out", "--resume")
    assert "6 of 6 runs are finished" in again.stderr and "proving" not in again.stderr
    assert read(out / "proof.json") == proofs


def test_a_proof_of_a_run_lies_beside_it_and_goes_on_by_its_name(tacho, workloads):
    tacho("bench", workloads / "spinning-inproc.yaml", "--repeats", 1, "-o", "both/recorded")
    words = ["tune", "both/recorded", "--method", "arrival", "--prove", "-o", "both"]
    tacho(*words)
    assert not (tacho.directory / "both/measured").exists()
    assert "2 of 2 runs are finished" in tacho(*words, "--resume").stderr
    tacho("bench", workloads / "spinning-inproc.yaml", "--repeats", 1, "-o", "other")
    refused = tacho("tune", "other", *words[2:], "--resume", expect=2).stderr
    assert f"begun of {tacho.directory}/both/recorded, and is now asked for of {tacho.directory}/other;" in refused


def test_two_never_run_one_proof_at_once(tacho, workloads):
    out = tacho.directory / "out"
    process = tacho.start("tune", workloads / "spinning-inproc.yaml", "--method", "arrival", "--prove", "-o", "out")
    wait_for((out / "measured/run.json").is_file, "the first run", process)
    refused = tacho("tune", "--prove", "-o", "out", "--resume", expect=2).stderr
    assert f"process {process.pid} runs this tuning" in refused
    process.send_signal(signal.SIGINT)
    _, err = finished(process)
    assert process.returncode == 128 + signal.SIGINT, err


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["tune", "--method", "arrival"], ["<RUN>"]),
        (["tune", "chain.yaml", "--method", "arrival", "--resume", "-o", "out"], ["--prove"]),
        (["tune", "--prove", "--resume"], ["--out"]),
        (["tune", "--prove", "--resume", "-o", "out"], ["out", "no tuning to go on with"]),
    ],
)
def test_what_cannot_be_gone_on_with_is_refused(tacho, chain, arguments, words):
    done = tacho(*arguments, expect=2)
    for word in words:
        assert word in done.stderr, done.stderr
    assert not (tacho.directory / "out").exists()


@pytest.mark.timing
def test_the_curve_is_of_the_checks_and_cores_that_are_named(tacho, chain):
    text = (
        (tacho.directory / chain)
        .read_text()
        .replace("nodes:", "middleware: inproc\nnodes:\n  beside: {on: timer 20 Hz, work: 4 ms}", 1)
    )
    (tacho.directory / chain).write_text(text)
    found = tacho.json(
        "tune",
        chain,
        "--method",
        "common-rate",
        "--check",
        "0.05ms",
        "--check",
        "n2=0.5ms",
        "--cores",
        "3",
        "-o",
        "out",
    )
    searched = found["objective"]["input"]
    assert searched["cores"] == 3 and not (tacho.directory / "out/callback_check").exists()
    assert {node["name"]: node["check_ms"] for node in searched["chain"]} == {
        "source": 0.05,
        "n1": 0.05,
        "n2": 0.5,
        "n3": 0.05,
        "n4": 0.05,
    }
    (beside,) = searched["others"]
    assert beside["name"] == "beside" and beside["period_ms"] == pytest.approx(50, rel=0.05)
    # CPU time, of which the nodes burn what the workload states, however busy the machine is.
    assert beside["computation_ms"] == pytest.approx(4, rel=0.05)
    assert all(node["execution_ms"] == pytest.approx(1, rel=0.2) for node in searched["chain"])
    wrong = tacho("tune", chain, "--method", "common-rate", "--check", "beside=1ms", "-o", "wrong", expect=2)
    assert "beside" in wrong.stderr and "source, n1, n2, n3, n4" in wrong.stderr
    assert not (tacho.directory / "wrong").exists(), "it was refused before anything ran"


def test_tune_refuses_a_chain_that_is_not_there(tacho, chain):
    done = tacho("tune", chain, "--method", "arrival", "--chain", "nope", expect=2)
    assert "nope" in done.stderr and "c" in done.stderr
