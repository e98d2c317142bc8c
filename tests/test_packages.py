"""`make dist`: packages that run where nothing of ours was built, with the same bytes each time."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from domains import free_domain
from places import PROGRAMS, ROOT
from test_command_line import VERBS

BUILD = ROOT / "build"
#: A part of the build, with something of each kind, which is packed in seconds: a plugin that needs nothing, one that
#: needs ROS 2, the libraries of the recorder.
PARTS = ["tacho", "tacho-node", "nodes", "lib/libtacho_inproc.so", "lib/libtacho_ros2.so", "lib/libtacho_connext.so"]
PARTS += [f"lib/{path.name}" for path in (BUILD / "lib").glob("libtacho_recorder*.so")]


def part_of_build(folder, tacho="tacho"):
    """A build folder with these parts. A smaller program may stand in for tacho."""
    (folder / "lib").mkdir(parents=True)
    for name in PARTS:
        if (BUILD / name).exists():
            (folder / name).symlink_to(BUILD / (tacho if name == "tacho" else name))
    # Stands for the tasks on PCL: it needs libraries of the machine, too.
    (folder / "lib" / "libtacho_tasks_lidar.so").symlink_to(BUILD / "lib" / "libtacho_ros2.so")
    return folder


def dist(build, out, *options, expect=0, umask=0o022, **environment):
    """Runs the script of `make dist`, and returns what it says, or why it failed."""
    words = [sys.executable, ROOT / "packages" / "dist", "--build", build, "--out", out, *options]
    done = subprocess.run(words, env=os.environ | environment, capture_output=True, text=True, umask=umask)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stderr if expect else done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of all packages, made of a part of the build."""
    out = tmp_path_factory.mktemp("dist")
    said = dist(part_of_build(out / "part"), out)
    assert said.count("dist: tachograph") == 4 and "they need glibc 2." in said
    return out


def one(folder, pattern):
    (found,) = folder.glob(pattern)
    return found


def ran(*words, expect=0, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    assert done.returncode == expect, f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def elsewhere(folder, **more):
    """An environment in which nothing leads to the build, and no compiler is there."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name in ("sh", "env", "true", "cat", "python3"):
        if not (programs / name).exists():
            (programs / name).symlink_to(f"/usr/bin/{name}")
    environment = {"PATH": str(programs), "HOME": str(folder), "ROS_DOMAIN_ID": str(free_domain())}
    return environment | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"} | more


#: Runs words where the checkout has nothing left but the environment with ROS 2.
HIDE = """
set -e
mount --make-rprivate /
mkdir ros
mount --bind "$1/build/venv" ros
mount -t tmpfs hidden "$1"
mkdir -p "$1/build/venv"
mount --bind ros "$1/build/venv"
shift
exec "$@"
"""


def test_the_wheel_records_an_rclpy_program_where_nothing_else_of_ours_is(made, ros_python, tmp_path):
    environment = tmp_path / "environment"
    ran("/usr/bin/python3", "-m", "venv", environment)
    python = environment / "bin" / "python"
    ran(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", one(made, "*.whl"))
    # pyarrow, which pip would get from an index.
    (site,) = (environment / "lib").glob("python3.*/site-packages")
    arrow = Path(
        subprocess.run(
            [sys.executable, "-c", "import pyarrow; print(pyarrow.__path__[0])"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    for part in arrow.parent.glob("pyarrow*"):
        ran("cp", "-a", part, site)
    for name in ("talker.py", "listener.py", "patience.py"):
        (tmp_path / name).write_text((PROGRAMS / name).read_text())
    script = f"""
import subprocess, sys, tachograph
both = "{ros_python} listener.py 20 & {ros_python} talker.py 20 0.02; wait"
run = tachograph.record(["sh", "-c", both], "run")
assert run.messages().to_pylist()[0]["subscription_topic"] == "/chatter"
print(run.explain(), run.report())
"""
    away = elsewhere(tmp_path)
    hidden = ["unshare", "--mount", "/bin/sh", "-c", HIDE, "hide", ROOT]
    options = {"cwd": tmp_path, "env": away | {"PATH": f"{environment / 'bin'}:{away['PATH']}:/usr/sbin:/sbin"}}
    options["env"]["PATH"] += ":/usr/bin:/bin"  # of mount and mkdir; the programs under test get the shorter one
    said = ran(*hidden, "/usr/bin/env", f"PATH={environment / 'bin'}:{away['PATH']}", python, "-c", script, **options)
    assert "/talker to /listener" in said and "run/report.html" in said
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.startswith("<!doctype html>") and "/chatter" in page
    said = ran(environment / "bin" / "tacho", "explain", "run", cwd=tmp_path, env=away)
    assert "/talker to /listener" in said
    assert (environment / "share" / "man" / "man1" / "tacho-explain.1").is_file()


def test_the_wheel_is_for_the_platform_that_its_binaries_need(made, tmp_path):
    wheel = one(made, "*.whl")
    tag = re.search(r"py3-none-(manylinux_\d+_\d+_\w+)\.whl", wheel.name).group(1)
    # What the recorder loads in programs of ROS 1 links to their roscpp, which no policy of wheels knows: an empty file
    # stands there instead.
    judged = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(judged, "w") as rest:
        for entry in whole.infolist():
            rest.writestr(entry, b"" if entry.filename.endswith("ros1_hooks.so") else whole.read(entry))
    said = ran(sys.executable, "-m", "auditwheel", "show", judged)
    assert f'consistent with the following platform tag: "{tag}"' in " ".join(said.split())
    needed = tuple(map(int, tag.split("_")[1:3]))
    assert needed <= (2, 34)


def test_a_plugin_that_cannot_run_anywhere_is_left_out_with_the_reason(made, tmp_path):
    tarball = one(made, "*.tar.xz")
    with tarfile.open(tarball) as archive:
        archive.extractall(tmp_path)
    home = tmp_path / tarball.name.removesuffix(".tar.xz")
    (tmp_path / "tacho").symlink_to(home / "tacho")
    away = elsewhere(tmp_path)
    run = tmp_path / "run"
    ran(tmp_path / "tacho", "bench", home / "workloads" / "inproc.yaml", "-o", run, cwd=tmp_path, env=away)
    assert json.loads((run / "summary.json").read_text())["chains"][0]["instances"] > 10
    words = [tmp_path / "tacho", "bench", "--topology", "pairs", "--rate", "10Hz"]
    for name, need in [("ros2", "librcl.so"), ("connext", "RTI Connext 7")]:
        said = ran(*words, "--middleware", name, "-o", tmp_path / name, expect=3, cwd=tmp_path, env=away)
        assert f"{name} is not in this package, because it needs" in said and need in said
    reason, *kinds = (home / "lib" / "libtacho_tasks_lidar.missing").read_text().splitlines()
    assert "is not in this package, because it needs" in reason
    assert kinds == (ROOT / "native" / "tasks" / "lidar" / "kinds").read_text().splitlines() != []
    found = json.loads(ran(tmp_path / "tacho", "doctor", "--json", cwd=tmp_path, env=away))["findings"]
    verdicts = {one["name"]: (one["verdict"], one["found"]) for one in found}
    assert verdicts["middleware-ros2"] == ("costs", "not in this package")
    assert verdicts["middleware-rclpy"][0] == "costs" and "No module named 'rclpy'" in verdicts["middleware-rclpy"][1]
    assert verdicts["middleware-inproc"][0] == "ok" and verdicts["recording"][0] == "ok"


def test_the_debian_package_installs_and_has_manual_and_completions(made, tmp_path):
    root = tmp_path / "root"
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/updates").mkdir()
    (root / "var/lib/dpkg/status").touch()
    package = one(made, "*.deb")
    ran("dpkg", f"--root={root}", "--force-depends", "--log=/dev/null", "-i", package)
    assert "tachograph" in ran("dpkg-query", f"--admindir={root / 'var/lib/dpkg'}", "-W")
    away = elsewhere(tmp_path)
    ran(root / "usr/bin/tacho", "record", "-o", tmp_path / "run", "--", "sh", "-c", "exit 7", expect=7, env=away)
    assert (tmp_path / "run" / "run.json").is_file()
    pages = {path.name for path in (root / "usr/share/man/man1").iterdir()}
    assert {f"tacho-{verb}.1.gz" for verb in VERBS} <= pages
    record = gzip.decompress((root / "usr/share/man/man1/tacho-record.1.gz").read_bytes()).decode()
    assert record.startswith(".ie") or ".TH tacho-record 1" in record
    ran("bash", "-n", root / "usr/share/bash-completion/completions/tacho")
    assert (root / "usr/share/doc/tachograph/copyright").is_file()
    fields = ran("dpkg-deb", "--field", package, "Depends")
    tag = re.search(r"manylinux_(\d+_\d+)", one(made, "*.whl").name).group(1)
    assert f"libc6 (>= {tag.replace('_', '.')})" in fields


def test_the_image_is_read_by_skopeo_and_holds_a_command_that_runs(made, tmp_path):
    archive = f"oci-archive:{one(made, '*.oci.tar')}"
    inspected = json.loads(ran("skopeo", "inspect", "--config", archive))
    assert inspected["config"]["Entrypoint"] == ["/opt/tacho/tacho"]
    ran("skopeo", "copy", "--insecure-policy", "-q", archive, f"dir:{tmp_path / 'image'}")  # checks all digests
    (layer,) = json.loads((tmp_path / "image" / "manifest.json").read_text())["layers"]
    blob = tmp_path / "image" / layer["digest"].removeprefix("sha256:")
    with tarfile.open(blob) as content:
        content.extractall(tmp_path / "root")
    assert "tacho" in ran(tmp_path / "root/opt/tacho/tacho", "--version", env=elsewhere(tmp_path))


def test_the_same_build_gives_the_same_bytes(tmp_path):
    # tacho-node stands in for tacho, which takes ten times as long to compress.
    out = {}
    ways = {"a": (0o022, {"TZ": "UTC"}), "b": (0o077, {"TZ": "Asia/Tokyo", "LC_ALL": "C", "TMPDIR": str(tmp_path)})}
    for name, (umask, environment) in ways.items():
        build = part_of_build(tmp_path / f"build-{name}", tacho="tacho-node")
        environment |= {"SOURCE_DATE_EPOCH": "1700000000"}
        dist(build, tmp_path / name, "--command", BUILD / "tacho", umask=umask, **environment)
        out[name] = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
    assert out["a"].keys() == out["b"].keys() and len(out["a"]) == 4
    assert [name for name in out["a"] if out["a"][name] != out["b"][name]] == []
    wheel = zipfile.ZipFile(io.BytesIO(next(data for name, data in out["a"].items() if name.endswith(".whl"))))
    assert {entry.date_time[0] for entry in wheel.infolist()} == {2023}


def test_the_bill_of_materials_has_every_crate_that_is_linked_and_its_licence(made):
    wheel = zipfile.ZipFile(one(made, "*.whl"))
    bill = wheel.read("tachograph/home/sbom.cdx.json").decode()
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(bill) is None
    components = json.loads(bill)["components"]
    crates = {(of["name"], of["version"]) for of in components if of["purl"].startswith("pkg:cargo/")}
    # The lines of the programs' debug information name the sources that are linked into them.
    linked = set()
    for program in ("tacho", "tacho-node"):
        sources = (BUILD / f"{program}.debug").read_bytes()
        linked |= set(re.findall(rb"/registry/src/[^/\0]+/([\w-]+?)-(\d+\.\d+\.\d+[\w.+-]*)(?=[/\0])", sources))
    linked = {(name.decode(), version.decode()) for name, version in linked}
    assert len(linked) > 50
    assert linked - crates == set()
    npm = {of["name"] for of in components if of["purl"].startswith("pkg:npm/")}
    assert {"d3-scale", "@dagrejs/dagre"} <= npm and "vite" not in npm
    texts = wheel.read("tachograph/home/THIRD_PARTY_LICENSES.txt").decode()
    foreign = [of for of in components if of.get("hashes")]
    assert len(foreign) > 100
    for of in foreign:
        assert of["licenses"] and f"{of['name']} {of['version']}" in texts


def test_an_unfinished_build_is_refused(tmp_path):
    said = dist(tmp_path, tmp_path / "out", expect=1)
    assert f"{tmp_path / 'tacho'}: not there; expected a whole build: make build" in said
