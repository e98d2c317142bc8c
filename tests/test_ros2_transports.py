"""The transports of the plugin ros2 are what their names promise, by the mappings of its processes and by the bytes
on a loopback of their own."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

MIB = 1 << 20
# Queues for all messages of a run, so that a busy machine overwrites nothing.
WORKLOAD = """
middleware: ros2
transport: {transport}
nodes:
  camera: {{publishes: {{/image: {{type: {type}, size: 1 MiB, rate: 10 Hz, depth: 30}}}}}}
  viewer: {{subscribes: {{/image: {{depth: 30}}}}}}
run: {{duration: 3 s}}
"""
# In a network namespace of its own, where no other traffic counts.
IN_NAMESPACE = [
    "unshare",
    "--net",
    "sh",
    "-c",
    'ip link set lo up && "$@"; status=$?; cat /proc/net/dev >counters; exit $status',
    "-",
]


@pytest.fixture(scope="module", autouse=True)
def namespaces():
    tried = (
        subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True)
        if shutil.which("unshare")
        else None
    )
    if tried is None or tried.returncode:
        pytest.skip(f"no network namespace can be made here: {tried.stderr.strip() if tried else 'no unshare'}")


def loopback_bytes(directory: Path) -> int:
    line = next(line for line in (directory / "counters").read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[0])


def mapped(run: Path) -> set[str]:
    """Names of the shared memory that the node processes of a run map now."""
    names = set()
    for file in (run / "events").glob("*.events"):
        try:
            maps = Path(f"/proc/{file.name.split('-')[0]}/maps").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        names |= {line.split("/dev/shm/")[1].split()[0] for line in maps.splitlines() if "/dev/shm/" in line}
    return names


@pytest.mark.parametrize(
    "transport,of_type,on_loopback,maps",
    [
        ("default", "PointCloud2", False, "fastdds_"),
        ("udp", "PointCloud2", True, None),
        ("shm", "PointCloud2", False, "fastdds_"),
        ("data-sharing", "Array", False, "fast_datasharing_"),
    ],
)
def test_messages_go_the_way_that_was_asked_for(tacho, transport, of_type, on_loopback, maps):
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(transport=transport, type=of_type))
    seen = set()
    with open(tacho.directory / "printed", "w+") as printed:  # not a pipe: nobody reads it meanwhile
        process = tacho.start(
            "bench", "w.yaml", "-o", "run", "--json", before=IN_NAMESPACE, stdout=printed, stderr=None
        )
        while process.poll() is None:
            seen |= mapped(tacho.directory / "run")
            time.sleep(0.1)
        assert process.returncode == 0
        printed.seek(0)
        point = json.load(printed)["points"][0]
    assert point["lost"] == 0 and point["received"] == point["sent"] > 20

    messages = parquet.read_table(tacho.directory / "run/tables/messages.parquet").num_rows
    bytes_on_loopback = loopback_bytes(tacho.directory)
    if on_loopback:
        assert bytes_on_loopback >= messages * MIB
    else:
        assert bytes_on_loopback < messages * MIB / 20
    shared = {name for name in seen if name.startswith(("fastdds_", "fastrtps_", "fast_datasharing_"))}
    assert any(name.startswith(maps) for name in shared) if maps else not shared, seen


@pytest.mark.parametrize(
    "transport,of_type,words",
    [
        ("pigeon", "Bytes", ["pigeon", "data-sharing"]),
        ("rmw_pigeon_cpp", "Bytes", ["rmw_pigeon_cpp", "rmw_fastrtps_cpp"]),
        ("data-sharing", "PointCloud2", ["PointCloud2", "Array"]),
    ],
)
def test_what_cannot_be_is_refused_with_what_was_expected(tacho, transport, of_type, words):
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(transport=transport, type=of_type))
    error = tacho("bench", "w.yaml", "-o", "run", expect=3).stderr
    assert all(word in error for word in words), error


def test_a_configuration_of_the_user_stands_alone(tacho):
    profile = tacho.directory / "mine.xml"
    profile.write_text('<dds xmlns="http://www.eprosima.com"><profiles/></dds>')
    tacho.environment["FASTDDS_DEFAULT_PROFILES_FILE"] = str(profile)
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(transport="udp", type="Image"))
    assert "FASTDDS_DEFAULT_PROFILES_FILE" in tacho("bench", "w.yaml", "-o", "refused", expect=3).stderr
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(transport="default", type="Image"))
    assert tacho.json("bench", "w.yaml", "-o", "run")["points"][0]["received"] > 0


def test_no_profile_is_left_behind(tacho):
    tacho.environment["TMPDIR"] = str(tacho.directory / "temporary")
    os.mkdir(tacho.environment["TMPDIR"])
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(transport="udp", type="Image"))
    tacho("bench", "w.yaml", "-o", "run")
    assert not list((tacho.directory / "temporary").glob("tacho-fastdds-*"))
