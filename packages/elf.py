"""What a program or library needs of the machine that it runs on, as readelf says it."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: Libraries of glibc and GCC, which every Linux of manylinux has (PEP 600).
OF_THE_SYSTEM = re.compile(
    r"(lib(c|m|dl|rt|pthread|util|resolv)\.so\.\d+|libgcc_s\.so\.1|libstdc\+\+\.so\.6|ld-linux-[\w-]+\.so\.\d)"
)

#: The newest versions that a package may need: those of Ubuntu 22.04 (ROS 2 Humble), Debian 12 and AlmaLinux 9.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}

MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}


@dataclass(frozen=True)
class Needs:
    """Of one file."""

    machine: str
    #: Names of the libraries that it links to.
    libraries: tuple[str, ...]
    #: The newest version of each set of symbols, such as GLIBC.
    versions: dict[str, tuple[int, ...]]

    def foreign(self, beside: set[str]) -> list[str]:
        """The libraries that are neither of the system nor among those beside it."""
        return [name for name in self.libraries if not OF_THE_SYSTEM.fullmatch(name) and name not in beside]

    def too_new(self) -> list[str]:
        """The versions that machines which we support do not have."""
        return [f"{name}_{text(found)}" for name, found in self.versions.items() if found > NEWEST.get(name, found)]


def text(version: tuple[int, ...]) -> str:
    """A version as it is written."""
    return ".".join(map(str, version))


def needs(path: Path) -> Needs:
    """Reads the needs of a file."""
    done = subprocess.run(
        ["readelf", "-h", "-d", "-V", "-W", path], capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    machine = re.search(r"^\s*Machine:\s*(.+)$", done.stdout, flags=re.M)
    versions: dict[str, tuple[int, ...]] = {}
    required = done.stdout.partition("Version needs section")[2]
    for name, number in re.findall(r"Name: ([A-Z]+)_([\d.]+)\s", required):
        versions[name] = max(versions.get(name, ()), tuple(map(int, number.split("."))))
    return Needs(
        machine=MACHINES[machine.group(1)],
        libraries=tuple(re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)),
        versions=versions,
    )


def is_elf(path: Path) -> bool:
    """Whether a file is a program or library."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"
