"""A program that continues to write after its recording has ended, even one that `tacho` may not see, survives: its
file is never cut."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from command import kill
from places import PROGRAMS, ROOT
from waiting import wait_for

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as two users and make namespaces")


@pytest.fixture
def open_place():
    """A folder that every user can read and write, with an installation of tacho in it."""
    place = Path(tempfile.mkdtemp(prefix="tacho-stays-"))
    place.chmod(0o777)
    for name in ("tacho", "tacho-node"):
        shutil.copy(ROOT / "build" / name, place)
    (place / "lib").mkdir()
    shutil.copy(ROOT / "build/lib/libtacho_recorder.so", place / "lib")
    subprocess.run(["cc", "-O1", "-o", place / "stays", PROGRAMS / "stays.c"], check=True)
    yield place
    if (place / "begun").exists():
        kill(int((place / "begun").read_text()))
    shutil.rmtree(place)


def environment_of(place):
    return {name: value for name, value in os.environ.items() if not name.startswith("TACHO")} | {
        "TACHO_HOME": str(place),
        "HOME": str(place),
    }


def goes_on(place):
    """Lets the daemon continue to write; returns whether it ended in order."""
    pid = int((place / "begun").read_text())
    (place / "go_on").touch()
    wait_for(
        lambda: (place / "done").exists() or not Path(f"/proc/{pid}").exists() or is_zombie(pid),
        "the end of the daemon",
    )
    return (place / "done").exists()


def is_zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def recorded(place, before=(), arguments=()):
    run = place / "run"
    command = [*before, place / "tacho", "record", *arguments, "-o", run, "--", place / "stays", place, "secret"]
    done = subprocess.run(command, env=environment_of(place), cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((run / "run.json").read_text())


@needs_root
@pytest.mark.parametrize("arguments", [[], ["--ring", "2s"]], ids=["file", "ring"])
def test_a_daemon_whose_mappings_cannot_be_read_lives_on(open_place, arguments):
    info = recorded(open_place, NOBODY, arguments)
    assert goes_on(open_place)
    assert any("was still running" in missing for missing in info["missing"]), info["missing"]


@needs_root
def test_a_daemon_in_another_pid_namespace_lives_on(open_place):
    """As a node of another container that writes into the same mounted run."""
    begin = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    run = open_place / "run"
    inside = subprocess.Popen(
        [
            *begin,
            open_place / "tacho",
            "record",
            "-o",
            run,
            "--",
            "sh",
            "-c",
            f"until [ -e {open_place}/begun ]; do sleep 0.05; done",
        ],
        env=environment_of(open_place),
        cwd=open_place,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: (run / "events" / "clock.sync").exists(), "the recording", inside)
    outside = {"LD_PRELOAD": str(open_place / "lib/libtacho_recorder.so"), "TACHO_EVENTS_DIR": str(run / "events")}
    subprocess.run([open_place / "stays", open_place], env=environment_of(open_place) | outside, check=True)
    _, err = inside.communicate()
    assert inside.returncode == 0, err
    assert goes_on(open_place)


@needs_root
def test_a_daemon_of_another_user_lives_on_and_its_events_are_read(open_place):
    run = open_place / "run"
    command = [
        *NOBODY,
        open_place / "tacho",
        "record",
        "-o",
        run,
        "--",
        "sh",
        "-c",
        f"until [ -e {open_place}/begun ]; do sleep 0.05; done",
    ]
    recording = subprocess.Popen(
        command, env=environment_of(open_place), cwd=open_place, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: (run / "events" / "clock.sync").exists(), "the recording", recording)
    outside = {"LD_PRELOAD": str(open_place / "lib/libtacho_recorder.so"), "TACHO_EVENTS_DIR": str(run / "events")}
    subprocess.run([open_place / "stays", open_place, "secret"], env=environment_of(open_place) | outside, check=True)
    _, err = recording.communicate()
    assert recording.returncode == 0, err
    assert goes_on(open_place)


@needs_root
def test_a_daemon_on_an_overlay_lives_on(open_place):
    """overlayfs gives a lease on a file that is mapped, once its descriptor is closed."""
    lower, upper, work, merged = (open_place / name for name in ("lower", "upper", "work", "merged"))
    for folder in (lower, upper, work, merged):
        folder.mkdir()
        folder.chmod(0o777)
    mounted = subprocess.run(
        ["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={work}", merged]
    )
    if mounted.returncode != 0:
        pytest.skip("no overlayfs can be mounted here")
    try:
        run = merged / "run"
        command = [*NOBODY, open_place / "tacho", "record", "-o", run, "--", open_place / "stays", open_place, "secret"]
        done = subprocess.run(command, env=environment_of(open_place), cwd=open_place, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert goes_on(open_place)
    finally:
        subprocess.run(["umount", "-l", merged], check=True)
