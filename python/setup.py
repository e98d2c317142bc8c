"""Builds the wheel. With TACHO_PACKAGE_HOME, a folder that `make dist` fills, the wheel holds the command.

TACHO_WHEEL_PLATFORM is then the platform that the binaries of this folder need, such as manylinux_2_34_x86_64. Without
the folder the wheel is plain Python, and finds a command that was installed otherwise.
"""

import os
import re
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

FOLDER = Path(__file__).resolve().parent
HOME = os.environ.get("TACHO_PACKAGE_HOME")
PLATFORM = os.environ.get("TACHO_WHEEL_PLATFORM")
COMPLETIONS = {
    "tacho.bash": "bash-completion/completions",
    "_tacho": "zsh/site-functions",
    "tacho.fish": "fish/vendor_completions.d",
}
VERSION = re.search(r'^version = "(.+)"$', (FOLDER.parent / "Cargo.toml").read_text(), flags=re.M).group(1)


class BuildWithHome(build_py):
    def run(self):
        super().run()
        if HOME:
            home = Path(self.build_lib) / "tachograph" / "home"
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(HOME, home, ignore=shutil.ignore_patterns("share"))


def shared_files():
    """The manual and the completions of shells, which an environment has where a system has them."""
    if not HOME:
        return []
    share = Path(HOME) / "share"
    files = [("share/man/man1", sorted(map(str, (share / "man" / "man1").glob("*.1"))))]
    for name, folder in COMPLETIONS.items():
        files.append((f"share/{folder}", [str(share / "completions" / name)]))
    return files


class WithBinaries(Distribution):
    def has_ext_modules(self):
        return bool(HOME)


class WheelOfPlatform(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", PLATFORM if HOME else "any")


if HOME and not PLATFORM:
    raise SystemExit("TACHO_PACKAGE_HOME is set without TACHO_WHEEL_PLATFORM, which says where its binaries run")
setup(
    version=VERSION,
    distclass=WithBinaries,
    data_files=shared_files(),
    cmdclass={"build_py": BuildWithHome, "bdist_wheel": WheelOfPlatform},
)
