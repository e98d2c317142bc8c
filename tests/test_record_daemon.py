"""A program that continues as a daemon after the command has ended, and begins to publish only then."""

import json

from places import PROGRAMS
from waiting import wait_for

COUNT = 33


def test_what_is_said_of_a_daemon_is_true_when_it_has_published(tacho, ros_python):
    go = tacho.directory / "go"
    said = tacho("record", "-o", "run", "--", ros_python, PROGRAMS / "daemon.py", go, COUNT).stderr
    (missing,) = json.loads((tacho.directory / "run" / "run.json").read_text())["missing"]
    assert missing in said
    assert "nothing was recorded until 5 s after the command's end" in missing and "daemon.py" in missing
    assert "no process of it called" not in said

    go.touch()
    events = tacho.directory / "run" / "events"

    def published():
        if not list(events.glob("*.events")):
            return None
        topics = tacho.json("explain", "run")["topics"]
        return [topic for topic in topics if topic["topic"] == "/chatter" and topic["sent"] == COUNT]

    wait_for(published, "all messages in the run")
    text = tacho("explain", "run").stdout
    assert "/chatter" in text and "no process of it called" not in text
    assert "nothing was recorded until 5 s after the command's end" in " ".join(text.split())
