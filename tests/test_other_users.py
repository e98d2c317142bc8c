"""Several users on one machine: no link, file or lock of one makes another's run write elsewhere, fail or wait."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from shared_places import OTHER, as_other, why_not
from waiting import wait_for_window

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))

WORKLOAD = """
middleware: {middleware}
transport: {transport}
nodes:
  source: {{publishes: {{/points: {{size: 1 KiB, rate: 20 Hz, depth: 100}}}}}}
  sink: {{subscribes: {{/points: {{depth: 100}}}}}}
run: {{duration: {duration}{domain}}}
"""
KEPT = "of root, and not to be lost\n"


def workload(tacho, middleware, transport="", duration="1 s", domain=None):
    text = WORKLOAD.format(
        middleware=middleware,
        transport=transport or '""',
        duration=duration,
        domain=f", domain: {domain}" if domain else "",
    )
    if not transport:
        text = text.replace('transport: ""\n', "")
    (tacho.directory / "w.yaml").write_text(text)


def planted(path: Path, target: Path):
    """A link of the other user, as anybody may make it in a shared folder."""
    path.symlink_to(target)
    os.chown(path, OTHER, OTHER, follow_symlinks=False)


@pytest.mark.parametrize(
    "middleware, transport",
    [
        ("socket", "tcp"),
        ("ros1", "tcpros"),
        ("cyclonedds", "shm"),
        ("iceoryx", "shm"),
        ("zenoh", "shm"),
        ("ros2", "default"),
        ("cyber", "default"),
    ],
)
def test_links_of_another_user_lead_nowhere(shared, middleware, transport):
    victim, trap = shared.base / "victim", shared.base / "trap"
    victim.write_text(KEPT)
    victim.chmod(0o600)
    trap.mkdir()
    os.chown(trap, OTHER, OTHER)
    domain, network = 77, os.stat("/proc/self/ns/net").st_ino
    files = [f"tacho-domain-{number}.lock" for number in range(1, 101)]
    files += [f"tacho-roudi.{what}" for what in ("log", "needed", "starting")]
    files += [f"tacho-ros1-0-{domain}-{network}.{what}" for what in ("users", "master")]
    for name in files:
        planted(shared.tmp / name, victim)
    planted(shared.shm / "tacho_zenoh_0.lock", victim)
    for name in ("tacho-socket-0", "tacho_iceoryx_0"):
        planted(shared.tmp / name, trap)
    workload(shared.tacho, middleware, transport, domain=domain)
    shared.tacho("bench", "w.yaml", "-o", "run", before=shared.before)
    assert victim.read_text() == KEPT
    assert list(trap.iterdir()) == []


@pytest.mark.parametrize(
    "middleware, transport", [("socket", "tcp"), ("ros1", "tcpros"), ("cyclonedds", "shm"), ("iceoryx", "shm")]
)
@pytest.mark.parametrize("how", ["link", "folder", "open"])
def test_where_another_user_was_first_there_is_an_error_and_a_way_out(shared, middleware, transport, how):
    folder, trap = shared.tmp / f"tacho-{os.geteuid()}", shared.base / "trap"
    trap.mkdir()
    os.chown(trap, OTHER, OTHER)
    if how == "link":
        planted(folder, trap)
    else:
        folder.mkdir()
        folder.chmod(0o777 if how == "open" else 0o700)
        os.chown(folder, OTHER if how == "folder" else 0, 0)
    workload(shared.tacho, middleware, transport)
    said = shared.tacho("bench", "w.yaml", "-o", "refused", expect=3, before=shared.before).stderr
    assert f"/tmp/tacho-{os.geteuid()}: found " in said and "XDG_RUNTIME_DIR" in said, said
    assert list(folder.iterdir()) == [] and list(trap.iterdir()) == []
    runtime = shared.base / "run"
    runtime.mkdir(mode=0o700)
    shared.tacho.environment["XDG_RUNTIME_DIR"] = str(runtime)
    shared.tacho("bench", "w.yaml", "-o", "run", before=shared.before)
    assert list(folder.iterdir()) == [] and list(trap.iterdir()) == []


def test_a_runtime_folder_that_is_not_private_is_not_used(shared):
    runtime = shared.base / "run"
    runtime.mkdir()
    shared.tacho.environment["XDG_RUNTIME_DIR"] = str(runtime)
    for mode, owner in ((0o750, 0), (0o700, OTHER)):
        runtime.chmod(mode)
        os.chown(runtime, owner, owner)
        workload(shared.tacho, "socket", "tcp")
        shared.tacho("bench", "w.yaml", "-o", f"run-{owner}", before=shared.before)
        assert list(runtime.iterdir()) == []


def test_what_earlier_runs_of_root_left_takes_no_domain_of_others(shared):
    for number in range(1, 101):
        (shared.tmp / f"tacho-domain-{number}.lock").touch(mode=0o644)
    other = shared.of_other()
    workload(other, "inproc")
    before = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
    try:
        other("bench", "w.yaml", "-o", "run", before=[*shared.before, *before])
    finally:
        other.end()


HOLDING = f"""
import os, socket, sys
os.seteuid({OTHER})
for domain in range(1, 101):
    if domain != int(sys.argv[1]):
        taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        taken.bind(f"\\0tacho-domain-{{domain}}")
        os.set_inheritable(taken.detach(), True)
os.seteuid(0)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def test_a_domain_that_another_user_has_is_not_taken(shared):
    """In a network of their own, so that nobody else uses the 100 domains."""
    before = ["unshare", "--net", sys.executable, "-c", HOLDING]
    workload(shared.tacho, "inproc")
    said = shared.tacho("bench", "w.yaml", "-o", "none", expect=3, before=[*before, 0]).stderr
    assert "all DDS domains from 1 to 100 are in use" in said, said
    shared.tacho("bench", "w.yaml", "-o", "one", before=[*before, 42])


def taken_domains() -> dict[str, str]:
    """Inode of the socket and name of each domain that is taken here."""
    lines = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()]
    return {words[6]: words[7] for words in lines if words[-1].startswith("@tacho-domain-")}


def domain_of(pid: int) -> tuple[str, str]:
    taken = taken_domains()
    links = [os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
    [found] = [(inode, taken[inode]) for link in links if (inode := link.removeprefix("socket:[").rstrip("]")) in taken]
    return found


def test_runs_of_two_users_have_different_domains_and_leave_none_taken(shared):
    other = shared.of_other()
    workload(shared.tacho, "inproc", duration="600 s")
    workload(other, "inproc", duration="600 s")
    try:
        running = [
            shared.tacho.start("bench", "w.yaml", "-o", "run"),
            other.start("bench", "w.yaml", "-o", "run", **as_other()),
        ]
        for tacho, process in zip((shared.tacho, other), running):
            wait_for_window(tacho.directory / "run", process)
        domains = [domain_of(process.pid) for process in running]
        assert len({name for _, name in domains}) == 2
        for process in running:
            process.kill()
            process.wait()
        assert not {inode for inode, _ in domains} & set(taken_domains())
    finally:
        other.end()


HOSTAGE = """
import fcntl, os, sys
fcntl.flock(os.open("/dev/shm", os.O_RDONLY), fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


def test_zenoh_leaves_no_lock_in_shared_memory_and_another_users_does_not_stop_it(shared):
    workload(shared.tacho, "zenoh", "shm")
    holder = subprocess.Popen(
        [
            *map(str, shared.before),
            sys.executable,
            "-c",
            "import os, sys; os.setuid(int(sys.argv[1])); exec(sys.argv[2])",
            str(OTHER),
            HOSTAGE,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "locked\n"
        shared.tacho("bench", "w.yaml", "-o", "run", before=shared.before)
        holder.stdin.close()
    assert not [path.name for path in shared.shm.iterdir() if "tacho" in path.name]


def test_the_roudi_of_another_user_is_not_used(shared):
    """A process that answers in RouDi's place hands out memory; its socket belongs to that user."""
    workload(shared.tacho, "cyclonedds", "shm")
    poses = "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind('/tmp/roudi'); print('bound', flush=True); sys.stdin.read()"
    poser = subprocess.Popen(
        [
            *map(str, shared.before),
            sys.executable,
            "-c",
            "import os, sys; os.setuid(int(sys.argv[1])); exec(sys.argv[2])",
            str(OTHER),
            poses,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with poser:
        assert poser.stdout.readline() == "bound\n"
        said = shared.tacho("bench", "w.yaml", "-o", "run", expect=3, before=shared.before).stderr
        assert f"/tmp/roudi is of user {OTHER}" in said, said
        poser.stdin.close()
