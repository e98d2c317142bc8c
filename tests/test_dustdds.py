"""The plugin dustdds through `tacho bench`: nothing is lost between processes, and ROS 2 sees its nodes as any
others."""

import json
import subprocess

import pytest
from domains import free_domain
from places import PROGRAMS
from test_zenoh_and_iceoryx import fan, point
from waiting import finished

HASH_OF_BYTES = "RIHS01_5687e861b8d307a5e48b7515467ae7a5fc2daf805bd0ce6d8e9e604bade9f385"


@pytest.mark.parametrize("size", ["64 B", "64 KiB"])
def test_every_message_reaches_twelve_processes(tacho, size):
    figures = point(tacho, fan("dustdds", "udp", size=size, sinks=12))
    assert figures["sent"] > 0
    assert (figures["received"], figures["lost"]) == (12 * figures["sent"], 0)


# A network namespace with only a loopback: ROS 2's range SUBNET, its default, looks for peers on every interface, and
# LOCALHOST does not use multicast. The bench runs until the graph has been seen.
SEEN = """
ip link set lo up
{tacho} bench w.yaml -o run >bench.log 2>&1 &
{python} {graph} /points 2
seen=$?
kill $!
wait
exit $seen
"""


def test_ros_2_sees_its_nodes_types_and_hashes(tacho, ros_python):
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode:
        pytest.skip("needs permission for a network namespace")
    domain = free_domain()
    (tacho.directory / "w.yaml").write_text(fan("dustdds", "udp", size="64 B", duration="60 s", domain=domain))
    script = SEEN.format(tacho=tacho.program, python=ros_python, graph=PROGRAMS / "dds_graph.py")
    environment = {**tacho.environment, "ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    command = ["unshare", "--net", "sh", "-c", script]
    seen = subprocess.Popen(
        command, cwd=tacho.directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    out, err = finished(seen)
    assert seen.returncode == 0, out + err + (tacho.directory / "bench.log").read_text()
    names, ends = json.loads(out)
    assert names == ["sink0", "source"]
    described = ["std_msgs/msg/UInt8MultiArray", HASH_OF_BYTES]
    assert ends == {"PUBLISHER": [*described, "source"], "SUBSCRIPTION": [*described, "sink0"]}
