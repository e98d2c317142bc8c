"""Opens the report of a sweep in a browser: boxes, bars and subscribers have the lengths of their figures."""

import json
import math
import subprocess
from pathlib import Path

import pytest
from browser import Browser
from test_report_in_browser import assert_quiet, data_of, texts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "sweep.html"
    subprocess.run(
        ["cargo", "run", "--quiet", "-p", "tacho-report", "--example", "sample_report", path, "sweep"],
        cwd=ROOT,
        check=True,
    )
    return path


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


def points_of(report):
    return [point for point in data_of(report)["runs"][0]["sweep"]["points"] if point["figures"]]


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("dark", [False, True])
def test_it_opens_without_complaint_and_is_small(browser, report, width, dark):
    browser.open(report, width=width, dark=dark)
    assert_quiet(browser, report)
    sections = browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id)")
    assert sections == ["figures", "study", "latency", "deliveries", "subscribers", "course", "points", "provenance"]
    broken = browser.evaluate(
        "[...document.querySelectorAll('svg *')].filter(e => [...e.attributes].some(a => /NaN|undefined|Infinity/.test(a.value))).length"
    )
    assert broken == 0
    assert "the short form" in browser.evaluate("document.querySelector('header').innerText")
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_box_per_point_lies_where_its_quartiles_are(browser, report):
    browser.open(report)
    points = points_of(report)
    # The axis is logarithmic, so distances between medians are ratios of latencies; all boxes of one panel share the axis.
    drawn = browser.evaluate("""Object.fromEntries([...document.querySelectorAll('#latency .box[data-point]')].map(b =>
        [b.dataset.point, [b.querySelector('.median').y1.baseVal.value, b.closest('figure').innerText.split('\\n')[0]]]))""")
    assert sorted(drawn) == sorted(point["name"] for point in points)

    panel = [point for point in points if drawn[point["name"]][1] == "one-to-many"]
    assert len(panel) == 4
    first, *others = panel
    scales = []
    for other in others:
        pixels = drawn[first["name"]][0] - drawn[other["name"]][0]
        scales.append(pixels / math.log(other["latency_us"]["median"] / first["latency_us"]["median"]))
    assert max(scales) == pytest.approx(min(scales), rel=0.02)


def test_bars_hold_every_message_of_both_ends(browser, report):
    browser.open(report)
    points = points_of(report)
    labels = browser.evaluate(
        "[...document.querySelectorAll('#deliveries svg g[role=img]')].map(g => g.getAttribute('aria-label'))"
    )
    assert len(labels) == 2 * len(points)
    for point, publisher, subscriber in zip(points, labels[::2], labels[1::2], strict=True):
        figures = point["figures"]
        assert f"never sent: {figures['due'] - figures['sent']} (" in publisher
        assert f"in time: {figures['in_time']} (" in subscriber and f"late: {figures['late']} (" in subscriber
        assert f"lost: {figures['lost']} (" in subscriber


def test_the_study_stands_beside_ours_and_names_what_is_missing(browser, report):
    browser.open(report)
    points = points_of(report)
    rows = texts(browser, "table.study tbody tr")
    below = sum(point["figures"]["latency_us"]["median"] < 2000 for point in points)
    assert f"points whose median latency is below 2 ms: {below} of {len(points)}" in rows[0]
    mean = next(p["figures"]["latency_us"]["mean"] for p in points if p["name"].startswith("002"))
    assert f"cyclonedds/udp: {mean / 1000:.2f} ms" in rows[1]
    assert "no licence file" in texts(browser, "#lacking")[0]


def test_what_was_published_is_drawn_at_its_value(browser, report):
    browser.open(report)
    # Two symbols with their figures give the logarithmic axis; the band's upper edge is the published 1 ms on it.
    drawn = browser.evaluate("""(() => {
        const panel = [...document.querySelectorAll('#figures [data-source="figure 8"]')][1].querySelector('figure');
        const at = e => e.transform.baseVal.consolidate().matrix.f;
        return [Object.fromEntries([...panel.querySelectorAll('.dot')].map(d => [d.dataset.point, at(d)])), panel.querySelector('rect.published').y.baseVal.value];
    })()""")
    dots, edge = drawn
    std_ms = {p["name"]: p["figures"]["latency_us"]["std"] / 1000 for p in points_of(report) if p["name"] in dots}
    low, high = min(std_ms, key=std_ms.get), max(std_ms, key=std_ms.get)
    logarithmic = max(1, std_ms[high]) > 20 * std_ms[low]
    scale = math.log if logarithmic else float
    slope = (dots[high] - dots[low]) / (scale(std_ms[high]) - scale(std_ms[low]))
    assert edge == pytest.approx(dots[low] + slope * (scale(1.0) - scale(std_ms[low])), abs=0.5)
    said = texts(browser, "#figures .legend.published")
    assert any("below 2 ms in most scenarios" in text for text in said)


def test_choosing_colours_and_points_redraws(browser, report):
    browser.open(report)
    browser.evaluate(
        "[...document.querySelectorAll('#latency fieldset')][1].querySelector('input[value=topology]').click()"
    )
    legend = texts(browser, "#latency .legend li")
    assert legend == ["one-to-many", "many-to-one"]
    names = browser.evaluate("[...document.querySelectorAll('#subscribers option')].length")
    assert names == sum("fairness" in point["figures"] for point in points_of(report))
    before = texts(browser, "#subscribers .answer")
    browser.evaluate(
        "(s => { s.selectedIndex = 0; s.dispatchEvent(new Event('change')) })(document.querySelector('#subscribers select'))"
    )
    assert texts(browser, "#subscribers .answer") != before
    drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelectorAll('#subscribers circle.mean').length))))"
    assert browser.evaluate(drawn) == 31


def test_the_table_has_every_figure_of_every_point(browser, report):
    browser.open(report)
    points = points_of(report)
    heads = texts(browser, "#points th")
    column = heads.index("median µs")
    cells = browser.evaluate(
        f"[...document.querySelectorAll('#points tbody tr')].map(r => r.cells[{column}].textContent)"
    )
    assert [int("".join(filter(str.isdigit, cell))) for cell in cells] == [
        round(p["figures"]["latency_us"]["median"]) for p in points
    ], json.dumps(heads)
