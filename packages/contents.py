"""What goes into every package: the folder that `tacho` calls its home, with what runs on any machine."""

import platform
import shutil
import subprocess
from pathlib import Path

import elf

ROOT = Path(__file__).resolve().parent.parent

PROGRAMS = ("tacho", "tacho-node")
#: The file of each shell's completions.
COMPLETIONS = {"bash": "tacho.bash", "zsh": "_tacho", "fish": "tacho.fish"}

#: Why a plugin is left out. `tacho doctor` and `tacho bench` print it, as they print why a build left a plugin out.
LEFT_OUT = "{name} is not in this package, because it needs {needs}; Tachograph built on this machine has it{instead}\n"


class Missing(Exception):
    """The build lacks a part."""


#: What serves instead of a plugin that is left out.
INSTEAD = {"ros2": ", and middleware rclpy runs on any ROS 2 from Kilted on"}

#: Plugins that open the library of their middleware themselves, where the build found it.
ELSEWHERE = {"connext": "RTI Connext 7", "cyber": "Apollo Cyber RT"}


def fill(build: Path, command: Path, home: Path) -> str:
    """Fills `home` from what `make build` left in `build`. Returns the processor that it is for.

    `command` prints the manual: the `tacho` of the build, or one of the same version for this processor.
    """
    for part in (*PROGRAMS, "lib/libtacho_recorder.so"):
        if not (build / part).is_file():
            raise Missing(f"{build / part}: not there; expected a whole build: make build")
    (home / "lib").mkdir(parents=True)
    (home / "package").write_text("Plugins that link to libraries of one machine are left out: see lib/*.missing.\n")
    for program in PROGRAMS:
        stripped(build / program, home / program)
    libraries = sorted((build / "lib").glob("libtacho_*.so"))
    beside = {path.name for path in libraries}
    for library in libraries:
        add_library(library, home / "lib", beside)
    for reason in sorted((build / "lib").glob("*.missing")):
        shutil.copyfile(reason, home / "lib" / reason.name)
    add_nodes(build, home)
    if (build / "micro" / "node.elf").is_file():
        (home / "micro").mkdir()
        shutil.copyfile(build / "micro" / "node.elf", home / "micro" / "node.elf")
    (home / "workloads").mkdir()
    for workload in sorted((ROOT / "workloads").glob("*.yaml")):
        shutil.copyfile(workload, home / "workloads" / workload.name)
    add_manual(command, home / "share")
    return checked(home)


def add_library(library: Path, folder: Path, beside: set[str]):
    """Adds a library, or the reason why this one cannot run on any machine."""
    found = elf.needs(library)
    of_recorder = library.name.startswith("libtacho_recorder")
    # What the recorder adds to a program of ROS 1 is loaded only where the program has loaded ROS 1 itself.
    needs = found.too_new() + ([] if of_recorder else found.foreign(beside))
    name = library.name.removeprefix("libtacho_").removesuffix(".so")
    needs += [ELSEWHERE[name]] if name in ELSEWHERE else []
    if needs:
        text = LEFT_OUT.format(name=name, needs=", ".join(needs), instead=INSTEAD.get(name, ""))
        kinds = ROOT / "native" / "tasks" / name.removeprefix("tasks_") / "kinds"
        # Of a library of tasks, the lines after the reason name the tasks that it would have.
        text += kinds.read_text() if name.startswith("tasks_") and kinds.is_file() else ""
        (folder / f"libtacho_{name}.missing").write_text(text)
    else:
        stripped(library, folder / library.name)


def add_nodes(build: Path, home: Path):
    """Adds the program of nodes on rclpy. It runs on the Python of the environment in which `tacho` runs."""
    nodes = build / "nodes" / "rclpy"
    if not (nodes / "node").is_file():
        return
    shutil.copytree(nodes, home / "nodes" / "rclpy", ignore=shutil.ignore_patterns("__pycache__"))
    program = home / "nodes" / "rclpy" / "node"
    _, _, rest = program.read_text().partition("\n")
    program.write_text(f"#!/usr/bin/env python3\n{rest}")
    program.chmod(0o755)


def add_manual(tacho: Path, share: Path):
    """Writes the manual pages and the completions of shells, as `tacho` prints them."""
    subprocess.run([tacho, "man", share / "man" / "man1"], check=True)
    (share / "completions").mkdir()
    for shell, name in COMPLETIONS.items():
        said = subprocess.run([tacho, "completions", shell], check=True, capture_output=True).stdout
        (share / "completions" / name).write_bytes(said)


def stripped(file: Path, to: Path):
    """Copies a program or library without symbols, which only a debugger needs."""
    machine = elf.needs(file).machine
    strip = "strip" if machine == platform.machine() else f"{machine}-linux-gnu-strip"
    subprocess.run([strip, "--strip-unneeded", "-o", to, file], check=True)
    to.chmod(0o755)


def checked(home: Path) -> str:
    """Checks that every binary runs on the machines that we support, and is for one processor."""
    machines = set()
    binaries = [path for path in sorted(home.rglob("*")) if elf.is_elf(path) and "micro" not in path.parts]
    for path in binaries:
        found = elf.needs(path)
        machines.add(found.machine)
        if found.too_new():
            raise Missing(f"{path}: needs {', '.join(found.too_new())}, newer than machines that packages are for have")
    if len(machines) != 1:
        raise Missing(f"{home}: holds binaries of several processors: {', '.join(sorted(machines))}")
    return machines.pop()


def newest_glibc(home: Path) -> tuple[int, ...]:
    """The oldest glibc on which every binary runs."""
    binaries = [path for path in home.rglob("*") if elf.is_elf(path) and "micro" not in path.parts]
    return max(elf.needs(path).versions.get("GLIBC", (2, 17)) for path in binaries)
