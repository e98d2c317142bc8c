"""The live page of a recording in a browser: it shows the last seconds, goes on, rests while somebody looks at
something, and says when the recording has ended."""

import json
import re
import subprocess
import urllib.error
import urllib.request

import numpy as np
import pyarrow.parquet as parquet
import pytest
from browser import Browser
from places import PROGRAMS
from waiting import wait_for

BAR = "document.querySelector('.live-bar').textContent"
STAGE = "document.querySelector('.timeline-view')?.timeline"
TEXT = "document.querySelector('.top-view-moment')?.textContent"


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture
def recorded(tacho, ros_python):
    """A recording of a talker at 50 Hz and a listener that goes on, and what the talker prints."""
    run, printed = tacho.directory / "run", tacho.directory / "printed"
    command = ["sh", PROGRAMS / "talk_and_listen.sh", ros_python, 1_000_000, 0.02]
    with open(printed, "w") as out:
        process = tacho.start("record", "-o", run, "--", *command, stdout=out)
    wait_for((run / "run.json").exists, "run.json", process)
    return run, printed, process


def address_of(process, log):
    """The address that a process prints to its log."""
    found = []

    def look():
        found[:] = re.findall(r"http://127\.0\.0\.1:\d+/", log.read_text())
        return found

    wait_for(look, "the address of the page", process)
    return found[0]


def state(address):
    with urllib.request.urlopen(f"{address}page.json") as answer:
        return json.load(answer)


def followed(tacho, *arguments):
    """The process of a command that serves a page, and the page's address."""
    log = tacho.directory / "page.log"
    with open(log, "w") as out:
        process = tacho.start(*arguments, stdout=out, stderr=out)
    return process, address_of(process, log)


def test_it_goes_on_and_rests_while_somebody_looks(tacho, browser, recorded):
    run, printed, recording = recorded
    server, address = followed(tacho, "top", run, "--browser", "--window", "3s")
    browser.visit(address)
    browser.wait_for(f"{BAR}.includes('of 2 processes') && {STAGE}?.data.end.length > 20")
    before = browser.evaluate(f"{STAGE}.limits.from")
    browser.wait_for(f"{STAGE}.limits.from > {before} + 2e9")
    assert browser.complaints() == [], "its policy lets it ask its own server"

    # Its figures are those of the last seconds: the talker's rate, by its own clock.
    def published_s():
        lines = [line.split() for line in printed.read_text().splitlines()]
        return np.array([int(line[2]) / 1e9 for line in lines if len(line) == 3 and line[0] == "published"])

    wait_for(lambda: len(published_s()) > 150, "150 messages", recording)
    topics = {topic["topic"]: topic for topic in state(address)["runs"][0]["summary"]["topics"]}
    at = published_s()
    rates = [100 / (at[end] - at[end - 100]) for end in range(100, len(at))]
    assert 0.95 * min(rates) <= topics["/chatter"]["rate_hz"] <= 1.05 * max(rates)
    assert topics["/chatter"]["lost"] == 0

    # A click on a callback must not lose it.
    browser.evaluate("document.querySelector('.timeline-view').scrollIntoView({block: 'center'})")
    x, y = browser.evaluate(
        "(box => [box.left + box.width / 2, box.top + box.height / 2])"
        "(document.querySelector('.timeline-view').getBoundingClientRect())"
    )
    browser.click(x, y)
    browser.wait_for(f"{BAR}.includes('paused')")
    rests = browser.evaluate(f"{STAGE}.limits.from")
    states = "performance.getEntriesByType('resource').length"
    browser.wait_for(f"{states} >= {browser.evaluate(states) + 2}")
    assert browser.evaluate(f"{STAGE}.limits.from") == rests
    browser.evaluate("document.querySelector('.live-bar button').click()")
    browser.wait_for(f"{STAGE}.limits.from > {rests}")

    recording.terminate()
    recording.wait()
    browser.wait_for(f"{BAR}.includes('the recording has ended')")
    server.terminate()
    server.wait()


def test_it_says_that_others_have_the_machine(tacho, recorded):
    """As the report of the run will: what they do is nobody's fault."""
    _, address = followed(tacho, "top", recorded[0], "--browser", "--window", "3s")
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        wait_for(lambda: "busy-machine" in {note["name"] for note in state(address)["runs"][0]["notes"]}, "the note")
    finally:
        busy.kill()
        busy.wait()


def test_only_this_machine_may_ask(tacho, recorded):
    _, address = followed(tacho, "top", recorded[0], "--browser")
    for headers, path, method, expected in [
        ({"Host": "elsewhere.example"}, "page.json", "GET", 403),
        ({}, "run.json", "GET", 404),
        ({}, "", "POST", 405),
    ]:
        request = urllib.request.Request(address + path, headers=headers, method=method)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == expected, (headers, path, method)
    port = address.split(":")[-1].strip("/")
    taken = tacho("top", recorded[0], f"--browser={port}", expect=2)
    assert f"http://127.0.0.1:{port}" in taken.stderr and "in use" in taken.stderr


def test_a_drive_is_seen_from_above_while_it_goes_on(tacho, browser, workloads):
    """The lane, which is reported once, stays when it has left the window."""
    drive = workloads / "drive.yaml"
    process, address = followed(tacho, "drive", drive, "--speed=5m/s", "--duration=16s", "--watch", "-o", "run")
    browser.visit(address)
    browser.wait_for(f"{BAR}.includes('last 10.0') && {TEXT}?.includes('m/s')")
    (run,) = state(address)["runs"]
    assert run["window"] and run["info"]["missing"] == [], "nothing is missing of a run that goes on"
    assert "process-did-not-end-in-order" not in {note["name"] for note in run["notes"]}
    browser.wait_for(f"{BAR}.includes('the recording has ended')")
    process.wait()
    assert process.returncode in (0, 1), "on a busy machine it may leave its lane"

    # Where the car was, by the tables of the run.
    lane = browser.evaluate("document.querySelector('.top-view-holder').topView.drive.lane.x.length")
    signals = parquet.read_table(tacho.directory / "run/tables/signals.parquet").to_pylist()
    rows = parquet.read_table(tacho.directory / "run/tables/samples.parquet").to_pylist()
    of = {(signal["task"], signal["name"]): signal["row_id"] for signal in signals}
    assert lane == sum(row["signal"] == of["world", "lane_x"] for row in rows) > 10
    shown = browser.evaluate("document.querySelector('.top-view-holder').topView.drive.x.at(-1)")
    assert shown in {round(row["value"], 3) for row in rows if row["signal"] == of["vehicle", "x"]}


@pytest.mark.parametrize(
    "arguments,expected",
    [
        (["--repeats", "2"], "--watch shows one drive: found 2; expected no sweep and one repeat"),
        (["--virtual"], "cannot be used with"),
    ],
)
def test_one_real_drive_can_be_watched(tacho, workloads, arguments, expected):
    refused = tacho("drive", workloads / "drive.yaml", "--watch", *arguments, "-o", "run", expect=2)
    assert expected in refused.stderr
    assert not (tacho.directory / "run").exists()
