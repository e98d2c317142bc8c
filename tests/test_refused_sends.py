"""Sends that the middleware refuses: counted beside what was sent and skipped, and the run goes on."""

import json
import shutil
import subprocess

import pytest

NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]
pytestmark = pytest.mark.skipif(
    not shutil.which("ip") or subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode != 0,
    reason="network namespaces cannot be made here: they need iproute2, and a kernel that lets this user make them",
)

# In a network of its own, where a rule says for a while that its loopback cannot be reached. /proc/net/snmp counts what was sent and, as
# OutNoRoutes, what the kernel refused to send.
SCRIPT = r"""
count() { awk -v table="$1:" -v column="$2" '
  $1 == table && !at { for (i = 2; i <= NF; i++) if ($i == column) at = i; next } $1 == table { print $at }' /proc/net/snmp; }
reach() { until [ "$(count "$1" "$2")" -ge "$3" ]; do kill -0 "$tacho" || exit 1; sleep 0.05; done; }
ip link set lo up
ip rule add pref 100 lookup local
ip rule del pref 0
"$0" bench w.yaml -o run & tacho=$!
reach Udp OutDatagrams 300
ip rule add pref 10 to 127.0.0.1 unreachable
reach Ip OutNoRoutes 20
ip rule del pref 10
reach Udp OutDatagrams $(($(count Udp OutDatagrams) + 100))
kill -INT "$tacho"
wait "$tacho"
"""
WORKLOAD = """
middleware: {socket: udp}
nodes:
  talker: {publishes: {/x: {size: 64 B, rate: 100 Hz, reliability: best_effort}}}
  listener: {subscribes: {/x: {reliability: best_effort}}}
run: {duration: 120 s}
"""


def test_a_send_that_the_kernel_refuses_is_counted_and_the_next_ones_are_sent(tacho):
    (tacho.directory / "w.yaml").write_text(WORKLOAD)
    program = tacho.program
    # SIGINT is ignored by what a shell without job control (-m) starts in the background.
    command = [*NAMESPACE, "bash", "-mc", SCRIPT, program]
    done = subprocess.run(command, cwd=tacho.directory, env=tacho.environment, capture_output=True, text=True, timeout=240)
    assert done.returncode in (0, 130), done.stderr
    summary = json.loads((tacho.directory / "run" / "summary.json").read_text())
    (point,) = summary["points"]
    (talker,) = point["publishing"]
    assert point["refused"] >= 20
    assert point["due"] == point["sent"] + point["refused"] + point["skipped"]
    assert all(talker[name] == point[name] for name in ("due", "sent", "refused", "skipped"))
    # Nothing that was refused is lost, and what was sent after it came.
    assert point["sent"] >= 100 and point["received"] + point["lost"] == point["sent"] and point["lost"] <= 1
    (note,) = [note for note in summary["notes"] if note["name"] == "sends-refused"]
    assert note["count"] == point["refused"] and "(code 101)" in note["text"] and "Network is unreachable" in note["text"]


def test_a_listener_ends_though_the_network_has_gone(tacho):
    (tacho.directory / "w.yaml").write_text(WORKLOAD.replace("120 s", "2 s"))
    script = """
ip link set lo up
"$0" bench w.yaml -o run & tacho=$!
until [ "$(awk '/^Udp: [0-9]/ { print $5 }' /proc/net/snmp)" -ge 20 ]; do kill -0 "$tacho" || exit 1; sleep 0.05; done
ip link set lo down
wait "$tacho"
"""
    command = [*NAMESPACE, "bash", "-c", script, tacho.program]
    done = subprocess.run(command, cwd=tacho.directory, env=tacho.environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "did not end" not in done.stderr, done.stderr
