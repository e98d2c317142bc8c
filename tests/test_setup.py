"""Hashes pin what set-up installs, so that it refuses a package that changed under its version."""

import json
import re

from places import ROOT


def test_every_python_package_has_a_hash():
    files = sorted((ROOT / "setup").glob("*.txt"))
    assert files
    for path in files:
        lines = [
            line
            for line in path.read_text().replace("\\\n", " ").splitlines()
            if line.strip() and not line.startswith("#")
        ]
        assert lines, path
        for line in lines:
            assert re.match(r"[A-Za-z0-9_.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), f"{path}: {line[:80]}"


def test_what_was_asked_for_is_what_is_locked():
    for path in sorted((ROOT / "setup").glob("*.in")):
        asked = {line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")}
        locked = re.findall(r"^([A-Za-z0-9_.-]+==[^\s;\\]+)", path.with_suffix(".txt").read_text(), re.MULTILINE)

        def name(requirement):
            named, version = requirement.split("==")
            without_extras = named.partition("[")[0]
            return re.sub(r"[-_.]+", "-", without_extras).lower() + "==" + version

        assert {name(r) for r in asked} <= {name(r) for r in locked}, path


def test_every_npm_package_has_a_hash():
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    packages = {path: package for path, package in lock["packages"].items() if path}
    assert packages
    assert [path for path, package in packages.items() if "integrity" not in package] == []
