"""Installs our Python package for tests, as pip does, beside the packages of the tests' environment."""

import shutil
import subprocess
import sys
from pathlib import Path

from places import ROOT


def install(folder: Path) -> Path:
    """Installs the plain package, without the command, into `folder/site`, and returns that folder."""
    source, site = folder / "source", folder / "site"
    shutil.copytree(ROOT / "python", source / "python")  # a build leaves files beside its sources
    shutil.copyfile(ROOT / "Cargo.toml", source / "Cargo.toml")
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    words += ["--disable-pip-version-check", "--target", site, source / "python"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return site
