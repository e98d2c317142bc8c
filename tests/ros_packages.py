"""Builds our packages on rclcpp if a ROS 2 with rclcpp is sourced."""

import os
import subprocess
from pathlib import Path

import pytest


def has_rclcpp() -> bool:
    """Whether a sourced ROS 2 has rclcpp."""
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return any(prefix and (Path(prefix) / "share/rclcpp/cmake/rclcppConfig.cmake").is_file() for prefix in prefixes)


def build(source: Path, into: Path) -> Path:
    """Builds a package into a folder, which it returns. Skips the test if there is no rclcpp."""
    if not has_rclcpp():
        pytest.skip("no rclcpp below AMENT_PREFIX_PATH: source a ROS 2 that has it, e.g. /opt/ros/kilted/setup.bash")
    for command in (["cmake", "-S", source, "-B", into], ["cmake", "--build", into]):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return into
