"""Finds the command `tacho`, and runs it.

Nothing here imports pyarrow, so that `tacho` on the command line starts at once.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

from .errors import CommandNotFound

#: Where the wheel has the command, its libraries and its plugins. A package that was installed without has none.
PACKAGED = Path(__file__).resolve().parent / "home"


def program() -> Path:
    """The command: that of TACHO_HOME, else the one in this package, else the one in PATH."""
    named = os.environ.get("TACHO_HOME")
    if named:
        found = Path(named) / "tacho"
        if not found.is_file():
            raise CommandNotFound(f"{found}: not there; expected the command, because TACHO_HOME names this folder")
        return found
    if (PACKAGED / "tacho").is_file():
        return PACKAGED / "tacho"
    for folder in os.get_exec_path():
        found_in_path = shutil.which("tacho", path=folder)
        # The script that the package installs runs this function, so it is no command of its own.
        if found_in_path and not _is_script(Path(found_in_path)):
            return Path(found_in_path)
    raise CommandNotFound(
        f"tacho: neither in {PACKAGED}, nor in PATH, and TACHO_HOME is not set; install the wheel of this machine's "
        "processor, or name the folder of a build in TACHO_HOME"
    )


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def main() -> NoReturn:
    """The script `tacho` of the package: becomes the command, with the same arguments and process id."""
    try:
        found = program()
    except CommandNotFound as error:
        sys.exit(f"{error}")
    os.execv(found, ["tacho", *sys.argv[1:]])
