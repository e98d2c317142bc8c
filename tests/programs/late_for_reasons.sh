#!/bin/sh
# Planner, sleeper, and a driver that ends them: PYTHON COUNT [CPU]. With a CPU, the planner shares it with a burner.
here=$(dirname "$0")
program="$here/late_for_reasons.py"
"$1" "$program" planner "$2" $3 & planner=$!
"$1" "$program" sleeper "$2" & sleeper=$!
[ -z "$3" ] || { "$1" "$program" burner "$2" "$3" & burner=$!; }
"$1" "$program" driver "$2" && wait $planner
code=$?
[ -z "$3" ] || kill $burner
kill -INT $sleeper
wait $sleeper
exit $code
