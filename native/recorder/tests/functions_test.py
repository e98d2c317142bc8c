"""Runs a program that registers callbacks as rclcpp does under the recorder, and compares the recorded functions with those that the program
expects.

usage: functions_test.py RECORDER PROGRAM [EMULATOR ARGUMENT ...]
"""

import os
import subprocess
import sys
import tempfile

from event_file import read_directory

recorder, program, *emulator = sys.argv[1:]
with tempfile.TemporaryDirectory() as events:
    environment = os.environ | {"TACHO_EVENTS_DIR": events}
    command = [*emulator, "-E", f"LD_PRELOAD={recorder}", program] if emulator else [program]
    if not emulator:  # the emulator itself must not be recorded
        environment["LD_PRELOAD"] = recorder
    expected = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
    (file,) = read_directory(events)
    recorded = [event.texts[0] for event in file.events if event.kind == "rclcpp_callback_register"]
    assert recorded == expected, f"recorded {recorded}\nexpected {expected}"
print(f"{len(recorded)} functions, all as expected")
