"""Runs a program under the recorder, on this machine or in an emulator."""

import os
import subprocess
import tempfile

from event_file import read_directory


def run(recorder, program, *emulator):
    """The lines that a program prints, and the events of its only process."""
    with tempfile.TemporaryDirectory() as events:
        environment = os.environ | {"TACHO_EVENTS_DIR": events}
        command = [*emulator, "-E", f"LD_PRELOAD={recorder}", program] if emulator else [program]
        if not emulator:  # the emulator itself must not be recorded
            environment["LD_PRELOAD"] = recorder
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        (file,) = read_directory(events)
        return done.stdout.splitlines(), list(file.events)
