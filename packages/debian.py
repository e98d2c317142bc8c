"""The Debian package: the home in /usr/lib/tachograph, the command, its manual and completions where Debian has them."""

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import elf

#: Where completions of each shell lie.
COMPLETIONS = {
    "tacho.bash": "usr/share/bash-completion/completions/tacho",
    "_tacho": "usr/share/zsh/vendor-completions/_tacho",
    "tacho.fish": "usr/share/fish/vendor_completions.d/tacho.fish",
}

CONTROL = """\
Package: tachograph
Version: {version}
Architecture: {architecture}
Maintainer: The Tachograph authors <tachograph@localhost>
Installed-Size: {size}
Depends: libc6 (>= {glibc}), libgcc-s1, libstdc++6 (>= 11)
Section: devel
Priority: optional
Description: find out why a ROS 2 or ROS 1 stack reacts late
 tacho records an unmodified ROS system, follows each message from sensor to
 actuator, and names what each late message waited for: a busy executor, a
 sleeping node, preemption, transport, a full queue.
"""

COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tachograph

Files: *
Copyright: the Tachograph authors
License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
 The texts of the libraries that are part of the programs are in
 THIRD_PARTY_LICENSES.txt beside this file.
"""


def package(home: Path, version: str, machine: str, glibc: tuple[int, ...], work: Path, to: Path):
    """Writes the package. dpkg-deb takes all times from SOURCE_DATE_EPOCH."""
    root = work / "debian"
    place = root / "usr" / "lib" / "tachograph"
    shutil.copytree(home, place)
    documents = root / "usr" / "share" / "doc" / "tachograph"
    documents.mkdir(parents=True)
    (documents / "copyright").write_text(COPYRIGHT)
    for name in ("LICENSE", "THIRD_PARTY_LICENSES.txt", "sbom.cdx.json"):
        shutil.move(place / name, documents / name)
    (documents / "LICENSE").unlink()  # Debian has it in common-licenses
    move_manual(place / "share", root)
    command = root / "usr" / "bin" / "tacho"
    command.parent.mkdir(parents=True)
    command.symlink_to("../lib/tachograph/tacho")
    control = root / "DEBIAN"
    control.mkdir()
    (control / "control").write_text(
        CONTROL.format(
            version=version,
            architecture={"x86_64": "amd64", "aarch64": "arm64"}[machine],
            size=sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024,
            glibc=elf.text(glibc),
        )
    )
    for path in [root, *root.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        elif not path.is_symlink():
            path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
    # One thread, because the number of threads is seen in the compressed bytes.
    words = ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", root, to]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def move_manual(share: Path, root: Path):
    """Moves manual pages and completions to where Debian's man and shells look."""
    for page in sorted((share / "man" / "man1").glob("*.1")):
        place = root / "usr" / "share" / "man" / "man1" / f"{page.name}.gz"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gzip.compress(page.read_bytes(), mtime=0))
    for name, place in COMPLETIONS.items():
        if (share / "completions" / name).is_file():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(share / "completions" / name, root / place)
    shutil.rmtree(share, ignore_errors=True)
