"""Runs a program that registers callbacks as rclcpp does under the recorder, and compares the recorded functions with
those that the program expects.

usage: functions_test.py RECORDER PROGRAM [EMULATOR ARGUMENT ...]
"""

import sys

import under_recorder

expected, events = under_recorder.run(*sys.argv[1:])
recorded = [event.texts[0] for event in events if event.kind == "rclcpp_callback_register"]
assert recorded == expected, f"recorded {recorded}\nexpected {expected}"
print(f"{len(recorded)} functions, all as expected")
