"""The documentation as a site: its links lead somewhere, and it needs no other host."""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from places import ROOT
from waiting import LIMIT_S

sys.path.insert(0, str(ROOT / "tests" / "report"))
from browser import Browser  # noqa: E402


@pytest.fixture(scope="module")
def mkdocs():
    """The program that builds the site."""
    subprocess.run([ROOT / "setup" / "python", ROOT / "build" / "venv-docs", ROOT / "setup" / "docs.txt"], check=True)
    return ROOT / "build" / "venv-docs" / "bin" / "mkdocs"


def build(mkdocs, checkout, site):
    environment = dict(os.environ, NO_MKDOCS_2_WARNING="1", TACHO_HOME=str(ROOT / "build"))
    command = [mkdocs, "build", "--config-file", checkout / "mkdocs.yml", "--site-dir", site]
    return subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S
    )


@pytest.fixture(scope="module")
def site(mkdocs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(mkdocs, ROOT, folder)
    assert done.returncode == 0, done.stdout
    return folder


def test_every_page_of_docs_is_a_page_of_the_site(site):
    names = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"README"} | {
        "index",
        "benchmarks",
        "command-line",
        "events",
    }
    assert names <= {page.stem for page in site.glob("*.html")}


def test_the_page_of_options_has_the_help_of_every_verb(site, tacho):
    page = (site / "command-line.html").read_text()
    for verb in ("record", "explain", "compare", "completions"):
        assert f'id="tacho-{verb}"' in page
    assert "--scheduler" in page and "--trigger" in page


def test_the_site_searches_from_a_disk_and_asks_no_other_host(site):
    type_ = """(() => { const field = document.querySelector('[name=query]'); field.focus(); field.value = 'uprobes';
        field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); })()"""
    found = "[...document.querySelectorAll('.md-search-result__link')].map(link => link.href)"
    with Browser() as browser:
        browser.open(site / "index.html")
        until = time.monotonic() + LIMIT_S
        browser.evaluate(type_)
        while not (links := browser.evaluate(found)):
            assert time.monotonic() < until, browser.complaints()
            time.sleep(0.05)
            browser.evaluate(type_)
        assert any("record.html" in link and link.endswith("#programs-that-run-already") for link in links), links
        assert browser.complaints() == []
        requests = browser.requests()
        assert requests and all(address.startswith((f"file://{site}/", "data:")) for address in requests), requests


def test_the_page_of_events_numbers_them_as_the_compiler_does(site, tmp_path):
    rows = re.findall(r"<td>(\d+)</td>\s*<td><code>(\w+)</code></td>", (site / "events.html").read_text())
    header = (ROOT / "native/include/tacho/events.h").read_text()
    names = re.findall(r"^  TACHO_(\w+)", header.partition("enum tacho_kind {")[2].partition("\n};")[0], flags=re.M)
    assert [name for _, name in rows] == [name.lower() for name in names]
    print_ = "".join(f'printf("%d ", TACHO_{name});' for name in names)
    source = f'#include <stdio.h>\n#include "tacho/events.h"\nint main(void) {{ {print_} }}\n'
    program = ["cc", "-x", "c", "-", "-I", ROOT / "native/include", "-o", tmp_path / "print"]
    subprocess.run(program, input=source, text=True, check=True)
    printed = subprocess.run([tmp_path / "print"], capture_output=True, text=True, check=True).stdout
    assert printed.split() == [number for number, _ in rows]


FAULTS = {
    "[page](nowhere.md)": "top.html: nowhere.md leads nowhere",
    "[source](../crates/nowhere)": "top.html: ../crates/nowhere leads nowhere",
    "[heading](record.md#nowhere)": "top.html: record.html#nowhere has no such anchor",
    "<a href='tables.html#nowhere'>raw</a>": "top.html: tables.html#nowhere has no such anchor",
    "![picture](https://example.org/p.png)": "top.html loads from another host: https://example.org/p.png",
    "<script src='//example.org/s.js'></script>": "top.html loads from another host: //example.org/s.js",
    "Text.\n| a |\n| - |": "top.html shows a table as text",
}


def test_faults_of_pages_end_the_build_with_their_names(mkdocs, tmp_path):
    for part in ("docs", "benchmarks", "native/include", "mkdocs.yml"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tmp_path / part)
    (tmp_path / "crates" / "figures").mkdir(parents=True)
    with (tmp_path / "docs" / "top.md").open("a") as page:
        page.write("\n" + "\n\n".join(FAULTS) + "\n")
    (tmp_path / "docs" / "orphan.md").write_text("# A page that the navigation lacks\n")
    done = build(mkdocs, tmp_path, tmp_path / "site")
    assert done.returncode == 1 and "in strict mode" in done.stdout, done.stdout
    warnings = [line for line in done.stdout.splitlines() if line.startswith("WARNING")]
    for fault in FAULTS.values():
        assert sum(fault in line for line in warnings) == 1, f"{fault}\n{done.stdout}"
    assert "- orphan.md" in done.stdout
    # Our checks name nothing that is sound.
    assert {line.partition("-  ")[2].partition(".html")[0] for line in warnings if ".html" in line} == {"top"}
