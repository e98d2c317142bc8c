"""Sends that the middleware refuses are counted beside what was sent and skipped, and the run continues."""

import json
import shutil
import subprocess

import pyarrow.parquet as parquet
import pytest
from waiting import finished, succeeded

NAMESPACE = ["unshare", "--user", "--map-root-user", "--net"]
pytestmark = pytest.mark.skipif(
    not shutil.which("ip") or subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode != 0,
    reason="network namespaces cannot be made here: they need iproute2, and a kernel that lets this user make them",
)

# In a network of its own, in which a rule makes the loopback unreachable for a while. /proc/net/snmp counts what was
# sent and, as OutNoRoutes, what the kernel refused to send.
COUNTING = r"""
count() { awk -v table="$1:" -v column="$2" '
  $1 == table && !at { for (i = 2; i <= NF; i++) if ($i == column) at = i; next } $1 == table { print $at }' /proc/net/snmp; }
reach() { until [ "$(count "$1" "$2")" -ge "$3" ]; do kill -0 "$tacho" || exit 1; sleep 0.05; done; }
ip link set lo up
ip rule add pref 100 lookup local
ip rule del pref 0
"$0" "$@" & tacho=$!
reach Udp OutDatagrams 300
"""
SCRIPT = (
    COUNTING
    + r"""
ip rule add pref 10 to 127.0.0.1 unreachable
reach Ip OutNoRoutes 20
ip rule del pref 10
reach Udp OutDatagrams $(($(count Udp OutDatagrams) + 100))
kill -INT "$tacho"
wait "$tacho"
"""
)
WORKLOAD = """
middleware: {socket: udp}
nodes:
  talker: {publishes: {/x: {size: 64 B, rate: 100 Hz, reliability: best_effort}}}
  listener: {subscribes: {/x: {reliability: best_effort, depth: 1000}}}
run: {duration: 120 s}
"""


def test_a_send_that_the_kernel_refuses_is_counted_and_the_next_ones_are_sent(tacho):
    (tacho.directory / "w.yaml").write_text(WORKLOAD)
    # A shell without job control (-m) starts background programs with SIGINT ignored.
    process = tacho.start("bench", "w.yaml", "-o", "run", before=[*NAMESPACE, "bash", "-mc", SCRIPT])
    out, err = finished(process)
    assert process.returncode in (0, 130), out + err
    summary = json.loads((tacho.directory / "run" / "summary.json").read_text())
    (point,) = summary["points"]
    (talker,) = point["publishing"]
    assert point["refused"] >= 20
    assert point["due"] == point["sent"] + point["refused"] + point["skipped"]
    assert all(talker[name] == point[name] for name in ("due", "sent", "refused", "skipped"))
    # No refused message is lost, and all sent after it came, except for those on their way at the end.
    assert point["received"] + point["lost"] == point["sent"]
    messages = parquet.read_table(
        tacho.directory / "run/tables/messages.parquet", columns=["sequence", "take_ns"]
    ).to_pylist()
    last_taken = max(message["sequence"] for message in messages if message["take_ns"] is not None)
    assert all(message["sequence"] > last_taken for message in messages if message["take_ns"] is None)
    refused = set(range(messages[0]["sequence"], last_taken)) - {message["sequence"] for message in messages}
    assert len(refused) == point["refused"] and max(refused) < last_taken
    (note,) = [note for note in summary["notes"] if note["name"] == "sends-refused"]
    assert (
        note["count"] == point["refused"] and "(code 101)" in note["text"] and "Network is unreachable" in note["text"]
    )


# The talker's sockets are connected, each to one listener's port; first one port is unreachable, then the other.
ONE_AT_A_TIME = (
    COUNTING
    + r"""
ports=$(awk '$3 !~ /:0000$/ && NR > 1 { split($3, there, ":"); print there[2] }' /proc/net/udp | sort -u)
[ "$(wc -w <<<"$ports")" = 2 ] || exit 2
for port in $ports; do
  ip rule add pref 10 to 127.0.0.1 ipproto 17 dport $((16#$port)) unreachable
  reach Ip OutNoRoutes $(($(count Ip OutNoRoutes) + 20))
  ip rule del pref 10
  reach Udp OutDatagrams $(($(count Udp OutDatagrams) + 100))
done
kill -INT "$tacho"
wait "$tacho"
"""
)


@pytest.mark.parametrize("size", ["64 B", "100 kB"], ids=["a datagram", "many datagrams"])
def test_what_one_of_two_listeners_can_be_sent_is_sent_and_the_other_loses_it(tacho, size):
    workload = WORKLOAD.replace("64 B", size).replace(
        "run:", "  other: {subscribes: {/x: {reliability: best_effort}}}\nrun:"
    )
    (tacho.directory / "w.yaml").write_text(workload)
    process = tacho.start("bench", "w.yaml", "-o", "run", before=[*NAMESPACE, "bash", "-mc", ONE_AT_A_TIME])
    out, err = finished(process)
    assert process.returncode in (0, 130), out + err
    (point,) = json.loads((tacho.directory / "run" / "summary.json").read_text())["points"]
    assert point["refused"] == 0 and point["due"] == point["sent"] + point["skipped"]
    messages = parquet.read_table(
        tacho.directory / "run/tables/messages.parquet", columns=["subscription", "take_ns"]
    ).to_pylist()
    lost = [message["subscription"] for message in messages if message["take_ns"] is None]
    assert len(set(lost)) == 2 and all(lost.count(subscription) >= 20 for subscription in set(lost))
    assert point["received"] + point["lost"] == 2 * point["sent"] and point["received"] > point["lost"]


def test_a_listener_ends_though_the_network_has_gone(tacho):
    (tacho.directory / "w.yaml").write_text(WORKLOAD.replace("120 s", "2 s"))
    script = """
ip link set lo up
"$0" "$@" & tacho=$!
until [ "$(awk '/^Udp: [0-9]/ { print $5 }' /proc/net/snmp)" -ge 20 ]; do kill -0 "$tacho" || exit 1; sleep 0.05; done
ip link set lo down
wait "$tacho"
"""
    _, err = succeeded(tacho.start("bench", "w.yaml", "-o", "run", before=[*NAMESPACE, "bash", "-c", script]))
    assert "did not end" not in err, err
