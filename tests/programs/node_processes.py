"""Node processes as `tacho bench` starts them, but of several middlewares in one system, to be recorded.

usage: node_processes.py FILE    FILE: a JSON list of {"program", "plan"}; prints "ok" where all came to their end
"""

import json
import signal
import subprocess
import sys
import time


def say(process, what):
    print(json.dumps(what), file=process.stdin, flush=True)


def hear(process, kind):
    """Reads to this answer."""
    for line in process.stdout:
        answer = json.loads(line)
        if answer == kind or isinstance(answer, dict) and kind in answer:
            return
        assert "failed" not in answer, answer
    raise AssertionError(f"ended without saying {kind}")


signal.alarm(300)  # one that ended leaves the others waiting for it
with open(sys.argv[1]) as file:
    wanted = json.load(file)
processes = []
for one in wanted:
    name = one["plan"]["nodes"][0]["node"]["name"]
    processes.append(
        subprocess.Popen([one["program"], name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    )
    say(processes[-1], one["plan"])
for process in processes:
    hear(process, "matched")
start_ns = time.monotonic_ns() + 300_000_000
stop_ns = start_ns + 2_000_000_000
for process in processes:
    say(process, {"start": {"start_ns": start_ns, "stop_ns": stop_ns, "end_ns": stop_ns + 1_000_000_000}})
for process in processes:
    hear(process, "done")
for process in processes:
    process.stdin.close()
    process.wait()
print("ok")
