"""Makes the places of this machine that its users share anew for a test: /tmp and /dev/shm in a namespace of mounts."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from command import Tacho
from places import ROOT

OTHER = 61501
"""A user of this machine; for the kernel a number suffices."""

INSIDE = 'mount --bind "$1" /tmp && mount --bind "$2" /dev/shm && shift 2 && exec "$@"'


class SharedPlaces:
    """Commands after `before` see `tmp` and `shm` as /tmp and /dev/shm. `tacho` runs outside of both."""

    def __init__(self, environment: dict[str, str]):
        self.base = Path(tempfile.mkdtemp(prefix="tacho-", dir="/var/tmp"))
        self.base.chmod(0o755)
        self.tmp, self.shm = self.base / "tmp", self.base / "shm"
        for folder in (self.tmp, self.shm):
            folder.mkdir()
            folder.chmod(0o1777)
        (self.base / "work").mkdir()
        self.tacho = Tacho(
            self.base / "work",
            {name: value for name, value in environment.items() if name not in ("TMPDIR", "XDG_RUNTIME_DIR")},
        )
        self.before = ["unshare", "--mount", "--propagation", "private", "sh", "-c", INSIDE, "sh", self.tmp, self.shm]

    def end(self):
        self.tacho.end()
        shutil.rmtree(self.base)

    def of_other(self) -> Tacho:
        """The command as the other user runs it: an installation that this user can read, with inproc alone, and a
        folder of the user's own."""
        home = self.base / "home"
        (home / "lib").mkdir(parents=True)
        for name in ("tacho", "tacho-node", "lib/libtacho_inproc.so", "lib/libtacho_recorder.so"):
            shutil.copy(ROOT / "build" / name, home / name)
        work = self.base / "others-work"
        work.mkdir()
        os.chown(work, OTHER, OTHER)
        made = Tacho(work, self.tacho.environment | {"HOME": str(work), "TACHO_HOME": str(home)})
        made.program = home / "tacho"
        return made


def why_not() -> str | None:
    """Why such places are not possible here."""
    if os.geteuid() != 0:
        return "only root can act as another user"
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        return f"no namespace of mounts can be made here: {tried.stderr.strip()}"
    if any(ROOT.is_relative_to(folder) for folder in ("/tmp", "/dev/shm")):
        return f"{ROOT} lies in a place that this test hides"
    return None


def as_other() -> dict:
    """Options of subprocess.Popen for a process of the other user."""
    return {"user": OTHER, "group": OTHER, "extra_groups": []}
