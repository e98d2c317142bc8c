"""tacho explain, end to end: links, deadlines, causes and findings of a run on real middleware."""

import json
import time

import pytest

CHAINS = """\
chains:
  late: {{nodes: [{nodes}], deadline: 1 ns}}
  in time: {{nodes: [{nodes}], deadline: 3600 s}}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory, request):
    """A run whose middle node keeps its input for a timer."""
    directory = tmp_path_factory.mktemp("explain")
    (directory / "kept.yaml").write_text(
        "middleware: inproc\n"
        "nodes:\n"
        "  sensor: {process: all, publishes: {/points: {size: 64 B, rate: 100 Hz}}}\n"
        "  fusion: {process: all, on: timer 50 Hz, subscribes: [/points], work: 1 ms, publishes: {/objects: {}}}\n"
        "  brake:  {process: all, subscribes: [/objects]}\n"
        "chains: {braking: [sensor, fusion, brake]}\n"
        "run: {duration: 1 s}\n"
    )
    return directory


@pytest.fixture
def bench(tacho, run):
    """The run, made once."""
    if not (run / "kept").is_dir():
        tacho("bench", run / "kept.yaml", "-o", run / "kept")
    return run / "kept"


def chain(figures, name):
    return next(chain for chain in figures["chains"] if chain["name"] == name)


def test_parts_of_the_worst_instances_add_up_and_reaction_exceeds_end_to_end(tacho, bench):
    braking = chain(tacho.json("explain", bench), "braking")
    assert braking["worst"], "the critical chain is explained"
    for instance in braking["worst"]:
        assert sum(part["ms"] for part in instance["parts"]) == pytest.approx(instance["end_to_end_ms"], abs=1e-6)
    kinds = {part["kind"] for instance in braking["worst"] for part in instance["parts"]}
    assert {"computation", "not_due"} <= kinds, kinds
    # A reaction begins with an input before that of the output that ends it; an output that replaces another comes
    # after it.
    assert braking["reaction_time_ms"]["min"] > braking["end_to_end_ms"]["min"]
    assert braking["data_age_held_ms"]["min"] > braking["data_age_ms"]["min"]
    assert braking["data_age_ms"]["max"] == pytest.approx(braking["end_to_end_ms"]["max"])
    rules = [(link["node"], link["rule"], link["evidence"]) for link in braking["links"]]
    assert rules == [("/fusion", "latest", "stated"), ("/brake", "same_callback", "stated")]


def test_text_names_causes_and_another_chain_can_be_chosen(tacho, bench):
    text = tacho("explain", bench, "--chain", "braking").stdout
    for words in [
        "reaction time",
        "data age",
        "kept until the due time of /fusion timer 20 ms",
        "Which input made which output",
    ]:
        assert words in text, text
    assert "no chain is called nothing" in tacho("explain", bench, "--chain", "nothing", expect=2).stderr


def test_suggested_links_are_read_back_and_a_deadline_fails(tacho, bench, tmp_path):
    suggested = tacho("explain", bench, "--suggest").stdout
    assert "/points -> /objects: latest" in suggested
    links = tmp_path / "links.yaml"
    links.write_text(suggested + CHAINS.format(nodes="/sensor, /fusion, /brake"))
    figures = tacho.json("explain", bench, "--links", links)
    late = chain(figures, "late")
    assert late["late_instances"] == late["instances"] > 0
    assert chain(figures, "in time")["late_instances"] == 0
    missed = [finding for finding in figures["findings"] if finding["lint"] == "deadline-missed"]
    assert [case["subject"] for case in missed[0]["cases"]] == ["late"]

    denied = tacho("explain", bench, "--links", links, "--deny", "deadline-missed", expect=1)
    assert "denied: deadline-missed (1)" in denied.stderr
    allowed = tacho("explain", bench, "--links", links, "--allow", "deadline-missed")
    assert "deadline-missed" not in allowed.stdout
    tacho("explain", bench, "--deny", "deadline-missed")


def test_any_two_ends_have_a_reaction_time_and_limits_that_fail(tacho, bench):
    figures = tacho.json("explain", bench, "--from", "/points", "--to", "/objects")
    way = chain(figures, "/points to /objects")
    assert way["path"] == ["/sensor", "/points", "/fusion", "/objects"]
    braking = chain(figures, "braking")
    # It ends at the publish call, where the whole chain continues to the brake; this includes outputs that the brake
    # lost.
    assert way["instances"] >= braking["instances"] > 0
    assert way["end_to_end_ms"]["min"] < braking["end_to_end_ms"]["min"]
    assert way["reaction_time_ms"]["max"] > way["end_to_end_ms"]["min"]

    asked = ["explain", bench, "--from", "/points", "--to", "/brake"]
    kept = tacho(*asked, "--limit", "reaction 60 s", "--limit", "end-to-end 60s")
    assert kept.stderr.count(": kept, the worst of /points to /brake is") == 2
    assert "Chain /points to /brake" in kept.stdout
    failed = tacho(*asked, "--limit", "reaction 60 s", "--limit", "age 1us", expect=1)
    assert "age 0.001 ms: not kept" in failed.stderr
    tacho("explain", bench, "--limit", "reaction 60 s")
    assert "not kept" in tacho("explain", bench, "--chain", "braking", "--limit", "age-held 1 ns", expect=1).stderr
    assert "/nowhere is no topic" in tacho("explain", bench, "--from", "/points", "--to", "/nowhere", expect=2).stderr
    assert "such as 'reaction 150 ms'" in tacho("explain", bench, "--limit", "reacts 1 s", expect=2).stderr


def test_a_limit_is_not_kept_where_nothing_came_through(tacho):
    (tacho.directory / "deaf.yaml").write_text(
        "middleware: inproc\n"
        "nodes:\n"
        "  sensor: {process: all, publishes: {/points: {size: 64 B, rate: 100 Hz}}}\n"
        "  fusion: {process: all, on: timer 0.01 Hz, subscribes: [/points], publishes: {/objects: {}}}\n"
        "  brake:  {process: all, subscribes: [/objects]}\n"
        "chains: {braking: [sensor, fusion, brake]}\n"
        "run: {duration: 1 s}\n"
    )
    tacho("bench", "deaf.yaml", "-o", "deaf")
    asked = ["explain", "deaf", "--from", "/points", "--to", "/objects"]
    assert "nothing of /points to /objects was measured" in tacho(*asked, "--limit", "reaction 60 s", expect=1).stderr
    (tacho.directory / "links.yaml").write_text("chains:\n  braking: {deadline: 60 s}\n")
    assert (
        "denied: deadline-missed"
        in tacho("explain", "deaf", "--links", "links.yaml", "--deny", "deadline-missed", expect=1).stderr
    )


def test_mistakes_are_named(tacho, bench, tmp_path):
    assert "possible values: deadline-missed" in tacho("explain", bench, "--deny", "no-such-lint", expect=2).stderr
    links = tmp_path / "links.yaml"
    links.write_text("links:\n  /fusion:\n    /points -> /objects: newest\n")
    assert "links.yaml:3:" in tacho("explain", bench, "--links", links, expect=2).stderr


def test_an_unrelated_input_carries_no_chain(tacho, bench, tmp_path):
    links = tmp_path / "links.yaml"
    links.write_text("links:\n  /fusion:\n    /points -> /objects: unrelated\n")
    assert [c["name"] for c in tacho.json("explain", bench, "--links", links)["chains"]] == []


def test_of_many_cases_the_worst_are_told_and_all_when_asked_for(tacho, tmp_path):
    """Five nodes that take 30 ms for messages that come every 20 ms."""
    names = [f"slow{number}" for number in range(5)]
    slow = "".join(f"  {name}: {{process: all, subscribes: [/points], work: 30 ms}}\n" for name in names)
    workload = tmp_path / "slow.yaml"
    workload.write_text(
        "middleware: inproc\nnodes:\n  sensor: {process: all, publishes: {/points: {size: 64 B, rate: 50 Hz}}}\n"
        f"{slow}run: {{duration: 2 s}}\n"
    )
    run = tmp_path / "run"
    tacho("bench", workload, "-o", run)
    finding = next(of for of in tacho.json("explain", run)["findings"] if of["lint"] == "callback-exceeds-period")
    assert {case["subject"] for case in finding["cases"]} == {f"/{name} /points" for name in names}
    assert finding["count"] == 5

    def told(*options) -> list[str]:
        """The text of the lint, one line for each case, with further lines joined."""
        text = tacho("explain", run, *options).stdout.replace("\n  ", " ").splitlines()
        first = next(place for place, line in enumerate(text) if line.startswith("callback-exceeds-period"))
        return [line for line in text[first + 1 : first + 8] if line.startswith(("- /slow", "- and", "Next"))]

    worst = [f"- {case['subject']}: {case['evidence']}. Costs: {case['cost']}." for case in finding["cases"]]
    following = f"Next: {finding['cases'][0]['next']}."
    assert told()[:4] == [*worst[:2], "- and 3 more: --all shows them, --node NAME those of a node", following]
    assert told("--all")[:6] == [*worst, following]
    assert told("--node", "slow3")[:2] == [next(line for line in worst if "/slow3" in line), following]
    tacho("explain", run, "--all", "--json", expect=2)


def test_late_instances_are_told_on_the_wall_clock_as_well(tacho, workloads, tmp_path):
    began = time.time_ns()
    text = tacho("bench", workloads / "inproc.yaml", "--duration", "300ms", "-o", "run").stdout
    ended = time.time_ns()
    chains = tacho.json("explain", "run")["chains"]
    worst = [instance for chain in chains for instance in chain["worst"]]
    assert worst and all(began < instance["start_realtime_ns"] < ended for instance in worst)
    (first,) = {chain["worst"][0]["start_realtime_ns"] for chain in chains if chain["critical"]}
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(first // 10**9))
    assert f"({seconds}.{first % 10**9 // 1000:06d}Z)" in tacho("explain", "run").stdout, text
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert began < worst[0]["start_ns"] + info["realtime_offset_ns"] < ended
