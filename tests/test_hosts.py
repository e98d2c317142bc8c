"""Hosts of a workload: network namespaces with links of a known rate, delay and loss; nothing of them stays."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from waiting import finished, wait_for

pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(
        not shutil.which("ip") or subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode != 0,
        reason="network namespaces cannot be made here: they need iproute2 and CAP_SYS_ADMIN",
    ),
]

WORKLOAD = """
middleware: socket
transport: {transport}
hosts: {{vehicle: {{}}, roadside: {{{link}}}}}
nodes:
  talker: {{host: vehicle, publishes: {{/out: {{size: {size}, rate: {rate} Hz, reliability: {reliability}, depth: 1000}}}}}}
  listener: {{host: roadside, subscribes: {{/out: {{reliability: {reliability}, depth: 1000}}}}}}
run: {{duration: {seconds} s}}
"""


def write(tacho, name="w.yaml", link="", transport="udp", size="64 B", rate=100, seconds=2):
    reliability = "reliable" if transport == "tcp" else "best_effort"
    text = WORKLOAD.format(
        link=link, transport=transport, size=size, rate=rate, seconds=seconds, reliability=reliability
    )
    (tacho.directory / name).write_text(text)


def bench(tacho, run, **changes):
    write(tacho, f"{run}.yaml", **changes)
    point = tacho.json("bench", f"{run}.yaml", "-o", run)["points"][0]
    return point, json.loads((tacho.directory / run / "run.json").read_text())


def delay_is_missing(info):
    return any("delay and loss of hosts' links are not there" in text for text in info["missing"])


def test_latency_grows_by_the_delay_of_the_link(tacho):
    plain, info = bench(tacho, "plain")
    assert [p["host"] for p in info["processes"]] == ["vehicle", "roadside"]
    assert plain["lost"] == 0 and plain["sent"] > 100
    least = []
    for delay_ms in (5, 10):
        point, info = bench(tacho, f"delayed-{delay_ms}", link=f"delay: {delay_ms} ms")
        if delay_is_missing(info):
            pytest.skip("this kernel has neither netem nor tap devices: " + "; ".join(info["missing"]))
        least.append(point["latency_us"]["min"])
        # Never sooner, for any message.
        assert least[-1] >= delay_ms * 1000
    # At least one of many messages finds a CPU at once: it has the delay of the link, and hardly more.
    assert least[1] - least[0] == pytest.approx(5000, rel=0.2)
    assert least[0] - plain["latency_us"]["min"] > 0.9 * 5000


def test_a_message_takes_its_bits_over_the_rate_of_the_link(tacho):
    slow, _ = bench(tacho, "slow", link="rate: 10 Mbit/s", size="32 KiB", rate=5)
    fast, _ = bench(tacho, "fast", link="rate: 40 Mbit/s", size="32 KiB", rate=5)
    wire_us = 32 * 1024 * 8 / 10
    # Headers add to it, and what a link sends at once subtracts. The least of many values is one that no other program
    # delayed.
    assert 0.9 * wire_us < slow["latency_us"]["min"] < 1.3 * wire_us
    assert 3 < slow["latency_us"]["min"] / fast["latency_us"]["min"] < 5
    assert slow["lost"] == 0


def test_a_lossy_link_loses_what_was_asked_for_and_tcp_sends_it_again(tacho):
    lossy, info = bench(tacho, "lossy", link="loss: 20 %", rate=500, seconds=4)
    if delay_is_missing(info):
        pytest.skip("this kernel has neither netem nor tap devices: " + "; ".join(info["missing"]))
    # 2000 draws: a standard deviation is 0.9 %.
    assert 15 < lossy["loss_percent"] < 25
    reliable, _ = bench(tacho, "reliable", link="loss: 5 %", transport="tcp", rate=50)
    assert reliable["lost"] == 0 and reliable["latency_us"]["max"] > 10 * reliable["latency_us"]["median"]


def namespaces_of(pids):
    return {os.readlink(f"/proc/{pid}/ns/net") for pid in pids}


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def runs(pid):
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ")[-1][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_hosts_however_tacho_ends(tacho, ending):
    write(tacho, link="delay: 1 ms", seconds=60)
    process = tacho.start("bench", "w.yaml", "-o", "run")
    events = tacho.directory / "run" / "events"
    wait_for(lambda: len(list(events.glob("*.events"))) == 2, "both nodes to record", process)
    nodes = children(process.pid)
    inside = namespaces_of(nodes)
    ours = os.readlink("/proc/self/ns/net")
    assert len(nodes) == 2 and len(inside) == 2 and ours not in inside
    process.send_signal(ending)
    finished(process)
    wait_for(lambda: not any(map(runs, nodes)), "the nodes to end")
    # No process is in them, and the kernel removes a namespace without a name and without a process.
    others = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit()]

    def left():
        found = set()
        for pid in others:
            try:
                found.add(os.readlink(f"/proc/{pid}/ns/net"))
            except OSError:
                continue
        return found & inside

    wait_for(lambda: not left(), "the namespaces to go")
    assert not [link for link in os.listdir("/sys/class/net") if link.startswith(("port", "bridge0"))]


def test_without_permission_the_error_says_what_is_needed(tacho):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can give its permissions away, with setpriv")
    write(tacho)
    tacho.directory.chmod(0o777)
    done = tacho(
        "bench",
        "w.yaml",
        "-o",
        "run",
        expect=3,
        before=["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"],
    )
    assert "CAP_SYS_ADMIN" in done.stderr and "hosts" in done.stderr


def causes_of(tacho, run):
    """The only chain of a run, and for each kind and subject: ms of each late instance, and inputs that led to
    nothing."""
    (chain,) = tacho.json("explain", run)["chains"]
    late = [{(part["kind"], part["by"]): part["ms"] for part in instance["parts"]} for instance in chain["worst"]]
    return chain, late, {(lost["kind"], lost["by"]): lost["inputs"] for lost in chain["lost_inputs"]}


def test_the_delay_of_a_link_is_told_as_transport_and_its_loss_as_lost(tacho):
    _, info = bench(tacho, "delayed", link="delay: 20 ms")
    if delay_is_missing(info):
        pytest.skip("this kernel has neither netem nor tap devices: " + "; ".join(info["missing"]))
    chain, late, lost = causes_of(tacho, "delayed")
    assert chain["instances"] > 0 and chain["lost"] == 0 and not {kind for kind, _ in lost} - {"pending"}
    assert late and all(parts["transport", "/out"] >= 20 for parts in late)
    # In the usual instance it is the largest part.
    assert chain["transport_ms"]["median"] > 0.5 * chain["end_to_end_ms"]["median"] >= 10
    point, _ = bench(tacho, "lossy", link="loss: 20 %", rate=200)
    chain, _, lost = causes_of(tacho, "lossy")
    never_came = point["sent"] - point["received"]
    assert not {kind for kind, _ in lost} - {"lost", "pending"}
    # If the machine stood still, the last ones, which no later one followed, may count as still on their way.
    assert 0 < never_came - 3 <= lost["lost", "/out"] <= sum(lost.values()) <= never_came
    assert point["lost"] - 3 <= chain["lost"] <= never_came
