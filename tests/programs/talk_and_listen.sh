#!/bin/sh
# Starts a listener and a talker, as a launch file would, and waits for both: PYTHON COUNT PERIOD_S
here=$(dirname "$0")
"$1" "$here/listener.py" "$2" &
"$1" "$here/talker.py" "$2" "$3" && wait $!
