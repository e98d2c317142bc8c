"""The report's top view of a drive in a browser: what it shows against the tables, how it plays, and how it is joined
to the timeline."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
from browser import Browser

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
VIEW = "document.querySelector('.top-view-holder').topView"
STAGE = "document.querySelector('.timeline-view').timeline"
TEXT = "document.querySelector('.top-view-moment').textContent"
CAR = "document.querySelector('.top-view-map .car').getAttribute('transform')"
# A route at 9 Hz for poses at 10 Hz: its queue grows, and the car leaves its lane in the first corner.
LATE = ["--set=route.spin=9 Hz", *(f"--set={node}.spin=10 Hz" for node in ("planner", "control", "odometry"))]
OBSTACLES = [
    "--set=world.work.obstacles=2",
    "--set=world.work.obstacle_at=60 m",
    "--set=world.work.obstacle_offset=4 m",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A virtual drive: the same on every machine."""
    directory = tmp_path_factory.mktemp("drive")
    command = [ROOT / "build/tacho", "drive", ROOT / "workloads/drive.yaml", "--virtual", "--duration", "25s"]
    command += ["--speed", "13m/s", "--set=control.work.lookahead_time=0.5 s", *LATE, *OBSTACLES, "-o", "run"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 1 and "Lane left at" in done.stdout, done.stdout + done.stderr
    subprocess.run([ROOT / "build/tacho", "report", "run"], cwd=directory, check=True, capture_output=True)
    return directory / "run"


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture
def page(browser, run):
    browser.open(run / "report.html")
    return browser


def table(run, name):
    return parquet.read_table(run / "tables" / f"{name}.parquet").to_pylist()


def samples(run, name, task="vehicle"):
    """Instants, ns since the begin of the run, and values of a signal."""
    begin = min(process["first_ns"] for process in table(run, "processes"))
    (signal,) = [row["row_id"] for row in table(run, "signals") if (row["task"], row["name"]) == (task, name)]
    rows = [row for row in table(run, "samples") if row["signal"] == signal]
    return np.array([row["at_ns"] - begin for row in rows]), np.array([row["value"] for row in rows])


def place(browser):
    """Where the car is drawn: x, y, degrees."""
    return [float(number) for number in re.findall(r"-?[\d.]+", browser.evaluate(CAR))]


def figure(run, name):
    (of_car,) = [of for of in json.loads((run / "run.json").read_text())["quality"] if of["node"] == "car"]
    return next(of["value"] for of in of_car["figures"] if of["name"] == name)


def late_instances(run):
    """Of the chains of the workload, instances that are longer than the median by a tenth and explained, by length."""
    chains = {row["row_id"]: row["name"] for row in table(run, "chains") if row["name"] in ("control", "obstacle")}
    instances = [row for row in table(run, "instances") if row["chain"] in chains]
    explained = {row["instance"] for row in table(run, "causes")}
    found = []
    for chain in chains:
        times = sorted(row["end_to_end_ns"] for row in instances if row["chain"] == chain)
        median = times[(len(times) - 1) // 2]
        late = [
            row
            for row in instances
            if row["chain"] == chain and row["row_id"] in explained and row["end_to_end_ns"] > 1.1 * median
        ]
        found += sorted(late, key=lambda row: -row["end_to_end_ns"])[:20]
    return found


def test_the_car_is_drawn_where_the_signals_say(page, run):
    (at, x), (_, y), (_, heading) = (samples(run, name) for name in ("x", "y", "heading"))
    for row in range(0, len(at), len(at) // 20):
        page.evaluate(f"{VIEW}.show({at[row]})")
        assert place(page)[:2] == pytest.approx([x[row], y[row]], abs=0.02)
        turned = np.radians(place(page)[2]) - heading[row]
        assert abs(np.arctan2(np.sin(turned), np.cos(turned))) < 0.01
    speeds = samples(run, "speed")[1]
    page.evaluate(f"{VIEW}.show({at[len(at) // 2]})")
    assert f"{speeds[len(at) // 2]:.2f} m/s" in page.evaluate(TEXT).replace("\u202f", " ")


def test_it_begins_where_the_car_left_its_lane(page, run):
    where = [figure(run, f"left_lane_at_{axis}_m") for axis in "xy"]
    assert place(page)[:2] == pytest.approx(where, abs=0.2)
    cross = page.evaluate(
        "(b => [b.x + b.width / 2, b.y + b.height / 2])(document.querySelector('.left-lane').getBBox())"
    )
    assert cross == pytest.approx(where, abs=0.01)


def test_lane_obstacles_plans_and_objects_are_drawn(page, run):
    lane = page.evaluate("document.querySelector('.top-view-map .lane').getAttribute('points').split(' ').length")
    assert lane == len(samples(run, "lane_x", "world")[0]) > 100
    circles = "[...document.querySelectorAll('.top-view-map circle.%s')].map(c => [c.cx, c.cy, c.r].map(v => v.baseVal.value))"
    obstacles = page.evaluate(circles % "obstacle")
    assert obstacles[0] == pytest.approx([60, 4, 0.4], abs=0.01) and len(obstacles) == 2
    at, _ = samples(run, "trajectory_time", "trajectory")
    page.evaluate(f"{VIEW}.show({at[30]})")
    plan = page.evaluate("document.querySelector('.top-view-map .plan').getAttribute('points').split(' ')")
    begins = [float(number) for number in plan[0].split(",")]
    assert len(plan) == 9 and np.hypot(*np.subtract(begins, place(page)[:2])) < 1
    # Obstacles beside the lane are none that detection looks for.
    assert page.evaluate(circles % "seen") == []


def test_it_plays_and_pauses_by_button_and_by_key(page):
    page.evaluate(f"{VIEW}.show(5e9)")
    page.evaluate("document.querySelector('.top-view-holder').focus()")
    page.key(" ", 32)
    assert page.evaluate(f"{VIEW}.isPlaying()")
    page.wait_for(f"{VIEW}.now() > 5.1e9")
    assert page.evaluate("document.querySelector('.top-view-play').textContent") == "pause"
    page.evaluate("document.querySelector('.top-view-play').click()")
    assert not page.evaluate(f"{VIEW}.isPlaying()")
    stopped = page.evaluate(f"{VIEW}.now()")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate(f"{VIEW}.now()") == stopped
    page.key("ArrowRight", 39)
    assert page.evaluate(f"{VIEW}.now()") == pytest.approx(stopped + 1e8)
    page.key("Home", 36)
    first = page.evaluate(f"{VIEW}.now()")
    assert first < 1e9 and int(page.evaluate("document.querySelector('#top-view input[type=range]').value")) < 1000
    page.key("End", 35)
    assert page.evaluate(f"{VIEW}.now()") > 24e9
    # From the end it plays again from the begin, and the slider shows where it is.
    page.key(" ", 32)
    page.wait_for(f"{VIEW}.now() < 10e9 && {VIEW}.now() > {first}")
    page.key(" ", 32)
    slider = page.evaluate("document.querySelector('#top-view input[type=range]').value")
    assert float(slider) * 1e6 == pytest.approx(page.evaluate(f"{VIEW}.now()"), abs=1e7)


def test_a_late_message_moves_the_car_and_the_timeline_and_says_its_cause(page, run):
    begin = min(process["first_ns"] for process in table(run, "processes"))
    late = late_instances(run)
    assert len(late) >= 10
    assert page.evaluate("document.querySelectorAll('.top-view-map .late-mark').length") == len(late)
    worst = max(late, key=lambda row: (row["end_to_end_ns"], -row["end_ns"]))
    buttons = page.evaluate("[...document.querySelectorAll('.top-view-late button')].map(b => b.textContent)")
    page.evaluate("document.querySelector('.top-view-late button').click()")
    assert page.evaluate(f"{VIEW}.now()") == pytest.approx(worst["end_ns"] - begin, abs=1)
    assert f"{(worst['end_ns'] - begin) / 1e9:.2f}" in buttons[0]
    causes = [row for row in table(run, "causes") if row["instance"] == worst["row_id"]]
    cause = max(causes, key=lambda row: (row["duration_ns"] - (row["usual_ns"] or 0), row["duration_ns"]))
    assert cause["by"] in page.evaluate(TEXT) and "late: " in page.evaluate(TEXT)
    shown = page.evaluate(f"{STAGE}.view")
    assert shown["from"] <= worst["start_ns"] - begin and shown["to"] >= worst["end_ns"] - begin
    # The other way round: an instance that the timeline lights.
    page.evaluate(f"{STAGE}.do('median')")
    lit = page.evaluate(f"{STAGE}.lit")
    assert page.evaluate(f"{VIEW}.now()") == pytest.approx(lit["end"], abs=1)
    # A click on a ring of the map.
    page.evaluate("document.querySelector('.late-mark').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    first = min(late, key=lambda row: row["end_ns"])
    assert page.evaluate(f"{VIEW}.now()") == pytest.approx(first["end_ns"] - begin, abs=1)
    page.evaluate("document.querySelector('.top-view-holder').focus()")
    page.key("n", 78)
    second = min(row["end_ns"] for row in late if row["end_ns"] > first["end_ns"])
    assert page.evaluate(f"{VIEW}.now()") == pytest.approx(second - begin, abs=1)


def test_the_way_is_coloured_by_what_is_chosen(page, run):
    unit = "document.querySelector('.top-view-legend').textContent"
    _, ages = samples(run, "command_age")
    assert "ms" in page.evaluate(unit) and f"{ages.max():,.0f}".replace(",", "") in re.sub(
        r"\D", "", page.evaluate(unit)
    )
    page.evaluate("[...document.querySelectorAll('.top-view-choices input')].find(i => i.value === 'speed').click()")
    assert "m/s" in page.evaluate(unit)
    page.evaluate(
        "[...document.querySelectorAll('.top-view-choices input')].find(i => i.value === 'around the car').click()"
    )
    x, y, width, height = map(
        float, page.evaluate("document.querySelector('.top-view-map').getAttribute('viewBox')").split()
    )
    assert [x + width / 2, -(y + height / 2)] == pytest.approx(place(page)[:2], abs=0.05)
    assert page.evaluate("getComputedStyle(document.querySelector('.top-view-map')).overflow") == "hidden"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_and_everybody_can_use_it(browser, run, width, dark):
    browser.open(run / "report.html", width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    browser.evaluate(AXE.read_text())
    found = browser.evaluate(
        "axe.run('#top-view', {resultTypes: ['violations']}).then(r => r.violations.map(v => [v.id, v.nodes[0].html]))"
    )
    assert found == []


def test_on_paper_the_map_stays_and_the_buttons_go(browser, run):
    browser.open(run / "report.html", width=720, media="print")
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.evaluate("document.querySelector('.top-view-map').getBoundingClientRect().height > 100")
    gone = "getComputedStyle(document.querySelector('%s')).display"
    assert [browser.evaluate(gone % of) for of in (".top-view-tools", ".top-view-choices")] == ["none", "none"]
