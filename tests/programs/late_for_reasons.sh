#!/bin/sh
# Planner, sleeper, and a driver that ends them: PYTHON COUNT [CPU]. With a CPU, the planner shares it with a burner.
here=$(dirname "$0")
program="$here/late_for_reasons.py"
"$1" "$program" planner $3 & planner=$!
"$1" "$program" sleeper & sleeper=$!
[ -z "$3" ] || { "$1" "$program" burner "$3" & burner=$!; }
"$1" "$program" driver "$2"
code=$?
[ -z "$3" ] || kill $burner
# Again and again: an executor of rclpy that wakes before its context is shut down goes to sleep once more.
for process in $planner $sleeper; do
  while kill -INT "$process" 2>/dev/null; do sleep 0.2; done
done
wait $planner $sleeper
exit $code
