"""The report's timeline in a browser: what it holds against the tables, and what keyboard and pointer do with it."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import columns
import pyarrow.parquet as parquet
import pytest
from browser import Browser

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
STAGE = "document.querySelector('.timeline-view').timeline"
SELECTED = "document.querySelector('.timeline-selected').textContent"
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
MARK = '<script type="application/json" id="tacho-data">'


BUSY = """
middleware: cyclonedds
nodes:
  camera: {publishes: {/image: {size: 1 KiB, rate: 50 Hz}}}
  left:   {subscribes: [/image], on: arrival, work: 9 ms}
  right:  {subscribes: [/image], on: arrival, work: 9 ms}
  third:  {subscribes: [/image], on: arrival, work: 9 ms}
run: {duration: 2 s, cpus: {left: [0], right: [0], third: [0]}}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A real trace of the Autoware reference system, imported."""
    directory = tmp_path_factory.mktemp("timeline")
    with tarfile.open(ROOT / "tests/fixtures/ctf/autoware_single_5s.tar.gz") as archive:
        archive.extractall(directory / "trace")
    tacho(directory, "import", "trace/ctf", "-o", "run")
    return directory / "run"


@pytest.fixture(scope="module")
def report(run):
    tacho(run.parent, "report", "run")
    return run / "report.html"


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


def tacho(directory, *arguments):
    subprocess.run([ROOT / "build" / "tacho", *arguments], cwd=directory, check=True, capture_output=True)


def table(run, name):
    return parquet.read_table(run / "tables" / f"{name}.parquet").to_pylist()


def data_of(path):
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(text.split(MARK, 1)[1].split("</script>", 1)[0])


def with_data(report, data, out):
    """The same page with other data."""
    before, rest = report.read_text(encoding="utf-8").split(MARK, 1)
    text = json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    out.write_text(before + MARK + text + "</script>" + rest.split("</script>", 1)[1], encoding="utf-8")
    return out


def press(browser, *keys):
    """Presses keys that write characters or move."""
    for key in keys:
        written = {"text": key} if len(key) == 1 else {}
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, **written)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)
    browser.evaluate(FRAMES)


def view(browser):
    return browser.evaluate(f"[{STAGE}.view.from, {STAGE}.view.to]")


def opened(browser, path, **options):
    browser.open(path, **options)
    browser.evaluate(
        "document.querySelector('#timeline').scrollIntoView(); document.querySelector('.timeline-view').focus()"
    )
    browser.evaluate(FRAMES)


def critical(run):
    """Number of the critical chain, and its instances by time."""
    chain = next(chain["row_id"] for chain in table(run, "chains") if chain["critical"])
    of_chain = [one for one in table(run, "instances") if one["chain"] == chain]
    return sorted(of_chain, key=lambda one: one["end_to_end_ns"])


def test_slices_are_the_executions_of_the_tables(browser, run, report):
    opened(browser, report)
    assert browser.complaints() == [] and browser.requests() == [f"file://{report}"]
    begin = int(browser.evaluate(f"{STAGE}.data.shape.begin_ns"))
    assert begin == min(process["first_ns"] for process in table(run, "processes"))
    drawn = browser.evaluate(
        f"""(d => [...d.start].map((start, i) => [d.threads[d.thread[i]].tid, start,
            Number.isNaN(d.duration[i]) ? null : d.end[i], d.callback[i]]))({STAGE}.data)"""
    )
    executions = table(run, "executions")
    assert len(executions) > 1000
    expected = Counter(
        (e["tid"], e["start_ns"] - begin, e["end_ns"] and e["end_ns"] - begin, e["callback"]) for e in executions
    )
    assert Counter(tuple(one) for one in drawn) == expected
    in_rows = browser.evaluate(f"{STAGE}.data.threads.flatMap(t => t.rows.flatMap(r => [...r.item])).length")
    assert in_rows == len(executions), "each stands in one row"


def test_arrows_are_the_messages_of_the_tables(browser, run, report):
    opened(browser, report)
    begin = int(browser.evaluate(f"{STAGE}.data.shape.begin_ns"))
    arrows = browser.evaluate(
        f"(d => [...d.publication].map((call, i) => [d.at[call], d.start[d.takenBy[i]], d.names[d.topic[call]]]))({STAGE}.data)"
    )
    executions, endpoints = table(run, "executions"), table(run, "endpoints")
    messages = [m for m in table(run, "messages") if None not in (m["publisher"], m["publish_ns"], m["execution"])]
    assert len(messages) > 500
    expected = Counter(
        (
            m["publish_ns"] - begin,
            executions[m["execution"]]["start_ns"] - begin,
            endpoints[m["publisher"]]["topic"],
        )
        for m in messages
    )
    assert Counter(tuple(one) for one in arrows) == expected


def test_the_lit_instance_is_the_worst_of_the_tables_and_its_stretches_are_its_causes(browser, run, report):
    opened(browser, report)
    by_time = critical(run)
    worst, median = by_time[-1], by_time[(len(by_time) - 1) // 2]
    begin = int(browser.evaluate(f"{STAGE}.data.shape.begin_ns"))
    lit = (
        f"(l => [l.row, l.start, l.end - l.start, l.stretches.reduce((sum, s) => sum + s.to - s.from, 0)])({STAGE}.lit)"
    )
    for key, instance in (("1", worst), ("2", median), ("1", worst)):
        press(browser, key)
        of_page = browser.evaluate(lit)
        assert of_page[1:3] == [instance["start_ns"] - begin, instance["end_to_end_ns"]]
        assert of_page[3] == pytest.approx(instance["end_to_end_ns"]), "its stretches are the whole of it"
        low, high = view(browser)
        assert low < of_page[1] and high > of_page[1] + of_page[2], "it is in sight"
        shown = re.search(r"here: ([\d.]+)\s(\w+);", browser.evaluate(SELECTED))
        unit = {"s": 1e9, "ms": 1e6, "us": 1e3}[shown[2]]
        assert float(shown[1]) == pytest.approx(instance["end_to_end_ns"] / unit, rel=1e-3)
    row = browser.evaluate(lit)[0]
    causes = Counter()
    for cause in table(run, "causes"):
        if cause["instance"] == row:
            causes[cause["by"]] += cause["duration_ns"]
    drawn = Counter()
    for words, ns in browser.evaluate(f"{STAGE}.lit.stretches.map(s => [s.words, s.to - s.from])"):
        (by,) = {by for by in causes if words.endswith(f" {by}")} or {words}
        drawn[by] += ns
    assert drawn == pytest.approx(causes, abs=len(causes)), "named as the table of causes names them"
    hops = [hop for hop in table(run, "hops") if hop["instance"] == row]
    arrows = browser.evaluate("document.querySelector('#timeline canvas').dataset.drawn")
    assert int(re.search(r"(\d+) arrows", arrows)[1]) > len(hops) // 2, arrows


def test_the_keyboard_zooms_moves_selects_and_searches(browser, run, report):
    opened(browser, report)
    press(browser, "0")
    low, high = view(browser)
    press(browser, "w")
    inner = view(browser)
    assert inner[0] > low and inner[1] < high
    assert (inner[0] + inner[1]) / 2 == pytest.approx((low + high) / 2)
    press(browser, "d")
    right = view(browser)
    assert right[0] > inner[0] and right[1] - right[0] == pytest.approx(inner[1] - inner[0])
    press(browser, "a")
    assert view(browser) == pytest.approx(inner)
    press(browser, "s")
    assert view(browser) == pytest.approx([low, high])

    press(browser, "Escape")
    assert browser.evaluate(SELECTED) == "Nothing is selected."
    press(browser, "ArrowRight")
    first = browser.evaluate(f"{STAGE}.selected")
    press(browser, "ArrowRight")
    assert browser.evaluate(f"{STAGE}.selected") == first + 1
    name = browser.evaluate(f"(d => d.callbacks[d.callback[{first + 1}]].name)({STAGE}.data)")
    assert browser.evaluate(SELECTED).startswith(name)
    press(browser, "f")
    start, end = browser.evaluate(f"(d => [d.start[{first + 1}], d.end[{first + 1}]])({STAGE}.data)")
    low, high = view(browser)
    assert low <= start and end <= high and (end - start) / (high - low) > 0.5 or high - low == 500

    press(browser, "/")
    assert browser.evaluate("document.activeElement.type") == "search"
    nodes = table(run, "nodes")
    node = "/NDTLocalizer"
    callbacks = [
        c["row_id"] for c in table(run, "callbacks") if c["node"] is not None and nodes[c["node"]]["name"] == node
    ]
    of_node = sorted(e["start_ns"] for e in table(run, "executions") if e["callback"] in callbacks)
    begin = int(browser.evaluate(f"{STAGE}.data.shape.begin_ns"))
    browser.call("Input.insertText", text=node.upper())
    found = [browser.evaluate("document.querySelector('.timeline-found').textContent")]
    starts = []
    for _ in range(2):
        press(browser, "Enter")
        found.append(browser.evaluate("document.querySelector('.timeline-found').textContent"))
        starts.append(browser.evaluate(f"{STAGE}.data.start[{STAGE}.selected]") + begin)
    assert found[0].endswith(" found")
    assert found[1:] == [f"{place} of {found[0].split()[0]}" for place in (1, 2)]
    assert starts[0] <= of_node[0] and starts == sorted(starts)
    press(browser, "Escape")
    assert browser.evaluate("document.activeElement.className") == "timeline-view", "Escape goes back"

    assert browser.evaluate("document.querySelector('.timeline-keys').hidden")
    press(browser, "?")
    assert "zoom in" in browser.evaluate("document.querySelector('.timeline-keys').innerText")
    browser.key("Tab", 9)
    assert browser.evaluate("document.activeElement.className") != "timeline-view", "Tab leaves it"


def test_messages_are_followed_to_sender_and_receiver(browser, run, report):
    opened(browser, report)
    executions = table(run, "executions")
    message = next(
        m for m in table(run, "messages") if None not in (m["published_in"], m["execution"], m["publish_ns"])
    )
    begin = int(browser.evaluate(f"{STAGE}.data.shape.begin_ns"))
    sender, receiver = (executions[message[name]]["start_ns"] - begin for name in ("published_in", "execution"))
    browser.evaluate(f"{STAGE}.select({STAGE}.data.start.indexOf({receiver}))")
    press(browser, "[")
    assert browser.evaluate(f"{STAGE}.data.start[{STAGE}.selected]") == sender
    press(browser, "]")
    taker = browser.evaluate(f"{STAGE}.selected")
    calls = browser.evaluate(
        f"[...{STAGE}.data.publication].filter((_, i) => {STAGE}.data.takenBy[i] === {taker}).length"
    )
    assert calls > 0 and "took /" in browser.evaluate(SELECTED)


def test_the_pointer_selects_drags_and_zooms(browser, report):
    opened(browser, report)
    browser.evaluate("document.querySelector('.timeline-view').scrollIntoView({block: 'center'})")
    longest = browser.evaluate(
        f"(d => [...d.duration].reduce((best, ns, i) => ns > d.duration[best] && d.depth[i] === 0 ? i : best, 0))({STAGE}.data)"
    )
    browser.evaluate(f"{STAGE}.select({longest}); {STAGE}.do('focus'); {STAGE}.select(undefined)")
    browser.evaluate(FRAMES)
    x, y = browser.evaluate(
        f"""(s => {{
            const box = document.querySelector('#timeline canvas').getBoundingClientRect();
            const middle = (s.data.start[{longest}] + s.data.end[{longest}]) / 2;
            const x = s.gutter + (middle - s.view.from) / (s.view.to - s.view.from) * (box.width - s.gutter);
            for (let y = 0; y < box.height; y++) if (s.executionAt(x, y + 4) === {longest}) return [box.left + x, box.top + y + 4];
        }})({STAGE})"""
    )
    browser.move(x, y)
    assert "ms" in browser.evaluate("document.querySelector('.tip').innerText")
    before = view(browser)
    for kind, at in (("mousePressed", x), ("mouseReleased", x)):
        browser.call("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", clickCount=1)
    assert browser.evaluate(f"{STAGE}.selected") == longest
    assert view(browser) == before
    for kind, at in (("mousePressed", x), ("mouseMoved", x - 50), ("mouseMoved", x - 100), ("mouseReleased", x - 100)):
        browser.call("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", buttons=1, clickCount=1)
    after = view(browser)
    across = browser.evaluate(f"document.querySelector('.timeline-view').clientWidth - {STAGE}.gutter")
    assert after[0] - before[0] == pytest.approx(100 / across * (before[1] - before[0]), rel=0.01)
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-60, modifiers=2)
    browser.evaluate(FRAMES)
    assert view(browser)[1] - view(browser)[0] < after[1] - after[0]


def million(timeline):
    """A timeline of a million executions on four threads in 60 s, written by the tests' own columns."""
    count, threads = 1_000_000, 4
    step = 60_000_000_000 * threads // count
    start = [i * step + (i * 7919) % (step // 2) for i in range(count // threads)] * threads
    made = {
        "start": columns.write_growing(start),
        "duration": columns.write_optional((i * 104_729) % (step // 2) + 100 for i in range(count)),
        "callback": columns.write(i % 3 for i in range(count)),
        "cpu": columns.write_optional(None for _ in range(count)),
    }
    one = timeline["threads"][0] | {"executions": count // threads}
    none = {"publications": ("at", "topic", "process", "execution"), "flows": ("publication", "execution", "taken")}
    return {name: value for name, value in timeline.items() if name != "chain"} | {
        "spans": [[0, 60_000_000_000]],
        "length_ns": 60_000_000_000,
        "threads": [one | {"tid": tid} for tid in range(threads)],
        "executions": made,
        **{name: dict.fromkeys(of, "") for name, of in none.items()},
    }


def test_a_frame_costs_its_pixels_and_not_its_slices(browser, report, tmp_path):
    data = data_of(report)
    data["runs"][0]["timeline"] = million(data["runs"][0]["timeline"])
    opened(browser, with_data(report, data, tmp_path / "million.html"))
    assert browser.evaluate(f"{STAGE}.data.start.length") == 1_000_000
    rows = browser.evaluate(f"{STAGE}.data.threads.flatMap(t => t.rows).length")
    width = browser.evaluate("document.querySelector('.timeline-view').clientWidth")
    most = 0
    for zoom in range(12):
        browser.evaluate(f"{STAGE}.do('whole'); for (let i = 0; i < {4 * zoom}; i++) {STAGE}.do('zoom in')")
        frames = f"[...Array(20)].map(() => ({STAGE}.do('right'), {STAGE}.frame().rectangles))"
        most = max(most, *browser.evaluate(frames))
    assert 100 < most <= 2 * (width + 2) * rows
    assert browser.complaints() == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_timeline_is_drawn_at_each_width_and_axe_finds_nothing(browser, report, width, dark):
    opened(browser, report, width=width, dark=dark)
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    colours = browser.evaluate(
        """(c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size)(
            document.querySelector('#timeline canvas'))"""
    )
    assert colours > 20
    ground = browser.evaluate(
        "[...document.querySelector('#timeline canvas').getContext('2d').getImageData(2, 2, 1, 1).data]"
    )
    assert (ground[0] < 80) == dark
    browser.evaluate(AXE.read_text(encoding="utf-8") + "; 1")
    press(browser, "?")
    found = browser.evaluate(
        "axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]))"
    )
    assert found == []


def test_a_cpu_shows_who_had_it_while_a_thread_waited(browser, tmp_path):
    """In virtual time, where the scheduler of two CPUs for three busy nodes is known."""
    (tmp_path / "w.yaml").write_text(BUSY)
    tacho(tmp_path, "simulate", "w.yaml", "-o", "run")
    run = tmp_path / "run"
    tacho(tmp_path, "report", "run")
    opened(browser, run / "report.html")
    rows = table(run, "preemptions")
    begin = int(browser.evaluate(f"{STAGE}.data.shape.begin_ns"))
    drawn = browser.evaluate(
        f"""(d => d.threads.flatMap(t => [...t.offCpu.item].map(i => [t.tid, d.offCpu.from[i], d.offCpu.to[i]])))(
            {STAGE}.data)"""
    )
    expected = Counter((row["tid"], row["from_ns"] - begin, row["to_ns"] - begin) for row in rows)
    assert len(rows) > 10 and Counter(tuple(one) for one in drawn) == expected
    had = {}
    for row in rows:
        if row["by_comm"] is not None and row["state"] != "blocked":
            had.setdefault(row["cpu"], []).append((row["from_ns"], row["to_ns"]))
    of_page = browser.evaluate(
        f"{STAGE}.data.cpus.map(c => [c.number, [...c.row.start].reduce((sum, from, i) => sum + c.row.end[i] - from, 0)])"
    )
    assert {cpu: ns for cpu, ns in of_page} == {cpu: covered(spans) for cpu, spans in had.items()}


def covered(spans):
    """Length of the union of spans."""
    total, last = 0, 0
    for start, end in sorted(spans):
        total += max(end - max(start, last), 0)
        last = max(last, end)
    return total


def test_a_link_shows_the_same_part_and_moving_changes_it(browser, report, tmp_path):
    linked = shutil.copy(report, tmp_path / "linked.html")
    opened(browser, f"{linked}#timeline=0,3000000000,3500000000")
    assert view(browser) == [3e9, 3.5e9]
    assert browser.evaluate("Math.abs(document.querySelector('#timeline').getBoundingClientRect().top)") < 400
    press(browser, "d")
    low, high = view(browser)
    changed = (
        "new Promise(done => { const look = () => location.hash === HASH ? setTimeout(look, 20) : done(1); look(); })"
    )
    browser.evaluate(changed.replace("HASH", "'#timeline=0,3000000000,3500000000'"))
    assert browser.evaluate("location.hash") == f"#timeline=0,{round(low)},{round(high)}"


def test_the_contents_lead_to_every_section(browser, report):
    opened(browser, report)
    links = browser.evaluate(
        "[...document.querySelectorAll('nav.contents a')].map(a => a.getAttribute('href').slice(1))"
    )
    with_title = "[...document.querySelectorAll('section')].filter(s => s.querySelector('h2')).map(s => s.id)"
    assert links == browser.evaluate(with_title) and "timeline" in links


def test_paper_has_words_and_no_drawing(browser, report):
    browser.open(report, width=720, media="print")
    shown = "[...document.querySelectorAll('#timeline *')].filter(e => e.offsetParent !== null).map(e => e.className)"
    assert "timeline-view" not in browser.evaluate(shown)
    assert "The page holds all" in browser.evaluate("document.querySelector('#timeline').innerText")


def test_a_window_holds_what_happened_in_it_and_keeps_the_run_s_clock(browser, run, tmp_path):
    out = tmp_path / "window.html"
    tacho(run.parent, "report", "run", "--between", "3s", "4s", "-o", str(out))
    opened(browser, out)
    begin = int(browser.evaluate(f"{STAGE}.data.shape.begin_ns"))
    assert begin == min(process["first_ns"] for process in table(run, "processes"))
    start, end = browser.evaluate(f"[[...{STAGE}.data.start], [...{STAGE}.data.end]]")
    assert min(end) >= 3e9 and max(start) <= 4e9
    text = browser.evaluate("document.querySelector('#timeline .provenance').textContent")
    assert "3.00\u202fs to 4.00\u202fs of 6." in text, text
    inside = [e for e in table(run, "executions") if 3e9 <= e["start_ns"] - begin < 4e9]
    assert len(start) >= len(inside)


def test_a_minute_of_this_system_would_take_less_than_8_mb(report):
    """What grows with the run is the timeline; the rest are figures."""
    timeline = data_of(report)["runs"][0]["timeline"]
    of_timeline = len(json.dumps(timeline, separators=(",", ":")))
    minute = of_timeline * 60e9 / timeline["length_ns"]
    assert os.path.getsize(report) - of_timeline + minute < 8_000_000
