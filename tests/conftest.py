"""What the end-to-end tests share: the places of things, and a DDS domain for each test."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from command import Tacho
from domains import free_domain
from places import ROOT
from shared_places import SharedPlaces

pytest_plugins = ["reruns", "undisturbed"]


@pytest.fixture
def tacho(tmp_path: Path) -> Iterator[Tacho]:
    environment = dict(os.environ)
    environment["ROS_DOMAIN_ID"] = str(free_domain())
    environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    environment["ROS_LOG_DIR"] = str(tmp_path / "ros-log")
    made = Tacho(tmp_path, environment)
    yield made
    made.end()


@pytest.fixture
def twin(tacho: Tacho) -> Callable[..., dict]:
    """Makes the twin of a run, `twin.yaml`, and returns it."""

    def model(run, *options):
        tacho("model", run, "-o", "twin.yaml", *options)
        tacho("check", "twin.yaml")
        return yaml.safe_load((tacho.directory / "twin.yaml").read_text())

    return model


@pytest.fixture
def shared() -> Iterator[SharedPlaces]:
    made = SharedPlaces(dict(os.environ))
    yield made
    made.end()


@pytest.fixture(scope="session")
def ros_python() -> str:
    """The Python that has rclpy of ROS 2 Kilted."""
    return str(ROOT / "build" / "venv" / "bin" / "python")


@pytest.fixture(scope="session")
def ros_python_jazzy() -> str:
    """The Python that has rclpy of ROS 2 Jazzy."""
    return str(ROOT / "build" / "venv-jazzy" / "bin" / "python")


@pytest.fixture(scope="session")
def workloads() -> Path:
    return ROOT / "workloads"
