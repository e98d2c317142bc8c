"""`middleware: ros1`: its transports through `tacho bench`, and the life of the ROS master that it starts for itself."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from waiting import finished, wait_for

# Queues that hold everything that is sent, so that a busy machine loses nothing.
PAIR = """
middleware: ros1
transport: {transport}
nodes:
  talker: {{publishes: {{/points: {{size: {size}, rate: 50 Hz, depth: 200, reliability: {reliability}}}}}}}
  left: {{subscribes: {{/points: {{depth: 200, reliability: {reliability}}}}}, process: {process}}}
  right: {{subscribes: {{/points: {{depth: 200, reliability: {reliability}}}}}, process: {process}}}
run: {{duration: {duration}{domain}}}
"""


def workload(transport, size="64 KiB", reliability="reliable", process="shared", duration="2 s", domain=None):
    domain = f", domain: {domain}" if domain else ""
    return PAIR.format(
        transport=transport, size=size, reliability=reliability, process=process, duration=duration, domain=domain
    )


def point(tacho, text):
    (tacho.directory / "w.yaml").write_text(text)
    return tacho.json("bench", "w.yaml", "-o", "run")["points"][0]


def masters(domain):
    """Process ids of the ROS masters of a domain; their last argument is the file that their users lock."""
    found = []
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = cmdline.read_bytes().split(b"\0")[:-1]
        except (FileNotFoundError, ProcessLookupError):
            continue
        name = arguments[-1].decode(errors="replace") if arguments else ""
        if name.endswith(".users") and f"/ros1/{domain}-" in name:
            found.append(int(cmdline.parent.name))
    return found


@pytest.mark.parametrize(
    "transport, reliability", [("tcpros", "reliable"), ("udpros", "best_effort"), ("in-process", "reliable")]
)
def test_every_message_reaches_both_subscriptions_of_one_process(tacho, transport, reliability):
    figures = point(tacho, workload(transport, size="1 KiB", reliability=reliability))
    assert (figures["middleware"], figures["transport"]) == ("ros1", transport)
    assert figures["received"] == 2 * figures["sent"] > 0 and figures["lost"] == 0


def test_udpros_loses_what_the_receiving_socket_cannot_hold_and_tells(tacho):
    figures = point(tacho, workload("udpros", size="2 MiB", reliability="best_effort"))
    assert figures["lost"] > 0
    assert figures["received"] + figures["lost"] == 2 * figures["sent"]


def test_reliable_is_refused_on_udpros(tacho):
    (tacho.directory / "w.yaml").write_text(workload("udpros"))
    refusal = tacho("bench", "w.yaml", "-o", "run", expect=3)
    assert "UDPROS sends nothing again" in refusal.stderr and "tcpros" in refusal.stderr


def test_a_master_lives_as_long_as_its_last_user_even_if_all_are_killed(tacho):
    domain = int(tacho.environment["ROS_DOMAIN_ID"])
    assert not masters(domain)
    (tacho.directory / "w.yaml").write_text(workload("tcpros", process="own", duration="60 s", domain=domain))
    bench = tacho.start("bench", "w.yaml", "-o", "run")
    children = Path(f"/proc/{bench.pid}/task/{bench.pid}/children")
    # Two processes, which looked for a master at the same time.
    wait_for(
        lambda: (tacho.directory / "run" / "events").is_dir() and len(children.read_text().split()) == 2,
        "two processes",
        bench,
    )
    assert len(wait_for(lambda: masters(domain), "a master", bench)) == 1
    for pid in [*map(int, children.read_text().split()), bench.pid]:
        os.kill(pid, signal.SIGKILL)
    finished(bench)
    wait_for(lambda: not masters(domain), "the master to end")


def test_a_user_may_name_the_master_and_is_told_when_it_is_not_there(tacho):
    tacho.environment["TACHO_ROS_MASTER_URI"] = "http://127.0.0.1:9"  # discard: nobody listens
    (tacho.directory / "w.yaml").write_text(workload("tcpros"))
    assert (
        "no ROS master answers at TACHO_ROS_MASTER_URI=http://127.0.0.1:9" in tacho("bench", "w.yaml", expect=3).stderr
    )


def test_a_master_of_the_users_is_used_and_left_running(tacho, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = tacho.environment | {"ROS_IP": "127.0.0.1", "ROS_LOG_DIR": str(tmp_path / "log")}
    master = subprocess.Popen(["rosmaster", "--core", "-p", str(port)], env=environment)
    try:
        tacho.environment["TACHO_ROS_MASTER_URI"] = f"http://127.0.0.1:{port}"
        figures = point(tacho, workload("tcpros"))
        assert figures["received"] == 2 * figures["sent"] > 0
        assert master.poll() is None
    finally:
        master.terminate()
        master.wait()
