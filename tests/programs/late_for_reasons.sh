#!/bin/sh
# late_for_reasons.sh PYTHON COUNT: planner and sleeper, and a driver that ends them.
here=$(dirname "$0")
"$1" "$here/late_for_reasons.py" planner & planner=$!
"$1" "$here/late_for_reasons.py" sleeper & sleeper=$!
"$1" "$here/late_for_reasons.py" driver "$2"
code=$?
kill -INT $planner $sleeper
wait $planner $sleeper
exit $code
