"""tacho explain, end to end: links, deadlines, causes and findings of a run on real middleware."""

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
    assert {"computation", "kept"} <= kinds, kinds
    # A reaction begins with an input before that of the output which ends it; an output that replaces another comes after it.
    assert braking["reaction_time_ms"]["min"] > braking["end_to_end_ms"]["min"]
    assert braking["data_age_held_ms"]["min"] > braking["data_age_ms"]["min"]
    assert braking["data_age_ms"]["max"] == pytest.approx(braking["end_to_end_ms"]["max"])
    rules = [(link["node"], link["rule"], link["evidence"]) for link in braking["links"]]
    assert rules == [("/fusion", "latest", "stated"), ("/brake", "same_callback", "stated")]


def test_text_names_causes_and_another_chain_can_be_chosen(tacho, bench):
    text = tacho("explain", bench, "--chain", "braking").stdout
    for words in ["reaction time", "data age", "kept for the next /fusion timer", "Which input made which output"]:
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


def test_mistakes_are_named(tacho, bench, tmp_path):
    assert "expected one of" in tacho("explain", bench, "--deny", "no-such-lint", expect=2).stderr
    links = tmp_path / "links.yaml"
    links.write_text("links:\n  /fusion:\n    /points -> /objects: newest\n")
    assert "links.yaml:3:" in tacho("explain", bench, "--links", links, expect=2).stderr


def test_an_unrelated_input_carries_no_chain(tacho, bench, tmp_path):
    links = tmp_path / "links.yaml"
    links.write_text("links:\n  /fusion:\n    /points -> /objects: unrelated\n")
    assert [c["name"] for c in tacho.json("explain", bench, "--links", links)["chains"]] == []
