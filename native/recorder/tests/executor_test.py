"""Runs a program on a stand-in for rclcpp under the recorder, and compares the recorded events with the events that the
program expects.

usage: executor_test.py RECORDER PROGRAM [EMULATOR ARGUMENT ...]
"""

import sys

import under_recorder

expected, events = under_recorder.run(*sys.argv[1:])
# Pointers are recorded by their lowest 4 bytes.
expected = [
    " ".join(str(int(word) & 0xFFFFFFFF) if word.isdigit() else word for word in event.split()) for event in expected
]
recorded = [" ".join([event.kind, *map(str, event.words)]) for event in events if event.kind != "clock_sync"]
assert recorded == expected, f"recorded {recorded}\nexpected {expected}"
print(f"{len(recorded)} events, all as expected")
