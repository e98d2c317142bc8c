"""Opens the report in a browser from a file: it draws what its data contains, and no name in it is ever code."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from browser import Browser

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = ["graph", "waterfall", "distributions", "proof", "objective", "checks", "layers", "tables", "provenance"]
ESCAPE, TAB = 27, 9


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Writes reports of invented runs with the report's own writer; returns their paths by kind."""
    directory = tmp_path_factory.mktemp("reports")
    for kind in ("tuned", "single", "verdict", "preempted", "system", "hostile", "empty"):
        command = [
            "cargo",
            "run",
            "--quiet",
            "-p",
            "tacho-report",
            "--example",
            "sample_report",
            directory / f"{kind}.html",
            kind,
        ]
        subprocess.run(command, cwd=ROOT, check=True)
    return lambda kind: directory / f"{kind}.html"


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


def data_of(path):
    """The data inside a report, read without a browser."""
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="tacho-data">(.*?)</script>', text, re.S)[1])


def texts(browser, selector):
    """Texts of all elements that match, with plain spaces."""
    found = browser.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")
    return [re.sub(r"\s", " ", text) for text in found]


def three_digits(value):
    """Three significant digits as the page writes them, computed independently."""
    whole = len(str(int(float(f"{value:.3g}"))))
    return f"{float(f'{value:.3g}'):.{max(3 - whole, 0)}f}"


def assert_quiet(browser, path):
    assert browser.complaints() == []
    assert browser.requests() == [f"file://{path}"], "a report fetches nothing"


@pytest.mark.parametrize("kind", ["tuned", "single", "verdict", "hostile", "empty"])
@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("dark", [False, True])
def test_a_report_opens_from_a_file_without_complaint_or_request(browser, reports, kind, width, dark):
    browser.open(reports(kind), width=width, dark=dark)
    assert_quiet(browser, reports(kind))
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
        "the page is as wide as its window"
    )


def test_every_section_is_drawn(browser, reports):
    browser.open(reports("tuned"))
    assert browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id)") == ["notes", *SECTIONS]
    undrawn = browser.evaluate(
        "[...document.querySelectorAll('.drawing')].filter(d => d.clientWidth && !d.querySelector('svg *')).length"
    )
    assert undrawn == 0
    broken = browser.evaluate(
        "[...document.querySelectorAll('svg *')].filter(e => [...e.attributes].some(a => /NaN|undefined|Infinity/.test(a.value))).length"
    )
    assert broken == 0


def test_the_headline_is_what_the_summaries_say(browser, reports):
    browser.open(reports("tuned"))
    chains = [run["summary"]["chains"][0] for run in data_of(reports("tuned"))["runs"]]
    means = [chain["end_to_end_ms"]["mean"] for chain in chains]
    title = texts(browser, "h1")[0]
    assert (
        f"from {three_digits(means[0])} ms to {three_digits(means[2])} ms, {three_digits(means[0] / means[2])}× faster"
        in title
    )
    rows = texts(browser, "header table.runs tbody tr")
    for row, chain, mean in zip(rows, chains, means, strict=True):
        assert f"{three_digits(mean)} ms" in row
        assert f"{three_digits(chain['end_to_end_ms']['max'])} ms" in row
        assert "in 5 repeats" in row
    assert f"{three_digits(means[0] / means[1])}×" in rows[1]
    assert f"{100 * chains[0]['alignment_ms']['mean'] / means[0]:.1f} % is alignment" in texts(browser, ".answer")[0]


@pytest.mark.parametrize("kind", ["tuned", "preempted"])
def test_bars_are_as_long_as_the_times_they_stand_for(browser, reports, kind):
    browser.open(reports(kind))
    runs = data_of(reports(kind))["runs"]
    widths = browser.evaluate("""[...document.querySelectorAll('.staircases figure')].map(f =>
        Object.fromEntries(['computation', 'off_cpu', 'preemption', 'transport', 'alignment', 'queueing'].map(p =>
            [p, [...f.querySelectorAll('rect.part.' + p)].reduce((sum, r) => sum + r.width.baseVal.value, 0)])))""")
    for run, drawn in zip(runs, widths, strict=True):
        instance = next(i for i in run["chains"][0]["instances"] if i["rank"] == "median")
        parts = instance["parts"]
        assert sum(parts.values()) == pytest.approx(instance["end_to_end_ms"])
        assert ("preemption_ms" in parts) == (kind == "preempted")
        for part, width in drawn.items():
            share = parts.get(f"{part}_ms", 0) / instance["end_to_end_ms"]
            assert width / sum(drawn.values()) == pytest.approx(share, abs=0.01), (run["label"], part)
    ends = browser.evaluate(
        """[...document.querySelectorAll('#waterfall .drawing')][0].querySelectorAll('rect.part').length"""
    )
    assert ends > len(runs) * 2 * 9, "every hop of both instances of every run"


def test_every_repeat_of_a_proof_is_drawn_with_its_gain(browser, reports):
    browser.open(reports("tuned"))
    proofs = [run["proof"] for run in data_of(reports("tuned"))["runs"] if run["proof"]]
    gains = [
        pair["before"]["end_to_end_ms"] / pair["after"]["end_to_end_ms"]
        for proof in proofs
        for pair in proof["repeats"]
    ]
    assert texts(browser, ".pair .value") == [f"{three_digits(gain)}×" for gain in gains]
    ranges = [
        f"{three_digits(proof['ratio']['least'])}× to {three_digits(proof['ratio']['greatest'])}×" for proof in proofs
    ]
    assert texts(browser, "table.runs .gain small") == ranges


def test_paper_holds_the_whole_width(browser, reports):
    browser.open(reports("tuned"), width=720, media="print")
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_critical_chain_is_lit(browser, reports):
    browser.open(reports("tuned"))
    path = data_of(reports("tuned"))["runs"][0]["summary"]["chains"][0]["path"]
    lit = browser.evaluate(
        "[...document.querySelectorAll('.node.critical')].map(n => n.getAttribute('aria-label').split(';')[0])"
    )
    assert sorted(lit) == sorted(path[::2])
    assert browser.evaluate("document.querySelectorAll('.edge.critical').length") == len(path) // 2
    assert browser.evaluate("document.querySelectorAll('.node:not(.critical)').length") > 0


def test_an_edge_tells_rate_latency_and_loss_by_keyboard_and_by_pointer(browser, reports):
    browser.open(reports("tuned"))
    browser.evaluate("document.querySelector('#waterfall').scrollIntoView(); document.querySelector('.edge').focus()")
    tip = browser.evaluate("document.querySelector('.tip').innerText")
    assert "Hz, latency median" in tip and "lost" in tip and "untuned" in tip
    browser.key("Escape", ESCAPE)
    assert browser.evaluate("document.querySelector('.tip').hidden")
    browser.key("Tab", TAB)
    assert browser.evaluate("document.activeElement.classList.contains('edge')"), "Tab steps from edge to edge"
    browser.evaluate(
        "document.activeElement.blur(); document.querySelector('.staircases rect.alignment').scrollIntoView({block: 'center'})"
    )
    at = browser.evaluate(
        "(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('.staircases rect.alignment').getBoundingClientRect())"
    )
    browser.move(*at)
    assert re.match(r"\S+: alignment [\d.]+\sms", browser.evaluate("document.querySelector('.tip').innerText"))


def test_the_tables_hold_the_figures_and_sort(browser, reports):
    browser.open(reports("tuned"))
    callbacks = data_of(reports("tuned"))["runs"][0]["summary"]["callbacks"]
    tables = "document.querySelectorAll('.tables table')"
    heads = browser.evaluate(
        f"[...{tables}[1].querySelectorAll('th')].map(h => h.innerText.split(/\\s/)[0].toLowerCase())"
    )
    mean = heads.index("mean")
    column = f"[...{tables}[1].querySelectorAll('tbody tr')].map(r => r.cells[{mean}].textContent)"
    means = [f"{callback['duration_us']['mean'] / 1000:.3f}" for callback in callbacks]
    assert browser.evaluate(column) == means
    browser.evaluate(f"{tables}[1].querySelectorAll('th button')[{mean}].click()")
    assert browser.evaluate(column) == sorted(means, key=float, reverse=True)
    assert browser.evaluate(f"{tables}[1].querySelectorAll('th')[{mean}].getAttribute('aria-sort')") == "descending"
    browser.evaluate(f"{tables}[1].querySelectorAll('th button')[{mean}].click()")
    assert browser.evaluate(column) == sorted(means, key=float)


def test_what_was_not_measured_is_a_dash_and_never_zero(browser, reports):
    browser.open(reports("tuned"))
    cells = browser.evaluate(
        "[...document.querySelectorAll('.tables table')[0].rows[2].cells].map(c => [c.textContent, c.title])"
    )
    assert [text for text, _ in cells[:4]] == ["camera_driver to image_detector", "2", "0", "40"]
    assert len(cells) > 10 and all(cell == ["–", "not measured"] for cell in cells[4:])


def test_services_actions_managed_nodes_and_threads_have_their_tables(browser, reports):
    browser.open(reports("system"))
    assert_quiet(browser, reports("system"))
    rows = browser.evaluate("""Object.fromEntries([...document.querySelectorAll('#tables h3')].map(title => {
        const table = [...document.querySelectorAll('#tables table')].find(t => title.compareDocumentPosition(t) & 4);
        return [title.textContent, [...table.querySelectorAll('tbody td')].map(cell => cell.textContent)]; }))""")
    assert rows["Managed nodes"] == ["/driver", "active", "4", "–", "1.000", "5.500", "–", "0.375"]
    assert rows["Services"][:6] == ["/driver", "/driver", "", "3", "2", "–"]
    # Requests to cancel were not recorded, and no goal was aborted: a dash, and a zero.
    assert rows["Actions"] == ["/driver", "/driver", "/driver", "–", "10", "1", "–", "7", "2", "0", "3", "55", "54"]
    assert rows["Times of goals"] == ["/driver", "–", "1.500", "2.250", "4.000", "–", "–", "–", "12.50", "–"]
    assert rows["Executor threads"][:7] == ["7", "8", "/driver", "–", "–", "12.5", "–"]
    assert rows["Who had the CPU"] == ["none, or not known", "5", "1.500", "0.750"]
    browser.open(reports("single"))
    assert not {"Managed nodes", "Services", "Actions", "Times of goals", "Executor threads"} & set(
        texts(browser, "#tables h3")
    ), "a table without rows is left out"


def test_choices_change_what_is_shown(browser, reports):
    browser.open(reports("tuned"))
    runs = data_of(reports("tuned"))["runs"]
    browser.evaluate("document.querySelector('input[value=worst]').click()")
    worst = [run["chains"][0]["instances"][2]["end_to_end_ms"] for run in runs]
    assert texts(browser, ".staircases figcaption") == [
        f"{run['label']}, worst instance: {three_digits(ms)} ms" for run, ms in zip(runs, worst, strict=True)
    ]
    browser.evaluate("document.querySelector('#tables input[value=arrival]').click()")
    mean = runs[2]["summary"]["chains"][0]["end_to_end_ms"]["mean"]
    assert f"{mean:.2f}" in texts(browser, ".tables table tbody tr")[0]


def test_the_page_opens_with_the_verdict_and_explains_its_chain_and_not_a_namesake(browser, reports):
    browser.open(reports("verdict"))
    assert texts(browser, "h1") == ["/planner is late in 5 of 162 outputs."]
    first = browser.evaluate("document.querySelector('header h1').nextElementSibling.className")
    assert first == "verdict"
    culprits = texts(browser, "header .verdict > ol > li")
    assert len(culprits) == 3 and culprits[0].startswith("Planner.reload_map of /planner took up to 1950 ms.")
    assert "Then about 57.2 ms at worst, 0 of 5 late (estimate)." in culprits[0]
    assert texts(browser, "header .verdict details summary") == ["and 1 more"]
    # Two chains have one name; the shorter stands before the critical one in the data.
    chains = data_of(reports("verdict"))["runs"][0]["summary"]["chains"]
    assert chains[0]["name"] == chains[1]["name"] and [chain["critical"] for chain in chains[:2]] == [False, True]
    assert texts(browser, "#causes details summary")[0].startswith("2000.00 ms")
    browser.evaluate("document.querySelectorAll('#causes input')[1].click()")
    assert texts(browser, "#causes details summary")[0].startswith("1320.00 ms")


def test_hostile_names_are_text(browser, reports):
    browser.open(reports("hostile"))
    assert browser.evaluate("document.title").startswith("Tachograph: </script><img")
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert browser.evaluate("document.querySelectorAll('script').length") == 2, "the data and the program of the page"
    assert browser.evaluate(
        "[...document.querySelectorAll('*')].every(e => [...e.attributes].every(a => !a.name.startsWith('on')))"
    )
    name = "</script><img src=x onerror=\"document.title='owned'\">"
    for place in ("table.runs th", "#notes b", "h1", ".verdict li", ".tables td", "#provenance th"):
        assert any(name in text for text in texts(browser, place)), place
    labels = browser.evaluate("[...document.querySelectorAll('.node')].map(n => n.getAttribute('aria-label'))")
    assert any(label.startswith(name) for label in labels)
    assert_quiet(browser, reports("hostile"))


def test_nothing_measured_says_so(browser, reports):
    browser.open(reports("empty"))
    assert texts(browser, "h1") == ["No end-to-end time was measured"]
    assert browser.evaluate("document.querySelectorAll('section')[0].id") == "tables"


def test_a_page_without_data_says_what_fills_it(browser):
    template = os.environ.get("TACHO_REPORT_TEMPLATE", ROOT / "build" / "web" / "report.html")
    browser.open(template)
    assert "tacho report RUN" in texts(browser, "main")[0]


def test_the_page_stays_small_and_lets_no_other_script_run(reports):
    template = Path(os.environ.get("TACHO_REPORT_TEMPLATE", ROOT / "build" / "web" / "report.html")).read_text(
        encoding="utf-8"
    )
    assert len(template) < 600_000
    assert "script-src 'sha256-" in template and "default-src 'none'" in template


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_on_its_ground(browser, reports, dark):
    """All text colours have a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3)."""
    browser.open(reports("tuned"), dark=dark)

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    ground = luminance(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (ground < 0.1) == dark
    for selector in ("h1", ".lead", ".overline", ".gain:not(:empty)", "td.absent", "summary"):
        text = luminance(browser.evaluate(f"getComputedStyle(document.querySelector({json.dumps(selector)})).color"))
        light, deep = max(text, ground) + 0.05, min(text, ground) + 0.05
        assert light / deep >= 4.5, selector


def test_the_layers_of_a_latency_are_as_wide_as_they_take(browser, reports):
    path = reports("single")
    browser.open(path)
    (figures,) = data_of(path)["runs"][0]["summary"]["layers"]
    drawn = browser.evaluate("""[...document.querySelectorAll('#layers .strip rect.layer')].map(r =>
        [r.classList[1], r.x.baseVal.value, r.width.baseVal.value])""")
    assert [name for name, _, _ in drawn] == [part["layer"] for part in figures["layers"]]
    width = sum(of for _, _, of in drawn)
    end = 0
    for (_, x, of), part in zip(drawn, figures["layers"]):
        assert of / width == pytest.approx(part["duration_us"]["mean"] / figures["latency_us"]["mean"], rel=0.01)
        assert x == pytest.approx(end, abs=0.5)
        end = x + of
    assert any("take client library includes take rcl" in text for text in texts(browser, "#layers p"))
