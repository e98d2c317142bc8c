"""Runs the stand-in for rclcpp on a fake libtracetools of one release. Compares its calls with the recorded events, and
with the calls that reached that libtracetools, because LTTng may be recording through it.

usage: release_test.py RECORDER PROGRAM LIBRARY NAME VERSION [EMULATOR ARGUMENT ...]
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from event_file import read_directory

recorder, program, library, name, version, *emulator = sys.argv[1:]


def run(prefix: pathlib.Path, distro: str | None, work: pathlib.Path):
    """Runs the program with the libtracetools of `prefix`. Returns its file, the calls it printed, and those
    recorded."""
    events = pathlib.Path(tempfile.mkdtemp(dir=work))
    environment = {key: value for key, value in os.environ.items() if key not in ("ROS_DISTRO", "LD_PRELOAD")}
    environment["TACHO_EVENTS_DIR"] = str(events)
    said = work / "said"
    said.write_text("")
    environment["FAKE_TRACETOOLS_SAYS"] = str(said)
    libraries = {"LD_PRELOAD": recorder, "LD_LIBRARY_PATH": f"{prefix}/lib:{prefix}/lib/x86_64-linux-gnu"}
    command = [program]
    if emulator:  # the emulator itself must not load these libraries
        command = emulator + [word for item in libraries.items() for word in ("-E", "=".join(item))] + command
    else:
        environment |= libraries
    if distro:
        environment["ROS_DISTRO"] = distro
    # RUNPATH would come after LD_LIBRARY_PATH, so the copy in the prefix is the one that is loaded.
    called = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert called.stderr == "", called.stderr
    assert said.read_text().splitlines() == called.stdout.splitlines()
    (file,) = read_directory(events)
    recorded = []
    for event in file.events:
        if event.kind == "clock_sync":
            continue
        line = " ".join([event.kind, *map(str, event.words)])
        recorded.append(line + (" | " + " ".join(event.texts) if event.texts else ""))
    assert file.closed == 1 and file.dropped == 0
    return file, called.stdout.splitlines(), recorded


def unknown(calls: list[str], message_first: bool) -> list[str]:
    """Returns the calls as they are recorded if the release is unknown."""
    first = 2 if message_first else 1
    return [
        f"rmw_publish_of_unknown_release {call.split()[first]}" if call.startswith("rmw_publish ") else call
        for call in calls
    ]


with tempfile.TemporaryDirectory() as directory:
    work = pathlib.Path(directory)
    prefix = work / "prefix"
    (prefix / "lib").mkdir(parents=True)
    shutil.copy(library, prefix / "lib" / "libtracetools.so")

    # Without a package.xml, the functions decide if they identify the release, otherwise ROS_DISTRO decides.
    by_functions = {"humble": "4.1.0", "kilted": "8.6.0"}.get(name)
    file, called, recorded = run(prefix, None, work)
    if by_functions:
        assert file.tracetools == by_functions, file.tracetools
        assert recorded == called
    else:
        assert file.tracetools == "0.0.0", file.tracetools
        assert recorded == unknown(called, message_first=name == "iron")
    file, called, recorded = run(prefix, name, work)
    assert file.tracetools == {"iron": "6.3.0", "jazzy": "8.2.0"}.get(name, by_functions), file.tracetools
    assert file.ros_distro == name
    assert recorded == called, "\n".join(f"{a}   {b}" for a, b in zip(called, recorded) if a != b)

    # In an installation, the version of the package decides, even against a wrong ROS_DISTRO.
    (prefix / "share" / "tracetools").mkdir(parents=True)
    (prefix / "share" / "tracetools" / "package.xml").write_text(
        f"<package format='3'><name>tracetools</name>\n  <version>{version}</version></package>\n"
    )
    for distro in (None, "kilted" if name == "humble" else "humble"):
        file, called, recorded = run(prefix, distro, work)
        assert file.tracetools == version, file.tracetools
        assert recorded == called, "\n".join(f"{a}   {b}" for a, b in zip(called, recorded) if a != b)
    # This also works in a multiarch folder below lib.
    (prefix / "lib" / "x86_64-linux-gnu").mkdir()
    (prefix / "lib" / "libtracetools.so").rename(prefix / "lib" / "x86_64-linux-gnu" / "libtracetools.so")
    file, called, recorded = run(prefix, None, work)
    assert file.tracetools == version, file.tracetools
print(f"{name}: {len(called)} calls, all recorded as called")
