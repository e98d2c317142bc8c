"""Pages of one node or topic inside the report: links lead to them, they hold what concerns it, and the way back works."""

import json
import re
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import Browser

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of an invented run, written by the report's own writer."""
    path = tmp_path_factory.mktemp("report") / "verdict.html"
    command = ["cargo", "run", "--quiet", "-p", "tacho-report", "--example", "sample_report", path, "verdict"]
    subprocess.run(command, cwd=ROOT, check=True)
    return path


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


def summary(report):
    text = report.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="tacho-data">(.*?)</script>', text, re.S)[1]
    return json.loads(data)["runs"][0]["summary"]


def title(browser):
    return browser.evaluate("document.querySelector('h1').textContent")


def first_cells(browser, heading):
    """First cells of the rows of the table under a heading."""
    return browser.evaluate(
        f"""(() => {{
          const heading = [...document.querySelectorAll('h3')].find(h => h.textContent === {json.dumps(heading)});
          let table = heading;
          while (table && !table.matches('.wide, .remark')) table = table.nextElementSibling;
          return [...table.querySelectorAll('tbody tr')].map(row => row.cells[0].textContent);
        }})()"""
    )


def test_a_link_leads_to_the_page_of_a_node_and_back_leads_to_the_report(browser, report):
    browser.open(report)
    whole = title(browser)
    browser.evaluate("document.querySelector('#graph svg a').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    browser.wait_for(f"document.querySelector('h1').textContent !== {json.dumps(whole)}")
    node = title(browser)
    expected = [c for c in summary(report)["callbacks"] if c.get("node") == node]
    assert first_cells(browser, "Callbacks") == [node] * len(expected)
    others = set(browser.evaluate("[...document.querySelectorAll('#tables td a')].map(a => a.textContent)")) - {node}
    topics = {t["topic"] for t in summary(report)["topics"] if node in t["publishers"] + t["subscribers"]}
    assert others == topics
    browser.evaluate("history.back()")
    browser.wait_for(f"document.querySelector('h1').textContent === {json.dumps(whole)}")
    assert browser.complaints() == []


def test_the_page_of_each_topic_opens_from_its_address(browser, report):
    for topic in summary(report)["topics"]:
        browser.open(report, fragment=f"#topic={quote(topic['topic'], safe='')}")
        assert title(browser) == topic["topic"]
        assert first_cells(browser, "Topics") == [topic["topic"]]
        lead = browser.evaluate("document.querySelector('.answer').textContent")
        assert all(node in lead for node in topic["publishers"] + topic["subscribers"])


def test_the_field_leads_to_what_is_typed(browser, report):
    browser.open(report)
    topic = summary(report)["topics"][0]["topic"]
    browser.evaluate(
        f"""(() => {{
          const field = document.querySelector('.finder input');
          field.value = {json.dumps(topic)};
          field.dispatchEvent(new Event('change'));
        }})()"""
    )
    browser.wait_for(f"document.querySelector('h1').textContent === {json.dumps(topic)}")


def test_what_was_not_seen_says_so(browser, report):
    browser.open(report, fragment="#node=%2Fnobody")
    assert title(browser) == "/nobody"
    assert "No node of this name was seen" in browser.evaluate("document.querySelector('.answer').textContent")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_on_the_page_of_a_node(browser, report, width, dark):
    node = next(c["node"] for c in summary(report)["callbacks"] if c.get("node"))
    browser.open(report, width=width, dark=dark, fragment=f"#node={quote(node, safe='')}")
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    browser.evaluate(AXE.read_text())
    found = browser.evaluate(
        "axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]))"
    )
    assert found == []
