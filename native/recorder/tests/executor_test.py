"""Runs a program on a stand-in for rclcpp under the recorder, and compares the recorded events with the events that the
program expects.

usage: executor_test.py RECORDER PROGRAM [EMULATOR ARGUMENT ...]
"""

import sys

import under_recorder

expected, events = under_recorder.run(*sys.argv[1:])
recorded = [" ".join([event.kind, *map(str, event.words)]) for event in events if event.kind != "clock_sync"]
assert recorded == expected, f"recorded {recorded}\nexpected {expected}"
print(f"{len(recorded)} events, all as expected")
