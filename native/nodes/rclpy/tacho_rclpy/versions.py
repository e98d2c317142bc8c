"""Finds the versions of loaded software in the package.xml of its prefix (REP 149)."""

import re
from pathlib import Path

import rclpy


def _loaded(library: str) -> Path:
    """Returns the path of a library that this process has loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(f"/lib{library}.so"):
            return Path(line[line.find("/") :])
    raise FileNotFoundError(f"lib{library}.so: not among the libraries that rclpy loaded")


def _version(package: str, inside: Path) -> str:
    for prefix in inside.parents:
        manifest = prefix / "share" / package / "package.xml"
        if manifest.is_file():
            break
    else:
        raise FileNotFoundError(f"share/{package}/package.xml: not there in any folder above {inside}")
    version = re.search(r"<version[^>]*>\s*([^<\s]+)", manifest.read_text())
    if version is None:
        raise ValueError(f"{manifest}: has no <version>")
    return f"{package} {version[1]}"


def found() -> str:
    """Returns "rclpy 9.1.2, rcl 10.1.3, rmw_fastrtps_cpp 9.3.3"."""
    rmw = rclpy.get_rmw_implementation_identifier()
    libraries = [_version(name, _loaded(name)) for name in ("rcl", rmw)]
    return ", ".join([_version("rclpy", Path(rclpy.__file__)), *libraries])
